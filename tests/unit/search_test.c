// SPDX-License-Identifier: GPL-3.0-or-later
// The search over subsets against brute force on random functions, and whole searches on small traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loads.h"
#include "optimize/candidates.h"
#include "optimize/combine.h"
#include "optimize/search.h"
#include "random_trace.h"

#include <inttypes.h>
#include <stdio.h>
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

static bool evaluate(void *context, struct combination *combinations, size_t count, struct error *error) {
    struct landscape *land = context;
    for (size_t c = 0; c < count; c++) {
        uint32_t set = 0;
        for (uint32_t i = 0; i < combinations[c].count; i++) set |= 1u << combinations[c].members[i];
        assert_true(is_allowed(land, set));
        combinations[c].score = height(land, set);
        combinations[c].valid = true;
        land->evaluated++;
    }
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

enum { TRACES = 2 };

struct fixture {
    struct trace_builder *tb[TRACES];
    struct trace *trace[TRACES];
    struct dag *dag[TRACES];
    struct estimator estimators[TRACES];
    struct estimator *traces[TRACES];
    size_t count;
    struct arena arena;
    struct error error;
    struct search_options options;
    struct search_result result;
};

static struct fixture new_fixture(void) {
    return (struct fixture){
        .error = ERROR_INIT,
        .options = {.top = 10, .seed = 1, .evaluations = SEARCH_EVALUATIONS, .budget_ns = SEARCH_NS}};
}

// Another trace, of the builder's events.
static void add_trace(struct fixture *f, struct trace_builder *tb) {
    f->tb[f->count] = tb;
    f->trace[f->count] = tb_open(tb);
    f->dag[f->count] = dag_build(f->trace[f->count], &f->error);
    assert_non_null(f->dag[f->count]);
    f->traces[f->count] = &f->estimators[f->count];
    assert_true(estimator_init(f->traces[f->count], f->dag[f->count], NULL, &f->error));
    f->count++;
}

static void add_loads(struct fixture *f, const struct load *loads, size_t count) {
    add_trace(f, loads_trace(loads, count));
}

// Ten tasks of Main.main:5 are awaited at once; one of Main.main:8 runs beside main.
static void build(struct fixture *f) {
    const struct load loads[] = {{5, 10, false, NULL}, {8, 1, true, NULL}};
    *f = new_fixture();
    add_loads(f, loads, 2);
}

static void set_objective(struct fixture *f, const char *text) {
    assert_true(objective_parse(text, &f->arena, &f->options.objective, &f->error));
}

static bool try(struct fixture *f) {
    return search_run(f->traces, f->count, &f->options, &f->arena, &f->result, &f->error);
}

static void run(struct fixture *f, const char *objective) {
    set_objective(f, objective);
    assert_true(try(f));
}

static void close_fixture(struct fixture *f) {
    arena_destroy(&f->arena);
    for (size_t t = 0; t < f->count; t++) {
        estimator_destroy(f->traces[t]);
        dag_free(f->dag[t]);
        trace_close(f->trace[t]);
        tb_free(f->tb[t]);
    }
}

static uint32_t line_of(const struct fixture *f, uint32_t candidate) {
    const struct improvement *named = f->result.candidates[candidate].named;
    return named->dag->sites[named->site].site.line;
}

static const struct candidate *candidate_at(const struct fixture *f, uint32_t line) {
    for (uint32_t i = 0; i < f->result.candidate_count; i++) {
        if (line_of(f, i) == line) return &f->result.candidates[i];
    }
    fail_msg("no candidate of line %u", line);
    return NULL;
}

static void test_suggests_what_is_awaited_at_once(void **state) {
    struct fixture f;
    build(&f);
    f.options.all_figures = true;
    run(&f, "composite");
    assert_true(f.result.null_replay_error.share == 0);
    assert_true(fabs(f.result.base.composite - 1) < 1e-12);
    assert_int_equal(f.result.candidate_count, 2);
    assert_int_equal(line_of(&f, 0), 5);
    assert_null(f.result.candidates[0].fails);
    assert_non_null(strstr(f.result.candidates[0].why,
                           "the caller waits for each of these 10 tasks (1.0 us) right after submitting it: "));
    assert_non_null(f.result.candidates[1].fails); // what ran side by side runs in turn
    assert_non_null(strstr(f.result.candidates[1].why, "1 task of 1.0 us is awaited later: "));
    assert_non_null(strstr(f.result.candidates[1].why, "does not meet wall<=0%"));
    assert_int_equal(f.result.plan_count, 1);
    assert_int_equal(f.result.plans[0].count, 1);
    assert_int_equal(f.result.plans[0].candidates[0], 0);
    assert_true(f.result.plans[0].value < 1);
    assert_true(fabs(f.result.plans[0].value - f.result.plans[0].estimate.composite) < 1e-12);
    assert_true(f.result.plans[0].estimate.tasks.count == 2);
    assert_int_equal(f.result.evaluated, 2 + 2);
    assert_string_equal(f.result.method, "exhaustive");
    close_fixture(&f);
}

static void test_what_changes_nothing_is_negligible(void **state) {
    const struct load loads[] = {{5, 400, false, NULL}, {6, 1, false, NULL}, {8, 100, true, NULL}};
    struct fixture f = new_fixture();
    add_loads(&f, loads, 3);
    run(&f, "composite");
    assert_false(candidate_at(&f, 5)->negligible);
    assert_true(candidate_at(&f, 6)->negligible); // one of 501 tasks
    assert_non_null(candidate_at(&f, 8)->fails);
    assert_false(candidate_at(&f, 8)->negligible); // what it costs is no little
    close_fixture(&f);
}

static void sleeps(struct trace_builder *tb, uint32_t thread, uint64_t from_ns, uint64_t to_ns) {
    tb_event(tb, thread, from_ns, EVENT_BLOCK_BEGIN, 0);
    tb_event(tb, thread, to_ns, EVENT_BLOCK_END, 0);
}

static void takes(struct trace_builder *tb, uint32_t worker, uint64_t begin_ns, uint64_t task, uint32_t pool) {
    tb_thread(tb, worker, "worker", 0);
    tb_event(tb, worker, begin_ns, EVENT_THREAD_START, 90 + worker);
    tb_event(tb, worker, begin_ns + 10, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, worker, begin_ns + 20, EVENT_TASK_START, task);
}

enum { LOCK_ON_THE_WAY = 40 };

// Task 11 waits for a lock, in which task 10 sleeps, and then for task 10: without contention on the lock it computes
// while main does instead of while all others sleep, and the run is as long as ever, with as many threads.
static struct trace_builder *lock_on_the_way_of(enum resource_kind kind, const char *class, bool among_others) {
    enum { MAIN = 1, HOLDER, CONTENDER, LOCK = LOCK_ON_THE_WAY, OTHER };
    struct trace_builder *tb = tb_new();
    const uint32_t pool = tb_pool(tb, "pool", 2), site = tb_site(tb, "Main", "main", 5);
    const uint64_t one = want_operand(1, false, site);
    tb_cores(tb, 2);
    for (uint64_t lock = LOCK; lock <= (among_others ? OTHER : LOCK); lock++) {
        tb_resource(tb, lock, kind, 1, 0);
        tb_resource_is(tb, lock, "Main.lock", class ? tb_class(tb, class) : 0);
    }
    tb_thread(tb, MAIN, "main", 0);
    tb_event(tb, MAIN, 0, EVENT_MAIN_BEGIN, 1);
    for (uint64_t task = 10; task < 12; task++) {
        tb_event(tb, MAIN, 10 * task, EVENT_SPAWN_BEGIN, task, site, pool);
        tb_event(tb, MAIN, 10 * task + 5, EVENT_SPAWN_END, task);
    }
    sleeps(tb, MAIN, 500000, 900000);
    tb_event(tb, MAIN, 1000000, EVENT_THREAD_END, 1);
    takes(tb, HOLDER, 110, 10, pool);
    if (among_others) {
        tb_event(tb, HOLDER, 150, EVENT_HELD, OTHER, one);
        tb_event(tb, HOLDER, 190, EVENT_RELEASED, OTHER, one);
    }
    tb_event(tb, HOLDER, 200, EVENT_HELD, LOCK, one);
    sleeps(tb, HOLDER, 300, 599900);
    tb_event(tb, HOLDER, 600000, EVENT_RELEASED, LOCK, one);
    sleeps(tb, HOLDER, 600100, 699900);
    tb_event(tb, HOLDER, 700000, EVENT_TASK_END, 10);
    takes(tb, CONTENDER, 120, 11, pool);
    if (among_others) {
        tb_event(tb, CONTENDER, 160, EVENT_ACQUIRE_BEGIN, OTHER, 0, one);
        tb_event(tb, CONTENDER, 195, EVENT_ACQUIRED, OTHER, 0);
        tb_event(tb, CONTENDER, 198, EVENT_RELEASED, OTHER, one);
    }
    tb_event(tb, CONTENDER, 1000, EVENT_ACQUIRE_BEGIN, LOCK, 0, one);
    tb_event(tb, CONTENDER, 600050, EVENT_ACQUIRED, LOCK, 0);
    tb_event(tb, CONTENDER, 690000, EVENT_RELEASED, LOCK, one);
    tb_event(tb, CONTENDER, 691000, EVENT_WAIT_BEGIN, 10, 0, tb_wait(WAIT_FOR_TASK, site));
    tb_event(tb, CONTENDER, 700050, EVENT_WAIT_END, 10);
    tb_event(tb, CONTENDER, 700100, EVENT_TASK_END, 11);
    return tb;
}

static struct trace_builder *lock_on_the_way(bool among_others) {
    return lock_on_the_way_of(RESOURCE_LOCK, NULL, among_others);
}

// UINT32_MAX: none does.
static uint32_t find_unlocking(const struct fixture *f, uint64_t lock) {
    for (uint32_t c = 0; c < f->result.candidate_count; c++) {
        const struct improvement *named = f->result.candidates[c].named;
        if (named->kind == KIND_UNLOCK && named->dag->resources[named->resource].id == lock) return c;
    }
    return UINT32_MAX;
}

static uint32_t unlocking(const struct fixture *f, uint64_t lock) {
    const uint32_t candidate = find_unlocking(f, lock);
    if (candidate == UINT32_MAX) fail_msg("no candidate unlocks %" PRIu64, lock);
    return candidate;
}

static bool is_in_a_plan(const struct fixture *f, uint32_t candidate) {
    for (size_t i = 0; i < f->result.plan_count; i++) {
        for (uint32_t c = 0; c < f->result.plans[i].count; c++) {
            if (f->result.plans[i].candidates[c] == candidate) return true;
        }
    }
    return false;
}

static void test_what_gains_in_shares_alone_is_in_no_plan(void **state) {
    static const char *const by[] = {"granularity", "balanced"};
    for (int i = 0; i < 2; i++) {
        struct fixture f = new_fixture();
        add_trace(&f, lock_on_the_way(false));
        f.options.model = MODEL_POOL;
        run(&f, by[i]);
        const struct candidate *unlocked = &f.result.candidates[unlocking(&f, LOCK_ON_THE_WAY)];
        assert_null(unlocked->fails);
        assert_true(unlocked->estimate.balanced < 0.95);
        assert_true(f.result.plan_count > 0);
        assert_true(is_in_a_plan(&f, unlocking(&f, LOCK_ON_THE_WAY)) == (i == 0)); // who asks for shares has them
        close_fixture(&f);
    }
}

// The nodes of a concurrent map are locked by the map, not by the program that uses it.
static void test_a_collection_s_nodes_are_not_unlocked(void **state) {
    static const char *const classes[] = {"java.util.Hashtable", "java.util.concurrent.ConcurrentHashMap$Node"};
    for (int i = 0; i < 2; i++) {
        struct fixture f = new_fixture();
        add_trace(&f, lock_on_the_way_of(RESOURCE_MONITOR, classes[i], false));
        f.options.model = MODEL_POOL;
        run(&f, "granularity");
        assert_true((find_unlocking(&f, LOCK_ON_THE_WAY) == UINT32_MAX) == (i == 1));
        close_fixture(&f);
    }
}

// The second trace is searched as if it were a part of the first.
static void run_by_part(struct fixture *f, const char *objective) {
    f->options.parts = &f->traces[1];
    f->options.model = MODEL_POOL;
    f->count = 1;
    run(f, objective);
    f->count = 2;
}

static void test_what_the_whole_lacks_is_no_candidate(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}};
    struct fixture f = new_fixture();
    add_loads(&f, loads, 1);
    add_trace(&f, lock_on_the_way(false));
    run_by_part(&f, "balanced");
    for (uint32_t c = 0; c < f.result.candidate_count; c++)
        assert_int_not_equal(f.result.candidates[c].named->kind, KIND_UNLOCK);
    close_fixture(&f);
}

