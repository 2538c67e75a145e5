// SPDX-License-Identifier: GPL-3.0-or-later
// Event loops that answer requests themselves, on traces by hand: two loops with connections of clients that ask again
// some time after each answer. Requests sleep for 5 ms.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/build/loops_told.h"
#include "simulate_fixture.h"

enum { MAIN = 1, FIRST = 2, LOOPS = 2, US = 1000, CONNECTIONS = 4, ROUNDS = 8, MAIN_RUN = 100, BODIES = 200 };
enum {
    BEGINS_US = 500,
    SERVES_US = 5000,
    READS_US = 20,
    SELECTS_US = 5,
    SLOWLY_US = 100,
    REQUESTS = CONNECTIONS * ROUNDS
};

struct shape {
    uint32_t thinks_us;
    bool in_tasks;  // requests are served in tasks that the loop was given
    bool elsewhere; // they are left, and answered by main
    bool left;      // they are left and taken up again at once
    bool retires;   // each loop ends with its last request
    bool others;    // the second loop has another name
    bool slow;      // selects take long that find something at once
};

struct connection {
    uint64_t ready_us, asked;
};

struct test {
    struct trace_builder *tb;
    struct simulate_fixture sim;
    struct shape shape;
    uint32_t pools[LOOPS], site, endpoint;
    struct connection connections[CONNECTIONS];
    uint64_t came_us[REQUESTS], cpu_us;
};

// By connection and round.
static uint32_t number_of(uint32_t connection, uint64_t round) {
    return connection * ROUNDS + (uint32_t)round;
}

static uint64_t id_of(uint32_t number) {
    return 1000 + number;
}

static uint64_t serve(struct test *t, uint32_t loop, uint32_t c, uint64_t at_us) {
    const uint32_t thread = FIRST + loop, number = number_of(c, t->connections[c].asked++);
    const uint64_t id = id_of(number), begin_us = at_us + READS_US, end_us = begin_us + SERVES_US;
    t->came_us[number] = t->connections[c].ready_us;
    t->cpu_us += READS_US;
    if (t->shape.in_tasks) tb_event(t->tb, thread, at_us * US + 1, EVENT_TASK_START, 3000 + number, t->cpu_us * US);
    tb_event(t->tb, thread, begin_us * US, EVENT_REQUEST_BEGIN, id, t->cpu_us * US, c + 1);
    if (t->shape.left) {
        tb_event(t->tb, thread, begin_us * US + 1, EVENT_REQUEST_LEFT, id);
        tb_event(t->tb, thread, begin_us * US + 2, EVENT_REQUEST_RESUMED, id);
    }
    tb_event(t->tb, thread, begin_us * US + 3, EVENT_REQUEST_NAMED, id, t->endpoint);
    if (t->shape.elsewhere)
        tb_event(t->tb, thread, end_us * US, EVENT_REQUEST_LEFT, id);
    else
        tb_event(t->tb, thread, end_us * US, EVENT_REQUEST_END, id, t->cpu_us * US, REQUEST_ANSWERED);
    if (t->shape.in_tasks)
        tb_event(t->tb, thread, end_us * US + 1, EVENT_TASK_END, 3000 + number, t->cpu_us * US, TASK_RETURNED);
    t->connections[c].ready_us = end_us + t->shape.thinks_us;
    return end_us + 1;
}

// When the select is over that begins at a time; 0: nothing comes any more. Connections go to loops in turns.
static uint64_t select_until(const struct test *t, uint32_t loop, uint64_t at_us) {
    uint64_t first_us = UINT64_MAX;
    for (uint32_t c = loop; c < CONNECTIONS; c += LOOPS) {
        const struct connection *connection = &t->connections[c];
        if (connection->asked < ROUNDS && connection->ready_us < first_us) first_us = connection->ready_us;
    }
    const uint64_t least_us = at_us + (t->shape.slow ? SLOWLY_US : SELECTS_US);
    if (first_us == UINT64_MAX) return 0;
    return first_us > least_us ? first_us : least_us;
}

