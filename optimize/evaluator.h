// SPDX-License-Identifier: GPL-3.0-or-later
// A change tried on all recordings of a program: an estimator each.
#ifndef REHYPE_OPTIMIZE_EVALUATOR_H
#define REHYPE_OPTIMIZE_EVALUATOR_H

#include "base/arena.h"
#include "optimize/estimator.h"
#include "optimize/improvement.h"

struct evaluator {
    size_t count;                        // of traces
    struct estimator *const *estimators; // one a trace, like
    struct metrics *estimates;           // of the edits that were measured last
    struct estimator *own;               // what estimators point to, of evaluator_new_beside
};

// Of the caller's estimators. Arrays are the arena's. false and *error: no memory.
bool evaluator_new(struct evaluator *evaluator, struct estimator *const *estimators, size_t count, struct arena *arena,
                   struct error *error);

// For another thread: the same traces and models, with empty edits. `other` must outlive it, and may not be used
// meanwhile.
bool evaluator_new_beside(struct evaluator *evaluator, const struct evaluator *other, struct arena *arena,
                          struct error *error);

void evaluator_destroy(struct evaluator *evaluator); // harmless after a failure, and on zeros

void evaluator_clear(struct evaluator *evaluator); // the edits

// improvements: one a trace. NULL, or why it can't be, and in which trace. Where a trace has none of its tasks there is
// nothing to refuse.
const char *evaluator_apply(struct evaluator *evaluator, const struct improvement *improvements, size_t *trace);

// Fills the estimates, against `recorded` (one a trace); all: of metrics_compute, else of metrics_usage. *stuck: the
// first trace that has none, and with it those after it; the number of traces where all went well. Errors as of
// estimator_run and estimator_measure.
bool evaluator_estimate(struct evaluator *evaluator, const struct metrics *recorded, bool all, size_t *stuck,
                        struct error *error);

#endif
