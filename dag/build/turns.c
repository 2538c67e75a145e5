// SPDX-License-Identifier: GPL-3.0-or-later
// In which order a pool's tasks were handed over and taken up, and what a worker followed that began to be busy.
#include "dag/build/builder.h"
#include "dag/order.h"

#include <stdlib.h>

// Workers that steal, and event loops, have a queue each, with no order among them.
static bool has_one_queue(const struct dag *dag, uint32_t pool) {
    if (pool >= dag->pool_count) return false;
    const enum discipline discipline = dag->pools[pool].discipline;
    return discipline != DISCIPLINE_UNKNOWN && discipline != DISCIPLINE_STEALING && discipline != DISCIPLINE_LOOPS;
}

// The pool that must see a vertex in order of time, 0: none. What began before it was spawned had clocks that differ.
static uint32_t pool_of_turn(const struct dag *dag, uint32_t vertex) {
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t index = dag->vertices.task[vertex], kind = dag->vertices.kind[vertex];
    if ((kind != VERTEX_SPAWN_BEGIN && kind != VERTEX_START) || index == DAG_NONE) return 0;
    const struct dag_task *task = &dag->tasks[index];
    if (!has_one_queue(dag, task->pool) || task->spawn_begin == DAG_NONE || task->start == DAG_NONE) return 0;
    return time_ns[task->start] < time_ns[task->spawn_begin] ? 0 : task->pool;
}

// Whether a thread hands over at a vertex right behind another hand-over.
static bool hands_over_next(const struct dag *dag, uint32_t v) {
    const uint8_t *kind = dag->vertices.kind;
    bool next = v > 0 && kind[v] == VERTEX_SPAWN_BEGIN && kind[v - 1] == VERTEX_SPAWN_END;
    return next && dag_thread_of(dag, v - 1) == dag_thread_of(dag, v);
}

// A worker that was woken but found nothing, or something that had lain there since before it fell asleep: 0, or its
// pool.
static uint32_t pool_of_waking(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (vertices->kind[v] != VERTEX_BUSY || v == 0 || vertices->kind[v - 1] != VERTEX_IDLE) return 0;
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, v)];
    if (v == thread->first || thread->pool >= dag->pool_count) return 0;
    bool explained = vertices->cause[v] != DAG_NONE && vertices->time_ns[vertices->cause[v]] > vertices->time_ns[v - 1];
    return explained ? 0 : thread->pool;
}

static uint32_t pool_of_hand_over(const struct dag *dag, uint32_t v) {
    uint32_t task = dag->vertices.task[v];
    if (dag->vertices.kind[v] != VERTEX_SPAWN_BEGIN || task == DAG_NONE) return 0;
    return dag->tasks[task].pool < dag->pool_count ? dag->tasks[task].pool : 0;
}

// Whether a worker has the task that it starts since the vertex before.
static bool is_busy_with_it(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    return v > 0 && vertices->kind[v] == VERTEX_START && vertices->kind[v - 1] == VERTEX_BUSY &&
           vertices->task[v - 1] == vertices->task[v] && dag_thread_of(dag, v - 1) == dag_thread_of(dag, v);
}

static struct order_key *collect_turns(const struct dag *dag, uint32_t *count) {
    struct order_key *turns = malloc(((size_t)dag->vertex_count + 1) * sizeof *turns);
    *count = 0;
    for (uint32_t v = 0; turns && v < dag->vertex_count; v++) {
        if (pool_of_turn(dag, v) || pool_of_hand_over(dag, v) || pool_of_waking(dag, v))
            turns[(*count)++] = (struct order_key){dag->vertices.time_ns[v], v, v};
    }
    return turns;
}

struct latest { // of a pool; pool 0 stands for none
    uint32_t turn, hand_over;
};

static void take_turn(const struct dag *dag, struct latest *pools, uint32_t v, uint32_t *turn_after) {
    uint32_t wakes = pool_of_waking(dag, v), turn = pool_of_turn(dag, v), caller = pools[wakes].hand_over;
    if (wakes && caller != DAG_NONE && dag->vertices.time_ns[caller] > dag->vertices.time_ns[v - 1])
        turn_after[v] = caller;
    pools[pool_of_hand_over(dag, v)].hand_over = v;
    if (!turn) return;
    turn_after[v] = pools[turn].turn;
    bool with_before = hands_over_next(dag, v) || (is_busy_with_it(dag, v) && turn_after[v - 1] == DAG_NONE);
    if (with_before) turn_after[v - 1] = pools[turn].turn;
    pools[turn].turn = v;
}

bool find_turns(const struct dag *dag, uint32_t *turn_after) {
    uint32_t count;
    struct order_key *turns = collect_turns(dag, &count);
    struct latest *pools = malloc(((size_t)dag->pool_count + 1) * sizeof *pools);
    bool ok = turns && pools && order_sort(turns, count);
    for (uint32_t p = 0; ok && p <= dag->pool_count; p++) pools[p] = (struct latest){DAG_NONE, DAG_NONE};
    for (uint32_t v = 0; ok && v < dag->vertex_count; v++) turn_after[v] = DAG_NONE;
    for (uint32_t i = 0; ok && i < count; i++) take_turn(dag, pools, turns[i].item, turn_after);
    free(turns);
    free(pools);
    return ok;
}
