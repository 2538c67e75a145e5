// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/actor_candidates.h"

#include "optimize/actor_change.h"
#include "optimize/communities.h"

#include <stdlib.h>
#include <string.h>

enum { FAMILIES_MOST = 8, PATH_BYTES = 1024 };

static const double busy_least = 0.05;    // of the run
static const double asleep_least = 0.5;   // of the time in handlers
static const double matters_least = 0.01; // of the run, slept

// What actors do, each, or all of a type.
struct use {
    double making_ns, handling_ns, asleep_ns;
    uint32_t actors;
    uint32_t pool; // of the first
};

struct offering {
    const struct dag *dag;
    const struct actor_log *log;
    const struct ownership *ownership;
    struct arena *arena;
    actor_candidate_list *list;
    void *context;
    struct use *by_actor; // an actor of the DAG each
    struct use *by_type;  // a class of the trace each
    uint32_t *type_of;    // an actor of the DAG each: trace class id, 0: none of the program's
};

// ---- what actors do

static double asleep_ns(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    double ns = (double)(vertices->time_ns[task->end] - vertices->time_ns[task->start]);
    if (!vertices->compute_ns) return 0;
    for (uint32_t v = task->start + 1; v <= task->end; v++)
        ns -= (double)(vertices->compute_ns[v] + (vertices->queued_ns ? vertices->queued_ns[v] : 0));
    return ns;
}

static void add_task(struct offering *offering, uint32_t index) {
    const struct dag *dag = offering->dag;
    const struct dag_task *task = &dag->tasks[index];
    if (!dag->actor_of[index] || task->start == DAG_NONE || task->end == DAG_NONE) return;
    struct use *use = &offering->by_actor[dag->actor_of[index]];
    const double ns = (double)(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start]);
    if (task->flags & (TASK_INIT | TASK_UPKEEP)) {
        use->making_ns += ns;
        return;
    }
    use->handling_ns += ns;
    use->asleep_ns += asleep_ns(dag, task);
}

static void add_to_type(struct offering *offering, uint32_t actor) {
    const struct use *one = &offering->by_actor[actor];
    struct use *all = &offering->by_type[offering->type_of[actor]];
    if (all->actors++ == 0) all->pool = offering->dag->actors[actor].pool;
    all->making_ns += one->making_ns;
    all->handling_ns += one->handling_ns;
    all->asleep_ns += one->asleep_ns;
}

static int by_id(const void *a, const void *b) {
    const struct dag_actor *const *x = a, *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

// Whether the program may change actors of that type, a trace class id.
static bool may_change(const struct offering *offering, uint32_t type) {
    return type < offering->dag->trace->class_count && offering->ownership->actor_type[type];
}

// The types of the DAG's actors, as the log has them by id. false: no memory.
static bool find_types(struct offering *offering) {
    const struct dag *dag = offering->dag;
    const struct dag_actor **actors = malloc(((size_t)dag->actor_count + 1) * sizeof *actors);
    if (!actors) return false;
    for (uint32_t a = 1; a <= dag->actor_count; a++) actors[a - 1] = &dag->actors[a];
    qsort(actors, dag->actor_count, sizeof *actors, by_id);
    for (uint32_t a = 0; a < offering->log->actor_count; a++) {
        const struct logged_actor *logged = &offering->log->actors[a];
        const struct dag_actor key = {.id = logged->id}, *wanted = &key;
        const struct dag_actor **found = bsearch(&wanted, actors, dag->actor_count, sizeof *actors, by_id);
        if (found && logged->of_program && !logged->router && may_change(offering, logged->type))
            offering->type_of[*found - dag->actors] = logged->type;
    }
    free(actors);
    return true;
}

static bool survey(struct offering *offering) {
    const struct dag *dag = offering->dag;
    offering->by_actor = calloc((size_t)dag->actor_count + 1, sizeof *offering->by_actor);
    offering->by_type = calloc((size_t)dag->trace->class_count + 1, sizeof *offering->by_type);
    offering->type_of = calloc((size_t)dag->actor_count + 1, sizeof *offering->type_of);
    if (!offering->by_actor || !offering->by_type || !offering->type_of || !find_types(offering)) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) add_task(offering, t);
    for (uint32_t a = 1; a <= dag->actor_count; a++) {
        if (offering->type_of[a]) add_to_type(offering, a);
    }
    return true;
}

// ---- what is tried first

struct rank {
    uint32_t item; // type, or actor of the DAG
    double value;
};

