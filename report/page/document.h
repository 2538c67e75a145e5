// SPDX-License-Identifier: GPL-3.0-or-later
// What the page is told beside what `metrics` and `suggest` say: concurrency over time, sizes of tasks, the machine,
// and the switches. Keys are listed in docs/json.md (rehype.report/1). Trees are cJSON's; the caller frees them.
#ifndef REHYPE_REPORT_PAGE_DOCUMENT_H
#define REHYPE_REPORT_PAGE_DOCUMENT_H

#include "metrics/grain.h"
#include "optimize/search.h"

#include <cjson/cJSON.h>

enum { PROFILE_BINS = 400 };

// {"wall_ns", "bins", "states": {state: [mean threads in each of the bins]}} of the run of that series.
cJSON *page_profile_json(const struct state_series *series);

// [{"site": PLACE, "name", "tasks", "grain": "fine"|"coarse"|null, "sorted_ns": [...]}]
cJSON *page_sizes_json(const struct dag *dag, const struct task_sizes *sizes, size_t count,
                       const struct grain_group *groups, size_t group_count);

// {"samples": [[from_ns, to_ns, cores that the process kept busy, and all did, context switches a second, cores that
// the JVM's compilers kept busy, or null]], "pauses": [[from_ns, to_ns]]} of the window, which has an event. false and
// *error: no memory.
bool page_machine_json(const struct dag *dag, const struct window *window, cJSON **machine, struct error *error);

// {"length_ns", "names": of threads, "records": what page_lanes of core.h gives, one after the other} of the whole run,
// coarsely, and of its first threads only: for pages that have no estimator to ask. Errors: no memory.
bool page_overview_json(const struct dag *dag, cJSON **overview, struct error *error);

// {"improvement": its id in suggest's document, or null for 0; "text", "item": as plans have it; "words", "of",
// "types": what report/page/core.h takes}
cJSON *page_switch_json(const struct improvement *improvement, size_t id);

// Of every improvement that is shown, or part of a plan or of the front.
cJSON *page_switches_json(const struct search_result *result);

#endif
