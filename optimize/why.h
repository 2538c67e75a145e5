// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be said of a candidate, in one sentence with numbers.
#ifndef REHYPE_OPTIMIZE_WHY_H
#define REHYPE_OPTIMIZE_WHY_H

#include "optimize/search.h"

// Fills candidate->why from the rest of it; `failed` is the requirement that it doesn't meet, or NULL.
void why_write(const struct dag *dag, const struct metrics *base, const char *failed, struct candidate *candidate);
void why_write_deadlock(const struct dag *dag, const struct dag_run *run, struct candidate *candidate);

#endif
