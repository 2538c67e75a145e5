// SPDX-License-Identifier: Apache-2.0
// Which classes are the program's own, told from libraries: `app=` decides alone where it is given; else a class is
// one unless it is of a well-known library (a table in the source, relocated copies included), or in a line about
// executors. What main's class belongs to is the program's own even where it is well known, but for launchers. No JVM
// type in it.
#ifndef REHYPE_TRACER_APPLICATION_H
#define REHYPE_TRACER_APPLICATION_H

#include "tracer/options.h"

#include <stdbool.h>

// Before classes load, by one thread. `command` as of the property sun.java.command: main's class, or its jar, and its
// arguments; NULL: unknown. The options must outlive all questions.
void application_begin(const struct options *options, const char *command);

// Whether a class (com.acme.Main), none of the JDK's, is the program's own. Any thread. Cost: some microseconds, for
// classes and frames that were not seen before.
bool application_has(const char *dotted_class);

#endif
