// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs solved by hand: the arithmetic is in the comments, and is never regenerated from the program's answers. All
// times are ns; "spawn 100..130" is a bracket, "T" what the edit makes of a recorded time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "by_hand.h"
#include "dag/build/builder.h"
#include "dag/graph.h"
#include "dag/propagate/deadlock.h"
#include "dag/propagate/propagate.h"
#include "dag/write.h"
#include "random_trace.h"

enum { MAIN = HAND_MAIN, WORKER = HAND_FIRST, OTHER = HAND_SECOND }; // threads
enum { M = HAND_M };                                                 // main's task

// Nothing edited, all is as recorded.
static void check_recorded(struct by_hand *f) {
    assert_int_equal(dag_propagate(f->fixture.dag, &f->fixture.edit, &f->fixture.run), DAG_OK);
    for (uint32_t v = 0; v < f->fixture.dag->vertex_count; v++)
        assert_int_equal(f->fixture.run.time_ns[v], f->fixture.dag->vertices.time_ns[v]);
}

static void build(struct by_hand *f) {
    simulate_fixture_open(&f->fixture, f->tb);
    check_recorded(f);
}

static uint32_t task_index(const struct dag *dag, uint64_t id) {
    uint32_t t = 0;
    while (t < dag->task_count && dag->tasks[t].id != id) t++;
    return t < dag->task_count ? t : DAG_NONE;
}

static struct dag_task *task(const struct by_hand *f, uint64_t id) {
    uint32_t t = task_index(f->fixture.dag, id);
    assert_true(t != DAG_NONE);
    return &f->fixture.dag->tasks[t];
}

static const struct dag_thread *thread_of(const struct by_hand *f, uint32_t id) {
    for (uint32_t i = 0; i < f->fixture.dag->thread_count; i++) {
        uint32_t stream = f->fixture.dag->threads[i].stream;
        if (stream != DAG_NONE && f->fixture.trace->streams[stream].id == id) return &f->fixture.dag->threads[i];
    }
    fail_msg("no thread %u", id);
    return NULL;
}

// The last vertex of a thread that was recorded at a time.
static uint32_t vertex(const struct by_hand *f, uint32_t thread_id, int64_t recorded_ns) {
    const struct dag_thread *thread = thread_of(f, thread_id);
    for (uint32_t v = thread->first + thread->count; v-- > thread->first;) {
        if (f->fixture.dag->vertices.time_ns[v] == recorded_ns) return v;
    }
    fail_msg("thread %u has no vertex at %ld", thread_id, (long)recorded_ns);
    return 0;
}

static void inline_task(struct by_hand *f, uint64_t id) {
    uint32_t t = task_index(f->fixture.dag, id);
    assert_null(dag_inline_refusal(f->fixture.dag, t));
    dag_edit_inline(&f->fixture.edit, t);
}

static void propagate(struct by_hand *f) {
    bool acyclic;
    struct error error = ERROR_INIT;
    assert_int_equal(dag_propagate(f->fixture.dag, &f->fixture.edit, &f->fixture.run), DAG_OK);
    must(graph_is_acyclic(f->fixture.dag, &f->fixture.edit, &acyclic, &error), &error);
    assert_true(acyclic);
}

#define assert_moved(f, thread, recorded_ns, expected_ns)                                                              \
    assert_int_equal((f)->fixture.run.time_ns[vertex((f), (thread), (recorded_ns))], (expected_ns))

// main: spawn 100..130 of task 7, whose worker is made in the bracket; waits for it.
static void add_simple(struct by_hand *f) {
    tb_event(f->tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f->tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f->site, f->pool);
    tb_event(f->tb, MAIN, 110, EVENT_SPAWN_BEGIN, 50, 0, 0);
    tb_event(f->tb, MAIN, 120, EVENT_SPAWN_END, 50);
    tb_event(f->tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f->tb, MAIN, 200, EVENT_WAIT_BEGIN, 7, 0, tb_wait(WAIT_FOR_TASK, f->site));
    tb_event(f->tb, MAIN, 1310, EVENT_WAIT_END, 7);
    tb_event(f->tb, MAIN, 1400, EVENT_THREAD_END);
    tb_event(f->tb, WORKER, 250, EVENT_THREAD_START, 50);
    tb_event(f->tb, WORKER, 260, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f->tb, WORKER, 1300, EVENT_RESULT, 7);
    tb_event(f->tb, WORKER, 1320, EVENT_TASK_END, 7);
    tb_event(f->tb, WORKER, 1330, EVENT_IDLE, f->pool);
}

// main sleeps 150..`until` on something of the class; `releases`: the task ends that at 1000.
static void add_sleep(struct by_hand *f, const char *class, uint64_t until, bool releases) {
    uint32_t slept_on = tb_class(f->tb, class);
    tb_event(f->tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f->tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f->site, f->pool);
    tb_event(f->tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f->tb, MAIN, 150, EVENT_WAIT_BEGIN, 9, 0, wait_operand(WAIT_FOR_RELEASE, slept_on, f->site));
    tb_event(f->tb, MAIN, until, EVENT_WAIT_END, 9);
    tb_event(f->tb, MAIN, 1500, EVENT_THREAD_END);
    tb_event(f->tb, WORKER, 50, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, WORKER, 300, EVENT_TASK_START, 7);
    if (releases) tb_event(f->tb, WORKER, 1000, EVENT_RESULT, 9);
    tb_event(f->tb, WORKER, 1320, EVENT_TASK_END, 7);
}

static void test_release(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_sleep(&f, "java.util.concurrent.CountDownLatch$Sync", 1010, true);
    build(&f);
    uint32_t woken = vertex(&f, MAIN, 1010);
    assert_int_equal(f.fixture.dag->vertices.cause[woken], vertex(&f, WORKER, 1000));
    assert_int_equal(f.fixture.dag->vertices.rule[woken], RULE_WAIT);
    assert_int_equal(task(&f, 9)->flags, TASK_NESTED | TASK_SIGNAL);
    assert_int_equal(task(&f, 9)->enclosing, task_index(f.fixture.dag, 7)); // who released it
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, MAIN, 150, 100 + 1020 + 20); // after the task's body
    assert_moved(&f, MAIN, 1010, 100 + 1020 + 20);
    simulate_fixture_close(&f.fixture);
}

static void test_release_of_a_permit(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_sleep(&f, "java.util.concurrent.Semaphore$NonfairSync", 1010, true);
    build(&f);
    assert_int_equal(f.fixture.dag->vertices.cause[vertex(&f, MAIN, 1010)], DAG_NONE);
    assert_int_equal(task(&f, 9)->flags,
                     TASK_NESTED | TASK_PERMIT | TASK_SIGNAL | TASK_OTHERS); // known, so that main waits for it
    simulate_fixture_close(&f.fixture);
}

static void test_sleep_that_nobody_ended(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_sleep(&f, "java.util.concurrent.CountDownLatch$Sync", 1010, false);
    build(&f);
    uint32_t woken = vertex(&f, MAIN, 1010);
    assert_int_equal(f.fixture.dag->vertices.cause[woken], DAG_NONE);
    assert_int_equal(f.fixture.dag->vertices.task[woken - 1], DAG_NONE);
    simulate_fixture_close(&f.fixture);
}

static void test_ends_without_beginning(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    for (uint64_t id = 5; id <= 6; id++) { // 5 is cancelled in the queue, 6 discarded from it
        tb_event(f.tb, MAIN, id * 100, EVENT_SPAWN_BEGIN, id, f.site, f.pool);
        tb_event(f.tb, MAIN, id * 100 + 10, EVENT_SPAWN_END, id, SPAWN_ACCEPTED);
    }
    tb_event(f.tb, MAIN, 700, EVENT_RESULT, 5);
    tb_event(f.tb, MAIN, 710, EVENT_SPAWN_END, 6, SPAWN_REJECTED);
    tb_event(f.tb, MAIN, 800, EVENT_THREAD_END);
    build(&f);
    assert_int_equal(task(&f, 5)->flags, TASK_UNFINISHED);
    assert_int_equal(task(&f, 5)->outcome, TASK_CANCELLED);
    assert_int_equal(task(&f, 6)->flags, TASK_REJECTED);
    simulate_fixture_close(&f.fixture);
}

