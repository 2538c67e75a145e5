// SPDX-License-Identifier: GPL-3.0-or-later
// Pools whose threads look for requests and serve them in turns, on traces by hand: a thread finds a request every 12
// ms, wakes another one to look on, serves it for 5 ms, and is idle.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dag/build/served.h"
#include "dag/dag.h"
#include "trace_builder.h"

enum {
    MAIN = 1,
    FIRST,
    SECOND,
    THIRD,
    US = 1000,
    REQUESTS = 24,
    MAIN_RUN = 100,
    ROOT = 200,
    ACCEPTOR,
    LOCK,
    TURNS = 300
};
enum { LOOKS_US = 1000, EVERY_US = 12000, SERVES_US = 5000, READS_US = 20, LATE_US = 3000 };

struct shape {
    uint32_t connections; // that ask in turns
    bool handed_over;     // every third request, to a thread that begins with it 3 ms later
    bool from_outside;    // turns are handed over by main
    bool alone;           // by one thread
    bool goes_on;         // each request is followed by another of the same connection, at once
    bool saturated;       // a turn waits until its request is there
    bool accepts;         // an acceptor begins first, and holds a lock as the recording ends
    bool attached;        // recording began when the first turn and an acceptor were under way
    bool stops;           // main sleeps until the last answer is there
    bool counts;          // ... until all requests are counted, each right before its answer
};

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct shape shape;
    uint32_t pool, site, endpoint;
    uint64_t cpu_us[THIRD + 1];
    bool begun[THIRD + 1], idle[THIRD + 1];
};

static uint64_t found_us(uint32_t i) {
    return LOOKS_US + (uint64_t)EVERY_US * i;
}

static uint64_t request_id(uint32_t i) {
    return 1000 + i;
}

static uint64_t next_id(uint32_t i) {
    return 2000 + i;
}

static void begin_turn(struct fixture *f, uint32_t thread, uint64_t turn, uint64_t at_us) {
    if (!f->begun[thread])
        tb_event(f->tb, thread, at_us * US, EVENT_WORKER_BEGIN, f->pool);
    else if (f->idle[thread])
        tb_event(f->tb, thread, at_us * US, EVENT_BUSY, f->pool);
    f->begun[thread] = true;
    f->idle[thread] = false;
    tb_event(f->tb, thread, at_us * US + 1, EVENT_TASK_START, turn, f->cpu_us[thread] * US);
}

static void end_turn(struct fixture *f, uint32_t thread, uint64_t turn, uint64_t at_us) {
    tb_event(f->tb, thread, at_us * US, EVENT_TASK_END, turn, f->cpu_us[thread] * US, TASK_RETURNED);
    tb_event(f->tb, thread, at_us * US + 1, EVENT_IDLE, f->pool);
    f->idle[thread] = true;
}

static void hand_over(struct fixture *f, uint32_t thread, uint64_t turn, uint64_t at_us) {
    if (f->shape.from_outside) thread = MAIN;
    tb_event(f->tb, thread, at_us * US, EVENT_SPAWN_BEGIN, turn, f->site, f->pool);
    tb_event(f->tb, thread, (at_us + 1) * US, EVENT_SPAWN_END, turn, SPAWN_ACCEPTED);
}

// It computes while it reads, and sleeps while it serves.
static void serve_one(struct fixture *f, uint32_t thread, uint64_t id, uint64_t connection, uint64_t at_us) {
    f->cpu_us[thread] += READS_US;
    tb_event(f->tb, thread, at_us * US, EVENT_REQUEST_BEGIN, id, f->cpu_us[thread] * US, connection);
    tb_event(f->tb, thread, at_us * US + 1, EVENT_REQUEST_NAMED, id, f->endpoint);
    tb_event(f->tb, thread, (at_us + SERVES_US) * US, EVENT_REQUEST_END, id, f->cpu_us[thread] * US, REQUEST_ANSWERED);
}

// Returns when it is free.
static uint64_t serve(struct fixture *f, uint32_t thread, uint32_t i, uint64_t connection, uint64_t at_us) {
    serve_one(f, thread, request_id(i), connection, at_us);
    if (!f->shape.goes_on) return at_us + SERVES_US + 10;
    serve_one(f, thread, next_id(i), connection, at_us + SERVES_US + 100);
    return at_us + 2 * SERVES_US + 110;
}

