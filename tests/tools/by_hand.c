// SPDX-License-Identifier: GPL-3.0-or-later
#include "by_hand.h"

#include <stdio.h>
#include <stdlib.h>

struct by_hand by_hand_new(const struct trace_pool *pool, uint32_t workers) {
    struct by_hand p = {.tb = tb_new()};
    p.pool = pool ? tb_pool_like(p.tb, *pool) : tb_pool(p.tb, "pool-1", (int32_t)workers);
    p.site = tb_site(p.tb, "Main", "run", 12);
    tb_thread(p.tb, HAND_MAIN, "main", 0);
    for (uint32_t i = 0; i < workers; i++) tb_thread(p.tb, HAND_FIRST + i, "pool-1-thread", 0);
    return p;
}

struct by_hand by_hand_begin(const struct trace_pool *pool, uint32_t workers) {
    struct by_hand p = by_hand_new(pool, workers);
    tb_event(p.tb, HAND_MAIN, 0, EVENT_MAIN_BEGIN, HAND_M);
    return p;
}

void by_hand_open(struct by_hand *p, uint64_t main_ends_ns) {
    tb_event(p->tb, HAND_MAIN, main_ends_ns, EVENT_THREAD_END, HAND_M);
    simulate_fixture_open(&p->fixture, p->tb);
}

void by_hand_spawn(struct by_hand *p, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, uint64_t task) {
    tb_event(p->tb, thread, begin_ns, EVENT_SPAWN_BEGIN, task, p->site, p->pool);
    tb_event(p->tb, thread, end_ns, EVENT_SPAWN_END, task, SPAWN_ACCEPTED);
}

void by_hand_start(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(p->tb, thread, time_ns, EVENT_TASK_START, task);
}

void by_hand_end(struct by_hand *p, uint32_t thread, uint64_t time_ns, uint64_t task) {
    tb_event(p->tb, thread, time_ns, EVENT_TASK_END, task, 0, TASK_RETURNED);
}

void by_hand_task(struct by_hand *p, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint64_t task) {
    by_hand_start(p, thread, start_ns, task);
    by_hand_end(p, thread, end_ns, task);
}

const struct dag *by_hand_simulate(struct by_hand *p, enum model_kind kind) {
    const struct model model = {.kind = kind};
    if (simulation_run(p->fixture.simulation, &p->fixture.edit, &model) != DAG_OK) {
        fprintf(stderr, "by_hand: the run does not end\n");
        abort();
    }
    return simulation_dag(p->fixture.simulation);
}

uint32_t by_hand_index(const struct dag *dag, uint64_t id) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].id == id) return t;
    }
    fprintf(stderr, "by_hand: no task %lu\n", (unsigned long)id);
    abort();
}
