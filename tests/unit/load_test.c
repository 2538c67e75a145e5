// SPDX-License-Identifier: GPL-3.0-or-later
// Who asks is part of the model: services played by a queueing network as small as can be (clients that think, a pool
// of workers), recorded with so many workers and clients, and played anew with others. What the simulation says of the
// recording is what such a service then does.
#include "dag/simulate/clients.h"
#include "dag/simulate/stuck.h"
#include "metrics/quantiles.h"
#include "metrics/service.h"
#include "optimize/search.h"
#include "simulate_fixture.h"
#include "tracefile/slice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { CLIENTS_MOST = 12, TURNS = 40, TURNS_MOST = 120, WORKERS_MOST = 16, HAND = 1000 }; // ns of a bracket, a pick-up

struct service {
    uint32_t clients, turns, workers;
    bool open;  // the next request comes so long after the one before, whatever the answer
    bool stops; // 5 ms after the last answer
    int64_t think_ns[CLIENTS_MOST][TURNS_MOST], work_ns[CLIENTS_MOST][TURNS_MOST];
};

struct asked { // a request, once it was played
    int64_t arrived_ns, started_ns, ended_ns;
    uint32_t client, turn, worker;
};

struct play {
    struct asked asked[CLIENTS_MOST * TURNS_MOST];
    uint32_t count;
};

static struct service service_of(uint32_t clients, uint32_t workers, uint64_t seed) {
    struct service service = {.clients = clients, .turns = TURNS, .workers = workers};
    struct random_source random = {seed};
    for (uint32_t c = 0; c < CLIENTS_MOST; c++) {
        for (uint32_t t = 0; t < TURNS_MOST; t++) {
            service.think_ns[c][t] = 5 * MS + (int64_t)random_below(&random, (uint64_t)(5 * MS));
            service.work_ns[c][t] = 4 * MS + (int64_t)random_below(&random, (uint64_t)(30 * MS));
        }
    }
    return service;
}

static uint32_t soonest(const int64_t *ns, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (ns[i] < ns[found]) found = i;
    }
    return found;
}

// First come, first served. A client comes again by when it was answered, or in an open loop by when it came; as one
// who has come is not answered before it is served, requests can be served in the order in which they come.
static void play(const struct service *service, struct play *play) {
    int64_t comes_ns[CLIENTS_MOST], free_ns[WORKERS_MOST] = {0};
    uint32_t turn[CLIENTS_MOST] = {0};
    play->count = 0;
    for (uint32_t c = 0; c < service->clients; c++) comes_ns[c] = MS + c * 10 * HAND;
    while (play->count < service->clients * service->turns) {
        const uint32_t c = soonest(comes_ns, service->clients), w = soonest(free_ns, service->workers);
        struct asked *asked = &play->asked[play->count++];
        *asked = (struct asked){.arrived_ns = comes_ns[c], .client = c, .turn = turn[c], .worker = w};
        asked->started_ns = (free_ns[w] > comes_ns[c] ? free_ns[w] : comes_ns[c]) + 2 * HAND;
        asked->ended_ns = asked->started_ns + service->work_ns[c][turn[c]];
        free_ns[w] = asked->ended_ns + HAND;
        const int64_t since_ns = service->open ? asked->arrived_ns : asked->ended_ns;
        if (++turn[c] < service->turns)
            comes_ns[c] = since_ns + service->think_ns[c][turn[c]];
        else
            comes_ns[c] = INT64_MAX;
    }
}

static double throughput_of(const struct play *play) {
    double ended_ns[CLIENTS_MOST * TURNS_MOST];
    for (uint32_t i = 0; i < play->count; i++) ended_ns[i] = (double)play->asked[i].ended_ns;
    return service_rate(ended_ns, play->count);
}

static struct quantiles latency_of(const struct play *play) {
    double latency_ns[CLIENTS_MOST * TURNS_MOST];
    for (uint32_t i = 0; i < play->count; i++)
        latency_ns[i] = (double)(play->asked[i].ended_ns - play->asked[i].arrived_ns);
    return quantiles_of(latency_ns, play->count);
}

