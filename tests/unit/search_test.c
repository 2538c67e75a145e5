// SPDX-License-Identifier: GPL-3.0-or-later
// The search over subsets against brute force on random functions, and whole searches on small traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimize/combine.h"
#include "optimize/search.h"
#include "trace_builder.h"

#include <stdlib.h>
#include <string.h>

// A random function of subsets: gains of single members and of pairs, which may cancel each other.

enum { MOST = 16 };

struct landscape {
    uint32_t count;
    double single[MOST], pair[MOST][MOST];
    bool excludes[MOST * MOST];
    uint64_t keys[MOST];
    uint32_t evaluated;
};

static double height(const struct landscape *land, uint32_t set) {
    double sum = 1;
    for (uint32_t a = 0; a < land->count; a++) {
        if (!(set >> a & 1)) continue;
        sum += land->single[a];
        for (uint32_t b = 0; b < a; b++) sum += set >> b & 1 ? land->pair[a][b] : 0;
    }
    return sum;
}

static bool is_allowed(const struct landscape *land, uint32_t set) {
    for (uint32_t a = 0; a < land->count; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (set >> a & set >> b & 1 && land->excludes[a * land->count + b]) return false;
        }
    }
    return true;
}

static bool evaluate(void *context, struct combination *combination, struct error *error) {
    struct landscape *land = context;
    uint32_t set = 0;
    for (uint32_t i = 0; i < combination->count; i++) set |= 1u << combination->members[i];
    assert_true(is_allowed(land, set));
    combination->score = height(land, set);
    combination->valid = true;
    land->evaluated++;
    return true;
}

static double random_gain(void) {
    return (double)(rand() % 2001 - 1000) / 10000;
}

static void make_landscape(struct landscape *land, uint32_t count) {
    *land = (struct landscape){.count = count};
    for (uint32_t a = 0; a < count; a++) {
        land->single[a] = random_gain();
        land->keys[a] = (uint64_t)rand() << 32 ^ (uint64_t)rand() << 8 ^ a;
        for (uint32_t b = 0; b < a; b++) {
            land->pair[a][b] = random_gain() / 2;
            land->excludes[a * count + b] = land->excludes[b * count + a] = rand() % 20 == 0;
        }
    }
}

static double lowest(const struct landscape *land) {
    double best = INFINITY;
    for (uint32_t set = 0; set < 1u << land->count; set++) {
        if (is_allowed(land, set)) best = fmin(best, height(land, set));
    }
    return best;
}

static void search_landscape(struct landscape *land, uint32_t evaluations, struct arena *arena,
                             struct combine_result *found) {
    struct error error = ERROR_INIT;
    const struct combine_problem problem = {.candidates = land->count,
                                            .keys = land->keys,
                                            .excludes = land->excludes,
                                            .evaluate = evaluate,
                                            .context = land,
                                            .evaluations = evaluations,
                                            .seed = 1};
    assert_true(combine_search(&problem, arena, found, &error));
    assert_true(found->count <= evaluations + 1);
    assert_int_equal(found->count, land->evaluated);
    for (size_t i = 1; i < found->count; i++) {
        assert_true(combination_compare(&found->combinations[i - 1], &found->combinations[i]) < 0);
    }
}

static void test_exhaustive_is_best(void **state) {
    srand(2);
    for (int i = 0; i < 100; i++) {
        struct arena arena = ARENA_INIT;
        struct landscape land;
        struct combine_result found;
        make_landscape(&land, (uint32_t)rand() % 10);
        search_landscape(&land, 10000, &arena, &found);
        assert_string_equal(found.method, "exhaustive");
        uint32_t allowed = 0;
        for (uint32_t set = 0; set < 1u << land.count; set++) allowed += is_allowed(&land, set);
        assert_int_equal(found.count, allowed);
        assert_true(fabs(found.combinations[0].score - lowest(&land)) < 1e-9);
        arena_destroy(&arena);
    }
}

