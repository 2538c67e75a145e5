// SPDX-License-Identifier: GPL-3.0-or-later
// Made kinds.msgpack of tests/golden/traces, which has something for every kind of improvement: `kinds_make FILE 2`;
// and narrow.msgpack, in which the pool's size was raised after the trace took it down: `kinds_make FILE 1`; and
// long.msgpack, the first with names as long as large programs have: `kinds_make FILE 2 PREFIX`, whose PREFIX is
// com.acme.commerce.platform.customer.internal.aggregation.CustomerAccountAggregation.
//
// main hands tasks over to a pool of two workers, on four cores. One after the other: eight tasks of 1 us at
// Main.fine:10 (merge), one of 400 us at Main.coarse:20 (split), four at Main.lookup:30 of which every second enters
// Main.load (hoist-branch), and two at Main.serve:40 that each wait for a task of the same pool's at Main.query:50,
// which sleeps for a lock (combinator, resize-pool; a pool of one would starve).
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAIN = 1, WORKERS = 2, MAIN_TASK = 1, WORKER_RUN = 90, LOCK = 99, FIRST_TASK = 100 };

struct program {
    struct trace_builder *tb;
    const char *prefix;              // of the names of classes and of the pool
    uint32_t pool, hit, load, cache; // pool; methods; class
    uint64_t task;                   // the last
    uint64_t now_ns[4], cpu_ns[4];   // a thread each
    bool idle[4];
};

struct name {
    char s[256];
};

static struct name name_of(const struct program *p, const char *name) {
    struct name whole;
    snprintf(whole.s, sizeof whole.s, "%s%s", p->prefix, name);
    return whole;
}

static void pass(struct program *p, uint32_t thread, uint64_t ns) {
    p->now_ns[thread] += ns;
}

static void compute(struct program *p, uint32_t thread, uint64_t ns) {
    p->now_ns[thread] += ns;
    p->cpu_ns[thread] += ns;
}

// Makes a worker for it as well, unless that is 0.
static uint64_t spawn_with(struct program *p, uint32_t thread, uint32_t site, uint32_t worker) {
    uint64_t task = ++p->task, now_ns = p->now_ns[thread];
    tb_event(p->tb, thread, now_ns, EVENT_SPAWN_BEGIN, task, site, p->pool);
    if (worker) tb_event(p->tb, thread, now_ns + 500, EVENT_SPAWN_BEGIN, WORKER_RUN + worker);
    if (worker) tb_event(p->tb, thread, now_ns + 1000, EVENT_SPAWN_END, WORKER_RUN + worker);
    compute(p, thread, 2000);
    tb_event(p->tb, thread, p->now_ns[thread], EVENT_SPAWN_END, task);
    compute(p, thread, 100);
    return task;
}

static uint64_t spawn(struct program *p, uint32_t thread, uint32_t site) {
    return spawn_with(p, thread, site, 0);
}

// The worker takes the task up 3 us after it has both.
static void start(struct program *p, uint32_t worker, uint64_t task, uint64_t spawned_ns) {
    const bool first = !p->idle[worker];
    if (p->now_ns[worker] < spawned_ns) p->now_ns[worker] = spawned_ns;
    if (first) {
        pass(p, worker, 20000);
        tb_event(p->tb, worker, p->now_ns[worker], EVENT_THREAD_START, WORKER_RUN + worker, p->cpu_ns[worker]);
        compute(p, worker, 500);
        tb_event(p->tb, worker, p->now_ns[worker], EVENT_WORKER_BEGIN, p->pool);
    } else {
        pass(p, worker, 2000);
        tb_event(p->tb, worker, p->now_ns[worker], EVENT_BUSY, p->pool);
    }
    compute(p, worker, 1000);
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_TASK_START, task, p->cpu_ns[worker]);
    p->idle[worker] = true;
}

static void finish(struct program *p, uint32_t worker, uint64_t task) {
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_RESULT, task);
    compute(p, worker, 200);
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_TASK_END, task, p->cpu_ns[worker]);
    compute(p, worker, 100);
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_IDLE, p->pool);
}

// For what ends at `until`; the waiter goes on 10 us later.
static void await(struct program *p, uint32_t thread, uint64_t task, uint32_t site, uint64_t until_ns) {
    tb_event(p->tb, thread, p->now_ns[thread], EVENT_WAIT_BEGIN, task, p->cpu_ns[thread], tb_wait(WAIT_FOR_TASK, site));
    p->now_ns[thread] = until_ns + 10000;
    tb_event(p->tb, thread, p->now_ns[thread], EVENT_WAIT_END, task, p->cpu_ns[thread]);
    compute(p, thread, 500);
}