// The first thread looks on; a third one gets the request.
static void play_handed_over(struct fixture *f, uint32_t i, uint32_t looker) {
    const uint64_t at_us = found_us(i), begin_us = at_us + LATE_US;
    hand_over(f, looker, TURNS + 500 + i, at_us);
    begin_turn(f, THIRD, TURNS + 500 + i, begin_us);
    end_turn(f, THIRD, TURNS + 500 + i, serve(f, THIRD, i, 1 + i % f->shape.connections, begin_us + READS_US));
}

static void play(struct fixture *f) {
    uint64_t turn = ROOT;
    uint32_t looker = FIRST;
    if (f->shape.attached) {
        tb_running(f->tb, ROOT);
        tb_running(f->tb, ACCEPTOR);
        begin_turn(f, THIRD, ACCEPTOR, 550);
    } else {
        if (f->shape.accepts) {
            hand_over(f, MAIN, ACCEPTOR, 490);
            begin_turn(f, THIRD, ACCEPTOR, 550);
            tb_event(f->tb, THIRD, 560 * US, EVENT_HELD, LOCK, want_operand(1, false, f->site));
        }
        hand_over(f, MAIN, ROOT, 500);
    }
    begin_turn(f, looker, ROOT, 600);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint64_t at_us = found_us(i);
        const uint32_t next = f->shape.alone ? FIRST : FIRST + SECOND - looker;
        if (f->shape.handed_over && i % 3 == 2) {
            play_handed_over(f, i, looker);
            continue;
        }
        hand_over(f, looker, TURNS + i, at_us);
        const uint64_t free_us = serve(f, looker, i, 1 + i % f->shape.connections, at_us + READS_US);
        end_turn(f, looker, turn, free_us);
        turn = TURNS + i;
        looker = next;
        begin_turn(f, looker, turn,
                   f->shape.alone       ? free_us + 10
                   : f->shape.saturated ? found_us(i + 1) - 50
                                        : at_us + 100);
    }
    end_turn(f, looker, turn, found_us(REQUESTS));
}

static struct fixture build(struct shape shape) {
    struct fixture f = {.tb = tb_new(), .shape = shape};
    struct error error = ERROR_INIT;
    f.pool = tb_pool(f.tb, "web", 4);
    f.site = tb_site(f.tb, "Pool", "execute", 7);
    f.endpoint = tb_endpoint(f.tb, "GET /product");
    tb_resource(f.tb, LOCK, RESOURCE_LOCK, 1, 0);
    tb_thread(f.tb, MAIN, "main", 0);
    tb_thread(f.tb, FIRST, "web-1", 0);
    tb_thread(f.tb, SECOND, "web-2", 0);
    tb_thread(f.tb, THIRD, "web-3", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    play(&f);
    const uint64_t answered_us = found_us(REQUESTS - 1) + READS_US + SERVES_US;
    const uint64_t end_us = shape.stops ? answered_us + 500 : shape.counts ? answered_us - 30 : found_us(2 * REQUESTS);
    tb_event(f.tb, MAIN, end_us * US, EVENT_THREAD_END, MAIN_RUN, 100);
    f.trace = tb_open(f.tb);
    f.dag = dag_build(f.trace, &error);
    if (!f.dag) fail_msg("%s", error.cause[0]);
    return f;
}

static void end(struct fixture *f) {
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static const struct dag_request *request_of(const struct fixture *f, uint32_t i) {
    for (uint32_t r = 0; r < f->dag->request_count; r++) {
        if (f->dag->requests[r].id == request_id(i)) return &f->dag->requests[r];
    }
    fail();
    return NULL;
}

static int64_t came_us(const struct fixture *f, uint32_t i) {
    const uint32_t arrival = request_of(f, i)->arrival;
    assert_int_not_equal(arrival, DAG_NONE);
    return f->dag->vertices.time_ns[arrival] / US;
}

static uint32_t tasks_of(const struct fixture *f) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < f->dag->task_count; t++)
        count += f->dag->tasks[t].pool == f->pool && f->dag->tasks[t].start != DAG_NONE;
    return count;
}