// Some thousand allowed subsets of 2^16, of which 2,000 may be evaluated.
static void test_climbing_finds_the_best(void **state) {
    int optima = 0;
    srand(3);
    for (int i = 0; i < 30; i++) {
        struct arena arena = ARENA_INIT;
        struct landscape land;
        struct combine_result found;
        make_landscape(&land, MOST);
        search_landscape(&land, 2000, &arena, &found);
        assert_string_equal(found.method, "iterated hill climbing");
        optima += fabs(found.combinations[0].score - lowest(&land)) < 1e-9;
        arena_destroy(&arena);
    }
    assert_true(optima >= 29);
}

static void test_same_seed_same_result(void **state) {
    struct arena arena = ARENA_INIT;
    struct landscape land;
    struct combine_result first, second;
    srand(4);
    make_landscape(&land, MOST);
    search_landscape(&land, 300, &arena, &first);
    land.evaluated = 0;
    search_landscape(&land, 300, &arena, &second);
    assert_int_equal(first.count, second.count);
    for (size_t i = 0; i < first.count; i++) assert_int_equal(first.combinations[i].key, second.combinations[i].key);
    arena_destroy(&arena);
}

// Candidate 2 does what 0 and 1 do together: one combination, with the fewer members.
static void test_equal_effects_are_one(void **state) {
    struct arena arena = ARENA_INIT;
    struct combine_result found;
    struct landscape land = {.count = 3, .single = {-0.1, -0.1, -0.2}, .keys = {5, 6, 5 ^ 6}};
    land.excludes[0 * 3 + 2] = land.excludes[2 * 3 + 0] = land.excludes[1 * 3 + 2] = land.excludes[2 * 3 + 1] = true;
    search_landscape(&land, 100, &arena, &found);
    assert_int_equal(found.count, 4);
    assert_int_equal(found.combinations[0].count, 1);
    assert_int_equal(found.combinations[0].members[0], 2);
    arena_destroy(&arena);
}

// Whole searches

struct fixture {
    struct trace_builder *tb;
    struct trace *trace;
    struct dag *dag;
    struct arena arena;
    struct error error;
    struct search_options options;
    struct search_result result;
};

static void request(struct trace_builder *tb, uint64_t task, uint32_t site, uint32_t pool, uint64_t *main_ns,
                    uint64_t *worker_ns) {
    uint64_t begin = *main_ns, start = (begin + 20 > *worker_ns ? begin + 20 : *worker_ns) + 10;
    tb_event(tb, 1, begin, EVENT_SPAWN_BEGIN, task, site, pool);
    tb_event(tb, 1, begin + 10, EVENT_SPAWN_END, task);
    tb_event(tb, 2, start, EVENT_TASK_START, task);
    tb_event(tb, 2, start + 1000, EVENT_RESULT, task);
    tb_event(tb, 2, start + 1005, EVENT_TASK_END, task);
    *worker_ns = start + 1010;
}

static void await(struct trace_builder *tb, uint64_t task, uint32_t site, uint64_t begin, uint64_t end) {
    tb_event(tb, 1, begin, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, 1, end, EVENT_WAIT_END, task);
}

