// SPDX-License-Identifier: GPL-3.0-or-later
// The pace of a run (dag/simulate/pace.h) is learnt from tasks whose costs follow a known law, and cores that keep it.
#include "dag/simulate/cores.h"
#include "dag/simulate/pace.h"
#include "dag/simulate/pacing.h"
#include "random_trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SITES = 3, TASKS = 6000, TASKS_OF_NOBODY = 40 };

static double part(struct random_source *random) {
    return (double)random_below(random, 10001) / 10000;
}

// What a task costs more at such a time, where all of it matters.
static double law(const struct pace_when *when) {
    const double cold = when->part[PACE_COLD] < 0.25 ? 3 : when->part[PACE_COLD] < 0.5 ? 1.5 : 1;
    return cold * (when->part[PACE_CROWD] < 0.5 ? 1 : 1.8);
}

// Sites of other sizes, each task of which takes from half to one and a half of what the law says.
static void make_tasks(struct pace_task *tasks, uint64_t seed, double (*times)(const struct pace_when *)) {
    struct random_source random = {seed};
    for (uint32_t i = 0; i < TASKS; i++) {
        struct pace_task *task = &tasks[i];
        *task = (struct pace_task){.site = (uint32_t)random_below(&random, SITES)};
        for (int f = 0; f < PACE_FACTORS; f++) task->when.part[f] = part(&random);
        task->cost_ns = 10000 * (1 + 5 * task->site) * times(&task->when) * (0.5 + part(&random));
    }
}

static double same(const struct pace_when *when) {
    return 1;
}

static double cost_at(const struct pace *pace, double cold, double crowd) {
    const struct pace_when when = {{cold, crowd, 0}};
    return 1 / pace_at(pace, &when);
}

static void assert_about(double found, double expected) {
    if (fabs(found / expected - 1) > 0.08) fail_msg("%g, not %g", found, expected);
}

static void test_the_law_is_found(void **state) {
    struct pace_task *tasks = malloc(TASKS * sizeof *tasks);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pace pace;
        make_tasks(tasks, seed, law);
        assert_true(pace_fit(&pace, tasks, TASKS, SITES));
        assert_true(pace.known);
        assert_about(cost_at(&pace, 0.1, 0), 3);
        assert_about(cost_at(&pace, 0.4, 0), 1.5);
        assert_about(cost_at(&pace, 0.9, 0), 1);
        assert_about(cost_at(&pace, 0.9, 0.9), 1.8);
        assert_about(cost_at(&pace, 0.1, 0.9), 5.4);
    }
    free(tasks);
}

static void test_no_law_is_none(void **state) {
    struct pace_task *tasks = malloc(TASKS * sizeof *tasks);
    struct pace pace;
    make_tasks(tasks, 7, same);
    assert_true(pace_fit(&pace, tasks, TASKS, SITES));
    for (int i = 0; i <= 10; i++) assert_about(cost_at(&pace, i / 10.0, 1 - i / 10.0), 1);
    free(tasks);
}

static void test_few_tasks_tell_nothing(void **state) {
    struct pace_task tasks[TASKS_OF_NOBODY] = {{0}};
    struct pace pace;
    for (uint32_t i = 0; i < TASKS_OF_NOBODY; i++) tasks[i] = (struct pace_task){i, 1000 + 1000 * i, {{0.1, 0.1, 0.1}}};
    assert_true(pace_fit(&pace, tasks, TASKS_OF_NOBODY, TASKS_OF_NOBODY));
    assert_false(pace.known);
    assert_true(cost_at(&pace, 0, 1) == 1);
}

// Of a site that ran only while code was cold, its tasks are no worse than they were.
static void test_a_site_of_one_time_has_its_cost(void **state) {
    struct pace_task *tasks = malloc(TASKS * sizeof *tasks);
    struct pace pace;
    make_tasks(tasks, 3, law);
    for (uint32_t i = 0; i < TASKS; i++) {
        if (tasks[i].site == 2) tasks[i].when.part[PACE_COLD] = 0.9;
    }
    assert_true(pace_fit(&pace, tasks, TASKS, SITES));
    for (int f = 0; f < PACE_FACTORS; f++) {
        for (int c = 1; c < PACE_CLASSES; c++) {
            const double rises = pace.factor[f][c] - pace.factor[f][c - 1];
            assert_true(f == PACE_COLD ? rises <= 0 : rises >= 0);
        }
    }
    free(tasks);
}

// While code is cold what a task costs falls fast, and with each class of it those that cost more compute beside
// others. Later that makes no difference.
static void test_cold_tasks_tell_no_more_than_others(void **state) {
    struct pace_task *tasks = malloc(TASKS * sizeof *tasks);
    struct random_source random = {11};
    struct pace pace;
    for (uint32_t i = 0; i < TASKS; i++) {
        const double time = (double)i / TASKS, in_class = time * PACE_CLASSES - floor(time * PACE_CLASSES);
        const bool crowded = time < 0.2 ? in_class < 0.5 : random_below(&random, 2) == 0;
        const double cost_ns = 10000 * (1 + 30 * exp(-20 * time)) * (0.5 + part(&random));
        tasks[i] = (struct pace_task){0, cost_ns, {{time, crowded, 0}}};
    }
    assert_true(pace_fit(&pace, tasks, TASKS, 1));
    assert_true(cost_at(&pace, 1, 1) < 1.1 * cost_at(&pace, 1, 0));
    free(tasks);
}