static uint32_t resource_of(const struct dag *dag, uint64_t id) {
    for (uint32_t r = 0; r < dag->resource_count; r++) {
        if (dag->resources[r].id == id) return r;
    }
    fail_msg("no resource %" PRIu64, id);
    return 0;
}

static void test_a_lock_of_a_part_is_itself_in_the_whole(void **state) {
    struct fixture f = new_fixture();
    struct improvement whole;
    add_trace(&f, lock_on_the_way(true)); // two of one name
    add_trace(&f, lock_on_the_way(false));
    const struct improvement part = {.kind = KIND_UNLOCK,
                                     .dag = f.dag[1],
                                     .site = DAG_NONE,
                                     .context = DAG_NONE,
                                     .path = DAG_NONE,
                                     .resource = resource_of(f.dag[1], LOCK_ON_THE_WAY)};
    assert_true(candidates_translate(&part, f.dag[0], &f.arena, &whole));
    assert_int_equal(whole.resource, resource_of(f.dag[0], LOCK_ON_THE_WAY));
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
    assert_false(try(&f));
    assert_int_equal(f.error.status, STATUS_USAGE);
    close_fixture(&f);
}

static void test_no_tasks_no_plans(void **state) {
    struct fixture f = new_fixture();
    struct trace_builder *tb = tb_new();
    tb_thread(tb, 1, "main", 0);
    tb_event(tb, 1, 0, EVENT_MAIN_BEGIN, 1);
    tb_event(tb, 1, 100, EVENT_THREAD_END, 1);
    add_trace(&f, tb);
    run(&f, "balanced");
    assert_int_equal(f.result.candidate_count, 0);
    assert_int_equal(f.result.plan_count, 0);
    close_fixture(&f);
}

