// SPDX-License-Identifier: GPL-3.0-or-later
// Finds candidates, estimates each, and searches their combinations (R Sec. 4.3, 4.4).
#ifndef REHYPE_OPTIMIZE_SEARCH_H
#define REHYPE_OPTIMIZE_SEARCH_H

#include "optimize/search_result.h"

enum { SEARCH_EVALUATIONS = 10000 }; // as many as R Sec. 5
#define SEARCH_NS       UINT64_C(20000000000)
#define SEARCH_PARTS_NS UINT64_C(1500000000) // of a search of parts

// Searches what is best over the traces (at least one) of one program, given an estimator of each, whose model and edit
// are lost. A candidate is what one of them offers (candidates_join); a plan's value is objective_value over all of
// them; requirements, or the filter with each trace's own noise, hold in every trace, and what deadlocks or is refused
// in one is out. Results live in the arena. Same input and seed, same result but for `seconds`. Candidates that exclude
// each other never meet in a plan; of plans equal within 1e-9 that with fewer improvements comes first, then by order
// of candidates. Plans that change the same tasks are one. What betters the runs by no more than the noise (struct
// baseline, the worst trace) is no gain, and no plan; nor is what gains by `balanced` in shares of time alone, or part
// of one. Cost: an estimator_run and an estimator_measure a
// plan and trace, by several threads where that pays. Errors: STATUS_USAGE from objective_check or an empty window; no
// memory.
bool search_run(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error);

// search_run by so many threads, 1 to HANDS (base/hands.h), however small the traces; 0: by as many as pay. The same
// comes out.
bool search_run_by(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                   uint32_t hands, struct arena *arena, struct search_result *result, struct error *error);

#endif