static int by_arrival(const void *a, const void *b) {
    const struct asked *one = a, *other = b;
    return (one->arrived_ns > other->arrived_ns) - (one->arrived_ns < other->arrived_ns);
}

static int64_t last_answer_ns(const struct play *play) {
    int64_t last_ns = 0;
    for (uint32_t i = 0; i < play->count; i++) {
        if (play->asked[i].ended_ns > last_ns) last_ns = play->asked[i].ended_ns;
    }
    return last_ns;
}

enum { STOPPER = 99 };

// A signal: a thread that nobody starts shuts the pool down, whose workers leave.
static void stop(struct trace_builder *tb, const struct service *service, uint32_t first_worker, uint32_t pool,
                 int64_t at_ns) {
    tb_thread(tb, STOPPER, "signal", 0);
    tb_event(tb, STOPPER, (uint64_t)at_ns, EVENT_THREAD_START, 9001);
    tb_event(tb, STOPPER, (uint64_t)at_ns + 1000, EVENT_POOL_SHUTDOWN, pool);
    tb_event(tb, STOPPER, (uint64_t)at_ns + 2000, EVENT_THREAD_END, 9001);
    for (uint32_t w = 0; w < service->workers; w++)
        tb_event(tb, first_worker + w, (uint64_t)at_ns + 10000, EVENT_RETIRE, pool);
}

// The poller hands over what is readable; the n-th request, task n, is request 1000 + n.
static struct trace_builder *record(const struct service *service, struct play *by) {
    enum { POLLER = 1, FIRST_WORKER = 2 };
    struct trace_builder *tb = tb_new();
    const uint32_t site = tb_site(tb, "Poller", "run", 1), pool = tb_pool(tb, "http", (int32_t)service->workers);
    const uint32_t class = tb_class(tb, "Poller.Work"), endpoint = tb_endpoint(tb, "GET /thing/{id}");
    tb_thread(tb, POLLER, "poller", 0);
    for (uint32_t w = 0; w < service->workers; w++) tb_thread(tb, FIRST_WORKER + w, "http-1", 0);
    tb_event(tb, POLLER, 1, EVENT_THREAD_START, 9000);
    for (uint32_t w = 0; w < service->workers; w++) {
        tb_event(tb, FIRST_WORKER + w, 2, EVENT_WORKER_BEGIN, pool);
        tb_event(tb, FIRST_WORKER + w, 3, EVENT_IDLE, pool);
    }
    qsort(by->asked, by->count, sizeof *by->asked, by_arrival);
    int64_t polled_ns = 0;
    for (uint32_t i = 0; i < by->count; i++) {
        const struct asked *asked = &by->asked[i];
        const uint64_t task = 1 + i, request = 1001 + i;
        const uint32_t worker = FIRST_WORKER + asked->worker;
        polled_ns = asked->arrived_ns > polled_ns ? asked->arrived_ns : polled_ns + 1;
        tb_event(tb, POLLER, (uint64_t)polled_ns, EVENT_TASK_CREATED, task, class);
        tb_event(tb, POLLER, (uint64_t)++polled_ns, EVENT_SPAWN_BEGIN, task, site, pool);
        tb_event(tb, POLLER, (uint64_t)(polled_ns += 100), EVENT_SPAWN_END, task, 0);
        tb_event(tb, worker, (uint64_t)asked->started_ns - HAND, EVENT_BUSY, pool);
        tb_event(tb, worker, (uint64_t)asked->started_ns - 10, EVENT_TASK_START, task);
        tb_event(tb, worker, (uint64_t)asked->started_ns, EVENT_REQUEST_BEGIN, request, 0, 1 + asked->client);
        tb_event(tb, worker, (uint64_t)asked->started_ns + 10, EVENT_REQUEST_NAMED, request, endpoint);
        tb_event(tb, worker, (uint64_t)asked->ended_ns, EVENT_REQUEST_END, request, 0, REQUEST_ANSWERED);
        tb_event(tb, worker, (uint64_t)asked->ended_ns + 10, EVENT_TASK_END, task, 0);
        tb_event(tb, worker, (uint64_t)asked->ended_ns + 20, EVENT_IDLE, pool);
    }
    if (service->stops) stop(tb, service, FIRST_WORKER, pool, last_answer_ns(by) + 5 * MS);
    return tb;
}

