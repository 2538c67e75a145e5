// SPDX-License-Identifier: GPL-3.0-or-later
// Runs as Perfetto's protobuf (protos/perfetto/trace of its sources): a process a run, a track a thread, slices for
// what the thread was in, flows between them, counters, the JVM's pauses.
#ifndef REHYPE_REPORT_PERFETTO_H
#define REHYPE_REPORT_PERFETTO_H

#include "report/beside.h"

#include <stdio.h>

// Errors: no memory, a damaged trace; those of the file show in ferror. Cost: about 0.5 us an event that is drawn, and
// 30 to 60 bytes; written as it is read.
bool perfetto_write(const struct beside *runs, size_t count, FILE *file, struct error *error);

#endif
