// SPDX-License-Identifier: GPL-3.0-or-later
// The simulation of dag/simulate/simulate.h once more, to check it by: as slow as it is plain. Time goes from one thing
// that ends to the next, found by looking at all processes; nothing is kept in order, and no code is shared.
#ifndef REHYPE_TESTS_SIMULATE_REFERENCE_H
#define REHYPE_TESTS_SIMULATE_REFERENCE_H

#include "dag/simulate/simulate.h"

struct reference_part { // of a split task
    uint32_t task;
    int64_t start_ns, end_ns;
};

struct reference_run {
    int64_t *time_ns; // a vertex each; DAG_ABSENT where it is no part of the run, and of workers' own vertices
    struct reference_part *parts; // in the order of their starts
    uint32_t part_count;
    uint32_t idled_out; // workers that retired since they were idle
    int64_t closest_ns; // how close such a one came to something else that its pool did
    bool stuck;
    bool changed; // a wait for a resource came out otherwise than recorded, and the run was left there
};

// Whether it knows all that happens in this graph: threads that no discipline governs hold no task but their own.
bool reference_knows(const struct dag *dag);

// MODEL_POOL and MODEL_CPU, rates excepted. `has_donor`: of each ask, whether another task tells what would follow the
// other outcome; NULL: none does. The run is freed by reference_destroy.
void reference_simulate(const struct dag *dag, const struct dag_edit *edit, const struct costs *costs,
                        const struct model *model, const bool *has_donor, struct reference_run *run);
void reference_destroy(struct reference_run *run);

#endif