static void test_shape(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_simple(&f);
    build(&f);
    assert_int_equal(f.fixture.dag->task_count, 2); // main and 7; the worker's run() is none
    assert_int_equal(task(&f, M)->flags, TASK_MAIN);
    const struct dag_task *seven = task(&f, 7);
    assert_int_equal(seven->spawner, task_index(f.fixture.dag, M));
    assert_int_equal(seven->start, vertex(&f, WORKER, 300));
    assert_int_equal(seven->pickup, seven->start);
    assert_int_equal(seven->end, vertex(&f, WORKER, 1320));
    assert_int_equal(seven->result, vertex(&f, WORKER, 1300));
    assert_int_equal(seven->spawn_begin, vertex(&f, MAIN, 100));
    assert_int_equal(seven->spawn_end, vertex(&f, MAIN, 130));
    assert_int_equal(seven->awaited, 1);
    assert_true(thread_of(&f, WORKER)->worker);
    assert_int_equal(thread_of(&f, WORKER)->pool, f.pool);
    assert_int_equal(f.fixture.dag->vertices.cause[thread_of(&f, WORKER)->first], vertex(&f, MAIN, 110));
    assert_int_equal(f.fixture.dag->wakeup_ns, 10); // 1310 - 1300
    char text[64];
    assert_string_equal(dag_site_text(f.fixture.dag, seven->site, text, sizeof text), "Main.run:12");
    assert_string_equal(dag_inline_refusal(f.fixture.dag, task_index(f.fixture.dag, M)), "it is main");
    simulate_fixture_close(&f.fixture);
}

// 7 starts at main's T 100. Its result comes 1000 later, 1100; it ends at 1120. The wait began 70 after the bracket:
// 1190. The result is there: no sleep, WAIT_END 1190 too. main ends 90 later: 1280. The worker has nothing left and is
// gone.
static void test_inline(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_simple(&f);
    build(&f);
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, WORKER, 300, 100);
    assert_moved(&f, WORKER, 1300, 1100);
    assert_moved(&f, WORKER, 1320, 1120);
    assert_moved(&f, MAIN, 200, 1190);
    assert_moved(&f, MAIN, 1310, 1190);
    assert_moved(&f, MAIN, 1400, 1280);
    assert_moved(&f, MAIN, 100, DAG_ABSENT);
    assert_moved(&f, MAIN, 110, DAG_ABSENT);
    assert_moved(&f, WORKER, 250, DAG_ABSENT);
    assert_moved(&f, WORKER, 1330, DAG_ABSENT);
    simulate_fixture_close(&f.fixture);
}

// A third thread waits for 7 as well. It is OTHER, a thread of main's (task 8), spawn 30..40, started at 60, waiting
// from 90 on, awake at 1325: 25 after the result. Inlined, the result is at 1100: awake at 1125, ends 75 later as
// before: 1200.
static void test_inline_with_another_waiting(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 30, EVENT_SPAWN_BEGIN, 8, f.site, 0);
    tb_event(f.tb, MAIN, 40, EVENT_SPAWN_END, 8);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 1300, EVENT_RESULT, 7);
    tb_event(f.tb, WORKER, 1320, EVENT_TASK_END, 7);
    tb_event(f.tb, OTHER, 60, EVENT_THREAD_START, 8);
    tb_event(f.tb, OTHER, 90, EVENT_WAIT_BEGIN, 7, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, OTHER, 1325, EVENT_WAIT_END, 7);
    tb_event(f.tb, OTHER, 1400, EVENT_THREAD_END, 8);
    build(&f);
    assert_int_equal(task(&f, 8)->flags, TASK_THREAD_RUN);
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, OTHER, 60, 60);
    assert_moved(&f, OTHER, 90, 90);
    assert_moved(&f, OTHER, 1325, 1125);
    assert_moved(&f, OTHER, 1400, 1200);
    assert_moved(&f, MAIN, 400, 1390); // 1120, and the 270 after the bracket
    simulate_fixture_close(&f.fixture);
}

// 7 spawns 9 (500..520) onto OTHER, which runs it 600..700; 7 takes its result at 900. Both inlined: 7 from T 100, 9
// from T 300 (200 into 7) to 400, the take at 400 + 380 = 780, 7's end 1320 - 900 later: 1200.
static void test_inline_two_in_a_chain(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 500, EVENT_SPAWN_BEGIN, 9, f.site, f.pool);
    tb_event(f.tb, WORKER, 520, EVENT_SPAWN_END, 9);
    tb_event(f.tb, WORKER, 900, EVENT_TAKEN, 9);
    tb_event(f.tb, WORKER, 1320, EVENT_TASK_END, 7);
    tb_event(f.tb, OTHER, 600, EVENT_TASK_START, 9);
    tb_event(f.tb, OTHER, 700, EVENT_TASK_END, 9);
    build(&f);
    inline_task(&f, 7);
    inline_task(&f, 9);
    propagate(&f);
    assert_moved(&f, OTHER, 600, 300);
    assert_moved(&f, OTHER, 700, 400);
    assert_moved(&f, WORKER, 900, 780);
    assert_moved(&f, WORKER, 1320, 1200);
    assert_moved(&f, MAIN, 400, 1470); // 1200 + 270
    simulate_fixture_close(&f.fixture);
}

// A worker runs 7 (300..400), idles from 410, gets 8 (spawned 600) at 650, starts it at 660, ends 800, idles at 805.
// With 7 inlined: main's second spawn comes at 200 + 470 = 670 instead of 600 (7 takes 100 and its bracket of 30 goes).
// The worker was made by 7's bracket, so it starts with the first spawn that is its own, 8's: T 670 + (250 - 110) =
// 810. BUSY: max(T(IDLE), T(spawn)) + 50: IDLE and BUSY are 8's pick-up and follow the start: IDLE = 810 + (410 - 400),
// since what precedes it is now 7's end's place: 820. BUSY = max(820, 670) + 50 = 870. Start 880, end 1020, idle 1025.
static void test_worker_that_keeps_a_task(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_BEGIN, 50, 0, 0);
    tb_event(f.tb, MAIN, 120, EVENT_SPAWN_END, 50);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 600, EVENT_SPAWN_BEGIN, 8, f.site, f.pool);
    tb_event(f.tb, MAIN, 620, EVENT_SPAWN_END, 8);
    tb_event(f.tb, MAIN, 900, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 250, EVENT_THREAD_START, 50);
    tb_event(f.tb, WORKER, 260, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 400, EVENT_TASK_END, 7);
    tb_event(f.tb, WORKER, 410, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 650, EVENT_BUSY, f.pool);
    tb_event(f.tb, WORKER, 660, EVENT_TASK_START, 8);
    tb_event(f.tb, WORKER, 800, EVENT_TASK_END, 8);
    tb_event(f.tb, WORKER, 805, EVENT_IDLE, f.pool);
    build(&f);
    assert_int_equal(task(&f, 8)->pickup, vertex(&f, WORKER, 410));
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, MAIN, 600, 670);
    assert_moved(&f, WORKER, 250, 810);
    assert_moved(&f, WORKER, 410, 820);
    assert_moved(&f, WORKER, 650, 870);
    assert_moved(&f, WORKER, 660, 880);
    assert_moved(&f, WORKER, 805, 1025);
    dag_edit_clear(&f.fixture.edit,
                   f.fixture.dag); // 8 alone: the worker keeps 7, then closes up: IDLE at 805 is 5 after T(400)
    inline_task(&f, 8);
    propagate(&f);
    assert_moved(&f, WORKER, 400, 400);
    assert_moved(&f, WORKER, 410, DAG_ABSENT);
    assert_moved(&f, WORKER, 650, DAG_ABSENT);
    assert_moved(&f, WORKER, 805, 405);
    assert_moved(&f, MAIN, 900, 1020); // 600 + 140 + 280
    simulate_fixture_close(&f.fixture);
}

// Thread 8 takes 7's result at 500, which was there at 340. main spawns 6 before (50..60), worked on for 1000. Inlined,
// 6 puts 7's spawn off from 100 to 100 + 990 = 1090; BUSY, 190 after it, to 1280; 7's start to 1290 and its result to
// 1330: the take must sleep and costs the mean wake-up. That is of 6's wait (main, 700, awake 40 after 1200): 40. So
// 1330 + 40 = 1370, and 8 ends 100 later.
static void test_taken_that_has_to_wait(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_thread(f.tb, 4, "pool-1-thread-2", 0);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 8, f.site, 0);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 8);
    tb_event(f.tb, MAIN, 50, EVENT_SPAWN_BEGIN, 6, f.site, f.pool);
    tb_event(f.tb, MAIN, 60, EVENT_SPAWN_END, 6);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 700, EVENT_WAIT_BEGIN, 6, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 1240, EVENT_WAIT_END, 6);
    tb_event(f.tb, MAIN, 1300, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 200, EVENT_TASK_START, 6);
    tb_event(f.tb, WORKER, 1200, EVENT_TASK_END, 6);
    tb_event(f.tb, 4, 35, EVENT_IDLE, f.pool);
    tb_event(f.tb, 4, 290, EVENT_BUSY, f.pool);
    tb_event(f.tb, 4, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, 4, 340, EVENT_TASK_END, 7);
    tb_event(f.tb, OTHER, 30, EVENT_THREAD_START, 8);
    tb_event(f.tb, OTHER, 500, EVENT_TAKEN, 7);
    tb_event(f.tb, OTHER, 600, EVENT_THREAD_END, 8);
    build(&f);
    assert_int_equal(f.fixture.dag->wakeup_ns, 40);
    inline_task(&f, 6);
    propagate(&f);
    assert_moved(&f, 4, 340, 1330);
    assert_int_equal(f.fixture.run.time_ns[vertex(&f, OTHER, 500) - 1], 500);
    assert_moved(&f, OTHER, 500, 1370);
    assert_moved(&f, OTHER, 600, 1470);
    simulate_fixture_close(&f.fixture);
}

