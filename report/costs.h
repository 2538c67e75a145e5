// SPDX-License-Identifier: GPL-3.0-or-later
// What handing over and picking up tasks cost (dag/simulate/costs.h), as JSON and text. Only what was recorded is
// shown.
#ifndef REHYPE_REPORT_COSTS_H
#define REHYPE_REPORT_COSTS_H

#include "dag/simulate/costs.h"

#include <cjson/cJSON.h>
#include <stdio.h>

// How a task came to run, as in docs/json.md: "new", "woken", ...
extern const char *const dispatch_names[DISPATCH_KINDS];

cJSON *costs_json(const struct dag *dag, const struct costs *costs);

// A row a pool and kind of dispatch; nothing where nothing was recorded.
bool costs_write(const struct dag *dag, const struct costs *costs, FILE *file, unsigned look, struct error *error);

#endif