static uint64_t play(struct test *t, uint32_t loop) {
    const uint32_t thread = FIRST + loop, pool = t->pools[loop];
    uint64_t now_us = BEGINS_US;
    t->cpu_us = 0;
    tb_event(t->tb, thread, now_us * US - 2, EVENT_TASK_START, BODIES + loop, 0);
    tb_event(t->tb, thread, now_us * US - 1, EVENT_WORKER_BEGIN, pool);
    for (uint64_t found_us; (found_us = select_until(t, loop, now_us)) > 0;) {
        uint64_t ready_us[CONNECTIONS];
        for (uint32_t c = 0; c < CONNECTIONS; c++) ready_us[c] = t->connections[c].ready_us;
        tb_event(t->tb, thread, now_us * US, EVENT_IDLE, pool);
        tb_event(t->tb, thread, found_us * US, EVENT_BUSY, pool);
        now_us = found_us;
        for (uint32_t c = loop; c < CONNECTIONS; c += LOOPS) {
            if (t->connections[c].asked < ROUNDS && ready_us[c] <= found_us) now_us = serve(t, loop, c, now_us);
        }
    }
    tb_event(t->tb, thread, now_us * US, EVENT_IDLE, pool);
    if (t->shape.retires) tb_event(t->tb, thread, now_us * US + 1, EVENT_RETIRE, pool);
    if (t->shape.retires) tb_event(t->tb, thread, now_us * US + 2, EVENT_TASK_END, BODIES + loop, t->cpu_us * US, 0);
    return now_us;
}

static void answer_elsewhere(struct test *t, uint64_t at_us) {
    for (uint32_t i = 0; i < REQUESTS; i++)
        tb_event(t->tb, MAIN, at_us * US + i, EVENT_REQUEST_END, id_of(i), 1, REQUEST_ANSWERED);
}

static struct test begin(struct shape shape) {
    static const char *const names[LOOPS] = {"loops", "others"};
    struct test t = {.tb = tb_new(), .shape = shape};
    uint64_t end_us = 0;
    tb_thread(t.tb, MAIN, "main", 0);
    for (uint32_t i = 0; i < LOOPS; i++) {
        struct trace_pool pool = {.kind = "Loop", .name = names[shape.others && i], .core = -1, .maximum = -1};
        pool.capacity = pool.keep_alive_ns = -1;
        t.pools[i] = tb_pool_like(t.tb, pool);
        tb_thread(t.tb, FIRST + i, "loop", 0);
    }
    t.endpoint = tb_endpoint(t.tb, "GET /product");
    t.site = tb_site(t.tb, "Main", "main", 7);
    tb_event(t.tb, MAIN, 0, EVENT_MAIN_BEGIN, MAIN_RUN, 1);
    for (uint32_t c = 0; c < CONNECTIONS; c++) t.connections[c].ready_us = BEGINS_US + 100 + c;
    for (uint32_t i = 0; i < LOOPS; i++) {
        const uint64_t until_us = play(&t, i);
        end_us = until_us > end_us ? until_us : end_us;
    }
    if (shape.elsewhere) answer_elsewhere(&t, end_us + 10);
    tb_event(t.tb, MAIN, (end_us + 100) * US, EVENT_THREAD_END, MAIN_RUN, 100);
    simulate_fixture_open(&t.sim, t.tb);
    return t;
}

static void end(struct test *t) {
    simulate_fixture_close(&t->sim);
}

static const struct dag_request *request_of(const struct test *t, uint32_t number) {
    for (uint32_t r = 0; r < t->sim.dag->request_count; r++) {
        if (t->sim.dag->requests[r].id == id_of(number)) return &t->sim.dag->requests[r];
    }
    fail();
    return NULL;
}

// ... of one pool, whose workers are the loops.
static void a_request_is_a_task(void **state) {
    (void)state;
    struct test t = begin((struct shape){.thinks_us = 1000});
    const struct dag *dag = t.sim.dag;
    assert_non_null(dag->told_anew);
    assert_int_equal(dag->pools[t.pools[0]].discipline, DISCIPLINE_LOOPS);
    assert_int_equal(dag->pools[t.pools[0]].core, LOOPS);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const struct dag_request *request = request_of(&t, i);
        const struct dag_task *task = &dag->tasks[request->task];
        assert_int_equal(task->pool, t.pools[0]);
        assert_in_range(dag->vertices.time_ns[task->end] - dag->vertices.time_ns[request->end], 0, 1);
        assert_true(dag->vertices.time_ns[request->begin] - dag->vertices.time_ns[task->start] <= READS_US * US);
    }
    end(&t);
}

// Of what wakes a select.
static void a_request_comes_when_the_select_wakes(void **state) {
    (void)state;
    struct test t = begin((struct shape){.thinks_us = 20000});
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const int64_t came_ns = t.sim.dag->vertices.time_ns[request_of(&t, i)->arrival];
        assert_in_range(came_ns, ((int64_t)t.came_us[i] - READS_US) * US, ((int64_t)t.came_us[i] + READS_US) * US);
    }
    end(&t);
}

