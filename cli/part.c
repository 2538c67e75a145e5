// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/part.h"

#include "dag/build/perturbation.h"
#include "tracefile/slice.h"

#include <stdlib.h>

static bool part_open(const struct analysis *whole, bool keep_tracer_cost, struct analysis_part *part,
                      struct error *error) {
    part->trace = trace_slice(whole->trace, part->range.from_ns, part->range.to_ns, &part->memory, error);
    if (!part->trace || !(part->dag = dag_build(part->trace, error))) return false;
    if (!keep_tracer_cost && !dag_take_out_tracer_cost(part->dag, error)) return false;
    if (!estimator_init(&part->estimator, part->dag, NULL, error)) return false;
    part->estimator.costs->without = whole->estimator.costs->without;
    return true;
}

static void part_close(struct analysis_part *part) {
    estimator_destroy(&part->estimator);
    dag_free(part->dag);
    trace_close(part->trace);
    free(part->memory.bytes);
}

// Finding out what they are costs little; *all: each has one.
static bool find_all(struct analysis *const *wholes, size_t count, struct analysis_part *parts, bool *all,
                     struct error *error) {
    *all = true;
    for (size_t t = 0; t < count && *all; t++) {
        if (!part_find(wholes[t]->dag, &wholes[t]->window, &parts[t].range, error)) return false;
        *all = parts[t].range.requests > 0;
    }
    return true;
}

bool parts_open(struct analysis *const *wholes, size_t count, bool keep_tracer_cost, struct arena *arena,
                struct analysis_parts *parts, struct error *error) {
    bool all;
    *parts = (struct analysis_parts){.parts = ARENA_NEW(arena, struct analysis_part, count),
                                     .estimators = ARENA_NEW(arena, struct estimator *, count)};
    if (!parts->parts || !parts->estimators) return error_set(error, STATUS_FAILED, "no memory for parts of traces");
    if (!find_all(wholes, count, parts->parts, &all, error)) return false;
    for (size_t t = 0; t < count && all; t++) {
        parts->count++;
        parts->estimators[t] = &parts->parts[t].estimator;
        if (!part_open(wholes[t], keep_tracer_cost, &parts->parts[t], error)) return false;
    }
    return true;
}

void parts_close(struct analysis_parts *parts) {
    for (size_t t = 0; t < parts->count; t++) part_close(&parts->parts[t]);
}
