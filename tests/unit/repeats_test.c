// SPDX-License-Identifier: GPL-3.0-or-later
// What was found in one recording, estimated in others: of repetitions by hand, since only the length of tasks differs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loads.h"
#include "optimize/repeats.h"
#include "optimize/search.h"

enum { RUNS = 4 };

struct fixture {
    struct trace_builder *tb[RUNS];
    struct trace *traces[RUNS];
    struct dag *dags[RUNS];
    struct estimator estimators[RUNS], *pointers[RUNS];
    uint32_t loads[RUNS];
    size_t count;
    struct arena arena;
    struct error error;
    struct search_result result;
    struct repeats *repeats;
};

static void add_run(struct fixture *f, const struct load *loads, size_t count, uint64_t task_ns, uint32_t load) {
    const size_t r = f->count++;
    f->tb[r] = loads_run(loads, count, task_ns);
    f->traces[r] = tb_open(f->tb[r]);
    f->dags[r] = dag_build(f->traces[r], &f->error);
    assert_non_null(f->dags[r]);
    f->pointers[r] = &f->estimators[r];
    f->loads[r] = load;
    assert_true(estimator_init(f->pointers[r], f->dags[r], NULL, &f->error));
}

// Searches in the first run, and estimates in all.
static void estimate(struct fixture *f, uint32_t load_count) {
    struct search_options options = {.top = 10, .seed = 1, .evaluations = SEARCH_EVALUATIONS, .budget_ns = SEARCH_NS};
    const struct repeats_request request = {.estimators = f->pointers,
                                            .loads = f->loads,
                                            .run_count = f->count,
                                            .load_count = load_count,
                                            .model = MODEL_DAG};
    assert_true(objective_parse("composite", &f->arena, &options.objective, &f->error));
    assert_true(search_run(f->pointers, 1, &options, &f->arena, &f->result, &f->error));
    assert_true(repeats_estimate(&f->result, &request, &f->arena, &f->repeats, &f->error));
}

static void close_fixture(struct fixture *f) {
    arena_destroy(&f->arena);
    for (size_t r = 0; r < f->count; r++) {
        estimator_destroy(f->pointers[r]);
        dag_free(f->dags[r]);
        trace_close(f->traces[r]);
        tb_free(f->tb[r]);
    }
}

static size_t candidate_at(const struct fixture *f, uint32_t line) {
    size_t c = 0;
    while (f->dags[0]->sites[f->result.candidates[c].named->site].site.line != line) c++;
    assert_true(c < f->result.candidate_count);
    return c;
}

// Ten tasks that main awaits at once: with tasks longer by d the run is longer by 10 d, inlined or not.
static void test_medians_of_repetitions(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}};
    struct fixture f = {.error = ERROR_INIT};
    add_run(&f, loads, 1, 1000, 0);
    add_run(&f, loads, 1, 1030, 0);
    add_run(&f, loads, 1, 1010, 0);
    estimate(&f, 1);
    const int64_t base_ns = f.result.base.wall_ns, inlined_ns = f.result.candidates[0].estimate.wall_ns;
    const struct repeated *recorded = &f.repeats->recorded, *inlined = &f.repeats->candidates[0];
    assert_int_equal(f.repeats->runs, 3);
    assert_int_equal(recorded->median.wall_ns, base_ns + 100);
    assert_int_equal(inlined->median.wall_ns, inlined_ns + 100);
    assert_int_equal(inlined->runs, 3);
    assert_true(fabs(inlined->noises.of[RUN_WALL].deviation - 152.7525) < 1e-3); // of 0, 300, 100
    assert_int_equal(f.repeats->plans[0].median.wall_ns, inlined_ns + 100);
    assert_null(inlined->stuck_in);
    repeats_show(f.repeats, &f.result);
    assert_int_equal(f.result.base.wall_ns, base_ns + 100);
    assert_int_equal(f.result.replayed.wall_ns, base_ns + 100);
    assert_int_equal(f.result.candidates[0].estimate.wall_ns, inlined_ns + 100);
    assert_int_equal(f.result.plans[0].estimate.wall_ns, inlined_ns + 100);
    close_fixture(&f);
}

// Each load by itself; where a run has no such task the change leaves it as it is.
static void test_loads(void **state) {
    const struct load day[] = {{5, 10, false, NULL}, {6, 3, false, NULL}}, night[] = {{5, 4, false, NULL}};
    struct fixture f = {.error = ERROR_INIT};
    add_run(&f, day, 2, 1000, 0);
    add_run(&f, night, 1, 1000, 1);
    add_run(&f, day, 2, 1020, 0);
    add_run(&f, night, 1, 1002, 1);
    estimate(&f, 2);
    const size_t five = candidate_at(&f, 5), six = candidate_at(&f, 6);
    assert_int_equal(f.repeats[0].runs, 2);
    assert_int_equal(f.repeats[1].runs, 2);
    assert_int_equal(f.repeats[0].recorded.median.wall_ns, f.result.base.wall_ns + 130);
    assert_true(f.repeats[1].recorded.median.wall_ns < f.repeats[0].recorded.median.wall_ns);
    assert_int_equal(f.repeats[1].candidates[six].median.wall_ns, f.repeats[1].recorded.median.wall_ns);
    assert_true(f.repeats[1].candidates[five].median.wall_ns < f.repeats[1].recorded.median.wall_ns);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_medians_of_repetitions),
        cmocka_unit_test(test_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
