// SPDX-License-Identifier: GPL-3.0-or-later
// What threads take, ask for and give back is passed in order of time. A resource starves when it has nothing left and
// each thread that holds some of it waits for it.
#include "metrics/starvation.h"

#include "dag/idmap.h"
#include "dag/order.h"

#include <stdlib.h>

struct holding { // of a thread and a resource
    int64_t units;
    uint32_t ask; // by which it took some of it last
    bool waits;
};

struct level { // of a resource
    int64_t held;
    uint32_t holders, waiting_holders; // threads
    uint32_t waiting;                  // threads
    uint32_t pool;                     // whose workers all are that wait; 0: none, or not of one
    bool changes_hands;                // threads give back what others took
    struct resource_starvation found;
};

struct replay {
    const struct dag *dag;
    const int64_t *time_ns;
    struct order_key *turns; // item: vertex
    uint32_t turn_count;
    uint32_t *thread_of; // a turn's vertex each, in the order in which they were listed
    struct idmap index;  // of a thread and a resource
    struct holding *holdings;
    uint32_t holding_count;
    struct level *levels; // a resource each
};

// How many workers a pool can have. 0: there is no end to them, or it isn't known.
static uint32_t most_workers(const struct dag_pool *pool) {
    const int32_t most = dag_pool_most(pool);
    if (pool->discipline == DISCIPLINE_UNKNOWN || pool->discipline == DISCIPLINE_STEALING) return 0;
    return most == INT32_MAX || most < 0 ? 0 : most == 0 ? 1 : (uint32_t)most;
}

// Of what goes through, and is not held, nothing starves.
static bool is_countable(const struct dag_resource *resource) {
    return resource->capacity > 0 && resource->tells_holds && resource->goes_round;
}

// NULL: no memory.
static struct holding *holding_of(struct replay *replay, uint32_t thread, uint32_t resource) {
    const uint64_t key = (uint64_t)thread << 32 | resource;
    uint32_t at = idmap_get(&replay->index, key);
    if (at == IDMAP_NONE) {
        at = replay->holding_count;
        if (!idmap_add(&replay->index, key, at)) return NULL;
        replay->holdings[replay->holding_count++] = (struct holding){0};
    }
    return &replay->holdings[at];
}

static void change_units(struct replay *replay, const struct dag_ask *ask, struct holding *holding, int64_t units) {
    struct level *level = &replay->levels[ask->resource];
    const bool had = holding->units > 0;
    level->held += units;
    holding->units += units;
    if (level->held < 0) level->held = 0;       // it was there before anything took it
    if (holding->units < 0) holding->units = 0; // another thread had taken it
    const bool has = holding->units > 0;
    level->holders += (uint32_t)has - (uint32_t)had;
    if (holding->waits) level->waiting_holders += (uint32_t)has - (uint32_t)had;
}

// What one thread takes and another gives back, as a gate's leave to go on, is held by neither.
static bool is_passed_on(const struct replay *replay, const struct dag_ask *ask) {
    return replay->levels[ask->resource].changes_hands && ask->released == DAG_NONE;
}

static void find_what_changes_hands(struct replay *replay) {
    const struct dag *dag = replay->dag;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (ask->got == DAG_NONE && ask->released != DAG_NONE) replay->levels[ask->resource].changes_hands = true;
    }
}

// All units of a lock for readers and writers are one here: a reader that waits to write holds some of it.
static bool is_used_up(const struct dag *dag, uint32_t resource, const struct level *level) {
    if (dag->resources[resource].kind == RESOURCE_READ_WRITE_LOCK) return level->holders > 0;
    return level->held >= dag->resources[resource].capacity;
}

static void look(struct replay *replay, uint32_t vertex, const struct holding *holding) {
    const struct dag *dag = replay->dag;
    const struct dag_ask *ask = &dag->asks[dag->vertices.task[vertex]];
    struct level *level = &replay->levels[ask->resource];
    struct resource_starvation *found = &level->found;
    if (level->holders == 0 || level->holders != level->waiting_holders) return;
    if (!is_used_up(dag, ask->resource, level)) return;
    found->times++;
    if (level->waiting > found->threads) {
        const uint32_t most = level->pool ? most_workers(&dag->pools[level->pool]) : 0;
        found->threads = level->waiting;
        found->pool = level->pool;
        found->workers = level->waiting == most ? most : 0;
    }
    if (found->times > 1 || holding->units == 0) return;
    found->waits_at = ask->site;
    found->held_at = dag->asks[holding->ask].site;
}

static void begin_wait(struct replay *replay, uint32_t vertex, uint32_t thread, struct holding *holding) {
    const struct dag *dag = replay->dag;
    struct level *level = &replay->levels[dag->asks[dag->vertices.task[vertex]].resource];
    const uint32_t pool = dag->threads[thread].worker ? dag->threads[thread].pool : 0;
    level->pool = level->waiting == 0 || level->pool == pool ? pool : 0;
    level->waiting++;
    holding->waits = true;
    level->waiting_holders += holding->units > 0;
    look(replay, vertex, holding);
}