// A task that takes long; if it awaits another, which its spawner hands over only afterwards, it would wait for ever
// inlined.
static void add_crossing(struct fixture *f, bool awaits) {
    struct trace_builder *tb = tb_new();
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
    if (awaits) {
        tb_event(tb, 2, 100, EVENT_WAIT_BEGIN, 11, 0, tb_wait(WAIT_FOR_TASK, waits));
        tb_event(tb, 2, 900, EVENT_WAIT_END, 11);
    }
    tb_event(tb, 2, 1000, EVENT_TASK_END, 10);
    tb_event(tb, 3, 1, EVENT_THREAD_START, 91);
    tb_event(tb, 3, 2, EVENT_WORKER_BEGIN, pool);
    tb_event(tb, 3, 520, EVENT_TASK_START, 11);
    tb_event(tb, 3, 880, EVENT_TASK_END, 11);
    add_trace(f, tb);
}

static void test_deadlocks_are_no_plans(void **state) {
    struct fixture f = new_fixture();
    add_crossing(&f, true);
    run(&f, "composite");
    assert_int_equal(f.result.candidate_count, 2);
    assert_int_equal(f.result.candidates[1].status, CANDIDATE_STUCK);
    assert_int_equal(line_of(&f, 1), 5);
    assert_string_equal(f.result.candidates[1].fails, "deadlock");
    assert_non_null(strstr(f.result.candidates[1].why, "would deadlock:\n    "));
    assert_false(is_in_a_plan(&f, 1));
    close_fixture(&f);
}