// ... and the task that looks for requests holds a thread as long as the pool serves.
static void a_request_is_a_task_of_the_pool(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3});
    const int64_t *time_ns = f.dag->vertices.time_ns;
    assert_non_null(f.dag->told_anew);
    assert_int_equal(tasks_of(&f), REQUESTS + 1);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const struct dag_task *task = &f.dag->tasks[request_of(&f, i)->task];
        assert_in_range(time_ns[task->start], found_us(i) * US, found_us(i) * US + 1000);
        assert_in_range(time_ns[task->end], (found_us(i) + READS_US + SERVES_US) * US,
                        (found_us(i) + READS_US + SERVES_US) * US + 1000);
        assert_in_range(came_us(&f, i), found_us(i) - 1, found_us(i));
    }
    for (uint32_t t = 0; t < f.dag->task_count; t++) {
        const struct dag_task *task = &f.dag->tasks[t];
        if (task->pool != f.pool || task->id != ROOT) continue;
        assert_in_range(time_ns[task->start], 600 * US, 600 * US + 10);
        assert_true(time_ns[task->end] >= (int64_t)found_us(REQUESTS - 1) * US);
    }
    end(&f);
}

// What was handed over for a request waited in the pool's queue since.
static void a_request_comes_when_its_turn_is_handed_over(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 4, .handed_over = true});
    assert_non_null(f.dag->told_anew);
    for (uint32_t i = 2; i < REQUESTS; i += 3) {
        const struct dag_task *task = &f.dag->tasks[request_of(&f, i)->task];
        assert_in_range(came_us(&f, i), found_us(i) - 1, found_us(i));
        assert_true(f.dag->vertices.time_ns[task->start] >= (int64_t)(found_us(i) + LATE_US) * US);
    }
    end(&f);
}

// ... on a thread beside the recorded ones, of which one seems to be idle meanwhile.
static void who_looks_stands_in_for_another(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3});
    for (uint32_t t = 0; t < f.dag->thread_count; t++) {
        const uint32_t stream = f.dag->threads[t].stream;
        const bool recorded = stream == DAG_NONE || f.dag->trace->streams[stream].id <= THIRD;
        assert_int_equal(f.dag->threads[t].stands_in, !recorded);
    }
    end(&f);
}

// Where threads are scarce, all requests have waited in their turns: a thread that hands such a turn over goes on to
// serve.
static void a_saturated_pool_serves_in_turns(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .saturated = true});
    assert_non_null(f.dag->told_anew);
    assert_int_equal(tasks_of(&f), REQUESTS + 1);
    end(&f);
}

static const struct dag_task *task_with(const struct fixture *f, uint64_t id) {
    for (uint32_t t = 0; t < f->dag->task_count; t++) {
        if (f->dag->tasks[t].id == id) return &f->dag->tasks[t];
    }
    fail();
    return NULL;
}

// A task that was under way as recording began and goes on to the end has its thread. Of the pool's own turns the one
// that was is told up to its first request.
static void an_acceptor_that_was_there_before_holds_its_thread(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .attached = true});
    assert_non_null(f.dag->told_anew);
    const struct dag_task *acceptor = task_with(&f, ACCEPTOR), *turn = task_with(&f, ROOT);
    assert_true(acceptor->flags & TASK_BEGUN_BEFORE && acceptor->flags & TASK_UNFINISHED);
    assert_int_equal(acceptor->pool, f.pool);
    assert_true(turn->flags & TASK_BEGUN_BEFORE);
    assert_in_range(f.dag->vertices.time_ns[turn->end], (found_us(0) - 1) * US, found_us(0) * US + 1000);
    assert_int_equal(tasks_of(&f), REQUESTS + 3);
    end(&f);
}

// It ends with the pool's last turn, and its lock is left out.
static void an_acceptor_holds_its_thread_as_long_as_the_pool_serves(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .accepts = true});
    const struct dag_task *acceptor = task_with(&f, ACCEPTOR), *root = task_with(&f, ROOT);
    assert_non_null(f.dag->told_anew);
    assert_false(acceptor->flags & TASK_UNFINISHED);
    assert_in_range(f.dag->vertices.time_ns[acceptor->end], f.dag->vertices.time_ns[root->end] - US,
                    f.dag->vertices.time_ns[root->end] + US);
    assert_int_equal(f.dag->ask_count, 0);
    end(&f);
}

