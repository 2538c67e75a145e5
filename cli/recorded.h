// SPDX-License-Identifier: GPL-3.0-or-later
// The file that a recording writes: looked after before, and told about after.
#ifndef REHYPE_CLI_RECORDED_H
#define REHYPE_CLI_RECORDED_H

#include "base/error.h"

#include <stdio.h>
#include <time.h>

// Makes way for a trace at `path` (absolute, may hold %p, %t, %n): its folder must be writable; an old trace there is
// removed, of several files all of them; what isn't a trace is refused (STATUS_FAILED), or, where the name has a
// number, left alone.
bool recorded_make_way(const char *path, struct error *error);

// Writes the summary of every trace that was written at `path` since `start`, each JVM's file; or why there may be
// none.
void recorded_summarise(const char *path, time_t start, FILE *file, unsigned look);

#endif
