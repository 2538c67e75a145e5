// SPDX-License-Identifier: GPL-3.0-or-later
// Every improvement that a trace offers.
#ifndef REHYPE_OPTIMIZE_CANDIDATES_H
#define REHYPE_OPTIMIZE_CANDIDATES_H

#include "optimize/improvement.h"

// What could pay, of the kinds asked for (KIND_BIT), by site; what is of a site as a whole comes before its contexts.
//   inline       each site; where it has several contexts, each of them as well
//   hoist-branch each of a site's commonest paths (eight at most), where its tasks take two or more and those of one
//                cost twice as much as those of another
//   combinator   each site with tasks that await one that they spawned: those tasks, with the first stage on the
//                spawner, and (KINDS_ON_POOL) on their pool if that has rules. What of the site awaits nothing stays a
//                task, since it holds no thread for nothing
//   merge        each site of fine grain (metrics/grain.h), by 2, 4, 8, ... up to its largest batch
//   split        each site of few and large tasks that compute (metrics/grain.h), whether cores idle or not, into 2, 4,
//                8, ... up to four times the cores
//   resize-pool  each pool whose rules are known, to its size halved again and again down to 1, to three quarters, one
//                and a half and twice of it, to the most workers that were busy at once, and to the number of cores;
//                not to the size that it has (improvement_pool_size). What gains there is searched on
//                (optimize/screen.c)
//   of actors    as in actor_candidates.h
// Tasks that dag_left_out names are left out; nothing where that leaves none. Nothing but the size of their pool where
// tasks are periodic or delayed.
// Of tasks that the JDK makes behind what a program calls there are none, and none of sites that are a library's own
// where others are the program's; of a stream's only their inlining.
// Improvements that differ in a number only are a family (candidates_same_family) and conflict. In the arena.
bool candidates_find(const struct dag *dag, unsigned kinds, struct arena *arena, struct improvement **improvements,
                     size_t *count, struct error *error);

bool candidates_same_family(const struct improvement *a, const struct improvement *b);

// What an open improvement could become: each path of its tasks, either first stage, or the factors named above for any
// site. None is
// refused or open; there may be none. In the arena.
bool candidates_variants(const struct improvement *open, struct arena *arena, struct improvement **variants,
                         size_t *count, struct error *error);

// Works out, for kind, DAG, site, context (DAG_NONE: all), path and pool, the rest: the tasks and, if one can't be
// changed, why. false: no memory.
bool candidates_fill(struct improvement *improvement, struct arena *arena);

// What at least one of several DAGs of one program offers: those of the first in their order, then what only later ones
// have. Each as every DAG knows it: candidate c's improvements are [c * dag_count, (c + 1) * dag_count), in the order
// of the DAGs. Sites are the same by class, method, descriptor and bytecode index (by line where that is unknown),
// contexts by their functions, paths by their hash, pools by their name and which one of that name they are. Where a
// DAG lacks site, context, path or pool, `site` is DAG_NONE, `pool` 0, and there are no tasks. Cost: a pass over a
// DAG's tasks a candidate for every DAG but the one that offers it.
bool candidates_join(const struct dag *const *dags, size_t dag_count, unsigned kinds, struct arena *arena,
                     struct improvement **improvements, size_t *count, struct error *error);

// What an improvement of one DAG is in another one, by the same rules. false: no memory.
bool candidates_translate(const struct improvement *offered, const struct dag *dag, struct arena *arena,
                          struct improvement *improvement);

#endif
