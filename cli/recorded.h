// SPDX-License-Identifier: GPL-3.0-or-later
// The file that a recording writes: looked after before, and told about after.
#ifndef REHYPE_CLI_RECORDED_H
#define REHYPE_CLI_RECORDED_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

// Makes way for a trace at `path` (absolute, may hold %p, %t, %n): its folder must be writable; an old trace there is
// removed, of several files all of them; what isn't a trace is refused (STATUS_FAILED), or, where the name has a
// number, left alone.
bool recorded_make_way(const char *path, struct error *error);

// Calls visit with each file that was written at `path` since `start`, by each JVM; returns how many there are.
typedef void recorded_visitor(void *context, const char *file, size_t index);
size_t recorded_visit(const char *path, time_t start, recorded_visitor *visit, void *context);

// Writes the summary of each of these, of the first one with its events unless `in_full` is false; or why there may be
// none.
void recorded_summarise(const char *path, time_t start, bool in_full, FILE *file, unsigned look);

#endif