// 7 spawns 9 (320..330) and helps: in its wait from 500 on it runs 9 itself, 510..600, and goes on at 620, ends at 700.
// With 9 inlined: 9 runs T 320..410; the wait begins 170 after: 580. The 10 before the helped body are 7's own time and
// stay, so the wait's end has 10 + 20 behind its begin; it did not sleep for 9 (END 600 is what precedes it): 610, 690.
static void test_helping_join(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 320, EVENT_SPAWN_BEGIN, 9, f.site, f.pool);
    tb_event(f.tb, WORKER, 330, EVENT_SPAWN_END, 9);
    tb_event(f.tb, WORKER, 500, EVENT_WAIT_BEGIN, 9, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, WORKER, 510, EVENT_TASK_START, 9);
    tb_event(f.tb, WORKER, 600, EVENT_TASK_END, 9);
    tb_event(f.tb, WORKER, 620, EVENT_WAIT_END, 9);
    tb_event(f.tb, WORKER, 700, EVENT_TASK_END, 7);
    build(&f);
    assert_int_equal(task(&f, 9)->enclosing, task_index(f.fixture.dag, 7));
    inline_task(&f, 9);
    propagate(&f);
    assert_moved(&f, WORKER, 510, 320);
    assert_moved(&f, WORKER, 600, 410);
    assert_moved(&f, WORKER, 500, 580);
    assert_moved(&f, WORKER, 620, 610);
    assert_moved(&f, WORKER, 700, 690);
    simulate_fixture_close(&f.fixture);
}

// 7 waits for the promise 77, which main completes after the spawn. Inlined, 7 would wait for its own spawner.
static void test_deadlock(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    struct error error = ERROR_INIT;
    uint32_t outer_site = tb_site(f.tb, "Main", "outer", 3);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 6, outer_site, f.pool);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 6);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, OTHER, 50, EVENT_TASK_START, 6);
    tb_event(f.tb, OTHER, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, OTHER, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, OTHER, 350, EVENT_RESULT, 6);
    tb_event(f.tb, OTHER, 400, EVENT_TASK_END, 6);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 310, EVENT_WAIT_BEGIN, 6, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, WORKER, 360, EVENT_WAIT_END, 6);
    tb_event(f.tb, WORKER, 370, EVENT_TASK_END, 7);
    build(&f);
    inline_task(&f, 7);
    assert_int_equal(dag_propagate(f.fixture.dag, &f.fixture.edit, &f.fixture.run), DAG_DEADLOCK);
    assert_int_equal(f.fixture.run.deadlock_length, 2);
    char text[128];
    assert_string_equal(dag_deadlock_text(f.fixture.dag, &f.fixture.run, text, sizeof text),
                        "Main.run:12 waits for Main.outer:3\n    Main.outer:3 waits for Main.run:12");
    bool acyclic;
    must(graph_is_acyclic(f.fixture.dag, &f.fixture.edit, &acyclic, &error), &error);
    assert_false(acyclic);
    dag_edit_clear(&f.fixture.edit, f.fixture.dag); // a verdict leaves nothing behind
    propagate(&f);
    assert_moved(&f, WORKER, 370, 370);
    simulate_fixture_close(&f.fixture);
}

// The worker's clock is behind: 7 seems to start at 90, before its spawn at 100. Start and what comes after it are put
// right by the least shifts: start 100 (by 10), spawn of 8 at 101 (by 6) and 102 (by 6), the rest as it was. The wait
// for 8 ended at 118, before a result that was recorded at 120: a result can be seen before its probe reads the clock,
// so the wait keeps its time, with the result as its cause, and comes 2 before it in any run.
static void test_skew(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 105, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 110, EVENT_WAIT_BEGIN, 8, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 118, EVENT_WAIT_END, 8);
    tb_event(f.tb, MAIN, 119, EVENT_WAIT_BEGIN, 9, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 130, EVENT_WAIT_END, 9);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 90, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 95, EVENT_SPAWN_BEGIN, 8, f.site, f.pool);
    tb_event(f.tb, WORKER, 96, EVENT_SPAWN_END, 8);
    tb_event(f.tb, WORKER, 107, EVENT_TASK_START, 8);
    tb_event(f.tb, WORKER, 120, EVENT_RESULT, 8);
    tb_event(f.tb, WORKER, 125, EVENT_TASK_END, 8);
    tb_event(f.tb, WORKER, 126, EVENT_TASK_END, 7);
    tb_event(f.tb, WORKER, 90000, EVENT_RESULT, 9); // too late to be skew: the wait for 9 gave up
    build(&f);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, 7)->start], 100);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, 8)->spawn_begin], 101);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, 8)->spawn_end], 102);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, 8)->start], 107);
    uint32_t wait_end = vertex(&f, MAIN, 118);
    assert_int_equal(f.fixture.dag->vertices.kind[wait_end], VERTEX_WAIT_END);
    assert_int_equal(f.fixture.dag->vertices.cause[wait_end], task(&f, 8)->result);
    assert_int_equal(f.fixture.dag->vertices.time_ns[wait_end + 1], 119);
    assert_int_equal(f.fixture.dag->vertices.cause[vertex(&f, MAIN, 130)], DAG_NONE);
    assert_int_equal(f.fixture.dag->skew_fixed, 3);
    assert_int_equal(f.fixture.dag->skew_worst_ns, 10);
    simulate_fixture_close(&f.fixture);
}

// main shuts the pool down at 500 and awaits its termination from 510; the worker, idle since 410, retires at 530 (30
// after), main goes on at 560 (30 after that), ends at 600. A second worker retires at 540 (40 after): the later one
// counts, so main's residual is 20. With 7 (300..400 on WORKER) inlined the shutdown comes at 500 + 100 - 30 = 570;
// WORKER is gone, OTHER retires at 570 + 40 = 610, main goes on at 630 and ends at 670.
static void test_pool_termination(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 50, EVENT_SPAWN_BEGIN, 6, f.site, f.pool);
    tb_event(f.tb, MAIN, 60, EVENT_SPAWN_END, 6);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 500, EVENT_POOL_SHUTDOWN, f.pool);
    tb_event(f.tb, MAIN, 510, EVENT_WAIT_BEGIN, f.pool, 0, tb_wait(WAIT_FOR_POOL, f.site));
    tb_event(f.tb, MAIN, 560, EVENT_WAIT_END, f.pool);
    tb_event(f.tb, MAIN, 600, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 250, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 400, EVENT_TASK_END, 7);
    tb_event(f.tb, WORKER, 410, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 530, EVENT_RETIRE, f.pool);
    tb_event(f.tb, OTHER, 70, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, OTHER, 80, EVENT_TASK_START, 6);
    tb_event(f.tb, OTHER, 90, EVENT_TASK_END, 6);
    tb_event(f.tb, OTHER, 95, EVENT_IDLE, f.pool);
    tb_event(f.tb, OTHER, 540, EVENT_RETIRE, f.pool);
    build(&f);
    const struct dag_thread *barriers = &f.fixture.dag->threads[f.fixture.dag->thread_count - 1];
    assert_int_equal(barriers->stream, DAG_NONE);
    assert_int_equal(barriers->count, 3);
    assert_true(barriers->system);
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, MAIN, 500, 570);
    assert_moved(&f, WORKER, 530, DAG_ABSENT);
    assert_moved(&f, OTHER, 540, 610);
    assert_moved(&f, MAIN, 560, 630);
    assert_moved(&f, MAIN, 600, 670);
    simulate_fixture_close(&f.fixture);
}