static void end_wait(struct replay *replay, const struct dag_ask *ask, struct holding *holding, bool given_up) {
    struct level *level = &replay->levels[ask->resource];
    struct resource_starvation *found = &level->found;
    if (holding->waits) {
        level->waiting -= level->waiting > 0;
        level->waiting_holders -= holding->units > 0;
        holding->waits = false;
    }
    found->gave_up += given_up;
    if (given_up && ask->limit_ns < found->limit_ns) found->limit_ns = ask->limit_ns;
}

static bool pass(struct replay *replay, uint32_t vertex, uint32_t thread) {
    const struct dag *dag = replay->dag;
    const uint32_t index = dag->vertices.task[vertex];
    const struct dag_ask *ask = &dag->asks[index];
    struct holding *holding = holding_of(replay, thread, ask->resource);
    if (!holding) return false;
    switch (dag->vertices.kind[vertex]) {
    case VERTEX_ACQUIRE:
        begin_wait(replay, vertex, thread, holding);
        return true;
    case VERTEX_GIVEN_UP:
        end_wait(replay, ask, holding, true);
        return true;
    case VERTEX_ACQUIRED:
        end_wait(replay, ask, holding, false);
        break;
    case VERTEX_RELEASED:
        change_units(replay, ask, holding, -ask->units);
        return true;
    default:
        break;
    }
    if (is_passed_on(replay, ask)) {
        replay->levels[ask->resource].held += ask->units;
        return true;
    }
    if (ask->units > 0) holding->ask = index;
    change_units(replay, ask, holding, ask->units);
    return true;
}

// ---- all together

static void list_turns(struct replay *replay) {
    const struct dag *dag = replay->dag;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (!vertex_is_of_resource(dag->vertices.kind[v]) || replay->time_ns[v] == DAG_ABSENT) continue;
            if (!is_countable(&dag->resources[dag->asks[dag->vertices.task[v]].resource])) continue;
            const bool frees = dag->vertices.kind[v] == VERTEX_RELEASED || dag->vertices.kind[v] == VERTEX_GIVEN_UP;
            replay->thread_of[replay->turn_count] = t;
            replay->turns[replay->turn_count] =
                (struct order_key){replay->time_ns[v], (uint64_t)!frees << 32 | v, replay->turn_count};
            replay->turn_count++;
        }
    }
}

static int by_times(const void *a, const void *b) {
    const struct resource_starvation *x = a, *y = b;
    if (x->times != y->times) return x->times < y->times ? 1 : -1;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

static bool collect(struct replay *replay, struct arena *arena, struct resource_starvation **found, size_t *count) {
    const struct dag *dag = replay->dag;
    size_t starved = 0;
    for (uint32_t r = 0; r < dag->resource_count; r++) starved += replay->levels[r].found.times > 0;
    *found = ARENA_NEW(arena, struct resource_starvation, starved + 1);
    for (uint32_t r = 0; *found && r < dag->resource_count; r++) {
        struct level *level = &replay->levels[r];
        if (level->found.times == 0) continue;
        level->found.resource = r;
        level->found.ends = level->waiting == 0;
        (*found)[(*count)++] = level->found;
    }
    if (*count) qsort(*found, *count, sizeof **found, by_times);
    return *found;
}

static bool find_all(struct replay *replay, struct arena *arena, struct resource_starvation **found, size_t *count) {
    for (uint32_t r = 0; r < replay->dag->resource_count; r++) replay->levels[r].found.limit_ns = INT64_MAX;
    find_what_changes_hands(replay);
    list_turns(replay);
    if (!order_sort(replay->turns, replay->turn_count)) return false;
    for (uint32_t i = 0; i < replay->turn_count; i++) {
        const struct order_key *turn = &replay->turns[i];
        if (!pass(replay, (uint32_t)turn->tie, replay->thread_of[turn->item])) return false;
    }
    return collect(replay, arena, found, count);
}

bool metrics_starvation(const struct dag *dag, const int64_t *time_ns, struct arena *arena,
                        struct resource_starvation **found, size_t *count, struct error *error) {
    struct replay replay = {.dag = dag, .time_ns = time_ns};
    size_t vertices = 0;
    *found = NULL;
    *count = 0;
    if (dag->resource_count == 0) return true;
    for (uint32_t v = 0; v < dag->vertex_count; v++) vertices += vertex_is_of_resource(dag->vertices.kind[v]);
    replay.turns = malloc((vertices + 1) * sizeof *replay.turns);
    replay.thread_of = malloc((vertices + 1) * sizeof *replay.thread_of);
    replay.holdings = malloc((vertices + 1) * sizeof *replay.holdings);
    replay.levels = calloc((size_t)dag->resource_count + 1, sizeof *replay.levels);
    bool done =
        replay.turns && replay.thread_of && replay.holdings && replay.levels && find_all(&replay, arena, found, count);
    free(replay.turns);
    free(replay.thread_of);
    free(replay.holdings);
    free(replay.levels);
    idmap_destroy(&replay.index);
    return done || error_set(error, STATUS_FAILED, "no memory for what starves");
}
