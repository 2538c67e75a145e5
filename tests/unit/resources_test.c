// SPDX-License-Identifier: GPL-3.0-or-later
// Locks, permits, objects that go round and messages, with and without time limits, in runs that are solved by hand.
// Models `pool` and `cpu` say the same where there are cores enough.
#include "dag/simulate/donors.h"
#include "simulate_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAIN = 1, WORKERS = 2, M = 100, R = 900, OTHER = 901, CORES = 16, TASKS = 8, WAKEUP_NS = 30 };

struct program_by_hand {
    struct trace_builder *tb;
    struct simulate_fixture fixture;
    uint32_t pool, site, place, workers;
    uint32_t task_class;      // 0: none is told
    uint64_t awake_ns[TASKS]; // a task each: its cpu is the time less that
    uint64_t asked_ns[TASKS];
};

static const enum model_kind models[] = {MODEL_POOL, MODEL_CPU};

static struct program_by_hand begin(uint32_t workers, enum resource_kind kind, int64_t capacity, uint32_t flags) {
    struct program_by_hand p = {.tb = tb_new()};
    tb_cores(p.tb, CORES);
    p.pool = tb_pool(p.tb, "pool-1", (int32_t)workers);
    p.site = tb_site(p.tb, "Main", "run", 12);
    p.place = tb_site(p.tb, "Main", "use", 30);
    tb_resource(p.tb, R, kind, capacity, flags);
    tb_thread(p.tb, MAIN, "main", 0);
    tb_event(p.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    return p;
}

// A worker that is made for it starts the task 10 ns after its spawn begins. Tasks are numbered from 1.
static void spawn(struct program_by_hand *p, uint64_t begin_ns, uint64_t task) {
    uint32_t worker = (uint32_t)(WORKERS + task);
    if (p->task_class) tb_event(p->tb, MAIN, begin_ns - 1, EVENT_TASK_CREATED, task, p->task_class);
    tb_event(p->tb, MAIN, begin_ns, EVENT_SPAWN_BEGIN, task, p->site, p->pool);
    tb_event(p->tb, MAIN, begin_ns + 20, EVENT_SPAWN_END, task);
    tb_thread(p->tb, worker, "pool-1-thread", 0);
    tb_event(p->tb, worker, begin_ns + 5, EVENT_WORKER_BEGIN, p->pool);
    tb_event(p->tb, worker, begin_ns + 10, EVENT_TASK_START, task, 1);
    p->awake_ns[task] = begin_ns + 9;
}

static uint64_t one(const struct program_by_hand *p) {
    return want_operand(1, false, p->place);
}

static void put(struct program_by_hand *p, uint64_t task, uint64_t time_ns, enum event_kind kind, uint64_t resource,
                uint64_t want) {
    tb_event(p->tb, (uint32_t)(WORKERS + task), time_ns, kind, resource, want);
}

static void held(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    put(p, task, time_ns, EVENT_HELD, R, one(p));
}

static void released(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    put(p, task, time_ns, EVENT_RELEASED, R, one(p));
}

static void asks_as(struct program_by_hand *p, uint64_t task, uint64_t time_ns, uint64_t resource, uint64_t want) {
    tb_event(p->tb, (uint32_t)(WORKERS + task), time_ns, EVENT_ACQUIRE_BEGIN, resource, time_ns - p->awake_ns[task],
             want);
    p->asked_ns[task] = time_ns;
}

static void asks(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    asks_as(p, task, time_ns, R, one(p));
}

static void limited(struct program_by_hand *p, uint64_t task, uint64_t time_ns, uint64_t limit_ns) {
    tb_event(p->tb, (uint32_t)(WORKERS + task), time_ns - 1, EVENT_LIMIT, limit_ns);
    asks(p, task, time_ns);
}

static void wakes(struct program_by_hand *p, uint64_t task, uint64_t time_ns, enum event_kind kind, uint64_t resource) {
    p->awake_ns[task] += time_ns - p->asked_ns[task];
    tb_event(p->tb, (uint32_t)(WORKERS + task), time_ns, kind, resource, time_ns - p->awake_ns[task]);
}

static void gets(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    wakes(p, task, time_ns, EVENT_ACQUIRED, R);
}

static void gives_up(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    wakes(p, task, time_ns, EVENT_GIVEN_UP, R);
}

static void ends(struct program_by_hand *p, uint64_t task, uint64_t time_ns) {
    tb_event(p->tb, (uint32_t)(WORKERS + task), time_ns, EVENT_TASK_END, task, time_ns - p->awake_ns[task]);
}

// Main waits for a task's end, which tells what waking up takes.
static void open_awaiting(struct program_by_hand *p, uint64_t task, uint64_t end_ns) {
    tb_event(p->tb, MAIN, end_ns - 40, EVENT_WAIT_BEGIN, task, 5000, tb_wait(WAIT_FOR_TASK, p->site));
    tb_event(p->tb, MAIN, end_ns + WAKEUP_NS, EVENT_WAIT_END, task, 5000);
    tb_event(p->tb, MAIN, 6000, EVENT_THREAD_END, M, 8000);
    simulate_fixture_open(&p->fixture, p->tb);
}

static uint32_t resource_of(const struct program_by_hand *p, uint64_t id) {
    uint32_t r = 0;
    while (p->fixture.dag->resources[r].id != id) r++;
    return r;
}

static enum dag_outcome simulate(struct program_by_hand *p, enum model_kind kind) {
    return simulation_run(p->fixture.simulation, &p->fixture.edit, &(struct model){.kind = kind});
}

// Where in the run what was recorded then is.
static uint32_t vertex_of(const struct program_by_hand *p, int64_t recorded_ns) {
    const struct dag *run = simulation_dag(p->fixture.simulation);
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->source[v] != DAG_NONE && p->fixture.dag->vertices.time_ns[run->source[v]] == recorded_ns) return v;
    }
    fail_msg("nothing that was recorded at %ld", (long)recorded_ns);
    return DAG_NONE;
}

