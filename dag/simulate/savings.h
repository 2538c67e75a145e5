// SPDX-License-Identifier: GPL-3.0-or-later
// What an edge takes less because tasks are merged.
#ifndef REHYPE_DAG_SAVINGS_H
#define REHYPE_DAG_SAVINGS_H

#include "dag/simulate/state.h"

struct saving {
    int64_t compute_ns, queued_ns; // of a trace that measures no computing, the first is all
};
bool savings_new(struct simulation *sim);
void savings_free(struct simulation *sim);
void savings_begin_run(struct simulation *sim);               // groups and fates are known
double saving_part(const struct simulation *sim, uint32_t v); // of what the edge to a vertex computed and queued
struct saving saving_in_group(const struct simulation *sim, uint32_t v);
static inline struct saving saving_of_edge(const struct simulation *sim, uint32_t v) {
    bool saves = sim->edit->merged_count && corrects(sim, CORRECTION_AMORTISED);
    return saves ? saving_in_group(sim, v) : (struct saving){0, 0};
}

#endif