// What runs inside another task without having been submitted is no task, but whoever waits for it still finds its
// result. What a home-made queue brings to another thread's loop is a task.
static void test_nested_and_handed_over(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t class = tb_class(f.tb, "Main$Job");
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 8, f.site, 0);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 8);
    tb_event(f.tb, MAIN, 100, EVENT_TASK_CREATED, 9, class);
    tb_event(f.tb, MAIN, 200, EVENT_WAIT_BEGIN, 5, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 520, EVENT_WAIT_END, 5);
    tb_event(f.tb, MAIN, 900, EVENT_THREAD_END);
    tb_event(f.tb, OTHER, 30, EVENT_THREAD_START, 8);
    tb_event(f.tb, OTHER, 150, EVENT_TASK_START, 9);
    tb_event(f.tb, OTHER, 160, EVENT_TASK_CREATED, 4, class);
    tb_event(f.tb, OTHER, 170, EVENT_TASK_START, 4); // nobody asks for 4
    tb_event(f.tb, OTHER, 180, EVENT_TASK_END, 4);
    tb_event(f.tb, OTHER, 190, EVENT_TASK_START, 5);
    tb_event(f.tb, OTHER, 500, EVENT_TASK_END, 5);
    tb_event(f.tb, OTHER, 600, EVENT_TASK_END, 9);
    tb_event(f.tb, OTHER, 700, EVENT_THREAD_END, 8);
    build(&f);
    assert_int_equal(f.fixture.dag->task_count, 4); // main, 8, 9, and 5 for its result
    assert_int_equal(task(&f, 5)->flags, TASK_NESTED);
    assert_int_equal(task(&f, 5)->result, vertex(&f, OTHER, 500));
    assert_int_equal(f.fixture.dag->vertices.cause[vertex(&f, MAIN, 520)], vertex(&f, OTHER, 500));
    const struct dag_task *nine = task(&f, 9);
    assert_int_equal(nine->flags, TASK_HANDED_OVER);
    assert_int_equal(nine->spawn_begin, vertex(&f, MAIN, 100));
    assert_int_equal(nine->enclosing, task_index(f.fixture.dag, 8));
    assert_int_equal(f.fixture.dag->vertices.cause[nine->start], nine->spawn_begin);
    assert_string_equal(dag_inline_refusal(f.fixture.dag, task_index(f.fixture.dag, 9)),
                        "it was handed over without a spawn, by a queue of the program's own");
    assert_string_equal(dag_inline_refusal(f.fixture.dag, task_index(f.fixture.dag, 5)),
                        "it runs inside another task already");
    simulate_fixture_close(&f.fixture);
}

// A body that makes a FutureTask, runs it and takes its result waits for nobody: it can be split.
static void test_takes_its_own(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t class = tb_class(f.tb, "Main$Job");
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 600, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 100, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 110, EVENT_TASK_CREATED, 8, class);
    tb_event(f.tb, WORKER, 120, EVENT_TASK_START, 8);
    tb_event(f.tb, WORKER, 200, EVENT_RESULT, 8);
    tb_event(f.tb, WORKER, 210, EVENT_TASK_END, 8);
    tb_event(f.tb, WORKER, 220, EVENT_TAKEN, 8);
    tb_event(f.tb, WORKER, 500, EVENT_TASK_END, 7);
    build(&f);
    assert_int_equal(f.fixture.dag->task_count, 2);
    assert_null(dag_split_refusal(f.fixture.dag, task_index(f.fixture.dag, 7)));
    simulate_fixture_close(&f.fixture);
}

// main waits for task 7 for 100 at the most, gives up at 205, and cancels it at 210, within what clocks may differ by;
// then it waits for task 8, for 500 at the most, and has its result; a later wait has no limit. The cancelled task
// never ran, and nothing caused the end of the wait for it.
static void test_limited_waits(void **state) {
    (void)state;
    struct by_hand f = by_hand_begin(NULL, 2);
    by_hand_spawn(&f, MAIN, 10, 20, 7);
    by_hand_spawn(&f, MAIN, 30, 40, 8);
    tb_event(f.tb, MAIN, 99, EVENT_LIMIT, 100);
    tb_event(f.tb, MAIN, 100, EVENT_WAIT_BEGIN, 7, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 204, EVENT_TIMED_OUT, 7);
    tb_event(f.tb, MAIN, 205, EVENT_WAIT_END, 7);
    tb_event(f.tb, MAIN, 210, EVENT_RESULT, 7);
    tb_event(f.tb, MAIN, 219, EVENT_LIMIT, 500);
    tb_event(f.tb, MAIN, 220, EVENT_WAIT_BEGIN, 8, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, WORKER, 50, EVENT_TASK_START, 8);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_END, 8);
    tb_event(f.tb, MAIN, 310, EVENT_WAIT_END, 8);
    tb_event(f.tb, MAIN, 320, EVENT_WAIT_BEGIN, 8, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 330, EVENT_WAIT_END, 8);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    build(&f);
    const struct dag *dag = f.fixture.dag;
    assert_int_equal(dag->await_count, 2);
    assert_int_equal(dag->awaits[0].end, vertex(&f, MAIN, 205));
    assert_int_equal(dag->awaits[0].begin, vertex(&f, MAIN, 100));
    assert_int_equal(dag->awaits[0].limit_ns, 100);
    assert_true(dag->awaits[0].given_up);
    assert_int_equal(dag->vertices.cause[dag->awaits[0].end], DAG_NONE);
    assert_int_equal(dag_await_at(dag, vertex(&f, MAIN, 310)), 1);
    assert_int_equal(dag->awaits[1].limit_ns, 500);
    assert_false(dag->awaits[1].given_up);
    assert_int_equal(dag->vertices.cause[dag->awaits[1].end], task(&f, 8)->end);
    assert_int_equal(dag_await_at(dag, vertex(&f, MAIN, 330)), DAG_NONE);
    assert_true(dag_task_is_cancelled(dag, task(&f, 7)));
    assert_false(dag_task_is_cancelled(dag, task(&f, 8)));
    simulate_fixture_close(&f.fixture);
}

// main waits for task 7, for 100 at the most, then for 8, for 90, and finds the result of 9 ready: it would have waited
// for that for 100 at the most, too. Task 8 waits for 9 without a limit.
static void test_limits_of_taken_results(void **state) {
    (void)state;
    struct by_hand f = by_hand_begin(NULL, 2);
    for (uint32_t i = 0; i < 3; i++) by_hand_spawn(&f, MAIN, 10 + 10 * i, 15 + 10 * i, 7 + i);
    tb_event(f.tb, MAIN, 99, EVENT_LIMIT, 100);
    tb_event(f.tb, MAIN, 100, EVENT_WAIT_BEGIN, 7, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 120, EVENT_WAIT_END, 7);
    tb_event(f.tb, MAIN, 129, EVENT_LIMIT, 90);
    tb_event(f.tb, MAIN, 130, EVENT_WAIT_BEGIN, 8, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 140, EVENT_WAIT_END, 8);
    tb_event(f.tb, MAIN, 150, EVENT_TAKEN, 9);
    tb_event(f.tb, MAIN, 200, EVENT_THREAD_END);
    by_hand_task(&f, WORKER, 40, 115, 7);
    by_hand_start(&f, OTHER, 42, 8);
    tb_event(f.tb, OTHER, 50, EVENT_WAIT_BEGIN, 9, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, OTHER, 131, EVENT_WAIT_END, 9);
    tb_event(f.tb, OTHER, 132, EVENT_TAKEN, 7);
    by_hand_end(&f, OTHER, 135, 8);
    by_hand_task(&f, WORKER, 117, 128, 9);
    build(&f);
    const struct dag *dag = f.fixture.dag;
    assert_int_equal(dag->await_count, 3);
    assert_int_equal(dag->awaits[2].end, vertex(&f, MAIN, 150));
    assert_int_equal(dag->awaits[2].begin, dag->awaits[2].end - 1);
    assert_int_equal(dag->awaits[2].limit_ns, 100);
    assert_false(dag->awaits[2].given_up);
    assert_int_equal(dag->awaits[1].limit_ns, 90);
    simulate_fixture_close(&f.fixture);
}

static void test_refusals(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 1, f.site, f.pool);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 1, SPAWN_REJECTED);
    tb_event(f.tb, MAIN, 30, EVENT_SPAWN_BEGIN, 2, f.site, f.pool); // its end was lost
    tb_event(f.tb, MAIN, 50, EVENT_SPAWN_BEGIN, 3, f.site, f.pool);
    tb_event(f.tb, MAIN, 60, EVENT_SPAWN_BEGIN, 4, f.site, f.pool); // 3's hand-over hands 4 over
    tb_event(f.tb, MAIN, 70, EVENT_SPAWN_END, 4);
    tb_event(f.tb, MAIN, 80, EVENT_SPAWN_END, 3);
    tb_event(f.tb, MAIN, 90, EVENT_SPAWN_END, 77); // its begin was lost
    tb_event(f.tb, MAIN, 95, EVENT_WAIT_END, 77);
    tb_event(f.tb, WORKER, 100, EVENT_TASK_START, 4);
    tb_event(f.tb, WORKER, 110, EVENT_TASK_START, 3);
    tb_event(f.tb, WORKER, 120, EVENT_TASK_END, 3);
    tb_event(f.tb, WORKER, 130, EVENT_TASK_END, 4);
    tb_event(f.tb, WORKER, 140, EVENT_TASK_START, 6); // its spawn was lost
    tb_event(f.tb, WORKER, 150, EVENT_TASK_END, 6);
    tb_event(f.tb, WORKER, 160, EVENT_TASK_START, 2); // never ends
    tb_event(f.tb, WORKER, 170, EVENT_LOST, 5);
    build(&f);
    static const struct {
        uint64_t id;
        const char *refusal;
    } expected[] = {{1, "its pool rejected it"},
                    {2, "its end was not recorded"},
                    {3, "its hand-over does work for other tasks"},
                    {6, "its spawn was not recorded"},
                    {M, "it is main"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *refusal = dag_inline_refusal(f.fixture.dag, task_index(f.fixture.dag, expected[i].id));
        assert_non_null(refusal);
        assert_string_equal(refusal, expected[i].refusal);
    }
    assert_null(dag_inline_refusal(f.fixture.dag, task_index(f.fixture.dag, 4)));
    assert_int_equal(task(&f, 2)->spawn_end, task(&f, 2)->spawn_begin);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, 2)->end], 170); // its thread's last event
    assert_true(task(&f, M)->flags & TASK_UNFINISHED);
    assert_int_equal(f.fixture.dag->vertices.time_ns[task(&f, M)->end], 95);
    simulate_fixture_close(&f.fixture);
}