// The client of a closed loop asks again behind its answer.
static void who_asks_is_told_by_connection(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3});
    uint32_t behind = 0;
    assert_false(f.dag->open_loop);
    for (uint32_t i = 3; i < REQUESTS; i++) {
        const struct dag_request *request = request_of(&f, i);
        behind += f.dag->vertices.cause[request->arrival] == request_of(&f, i - 3)->end;
    }
    assert_int_equal(behind, REQUESTS - 3);
    end(&f);
}

// A thread serves a connection for as long as that asks at once, in one task.
static void a_thread_goes_on_with_a_connection(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .goes_on = true});
    assert_non_null(f.dag->told_anew);
    assert_int_equal(f.dag->request_count, 2 * REQUESTS);
    assert_int_equal(tasks_of(&f), REQUESTS + 1);
    end(&f);
}

// Of a main that sleeps until then nothing else tells what it waited for.
static void what_wakes_behind_the_last_answer_awaited_it(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .stops = true});
    const struct dag_thread *thread = &f.dag->threads[0];
    const uint32_t last = thread->first + thread->count - 1;
    assert_int_equal(f.dag->vertices.rule[last], RULE_WOKEN);
    assert_int_equal(f.dag->vertices.time_ns[f.dag->vertices.cause[last]],
                     f.dag->vertices.time_ns[request_of(&f, REQUESTS - 1)->end]);
    end(&f);
    f = build((struct shape){.connections = 3});
    assert_int_equal(f.dag->vertices.rule[last], RULE_RUN);
    end(&f);
}

// It awaits the other connections' answers, since that one is not there yet.
static void what_wakes_as_the_last_request_is_counted_awaited_the_others(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3, .counts = true});
    const struct dag_thread *thread = &f.dag->threads[0];
    const uint32_t last = thread->first + thread->count - 1;
    assert_int_equal(f.dag->vertices.rule[last], RULE_WOKEN);
    assert_int_equal(f.dag->vertices.time_ns[f.dag->vertices.cause[last]],
                     f.dag->vertices.time_ns[request_of(&f, REQUESTS - 2)->end]);
    end(&f);
}

// What hands requests over sleeps until the next comes, whenever that is.
static void who_looks_for_requests_sleeps_until_one_comes(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3});
    for (uint32_t i = 1; i < REQUESTS; i++) {
        const struct dag_request *request = request_of(&f, i);
        assert_int_equal(f.dag->vertices.rule[request->polled], RULE_WOKEN);
        assert_int_equal(f.dag->vertices.cause[request->polled], request->arrival);
    }
    end(&f);
}

static void is_left_as_it_is(struct shape shape) {
    struct fixture f = build(shape);
    assert_null(f.dag->told_anew);
    end(&f);
}

static void a_poller_s_pool_is_left_as_it_is(void **state) {
    (void)state;
    is_left_as_it_is((struct shape){.connections = 3, .from_outside = true});
}

static void an_event_loop_is_left_as_it_is(void **state) {
    (void)state;
    is_left_as_it_is((struct shape){.connections = 3, .alone = true});
}

static void what_is_told_anew_is_told_once(void **state) {
    (void)state;
    struct fixture f = build((struct shape){.connections = 3});
    struct trace_memory memory = {0};
    struct error error = ERROR_INIT;
    assert_null(served_told(f.dag->trace, &memory, &error));
    assert_int_equal(error.status, STATUS_OK);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_task_of_the_pool),
        cmocka_unit_test(a_request_comes_when_its_turn_is_handed_over),
        cmocka_unit_test(who_looks_stands_in_for_another),
        cmocka_unit_test(a_saturated_pool_serves_in_turns),
        cmocka_unit_test(an_acceptor_that_was_there_before_holds_its_thread),
        cmocka_unit_test(an_acceptor_holds_its_thread_as_long_as_the_pool_serves),
        cmocka_unit_test(who_asks_is_told_by_connection),
        cmocka_unit_test(a_thread_goes_on_with_a_connection),
        cmocka_unit_test(what_wakes_behind_the_last_answer_awaited_it),
        cmocka_unit_test(what_wakes_as_the_last_request_is_counted_awaited_the_others),
        cmocka_unit_test(who_looks_for_requests_sleeps_until_one_comes),
        cmocka_unit_test(a_poller_s_pool_is_left_as_it_is),
        cmocka_unit_test(an_event_loop_is_left_as_it_is),
        cmocka_unit_test(what_is_told_anew_is_told_once),
    };
    return cmocka_run_group_tests_name("served", tests, NULL, NULL);
}
