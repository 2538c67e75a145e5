// SPDX-License-Identifier: GPL-3.0-or-later
// What plan files and `suggest --json` have in common, as cJSON's trees, which the caller frees. NULL: no memory.
#ifndef REHYPE_OPTIMIZE_PLAN_JSON_H
#define REHYPE_OPTIMIZE_PLAN_JSON_H

#include "optimize/improvement.h"

#include <cjson/cJSON.h>

#define PLAN_SCHEMA "rehype.plan/1"

cJSON *improvement_params_json(const struct improvement *improvement); // an object, empty for kinds without any

// An item of a plan's "improvements".
cJSON *improvement_plan_json(const struct improvement *improvement);

// Of a combinator: [{"inputs": [spawn sites], "tasks": results awaited, "method": of CompletableFuture}].
cJSON *improvement_stages_json(const struct improvement *improvement);

#endif