static int by_value(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

// The items with the largest values above 0, at most FAMILIES_MOST. NULL: no memory.
static struct rank *ranked(const struct offering *offering, uint32_t count,
                           double (*value)(const struct offering *offering, uint32_t item), uint32_t *kept) {
    struct rank *ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    *kept = 0;
    for (uint32_t i = 1; ranks && i < count; i++) {
        const double worth = value(offering, i);
        if (worth > 0) ranks[(*kept)++] = (struct rank){i, worth};
    }
    if (*kept) qsort(ranks, *kept, sizeof *ranks, by_value);
    if (*kept > FAMILIES_MOST) *kept = FAMILIES_MOST;
    return ranks;
}

static double wall_ns(const struct offering *offering) {
    return (double)(offering->dag->last_ns - offering->dag->first_ns);
}

// Those that cost most to make for what they do.
static double worth_merging(const struct offering *offering, uint32_t type) {
    const struct use *use = &offering->by_type[type];
    if (use->actors < 2) return 0;
    return (use->making_ns + 1) / (use->handling_ns + use->making_ns + 1) * (double)use->actors;
}

static double worth_splitting(const struct offering *offering, uint32_t actor) {
    const double ns = offering->by_actor[actor].handling_ns;
    return offering->type_of[actor] && ns > busy_least * wall_ns(offering) ? ns : 0;
}

static bool shares_dispatcher(const struct offering *offering, uint32_t type) {
    for (uint32_t a = 1; a <= offering->dag->actor_count; a++) {
        const uint32_t other = offering->type_of[a];
        if (other && other != type && offering->dag->actors[a].pool == offering->by_type[type].pool) return true;
    }
    return false;
}

static double worth_moving(const struct offering *offering, uint32_t type) {
    const struct use *use = &offering->by_type[type];
    bool sleeps =
        use->asleep_ns > asleep_least * use->handling_ns && use->asleep_ns > matters_least * wall_ns(offering);
    return sleeps && shares_dispatcher(offering, type) ? use->asleep_ns : 0;
}

// ---- listing

static struct improvement of_actors(const struct offering *offering, enum improvement_kind kind, const char *name) {
    return (struct improvement){.kind = kind,
                                .dag = offering->dag,
                                .site = DAG_NONE,
                                .context = DAG_NONE,
                                .path = DAG_NONE,
                                .change = {.of = name}};
}

// By factor, or number of threads of an own pool: doubles from `first` to `most`, and `most` itself.
static bool list_numbers(const struct offering *offering, struct improvement *improvement, uint64_t first,
                         uint64_t most) {
    bool done = true;
    for (uint64_t number = first, next; done && number <= most; number = next) {
        if (improvement->kind == KIND_OWN_POOL)
            improvement->threads = (int32_t)number;
        else
            improvement->factor = (uint32_t)number;
        done = offering->list(offering->context, improvement);
        next = number < most && number * 2 > most ? most : number * 2;
    }
    return done;
}

static const char *kept_name(const struct offering *offering, enum improvement_kind kind, uint32_t item) {
    char path[PATH_BYTES];
    const char *name = NULL;
    if (kind != KIND_SPLIT_ACTOR) name = actor_log_class(offering->log, item);
    for (uint32_t a = 0; !name && a < offering->log->actor_count; a++) {
        if (offering->log->actors[a].id == offering->dag->actors[item].id)
            name = actor_log_path(offering->log, a, path, sizeof path);
    }
    return name ? arena_string(offering->arena, name, strlen(name)) : NULL;
}

static uint64_t most_of(const struct offering *offering, const struct improvement *improvement) {
    const uint64_t cores = offering->dag->trace->header.cores ? offering->dag->trace->header.cores : 1;
    return improvement->kind == KIND_SPLIT_ACTOR ? 4 * cores : improvement->change.actor_count;
}

static bool list_kind(const struct offering *offering, enum improvement_kind kind, uint32_t count,
                      double (*value)(const struct offering *offering, uint32_t item)) {
    uint32_t kept;
    struct rank *ranks = ranked(offering, count, value, &kept);
    bool done = ranks;
    for (uint32_t i = 0; done && i < kept; i++) {
        struct improvement improvement = of_actors(offering, kind, kept_name(offering, kind, ranks[i].item));
        done = improvement.change.of && actor_change_fill(&improvement, offering->log, offering->arena);
        if (!done || improvement.refusal) continue;
        done = list_numbers(offering, &improvement, kind == KIND_OWN_POOL ? 1 : 2, most_of(offering, &improvement));
    }
    free(ranks);
    return done;
}

// ---- talk between types

struct pair {
    uint32_t one, other; // nodes
    uint64_t messages;
};

static int by_messages(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->messages != y->messages) return x->messages > y->messages ? -1 : 1;
    if (x->one != y->one) return x->one < y->one ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

static bool is_between(const struct graph_edge *edge, uint32_t one, uint32_t other) {
    return (edge->from == one && edge->to == other) || (edge->from == other && edge->to == one);
}

static bool is_own_node(const struct offering *offering, const struct graph_node *node) {
    return node->kind == NODE_TYPE && may_change(offering, node->type);
}

static size_t find_pairs(const struct offering *offering, const struct message_graph *graph, const uint32_t *community,
                         struct pair *pairs) {
    size_t count = 0;
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        const bool own =
            is_own_node(offering, &graph->nodes[edge->from]) && is_own_node(offering, &graph->nodes[edge->to]);
        if (!own || community[edge->from] != community[edge->to]) continue;
        size_t p = 0;
        while (p < count && !is_between(edge, pairs[p].one, pairs[p].other)) p++;
        if (p == count) pairs[count++] = (struct pair){edge->from, edge->to, 0};
        pairs[p].messages += edge->count;
    }
    if (count) qsort(pairs, count, sizeof *pairs, by_messages);
    return count < FAMILIES_MOST ? count : FAMILIES_MOST;
}

