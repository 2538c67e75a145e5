// SPDX-License-Identifier: Apache-2.0
// What `rehype attach` and the agent share while it is attached: a file. The program writes the agent's options into it
// and keeps it locked (flock); the agent adds a line for each thing that it has to say. When the lock is free the agent
// detaches, whether the program let go of it, was killed, or its machine took it away.
//   recording FILE     from now on
//   stops COUNT LARGEST_NS TOTAL_NS   how often and long the tracer stopped the JVM; not where that is not known
//   stopped            detached; every class is as it was
//   failed REASON      nothing was left behind
#ifndef REHYPE_TRACER_SESSION_H
#define REHYPE_TRACER_SESSION_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

// Opens the file and reads the options; the descriptor, or -1 and *error.
int session_open(const char *path, struct arena *arena, const char **options, struct error *error);

// Adds a line; `text` may be NULL. Not being able to is no failure: nobody is there to be told.
void session_tell(int session, const char *what, const char *text);

// Whether `rehype attach` still wants the recording. A session of -1 (the agent was loaded by other means) is for good.
bool session_lasts(int session);

#endif