static int64_t now(const struct program_by_hand *p, int64_t recorded_ns) {
    return simulation_dag(p->fixture.simulation)->vertices.time_ns[vertex_of(p, recorded_ns)];
}

#define assert_now(p, recorded_ns, expected_ns) assert_int_equal(now((p), (recorded_ns)), (expected_ns))

static uint32_t kind_of(const struct program_by_hand *p, int64_t recorded_ns) {
    return simulation_dag(p->fixture.simulation)->vertices.kind[vertex_of(p, recorded_ns)];
}

// Without an edit all models give back all times, in `pool` and `cpu` by the whole simulation.
static void assert_recorded(struct program_by_hand *p) {
    const struct dag *dag = p->fixture.dag;
    dag_edit_clear(&p->fixture.edit, dag);
    for (enum model_kind kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        assert_int_equal(simulate(p, kind), DAG_OK);
        const struct dag *run = simulation_dag(p->fixture.simulation);
        assert_int_equal(run->vertex_count, dag->vertex_count);
        for (uint32_t v = 0; v < run->vertex_count; v++) {
            int64_t now_ns = run->vertices.time_ns[v], then_ns = dag->vertices.time_ns[run->source[v]];
            if (now_ns != then_ns) fail_msg("model %u: at %ld, recorded at %ld", kind, (long)now_ns, (long)then_ns);
            assert_int_equal(run->vertices.kind[v], dag->vertices.kind[run->source[v]]);
        }
    }
}

static void assert_cause(const struct program_by_hand *p, int64_t recorded_ns, int64_t cause_ns) {
    const struct dag_vertices *vertices = &p->fixture.dag->vertices;
    uint32_t v = simulation_dag(p->fixture.simulation)->source[vertex_of(p, recorded_ns)];
    assert_int_equal(vertices->rule[v], RULE_GRANT);
    assert_int_equal(vertices->time_ns[vertices->cause[v]], cause_ns);
}

static void resize(struct program_by_hand *p, int64_t units) {
    dag_edit_clear(&p->fixture.edit, p->fixture.dag);
    assert_null(dag_resize_resource_refusal(p->fixture.dag, resource_of(p, R)));
    dag_edit_resize_resource(&p->fixture.edit, resource_of(p, R), units);
}

static void unlock(struct program_by_hand *p) {
    dag_edit_clear(&p->fixture.edit, p->fixture.dag);
    assert_null(dag_unlock_refusal(p->fixture.dag, resource_of(p, R)));
    dag_edit_unlock(&p->fixture.edit, resource_of(p, R));
}

static void inline_also(struct program_by_hand *p, uint64_t id) {
    uint32_t t = 0;
    while (p->fixture.dag->tasks[t].id != id) t++;
    dag_edit_inline(&p->fixture.edit, t);
}

static void inline_only(struct program_by_hand *p, uint64_t id) {
    dag_edit_clear(&p->fixture.edit, p->fixture.dag);
    inline_also(p, id);
}

// ---- permits

// Two have a permit, the third waits for the first to give it back, and wakes up in 10 ns.
static void play_permits(struct program_by_hand *p) {
    spawn(p, 100, 1);
    held(p, 1, 200);
    released(p, 1, 600);
    ends(p, 1, 700);
    spawn(p, 130, 2);
    held(p, 2, 250);
    released(p, 2, 800);
    ends(p, 2, 900);
    spawn(p, 160, 3);
    asks(p, 3, 300);
    gets(p, 3, 610);
    released(p, 3, 1000);
    ends(p, 3, 1100);
    open_awaiting(p, 3, 1100);
}

static void assert_permits_resized(struct program_by_hand *p) {
    assert_recorded(p);
    assert_cause(p, 610, 600);
    for (unsigned m = 0; m < 2; m++) {
        resize(p, 3);
        assert_int_equal(simulate(p, models[m]), DAG_OK);
        assert_now(p, 610, 300);
        assert_now(p, 1000, 690);
        assert_now(p, 800, 800);
        resize(p, 1);
        assert_int_equal(simulate(p, models[m]), DAG_OK);
        assert_now(p, 600, 600);
        assert_now(p, 250, 600 + WAKEUP_NS); // which did not wait then
        assert_now(p, 800, 630 + 550);
        assert_now(p, 610, 1180 + 10);
        assert_now(p, 1100, 1190 + 490);
        assert_now(p, 1130, 1680 + WAKEUP_NS);
    }
}

static void test_permits(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 2, 0);
    play_permits(&p);
    assert_permits_resized(&p);
    simulate_fixture_close(&p.fixture);
}

// One that asks for two permits gets them once both are there; a fair one does not let others pass.
static void play_two_at_once(struct program_by_hand *p) {
    spawn(p, 100, 1);
    held(p, 1, 200);
    released(p, 1, 600);
    ends(p, 1, 700);
    spawn(p, 130, 2);
    asks_as(p, 2, 300, R, want_operand(2, false, p->place));
    gets(p, 2, 620);
    put(p, 2, 800, EVENT_RELEASED, R, want_operand(2, false, p->place));
    ends(p, 2, 900);
    spawn(p, 160, 3);
    asks(p, 3, 400);
    gets(p, 3, 830);
    released(p, 3, 1000);
    ends(p, 3, 1100);
    open_awaiting(p, 3, 1100);
}

static void test_two_at_once(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 2, RESOURCE_FAIR);
    play_two_at_once(&p);
    assert_recorded(&p);
    assert_cause(&p, 620, 600);
    assert_cause(&p, 830, 800);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 3);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 620, 300);
        assert_now(&p, 830, 480 + 30); // what task 2 gives back
        resize(&p, 4);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 830, 400);
    }
    simulate_fixture_close(&p.fixture);
}

