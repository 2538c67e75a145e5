// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers -> JSON (SPEC section 6; docs/json.md lists every key). Unknown is null. Integers are written in full, never
// as 1e+15. The trees are cJSON's; the caller frees them with cJSON_Delete. Memory that runs out shows in json_write.
#ifndef REHYPE_REPORT_JSON_H
#define REHYPE_REPORT_JSON_H

#include "metrics/bytecodes.h"
#include "metrics/calling_contexts.h"
#include "metrics/grain.h"
#include "metrics/interval.h"
#include "metrics/lateness.h"
#include "metrics/metrics.h"
#include "metrics/pipeline.h"
#include "metrics/resources.h"
#include "optimize/search.h"

#include <cjson/cJSON.h>
#include <stdio.h>

cJSON *json_integer(int64_t value);
cJSON *json_number(double value);   // NAN and infinities are null
cJSON *json_text(const char *text); // NULL is null
cJSON *json_texts(const char *const *texts, size_t count);
cJSON *json_place(const struct trace_site *site); // class, method, descriptor, file, line, bci; null if unknown

cJSON *json_metrics(const struct metrics *metrics);                  // METRICS
void json_add_metrics(cJSON *object, const struct metrics *metrics); // its members
cJSON *json_intervals(const struct intervals *intervals);            // "interval"
cJSON *json_grain(const struct dag *dag, const struct grain_group *groups, size_t count);
cJSON *json_bytecodes(const struct dag *dag, const struct bytecodes *bytecodes); // null if they were not counted
cJSON *json_calling_contexts(const struct dag *dag, const struct calling_contexts *found); // null without any
cJSON *json_waits(const struct wait_site *waits, size_t count);
cJSON *json_blockers(const struct blocker *blockers, size_t count);
cJSON *json_lateness(const struct dag *dag, const struct lateness *found, size_t count); // null for NULL
cJSON *json_stages(const struct dag *dag, const struct pipeline_stage *stages, size_t count);
cJSON *json_resources(const struct dag *dag, const struct resource_use *uses, size_t count);
cJSON *json_suggestions(const struct search_result *result, uint64_t seed); // the whole rehype.suggest/1 document
cJSON *json_improvement(const struct search_result *result, size_t candidate);

// Writes the document with a line end, and frees it. false when memory ran out.
bool json_write(cJSON *document, FILE *file, struct error *error);

#endif