static void open_service(struct simulate_fixture *fixture, const struct service *service) {
    struct play recorded;
    play(service, &recorded);
    simulate_fixture_open(fixture, record(service, &recorded));
}

static struct request_metrics figures_of(const struct dag *run) {
    struct request_metrics requests = {.sustainable_per_s = NAN};
    assert_true(service_figures(run, run->vertices.time_ns, NULL, &requests));
    return requests;
}

static const struct dag *simulate(struct simulate_fixture *fixture, struct offered_load load) {
    const struct model model = {.kind = MODEL_POOL, .load = load};
    assert_int_equal(simulation_run(fixture->simulation, &fixture->edit, &model), DAG_OK);
    return simulation_dag(fixture->simulation);
}

static void assert_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * expected)) fail_msg("%f, not %f", value, expected);
}

// ---- what is recorded

static void test_requests_are_read(void **state) {
    (void)state;
    const struct service service = service_of(3, 2, 1);
    struct simulate_fixture fixture;
    struct play recorded;
    play(&service, &recorded);
    open_service(&fixture, &service);
    const struct dag *dag = fixture.dag;
    assert_int_equal(dag->request_count, 3 * TURNS);
    assert_false(dag->open_loop);
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        assert_int_equal(dag->tasks[request->task].id + 1000, request->id);
        assert_string_equal(dag->trace->endpoints[request->endpoint].name, "GET /thing/{id}");
        assert_int_equal(dag->vertices.kind[request->arrival], VERTEX_SPAWN_BEGIN);
        assert_int_equal(dag->vertices.kind[request->polled], VERTEX_REQUEST);
        assert_int_equal(request->before == DAG_NONE, i < 3);
        if (request->before != DAG_NONE)
            assert_int_equal(dag->vertices.cause[request->arrival], dag->requests[request->before].end);
    }
    const struct request_metrics requests = figures_of(dag);
    assert_near(requests.throughput_per_s, throughput_of(&recorded), 1e-3);
    assert_near(requests.latency_ns.p50, latency_of(&recorded).p50, 1e-2);
    simulate_fixture_close(&fixture);
}

// Each request as long as it took, but at the times of another, all over the run: of a window come as many answers in
// as much time, though hardly any is of the window's own requests.
static void test_answers_in_another_order(void **state) {
    (void)state;
    enum { APART = 7 };
    const struct service service = service_of(5, 3, 1);
    struct simulate_fixture fixture;
    open_service(&fixture, &service);
    const struct dag *dag = fixture.dag;
    const uint32_t count = dag->request_count;
    const int64_t *recorded_ns = dag->vertices.time_ns;
    const struct window window = {recorded_ns[dag->requests[count / 4].arrival],
                                  recorded_ns[dag->requests[count * 3 / 4].arrival]};
    int64_t *time_ns = malloc(dag->vertex_count * sizeof *time_ns);
    assert_non_null(time_ns);
    assert_int_not_equal(count % APART, 0);
    memcpy(time_ns, recorded_ns, dag->vertex_count * sizeof *time_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct dag_request *request = &dag->requests[i], *other = &dag->requests[i * APART % count];
        const int64_t later_ns = recorded_ns[other->end] - recorded_ns[request->end];
        time_ns[request->arrival] += later_ns;
        time_ns[request->end] += later_ns;
    }
    struct request_metrics was = {.sustainable_per_s = NAN}, is = was;
    assert_true(service_figures(dag, recorded_ns, &window, &was) && service_figures(dag, time_ns, &window, &is));
    assert_near(is.count, was.count, 1e-9);
    assert_near(is.throughput_per_s, was.throughput_per_s, 1e-9);
    assert_near(is.latency_ns.p50, was.latency_ns.p50, 1e-9);
    free(time_ns);
    simulate_fixture_close(&fixture);
}