// Task 1 takes the permit, and task 2 gives it back.
static void test_another_thread_gives_back(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    released(&p, 2, 600);
    ends(&p, 2, 650);
    spawn(&p, 160, 3);
    asks(&p, 3, 300);
    gets(&p, 3, 610);
    released(&p, 3, 1000);
    ends(&p, 3, 1100);
    open_awaiting(&p, 3, 1100);
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 610, 300);
        assert_now(&p, 1000, 690);
    }
    simulate_fixture_close(&p.fixture);
}

// Of a connection pool of one, task 1 had the connection when recording began, and task 2 slept for it: what that took
// nothing told, and so its giving it back counts no more than its taking. Afterwards there is one still.
static void test_who_slept_for_a_connection_before(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_POOL, 1, 0);
    spawn(&p, 100, 1);
    released(&p, 1, 200);
    ends(&p, 1, 250);
    spawn(&p, 130, 2);
    released(&p, 2, 400);
    ends(&p, 2, 450);
    spawn(&p, 160, 3);
    held(&p, 3, 500);
    released(&p, 3, 700);
    ends(&p, 3, 750);
    spawn(&p, 190, 4);
    asks(&p, 4, 600);
    gets(&p, 4, 710);
    released(&p, 4, 900);
    ends(&p, 4, 950);
    open_awaiting(&p, 4, 950);
    assert_recorded(&p);
    assert_cause(&p, 710, 700);
    simulate_fixture_close(&p.fixture);
}

// ---- locks

// Task 1 has the lock, gives it back at 600 and takes it again at 610, while task 2, called at 600, wakes up until 650.
static void play_barging(struct program_by_hand *p) {
    spawn(p, 100, 1);
    held(p, 1, 200);
    released(p, 1, 600);
    held(p, 1, 610);
    released(p, 1, 700);
    ends(p, 1, 1005);
    spawn(p, 130, 2);
    asks(p, 2, 300);
    gets(p, 2, 750);
    released(p, 2, 900);
    ends(p, 2, 1000);
    open_awaiting(p, 2, 1000);
}

static void test_whoever_comes_has_an_unfair_lock(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_LOCK, 1, 0);
    play_barging(&p);
    assert_recorded(&p);
    assert_cause(&p, 750, 700);
    for (unsigned m = 0; m < 2; m++) {
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 610, 610);
        assert_now(&p, 750, 300);
    }
    simulate_fixture_close(&p.fixture);
}

// The same, had the lock been fair: it is task 2's from 600 on.
static void test_a_fair_lock_is_handed_over(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_LOCK, 1, RESOURCE_FAIR);
    play_barging(&p);
    for (unsigned m = 0; m < 2; m++) {
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 750, 650);
        assert_now(&p, 900, 800);
        assert_now(&p, 610, 800 + WAKEUP_NS);
        assert_now(&p, 700, 830 + 90);
    }
    simulate_fixture_close(&p.fixture);
}

// Task 2 was only blocked at it: where and for how long it has it is not told, and task 3 has it later.
static void test_a_blocked_thread_keeps_no_lock(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_LOCK, 1, 0);
    spawn(&p, 100, 1);
    put(&p, 1, 200, EVENT_HELD, R, one(&p));
    released(&p, 1, 400);
    ends(&p, 1, 450);
    spawn(&p, 130, 2);
    tb_event(p.tb, WORKERS + 2, 250, EVENT_BLOCK_BEGIN, R, 250 - p.awake_ns[2]);
    p.asked_ns[2] = 250;
    wakes(&p, 2, 420, EVENT_BLOCK_END, R);
    ends(&p, 2, 500);
    spawn(&p, 160, 3);
    put(&p, 3, 700, EVENT_HELD, R, one(&p));
    released(&p, 3, 750);
    ends(&p, 3, 800);
    open_awaiting(&p, 3, 800);
    for (unsigned m = 0; m < 2; m++) {
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 500, 500);
        assert_now(&p, 700, 700);
    }
    simulate_fixture_close(&p.fixture);
}

// Task 2 waits for a monitor that code of the JDK's takes, and ends: it has given that back, though nothing tells so,
// and no thread takes it later.
static void test_an_ended_task_keeps_no_monitor(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_MONITOR, 1, 0);
    spawn(&p, 100, 1);
    put(&p, 1, 200, EVENT_HELD, R, one(&p));
    released(&p, 1, 400);
    ends(&p, 1, 450);
    spawn(&p, 130, 2);
    asks(&p, 2, 250);
    gets(&p, 2, 420);
    ends(&p, 2, 500);
    open_awaiting(&p, 2, 500);
    assert_true(p.fixture.dag->resources[resource_of(&p, R)].tells_holds);
    for (uint32_t i = 0; i < p.fixture.dag->ask_count; i++)
        assert_int_equal(p.fixture.dag->asks[i].units, p.fixture.dag->asks[i].asked == DAG_NONE);
    assert_recorded(&p);
    simulate_fixture_close(&p.fixture);
}

// Tasks 1 and 2 get a lock, one at once and the other by waiting, and end without that a release is told, as where the
// tracer lost it: a thread that comes later gets it all the same.
static void test_a_lost_release_keeps_no_lock(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_LOCK, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    ends(&p, 1, 250);
    spawn(&p, 130, 2);
    asks(&p, 2, 240);
    gets(&p, 2, 260);
    ends(&p, 2, 300);
    spawn(&p, 160, 3);
    held(&p, 3, 400);
    released(&p, 3, 450);
    ends(&p, 3, 500);
    open_awaiting(&p, 3, 500);
    for (uint32_t i = 0; i < p.fixture.dag->ask_count; i++)
        assert_int_equal(p.fixture.dag->asks[i].units, p.fixture.dag->asks[i].released != DAG_NONE);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
    }
    simulate_fixture_close(&p.fixture);
}

