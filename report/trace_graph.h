// SPDX-License-Identifier: GPL-3.0-or-later
// The trace-DAG itself for programs that read graphs (Gephi, yEd, networkx).
#ifndef REHYPE_REPORT_TRACE_GRAPH_H
#define REHYPE_REPORT_TRACE_GRAPH_H

#include "metrics/figures.h"

#include <stdio.h>

// GraphML of the window's vertices: kind, time, thread and task (ids of the trace) of each, and the edges between them,
// with their kind (thread, cause) and recorded delay. Written as it is read, without memory of its own; what fails is
// the file, which ferror tells.
void trace_graph_write(const struct dag *dag, const struct window *window, FILE *file);

#endif
