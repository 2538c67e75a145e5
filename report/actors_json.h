// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of actors and messages, as JSON (docs/json.md, "Actors and messages"). The trees are cJSON's, as in
// report/json.h.
#ifndef REHYPE_REPORT_ACTORS_JSON_H
#define REHYPE_REPORT_ACTORS_JSON_H

#include "metrics/actor_findings.h"

#include <cjson/cJSON.h>

// Puts "actors", "messages", "balances", "latency" and "triggers" into a document, in the place of those of its METRICS
// that are there already. Nothing where the trace has no actors.
void json_add_actors(cJSON *document, const struct actor_findings *findings);

cJSON *json_balances(const struct balances *balances);

#endif