// Times that stand do not depend on who asks: model `dag` repeats the recording to the last ns.
static void test_nothing_changed_is_exact(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct service service = service_of(1 + seed % CLIENTS_MOST, 1 + seed % 5, seed);
        service.open = seed % 3 == 0;
        struct simulate_fixture fixture;
        open_service(&fixture, &service);
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        for (uint32_t v = 0; v < fixture.dag->vertex_count; v++)
            assert_int_equal(fixture.run.time_ns[v], fixture.dag->vertices.time_ns[v]);
        const struct model model = {.kind = MODEL_DAG};
        assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
        const struct dag *run = simulation_dag(fixture.simulation);
        for (uint32_t v = 0; v < run->vertex_count; v++)
            assert_int_equal(run->vertices.time_ns[v], fixture.dag->vertices.time_ns[run->source[v]]);
        simulate_fixture_close(&fixture);
    }
}

static void test_loops_are_told_apart(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct service service = service_of(2 + seed % 8, 3, seed);
        service.open = seed % 2;
        for (uint32_t c = 0; service.open && c < CLIENTS_MOST; c++) { // so that answers mostly come before the next
            for (uint32_t t = 0; t < TURNS_MOST; t++) service.think_ns[c][t] += 200 * MS;
        }
        struct simulate_fixture fixture;
        open_service(&fixture, &service);
        assert_int_equal(fixture.dag->open_loop, service.open);
        simulate_fixture_close(&fixture);
    }
}

// ---- what would have been

static void test_another_pool_is_what_it_then_does(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct service service = service_of(4 + seed % 8, 1 + seed % 6, seed);
        service.open = seed % 4 == 3;
        struct simulate_fixture fixture;
        struct play changed;
        open_service(&fixture, &service);
        service.workers = 1 + seed % 11;
        dag_edit_resize(&fixture.edit, 1, (int32_t)service.workers);
        const struct request_metrics requests = figures_of(simulate(&fixture, (struct offered_load){0}));
        play(&service, &changed);
        assert_near(requests.throughput_per_s, throughput_of(&changed), 0.01);
        assert_near(requests.latency_ns.p50, latency_of(&changed).p50, 0.01);
        assert_near(requests.latency_ns.p99, latency_of(&changed).p99, 0.01);
        simulate_fixture_close(&fixture);
    }
}

// One worker is at what never ends, as an acceptor is. Without another one requests lie in the queue, and what waits
// for their answers is no task.
static void test_a_pool_that_never_ends_starves_its_clients(void **state) {
    (void)state;
    enum { ACCEPTOR = 50, ACCEPTS = 8000 };
    const struct service service = service_of(4, 2, 1);
    const struct model model = {.kind = MODEL_POOL};
    struct simulate_fixture fixture;
    struct play recorded;
    char text[512];
    play(&service, &recorded);
    struct trace_builder *tb = record(&service, &recorded);
    tb_running(tb, ACCEPTS);
    tb_thread(tb, ACCEPTOR, "http-1", 0);
    tb_event(tb, ACCEPTOR, 2, EVENT_WORKER_BEGIN, 1);
    tb_event(tb, ACCEPTOR, 3, EVENT_TASK_START, ACCEPTS);
    simulate_fixture_open(&fixture, tb);
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_OK);
    dag_edit_resize(&fixture.edit, 1, 1);
    assert_int_equal(simulation_run(fixture.simulation, &fixture.edit, &model), DAG_DEADLOCK);
    const struct stuck *stuck = simulation_stuck(fixture.simulation);
    assert_string_equal(stuck_text(fixture.dag, stuck, text, sizeof text),
                        "no worker of http is left for its queue, since what they run goes on when recording ends");
    simulate_fixture_close(&fixture);
}