// Several traces

static void assert_fails_in_second(const struct fixture *f, const struct candidate *candidate, const char *what) {
    char fails[256], why[256];
    snprintf(fails, sizeof fails, "%s in %s", what, f->trace[1]->path);
    snprintf(why, sizeof why, "in %s: ", f->trace[1]->path);
    assert_string_equal(candidate->fails, fails);
    assert_ptr_equal(strstr(candidate->why, why), candidate->why);
}

static void assert_best(const struct fixture *f, uint32_t count, uint32_t line_a, uint32_t line_b) {
    assert_true(f->result.plan_count > 0);
    const struct ranked_plan *best = &f->result.plans[0];
    assert_int_equal(best->count, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = line_of(f, best->candidates[i]);
        assert_true(line == line_a || line == line_b);
    }
}

static void test_common_plan_of_two_traces(void **state) {
    struct fixture first = new_fixture(), second = new_fixture(), both = new_fixture();
    add_loads(&first, loads_morning, LOADS_OF_DAY);
    add_loads(&second, loads_evening, LOADS_OF_DAY);
    add_loads(&both, loads_morning, LOADS_OF_DAY);
    add_loads(&both, loads_evening, LOADS_OF_DAY);
    run(&first, "composite");
    run(&second, "composite");
    run(&both, "composite");
    assert_best(&first, 2, 5, 6);
    assert_best(&second, 2, 6, 8);
    assert_best(&both, 1, 6, 6);
    assert_int_equal(both.result.candidate_count, 3);
    assert_null(candidate_at(&both, 6)->fails);
    assert_string_equal(candidate_at(&both, 8)->fails, "wall<=0%");
    assert_fails_in_second(&both, candidate_at(&both, 5), "wall<=0%");
    assert_non_null(strstr(candidate_at(&both, 5)->why, ": 4 tasks of 1.0 us are awaited later: "));
    assert_int_equal(candidate_at(&both, 5)->improvements[0].task_count, 10);
    assert_int_equal(candidate_at(&both, 5)->improvements[1].task_count, 4);
    assert_true(both.result.base.wall_ns == first.result.base.wall_ns);
    assert_true(both.result.plans[0].estimate.wall_ns == candidate_at(&first, 6)->estimate.wall_ns);
    double ratio = candidate_at(&first, 6)->estimate.composite * candidate_at(&second, 6)->estimate.composite;
    assert_true(fabs(both.result.plans[0].value - sqrt(ratio)) < 1e-12);
    close_fixture(&first);
    close_fixture(&second);
    close_fixture(&both);
}