// The first task of a worker gets a monitor, and its second one gives it back: what lies between was not told.
static void test_a_monitor_is_kept_for_no_later_task(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_MONITOR, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    ends(&p, 1, 250);
    tb_event(p.tb, MAIN, 130, EVENT_SPAWN_BEGIN, 3, p.site, p.pool);
    tb_event(p.tb, MAIN, 150, EVENT_SPAWN_END, 3);
    tb_event(p.tb, WORKERS + 1, 300, EVENT_TASK_START, 3, 191);
    released(&p, 1, 400);
    tb_event(p.tb, WORKERS + 1, 450, EVENT_TASK_END, 3, 341);
    spawn(&p, 160, 2);
    held(&p, 2, 500);
    released(&p, 2, 550);
    ends(&p, 2, 600);
    open_awaiting(&p, 2, 600);
    for (uint32_t i = 0; i < p.fixture.dag->ask_count; i++) {
        const struct dag_ask *ask = &p.fixture.dag->asks[i];
        assert_int_equal(ask->units, p.fixture.dag->vertices.time_ns[ask->got] == 500);
    }
    for (unsigned m = 0; m < 2; m++) assert_int_equal(simulate(&p, models[m]), DAG_OK);
    simulate_fixture_close(&p.fixture);
}

// Readers 1 and 2 have it, writer 3 waits for both, and reader 4 for the writer that came before it.
static void test_a_lock_for_readers_and_writers(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_READ_WRITE_LOCK, 1, 0);
    uint64_t reads = want_operand(1, true, p.place);
    spawn(&p, 100, 1);
    put(&p, 1, 200, EVENT_HELD, R, reads);
    put(&p, 1, 500, EVENT_RELEASED, R, reads);
    ends(&p, 1, 550);
    spawn(&p, 130, 2);
    put(&p, 2, 250, EVENT_HELD, R, reads);
    put(&p, 2, 600, EVENT_RELEASED, R, reads);
    ends(&p, 2, 650);
    spawn(&p, 160, 3);
    asks(&p, 3, 300);
    gets(&p, 3, 620);
    released(&p, 3, 800);
    ends(&p, 3, 850);
    spawn(&p, 190, 4);
    asks_as(&p, 4, 400, R, reads);
    gets(&p, 4, 830);
    put(&p, 4, 950, EVENT_RELEASED, R, reads);
    ends(&p, 4, 1000);
    open_awaiting(&p, 4, 1000);
    assert_recorded(&p);
    assert_cause(&p, 620, 600);
    assert_cause(&p, 830, 800);
    for (unsigned m = 0; m < 2; m++) {
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 620, 300);
        assert_now(&p, 830, 400);
        inline_only(&p, 3);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 620, 620);
        assert_now(&p, 400, 850 + 10 + 210); // task 4 is spawned behind it, when all have gone
        assert_now(&p, 830, now(&p, 400));
    }
    simulate_fixture_close(&p.fixture);
}

// A lock that its thread has already costs nothing, and is given back when the outer hold is.
static void test_a_lock_is_had_twice(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_LOCK, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    held(&p, 1, 250);
    released(&p, 1, 320);
    released(&p, 1, 600);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    asks(&p, 2, 270);
    gets(&p, 2, 610);
    released(&p, 2, 900);
    ends(&p, 2, 1000);
    open_awaiting(&p, 2, 1000);
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    for (unsigned m = 0; m < 2; m++) {
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 610, 270);
    }
    simulate_fixture_close(&p.fixture);
}

// The first contention is the first that is known of a lock: task 1 had it before, and only gives it back, at last. So
// no other has it beside task 2.
static void a_lock_that_was_held_before(uint64_t inner_block_ends_ns) {
    struct program_by_hand p = begin(3, RESOURCE_MONITOR, 1, 0);
    spawn(&p, 100, 1);
    if (inner_block_ends_ns) released(&p, 1, inner_block_ends_ns);
    released(&p, 1, 600);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    asks(&p, 2, 300);
    gets(&p, 2, 610);
    released(&p, 2, 900);
    ends(&p, 2, 1000);
    spawn(&p, 160, 3);
    asks(&p, 3, 650);
    gets(&p, 3, 930);
    released(&p, 3, 1100);
    ends(&p, 3, 1200);
    open_awaiting(&p, 3, 1200);
    assert_int_equal(p.fixture.dag->resources[0].initial, 1);
    const struct dag_ask *ask = &p.fixture.dag->asks[inner_block_ends_ns != 0];
    assert_int_equal(p.fixture.dag->vertices.time_ns[ask->had_at], 110); // as it starts
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    assert_cause(&p, 930, 900);
    for (unsigned m = 0; m < 2; m++) {
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 610, 300);
        assert_now(&p, 930, 340 + 310); // task 3 asks 490 ns after its start
    }
    simulate_fixture_close(&p.fixture);
}

static void test_a_lock_that_was_held_before(void **state) {
    (void)state;
    a_lock_that_was_held_before(0);
}

// Its holder tells of each block of it that it leaves, and gives it back with the last.
static void test_a_lock_that_was_held_before_and_is_left_twice(void **state) {
    (void)state;
    a_lock_that_was_held_before(450);
}

// The task that had the lock before comes behind the one that waited for it then, which has it at once now.
static void test_a_lock_that_was_held_before_is_free_when_its_holder_comes_later(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_MONITOR, 1, 0);
    spawn(&p, 100, 1);
    asks(&p, 1, 300);
    gets(&p, 1, 610);
    released(&p, 1, 900);
    ends(&p, 1, 1000);
    spawn(&p, 130, 2);
    released(&p, 2, 600);
    ends(&p, 2, 700);
    open_awaiting(&p, 1, 1000);
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    for (unsigned m = 0; m < 2; m++) {
        inline_only(&p, 1); // 30 ns instead of a bracket of 20
        inline_also(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 300, 290);
        assert_now(&p, 610, 290);
        assert_now(&p, 900, 580);
    }
    simulate_fixture_close(&p.fixture);
}