static int64_t stop_ns(const struct dag *run) {
    uint32_t v = 0;
    while (v < run->vertex_count && run->vertices.kind[v] != VERTEX_SHUTDOWN) v++;
    assert_true(v < run->vertex_count);
    return run->vertices.time_ns[v] - 1000;
}

// Who stops the service awaits the end of the load, however long that now takes.
static void test_the_end_awaits_the_load(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct service service = service_of(4 + seed % 8, 1 + seed % 6, seed);
        service.open = seed % 4 == 3;
        service.stops = true;
        struct simulate_fixture fixture;
        struct play changed;
        open_service(&fixture, &service);
        assert_int_equal(dag_propagate(fixture.dag, &fixture.edit, &fixture.run), DAG_OK);
        for (uint32_t v = 0; v < fixture.dag->vertex_count; v++)
            assert_int_equal(fixture.run.time_ns[v], fixture.dag->vertices.time_ns[v]);
        service.workers = 1 + seed % 11;
        dag_edit_resize(&fixture.edit, 1, (int32_t)service.workers);
        const struct dag *run = simulate(&fixture, (struct offered_load){0});
        const struct request_metrics requests = figures_of(run);
        play(&service, &changed);
        assert_near(requests.throughput_per_s, throughput_of(&changed), 0.01);
        assert_near(requests.latency_ns.p99, latency_of(&changed).p99, 0.01);
        assert_near((double)stop_ns(run), (double)(last_answer_ns(&changed) + 5 * MS), 0.01);
        simulate_fixture_close(&fixture);
    }
}

static struct service regular(uint32_t clients, uint32_t turns, uint32_t workers) {
    struct service service = {.clients = clients, .turns = turns, .workers = workers};
    for (uint32_t c = 0; c < CLIENTS_MOST; c++) {
        for (uint32_t t = 0; t < TURNS_MOST; t++) {
            service.think_ns[c][t] = 20 * MS;
            service.work_ns[c][t] = 10 * MS;
        }
    }
    return service;
}

// As many requests as recorded, by fewer clients or more.
static void test_other_clients(void **state) {
    (void)state;
    for (uint32_t clients = 1; clients <= CLIENTS_MOST; clients++) {
        const struct service service = regular(6, 20, 2);
        struct service other = regular(clients, 120 / clients, 2);
        struct simulate_fixture fixture;
        struct play changed;
        open_service(&fixture, &service);
        const struct dag *run = simulate(&fixture, (struct offered_load){.clients = clients});
        const struct request_metrics requests = figures_of(run);
        play(&other, &changed);
        assert_near(requests.throughput_per_s, throughput_of(&changed), 0.05);
        assert_near(requests.latency_ns.mean, latency_of(&changed).mean, 0.05);
        simulate_fixture_close(&fixture);
    }
}

// ---- parts

struct part_of {
    struct trace_memory memory;
    struct trace *trace;
    struct dag *dag;
};

static void open_part(struct part_of *part, const struct trace *whole, int64_t from_ns, int64_t to_ns) {
    struct error error = ERROR_INIT;
    *part = (struct part_of){0};
    part->trace = trace_slice(whole, (uint64_t)from_ns, (uint64_t)to_ns, &part->memory, &error);
    must(part->trace && (part->dag = dag_build(part->trace, &error)), &error);
}

static void close_part(struct part_of *part) {
    dag_free(part->dag);
    trace_close(part->trace);
    free(part->memory.bytes);
}