static void test_expressions_are_averaged(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}, {6, 30, false, NULL}};
    struct fixture f = new_fixture();
    add_loads(&f, &loads[0], 1);
    add_loads(&f, &loads[1], 1);
    run(&f, "wall / 1000");
    assert_int_equal(f.result.plan_count, 3);
    const double value = f.result.plans[0].value, here = (double)f.result.plans[0].estimate.wall_ns / 1000;
    close_fixture(&f);
    f = new_fixture();
    add_loads(&f, &loads[1], 1);
    run(&f, "wall / 1000");
    assert_true(fabs(value - (here + f.result.plans[0].value) / 2) < 1e-9);
    close_fixture(&f);
}

static void test_requirement_fails_in_second_only(void **state) {
    const struct load morning[] = {{5, 4, false, NULL}}, evening[] = {{5, 4, false, NULL}, {6, 9, false, NULL}};
    struct fixture f = new_fixture();
    const struct requirement *requirement;
    add_loads(&f, morning, 1);
    add_loads(&f, evening, 2);
    assert_true(requirement_parse("tasks.count<=10", &f.arena, &requirement, &f.error)); // main is one
    f.options.requirements = &requirement;
    f.options.requirement_count = 1;
    run(&f, "composite");
    assert_null(candidate_at(&f, 6)->fails);
    assert_null(candidate_at(&f, 5)->fails);
    assert_true(requirement_parse("tasks.count<=5", &f.arena, &requirement, &f.error));
    run(&f, "composite");
    assert_fails_in_second(&f, candidate_at(&f, 5), "tasks.count<=5");
    assert_null(candidate_at(&f, 6)->fails);
    close_fixture(&f);
}

