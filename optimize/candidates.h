// SPDX-License-Identifier: GPL-3.0-or-later
// Every improvement that a trace offers.
#ifndef REHYPE_OPTIMIZE_CANDIDATES_H
#define REHYPE_OPTIMIZE_CANDIDATES_H

#include "optimize/plan.h"

// One `inline` a site; where a site has several contexts, one a context as well. By site, all contexts first. In the
// arena.
bool candidates_find(const struct dag *dag, struct arena *arena, struct improvement **improvements, size_t *count,
                     struct error *error);

// The improvement of one DAG's site and context (DAG_NONE: all): its tasks and, if one can't be changed, why. false: no
// memory.
bool candidates_fill(struct improvement *improvement, struct arena *arena);

// What at least one of several DAGs of one program offers: those of the first in their order, then what only later ones
// have. Each as every DAG knows it: candidate c's improvements are [c * dag_count, (c + 1) * dag_count), in the order
// of the DAGs. Sites are the same by class, method, descriptor and bytecode index (by line where that is unknown),
// contexts by their functions. Where a DAG lacks site or context, `site` is DAG_NONE and there are no tasks. Cost: a
// pass over a DAG's tasks a candidate for every DAG but the one that offers it.
bool candidates_join(const struct dag *const *dags, size_t dag_count, struct arena *arena,
                     struct improvement **improvements, size_t *count, struct error *error);

#endif