// Nobody that is known has the lock while task 2 waits for 200 ns: it does so wherever it asks.
static void test_a_holder_that_is_not_known(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_LOCK, 1, 0);
    spawn(&p, 100, 1);
    ends(&p, 1, 140);
    spawn(&p, 160, 2);
    asks(&p, 2, 300);
    gets(&p, 2, 500);
    released(&p, 2, 600);
    ends(&p, 2, 700);
    spawn(&p, 190, 3);
    asks(&p, 3, 320);
    gets(&p, 3, 640);
    released(&p, 3, 900);
    ends(&p, 3, 1000);
    open_awaiting(&p, 3, 1000);
    assert_recorded(&p);
    assert_cause(&p, 640, 600);
    for (unsigned m = 0; m < 2; m++) {
        inline_only(&p, 1); // 30 ns instead of a bracket of 20
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 300, 310);
        assert_now(&p, 500, 510);
        assert_now(&p, 640, 650);
        unlock(&p);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 500, 300);
        assert_now(&p, 640, 320);
    }
    simulate_fixture_close(&p.fixture);
}

// What is done to permits is told from the first contention on, too.
static void test_a_permit_that_was_had_before(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 1, 0);
    spawn(&p, 100, 1);
    released(&p, 1, 600);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    asks(&p, 2, 300);
    gets(&p, 2, 610);
    released(&p, 2, 900);
    ends(&p, 2, 1000);
    open_awaiting(&p, 2, 1000);
    assert_int_equal(p.fixture.dag->resources[0].initial, 1);
    assert_true(p.fixture.dag->resources[0].goes_round);
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 610, 300);
    }
    simulate_fixture_close(&p.fixture);
}

// A semaphore of none, whose permits are given by tasks that took none: the capacity is the most that was given so.
static void test_permits_that_are_signals(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_PERMITS, 1, 0);
    spawn(&p, 100, 1);
    asks(&p, 1, 200);
    gets(&p, 1, 610);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    asks(&p, 2, 300);
    gets(&p, 2, 910);
    ends(&p, 2, 1000);
    spawn(&p, 550, 3);
    released(&p, 3, 600);
    ends(&p, 3, 650);
    spawn(&p, 850, 4);
    released(&p, 4, 900);
    ends(&p, 4, 950);
    open_awaiting(&p, 2, 1000);
    assert_int_equal(p.fixture.dag->resources[0].initial, 0);
    assert_false(p.fixture.dag->resources[0].goes_round);
    assert_non_null(dag_resize_resource_refusal(p.fixture.dag, 0));
    assert_recorded(&p);
    assert_cause(&p, 610, 600);
    assert_cause(&p, 910, 900);
    simulate_fixture_close(&p.fixture);
}

// ---- queues

static void put_by_main(struct program_by_hand *p, uint64_t time_ns) {
    tb_event(p->tb, MAIN, time_ns, EVENT_RELEASED, R, one(p));
}

// What is taken comes back: two objects that go round, which main puts there.
static void test_a_queue_of_objects(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_QUEUE, -1, 0);
    put_by_main(&p, 20);
    put_by_main(&p, 30);
    play_permits(&p);
    const struct dag_resource *queue = &p.fixture.dag->resources[0];
    assert_true(queue->goes_round);
    assert_int_equal(queue->kind, RESOURCE_POOL);
    assert_int_equal(queue->capacity, 2);
    assert_permits_resized(&p);
    simulate_fixture_close(&p.fixture);
}

// A connection is made while what asked for it waits: that wait has no holder, and what is made is one of the pool's.
static void test_connections_that_are_made_later(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_POOL, 2, 0);
    spawn(&p, 100, 1);
    asks(&p, 1, 200);
    gets(&p, 1, 250);
    released(&p, 1, 400);
    ends(&p, 1, 700);
    spawn(&p, 130, 2);
    asks(&p, 2, 210);
    gets(&p, 2, 300);
    released(&p, 2, 600);
    ends(&p, 2, 700);
    spawn(&p, 160, 3);
    asks(&p, 3, 310);
    gets(&p, 3, 410);
    released(&p, 3, 640);
    ends(&p, 3, 700);
    open_awaiting(&p, 3, 700);
    const struct dag *dag = p.fixture.dag;
    assert_int_equal(dag->resources[0].initial, 2);
    const int64_t unknown_ns[] = {50, 90, 0};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(dag->asks[i].units, 1);
        assert_int_equal(dag->asks[i].unknown_ns, unknown_ns[i]);
    }
    assert_recorded(&p);
    assert_cause(&p, 410, 400);
    simulate_fixture_close(&p.fixture);
}

// Task 1 gets a lock L of which no release is told, and then waits for a permit; task 2 asks for L later. Had L a place
// in the program, task 1 would be taken to have kept it until task 2 got it.
static void play_untold_lock(struct program_by_hand *p, uint64_t want) {
    enum { L = R + 1 };
    tb_resource(p->tb, L, RESOURCE_LOCK, 1, 0);
    spawn(p, 100, 1);
    asks_as(p, 1, 200, L, want);
    wakes(p, 1, 210, EVENT_ACQUIRED, L);
    asks(p, 1, 220);
    gets(p, 1, 400);
    released(p, 1, 500);
    ends(p, 1, 900);
    spawn(p, 130, 2);
    held(p, 2, 150);
    released(p, 2, 390);
    asks_as(p, 2, 600, L, want);
    wakes(p, 2, 610, EVENT_ACQUIRED, L);
    ends(p, 2, 900);
    open_awaiting(p, 2, 900);
}

static int64_t held_by_first(uint64_t site_of_lock) {
    struct program_by_hand p = begin(2, RESOURCE_PERMITS, 1, 0);
    play_untold_lock(&p, want_operand(1, false, site_of_lock ? p.place : 0));
    int64_t held_ns = -1;
    for (uint32_t i = 0; i < p.fixture.dag->ask_count; i++) {
        const struct dag_ask *ask = &p.fixture.dag->asks[i];
        if (ask->got != DAG_NONE && p.fixture.dag->vertices.time_ns[ask->got] == 210) held_ns = ask->held_ns;
    }
    simulate_fixture_close(&p.fixture);
    return held_ns;
}