static void test_deadlock_in_second_only(void **state) {
    struct fixture alone = new_fixture(), both = new_fixture();
    add_crossing(&alone, false);
    run(&alone, "composite");
    assert_int_not_equal(candidate_at(&alone, 5)->status, CANDIDATE_STUCK);
    add_crossing(&both, false);
    add_crossing(&both, true);
    run(&both, "composite");
    const struct candidate *candidate = candidate_at(&both, 5);
    assert_int_equal(candidate->status, CANDIDATE_STUCK);
    assert_fails_in_second(&both, candidate, "deadlock");
    assert_non_null(strstr(candidate->why, "would deadlock:\n    "));
    assert_false(is_in_a_plan(&both, (uint32_t)(candidate - both.result.candidates)));
    close_fixture(&alone);
    close_fixture(&both);
}

static void test_site_absent_in_one(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}, {6, 10, false, NULL}};
    struct fixture f = new_fixture();
    add_loads(&f, &loads[0], 1);
    add_loads(&f, loads, 2);
    run(&f, "composite");
    assert_best(&f, 2, 5, 6);
    const struct candidate *candidate = candidate_at(&f, 6);
    assert_int_equal(candidate->improvements[0].task_count, 0);
    assert_int_equal(candidate->improvements[1].task_count, 10);
    assert_ptr_equal(candidate->named->dag, f.dag[1]);
    assert_true(candidate->estimate.wall_ns == f.result.base.wall_ns);
    assert_true(candidate->estimate.composite == 1);
    assert_ptr_equal(strstr(candidate->why, "in "), candidate->why);
    assert_ptr_equal(strstr(candidate_at(&f, 5)->why, "the caller waits for each of these 10 tasks"),
                     candidate_at(&f, 5)->why);
    close_fixture(&f);
}

static void test_refused_in_second_only(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}, {6, 10, false, NULL}};
    struct fixture f = new_fixture();
    add_loads(&f, loads, 2);
    add_loads(&f, loads, 2);
    for (uint32_t t = 0; t < f.dag[1]->task_count; t++) {
        struct dag_task *task = &f.dag[1]->tasks[t];
        if (task->site != DAG_NONE && f.dag[1]->sites[task->site].site.line == 6) task->flags |= TASK_HANDED_OVER;
    }
    run(&f, "composite");
    const struct candidate *candidate = candidate_at(&f, 6);
    assert_int_equal(candidate->status, CANDIDATE_REFUSED);
    assert_false(candidate_is_estimated(candidate));
    assert_fails_in_second(&f, candidate, "refused");
    assert_best(&f, 1, 5, 5);
    close_fixture(&f);
}

static void assert_tasks_of(const struct fixture *f, const char *name, uint32_t here, uint32_t there) {
    char text[64];
    size_t found = 0;
    for (size_t i = 0; i < f->result.candidate_count; i++) {
        const struct candidate *candidate = &f->result.candidates[i];
        if (strcmp(improvement_text(candidate->named, text, sizeof text), name) != 0) continue;
        assert_int_equal(candidate->improvements[0].task_count, here);
        assert_int_equal(candidate->improvements[1].task_count, there);
        found++;
    }
    assert_int_equal(found, 1);
}

