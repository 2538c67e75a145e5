// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/model.h"

#include "optimize/ordering.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_COUNT = MODEL_CPU + 1 };

const char *const model_names[MODEL_COUNT] = {[MODEL_DAG] = "dag", [MODEL_POOL] = "pool", [MODEL_CPU] = "cpu"};

bool model_parse(const char *name, enum model_kind *kind, struct error *error) {
    *kind = MODEL_CPU; // the default
    if (!name) return true;
    for (int k = 0; k < MODEL_COUNT; k++) {
        *kind = (enum model_kind)k;
        if (strcmp(name, model_names[k]) == 0) return true;
    }
    return error_set(error, STATUS_USAGE, "no model '%s'; there are: dag, pool, cpu", name);
}

bool model_parse_rate(const char *text, struct model *model, struct error *error) {
    char *end;
    const double rate = strtod(text, &end);
    const bool is_factor = *end == 'x';
    if (is_factor) end++;
    if (end == text || *end != '\0' || !(rate > 0) || !isfinite(rate))
        return error_set(error, STATUS_USAGE,
                         "--rate '%s': expected how many times as often, such as 2x, or how many a second, such as 400",
                         text);
    if (is_factor)
        model->rate = rate;
    else
        model->load.per_s = rate;
    return true;
}

bool model_parse_think(const char *text, struct offered_load *load, struct error *error) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    const double value = strtod(text, &end);
    for (size_t i = 0; end != text && value >= 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0 || value * units[i].ns > 1e15) continue;
        load->thinks = true;
        load->think_ns = (int64_t)(value * units[i].ns);
        return true;
    }
    return error_set(error, STATUS_USAGE, "--think '%s': expected a time with its unit, such as 20ms", text);
}

static bool parse_correction(const char *name, size_t length, unsigned *without, struct error *error) {
    for (int c = 0; c < CORRECTION_COUNT; c++) {
        bool is = strlen(correction_names[c]) == length && memcmp(correction_names[c], name, length) == 0;
        if (is) *without |= CORRECTION_BIT(c);
        if (is) return true;
    }
    return error_set(error, STATUS_USAGE, "no correction '%.*s'; rehype estimate --help lists them", (int)length, name);
}

bool model_parse_without(const char *names, unsigned *without, struct error *error) {
    *without = 0;
    if (names && strcmp(names, "all") == 0) {
        *without = CORRECTION_BIT(CORRECTION_COUNT) - 1;
        return true;
    }
    for (const char *name = names; name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        if (!parse_correction(name, strcspn(name, ","), without, error)) return false;
    }
    return true;
}

// Whether the model comes to an end with what was recorded.
static bool try_model(struct analysis *analysis, enum model_kind kind, bool *stuck, struct error *error) {
    char text[200];
    uint32_t forgotten;
    analysis->estimator.model = (struct model){.kind = kind};
    if (!ordering_settle(analysis->dag, &analysis->estimator, stuck, &forgotten, error)) return false;
    if (forgotten == 0) return true;
    snprintf(text, sizeof text,
             forgotten == 1 ? "1 result that was there when asked for comes too late in the model when nothing is "
                              "changed: estimates do not wait for it"
                            : "%" PRIu32 " results that were there when asked for come too late in the model when "
                              "nothing is changed: estimates do not wait for them",
             forgotten);
    return warnings_add(&analysis->warnings, text, error);
}

static bool warn_of_halt(struct analysis *analysis, enum model_kind kind, struct error *error) {
    char text[8192], chain[8000];
    snprintf(text, sizeof text,
             "estimated with the model %s, since %s comes to a halt when nothing is changed:\n    %s",
             model_names[kind - 1], model_names[kind], estimator_stuck_text(&analysis->estimator, chain, sizeof chain));
    return warnings_add(&analysis->warnings, text, error);
}

bool model_choose(struct analysis *analysis, enum model_kind wanted, enum model_kind *kind, struct error *error) {
    bool stuck = true;
    *kind = wanted;
    if (wanted == MODEL_CPU && !analysis->dag->vertices.compute_ns) {
        *kind = MODEL_POOL;
        if (!warnings_add(&analysis->warnings,
                          "estimated with the model pool, since the trace does not tell what its tasks computed",
                          error)) {
            return false;
        }
    }
    while (*kind != MODEL_DAG && stuck) {
        if (!try_model(analysis, *kind, &stuck, error)) return false;
        if (stuck && !warn_of_halt(analysis, *kind, error)) return false;
        *kind -= stuck;
    }
    return true;
}
