// SPDX-License-Identifier: GPL-3.0-or-later
// What `suggest` says beside the plans that it estimates: the calls that requests make one after the other and that
// would gain most at once.
#ifndef REHYPE_CLI_SUGGEST_ADVICE_H
#define REHYPE_CLI_SUGGEST_ADVICE_H

#include "cli/analysis.h"

#include <cjson/cJSON.h>

// To stdout, with an empty line behind it; nothing where the trace tells none.
bool suggest_advice_write(const struct analysis *analysis, struct error *error);

// The document gets its key `advice`, null where the trace tells none.
bool suggest_advice_add(const struct analysis *analysis, cJSON *document, struct error *error);

#endif
