// SPDX-License-Identifier: GPL-3.0-or-later
// What an edge takes less because tasks are merged or inlined, or actors not made.
#ifndef REHYPE_DAG_AMORTISED_H
#define REHYPE_DAG_AMORTISED_H

#include "dag/simulate/state.h"

struct amortised {
    int64_t compute_ns, queued_ns; // of a trace that measures no computing, the first is all
};
bool amortised_new(struct simulation *sim);
void amortised_free(struct simulation *sim);
void amortised_begin_run(struct simulation *sim);                // groups and placements are known
double amortised_part(const struct simulation *sim, uint32_t v); // of what the edge to a vertex computed and queued
struct amortised amortised_saving(const struct simulation *sim, uint32_t v);
static inline struct amortised amortised_of_edge(const struct simulation *sim, uint32_t v) {
    return sim->saves || sim->regroup.amortises ? amortised_saving(sim, v) : (struct amortised){0, 0};
}

#endif
