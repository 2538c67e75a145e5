// SPDX-License-Identifier: GPL-3.0-or-later
// Improvements (SPEC sections 2 and 4): one optimisation at one site (and context), of one pool or resource, or of
// actors.
#ifndef REHYPE_OPTIMIZE_IMPROVEMENT_H
#define REHYPE_OPTIMIZE_IMPROVEMENT_H

#include "dag/simulate/simulate.h"
#include "optimize/stages.h"

enum improvement_kind {
    KIND_INLINE,
    KIND_HOIST_BRANCH,
    KIND_COMBINATOR,
    KIND_MERGE,
    KIND_SPLIT,
    KIND_RESIZE_POOL,
    KIND_RESIZE_RESOURCE,
    KIND_UNLOCK,
    KIND_OWN_POOL,
    KIND_MERGE_ACTORS,
    KIND_SPLIT_ACTOR,
    KIND_INLINE_MESSAGE,
    KIND_COUNT
};
extern const char *const improvement_kind_names[KIND_COUNT];

// Sets of kinds, a bit each. KINDS_ON_POOL: with combinator, those too whose first stage stays on its pool.
#define KIND_BIT(kind) (1u << (kind))
#define KINDS_ON_POOL  KIND_BIT(KIND_COUNT)
#define KINDS_OF_ACTORS                                                                                                \
    (KIND_BIT(KIND_OWN_POOL) | KIND_BIT(KIND_MERGE_ACTORS) | KIND_BIT(KIND_SPLIT_ACTOR) | KIND_BIT(KIND_INLINE_MESSAGE))
#define KINDS_ALL (KIND_BIT(KIND_COUNT + 1) - 1)

// What an improvement of actors is of. Actors are named by their type, of KIND_SPLIT_ACTOR by the actor's path,
// messages by theirs.
struct actor_change {
    const char *of;           // NULL of KIND_INLINE_MESSAGE, and of improvements of no actors
    const char *const *types; // of KIND_INLINE_MESSAGE
    uint32_t type_count;
    const uint32_t *actors; // that it changes, index into dag->actors, as they were created
    uint32_t actor_count;
};

struct improvement {
    enum improvement_kind kind;
    const struct dag *dag; // whose site, context, pool and tasks these are
    uint32_t site;         // index into dag->sites; DAG_NONE for kinds that need none (resize-pool)
    uint32_t context;      // index into dag->contexts, or DAG_NONE: all contexts
    bool shares_line;      // with another site: its name says the bytecode index
    uint32_t path;         // of hoist-branch: index into dag->paths; DAG_NONE: still to be chosen
    uint32_t factor;       // of merge and split, also of actors: 2 or more; 0: still to be chosen
    uint32_t pool;         // of resize-pool: trace pool id
    bool alike;            // of resize-pool: all pools that the same code seems to make (struct dag_pool's alike)
    int32_t threads;       // of resize-pool and own-pool: 1 or more
    uint32_t resource;     // of resize-resource and unlock: index into dag->resources; DAG_NONE: the DAG has none such
    int32_t capacity;      // of resize-resource: 1 or more
    const uint32_t *tasks; // that it changes, rising; of combinator the coordinators, of resize-pool the pool's
    uint32_t task_count;
    uint32_t left_out[LEFT_OUT_KINDS]; // by enum dag_left_out: further tasks of its site and context, which stay as
                                       // they are
    struct stages stages;              // of combinator
    struct actor_change change;
    enum dag_first_stage first; // of combinator; FIRST_STAGE_NONE: still to be chosen
    bool follows_cores;  // of merge and split: the number of tasks follows the cores or the pool's size (T 5.3.1)
    const char *refusal; // why it can't be estimated (one of its tasks, or the pool, can't be changed), or NULL
};

static inline bool improvement_is_of_resource(const struct improvement *improvement) {
    return improvement->kind == KIND_RESIZE_RESOURCE || improvement->kind == KIND_UNLOCK;
}

static inline bool improvement_is_of_actors(const struct improvement *improvement) {
    return improvement->kind >= KIND_OWN_POOL;
}

// Whether it is of tasks of a site, and not of what runs or holds them.
static inline bool improvement_is_of_site(const struct improvement *improvement) {
    return improvement->kind < KIND_RESIZE_POOL;
}

// The most threads that a pool has as it is: its maximum, or its core where a queue without bound keeps it from making
// more. 0: there is no bound.
uint32_t improvement_pool_size(const struct dag *dag, uint32_t pool);

// Whether a resize-pool is of that pool.
bool improvement_is_of_pool(const struct improvement *improvement, uint32_t pool);

// Whether all that it changes is what actors do: its tasks are messages, and actors' beginnings.
bool improvement_is_of_messages(const struct improvement *improvement);

// What one of its tasks is called: "task" or "message".
const char *improvement_noun(const struct improvement *improvement);

// All tasks that it leaves out.
uint32_t improvement_left_out(const struct improvement *improvement);

// Whether its path, factor or first stage is still to be chosen, and so it can't be applied (candidates_variants).
bool improvement_is_open(const struct improvement *improvement);

// Adds it to an edit. Returns NULL, or why it can't be: its refusal, or that it leaves all as it is. It must not be
// open.
const char *improvement_apply(const struct improvement *improvement, struct dag_edit *edit);

// Two improvements conflict when they ask something of one task (R Sec. 4.3), or of one pool: different things exclude
// each other, and the same twice is an oversight. A pool's size asks nothing of its tasks.
bool improvements_conflict(const struct improvement *a, const struct improvement *b);

// Whether two of actors differ in a number at most.
bool improvements_of_like_actors(const struct improvement *a, const struct improvement *b);

// XOR of a key for everything that it changes: sets of improvements with equal XORs of keys have an equal effect. The
// salt tells traces apart.
uint64_t improvement_key(const struct improvement *improvement, uint64_t salt);

// The kinds that a model can tell the effect of; and why not of one (else NULL).
unsigned model_kinds(enum model_kind model);
const char *model_refusal(enum model_kind model, const struct improvement *improvement);

// Its name as plans have it. Returns text.
// "inline AgeQuery.queryAge:41", with the context where there is one ("... in Main.main > Server.handle") and what else
// tells it apart ("merge Main.run:3 by 4", "split ... into 4", "hoist-branch ... on path 00c0ffee00c0ffee", "combinator
// ..., first stage on its pool", "resize-pool pool-1 to 8 threads").
char *improvement_text(const struct improvement *improvement, char *text, size_t size);

#endif