static void test_a_lock_of_the_jdk_is_not_kept_over_a_wait(void **state) {
    (void)state;
    assert_int_equal(held_by_first(1), 400);
    assert_int_equal(held_by_first(0), 0);
}

// What is taken does not come back: messages, which come when they are put.
static void test_a_queue_of_messages(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_QUEUE, -1, 0);
    spawn(&p, 100, 1);
    asks(&p, 1, 200);
    gets(&p, 1, 410);
    asks(&p, 1, 450);
    gets(&p, 1, 520);
    held(&p, 1, 620);
    ends(&p, 1, 1000);
    spawn(&p, 130, 2);
    ends(&p, 2, 340);
    put_by_main(&p, 400);
    put_by_main(&p, 500);
    put_by_main(&p, 600);
    open_awaiting(&p, 1, 1000);
    const struct dag_resource *queue = &p.fixture.dag->resources[0];
    assert_false(queue->goes_round);
    assert_int_equal(queue->kind, RESOURCE_QUEUE);
    assert_non_null(dag_resize_resource_refusal(p.fixture.dag, 0));
    assert_recorded(&p);
    assert_cause(&p, 410, 400);
    assert_cause(&p, 520, 500);
    for (unsigned m = 0; m < 2; m++) {
        inline_only(&p, 2); // main puts all 180 ns later
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 400, 580);
        assert_now(&p, 410, 590);
        assert_now(&p, 450, 630);
        assert_now(&p, 520, 700);
        assert_now(&p, 620, 800); // was there when it was wanted then, and is by 20 ns
    }
    simulate_fixture_close(&p.fixture);
}

// ---- time limits

// Task 1 has the only permit from 200 to 600. Task 2 waits for 100 ns in vain, task 3 asks as late as 700, when task 4
// has it, and gets it in time.
static void play_limits(struct program_by_hand *p) {
    spawn(p, 100, 1);
    held(p, 1, 200);
    released(p, 1, 600);
    ends(p, 1, 620);
    spawn(p, 130, 2);
    limited(p, 2, 300, 100);
    gives_up(p, 2, 405);
    ends(p, 2, 430);
    spawn(p, 160, 4);
    held(p, 4, 640);
    released(p, 4, 710);
    ends(p, 4, 715);
    spawn(p, 540, 3);
    limited(p, 3, 700, 100);
    gets(p, 3, 720);
    released(p, 3, 900);
    ends(p, 3, 950);
    open_awaiting(p, 3, 950);
}

static void test_a_time_limit_that_is_met(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_PERMITS, 1, 0);
    play_limits(&p);
    assert_recorded(&p);
    assert_int_equal(p.fixture.simulation->outcomes_changed, 0);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_int_equal(p.fixture.simulation->outcomes_changed, 1);
        assert_now(&p, 405, 300); // and goes on as task 3 did from 720 to 950
        assert_int_equal(kind_of(&p, 405), VERTEX_ACQUIRED);
        assert_now(&p, 430, 530);
        assert_now(&p, 720, 700);
    }
    simulate_fixture_close(&p.fixture);
}

// The reverse: with one permit less tasks 3 and 4 give up, which take no longer than task 2 for that.
static void test_a_time_limit_that_is_missed(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_PERMITS, 2, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 1600);
    ends(&p, 1, 1620);
    spawn(&p, 130, 4);
    held(&p, 4, 240);
    released(&p, 4, 710);
    ends(&p, 4, 715);
    spawn(&p, 160, 2);
    limited(&p, 2, 300, 100);
    gives_up(&p, 2, 405);
    ends(&p, 2, 430);
    spawn(&p, 540, 3);
    limited(&p, 3, 700, 100);
    gets(&p, 3, 720);
    released(&p, 3, 900);
    ends(&p, 3, 950);
    open_awaiting(&p, 3, 950);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 1);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_int_equal(p.fixture.simulation->outcomes_changed, 2);
        assert_int_equal(kind_of(&p, 720), VERTEX_GIVEN_UP);
        assert_now(&p, 405, 405);
        assert_now(&p, 720, 700 + 100 + WAKEUP_NS);
        assert_now(&p, 950, 830 + 25); // as task 2 ended
        assert_int_equal(kind_of(&p, 240), VERTEX_GIVEN_UP);
        assert_now(&p, 240, 240 + 100 + WAKEUP_NS);
        assert_now(&p, 715, 370 + 25);
    }
    simulate_fixture_close(&p.fixture);
}

// Nothing tells what task 2 would do with the permit, so it gives up as it did.
static void test_without_a_donor_the_outcome_stays(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_PERMITS, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 600);
    ends(&p, 1, 620);
    spawn(&p, 130, 2);
    tb_event(p.tb, WORKERS + 2, 299, EVENT_LIMIT, 100);
    asks_as(&p, 2, 300, R, want_operand(1, false, p.site));
    gives_up(&p, 2, 405);
    ends(&p, 2, 430);
    open_awaiting(&p, 1, 620);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 405, 405);
        assert_int_equal(p.fixture.simulation->outcomes_kept, 1);
        assert_int_equal(p.fixture.simulation->outcomes_changed, 0);
    }
    simulate_fixture_close(&p.fixture);
}

// Nothing tells what task 2 would do without the permit, so it waits on until it has it.
static void test_without_a_donor_a_limit_passes(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 2, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 600);
    ends(&p, 1, 620);
    spawn(&p, 130, 2);
    limited(&p, 2, 300, 100);
    gets(&p, 2, 360);
    released(&p, 2, 400);
    ends(&p, 2, 430);
    spawn(&p, 160, 3);
    held(&p, 3, 250);
    released(&p, 3, 350);
    ends(&p, 3, 440);
    open_awaiting(&p, 1, 620);
    assert_recorded(&p);
    assert_int_equal(p.fixture.simulation->outcomes_kept, 0);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 1);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 350, 600 + WAKEUP_NS + 100);
        assert_now(&p, 360, 730 + 10);
        assert_int_equal(p.fixture.simulation->outcomes_kept, 2); // task 3 asks at the same place
        assert_int_equal(p.fixture.simulation->outcomes_changed, 0);
    }
    simulate_fixture_close(&p.fixture);
}