// Compilers take the cores while code is cold, so that all cold tasks had to do without: few of them, and no task that
// is warm, tell what that costs.
static void test_what_only_cold_tasks_met_is_cold(void **state) {
    enum { COLD_TASKS = 60, ALL_TASKS = 1000 };
    struct pace_task tasks[ALL_TASKS];
    struct random_source random = {13};
    struct pace pace;
    for (uint32_t i = 0; i < ALL_TASKS; i++) {
        const bool cold = i < COLD_TASKS;
        const double turns = cold ? 0.25 + 0.2 * part(&random) : 0.2 * part(&random);
        const double cost_ns = (cold ? 40000 : 10000) * (0.9 + 0.2 * part(&random));
        tasks[i] = (struct pace_task){0, cost_ns, {{cold ? 0.5 * part(&random) : 1, 0, turns}}};
    }
    assert_true(pace_fit(&pace, tasks, ALL_TASKS, 1));
    const struct pace_when warm = {{1, 0, 0.5}};
    assert_true(1 / pace_at(&pace, &warm) < 1.2);
}

// Each task serves a connection: those while code was cold four requests in a row, later ones one. Each request costs
// as much as any other.
enum { SERVES = 60, ROW = 4, VERTICES = SERVES * (2 + 2 * ROW) };

struct served {
    struct dag dag;
    struct trace trace;
    struct dag_sample samples[2];
    struct dag_task tasks[SERVES];
    struct dag_request requests[SERVES * ROW];
    int64_t compute_ns[VERTICES];
    struct pace_when when[VERTICES];
};

static void serve(struct served *s, uint32_t index) {
    const uint32_t row = index < SERVES / 2 ? ROW : 1;
    struct dag *dag = &s->dag;
    s->tasks[index] = (struct dag_task){.start = dag->vertex_count++, .spawn_begin = DAG_NONE};
    for (uint32_t i = 0; i < row; i++) {
        const uint32_t begin = dag->vertex_count++, end = dag->vertex_count++;
        s->compute_ns[end] = 1000;
        s->when[end].part[PACE_COLD] = row > 1 ? 0.1 : 0.9;
        s->requests[dag->request_count++] =
            (struct dag_request){.endpoint = 1, .begin = begin, .end = end, .task = index};
    }
    s->tasks[index].end = dag->vertex_count++;
}

static void test_how_many_requests_came_in_a_row_tells_nothing(void **state) {
    struct served *s = calloc(1, sizeof *s);
    bool no_memory = false;
    s->trace = (struct trace){.header = {.cores = 2}, .endpoint_count = 2};
    s->samples[1] = (struct dag_sample){.time_ns = 1000000, .compiled_ns = 1000};
    s->dag = (struct dag){.trace = &s->trace,
                          .vertices = {.compute_ns = s->compute_ns},
                          .samples = s->samples,
                          .sample_count = 2,
                          .tasks = s->tasks,
                          .task_count = SERVES,
                          .requests = s->requests,
                          .site_count = 1};
    for (uint32_t i = 0; i < SERVES; i++) serve(s, i);
    struct pacing *pacing = pacing_new(&s->dag, &no_memory);
    assert_non_null(pacing);
    for (uint32_t v = 0; v < s->dag.vertex_count; v++) pacing->when[v] = s->when[v];
    assert_true(pacing_learn(pacing, &s->dag));
    assert_true(pacing->pace.known);
    assert_about(cost_at(&pacing->pace, 0.1, 0), 1);
    pacing_free(pacing);
    free(s);
}

// A few that took long for another reason, when hardly any other task ran, are not taken for what such times cost.
static void test_a_few_that_took_long_tell_little(void **state) {
    struct pace_task *tasks = malloc(TASKS * sizeof *tasks);
    struct pace pace;
    make_tasks(tasks, 11, same);
    for (uint32_t i = 0; i < TASKS; i++) tasks[i].when.part[PACE_TURNS] = i < 2 ? 0.9 : 0.2;
    tasks[0].cost_ns = tasks[1].cost_ns = 10000000;
    assert_true(pace_fit(&pace, tasks, TASKS, SITES));
    assert_true(pace.factor[PACE_TURNS][PACE_CLASSES - 1] < 1.1);
    free(tasks);
}

// ---- cores

