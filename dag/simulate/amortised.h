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

// Of the edge to a process's next vertex. What goes on as a donor did is no task that the edit merges or inlines.
static inline bool amortises(const struct simulation *sim, const struct process *process) {
    return (sim->saves || sim->regroup.amortises) && sim->frames[process->frame].kind != FRAME_DONOR;
}
static inline double amortised_part_of(const struct simulation *sim, const struct process *process) {
    return amortises(sim, process) ? amortised_part(sim, process->vertex) : 0;
}
static inline struct amortised amortised_of_edge(const struct simulation *sim, const struct process *process) {
    return amortises(sim, process) ? amortised_saving(sim, process->vertex) : (struct amortised){0, 0};
}

#endif