// A worker whose creation goes with 7's bracket, but which makes another thread before its first own task, keeps its
// recorded start, and so does not wait for a spawn that might depend on that other thread. A worker that spawns a task
// outside of any stays even without tasks.
static void test_workers_that_others_depend_on(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_BEGIN, 50, 0, 0);
    tb_event(f.tb, MAIN, 120, EVENT_SPAWN_END, 50);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 250, EVENT_THREAD_START, 50);
    tb_event(f.tb, WORKER, 260, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 310, EVENT_TASK_END, 7);
    tb_event(f.tb, WORKER, 320, EVENT_SPAWN_BEGIN, 51, 0, 0);
    tb_event(f.tb, WORKER, 325, EVENT_SPAWN_END, 51);
    tb_event(f.tb, WORKER, 330, EVENT_SPAWN_BEGIN, 8, f.site, f.pool);
    tb_event(f.tb, WORKER, 335, EVENT_SPAWN_END, 8);
    tb_event(f.tb, WORKER, 350, EVENT_TASK_START, 8);
    tb_event(f.tb, WORKER, 360, EVENT_TASK_END, 8);
    tb_event(f.tb, OTHER, 340, EVENT_THREAD_START, 51);
    tb_event(f.tb, OTHER, 345, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, OTHER, 350, EVENT_IDLE, f.pool);
    build(&f);
    assert_true(thread_of(&f, WORKER)->pinned);
    assert_true(thread_of(&f, OTHER)->worker);
    inline_task(&f, 7);
    propagate(&f);
    assert_moved(&f, WORKER, 250, 250);
    assert_moved(&f, WORKER, 320, 260); // 10 after 7's end's place
    assert_moved(&f, OTHER, 340, 280);  // 20 after its making
    inline_task(&f, 8);                 // at T 270, on the worker itself
    propagate(&f);
    assert_moved(&f, WORKER, 350, 270);
    assert_moved(&f, WORKER, 360, 280);
    simulate_fixture_close(&f.fixture);
}

static void test_contexts_and_sites(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t same_site = tb_site(f.tb, "Main", "run", 12);
    uint32_t a = tb_method(f.tb, "Main", "a"), b = tb_method(f.tb, "Main", "b");
    tb_event(f.tb, MAIN, 0, EVENT_ENTER, a); // the launcher's
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_BEGIN, 1, f.site, f.pool);
    tb_event(f.tb, MAIN, 21, EVENT_SPAWN_END, 1);
    uint64_t time_ns = 30;
    const uint32_t entered[] = {a, b, a, b}; // a -> b -> a -> b, folded to a -> b
    for (unsigned i = 0; i < 4; i++) tb_event(f.tb, MAIN, time_ns++, EVENT_ENTER, entered[i]);
    tb_event(f.tb, MAIN, 40, EVENT_SPAWN_BEGIN, 2, same_site, f.pool);
    tb_event(f.tb, MAIN, 41, EVENT_SPAWN_END, 2);
    tb_event(f.tb, MAIN, 50, EVENT_EXIT, b);
    tb_event(f.tb, MAIN, 51, EVENT_EXIT_THROW, a);
    tb_event(f.tb, MAIN, 60, EVENT_SPAWN_BEGIN, 3, f.site, f.pool); // a -> b
    tb_event(f.tb, MAIN, 61, EVENT_SPAWN_END, 3);
    tb_event(f.tb, MAIN, 70, EVENT_EXIT, b);
    tb_event(f.tb, MAIN, 80, EVENT_SPAWN_BEGIN, 4, f.site, f.pool); // a
    tb_event(f.tb, MAIN, 81, EVENT_SPAWN_END, 4);
    tb_event(f.tb, MAIN, 90, EVENT_EXIT, a);
    tb_event(f.tb, MAIN, 100, EVENT_THREAD_END);
    build(&f);
    assert_int_equal(task(&f, 1)->context, 0);
    assert_int_equal(task(&f, 2)->context, task(&f, 3)->context);
    assert_int_not_equal(task(&f, 3)->context, task(&f, 4)->context);
    assert_int_equal(f.fixture.dag->context_count, 3);
    const struct dag_context *context = &f.fixture.dag->contexts[task(&f, 2)->context];
    assert_int_equal(context->length, 2);
    assert_int_equal(context->methods[0], a);
    assert_int_equal(context->methods[1], b);
    assert_int_equal(f.fixture.dag->site_count, 1);
    assert_int_equal(f.fixture.dag->sites[0].task_count, 4);
    simulate_fixture_close(&f.fixture);
}

// main joins a worker's thread (its run() is no task): caused by that thread's last vertex.
static void test_join_of_a_worker(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 10, EVENT_SPAWN_BEGIN, 50, f.site, 0);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_END, 50);
    tb_event(f.tb, MAIN, 100, EVENT_WAIT_BEGIN, 50, 0, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 420, EVENT_WAIT_END, 50);
    tb_event(f.tb, MAIN, 500, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 30, EVENT_THREAD_START, 50);
    tb_event(f.tb, WORKER, 40, EVENT_WORKER_BEGIN, f.pool);
    tb_event(f.tb, WORKER, 400, EVENT_THREAD_END, 50);
    build(&f);
    assert_int_equal(f.fixture.dag->task_count, 1);
    assert_int_equal(f.fixture.dag->vertices.cause[vertex(&f, MAIN, 420)], vertex(&f, WORKER, 400));
    simulate_fixture_close(&f.fixture);
}

// ---- writing

static struct event *events_of(const struct trace *trace, uint32_t thread, size_t *count) {
    struct event *events = calloc(64, sizeof *events);
    struct error error = ERROR_INIT;
    assert_non_null(events);
    *count = 0;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id != thread) continue;
        struct trace_cursor cursor;
        trace_cursor_init(&cursor, trace, &trace->streams[s]);
        while (*count < 64 && trace_cursor_next(&cursor, &events[*count], &error)) ++*count;
    }
    return events;
}

struct expected_event {
    uint64_t time_ns;
    enum event_kind kind;
    uint64_t a, b;
};

static void assert_events(const struct trace *trace, uint32_t thread, const struct expected_event *expected, size_t n) {
    size_t count;
    struct event *events = events_of(trace, thread, &count);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(events[i].time, expected[i].time_ns);
        assert_int_equal(events[i].kind, expected[i].kind);
        assert_int_equal(events[i].operand[0], expected[i].a);
        assert_int_equal(events[i].operand[1], expected[i].b);
    }
    free(events);
}
#define ASSERT_EVENTS(trace, thread, ...)                                                                              \
    assert_events((trace), (thread), (const struct expected_event[]){__VA_ARGS__},                                     \
                  sizeof((const struct expected_event[]){__VA_ARGS__}) / sizeof(struct expected_event))

static struct trace *write_trace(const struct by_hand *f) {
    return written_edit(f->fixture.dag, &f->fixture.edit);
}

