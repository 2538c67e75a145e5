// SPDX-License-Identifier: GPL-3.0-or-later
// Made service.msgpack and service-wider.msgpack of tests/golden/traces: `service_make FILE WORKERS`, of 3 and of 4.
//
// A service that starts for a second, is asked once whether it is up, and then has six clients who think for 5 ms
// between an answer and the next of their 80 requests. Its workers take 10 ms for one, but the first hundred take up to
// three times as long, as code that is not compiled yet. First come, first served; half a second later it ends.
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum { MAIN = 1, POLLER = 2, FIRST_WORKER = 3, CLIENTS = 6, TURNS = 80, COLD = 100, WORKERS_MOST = 16 };

struct service {
    struct trace_builder *tb;
    uint32_t site, pool, work, up, thing; // the last two are endpoints
    int workers;
    int64_t free_ns[WORKERS_MOST], polled_ns;
    uint64_t served;
};

static int soonest(const int64_t *ns, int count) {
    int found = 0;
    for (int i = 1; i < count; i++) {
        if (ns[i] < ns[found]) found = i;
    }
    return found;
}

// Between 9 and 11 ms, by its number.
static int64_t work_of(uint64_t number) {
    const int64_t usual_ns = 9 * MS + (int64_t)(number * 7919 % 2000) * US;
    return number < COLD ? usual_ns + usual_ns * (int64_t)(COLD - number) * 2 / COLD : usual_ns;
}

// Returns when it was answered.
static int64_t serve(struct service *s, int64_t arrived_ns, uint64_t connection, uint32_t endpoint) {
    struct trace_builder *tb = s->tb;
    const uint64_t task = 100 + s->served, request = 10000 + s->served;
    const int w = soonest(s->free_ns, s->workers);
    const uint32_t worker = FIRST_WORKER + (uint32_t)w;
    if (s->polled_ns < arrived_ns) s->polled_ns = arrived_ns;
    tb_event(tb, POLLER, (uint64_t)(s->polled_ns += 1), EVENT_TASK_CREATED, task, s->work);
    tb_event(tb, POLLER, (uint64_t)(s->polled_ns += 1), EVENT_SPAWN_BEGIN, task, s->site, s->pool);
    tb_event(tb, POLLER, (uint64_t)(s->polled_ns += US), EVENT_SPAWN_END, task, 0);
    const int64_t begin_ns = (s->free_ns[w] > s->polled_ns ? s->free_ns[w] : s->polled_ns) + 20 * US;
    const int64_t end_ns = begin_ns + work_of(s->served++);
    tb_event(tb, worker, (uint64_t)(begin_ns - 2 * US), EVENT_BUSY, s->pool);
    tb_event(tb, worker, (uint64_t)(begin_ns - US), EVENT_TASK_START, task);
    tb_event(tb, worker, (uint64_t)begin_ns, EVENT_REQUEST_BEGIN, request, 0, connection);
    tb_event(tb, worker, (uint64_t)(begin_ns + US), EVENT_REQUEST_NAMED, request, endpoint);
    tb_event(tb, worker, (uint64_t)end_ns, EVENT_REQUEST_END, request, 0, REQUEST_ANSWERED);
    tb_event(tb, worker, (uint64_t)(end_ns + US), EVENT_TASK_END, task, 0);
    tb_event(tb, worker, (uint64_t)(end_ns + 2 * US), EVENT_IDLE, s->pool);
    s->free_ns[w] = end_ns + 3 * US;
    return end_ns;
}

// Returns when the last was answered. Those who come first are served first, as each comes again later than that.
static int64_t serve_clients(struct service *s) {
    int64_t comes_ns[CLIENTS], last_ns = 0;
    int turns[CLIENTS] = {0};
    for (int c = 0; c < CLIENTS; c++) comes_ns[c] = 1000 * MS + c * 2 * MS;
    for (int i = 0; i < CLIENTS * TURNS; i++) {
        const int c = soonest(comes_ns, CLIENTS);
        last_ns = serve(s, comes_ns[c], 2 + (uint64_t)c, s->thing);
        comes_ns[c] = ++turns[c] < TURNS ? last_ns + 5 * MS : INT64_MAX;
    }
    return last_ns;
}

int main(int argc, char **argv) {
    if (argc != 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > WORKERS_MOST) {
        fprintf(stderr, "usage: service_make FILE WORKERS\n");
        return 2;
    }
    struct service s = {.tb = tb_new(), .workers = atoi(argv[2])};
    s.pool = tb_pool(s.tb, "http", s.workers);
    s.site = tb_site(s.tb, "shop.Poller", "run", 12);
    s.work = tb_class(s.tb, "shop.Work");
    s.up = tb_endpoint(s.tb, "GET /up");
    s.thing = tb_endpoint(s.tb, "GET /thing/{id}");
    tb_cores(s.tb, 4);
    tb_thread(s.tb, MAIN, "main", 0);
    tb_thread(s.tb, POLLER, "poller", 0);
    for (int w = 0; w < s.workers; w++) tb_thread(s.tb, FIRST_WORKER + (uint32_t)w, "http-1", 0);
    tb_event(s.tb, MAIN, 0, EVENT_MAIN_BEGIN, 1);
    tb_event(s.tb, POLLER, 300 * MS, EVENT_THREAD_START, 2);
    for (int w = 0; w < s.workers; w++) {
        tb_event(s.tb, FIRST_WORKER + (uint32_t)w, 300 * MS, EVENT_WORKER_BEGIN, s.pool);
        tb_event(s.tb, FIRST_WORKER + (uint32_t)w, 300 * MS + US, EVENT_IDLE, s.pool);
    }
    serve(&s, 500 * MS, 1, s.up);
    const int64_t last_ns = serve_clients(&s);
    tb_event(s.tb, MAIN, (uint64_t)(last_ns + 500 * MS), EVENT_THREAD_END, 1);
    tb_write(s.tb, argv[1]);
    tb_free(s.tb);
    return 0;
}