// Something unknown has the permit while task 2 waits for it in vain, and is there whatever the number of permits is.
static void test_what_is_not_known_lasts_as_long(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 1, 0);
    spawn(&p, 130, 2);
    limited(&p, 2, 300, 100);
    gives_up(&p, 2, 405);
    ends(&p, 2, 430);
    spawn(&p, 160, 3);
    limited(&p, 3, 500, 100);
    gets(&p, 3, 605); // late, and yet it got it
    released(&p, 3, 650);
    ends(&p, 3, 680);
    open_awaiting(&p, 3, 680);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_now(&p, 405, 405);
        assert_now(&p, 605, 605);
        assert_int_equal(p.fixture.simulation->outcomes_changed, 0);
    }
    simulate_fixture_close(&p.fixture);
}

// Time is up in the instant in which the permit comes: it counts that it came.
static void test_the_grant_counts(void **state) {
    (void)state;
    struct program_by_hand p = begin(4, RESOURCE_PERMITS, 2, RESOURCE_FAIR);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 600);
    ends(&p, 1, 620);
    spawn(&p, 130, 2);
    limited(&p, 2, 240, 50);
    gives_up(&p, 2, 290);
    ends(&p, 2, 310);
    spawn(&p, 160, 3);
    limited(&p, 3, 500, 100);
    gets(&p, 3, 605);
    released(&p, 3, 650);
    ends(&p, 3, 680);
    open_awaiting(&p, 3, 680);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 1);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_int_equal(kind_of(&p, 605), VERTEX_ACQUIRED);
        assert_now(&p, 605, 605);
        assert_int_equal(kind_of(&p, 290), VERTEX_GIVEN_UP);
        assert_int_equal(p.fixture.simulation->outcomes_changed, 0);
    }
    simulate_fixture_close(&p.fixture);
}

// ---- what never comes

// Each of two workers holds two of four permits; of two they hold one each, and wait for ever.
static void test_workers_wait_for_what_they_hold(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_PERMITS, 4, 0);
    for (uint64_t task = 1; task <= 2; task++) {
        spawn(&p, 70 + 30 * task, task);
        held(&p, task, 200 + 10 * task);
        held(&p, task, 300 + 10 * task);
        released(&p, task, 400 + 10 * task);
        released(&p, task, 500 + 10 * task);
        ends(&p, task, 600 + 10 * task);
    }
    open_awaiting(&p, 2, 620);
    assert_recorded(&p);
    assert_int_equal(p.fixture.simulation->starvation.times, 0);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 3);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_int_equal(p.fixture.simulation->starvation.times, 0);
        assert_now(&p, 320, 410 + WAKEUP_NS);
        resize(&p, 2);
        assert_int_equal(simulate(&p, models[m]), DAG_DEADLOCK);
        const struct starvation *starvation = &p.fixture.simulation->starvation;
        assert_int_equal(starvation->times, 1);
        assert_int_equal(starvation->pool, p.pool);
        assert_int_equal(starvation->resource, resource_of(&p, R));
        resize(&p, 4);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_int_equal(p.fixture.simulation->starvation.times, 0);
    }
    simulate_fixture_close(&p.fixture);
}

// Task 1 keeps its permit, and with one less there is none left for task 2; task 3 waits when recording ends.
static void test_what_never_comes(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 2, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    ends(&p, 1, 600);
    spawn(&p, 130, 2);
    held(&p, 2, 250);
    ends(&p, 2, 700);
    spawn(&p, 160, 3);
    asks(&p, 3, 300);
    open_awaiting(&p, 1, 600);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 1);
        assert_int_equal(simulate(&p, models[m]), DAG_DEADLOCK);
        assert_int_equal(p.fixture.simulation->starvation.times, 0); // task 1 holds none any more that it could give
    }
    simulate_fixture_close(&p.fixture);
}

// Task 2 was cut as the recording ended, and has a permit still: it ends when it would have, and gives it back then.
static void assert_cut_gives_back(struct program_by_hand p) {
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 700);
    ends(&p, 1, 900);
    spawn(&p, 5000, 2);
    held(&p, 2, 5100);
    spawn(&p, 5200, 3);
    held(&p, 3, 5300);
    released(&p, 3, 5350);
    ends(&p, 3, 5400);
    open_awaiting(&p, 3, 5400);
    assert_recorded(&p);
    for (unsigned m = 0; m < 2; m++) {
        resize(&p, 1);
        assert_int_equal(simulate(&p, models[m]), DAG_OK);
        assert_true(now(&p, 5300) >= 6000);
    }
    simulate_fixture_close(&p.fixture);
}

static void test_what_was_cut_gives_back(void **state) {
    (void)state;
    assert_cut_gives_back(begin(3, RESOURCE_PERMITS, 2, 0));
}

// Tasks that a library hands over from a thread of its own have no site: their class tells which others are like it.
static void test_what_was_cut_without_a_site_gives_back(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_PERMITS, 2, 0);
    p.task_class = tb_class(p.tb, "Exchange");
    p.site = 0;
    assert_cut_gives_back(p);
}

