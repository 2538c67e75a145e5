// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that sleep and calls that follow one another (metrics/calls.h) as JSON.
#ifndef REHYPE_REPORT_CALLS_JSON_H
#define REHYPE_REPORT_CALLS_JSON_H

#include "metrics/calls.h"

#include <cjson/cJSON.h>

cJSON *json_call_advice(const struct dag *dag, const struct call_advice *advice);

// Of an endpoint; both are empty where there are none.
cJSON *json_called_functions(const struct dag *dag, const struct endpoint_calls *calls);
cJSON *json_call_sequences(const struct dag *dag, const struct endpoint_calls *calls);

#endif
