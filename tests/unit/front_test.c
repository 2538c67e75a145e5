// SPDX-License-Identifier: GPL-3.0-or-later
// What can be had for what, of a few figures by hand: a run of 1,000 ns with 8 threads, noise 1 %.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/front.h"

struct fixture {
    struct candidate candidates[8];
    struct ranked_plan plans[2];
    struct search_result result;
    struct arena arena;
};

static struct metrics figures(int64_t wall_ns, double threads) {
    struct metrics m = {.wall_ns = wall_ns};
    m.threads[STATE_OCCUPIED].mean = threads;
    m.threads[STATE_OCCUPIED].peak = 10;
    return m;
}

static void begin(struct fixture *f) {
    *f = (struct fixture){.arena = ARENA_INIT};
    f->result = (struct search_result){
        .candidates = f->candidates, .plans = f->plans, .replayed = figures(1000, 8), .noise = 0.01};
}

static struct candidate *add(struct fixture *f, int64_t wall_ns, double threads) {
    struct candidate *candidate = &f->candidates[f->result.candidate_count++];
    candidate->estimate = figures(wall_ns, threads);
    return candidate;
}

// Expects these candidates, or (PLAN) plans of several, in this order; -1 ends them.
enum { PLAN = 100, END = -1 };

static void expect(struct fixture *f, const int *points) {
    struct error error = ERROR_INIT;
    size_t count = 0;
    assert_true(front_find(&f->result, &f->arena, &error));
    for (; points[count] != END; count++) {
        assert_true(count < f->result.front_count);
        const struct front_point *point = &f->result.front[count];
        if (points[count] >= PLAN)
            assert_ptr_equal(point->candidates, f->plans[points[count] - PLAN].candidates);
        else
            assert_int_equal(point->candidates[0], points[count]);
    }
    assert_int_equal(f->result.front_count, count);
    arena_destroy(&f->arena);
}

static void test_what_is_beaten_is_left_out(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 600, 12);
    add(&f, 500, 16);
    add(&f, 700, 13);  // by the first
    add(&f, 605, 12);  // likewise, but for the noise
    add(&f, 2000, 2);  // slower than the run, with fewer threads
    add(&f, 1001, 20); // by the run
    add(&f, 995, 8);   // as good as the run
    expect(&f, (const int[]){1, 0, 4, END});
}

static void test_what_only_lasts_longer_saves_no_threads(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 2000, 5);
    add(&f, 2100, 4.5)->estimate.threads[STATE_OCCUPIED].peak = 9;
    add(&f, 2200, 3.5); // less thread-time
    expect(&f, (const int[]){1, 2, END});
}

static void test_what_is_no_choice_is_left_out(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 600, 12);
    add(&f, 400, 20)->beyond = true;
    add(&f, 300, 8)->negligible = true;
    add(&f, 200, 8)->status = CANDIDATE_STUCK;
    add(&f, 590, 12.5)->status = CANDIDATE_FAILING; // what it fails is a wish: it can be had
    expect(&f, (const int[]){4, 0, END});
}

// A plan has its place by what it betters with so many changes.
static void test_changes_count(void **state) {
    (void)state;
    struct fixture f;
    uint32_t both[] = {0, 1};
    begin(&f);
    add(&f, 600, 8);
    add(&f, 900, 4);
    f.plans[0] = (struct ranked_plan){both, 2, figures(550, 4), 0};
    f.plans[1] = (struct ranked_plan){both, 2, figures(600, 9), 0};
    f.result.plan_count = 2;
    expect(&f, (const int[]){PLAN, 0, 1, END});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_beaten_is_left_out),
        cmocka_unit_test(test_what_only_lasts_longer_saves_no_threads),
        cmocka_unit_test(test_what_is_no_choice_is_left_out),
        cmocka_unit_test(test_changes_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
