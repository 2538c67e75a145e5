// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in the Trace Event Format of chrome://tracing ("Trace Event Format", its design document), as JSON: what
// perfetto.h writes, for tools that read no protobuf. Times there are us, with three decimals.
#ifndef REHYPE_REPORT_CHROME_H
#define REHYPE_REPORT_CHROME_H

#include "report/beside.h"

#include <stdio.h>

// Errors: no memory, a damaged trace; those of the file show in ferror. Cost: about 1 us an event that is drawn, and
// 100 to 300 bytes; written as it is read.
bool chrome_write(const struct beside *runs, size_t count, FILE *file, struct error *error);

#endif