static const double one_compiler[PACE_CLASSES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static struct pace cold_half(void) {
    struct pace pace = {.known = true};
    for (int f = 0; f < PACE_FACTORS; f++) {
        for (int c = 0; c < PACE_CLASSES; c++) pace.factor[f][c] = f == PACE_COLD && c < PACE_CLASSES / 2 ? 2 : 1;
    }
    return pace;
}

static int64_t end_of(struct cores *cores) {
    int64_t end_ns = 0;
    while (cores->next_ns != INT64_MAX) {
        const int64_t next_ns = cores->next_ns;
        if (cores_take(cores) != NOTICE_NONE) end_ns = next_ns;
    }
    return end_ns;
}

// Of a millisecond of compiling so much was done before.
static int64_t play_from(const struct pace *pace, double count, uint32_t processes, double before_ns) {
    const struct cores_compiling compiling = {INT64_MAX, 1000000 - before_ns, 0};
    const struct cores_recorded recorded = {.cores = count,
                                            .pace = pace,
                                            .compiling = &compiling,
                                            .compiling_count = 1,
                                            .compiled_ns = 1000000,
                                            .compiled_before_ns = before_ns,
                                            .compilers = one_compiler};
    struct cores cores = {0};
    assert_true(cores_reserve(&cores, processes));
    cores_begin(&cores, count, &recorded);
    for (uint32_t i = 0; i < processes; i++)
        cores_join(&cores, i, 0, (struct cores_demand){1000000 / processes, {0, 0}, 1});
    const int64_t end_ns = end_of(&cores);
    assert_true(cores.compiled_ns <= cores.wanted_ns);
    cores_destroy(&cores);
    return end_ns;
}

static int64_t play(const struct pace *pace, double count, uint32_t processes) {
    return play_from(pace, count, processes, 0);
}

// A millisecond of work beside one to compile, code being worth half until half of that is done. With a core for each,
// that takes half a millisecond, in which a quarter is done; with one for both, or for two and the compiler, longer.
static void test_compilers_share_the_cores(void **state) {
    const struct pace pace = cold_half();
    assert_in_range(play(&pace, 2, 1), 1249000, 1251000);
    assert_in_range(play(&pace, 1, 1), 2249000, 2251000);
    assert_in_range(play(&pace, 1, 2), 2249000, 2251000);
}

// Who joins a program that is warm does not find it cold: with half of it compiled before, all is worth what it is.
static void test_what_was_compiled_before_is(void **state) {
    const struct pace pace = cold_half();
    assert_in_range(play_from(&pace, 2, 1, 500000), 999000, 1001000);
    assert_in_range(play_from(&pace, 1, 1, 500000), 1499000, 1501000);
}

// Compilers are awake from 0 to 100 and get on evenly, as in a run; then hardly, and when they compiled is not known.
static void test_code_gets_warm_between_samples(void **state) {
    struct dag_sample samples[] = {
        {.time_ns = 0, .compiled_ns = 20}, {.time_ns = 100, .compiled_ns = 120}, {.time_ns = 1100, .compiled_ns = 200}};
    const struct dag dag = {.samples = samples, .sample_count = 3};
    const struct pacing pacing = {.compiled_ns = 200};
    assert_about(pacing_cold_part(&pacing, &dag, 0, -10), 0.1);
    assert_about(pacing_cold_part(&pacing, &dag, 1, 0), 0.1);
    assert_about(pacing_cold_part(&pacing, &dag, 1, 50), 0.35);
    assert_about(pacing_cold_part(&pacing, &dag, 1, 100), 0.6);
    assert_about(pacing_cold_part(&pacing, &dag, 2, 110), 0.8);
    assert_about(pacing_cold_part(&pacing, &dag, 2, 1090), 0.8);
    assert_about(pacing_cold_part(&pacing, &dag, 3, 2000), 1);
}

// 0.5 of compiling for each 1 of work: what arises is compiled at once, and the run is half as long again on one core.
static void test_what_arises_is_compiled(void **state) {
    struct pace pace = cold_half();
    for (int c = 0; c < PACE_CLASSES; c++) pace.factor[PACE_COLD][c] = 1;
    const struct cores_compiling compiling = {1000000, 0, 0.5};
    const struct cores_recorded recorded = {.cores = 1,
                                            .pace = &pace,
                                            .compiling = &compiling,
                                            .compiling_count = 1,
                                            .compiled_ns = 500000,
                                            .compilers = one_compiler};
    struct cores cores = {0};
    assert_true(cores_reserve(&cores, 1));
    cores_begin(&cores, 1, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){1000000, {0, 0}, 1});
    assert_in_range(end_of(&cores), 1499000, 1501000);
    cores_destroy(&cores);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_law_is_found),
        cmocka_unit_test(test_no_law_is_none),
        cmocka_unit_test(test_few_tasks_tell_nothing),
        cmocka_unit_test(test_a_site_of_one_time_has_its_cost),
        cmocka_unit_test(test_cold_tasks_tell_no_more_than_others),
        cmocka_unit_test(test_what_only_cold_tasks_met_is_cold),
        cmocka_unit_test(test_how_many_requests_came_in_a_row_tells_nothing),
        cmocka_unit_test(test_a_few_that_took_long_tell_little),
        cmocka_unit_test(test_compilers_share_the_cores),
        cmocka_unit_test(test_what_arises_is_compiled),
        cmocka_unit_test(test_what_was_compiled_before_is),
        cmocka_unit_test(test_code_gets_warm_between_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
