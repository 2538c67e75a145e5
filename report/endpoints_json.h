// SPDX-License-Identifier: GPL-3.0-or-later
// Endpoints for JSON documents (docs/json.md).
#ifndef REHYPE_REPORT_ENDPOINTS_JSON_H
#define REHYPE_REPORT_ENDPOINTS_JSON_H

#include "metrics/calls.h"
#include "metrics/endpoints.h"

#include <cjson/cJSON.h>

// null without requests
cJSON *json_endpoints(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls);

#endif