// 7 moves onto main: its TASK_CREATED and spawn are gone, the wait finds its result (taken). A function that the worker
// entered around it stays there, as does GC. Computing: main had 1000 when 7 began; 7 computed 500 of the worker's.
static void test_write_an_inlined_task(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t function = tb_method(f.tb, "Main", "work"), around = tb_method(f.tb, "Main", "hook");
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, 0, 45, EVENT_GC_BEGIN);
    tb_event(f.tb, 0, 55, EVENT_GC_END);
    tb_event(f.tb, MAIN, 0, EVENT_THREAD_START, 0, 1000);
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 20, EVENT_ENTER, function);
    tb_event(f.tb, MAIN, 30, EVENT_TASK_CREATED, 7, 0);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 150, EVENT_EXIT, function);
    tb_event(f.tb, MAIN, 200, EVENT_WAIT_BEGIN, 7, 1100, tb_wait(WAIT_FOR_TASK, f.site));
    tb_event(f.tb, MAIN, 720, EVENT_WAIT_END, 7, 1150);
    tb_event(f.tb, MAIN, 800, EVENT_THREAD_END, 0, 1200);
    tb_event(f.tb, WORKER, 60, EVENT_TASK_START, 5, 10);
    tb_event(f.tb, WORKER, 70, EVENT_TASK_END, 5, 20);
    tb_event(f.tb, WORKER, 80, EVENT_IDLE, f.pool);
    tb_event(f.tb, WORKER, 290, EVENT_BUSY, f.pool);
    tb_event(f.tb, WORKER, 295, EVENT_ENTER, around);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7, 100);
    tb_event(f.tb, WORKER, 310, EVENT_ENTER, function);
    tb_event(f.tb, WORKER, 690, EVENT_EXIT, function);
    tb_event(f.tb, WORKER, 700, EVENT_TASK_END, 7, 600);
    tb_event(f.tb, WORKER, 705, EVENT_EXIT, around);
    tb_event(f.tb, WORKER, 710, EVENT_IDLE, f.pool);
    build(&f);
    inline_task(&f, 7);
    propagate(&f);
    struct trace *written = write_trace(&f);
    assert_string_equal(written->header.origin, "estimated");
    ASSERT_EVENTS(written, MAIN, {0, EVENT_THREAD_START, 0, 1000}, {10, EVENT_MAIN_BEGIN, M, 0},
                  {20, EVENT_ENTER, function, 0}, {100, EVENT_TASK_START, 7, 1000}, {110, EVENT_ENTER, function, 0},
                  {490, EVENT_EXIT, function, 0}, {500, EVENT_TASK_END, 7, 1500}, {520, EVENT_EXIT, function, 0},
                  {570, EVENT_TAKEN, 7, 0}, {650, EVENT_THREAD_END, 0, 1700});
    ASSERT_EVENTS(written, WORKER, {60, EVENT_TASK_START, 5, 10}, {70, EVENT_TASK_END, 5, 20},
                  {71, EVENT_ENTER, around, 0}, {75, EVENT_EXIT, around, 0}, {80, EVENT_IDLE, f.pool, 0});
    ASSERT_EVENTS(written, 0, {45, EVENT_GC_BEGIN, 0, 0}, {55, EVENT_GC_END, 0, 0});
    struct by_hand again = {0};
    simulate_fixture_open_trace(&again.fixture, written);
    check_recorded(&again);
    assert_int_equal(task(&again, 7)->flags, TASK_NESTED);
    assert_int_equal(task(&again, 7)->awaited, 1);
    simulate_fixture_close(&again.fixture);
    simulate_fixture_close(&f.fixture);
}

// A task, main's end, and then a thread that nothing known starts. Returns the cause of its beginning.
static uint32_t cause_of_hook(struct by_hand *f, uint64_t last_of_worker, uint64_t period_ns) {
    enum { HOOK = 9, HOOK_RUN = 90 };
    tb_event(f->tb, MAIN, 1, EVENT_THREAD_START, 0);
    tb_event(f->tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f->tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f->site, f->pool);
    if (period_ns) tb_event(f->tb, MAIN, 120, EVENT_DUE, 7, 80, period_ns);
    tb_event(f->tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f->tb, MAIN, 300, EVENT_THREAD_END, M);
    tb_event(f->tb, WORKER, 140, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, WORKER, 150, EVENT_IDLE, f->pool);
    tb_event(f->tb, WORKER, 160, EVENT_BUSY, f->pool);
    tb_event(f->tb, WORKER, 200, EVENT_TASK_START, 7);
    tb_event(f->tb, WORKER, last_of_worker, EVENT_TASK_END, 7);
    tb_thread(f->tb, HOOK, "Cleaner", 0);
    tb_event(f->tb, HOOK, 500, EVENT_THREAD_START, HOOK_RUN);
    tb_event(f->tb, HOOK, 540, EVENT_THREAD_END, HOOK_RUN);
    build(f);
    return f->fixture.dag->vertices.cause[thread_of(f, HOOK)->first];
}

// What the JVM starts as it ends awaits the ends of all tasks but those that repeat, the last of them last; what others
// outlast does not.
static void test_shutdown_awaits_the_program_s_end(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    const uint32_t cause = cause_of_hook(&f, 400, 0);
    const struct dag_vertices *vertices = &f.fixture.dag->vertices;
    assert_int_not_equal(cause, DAG_NONE);
    assert_int_equal(vertices->kind[cause], VERTEX_BARRIER);
    assert_int_equal(vertices->cause[cause], task(&f, 7)->end);
    assert_int_equal(vertices->cause[cause - 1], task(&f, M)->end);
    const struct model model = {.kind =
                                    MODEL_POOL}; // in which the ends of a pool's tasks make no barrier of the pool's
    assert_int_equal(simulation_run(f.fixture.simulation, &f.fixture.edit, &model), DAG_OK);
    dag_edit_split(&f.fixture.edit, (uint32_t)(task(&f, 7) - f.fixture.dag->tasks), 2); // 7 itself ends no more
    assert_int_equal(simulation_run(f.fixture.simulation, &f.fixture.edit, &model), DAG_OK);
    simulate_fixture_close(&f.fixture);
    struct by_hand outlasted = by_hand_new(NULL, 2);
    assert_int_equal(cause_of_hook(&outlasted, 530, 0), DAG_NONE);
    simulate_fixture_close(&outlasted.fixture);
    struct by_hand repeats = by_hand_new(NULL, 2);
    const uint32_t barrier = cause_of_hook(&repeats, 400, 1000);
    assert_int_equal(repeats.fixture.dag->vertices.cause[barrier], task(&repeats, M)->end);
    simulate_fixture_close(&repeats.fixture);
}

// Run delays and samples lay no vertices. A block moves with its body and computes as that does; how long the
// worker waited for a core is the worker's. No edit: all is as it was.
static void test_write_blocks_and_run_delays(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    uint32_t account = tb_class(f.tb, "Account");
    tb_thread(f.tb, 0, "JVM", THREAD_SYSTEM);
    tb_event(f.tb, 0, 5, EVENT_SAMPLE, 1000, 2000, 30);
    tb_event(f.tb, MAIN, 0, EVENT_RUN_DELAY, 3);
    tb_event(f.tb, MAIN, 1, EVENT_THREAD_START, 0, 1000);
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 600, EVENT_RUN_DELAY, 9);
    tb_event(f.tb, MAIN, 601, EVENT_THREAD_END, 0, 1200);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7, 100);
    tb_event(f.tb, WORKER, 310, EVENT_BLOCK_BEGIN, 50, 150, account);
    tb_event(f.tb, WORKER, 319, EVENT_RUN_DELAY, 40);
    tb_event(f.tb, WORKER, 320, EVENT_BLOCK_END, 50, 160);
    tb_event(f.tb, WORKER, 400, EVENT_TASK_END, 7, 200);
    build(&f);
    assert_int_equal(thread_of(&f, WORKER)->count, 4);
    struct trace *same = write_trace(&f);
    ASSERT_EVENTS(same, 0, {5, EVENT_SAMPLE, 1000, 2000});
    ASSERT_EVENTS(same, WORKER, {300, EVENT_TASK_START, 7, 100}, {310, EVENT_BLOCK_BEGIN, 50, 150},
                  {319, EVENT_RUN_DELAY, 40, 0}, {320, EVENT_BLOCK_END, 50, 160}, {400, EVENT_TASK_END, 7, 200});
    trace_close(same);
    inline_task(&f, 7);
    propagate(&f);
    struct trace *written = write_trace(&f);
    ASSERT_EVENTS(written, MAIN, {0, EVENT_RUN_DELAY, 3, 0}, {1, EVENT_THREAD_START, 0, 1000},
                  {10, EVENT_MAIN_BEGIN, M, 0}, {100, EVENT_TASK_START, 7, 1000}, {110, EVENT_BLOCK_BEGIN, 50, 1050},
                  {120, EVENT_BLOCK_END, 50, 1060}, {200, EVENT_TASK_END, 7, 1100}, {670, EVENT_RUN_DELAY, 9, 0},
                  {671, EVENT_THREAD_END, 0, 1300});
    trace_close(written);
    simulate_fixture_close(&f.fixture);
}

