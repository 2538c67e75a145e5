// SPDX-License-Identifier: GPL-3.0-or-later
// A run as collapsed stacks (flamegraph.pl, speedscope, inferno): a line each stack that a thread was in, by name, with
// the ns of all such threads in it: "pool-1-thread-1;Main.run:12;a.B.step;[active] 12345". The last frame is the
// state: [active], [waiting] or [blocked].
#ifndef REHYPE_REPORT_COLLAPSED_H
#define REHYPE_REPORT_COLLAPSED_H

#include "report/timeline.h"

#include <stdio.h>

// Memory: some 50 bytes a stack, however often it came. Errors: no memory, a damaged trace; those of the file show in
// ferror.
bool collapsed_write(const struct timeline *timeline, FILE *file, struct error *error);

#endif