// What a task waited for that was under way as recording began, and whose end went unseen, is no wait with a limit: it
// takes nothing, and no thread has it.
static void test_a_wait_that_ended_unseen(void **state) {
    (void)state;
    struct program_by_hand p = begin(2, RESOURCE_PERMITS, 1, 0);
    tb_running(p.tb, 1);
    tb_thread(p.tb, WORKERS + 1, "pool-1-thread", 0);
    tb_event(p.tb, WORKERS + 1, 5, EVENT_WORKER_BEGIN, p.pool);
    tb_event(p.tb, WORKERS + 1, 10, EVENT_TASK_START, 1, 1);
    p.awake_ns[1] = 9;
    asks(&p, 1, 20);
    tb_event(p.tb, WORKERS + 1, 300, EVENT_GIVEN_UP, R, 40, GIVEN_UP_OTHER);
    tb_event(p.tb, WORKERS + 1, 310, EVENT_TASK_END, 1, 50);
    spawn(&p, 130, 2);
    held(&p, 2, 240);
    released(&p, 2, 710);
    ends(&p, 2, 715);
    spawn(&p, 400, 3);
    asks(&p, 3, 500);
    gets(&p, 3, 740);
    released(&p, 3, 800);
    ends(&p, 3, 950);
    open_awaiting(&p, 3, 950);
    assert_recorded(&p);
    assert_false(p.fixture.dag->asks[0].given_up);
    assert_int_equal(p.fixture.dag->asks[0].units, 0);
    for (uint32_t i = 0; i < p.fixture.dag->ask_count; i++) assert_true(p.fixture.dag->asks[i].limit_ns == INT64_MAX);
    simulate_fixture_close(&p.fixture);
}

// Task 1 had begun before recording did, and is known from 250 on only: until then it has nothing, though of what it
// gives back no taking is told.
static void test_what_was_taken_up_unseen(void **state) {
    (void)state;
    const struct {
        enum resource_kind kind;
        int64_t capacity;
    } of[] = {{RESOURCE_LOCK, 1}, {RESOURCE_PERMITS, 1}};
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        struct program_by_hand p = begin(2, of[i].kind, of[i].capacity, 0);
        spawn(&p, 130, 2);
        asks(&p, 2, 200);
        gets(&p, 2, 330);
        released(&p, 2, 500);
        ends(&p, 2, 550);
        tb_running(p.tb, 1);
        tb_thread(p.tb, WORKERS + 1, "pool-1-thread", 0);
        tb_event(p.tb, WORKERS + 1, 5, EVENT_WORKER_BEGIN, p.pool);
        tb_event(p.tb, WORKERS + 1, 250, EVENT_TASK_START, 1, 1);
        p.awake_ns[1] = 249;
        released(&p, 1, 300);
        ends(&p, 1, 350);
        open_awaiting(&p, 2, 550);
        assert_recorded(&p);
        const struct dag *dag = p.fixture.dag;
        assert_int_equal(dag->resources[resource_of(&p, R)].initial, 1);
        const struct dag_ask *alone = &dag->asks[dag->asks[0].got == DAG_NONE ? 0 : 1];
        assert_int_equal(dag->vertices.kind[alone->had_at], VERTEX_START);
        assert_int_equal(dag->vertices.time_ns[alone->had_at], 250);
        simulate_fixture_close(&p.fixture);
    }
}

// Task 2 has it as well, as the JVM itself does that loads a class: its release is not told. So of this monitor only
// waits are known, and nobody waits for ever for what task 2 seems to have.
static void test_a_monitor_whose_releases_are_told_in_part(void **state) {
    (void)state;
    struct program_by_hand p = begin(3, RESOURCE_MONITOR, 1, 0);
    spawn(&p, 100, 1);
    held(&p, 1, 200);
    released(&p, 1, 400);
    ends(&p, 1, 1100);
    spawn(&p, 130, 2);
    asks(&p, 2, 300);
    gets(&p, 2, 410);
    ends(&p, 2, 900);
    spawn(&p, 160, 3);
    held(&p, 3, 500);
    released(&p, 3, 650);
    ends(&p, 3, 800);
    open_awaiting(&p, 1, 1100);
    assert_false(p.fixture.dag->resources[resource_of(&p, R)].tells_holds);
    assert_recorded(&p);
    simulate_fixture_close(&p.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_cut_gives_back),
        cmocka_unit_test(test_what_was_cut_without_a_site_gives_back),
        cmocka_unit_test(test_a_wait_that_ended_unseen),
        cmocka_unit_test(test_what_was_taken_up_unseen),
        cmocka_unit_test(test_a_monitor_whose_releases_are_told_in_part),
        cmocka_unit_test(test_permits),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_another_thread_gives_back),
        cmocka_unit_test(test_who_slept_for_a_connection_before),
        cmocka_unit_test(test_whoever_comes_has_an_unfair_lock),
        cmocka_unit_test(test_a_fair_lock_is_handed_over),
        cmocka_unit_test(test_a_blocked_thread_keeps_no_lock),
        cmocka_unit_test(test_an_ended_task_keeps_no_monitor),
        cmocka_unit_test(test_a_lost_release_keeps_no_lock),
        cmocka_unit_test(test_a_monitor_is_kept_for_no_later_task),
        cmocka_unit_test(test_a_lock_for_readers_and_writers),
        cmocka_unit_test(test_a_lock_is_had_twice),
        cmocka_unit_test(test_a_lock_that_was_held_before),
        cmocka_unit_test(test_a_lock_that_was_held_before_and_is_left_twice),
        cmocka_unit_test(test_a_lock_that_was_held_before_is_free_when_its_holder_comes_later),
        cmocka_unit_test(test_a_permit_that_was_had_before),
        cmocka_unit_test(test_permits_that_are_signals),
        cmocka_unit_test(test_a_holder_that_is_not_known),
        cmocka_unit_test(test_a_queue_of_objects),
        cmocka_unit_test(test_connections_that_are_made_later),
        cmocka_unit_test(test_a_lock_of_the_jdk_is_not_kept_over_a_wait),
        cmocka_unit_test(test_a_queue_of_messages),
        cmocka_unit_test(test_a_time_limit_that_is_met),
        cmocka_unit_test(test_a_time_limit_that_is_missed),
        cmocka_unit_test(test_without_a_donor_the_outcome_stays),
        cmocka_unit_test(test_without_a_donor_a_limit_passes),
        cmocka_unit_test(test_what_is_not_known_lasts_as_long),
        cmocka_unit_test(test_the_grant_counts),
        cmocka_unit_test(test_workers_wait_for_what_they_hold),
        cmocka_unit_test(test_what_never_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