static void merge(struct program *p) {
    uint32_t site = tb_site(p->tb, name_of(p, "Main").s, "fine", 10);
    uint64_t first = p->task + 1, ended_ns[8];
    for (uint32_t i = 0; i < 8; i++) spawn_with(p, MAIN, site, i < 2 ? WORKERS + i : 0);
    uint64_t spawned_ns = p->now_ns[MAIN] - 8 * 2100;
    for (uint64_t i = 0; i < 8; i++) {
        uint32_t worker = WORKERS + i % 2;
        start(p, worker, first + i, spawned_ns + i * 2100);
        compute(p, worker, 1000);
        ended_ns[i] = p->now_ns[worker];
        finish(p, worker, first + i);
    }
    for (uint64_t i = 0; i < 8; i++) {
        if (ended_ns[i] > p->now_ns[MAIN]) {
            await(p, MAIN, first + i, site, ended_ns[i]);
        } else {
            tb_event(p->tb, MAIN, p->now_ns[MAIN], EVENT_TAKEN, first + i);
            compute(p, MAIN, 500);
        }
    }
}

static void split(struct program *p) {
    uint32_t site = tb_site(p->tb, name_of(p, "Main").s, "coarse", 20);
    uint64_t begin_ns = p->now_ns[MAIN], task = spawn(p, MAIN, site);
    start(p, WORKERS, task, begin_ns);
    compute(p, WORKERS, 400000);
    uint64_t ended_ns = p->now_ns[WORKERS];
    finish(p, WORKERS, task);
    await(p, MAIN, task, site, ended_ns);
}

static void hoist(struct program *p) {
    uint32_t site = tb_site(p->tb, name_of(p, "Main").s, "lookup", 30);
    for (int i = 0; i < 4; i++) {
        uint32_t method = i % 2 ? p->load : p->hit, worker = WORKERS + (uint32_t)i % 2;
        uint64_t begin_ns = p->now_ns[MAIN], task = spawn(p, MAIN, site);
        start(p, worker, task, begin_ns);
        tb_event(p->tb, worker, p->now_ns[worker] + 100, EVENT_ENTER, method);
        compute(p, worker, i % 2 ? 60000 : 1000);
        tb_event(p->tb, worker, p->now_ns[worker] - 100, EVENT_EXIT, method);
        uint64_t ended_ns = p->now_ns[worker];
        finish(p, worker, task);
        await(p, MAIN, task, site, ended_ns);
    }
}

// Asleep for 20 us for a lock that nobody recorded holds.
static void query(struct program *p, uint32_t worker, uint64_t task, uint64_t spawned_ns) {
    start(p, worker, task, spawned_ns);
    compute(p, worker, 10000);
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_BLOCK_BEGIN, LOCK, p->cpu_ns[worker], p->cache);
    pass(p, worker, 20000);
    tb_event(p->tb, worker, p->now_ns[worker], EVENT_BLOCK_END, LOCK, p->cpu_ns[worker]);
    compute(p, worker, 70000);
}

static void combine(struct program *p) {
    uint32_t serve = tb_site(p->tb, name_of(p, "Main").s, "serve", 40),
             inner = tb_site(p->tb, name_of(p, "Main").s, "query", 50);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t worker = WORKERS + i, other = WORKERS + 1 - i;
        uint64_t begin_ns = p->now_ns[MAIN], task = spawn(p, MAIN, serve);
        start(p, worker, task, begin_ns);
        compute(p, worker, 5000);
        uint64_t asked_ns = p->now_ns[worker], asked = spawn(p, worker, inner);
        query(p, other, asked, asked_ns);
        uint64_t answered_ns = p->now_ns[other];
        finish(p, other, asked);
        await(p, worker, asked, inner, answered_ns);
        compute(p, worker, 5000);
        uint64_t ended_ns = p->now_ns[worker];
        finish(p, worker, task);
        await(p, MAIN, task, serve, ended_ns);
    }
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: kinds_make FILE THREADS [PREFIX]\n");
        return 2;
    }
    struct program p = {.tb = tb_new(), .prefix = argc == 4 ? argv[3] : "", .task = FIRST_TASK};
    tb_cores(p.tb, 4);
    p.pool = tb_pool(p.tb, name_of(&p, "pool-1").s, atoi(argv[2]));
    p.hit = tb_method(p.tb, name_of(&p, "Main").s, "hit");
    p.load = tb_method(p.tb, name_of(&p, "Main").s, "load");
    p.cache = tb_class(p.tb, name_of(&p, "Cache").s);
    tb_thread(p.tb, MAIN, "main", 0);
    tb_thread(p.tb, WORKERS, "pool-1-thread-1", 0);
    tb_thread(p.tb, WORKERS + 1, "pool-1-thread-2", 0);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK, 1000);
    p.now_ns[MAIN] = p.cpu_ns[MAIN] = 1000;
    merge(&p);
    split(&p);
    hoist(&p);
    combine(&p);
    tb_event(p.tb, MAIN, p.now_ns[MAIN], EVENT_THREAD_END, MAIN_TASK, p.cpu_ns[MAIN]);
    tb_write(p.tb, argv[1]);
    tb_free(p.tb);
    return 0;
}
