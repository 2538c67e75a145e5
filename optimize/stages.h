// SPDX-License-Identifier: GPL-3.0-or-later
// What a coordinator's code becomes with combinators (R Sec. 4.1, Fig. 3): stages that run when their inputs are ready.
#ifndef REHYPE_OPTIMIZE_STAGES_H
#define REHYPE_OPTIMIZE_STAGES_H

#include "base/arena.h"
#include "dag/edit/edit.h"

// The code behind some of the waits, up to the next that waits after work.
struct stage {
    const uint32_t *inputs; // dag sites that spawn what it awaits, each once, in order; those of promises are not known
    uint32_t input_count;
    uint32_t tasks;     // results that it awaits; of a loop's stages, of all
    uint32_t rounds;    // stages alike that follow each other, as in a loop, and are this one; 1: it stands alone
    const char *method; // of CompletableFuture, that begins it
};

struct stages {
    const struct stage *items;
    uint32_t count;
    uint32_t coordinators; // that have this shape, of those asked about
};

// Whether the task awaits one that it spawned.
bool stages_coordinates(const struct dag *dag, uint32_t task);

// The stages that most of these coordinators have, behind the first, which runs where `first` says. Waits with no work
// between them, that is, with no event of the task's own and no more time than the mean wake-up (or, where no wait
// slept, a tenth of the body), are one stage; equal stages that follow each other, as in a loop, are one as well.
// Methods: of the first of these thenApply for one result, thenCombine for two, allOf for more. A later one also
// follows the one before it: thenCompose where that spawned all that it awaits; else thenCombine for one more result,
// allOf for several. So does the first where what comes before it is a task of a pool. In the arena; false: no memory.
// Cost: a pass over the bodies.
bool stages_find(const struct dag *dag, const uint32_t *tasks, uint32_t count, enum dag_first_stage first,
                 struct arena *arena, struct stages *stages);

#endif