// What a part of the recording says of other numbers of workers is what the whole says: what it cuts ends as others do.
static void test_a_part_tells_as_much(void **state) {
    (void)state;
    const struct service service = regular(8, TURNS_MOST, 3);
    struct simulate_fixture whole, slice;
    struct part_of part;
    open_service(&whole, &service);
    const int64_t last_ns = whole.dag->last_ns;
    open_part(&part, whole.trace, last_ns / 4, last_ns * 3 / 4);
    assert_near(figures_of(part.dag).throughput_per_s, figures_of(whole.dag).throughput_per_s, 0.01);
    assert_near(figures_of(part.dag).latency_ns.mean, figures_of(whole.dag).latency_ns.mean, 0.01);
    simulate_fixture_open_trace(&slice, part.trace);
    for (int32_t workers = 1; workers < 8; workers++) {
        dag_edit_resize(&whole.edit, 1, workers);
        dag_edit_resize(&slice.edit, 1, workers);
        const struct request_metrics of_whole = figures_of(simulate(&whole, (struct offered_load){0})),
                                     of_part = figures_of(simulate(&slice, (struct offered_load){0}));
        assert_near(of_part.throughput_per_s, of_whole.throughput_per_s, 0.05);
    }
    part.trace = NULL; // it was the fixture's
    simulate_fixture_close(&slice);
    close_part(&part);
    simulate_fixture_close(&whole);
}

static void find_best(struct estimator *whole, struct estimator *const *parts, struct arena *arena,
                      struct search_result *result) {
    struct error error = ERROR_INIT;
    struct search_options options = {
        .model = MODEL_POOL, .top = 3, .seed = 1, .evaluations = 200, .budget_ns = SEARCH_NS, .parts = parts};
    must(objective_parse("throughput", arena, &options.objective, &error) &&
             search_run(&whole, 1, &options, arena, result, &error),
         &error);
}

// A search of a part finds what one of the whole does, and tells the whole's figures of it.
static void test_a_search_of_a_part_finds_as_much(void **state) {
    (void)state;
    const struct service service = regular(8, TURNS_MOST, 7);
    struct simulate_fixture fixture;
    struct error error = ERROR_INIT;
    struct arena arena = ARENA_INIT;
    struct part_of part;
    struct estimator whole, slice, *parts[] = {&slice};
    struct search_result of_whole, of_part;
    open_service(&fixture, &service);
    open_part(&part, fixture.trace, fixture.dag->last_ns / 4, fixture.dag->last_ns * 3 / 4);
    must(estimator_init(&whole, fixture.dag, NULL, &error) && estimator_init(&slice, part.dag, NULL, &error), &error);
    find_best(&whole, NULL, &arena, &of_whole);
    find_best(&whole, parts, &arena, &of_part);
    assert_true(of_part.candidate_count > 0 && of_whole.candidate_count > 0);
    assert_near(of_part.base.requests.throughput_per_s, of_whole.base.requests.throughput_per_s, 1e-9);
    for (size_t i = 0; i < of_part.candidate_count; i++)
        assert_ptr_equal(of_part.candidates[i].named->dag, fixture.dag);
    const struct candidate *best = &of_part.candidates[0], *best_of_whole = &of_whole.candidates[0];
    assert_int_equal(best->named->kind, best_of_whole->named->kind);
    assert_near(best->estimate.requests.throughput_per_s, best_of_whole->estimate.requests.throughput_per_s, 0.01);
    estimator_destroy(&slice);
    estimator_destroy(&whole);
    arena_destroy(&arena);
    close_part(&part);
    simulate_fixture_close(&fixture);
}

static void test_other_thinking(void **state) {
    (void)state;
    struct service service = regular(6, 20, 3);
    struct simulate_fixture fixture;
    struct play changed;
    open_service(&fixture, &service);
    const struct request_metrics requests =
        figures_of(simulate(&fixture, (struct offered_load){.thinks = true, .think_ns = 2 * MS}));
    for (uint32_t c = 0; c < CLIENTS_MOST; c++) {
        for (uint32_t t = 0; t < TURNS_MOST; t++) service.think_ns[c][t] = 2 * MS;
    }
    play(&service, &changed);
    assert_near(requests.throughput_per_s, throughput_of(&changed), 0.01);
    assert_near(requests.latency_ns.p50, latency_of(&changed).p50, 0.01);
    simulate_fixture_close(&fixture);
}