// Of what lay there when the loop came to select, so far as is known: behind the answer before. What a select sleeps
// for other reasons is little beside the time since then.
static void what_a_busy_loop_finds_came_since_the_answer(void **state) {
    const bool slow = *state;
    const int64_t most_ns = 2 * (slow ? SLOWLY_US : SELECTS_US) * US;
    struct test t = begin((struct shape){.thinks_us = 1000, .slow = slow});
    for (uint32_t c = 0; c < CONNECTIONS; c++) {
        for (uint32_t i = 1; i < ROUNDS; i++) {
            const struct dag_request *request = request_of(&t, number_of(c, i));
            const struct dag_request *before = request_of(&t, number_of(c, i - 1));
            const int64_t *time_ns = t.sim.dag->vertices.time_ns;
            assert_in_range(time_ns[request->arrival] - time_ns[before->end], 0, most_ns);
        }
    }
    end(&t);
}

static int64_t last_answer_ns(struct test *t, int32_t loops) {
    const struct model model = {.kind = MODEL_POOL};
    int64_t last_ns = 0;
    dag_edit_clear(&t->sim.edit, t->sim.dag);
    if (loops) dag_edit_resize(&t->sim.edit, t->pools[0], loops);
    assert_int_equal(simulation_run(t->sim.simulation, &t->sim.edit, &model), DAG_OK);
    const int64_t *time_ns = simulation_times(t->sim.simulation);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const int64_t end_ns = time_ns[request_of(t, i)->end];
        if (end_ns > last_ns) last_ns = end_ns;
    }
    return last_ns;
}

static void is_about(int64_t ns, int64_t expected_us) {
    assert_in_range(ns, expected_us * US * 98 / 100, expected_us * US * 102 / 100);
}

// Each loop serves its connections one after the other, and a connection stays with its loop.
static void another_number_of_loops_has_other_connections(void **state) {
    (void)state;
    for (int retires = 0; retires < 2; retires++) {
        struct test t = begin((struct shape){.thinks_us = 0, .retires = retires});
        const int64_t round_us = SERVES_US + READS_US, begin_us = BEGINS_US + 100;
        is_about(last_answer_ns(&t, 0), begin_us + 2 * ROUNDS * round_us);
        is_about(last_answer_ns(&t, 1), begin_us + 4 * ROUNDS * round_us);
        is_about(last_answer_ns(&t, 3), begin_us + 2 * ROUNDS * round_us);
        is_about(last_answer_ns(&t, 4), begin_us + ROUNDS * round_us);
        is_about(last_answer_ns(&t, 9), begin_us + ROUNDS * round_us);
        end(&t);
    }
}

static void a_request_that_is_taken_up_again_is_one_task(void **state) {
    (void)state;
    struct test t = begin((struct shape){.thinks_us = 1000, .left = true});
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const struct dag_request *request = request_of(&t, i);
        const int64_t *time_ns = t.sim.dag->vertices.time_ns;
        assert_in_range(time_ns[t.sim.dag->tasks[request->task].end] - time_ns[request->end], 0, 1);
    }
    end(&t);
}

static void loops_of_another_name_are_another_pool(void **state) {
    (void)state;
    struct test t = begin((struct shape){.thinks_us = 1000, .others = true});
    for (uint32_t i = 0; i < LOOPS; i++) {
        assert_int_equal(t.sim.dag->pools[t.pools[i]].discipline, DISCIPLINE_LOOPS);
        assert_int_equal(t.sim.dag->pools[t.pools[i]].core, 1);
    }
    end(&t);
}

static void is_left_as_it_is(struct shape shape) {
    struct test t = begin(shape);
    assert_null(t.sim.dag->told_anew);
    end(&t);
}

static void requests_in_tasks_are_left_as_they_are(void **state) {
    (void)state;
    is_left_as_it_is((struct shape){.in_tasks = true});
}

static void requests_that_end_elsewhere_are_left_as_they_are(void **state) {
    (void)state;
    is_left_as_it_is((struct shape){.elsewhere = true});
}

static void what_is_told_anew_is_told_once(void **state) {
    (void)state;
    struct test t = begin((struct shape){.thinks_us = 1000});
    struct trace_memory memory = {0};
    struct error error = ERROR_INIT;
    assert_null(loops_told(t.sim.dag->trace, &memory, &error));
    assert_int_equal(error.status, STATUS_OK);
    end(&t);
}

int main(void) {
    bool slow = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_task),
        cmocka_unit_test(a_request_comes_when_the_select_wakes),
        cmocka_unit_test(what_a_busy_loop_finds_came_since_the_answer),
        {"slow selects", what_a_busy_loop_finds_came_since_the_answer, NULL, NULL, &slow},
        cmocka_unit_test(another_number_of_loops_has_other_connections),
        cmocka_unit_test(a_request_that_is_taken_up_again_is_one_task),
        cmocka_unit_test(loops_of_another_name_are_another_pool),
        cmocka_unit_test(requests_in_tasks_are_left_as_they_are),
        cmocka_unit_test(requests_that_end_elsewhere_are_left_as_they_are),
        cmocka_unit_test(what_is_told_anew_is_told_once),
    };
    return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
