// SPDX-License-Identifier: GPL-3.0-or-later
// Every improvement that a trace offers.
#ifndef REHYPE_OPTIMIZE_CANDIDATES_H
#define REHYPE_OPTIMIZE_CANDIDATES_H

#include "optimize/plan.h"

// One `inline` a site; where a site has several contexts, one a context as well. By site, all contexts first. In the
// arena.
bool candidates_find(const struct dag *dag, struct arena *arena, struct improvement **improvements, size_t *count,
                     struct error *error);

// The improvement of one site and context (DAG_NONE: all): its tasks and, if one can't be changed, why. false: no
// memory.
bool candidates_fill(const struct dag *dag, struct arena *arena, struct improvement *improvement);

#endif