// Below what the pool can do requests leave as they come; beyond, as fast as it can.
static void test_open_at_another_rate(void **state) {
    (void)state;
    static const double rates[] = {50, 150, 250, 600};
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
        const struct service service = regular(6, 20, 3); // of 10 ms each: 300 a second
        struct simulate_fixture fixture;
        open_service(&fixture, &service);
        const struct request_metrics requests =
            figures_of(simulate(&fixture, (struct offered_load){.per_s = rates[i]}));
        assert_near(requests.throughput_per_s, fmin(rates[i], 300), 0.05);
        simulate_fixture_close(&fixture);
    }
}

// The written run says the same of its requests, and of who brings them.
static void test_a_written_run_is_the_same_service(void **state) {
    (void)state;
    for (uint32_t clients = 0; clients <= 8; clients += 4) {
        const struct service service = service_of(6, 2, 7);
        struct simulate_fixture fixture, written;
        open_service(&fixture, &service);
        dag_edit_resize(&fixture.edit, 1, 4);
        const struct dag *run = simulate(&fixture, (struct offered_load){.clients = clients});
        const struct request_metrics requests = figures_of(run);
        simulate_fixture_open_trace(&written, written_run(run));
        const struct request_metrics again = figures_of(written.dag);
        assert_near(again.throughput_per_s, requests.throughput_per_s, 1e-4);
        assert_near(again.latency_ns.p50, requests.latency_ns.p50, 1e-3);
        assert_int_equal(written.dag->request_count, fixture.dag->request_count);
        uint32_t first = 0;
        for (uint32_t i = 0; i < written.dag->request_count; i++) first += written.dag->requests[i].before == DAG_NONE;
        assert_int_equal(first, clients ? clients : 6);
        simulate_fixture_close(&written);
        simulate_fixture_close(&fixture);
    }
}

// Whatever comes before and after the load, a service is better by what it serves in the same time.
static void test_throughput_decides(void **state) {
    (void)state;
    struct metrics base = {.wall_ns = 100, .thread_time_ns = 8}, better = base;
    base.threads[STATE_OCCUPIED].peak = better.threads[STATE_OCCUPIED].peak = 2;
    base.requests.throughput_per_s = better.requests.throughput_per_s = NAN;
    better.wall_ns = 50;
    assert_near(metrics_wall_ratio(&better, &base), 0.5, 1e-9);
    assert_near(metrics_composite(&better, &base), cbrt(0.5), 1e-9);
    base.requests.throughput_per_s = 200;
    better.requests.throughput_per_s = 250;
    assert_near(metrics_wall_ratio(&better, &base), 0.8, 1e-9);
    assert_near(metrics_composite(&better, &base), cbrt(0.8), 1e-9);
    assert_false(metrics_drags_on(&better, &base));
    better.wall_ns = 150; // something else does not get done
    assert_true(metrics_drags_on(&better, &base));
    assert_string_equal(filter_failed(&better, &base, 0.005), "wall<=10%");
}

static void test_a_request_stays_what_it_is(void **state) {
    (void)state;
    const struct service service = service_of(3, 2, 1);
    struct simulate_fixture fixture;
    open_service(&fixture, &service);
    for (uint32_t i = 0; i < fixture.dag->request_count; i++)
        assert_string_equal(dag_inline_refusal(fixture.dag, fixture.dag->requests[i].task),
                            "it is a request, which its client brings");
    simulate_fixture_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_read),
        cmocka_unit_test(test_answers_in_another_order),
        cmocka_unit_test(test_nothing_changed_is_exact),
        cmocka_unit_test(test_loops_are_told_apart),
        cmocka_unit_test(test_another_pool_is_what_it_then_does),
        cmocka_unit_test(test_a_pool_that_never_ends_starves_its_clients),
        cmocka_unit_test(test_the_end_awaits_the_load),
        cmocka_unit_test(test_other_clients),
        cmocka_unit_test(test_a_part_tells_as_much),
        cmocka_unit_test(test_a_search_of_a_part_finds_as_much),
        cmocka_unit_test(test_other_thinking),
        cmocka_unit_test(test_open_at_another_rate),
        cmocka_unit_test(test_a_written_run_is_the_same_service),
        cmocka_unit_test(test_throughput_decides),
        cmocka_unit_test(test_a_request_stays_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
