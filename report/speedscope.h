// SPDX-License-Identifier: GPL-3.0-or-later
// A run for flame graphs: as speedscope's JSON (its file format, "evented" profiles), a profile a thread, in order of
// time; and as collapsed stacks, added up.
#ifndef REHYPE_REPORT_SPEEDSCOPE_H
#define REHYPE_REPORT_SPEEDSCOPE_H

#include "report/timeline.h"

#include <stdio.h>

// Written as it is read; the names of frames are kept. Errors: no memory, a damaged trace; those of the file show in
// ferror.
bool speedscope_write(const struct timeline *timeline, FILE *file, struct error *error);

#endif