static void test_contexts_are_matched_by_name(void **state) {
    const struct load first[] = {{5, 4, false, "serve"}, {5, 2, false, "load"}, {6, 1, false, "load"}};
    const struct load second[] = {
        {5, 3, false, "load"}, {5, 7, false, "serve"}, {5, 1, false, "check"}, {6, 8, false, "check"}};
    struct fixture f = new_fixture();
    add_loads(&f, first, 3);
    add_loads(&f, second, 4);
    run(&f, "composite");
    assert_tasks_of(&f, "inline Main.main:5", 6, 11);
    assert_tasks_of(&f, "inline Main.main:5 in Main.serve", 4, 7);
    assert_tasks_of(&f, "inline Main.main:5 in Main.load", 2, 3);
    assert_tasks_of(&f, "inline Main.main:5 in Main.check", 0, 1);
    assert_tasks_of(&f, "inline Main.main:6", 1, 8);
    assert_int_equal(f.result.candidate_count, 5);
    close_fixture(&f);
}

// Neither trace has both sites of the line, but the plan may.
static void test_sites_of_one_line_in_two_traces(void **state) {
    const struct load loads[] = {{5, 10, false, NULL}, {6, 10, false, NULL}};
    struct fixture f = new_fixture();
    char text[64];
    add_loads(&f, &loads[0], 1);
    add_loads(&f, &loads[1], 1);
    f.dag[1]->sites[0].site.line = 5; // its bytecode index is still 6
    run(&f, "composite");
    assert_int_equal(f.result.candidate_count, 2);
    assert_int_equal(f.result.plans[0].count, 2);
    assert_string_equal(improvement_text(f.result.candidates[0].named, text, sizeof text), "inline Main.main:5@5");
    assert_string_equal(improvement_text(f.result.candidates[1].named, text, sizeof text), "inline Main.main:5@6");
    close_fixture(&f);
}

static void assert_same_candidate(const struct candidate *a, const struct candidate *b) {
    assert_int_equal(a->named->site, b->named->site);
    assert_int_equal(a->named->context, b->named->context);
    assert_int_equal(a->status, b->status);
    assert_string_equal(a->fails ? a->fails : "", b->fails ? b->fails : "");
    assert_string_equal(a->why, b->why);
    assert_int_equal(a->improvements[0].task_count, b->improvements[1].task_count);
}

static void assert_same_result(const struct search_result *once, const struct search_result *twice) {
    assert_int_equal(once->candidate_count, twice->candidate_count);
    for (size_t i = 0; i < once->candidate_count; i++) {
        assert_same_candidate(&once->candidates[i], &twice->candidates[i]);
    }
    assert_int_equal(once->evaluated, twice->evaluated);
    assert_int_equal(once->plan_count, twice->plan_count);
    for (size_t i = 0; i < once->plan_count; i++) {
        assert_true(once->plans[i].value == twice->plans[i].value);
        assert_int_equal(once->plans[i].count, twice->plans[i].count);
        for (uint32_t c = 0; c < once->plans[i].count; c++) {
            assert_int_equal(once->plans[i].candidates[c], twice->plans[i].candidates[c]);
        }
    }
}

struct told {
    uint64_t evaluated, left;
};

// One more each time, and never more left than before.
static void take_progress(void *context, uint64_t evaluated, uint64_t left) {
    struct told *told = context;
    assert_true(evaluated == told->evaluated + 1);
    assert_true(left <= told->left);
    *told = (struct told){evaluated, left};
}

static void test_progress_is_told(void **state) {
    (void)state;
    struct fixture f;
    struct told told = {0, UINT64_MAX};
    build(&f);
    f.options.progress = take_progress;
    f.options.progress_context = &told;
    run(&f, "composite");
    assert_true(told.evaluated == f.result.evaluated && told.evaluated > 2);
    assert_true(told.left < SEARCH_EVALUATIONS);
    close_fixture(&f);
}

