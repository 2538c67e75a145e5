// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_COUNT = MODEL_CPU + 1 };

const char *const model_names[MODEL_COUNT] = {[MODEL_DAG] = "dag", [MODEL_POOL] = "pool", [MODEL_CPU] = "cpu"};

bool model_parse(const char *name, enum model_kind *kind, struct error *error) {
    *kind = MODEL_DAG; // the default
    if (!name) return true;
    for (int k = 0; k < MODEL_COUNT; k++) {
        *kind = (enum model_kind)k;
        if (strcmp(name, model_names[k]) == 0) return true;
    }
    return error_set(error, STATUS_USAGE, "no model '%s'; there are: dag, pool, cpu", name);
}

bool model_parse_rate(const char *text, double *rate, struct error *error) {
    char *end;
    *rate = strtod(text, &end);
    if (*end == 'x') end++;
    if (end != text && *end == '\0' && *rate > 0 && isfinite(*rate)) return true;
    return error_set(error, STATUS_USAGE, "--rate '%s': expected how many times as often, such as 2x", text);
}

bool model_choose(struct analysis *analysis, enum model_kind wanted, enum model_kind *kind, struct error *error) {
    *kind = wanted;
    if (wanted != MODEL_CPU || analysis->dag->vertices.compute_ns) return true;
    *kind = MODEL_POOL;
    return warnings_add(&analysis->warnings,
                        "the trace does not tell what its tasks computed: estimated with the model pool, not cpu",
                        error);
}
