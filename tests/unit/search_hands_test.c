// SPDX-License-Identifier: GPL-3.0-or-later
// A search by several threads finds what one finds, whichever figures are told. By itself, so that ThreadSanitizer has
// little to run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hands.h"
#include "optimize/search.h"
#include "random_trace.h"

#include <string.h>

struct found {
    struct estimator estimator;
    struct arena arena;
    struct search_result result;
    struct error error;
    bool done;
};

static void find(struct found *found, const struct dag *dag, const struct search_options *options, uint32_t hands) {
    *found = (struct found){.error = ERROR_INIT};
    struct estimator *traces[] = {&found->estimator};
    assert_true(estimator_init(&found->estimator, dag, NULL, &found->error));
    found->done = search_run_by(traces, 1, options, hands, &found->arena, &found->result, &found->error);
}

static void forget(struct found *found) {
    estimator_destroy(&found->estimator);
    arena_destroy(&found->arena);
}

static void assert_same(const struct found *one, const struct found *two) {
    const struct search_result *a = &one->result, *b = &two->result;
    assert_int_equal(one->done, two->done);
    assert_int_equal(a->evaluated, b->evaluated);
    assert_int_equal(a->candidate_count, b->candidate_count);
    for (size_t i = 0; i < a->candidate_count; i++) {
        const struct candidate *left = &a->candidates[i], *right = &b->candidates[i];
        assert_int_equal(left->status, right->status);
        assert_string_equal(left->why, right->why);
        assert_int_equal(left->warning_count, right->warning_count);
    }
    assert_int_equal(a->plan_count, b->plan_count);
    for (size_t i = 0; i < a->plan_count; i++) {
        const struct ranked_plan *left = &a->plans[i], *right = &b->plans[i];
        assert_true(left->value == right->value);
        assert_true(left->estimate.wall_ns == right->estimate.wall_ns);
        assert_int_equal(left->count, right->count);
        assert_memory_equal(left->candidates, right->candidates, left->count * sizeof *left->candidates);
    }
}

struct way {
    uint32_t hands;
    bool all_figures;
};

struct tally {
    size_t plans, candidates;
};

static void assert_same_both_ways(uint64_t seed, struct way first, struct way second, struct tally *tally) {
    static const enum model_kind models[] = {MODEL_DAG, MODEL_POOL, MODEL_CPU};
    struct error error = ERROR_INIT;
    struct arena arena = ARENA_INIT;
    struct trace_builder *tb = random_trace(seed);
    struct trace *trace = tb_open(tb);
    struct dag *dag = dag_build(trace, &error);
    struct search_options options = {
        .model = models[seed % 3], .top = 10, .seed = 1, .evaluations = 200, .budget_ns = SEARCH_NS};
    struct found one, two;
    assert_non_null(dag);
    assert_true(objective_parse("balanced", &arena, &options.objective, &error));
    options.all_figures = first.all_figures;
    find(&one, dag, &options, first.hands);
    options.all_figures = second.all_figures;
    find(&two, dag, &options, second.hands);
    assert_same(&one, &two);
    tally->plans += one.result.plan_count;
    tally->candidates += one.result.candidate_count;
    forget(&one);
    forget(&two);
    arena_destroy(&arena);
    dag_free(dag);
    trace_close(trace);
    tb_free(tb);
}

static void assert_all_same(struct way first, struct way second) {
    struct tally tally = {0, 0};
    for (uint64_t seed = 0; seed < 60; seed++) assert_same_both_ways(seed, first, second, &tally);
    assert_true(tally.plans > 5 && tally.candidates > 60);
}

static void test_many_hands_find_what_one_finds(void **state) {
    assert_all_same((struct way){1, true}, (struct way){HANDS, true});
}

static void test_all_figures_find_what_few_find(void **state) {
    assert_all_same((struct way){1, true}, (struct way){1, false});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_hands_find_what_one_finds),
                                       cmocka_unit_test(test_all_figures_find_what_few_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
