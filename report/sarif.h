// SPDX-License-Identifier: GPL-3.0-or-later
// Suggestions as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), so that tools for code review show
// each at the source line where the change is made: a rule a kind of change, a result an improvement.
#ifndef REHYPE_REPORT_SARIF_H
#define REHYPE_REPORT_SARIF_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdio.h>

// How the file names what is not in the suggestions.
struct sarif_names {
    const char *version; // of rehype
    const char *sources; // folder of the sources from the repository's root ("src/main/java"), or NULL: the root
};

// `suggestions` is the document that `rehype suggest --json` writes (docs/json.md), and untrusted. Results are the
// improvements that meet the requirements and stand in the table, and those of the best plan, which have the level
// "warning"; others have "note". Errors: it is no such document (STATUS_BAD_INPUT); no memory.
bool sarif_write(const cJSON *suggestions, const struct sarif_names *names, FILE *file, struct error *error);

#endif
