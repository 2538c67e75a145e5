// SPDX-License-Identifier: GPL-3.0-or-later
// What `suggest` says beside the plans that it estimates.
#ifndef REHYPE_CLI_SUGGEST_ADVICE_H
#define REHYPE_CLI_SUGGEST_ADVICE_H

#include "cli/analysis.h"

// To stdout: the calls that requests make one after the other and that would gain most at once, and an empty line;
// nothing where the trace tells none.
bool suggest_advice_write(const struct analysis *analysis, struct error *error);

#endif