// The same trace twice is as the trace once, to the last bit.
static void test_twice_is_once(void **state) {
    static const char *const objectives[] = {"balanced", "composite", "edits", "wall + occupied.mean"};
    size_t plans = 0, candidates = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct fixture f = new_fixture();
        struct arena arena = ARENA_INIT;
        struct search_result twice;
        f.options.evaluations = 200;
        add_trace(&f, random_trace(seed));
        set_objective(&f, objectives[seed % 4]);
        struct estimator again, *const same[] = {f.traces[0], &again};
        assert_true(estimator_init(&again, f.dag[0], NULL, &f.error));
        if (try(&f)) {
            assert_true(search_run(same, 2, &f.options, &arena, &twice, &f.error));
            assert_same_result(&f.result, &twice);
            plans += f.result.plan_count;
            candidates += f.result.candidate_count;
        } else {
            assert_false(search_run(same, 2, &f.options, &arena, &twice, &f.error));
        }
        estimator_destroy(&again);
        arena_destroy(&arena);
        close_fixture(&f);
    }
    assert_true(plans > 50 && candidates > 300);
}

// By the model pool a pool of one thread offers other sizes, which change nothing beside the inlining.
static void test_members_earn_their_place(void **state) {
    struct fixture f;
    build(&f);
    f.options.model = MODEL_POOL;
    run(&f, "composite");
    assert_true(f.result.candidate_count > 2);
    assert_true(f.result.plan_count > 0);
    for (size_t p = 0; p < f.result.plan_count; p++) {
        for (uint32_t i = 0; i < f.result.plans[p].count; i++) {
            assert_int_equal(f.result.candidates[f.result.plans[p].candidates[i]].named->kind, KIND_INLINE);
        }
    }
    close_fixture(&f);
}

// Where there is no time for all candidates those with least time in tasks are left out.
static void test_a_small_budget(void **state) {
    enum { SITES = 30, TRIED = 24 };
    struct load loads[SITES];
    for (uint32_t i = 0; i < SITES; i++) loads[i] = (struct load){10 + i, 1 + (i * 7) % SITES, false, NULL};
    struct fixture f = new_fixture();
    f.options.budget_ns = 1;
    add_loads(&f, loads, SITES);
    run(&f, "composite");
    assert_int_equal(f.result.candidate_count, TRIED);
    assert_int_equal(f.result.untried, SITES - TRIED);
    assert_int_equal(f.result.limit, TRIED);
    assert_true(f.result.evaluated >= 2 * TRIED);
    for (uint32_t i = 0; i < TRIED; i++) {
        assert_true(f.result.candidates[i].named->task_count > SITES - TRIED);
    }
    assert_true(f.result.plan_count > 0);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive_is_best),
        cmocka_unit_test(test_climbing_finds_the_best),
        cmocka_unit_test(test_same_seed_same_result),
        cmocka_unit_test(test_equal_effects_are_one),
        cmocka_unit_test(test_suggests_what_is_awaited_at_once),
        cmocka_unit_test(test_what_changes_nothing_is_negligible),
        cmocka_unit_test(test_what_gains_in_shares_alone_is_in_no_plan),
        cmocka_unit_test(test_a_collection_s_nodes_are_not_unlocked),
        cmocka_unit_test(test_what_the_whole_lacks_is_no_candidate),
        cmocka_unit_test(test_a_lock_of_a_part_is_itself_in_the_whole),
        cmocka_unit_test(test_requirements_replace_the_filter),
        cmocka_unit_test(test_edits_rank_by_number),
        cmocka_unit_test(test_refuses_what_the_trace_lacks),
        cmocka_unit_test(test_no_tasks_no_plans),
        cmocka_unit_test(test_deadlocks_are_no_plans),
        cmocka_unit_test(test_common_plan_of_two_traces),
        cmocka_unit_test(test_expressions_are_averaged),
        cmocka_unit_test(test_requirement_fails_in_second_only),
        cmocka_unit_test(test_deadlock_in_second_only),
        cmocka_unit_test(test_site_absent_in_one),
        cmocka_unit_test(test_refused_in_second_only),
        cmocka_unit_test(test_contexts_are_matched_by_name),
        cmocka_unit_test(test_sites_of_one_line_in_two_traces),
        cmocka_unit_test(test_twice_is_once),
        cmocka_unit_test(test_progress_is_told),
        cmocka_unit_test(test_members_earn_their_place),
        cmocka_unit_test(test_a_small_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
