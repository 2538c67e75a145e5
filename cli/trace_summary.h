// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording got, as `record` shows at its end and `info` at any time.
#ifndef REHYPE_CLI_TRACE_SUMMARY_H
#define REHYPE_CLI_TRACE_SUMMARY_H

#include "tracefile/reader.h"

#include <stdio.h>

// Events by kind, lost events by thread, methods woven and skipped with the reasons, why the tracer stopped.
bool trace_summary_write(const struct trace *trace, FILE *file, unsigned look, struct error *error);

// The last of these alone; nothing where the program ended first.
void trace_summary_write_stop(const struct trace *trace, FILE *file, unsigned look);

#endif