// A thread's run() that moves becomes a body like others; a result that was taken and now has to be awaited is a wait.
static void test_write_a_thread_that_moved(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 20, EVENT_SPAWN_BEGIN, 6, f.site, f.pool);
    tb_event(f.tb, MAIN, 30, EVENT_SPAWN_END, 6);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 8, f.site, 0);
    tb_event(f.tb, MAIN, 130, EVENT_SPAWN_END, 8);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END);
    tb_event(f.tb, WORKER, 40, EVENT_TASK_START, 6);
    tb_event(f.tb, WORKER, 190, EVENT_TASK_END, 6);
    tb_event(f.tb, OTHER, 150, EVENT_THREAD_START, 8);
    tb_event(f.tb, OTHER, 195, EVENT_TAKEN, 6);
    tb_event(f.tb, OTHER, 250, EVENT_THREAD_END, 8);
    build(&f);
    inline_task(&f,
                8); // at T 100; takes 6 at 145, but that is there at 190 only: wakes at 190 (no wake-up was recorded)
    propagate(&f);
    struct trace *written = write_trace(&f);
    ASSERT_EVENTS(written, MAIN, {0, EVENT_MAIN_BEGIN, M, 0}, {20, EVENT_SPAWN_BEGIN, 6, f.site},
                  {30, EVENT_SPAWN_END, 6, 0}, {100, EVENT_TASK_START, 8, 0}, {145, EVENT_WAIT_BEGIN, 6, 0},
                  {190, EVENT_WAIT_END, 6, 0}, {245, EVENT_TASK_END, 8, 0}, {515, EVENT_THREAD_END, 0, 0});
    size_t count;
    free(events_of(written, OTHER, &count));
    assert_int_equal(count, 0);
    trace_close(written);
    simulate_fixture_close(&f.fixture);
}

// 7 helps with 9, whose end was lost: 7's, at 500, shows that it is over. Its result was recorded, so it is whole and
// may be inlined; the event at 500 stays 7's. main's thread starts by the same id as main.
static void test_write_a_body_without_its_end(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_event(f.tb, MAIN, 0, EVENT_THREAD_START, M);
    tb_event(f.tb, MAIN, 10, EVENT_MAIN_BEGIN, M);
    tb_event(f.tb, MAIN, 100, EVENT_SPAWN_BEGIN, 7, f.site, f.pool);
    tb_event(f.tb, MAIN, 110, EVENT_SPAWN_END, 7);
    tb_event(f.tb, MAIN, 150, EVENT_SPAWN_BEGIN, 9, f.site, f.pool);
    tb_event(f.tb, MAIN, 170, EVENT_SPAWN_END, 9);
    tb_event(f.tb, MAIN, 400, EVENT_THREAD_END, M);
    tb_event(f.tb, WORKER, 300, EVENT_TASK_START, 7);
    tb_event(f.tb, WORKER, 320, EVENT_TASK_START, 9);
    tb_event(f.tb, WORKER, 420, EVENT_RESULT, 9);
    tb_event(f.tb, WORKER, 500, EVENT_TASK_END, 7);
    build(&f);
    assert_int_equal(task(&f, M)->flags, TASK_MAIN);
    assert_int_equal(task(&f, 9)->flags, 0);
    inline_task(&f, 9); // on main from 150 to 330; main ends 230 later; 7 keeps its 20 before, and ends at 320
    propagate(&f);
    struct trace *written = write_trace(&f);
    ASSERT_EVENTS(written, MAIN, {0, EVENT_THREAD_START, M, 0}, {10, EVENT_MAIN_BEGIN, M, 0},
                  {100, EVENT_SPAWN_BEGIN, 7, f.site}, {110, EVENT_SPAWN_END, 7, 0}, {150, EVENT_TASK_START, 9, 0},
                  {250, EVENT_RESULT, 9, 0}, {560, EVENT_THREAD_END, M, 0});
    ASSERT_EVENTS(written, WORKER, {300, EVENT_TASK_START, 7, 0}, {320, EVENT_TASK_END, 7, 0});
    trace_close(written);
    simulate_fixture_close(&f.fixture);
}

static void test_write_says_why_it_failed(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    struct error error = ERROR_INIT;
    add_simple(&f);
    build(&f);
    assert_false(dag_write_run(f.fixture.dag, 0, "/nowhere/estimated.msgpack", &error));
    assert_int_equal(error.status, STATUS_FAILED);
    assert_true(error.causes > 1);
    simulate_fixture_close(&f.fixture);
}

// ---- structure

static void test_graph(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    struct error error = ERROR_INIT;
    uint32_t count;
    add_simple(&f);
    tb_event(f.tb, OTHER, 5, EVENT_TASK_START, 3); // nobody else's business
    tb_event(f.tb, OTHER, 6, EVENT_TASK_END, 3);
    build(&f);
    must(graph_components(f.fixture.dag, &count, &error), &error);
    assert_int_equal(count, 2);
    const uint32_t pairs[][2] = {{0, 1}, {1, 3}, {4, 5}};
    uint32_t component[6];
    must(graph_group_pairs(6, pairs, 3, component, &count, &error), &error);
    assert_int_equal(count, 3);
    assert_int_equal(component[0], component[3]);
    assert_int_equal(component[4], component[5]);
    assert_int_not_equal(component[0], component[2]);
    simulate_fixture_close(&f.fixture);
}

// ---- by two threads

static bool same(const void *a, const void *b, size_t count, size_t size) {
    return (!a && !b) || (a && b && memcmp(a, b, count * size) == 0);
}

static void check_same(const struct dag *one, const struct dag *two) {
    const struct dag_vertices *a = &one->vertices, *b = &two->vertices;
    assert_int_equal(one->vertex_count, two->vertex_count);
    assert_int_equal(one->task_count, two->task_count);
    assert_int_equal(one->wakeup_ns, two->wakeup_ns);
    size_t count = one->vertex_count;
    assert_true(same(a->time_ns, b->time_ns, count, sizeof *a->time_ns));
    assert_true(same(a->cause, b->cause, count, sizeof *a->cause));
    assert_true(same(a->rule, b->rule, count, sizeof *a->rule));
    assert_true(same(a->kind, b->kind, count, sizeof *a->kind));
    assert_true(same(a->compute_ns, b->compute_ns, count, sizeof *a->compute_ns));
    assert_true(same(a->queued_ns, b->queued_ns, count, sizeof *a->queued_ns));
    for (uint32_t t = 0; t < one->task_count; t++) {
        assert_int_equal(one->tasks[t].id, two->tasks[t].id);
        assert_int_equal(one->tasks[t].dispatch, two->tasks[t].dispatch);
        assert_int_equal(one->tasks[t].tail, two->tasks[t].tail);
    }
}

// So small a trace is built by one.
static void test_many_hands_build_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct trace_builder *tb = seed % 2 ? random_events(seed) : random_trace(seed);
        struct trace *trace = tb_open(tb);
        struct error error = ERROR_INIT;
        struct dag *one = dag_build_by(trace, 1, &error), *two = dag_build_by(trace, HANDS, &error);
        assert_true(one && two);
        check_same(one, two);
        dag_free(one);
        dag_free(two);
        trace_close(trace);
        tb_free(tb);
    }
}

