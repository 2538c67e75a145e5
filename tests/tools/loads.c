// SPDX-License-Identifier: GPL-3.0-or-later
#include "loads.h"

enum { MAIN = 1, WORKER = 2, MAIN_TASK = 1, WORKER_RUN = 90, FIRST_TASK = 100 };

const struct load loads_morning[LOADS_OF_DAY] = {{5, 10, false, NULL}, {6, 3, false, NULL}, {8, 4, true, NULL}};
const struct load loads_evening[LOADS_OF_DAY] = {{5, 4, true, NULL}, {6, 3, false, NULL}, {8, 10, false, NULL}};

static void request(struct trace_builder *tb, uint64_t task, uint32_t site, uint32_t pool, uint64_t *main_ns,
                    uint64_t *worker_ns, uint64_t task_ns) {
    uint64_t begin = *main_ns, start = (begin + 20 > *worker_ns ? begin + 20 : *worker_ns) + 10;
    tb_event(tb, MAIN, begin, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(tb, MAIN, begin + 10, EVENT_SPAWN_END, task);
    tb_event(tb, WORKER, start, EVENT_TASK_START, task);
    tb_event(tb, WORKER, start + task_ns, EVENT_RESULT, task);
    tb_event(tb, WORKER, start + task_ns + 5, EVENT_TASK_END, task);
    *worker_ns = start + task_ns + 10;
}

static void await(struct trace_builder *tb, uint64_t task, uint32_t site, uint64_t begin, uint64_t end) {
    tb_event(tb, MAIN, begin, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, MAIN, end, EVENT_WAIT_END, task);
}

static struct trace_builder *main_with_worker(uint32_t *pool) {
    struct trace_builder *tb = tb_new();
    *pool = tb_pool(tb, "pool", 1);
    tb_cores(tb, 2);
    tb_thread(tb, MAIN, "main", 0);
    tb_thread(tb, WORKER, "worker", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_TASK);
    tb_event(tb, WORKER, 40, EVENT_THREAD_START, WORKER_RUN);
    tb_event(tb, WORKER, 50, EVENT_WORKER_BEGIN, *pool);
    return tb;
}

struct trace_builder *loads_run(const struct load *loads, size_t count, uint64_t task_ns) {
    uint32_t pool;
    uint64_t main_ns = 100, worker_ns = 60, task = FIRST_TASK;
    struct trace_builder *tb = main_with_worker(&pool);
    for (size_t i = 0; i < count; i++) {
        uint32_t site = tb_site(tb, "Main", "main", loads[i].line), function = 0;
        if (loads[i].function) function = tb_method(tb, "Main", loads[i].function);
        if (function) tb_event(tb, MAIN, main_ns - 10, EVENT_ENTER, function);
        for (uint32_t t = 0; t < loads[i].tasks; t++, task++) {
            request(tb, task, site, pool, &main_ns, &worker_ns, task_ns);
            await(tb, task, site, main_ns + (loads[i].beside ? 1000 : 20), worker_ns + 20);
            main_ns = worker_ns + 40;
        }
        if (function) tb_event(tb, MAIN, main_ns - 15, EVENT_EXIT, function);
    }
    tb_event(tb, WORKER, worker_ns + 50, EVENT_THREAD_END, WORKER_RUN);
    tb_event(tb, MAIN, worker_ns + 60, EVENT_THREAD_END, MAIN_TASK);
    return tb;
}

struct trace_builder *loads_trace(const struct load *loads, size_t count) {
    return loads_run(loads, count, 1000);
}