// Ten tasks of Main.main:5 are awaited at once; one of Main.main:8 runs beside main, which computes for 1000 itself.
static void build(struct fixture *f) {
    *f = (struct fixture){.tb = tb_new(), .error = ERROR_INIT};
    uint32_t pool = tb_pool(f->tb, "pool", 1), at_once = tb_site(f->tb, "Main", "main", 5);
    uint32_t beside = tb_site(f->tb, "Main", "main", 8);
    uint64_t main_ns = 100, worker_ns = 60;
    tb_cores(f->tb, 2);
    tb_thread(f->tb, 1, "main", 0);
    tb_thread(f->tb, 2, "worker", 0);
    tb_event(f->tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    tb_event(f->tb, 2, 40, EVENT_THREAD_START, 90);
    tb_event(f->tb, 2, 50, EVENT_WORKER_BEGIN, pool);
    for (uint64_t task = 10; task < 20; task++) {
        request(f->tb, task, at_once, pool, &main_ns, &worker_ns);
        await(f->tb, task, at_once, main_ns + 20, worker_ns + 20);
        main_ns = worker_ns + 40;
    }
    request(f->tb, 20, beside, pool, &main_ns, &worker_ns);
    await(f->tb, 20, beside, main_ns + 1000, worker_ns + 30);
    tb_event(f->tb, 2, worker_ns + 50, EVENT_THREAD_END, 90);
    tb_event(f->tb, 1, worker_ns + 60, EVENT_THREAD_END, 1);
    f->trace = tb_open(f->tb);
    f->dag = dag_build(f->trace, &f->error);
    assert_non_null(f->dag);
    f->options = (struct search_options){.top = 10, .seed = 1, .evaluations = SEARCH_EVALUATIONS};
}

static void set_objective(struct fixture *f, const char *text) {
    assert_true(objective_parse(text, &f->arena, &f->options.objective, &f->error));
}

static void run(struct fixture *f, const char *objective) {
    set_objective(f, objective);
    assert_true(search_run(f->dag, NULL, &f->options, &f->arena, &f->result, &f->error));
}

static void close_fixture(struct fixture *f) {
    arena_destroy(&f->arena);
    dag_free(f->dag);
    trace_close(f->trace);
    tb_free(f->tb);
}

static uint32_t line_of(const struct fixture *f, uint32_t candidate) {
    return f->dag->sites[f->result.candidates[candidate].improvement.site].site.line;
}

static void test_suggests_what_is_awaited_at_once(void **state) {
    struct fixture f;
    build(&f);
    run(&f, "composite");
    assert_true(f.result.null_replay_error == 0);
    assert_true(fabs(f.result.base.composite - 1) < 1e-12);
    assert_int_equal(f.result.candidate_count, 2);
    assert_int_equal(line_of(&f, 0), 5);
    assert_null(f.result.candidates[0].fails);
    assert_non_null(strstr(f.result.candidates[0].why, "10 tasks of 1.0 us are awaited at once by their spawner: "));
    assert_non_null(f.result.candidates[1].fails); // what ran side by side runs in turn
    assert_non_null(strstr(f.result.candidates[1].why, "1 task of 1.0 us is awaited later: "));
    assert_non_null(strstr(f.result.candidates[1].why, "does not meet wall<=0%"));
    assert_int_equal(f.result.plan_count, 1);
    assert_int_equal(f.result.plans[0].count, 1);
    assert_int_equal(f.result.plans[0].candidates[0], 0);
    assert_true(f.result.plans[0].value < 1);
    assert_true(fabs(f.result.plans[0].value - f.result.plans[0].estimate.composite) < 1e-12);
    assert_true(f.result.plans[0].estimate.tasks.count == 2);
    assert_int_equal(f.result.evaluated, 2 + 4);
    assert_string_equal(f.result.method, "exhaustive");
    close_fixture(&f);
}

static void test_requirements_replace_the_filter(void **state) {
    struct fixture f;
    build(&f);
    const struct requirement *requirement;
    assert_true(requirement_parse("occupied.max<=1", &f.arena, &requirement, &f.error));
    f.options.requirements = &requirement;
    f.options.requirement_count = 1;
    run(&f, "wall");
    assert_int_equal(f.result.plan_count, 1); // slower, but the base does not meet it, and only both do
    assert_int_equal(f.result.plans[0].count, 2);
    assert_true(f.result.plans[0].estimate.threads[STATE_OCCUPIED].max == 1);
    close_fixture(&f);
}

static void test_edits_rank_by_number(void **state) {
    struct fixture f;
    build(&f);
    run(&f, "edits");
    assert_int_equal(f.result.plan_count, 1);
    assert_true(f.result.plans[0].value == 1);
    close_fixture(&f);
}

static void test_refuses_what_the_trace_lacks(void **state) {
    struct fixture f;
    build(&f);
    set_objective(&f, "utilisation");
    assert_false(search_run(f.dag, NULL, &f.options, &f.arena, &f.result, &f.error));
    assert_int_equal(f.error.status, STATUS_USAGE);
    set_objective(&f, "blocked.mean");
    assert_false(search_run(f.dag, NULL, &f.options, &f.arena, &f.result, &f.error));
    assert_int_equal(f.error.status, STATUS_USAGE);
    close_fixture(&f);
}

static void test_no_tasks_no_plans(void **state) {
    struct fixture f = {.tb = tb_new(), .error = ERROR_INIT, .options = {.top = 5, .evaluations = 10}};
    tb_thread(f.tb, 1, "main", 0);
    tb_event(f.tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    tb_event(f.tb, 1, 100, EVENT_THREAD_END, 1);
    f.trace = tb_open(f.tb);
    f.dag = dag_build(f.trace, &f.error);
    run(&f, "balanced");
    assert_int_equal(f.result.candidate_count, 0);
    assert_int_equal(f.result.plan_count, 0);
    close_fixture(&f);
}

// A task that awaits another, which its spawner hands over only afterwards: inlined, it would wait for ever.
static void test_deadlocks_are_no_plans(void **state) {
    struct fixture f = {.tb = tb_new(), .error = ERROR_INIT};
    struct trace_builder *tb = f.tb;
    uint32_t pool = tb_pool(tb, "pool", 2), waits = tb_site(tb, "Main", "main", 5),
             later = tb_site(tb, "Main", "main", 6);
    tb_thread(tb, 1, "main", 0);
    tb_thread(tb, 2, "worker-1", 0);
    tb_thread(tb, 3, "worker-2", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    tb_event(tb, 1, 10, EVENT_SPAWN_BEGIN, 10, waits, pool);
    tb_event(tb, 1, 20, EVENT_SPAWN_END, 10);
    tb_event(tb, 1, 500, EVENT_SPAWN_BEGIN, 11, later, pool);
    tb_event(tb, 1, 510, EVENT_SPAWN_END, 11);
    tb_event(tb, 1, 2000, EVENT_THREAD_END, 1);
    tb_event(tb, 2, 1, EVENT_THREAD_START, 90);
    tb_event(tb, 2, 2, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 2, 30, EVENT_TASK_START, 10);
    tb_event(tb, 2, 100, EVENT_WAIT_BEGIN, 11, 0, tb_wait(WAIT_FOR_TASK, waits));
    tb_event(tb, 2, 900, EVENT_WAIT_END, 11);
    tb_event(tb, 2, 1000, EVENT_TASK_END, 10);
    tb_event(tb, 3, 1, EVENT_THREAD_START, 91);
    tb_event(tb, 3, 2, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 3, 520, EVENT_TASK_START, 11);
    tb_event(tb, 3, 880, EVENT_TASK_END, 11);
    f.trace = tb_open(tb);
    f.dag = dag_build(f.trace, &f.error);
    f.options = (struct search_options){.top = 10, .evaluations = 100};
    run(&f, "composite");
    assert_int_equal(f.result.candidate_count, 2);
    assert_int_equal(f.result.candidates[1].outcome, DAG_DEADLOCK);
    assert_int_equal(line_of(&f, 1), 5);
    assert_non_null(strstr(f.result.candidates[1].why, "would deadlock: "));
    for (size_t i = 0; i < f.result.plan_count; i++) {
        for (uint32_t c = 0; c < f.result.plans[i].count; c++) assert_int_not_equal(f.result.plans[i].candidates[c], 1);
    }
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive_is_best),
        cmocka_unit_test(test_climbing_finds_the_best),
        cmocka_unit_test(test_same_seed_same_result),
        cmocka_unit_test(test_equal_effects_are_one),
        cmocka_unit_test(test_suggests_what_is_awaited_at_once),
        cmocka_unit_test(test_requirements_replace_the_filter),
        cmocka_unit_test(test_edits_rank_by_number),
        cmocka_unit_test(test_refuses_what_the_trace_lacks),
        cmocka_unit_test(test_no_tasks_no_plans),
        cmocka_unit_test(test_deadlocks_are_no_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