// main makes actor 30, whose mailbox is task 7, and sends it message 40; that sends 43 to actor 31, which puts it aside
// and gets it back as 44. 41 is for nobody, and 42 lies in the mailbox at the end.
static void add_actors(struct by_hand *f) {
    const uint32_t actor = tb_class(f->tb, "p.Actor"), text = tb_class(f->tb, "p.Text");
    const uint64_t tell = message_operand(text, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    const uint64_t nowhere = message_operand(text, MESSAGE_OF_PROGRAM, MESSAGE_TO_NOBODY, false);
    tb_event(f->tb, MAIN, 0, EVENT_MAIN_BEGIN, M);
    tb_event(f->tb, MAIN, 50, EVENT_ACTOR_CREATED, 30, 0, actor);
    tb_event(f->tb, MAIN, 60, EVENT_SPAWN_BEGIN, 7, f->site, f->pool);
    tb_event(f->tb, MAIN, 80, EVENT_SPAWN_END, 7);
    tb_event(f->tb, MAIN, 100, EVENT_MESSAGE_SENT, 40, 30, tell);
    tb_event(f->tb, MAIN, 110, EVENT_MESSAGE_SENT, 41, 0, nowhere);
    tb_event(f->tb, MAIN, 111, EVENT_DEAD_LETTER, 41);
    tb_event(f->tb, MAIN, 120, EVENT_MESSAGE_SENT, 42, 30, tell);
    tb_event(f->tb, MAIN, 2000, EVENT_THREAD_END);
    tb_event(f->tb, WORKER, 40, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, WORKER, 190, EVENT_TASK_START, 7, 10);
    tb_event(f->tb, WORKER, 200, EVENT_INIT_BEGIN, 30, 20);
    tb_event(f->tb, WORKER, 250, EVENT_INIT_END, 30, 70);
    tb_event(f->tb, WORKER, 300, EVENT_MESSAGE_BEGIN, 40, 80, 30);
    tb_event(f->tb, WORKER, 350, EVENT_MESSAGE_SENT, 43, 31, tell);
    tb_event(f->tb, WORKER, 400, EVENT_MESSAGE_END, 40, 180, MESSAGE_UNHANDLED);
    tb_event(f->tb, WORKER, 500, EVENT_TASK_END, 7, 190);
    tb_event(f->tb, OTHER, 45, EVENT_WORKER_BEGIN, f->pool);
    tb_event(f->tb, OTHER, 600, EVENT_MESSAGE_BEGIN, 43, 10, 31);
    tb_event(f->tb, OTHER, 700, EVENT_MESSAGE_END, 43, 110, MESSAGE_PUT_ASIDE);
    tb_event(f->tb, OTHER, 750, EVENT_MESSAGE_QUEUED, 44, 31, 43);
    tb_event(f->tb, OTHER, 800, EVENT_MESSAGE_BEGIN, 44, 120, 31);
    tb_event(f->tb, OTHER, 900, EVENT_MESSAGE_END, 44, 220, MESSAGE_THREW);
}

static void check_message(const struct by_hand *f, uint64_t id, uint32_t created, uint32_t start, uint32_t end) {
    const struct dag_task *of = task(f, id);
    assert_int_equal(of->flags & ~(TASK_INIT | TASK_HANDLES),
                     id == 30 ? TASK_HANDED_OVER : TASK_HANDED_OVER | TASK_MESSAGE);
    assert_int_equal(of->spawn_begin, created);
    assert_int_equal(of->spawn_end, created);
    assert_int_equal(of->start, start);
    assert_int_equal(of->end, end);
    assert_int_equal(of->result, end);
    assert_int_equal(of->pool, f->pool);
    assert_int_equal(of->dispatch, id == 44 ? DISPATCH_NEXT : id == 43 ? DISPATCH_NEW : DISPATCH_NONE);
    assert_int_equal(f->fixture.dag->vertices.cause[start], created);
    assert_int_equal(dag_left_out(f->fixture.dag, task_index(f->fixture.dag, id)), LEFT_OUT_NOT);
    assert_non_null(dag_inline_refusal(f->fixture.dag, task_index(f->fixture.dag, id)));
    assert_non_null(dag_split_refusal(f->fixture.dag, task_index(f->fixture.dag, id)));
}

static void test_messages(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_actors(&f);
    build(&f);
    const struct dag *dag = f.fixture.dag;
    check_message(&f, 30, vertex(&f, MAIN, 50), vertex(&f, WORKER, 200), vertex(&f, WORKER, 250));
    check_message(&f, 40, vertex(&f, MAIN, 100), vertex(&f, WORKER, 300), vertex(&f, WORKER, 400));
    check_message(&f, 43, vertex(&f, WORKER, 350), vertex(&f, OTHER, 600), vertex(&f, OTHER, 700));
    check_message(&f, 44, vertex(&f, OTHER, 750), vertex(&f, OTHER, 800), vertex(&f, OTHER, 900));
    assert_int_equal(task_index(dag, 41), DAG_NONE);
    assert_int_equal(task_index(dag, 42), DAG_NONE);
    assert_true(task(&f, 30)->flags & TASK_INIT);
    assert_int_equal(task(&f, 40)->spawner, task_index(dag, M));
    assert_int_equal(task(&f, 40)->enclosing, task_index(dag, 7));
    assert_int_equal(task(&f, 43)->spawner, task_index(dag, 40));
    assert_int_equal(task(&f, 43)->enclosing, DAG_NONE);
    assert_int_equal(task(&f, 44)->spawner, DAG_NONE); // sent between two messages, by nobody that is known
    assert_int_equal(task(&f, 40)->outcome, TASK_RETURNED);
    assert_int_equal(task(&f, 44)->outcome, TASK_THREW);
    assert_string_equal(f.fixture.trace->classes[task(&f, 30)->task_class].name, "p.Actor");
    assert_string_equal(f.fixture.trace->classes[task(&f, 43)->task_class].name, "p.Text");
    simulate_fixture_close(&f.fixture);
}

// In all models, under the empty edit, an actor does what it did when it did it; the pool's workers are there anyway.
static void test_messages_are_simulated(void **state) {
    (void)state;
    for (int model = MODEL_POOL; model <= MODEL_CPU; model++) {
        struct by_hand f = by_hand_new(NULL, 2);
        add_actors(&f);
        build(&f);
        const struct dag *dag = f.fixture.dag, *run = by_hand_simulate(&f, (enum model_kind)model);
        for (uint64_t id = 30; id <= 44; id++) {
            const uint32_t t = task_index(dag, id);
            if (t == DAG_NONE) continue;
            const struct dag_task *then = &dag->tasks[t], *now = &run->tasks[t];
            assert_int_equal(run->vertices.time_ns[now->start], dag->vertices.time_ns[then->start]);
            assert_int_equal(run->vertices.time_ns[now->end], dag->vertices.time_ns[then->end]);
            assert_int_equal(now->flags, then->flags);
            assert_int_equal(run->vertices.time_ns[now->spawn_begin], dag->vertices.time_ns[then->spawn_begin]);
            if (then->enclosing != DAG_NONE) assert_int_equal(now->enclosing, then->enclosing);
        }
        simulate_fixture_close(&f.fixture);
    }
}

// What of actors is no vertex is written as well, with their names.
static void test_write_actors(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    tb_actor(f.tb, 30, "akka://p/");
    tb_actor(f.tb, 31, "other");
    add_actors(&f);
    tb_event(f.tb, OTHER, 950, EVENT_UPKEEP_BEGIN, 31, 230);
    tb_event(f.tb, OTHER, 960, EVENT_ACTOR_STOPPED, 31);
    tb_event(f.tb, OTHER, 970, EVENT_UPKEEP_END, 31, 240);
    build(&f);
    struct trace *written = written_run(f.fixture.dag), *trace = f.fixture.trace;
    for (unsigned kind = EVENT_MESSAGE_SENT; kind < EVENT_KINDS; kind++)
        assert_int_equal(written->events_of_kind[kind], trace->events_of_kind[kind]);
    assert_int_equal(written->actor_count, 2);
    assert_string_equal(trace_actor_name(written, 31), "other");
    trace_close(written);
    simulate_fixture_close(&f.fixture);
}

// A mailbox is no code of the program's that could be called. As part of main, before main sends what it handles, it
// would wait for ever.
static void test_mailbox_waits_for_its_messages(void **state) {
    (void)state;
    struct by_hand f = by_hand_new(NULL, 2);
    add_actors(&f);
    build(&f);
    const uint32_t mailbox = task_index(f.fixture.dag, 7);
    assert_string_equal(dag_inline_refusal(f.fixture.dag, mailbox), dag_mailbox_refusal);
    assert_string_equal(dag_split_refusal(f.fixture.dag, mailbox), dag_mailbox_refusal);
    assert_non_null(dag_merge_refusal(f.fixture.dag, mailbox));
    assert_non_null(dag_combinator_refusal(f.fixture.dag, mailbox));
    dag_edit_inline(&f.fixture.edit, mailbox);
    assert_int_equal(dag_propagate(f.fixture.dag, &f.fixture.edit, &f.fixture.run), DAG_DEADLOCK);
    simulate_fixture_close(&f.fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_messages_are_simulated),
        cmocka_unit_test(test_write_actors),
        cmocka_unit_test(test_mailbox_waits_for_its_messages),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_release_of_a_permit),
        cmocka_unit_test(test_sleep_that_nobody_ended),
        cmocka_unit_test(test_ends_without_beginning),
        cmocka_unit_test(test_inline),
        cmocka_unit_test(test_inline_with_another_waiting),
        cmocka_unit_test(test_inline_two_in_a_chain),
        cmocka_unit_test(test_worker_that_keeps_a_task),
        cmocka_unit_test(test_taken_that_has_to_wait),
        cmocka_unit_test(test_helping_join),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_skew),
        cmocka_unit_test(test_pool_termination),
        cmocka_unit_test(test_nested_and_handed_over),
        cmocka_unit_test(test_takes_its_own),
        cmocka_unit_test(test_limited_waits),
        cmocka_unit_test(test_limits_of_taken_results),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_workers_that_others_depend_on),
        cmocka_unit_test(test_contexts_and_sites),
        cmocka_unit_test(test_join_of_a_worker),
        cmocka_unit_test(test_write_an_inlined_task),
        cmocka_unit_test(test_shutdown_awaits_the_program_s_end),
        cmocka_unit_test(test_write_blocks_and_run_delays),
        cmocka_unit_test(test_write_a_thread_that_moved),
        cmocka_unit_test(test_write_a_body_without_its_end),
        cmocka_unit_test(test_write_says_why_it_failed),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_many_hands_build_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
