// SPDX-License-Identifier: GPL-3.0-or-later
// A trace for other programs: every event of a window, as one JSON document or as CSV. Written as it is read, in the
// memory of one event. A thread's events stand together, in order of time. Times are as recorded.
#ifndef REHYPE_REPORT_EXPORT_H
#define REHYPE_REPORT_EXPORT_H

#include "metrics/figures.h"

#include <stdio.h>

// Tasks are those that were under way, or queued, in the window.
// {"schema": "rehype.export/1", "header", "threads", "tasks", "methods", "sites", "classes", "pools", "events"}:
// docs/json.md.
bool export_json(const struct dag *dag, const struct window *window, FILE *file, struct error *error);

// A line an event, names resolved: thread,thread_name,time_ns,kind,task,pool,method,site,class,cpu,detail.
bool export_csv(const struct trace *trace, const struct window *window, FILE *file, struct error *error);

#endif