static bool list_pair(const struct offering *offering, const struct message_graph *graph, const struct pair *pair) {
    struct improvement improvement = of_actors(offering, KIND_INLINE_MESSAGE, NULL);
    const char **types = ARENA_NEW(offering->arena, const char *, graph->edge_count + 1);
    improvement.change.types = types;
    for (size_t e = 0; types && e < graph->edge_count; e++) {
        if (is_between(&graph->edges[e], pair->one, pair->other))
            types[improvement.change.type_count++] = actor_log_class(offering->log, graph->edges[e].class);
    }
    for (uint32_t i = 0; types && i < improvement.change.type_count; i++)
        types[i] = arena_string(offering->arena, types[i], strlen(types[i]));
    if (!types || !actor_change_fill(&improvement, offering->log, offering->arena)) return false;
    return improvement.refusal || offering->list(offering->context, &improvement);
}

static bool list_pairs(const struct offering *offering, struct error *error) {
    struct message_graph graph;
    if (!message_graph_make(offering->log, NULL, offering->arena, &graph, error)) return false;
    uint32_t *community = malloc((graph.node_count + 1) * sizeof *community);
    struct pair *pairs = malloc((graph.edge_count + 1) * sizeof *pairs);
    bool done = community && pairs && communities_find(&graph, community, error);
    const size_t count = done ? find_pairs(offering, &graph, community, pairs) : 0;
    for (size_t i = 0; done && i < count; i++) done = list_pair(offering, &graph, &pairs[i]);
    free(community);
    free(pairs);
    return done;
}

bool actor_candidates(const struct dag *dag, const struct ownership *ownership, unsigned kinds, struct arena *arena,
                      actor_candidate_list *list, void *context, struct error *error) {
    struct actor_log log = {0};
    struct offering offering = {
        .dag = dag, .log = &log, .ownership = ownership, .arena = arena, .list = list, .context = context};
    if (!dag->actors || !(kinds & KINDS_OF_ACTORS)) return true;
    const uint32_t types = dag->trace->class_count, actors = dag->actor_count + 1;
    bool done = actor_log_read(dag, &log, error) && survey(&offering);
    if (done && kinds & KIND_BIT(KIND_OWN_POOL)) done = list_kind(&offering, KIND_OWN_POOL, types, worth_moving);
    if (done && kinds & KIND_BIT(KIND_MERGE_ACTORS))
        done = list_kind(&offering, KIND_MERGE_ACTORS, types, worth_merging);
    if (done && kinds & KIND_BIT(KIND_SPLIT_ACTOR))
        done = list_kind(&offering, KIND_SPLIT_ACTOR, actors, worth_splitting);
    if (done && kinds & KIND_BIT(KIND_INLINE_MESSAGE)) done = list_pairs(&offering, error);
    free(offering.by_actor);
    free(offering.by_type);
    free(offering.type_of);
    actor_log_destroy(&log);
    if (!done && error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for candidates");
    return done;
}
