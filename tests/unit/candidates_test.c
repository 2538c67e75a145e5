// SPDX-License-Identifier: GPL-3.0-or-later
// What traces made by hand offer: stages of combinators, paths, grain of tasks, sizes of pools.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics/grain.h"
#include "optimize/branch.h"
#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "optimize/why.h"
#include "random_pool.h"
#include "random_trace.h"
#include "steps.h"

enum { MAIN = STEP_MAIN, WORKER = STEP_WORKER };

struct fixture {
    struct steps steps;
    uint32_t sub_site, other_site; // Main.sub:20, Main.other:30
    struct arena arena;
    struct error error;
    struct improvement *all;
    size_t count;
};

static struct fixture begin(void) {
    struct fixture f = {.error = ERROR_INIT};
    steps_begin(&f.steps);
    f.sub_site = tb_site(f.steps.tb, "Main", "sub", 20);
    f.other_site = tb_site(f.steps.tb, "Main", "other", 30);
    return f;
}

static void find(struct fixture *f, unsigned kinds) {
    if (!f->steps.dag) steps_build(&f->steps);
    assert_true(candidates_find(f->steps.dag, kinds, &f->arena, &f->all, &f->count, &f->error));
}

static void end(struct fixture *f) {
    arena_destroy(&f->arena);
    steps_end(&f->steps);
}

static void spawn_at(struct fixture *f, uint32_t site, uint32_t thread, uint64_t task) {
    uint32_t usual = f->steps.site;
    f->steps.site = site;
    step_spawn(&f->steps, thread, task);
    f->steps.site = usual;
}

// The coordinator's work: without any event of its own, for longer than ten wake-ups.
static void work(struct fixture *f) {
    f->steps.now_ns += 100 * STEP_NS;
}

// Stages

// "thenApply(sub) thenCompose(other)" of the only combinator that there is.
static char *stages_text(const struct fixture *f, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    assert_int_equal(f->count, 1);
    const struct stages *stages = &f->all[0].stages;
    for (uint32_t i = 0; i < stages->count; i++) {
        const struct stage *stage = &stages->items[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s %u(", i ? " " : "", stage->method, stage->tasks);
        for (uint32_t j = 0; j < stage->input_count; j++) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", j ? " " : "",
                                     f->steps.dag->sites[stage->inputs[j]].site.method);
        }
        used += (size_t)snprintf(text + used, size - used, ")");
    }
    return text;
}

// Bodies of sub-tasks, on a thread beside.
static void run_beside(struct fixture *f, uint64_t task) {
    step(&f->steps, STEP_OTHER, EVENT_TASK_START, task);
    step(&f->steps, STEP_OTHER, EVENT_TASK_END, task);
}

// Sub-tasks 11, 12, ... of coordinator 1 on the worker.
static void begin_coordinator(struct fixture *f) {
    step_spawn(&f->steps, MAIN, 1);
    step(&f->steps, STEP_OTHER, EVENT_THREAD_START, 0);
    step_start(&f->steps, 1);
}

static void check_stages(struct fixture *f, const char *expected) {
    char text[256];
    step_finish(&f->steps, 1);
    find(f, KIND_BIT(KIND_COMBINATOR));
    assert_string_equal(stages_text(f, text, sizeof text), expected);
    assert_int_equal(f->all[0].task_count, 1);
    assert_null(f->all[0].refusal);
    end(f);
}

// R Fig. 3: both are spawned, then both are awaited.
static void test_two_inputs(void **state) {
    struct fixture f = begin();
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    spawn_at(&f, f.other_site, WORKER, 12);
    run_beside(&f, 11);
    run_beside(&f, 12);
    step_await(&f.steps, WORKER, 11);
    step_await(&f.steps, WORKER, 12);
    check_stages(&f, "thenCombine 2(sub other)");
}

// The same with the first stage on its pool: it is one more that the next follows, which it has spawned all inputs of.
static void test_stages_behind_a_task(void **state) {
    struct fixture f = begin();
    char text[256];
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    run_beside(&f, 11);
    step_await(&f.steps, WORKER, 11);
    step_finish(&f.steps, 1);
    find(&f, KIND_BIT(KIND_COMBINATOR) | KINDS_ON_POOL);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.all[0].first, FIRST_STAGE_ON_SPAWNER);
    assert_int_equal(f.all[1].first, FIRST_STAGE_ON_POOL);
    assert_true(candidates_same_family(&f.all[0], &f.all[1]) && improvements_conflict(&f.all[0], &f.all[1]));
    assert_true(improvement_key(&f.all[0], 0) != improvement_key(&f.all[1], 0));
    f.count = 1; // what stages_text reads
    assert_string_equal(stages_text(&f, text, sizeof text), "thenApply 1(sub)");
    f.all++;
    assert_string_equal(stages_text(&f, text, sizeof text), "thenCompose 1(sub)");
    assert_string_equal(improvement_text(&f.all[0], text, sizeof text),
                        "combinator Main.run:12, first stage on its pool");
    f.steps.dag->pools[f.steps.pool].discipline = DISCIPLINE_UNKNOWN;
    assert_true(candidates_fill(&f.all[0], &f.arena));
    assert_non_null(strstr(f.all[0].refusal, "its first stage can't stay on its pool"));
    end(&f);
}

// One after the other, each fed by the one before.
static void test_chain(void **state) {
    struct fixture f = begin();
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    run_beside(&f, 11);
    step_await(&f.steps, WORKER, 11);
    work(&f);
    spawn_at(&f, f.other_site, WORKER, 12);
    run_beside(&f, 12);
    step_await(&f.steps, WORKER, 12);
    work(&f);
    check_stages(&f, "thenApply 1(sub) thenCompose 1(other)");
}

// What was spawned before the first wait is awaited after work: the second stage needs both.
static void test_work_between(void **state) {
    struct fixture f = begin();
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    spawn_at(&f, f.other_site, WORKER, 12);
    run_beside(&f, 11);
    run_beside(&f, 12);
    step_await(&f.steps, WORKER, 11);
    work(&f);
    step_await(&f.steps, WORKER, 12);
    check_stages(&f, "thenApply 1(sub) thenCombine 1(other)");
}

static void test_many_inputs_and_loop(void **state) {
    struct fixture f = begin();
    begin_coordinator(&f);
    for (uint64_t id = 11; id <= 17; id++) spawn_at(&f, f.sub_site, WORKER, id);
    for (uint64_t id = 11; id <= 17; id++) run_beside(&f, id);
    for (uint64_t id = 11; id <= 13; id++) step_await(&f.steps, WORKER, id); // a stage
    for (uint64_t id = 14; id <= 17; id++) {                                 // four alike
        work(&f);
        step_await(&f.steps, WORKER, id);
    }
    check_stages(&f, "allOf 3(sub) thenCombine 4(sub)");
}

// Tasks of the site that await nothing of their own are no coordinators, and stay as they are.
static void test_only_coordinators(void **state) {
    struct fixture f = begin();
    step_spawn(&f.steps, MAIN, 2);
    step_spawn(&f.steps, MAIN, 3);
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    run_beside(&f, 11);
    step_await(&f.steps, WORKER, 11);
    step_finish(&f.steps, 1);
    step_body(&f.steps, 2);
    step_start(&f.steps, 3);
    step(&f.steps, WORKER, EVENT_TAKEN, 2); // another's
    step_finish(&f.steps, 3);
    find(&f, KIND_BIT(KIND_COMBINATOR));
    assert_int_equal(f.count, 1);
    assert_int_equal(f.all[0].task_count, 1);
    assert_int_equal(f.all[0].tasks[0], steps_task(&f.steps, 1));
    end(&f);
}

// Paths

static void step_call(struct fixture *f, uint32_t method) {
    step(&f->steps, WORKER, EVENT_ENTER, method);
    step(&f->steps, WORKER, EVENT_EXIT, method);
}

// Three tasks that return at once, two that work in another function.
static void add_paths(struct fixture *f, bool unequal) {
    uint32_t quick = tb_method(f->steps.tb, "Main", "quick"), slow = tb_method(f->steps.tb, "Main", "slow");
    for (uint64_t id = 1; id <= 5; id++) step_spawn(&f->steps, MAIN, id);
    for (uint64_t id = 1; id <= 5; id++) {
        step_start(&f->steps, id);
        if (id > 3 && unequal) work(f);
        step_call(f, id > 3 ? slow : quick);
        step_finish(&f->steps, id);
    }
}

static void test_paths(void **state) {
    struct fixture f = begin();
    add_paths(&f, true);
    find(&f, KIND_BIT(KIND_HOIST_BRANCH));
    assert_int_equal(f.count, 2);
    assert_int_equal(f.all[0].task_count, 3); // the commonest first
    assert_int_equal(f.all[1].task_count, 2);
    assert_int_equal(f.all[1].tasks[0], steps_task(&f.steps, 4));
    assert_true(f.all[0].path != f.all[1].path);
    assert_false(improvements_conflict(&f.all[0], &f.all[1]));
    struct improvement *variants, open = f.all[0];
    size_t count;
    open.path = DAG_NONE;
    assert_true(candidates_fill(&open, &f.arena));
    assert_int_equal(open.task_count, 5);
    assert_true(candidates_variants(&open, &f.arena, &variants, &count, &f.error));
    assert_int_equal(count, 2);
    assert_int_equal(variants[1].path, f.all[1].path);
    end(&f);
}

static void test_equal_paths_offer_nothing(void **state) {
    struct fixture f = begin();
    add_paths(&f, false);
    find(&f, KIND_BIT(KIND_HOIST_BRANCH));
    assert_int_equal(f.count, 0);
    end(&f);
}

static void check_branch(struct fixture *f, size_t candidate, const char *decides, const char *leads_to, bool on_this,
                         bool late) {
    const struct branch branch = branch_find(&f->all[candidate]);
    const struct trace_method *methods = f->steps.trace->methods;
    assert_true(branch.known);
    if (!decides)
        assert_int_equal(branch.decides, 0);
    else
        assert_string_equal(methods[branch.decides].name, decides);
    assert_string_equal(methods[branch.leads_to].name, leads_to);
    assert_int_equal(branch.on_this, on_this);
    assert_int_equal(branch.late, late);
}

static void test_branch_in_body(void **state) {
    struct fixture f = begin();
    add_paths(&f, true);
    find(&f, KIND_BIT(KIND_HOIST_BRANCH));
    check_branch(&f, 0, NULL, "quick", true, true); // one step of three: a third of the task
    check_branch(&f, 1, NULL, "slow", true, true);
    struct improvement open = f.all[0];
    open.path = DAG_NONE;
    assert_false(branch_find(&open).known);
    end(&f);
}

// All enter handle, and from there look(); two then store(), which takes them long. 3 is the first of these, and awaits
// a result before it if `awaits`. Helped in between is another task's body, which calls what no one else does.
static void add_handlers(struct fixture *f, bool awaits) {
    struct steps *s = &f->steps;
    uint32_t handle = tb_method(s->tb, "Main", "handle"), look = tb_method(s->tb, "Main", "look");
    uint32_t store = tb_method(s->tb, "Main", "store"), other = tb_method(s->tb, "Main", "other");
    for (uint64_t id = 1; id <= 4; id++) step_spawn(s, MAIN, id);
    spawn_at(f, f->other_site, MAIN, 9);
    for (uint64_t id = 1; id <= 4; id++) {
        step_start(s, id);
        step(s, WORKER, EVENT_ENTER, handle);
        step_call(f, look);
        if (id == 3) {
            step_start(s, 9);
            step_call(f, other);
            step_finish(s, 9);
        }
        if (id == 3 && awaits) step(s, WORKER, EVENT_TAKEN, 1);
        if (id > 2) step(s, WORKER, EVENT_ENTER, store);
        if (id > 2) work(f);
        if (id > 2) work(f);
        if (id > 2) step(s, WORKER, EVENT_EXIT, store);
        step(s, WORKER, EVENT_EXIT, handle);
        step_finish(s, id);
    }
}

static void test_branch_in_function(void **state) {
    for (int awaits = 0; awaits < 2; awaits++) {
        struct fixture f = begin();
        add_handlers(&f, awaits);
        find(&f, KIND_BIT(KIND_HOIST_BRANCH));
        assert_int_equal(f.count, 2);
        bool stores_first = f.all[0].tasks[0] == steps_task(&f.steps, 3);
        check_branch(&f, stores_first, "handle", "store", false, awaits); // the quick ones' path lacks it
        check_branch(&f, !stores_first, "handle", "store", true, awaits);
        end(&f);
    }
}

// Sentences

static char *write_why(const struct improvement *improvement, char *text, size_t size) {
    struct metrics base, estimate;
    metrics_unknown(&base);
    base.wall_ns = 10000;
    base.threads[STATE_OCCUPIED] = (struct usage){.peak = 4, .max = 4, .mean = 3};
    base.tasks.idle_share = 0.25;
    estimate = base;
    estimate.wall_ns = 9000;
    estimate.threads[STATE_OCCUPIED].peak = 2;
    struct error error = ERROR_INIT;
    struct costs *costs = costs_measure(improvement->dag, &error);
    assert_non_null(costs);
    const struct why why = {.improvement = improvement,
                            .costs = costs,
                            .base = &base,
                            .estimate = &estimate,
                            .refusal = improvement->refusal};
    struct arena arena = ARENA_INIT;
    snprintf(text, size, "%s", why_text(&why, &arena));
    arena_destroy(&arena);
    costs_free(costs);
    return text;
}

#define assert_why(improvement, expected)                                                                              \
    do {                                                                                                               \
        char text[512];                                                                                                \
        assert_string_equal(write_why((improvement), text, sizeof text), (expected));                                  \
    } while (0)

static void test_why_of_paths(void **state) {
    struct fixture f = begin();
    add_handlers(&f, true);
    find(&f, KIND_BIT(KIND_HOIST_BRANCH));
    assert_why(&f.all[f.all[0].tasks[0] == steps_task(&f.steps, 3)],
               "2 tasks of 50.0 ns are awaited by no thread; 2 others of the site take 2.1 us on another path, "
               "which parts in Main.handle: Main.store is entered on the other only, after the task has awaited "
               "a result and spent 90.0 ns, so that the spawner may be unable to decide: 2.0 threads fewer at "
               "peak, as many threads on average, wall -10.0 %");
    end(&f);
}

static void test_why_of_stages(void **state) {
    struct fixture f = begin();
    begin_coordinator(&f);
    spawn_at(&f, f.sub_site, WORKER, 11);
    run_beside(&f, 11);
    step_await(&f.steps, WORKER, 11);
    step_finish(&f.steps, 1);
    find(&f, KIND_BIT(KIND_COMBINATOR));
    assert_why(&f.all[0], "1 task of 70.0 ns waits 10.0 ns for what it spawned; what comes before that (50.0 ns) runs "
                          "on the spawner; as 1 "
                          "stage (thenApply) no thread would: "
                          "2.0 threads fewer at peak, as many threads on average, wall -10.0 %");
    find(&f, KIND_BIT(KIND_INLINE));
    assert_why(&f.all[0], "1 task of 70.0 ns is awaited by no thread: 2.0 threads fewer at peak, as many threads on "
                          "average, wall -10.0 %");
    end(&f);
}

// Grain. The builder's machine has 4 cores.

enum { CORES = 4, WORKERS = 4, FIRST_WORKER = 10, FIRST_TASK = STEP_M + 1 };

struct load {
    uint32_t tasks, workers; // tasks take turns on the workers
    uint64_t body_ns;
    bool one_by_one;                          // each awaited before the next is spawned
    bool barrier;                             // each sleeps for what is not known, for half of its time
    uint64_t switches_with, switches_without; // in 100 ms; 0: no samples
    uint64_t busy_cores;
    uint64_t computes_percent; // of their time; 0: not measured
    bool pauses;               // all the time
};

static void add_body(struct steps *s, uint32_t worker, uint64_t task, uint64_t at_ns, const struct load *load) {
    const uint64_t cpu_ns = at_ns * load->computes_percent / 100,
                   body_cpu_ns = load->body_ns * load->computes_percent / 100;
    tb_event(s->tb, worker, at_ns, EVENT_TASK_START, task, cpu_ns);
    if (load->barrier) {
        tb_event(s->tb, worker, at_ns + load->body_ns / 4, EVENT_WAIT_BEGIN, 0, 0, tb_wait(WAIT_FOR_UNKNOWN, 0));
        tb_event(s->tb, worker, at_ns + load->body_ns * 3 / 4, EVENT_WAIT_END, 0);
    }
    tb_event(s->tb, worker, at_ns + load->body_ns, EVENT_TASK_END, task, cpu_ns + body_cpu_ns);
}

// The tasks run once all are spawned; samples go on for as long again.
static void add_load(struct fixture *f, const struct load *load) {
    struct steps *s = &f->steps;
    const uint64_t begin_ns = 1000 + 2 * STEP_NS * load->tasks, slot_ns = load->body_ns + 1000;
    for (uint32_t w = 0; w < load->workers; w++) {
        tb_thread(s->tb, FIRST_WORKER + w, "worker", 0);
        tb_event(s->tb, FIRST_WORKER + w, 100, EVENT_THREAD_START, 0);
        tb_event(s->tb, FIRST_WORKER + w, 200, EVENT_WORKER_BEGIN, s->pool);
    }
    for (uint32_t i = 0; i < load->tasks; i++) {
        uint64_t at_ns = begin_ns + i / load->workers * slot_ns;
        if (load->one_by_one) s->now_ns = at_ns - 100;
        step_spawn(s, MAIN, FIRST_TASK + i);
        add_body(s, FIRST_WORKER + i % load->workers, FIRST_TASK + i, at_ns, load);
        if (!load->one_by_one) continue;
        s->now_ns = at_ns + load->body_ns;
        step(s, MAIN, EVENT_TAKEN, FIRST_TASK + i);
    }
    uint64_t end_ns = begin_ns + (load->tasks + load->workers - 1) / load->workers * slot_ns;
    uint64_t last_ns = load->switches_with ? 2 * end_ns : end_ns, switches = 0, cpu_ns = 0;
    tb_thread(s->tb, 0, "JVM", THREAD_SYSTEM);
    if (load->pauses) tb_event(s->tb, 0, begin_ns - 2, EVENT_GC_BEGIN);
    for (uint64_t t = begin_ns; load->switches_with && t <= last_ns; t += end_ns / 8) {
        tb_event(s->tb, 0, t, EVENT_SAMPLE, cpu_ns, cpu_ns, switches);
        bool with = t + end_ns / 16 < end_ns;
        switches += (with ? load->switches_with : load->switches_without) * (end_ns / 8) / 100000000;
        cpu_ns += with ? load->busy_cores * (end_ns / 8) : 0;
    }
    if (load->pauses) tb_event(s->tb, 0, last_ns + 1, EVENT_GC_END);
    s->now_ns = last_ns;
    steps_build(s);
}

static struct grain_group *groups_of(struct fixture *f, const struct load *load, size_t *count) {
    struct grain_group *groups;
    *f = begin();
    add_load(f, load);
    assert_true(grain_find(f->steps.dag, &f->arena, &groups, count, &f->error));
    return groups;
}

static void check_grain(const struct load *load, const char *expected) {
    struct fixture f;
    size_t count;
    struct grain_group *groups = groups_of(&f, load, &count);
    if (!*expected) {
        assert_int_equal(count, 0);
    } else {
        assert_int_equal(count, 1);
        assert_int_equal(groups[0].grain, strcmp(expected, "fine") == 0 ? GRAIN_FINE : GRAIN_COARSE);
        assert_int_equal(groups[0].task_count, load->tasks);
        assert_int_equal(groups[0].sampled, load->switches_with > 0);
    }
    end(&f);
}

static void test_fine(void **state) {
    const struct load fine = {.tasks = 800, .workers = WORKERS, .body_ns = 500};
    struct load load = fine;
    check_grain(&load, "fine");
    load.one_by_one = true; // no batch
    load.workers = 1;
    check_grain(&load, "");
    load = fine;
    load.tasks = CORES; // few
    check_grain(&load, "");
    load = fine;
    load.barrier = true;
    check_grain(&load, "");
    load = fine;
    load.body_ns = 1000000; // hand-over is nothing to that
    check_grain(&load, "");
}

static void test_fine_by_samples(void **state) {
    struct load load = {.tasks = 16000,
                        .workers = WORKERS,
                        .body_ns = 50000,
                        .switches_with = 20000,
                        .switches_without = 10,
                        .busy_cores = 4};
    check_grain(&load, "fine");
    load.switches_without = load.switches_with; // they come with or without, and hand-over costs 2 % only
    check_grain(&load, "");
    load = (struct load){.tasks = 400,
                         .workers = WORKERS,
                         .body_ns = 5000000,
                         .switches_with = 20000,
                         .switches_without = 10,
                         .busy_cores = 4};
    check_grain(&load, ""); // large
}

static void test_coarse(void **state) {
    const struct load coarse = {.tasks = 2, .workers = 2, .body_ns = 50000000};
    struct load load = coarse;
    check_grain(&load, "coarse");
    load.workers = load.tasks = CORES; // no core idles
    check_grain(&load, "");
    load = coarse;
    load.barrier = true;
    check_grain(&load, "");
    load = coarse;
    load.body_ns = 1000; // small
    check_grain(&load, "");
    load = coarse;
    load.switches_with = 100;
    load.busy_cores = 2;
    check_grain(&load, "coarse");
    struct fixture f;
    size_t count;
    load.pauses = true; // then no sample counts
    assert_false(groups_of(&f, &load, &count)->sampled);
    assert_int_equal(count, 1);
    end(&f);
    load.pauses = false;
    load.computes_percent = 90;
    check_grain(&load, "coarse");
    load.computes_percent = 40; // as when they meet at a barrier that no event shows
    check_grain(&load, "");
    load.computes_percent = 1; // asleep, or served
    load.switches_with = 60;
    check_grain(&load, "coarse");
    load.switches_with = 100; // seldom enough for what computes only
    check_grain(&load, "");
    load.computes_percent = 90;
    load.switches_with = 4000; // contended
    check_grain(&load, "");
    load.switches_with = 100;
    load.busy_cores = 4; // by what is no task
    check_grain(&load, "");
}

static void test_numbers_and_factors(void **state) {
    const struct load coarse = {.tasks = 2, .workers = 2, .body_ns = 50000000},
                      fine = {.tasks = 50, .workers = 4, .body_ns = 500};
    struct fixture f;
    size_t count;
    struct grain_group *groups = groups_of(&f, &coarse, &count);
    assert_true(fabs(groups[0].mean_ns - 50000000) < 1);
    assert_true(groups[0].similarity == 1);
    assert_true(fabs(groups[0].cores_idle - 1) < 1.01); // main takes part of one until it ends
    assert_true(isnan(groups[0].switches_with));
    assert_true(groups[0].follows_cores); // two, as the pool has threads
    find(&f, KIND_BIT(KIND_SPLIT) | KIND_BIT(KIND_MERGE));
    assert_int_equal(f.count, 4); // 2, 4, 8, 16
    for (size_t i = 0; i < f.count; i++) {
        assert_int_equal(f.all[i].kind, KIND_SPLIT);
        assert_int_equal(f.all[i].factor, 2 << i);
        assert_true(f.all[i].follows_cores);
        assert_int_equal(f.all[i].task_count, 2);
        assert_true(i == 0 ||
                    (candidates_same_family(&f.all[i], &f.all[0]) && improvements_conflict(&f.all[i], &f.all[0])));
    }
    end(&f);
    groups = groups_of(&f, &fine, &count);
    assert_int_equal(groups[0].largest_batch, 50);
    assert_false(groups[0].follows_cores);
    find(&f, KIND_BIT(KIND_SPLIT) | KIND_BIT(KIND_MERGE));
    assert_int_equal(f.count, 5); // 2 to 32
    assert_int_equal(f.all[4].kind, KIND_MERGE);
    assert_int_equal(f.all[4].factor, 32);
    end(&f);
}

// The pool that the steps have, with other rules.
static void set_pool(struct fixture *f, struct dag_pool rules) {
    rules.alike = f->steps.pool;
    rules.alike_count = 1;
    f->steps.dag->pools[f->steps.pool] = rules;
}

static void test_why_of_grain(void **state) {
    const struct load coarse = {.tasks = 2, .workers = 2, .body_ns = 50000000};
    const struct load fine = {.tasks = 1200, .workers = 4, .body_ns = 500};
    struct fixture f;
    size_t count;
    groups_of(&f, &coarse, &count);
    find(&f, KIND_BIT(KIND_SPLIT));
    assert_why(&f.all[1],
               "2 tasks of 50.0 ms leave 1.0 of 4 cores idle; in 4 parts each, if their work divides evenly: "
               "2.0 threads fewer at peak, as many threads on average, wall -10.0 % (1.0 us less)");
    end(&f);
    groups_of(&f, &fine, &count);
    find(&f, KIND_BIT(KIND_MERGE));
    assert_why(&f.all[2],
               "1,200 tasks of 500 ns spend 1.1 us each on hand-over; 8 at a time: 2.0 threads fewer at peak, "
               "as many threads on average, wall -10.0 % (1.0 us less)");
    set_pool(&f, (struct dag_pool){.discipline = DISCIPLINE_FIFO, .core = 4, .maximum = 4});
    find(&f, KIND_BIT(KIND_RESIZE_POOL));
    assert_why(&f.all[0],
               "1,200 tasks of 500 ns share 4 threads and wait 237 us each for one; with 1: 2.0 threads fewer "
               "at peak, as many threads on average, wall -10.0 % (1.0 us less)");
    struct improvement refused = f.all[0];
    refused.refusal = "its rules are unknown";
    assert_why(&refused, "1,200 tasks of 500 ns, and can't be run by a pool of that size: its rules are unknown");
    end(&f);
}

// Pools

static void test_pool_sizes(void **state) {
    const struct load load = {.tasks = 12, .workers = 3, .body_ns = 1000};
    struct fixture f = begin();
    add_load(&f, &load);
    set_pool(&f, (struct dag_pool){.discipline = DISCIPLINE_FIFO, .core = 8, .maximum = 8});
    find(&f, KIND_BIT(KIND_RESIZE_POOL));
    // Halved down to 1; busy (3), cores (4), three quarters, one and a half, twice.
    static const int32_t sizes[] = {1, 2, 3, 4, 6, 12, 16};
    assert_int_equal(f.count, 7);
    for (size_t i = 0; i < f.count; i++) {
        assert_int_equal(f.all[i].threads, sizes[i]);
        assert_int_equal(f.all[i].task_count, 12);
        assert_int_equal(f.all[i].site, DAG_NONE);
    }
    f.steps.dag->pools[f.steps.pool].discipline = DISCIPLINE_UNKNOWN;
    find(&f, KIND_BIT(KIND_RESIZE_POOL));
    assert_int_equal(f.count, 0);
    end(&f);
}

static bool offers_size(const struct fixture *f, int32_t threads) {
    bool offered = false;
    for (size_t i = 0; i < f->count; i++) offered |= f->all[i].threads == threads;
    return offered;
}

// A queue without bound keeps a pool at its core size, whatever its maximum is: that is no other size. A pool that
// hands off, of no bound, has as many as were busy at once, and is offered fewer with a queue.
static void test_sizes_that_pools_have(void **state) {
    const struct load load = {.tasks = 12, .workers = 3, .body_ns = 1000};
    const struct dag_pool unbounded = {.discipline = DISCIPLINE_FIFO, .core = 8, .maximum = 100, .capacity = INT64_MAX};
    const struct dag_pool hands_off = {.discipline = DISCIPLINE_HAND_OFF, .maximum = INT32_MAX};
    struct fixture f = begin();
    add_load(&f, &load);
    set_pool(&f, unbounded);
    find(&f, KIND_BIT(KIND_RESIZE_POOL));
    assert_true(offers_size(&f, 4) && offers_size(&f, 16) && !offers_size(&f, 8) && !offers_size(&f, 200));
    assert_why(&f.all[0],
               "12 tasks of 1.0 us share 8 threads and wait 4.1 us each for one; its queue is unbounded, so "
               "that it never has more than its 8 core threads; with 1: 2.0 threads fewer at peak, as many threads "
               "on average, wall -10.0 % (1.0 us less)");
    set_pool(&f, hands_off);
    find(&f, KIND_BIT(KIND_RESIZE_POOL));
    assert_true(offers_size(&f, 1) && offers_size(&f, 2));
    assert_why(&f.all[0], "12 tasks of 1.0 us wait 4.1 us each for one; with 1 and a queue: 2.0 threads fewer at peak, "
                          "as many threads on average, wall -10.0 % (1.0 us less)");
    end(&f);
}

// Several traces

// Two traces of one program, in the second of which the pool has an older twin and sites have other numbers.
static void test_join(void **state) {
    struct fixture first = begin(), second = begin();
    const struct dag *dags[2];
    struct improvement *rows;
    size_t count;
    add_paths(&first, true);
    steps_build(&first.steps);
    spawn_at(&second, second.sub_site, MAIN, 50);
    add_paths(&second, true);
    step_body(&second.steps, 50);
    steps_build(&second.steps);
    dags[0] = first.steps.dag;
    dags[1] = second.steps.dag;
    assert_true(
        candidates_join(dags, 2, KINDS_ALL & ~KIND_BIT(KIND_INLINE), &first.arena, &rows, &count, &first.error));
    size_t hoists = 0, resizes = 0;
    for (size_t c = 0; c < count; c++) {
        const struct improvement *row = &rows[2 * c];
        assert_int_equal(row[0].kind, row[1].kind);
        assert_int_equal(row[0].factor, row[1].factor);
        assert_int_equal(row[0].threads, row[1].threads);
        assert_true(row[0].dag == dags[0] && row[1].dag == dags[1]);
        hoists += row->kind == KIND_HOIST_BRANCH;
        resizes += row->kind == KIND_RESIZE_POOL;
        if (row->kind == KIND_HOIST_BRANCH) assert_int_equal(row[0].task_count, row[1].task_count);
        if (row->kind == KIND_RESIZE_POOL) assert_int_equal(row[0].task_count + 1, row[1].task_count);
    }
    assert_int_equal(hoists, 2);
    assert_true(resizes > 0);
    end(&first);
    end(&second);
}

// main spawns 1 and awaits it, which spawns 2 and awaits it: kinds offered for the site of 1, whose class this is.
static unsigned kinds_for(const char *class_name) {
    struct fixture f = begin();
    struct steps *s = &f.steps;
    unsigned kinds = 0;
    step(s, MAIN, EVENT_TASK_CREATED, 1, tb_class(s->tb, class_name));
    step_spawn(s, MAIN, 1);
    step_start(s, 1);
    spawn_at(&f, f.sub_site, WORKER, 2);
    work(&f);
    step(s, WORKER, EVENT_WAIT_BEGIN, 2, 0, tb_wait(WAIT_FOR_TASK, f.sub_site));
    tb_event(s->tb, STEP_OTHER, s->now_ns += STEP_NS, EVENT_TASK_START, 2);
    tb_event(s->tb, STEP_OTHER, s->now_ns += STEP_NS, EVENT_TASK_END, 2);
    step(s, WORKER, EVENT_WAIT_END, 2);
    step_finish(s, 1);
    find(&f, KIND_BIT(KIND_INLINE) | KIND_BIT(KIND_COMBINATOR));
    for (size_t i = 0; i < f.count; i++) {
        if (strcmp(f.steps.dag->sites[f.all[i].site].site.method, "run") == 0) kinds |= KIND_BIT(f.all[i].kind);
    }
    end(&f);
    return kinds;
}

static void test_tasks_of_the_jdk(void **state) {
    assert_int_equal(kinds_for("com.acme.Job"), KIND_BIT(KIND_INLINE) | KIND_BIT(KIND_COMBINATOR));
    assert_int_equal(kinds_for("sunny.Job"), KIND_BIT(KIND_INLINE) | KIND_BIT(KIND_COMBINATOR));
    assert_int_equal(kinds_for("java.util.stream.ReduceOps$ReduceTask"), KIND_BIT(KIND_INLINE));
    assert_int_equal(kinds_for("jdk.internal.net.http.MultiExchange"), 0);
    assert_int_equal(kinds_for("sun.net.httpserver.ServerImpl$Dispatcher"), 0);
}

// Properties, of any trace: what the candidates are, whom they exclude, and that equal keys are equal edits.

static bool is_same_edit(const struct dag *dag, const struct dag_edit *a, const struct dag_edit *b) {
    const size_t tasks = dag->task_count, pools = dag->trace->pool_count;
    return memcmp(a->inlined, b->inlined, tasks) == 0 && memcmp(a->staged, b->staged, tasks) == 0 &&
           memcmp(a->merged_next, b->merged_next, tasks * sizeof *a->merged_next) == 0 &&
           memcmp(a->parts, b->parts, tasks * sizeof *a->parts) == 0 &&
           memcmp(a->pool_threads, b->pool_threads, pools * sizeof *a->pool_threads) == 0 &&
           memcmp(a->resource_units, b->resource_units, dag->resource_count * sizeof *a->resource_units) == 0 &&
           memcmp(a->unlocked, b->unlocked, dag->resource_count) == 0;
}

static uint32_t asked_of(const struct dag_edit *edit, uint32_t task) {
    return (edit->inlined[task] != 0) + (edit->staged[task] != 0) + (edit->parts[task] != 0) +
           (edit->merged_next[task] != DAG_NONE);
}

static void check_alone(const struct dag *dag, const struct improvement *improvement, struct dag_edit *edit) {
    dag_edit_clear(edit, dag);
    assert_false(improvement_is_open(improvement));
    for (uint32_t i = 1; i < improvement->task_count; i++) {
        assert_true(improvement->tasks[i - 1] < improvement->tasks[i]);
    }
    if (improvement_apply(improvement, edit)) return;
    uint32_t changed = edit->inlined_count + edit->merged_count + edit->parts_count + edit->staged_count;
    assert_true(changed <= improvement->task_count);
    assert_true(changed > 0 || edit->resized_count == 1);
    for (uint32_t t = 0; t < dag->task_count; t++) assert_true(asked_of(edit, t) <= 1);
}

static void check_together(const struct dag *dag, const struct improvement *a, const struct improvement *b,
                           struct dag_edit *edits) {
    assert_int_equal(improvements_conflict(a, b), improvements_conflict(b, a));
    dag_edit_clear(&edits[0], dag);
    dag_edit_clear(&edits[1], dag);
    if (improvement_apply(a, &edits[0]) || improvement_apply(b, &edits[1])) return;
    bool same_key = improvement_key(a, 0) == improvement_key(b, 0);
    if (a->kind != KIND_MERGE || b->kind != KIND_MERGE) // groups may be the same by different factors
        assert_int_equal(same_key, is_same_edit(dag, &edits[0], &edits[1]));
    if (improvements_conflict(a, b)) return;
    assert_null(improvement_apply(b, &edits[0]));
    for (uint32_t t = 0; t < dag->task_count; t++) assert_true(asked_of(&edits[0], t) <= 1);
}

// Merges and splits of every site besides what is offered.
static struct improvement *all_of(const struct dag *dag, struct arena *arena, size_t *count) {
    struct error error = ERROR_INIT;
    struct improvement *offered, *all;
    assert_true(candidates_find(dag, KINDS_ALL, arena, &offered, count, &error));
    all = ARENA_NEW(arena, struct improvement, *count + 4 * dag->site_count + 1);
    for (size_t i = 0; i < *count; i++) all[i] = offered[i];
    for (uint32_t s = 0; s < dag->site_count; s++) {
        for (uint32_t i = 0; i < 4; i++) {
            struct improvement *improvement = &all[(*count)++];
            *improvement = (struct improvement){.kind = i < 2 ? KIND_MERGE : KIND_SPLIT,
                                                .dag = dag,
                                                .site = s,
                                                .context = DAG_NONE,
                                                .path = DAG_NONE,
                                                .factor = 2 + i % 2};
            assert_true(candidates_fill(improvement, arena));
        }
    }
    return all;
}

static void check_candidates(struct trace_builder *tb) {
    struct error error = ERROR_INIT;
    struct arena arena = ARENA_INIT;
    struct trace *trace = tb_open(tb);
    struct dag *dag = dag_build(trace, &error);
    struct dag_edit edits[2];
    struct grain_group *groups;
    size_t count, group_count;
    assert_non_null(dag);
    assert_true(dag_edit_init(&edits[0], dag, &error) && dag_edit_init(&edits[1], dag, &error));
    const struct improvement *all = all_of(dag, &arena, &count);
    for (size_t i = 0; i < count; i++) {
        check_alone(dag, &all[i], &edits[0]);
        for (size_t j = 0; j < i; j++) check_together(dag, &all[i], &all[j], edits);
    }
    assert_true(grain_find(dag, &arena, &groups, &group_count, &error));
    arena_destroy(&arena);
    dag_edit_destroy(&edits[0]);
    dag_edit_destroy(&edits[1]);
    dag_free(dag);
    trace_close(trace);
    tb_free(tb);
}

static void test_properties(void **state) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random_pool options = random_pool_options(seed, 4);
        struct program program;
        check_candidates(random_trace(seed));
        check_candidates(random_events(seed)); // what losses leave
        random_pool_program(&options, &program);
        check_candidates(program_trace(&program, &options));
    }
}

// Every DAG's column of a join is what that DAG offers, or nothing.
static void test_join_of_any(void **state) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct error error = ERROR_INIT;
        struct arena arena = ARENA_INIT;
        struct trace_builder *tbs[2] = {random_trace(seed), random_trace(seed + 1)};
        struct trace *traces[2];
        const struct dag *dags[2];
        struct improvement *rows;
        size_t count;
        for (int i = 0; i < 2; i++) {
            traces[i] = tb_open(tbs[i]);
            dags[i] = dag_build(traces[i], &error);
            assert_non_null(dags[i]);
        }
        assert_true(candidates_join(dags, 2, KINDS_ALL, &arena, &rows, &count, &error));
        for (size_t c = 0; c < count; c++) {
            char names[2][600];
            assert_true(rows[2 * c].task_count || rows[2 * c + 1].task_count);
            for (int i = 0; i < 2; i++) {
                const struct improvement *improvement = &rows[2 * c + (size_t)i];
                assert_true(improvement->dag == dags[i]);
                for (uint32_t t = 0; t < improvement->task_count; t++) {
                    assert_true(improvement->tasks[t] < dags[i]->task_count);
                }
                if (improvement->task_count) improvement_text(improvement, names[i], sizeof names[i]);
            }
            if (rows[2 * c].task_count && rows[2 * c + 1].task_count) assert_string_equal(names[0], names[1]);
        }
        for (int i = 0; i < 2; i++) {
            dag_free((struct dag *)dags[i]);
            trace_close(traces[i]);
            tb_free(tbs[i]);
        }
        arena_destroy(&arena);
    }
}

// Of five tasks one is under way when recording ends, and one lies in the queue: both stay what they are. Of another
// site none ended, so that there is nothing to offer; asked for all the same, it says so.
static void test_what_recording_ended_before_is_left_out(void **state) {
    struct fixture f = begin();
    for (uint64_t task = 1; task <= 3; task++) {
        step_spawn(&f.steps, MAIN, task);
        step_body(&f.steps, task);
    }
    spawn_at(&f, f.other_site, MAIN, 4);
    step_spawn(&f.steps, MAIN, 5);
    step_spawn(&f.steps, MAIN, 6);
    step_start(&f.steps, 5);
    find(&f, KIND_BIT(KIND_INLINE));
    assert_int_equal(f.count, 1);
    assert_null(f.all[0].refusal);
    assert_int_equal(f.all[0].task_count, 3);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(f.all[0].tasks[i], steps_task(&f.steps, i + 1));
    assert_int_equal(f.all[0].left_out[LEFT_OUT_UNENDED], 2);
    struct improvement of_other = f.all[0];
    of_other.site = f.steps.dag->tasks[steps_task(&f.steps, 4)].site;
    assert_true(candidates_fill(&of_other, &f.arena));
    assert_int_equal(of_other.task_count, 0);
    assert_string_equal(of_other.refusal, "none of its tasks ended before recording did");
    end(&f);
}

// What is lost is not what goes on: a body that another follows had an end, and what never started may have. The other
// task is changed all the same.
static void test_what_lost_its_end_is_left_out(void **state) {
    struct fixture f = begin();
    step_spawn(&f.steps, MAIN, 1);
    step_spawn(&f.steps, MAIN, 2);
    step_start(&f.steps, 1);
    step(&f.steps, WORKER, EVENT_LOST, 1);
    step_start(&f.steps, 2);
    step_finish(&f.steps, 2);
    find(&f, KIND_BIT(KIND_INLINE));
    assert_int_equal(f.count, 1);
    assert_null(f.all[0].refusal);
    assert_int_equal(f.all[0].task_count, 1);
    assert_int_equal(f.all[0].tasks[0], steps_task(&f.steps, 2));
    assert_int_equal(f.all[0].left_out[LEFT_OUT_LOST_END], 1);
    end(&f);
}

// What is handed over within another's hand-over goes with it where that is dropped: the outer one stays.
static void test_a_hand_over_with_another_in_it_is_left_out(void **state) {
    struct fixture f = begin();
    step_spawn(&f.steps, MAIN, 1);
    step(&f.steps, MAIN, EVENT_SPAWN_BEGIN, 2, f.steps.site, f.steps.pool);
    step_spawn(&f.steps, MAIN, 3);
    step(&f.steps, MAIN, EVENT_SPAWN_END, 2);
    for (uint64_t task = 1; task <= 3; task++) {
        step_start(&f.steps, task);
        step_finish(&f.steps, task);
    }
    find(&f, KIND_BIT(KIND_INLINE));
    assert_int_equal(f.count, 1);
    assert_null(f.all[0].refusal);
    assert_int_equal(f.all[0].task_count, 2);
    assert_int_equal(f.all[0].left_out[LEFT_OUT_MIXED], 1);
    end(&f);
}

// Of 40 short tasks one is cancelled in the queue, one while it runs, and one is rejected: every kind is offered for
// the others.
static void test_cancelled_and_rejected_are_left_out(void **state) {
    struct fixture f = begin();
    for (uint64_t task = 1; task <= 40; task++) step_spawn(&f.steps, MAIN, task);
    step(&f.steps, MAIN, EVENT_RESULT, 1);
    step(&f.steps, MAIN, EVENT_SPAWN_BEGIN, 41, f.steps.site, f.steps.pool);
    step(&f.steps, MAIN, EVENT_SPAWN_END, 41, SPAWN_REJECTED);
    for (uint64_t task = 2; task <= 40; task++) {
        step_start(&f.steps, task);
        if (task == 2) step(&f.steps, MAIN, EVENT_RESULT, 2);
        step(&f.steps, WORKER, EVENT_TASK_END, task, 0, task == 2 ? TASK_CANCELLED : TASK_RETURNED);
    }
    find(&f, KIND_BIT(KIND_INLINE) | KIND_BIT(KIND_MERGE));
    assert_true(f.count > 1);
    for (size_t i = 0; i < f.count; i++) {
        assert_null(f.all[i].refusal);
        assert_int_equal(f.all[i].task_count, 38);
        assert_int_equal(f.all[i].left_out[LEFT_OUT_CANCELLED], 2);
        assert_int_equal(f.all[i].left_out[LEFT_OUT_REJECTED], 1);
        assert_int_equal(improvement_left_out(&f.all[i]), 3);
    }
    for (enum improvement_kind kind = KIND_INLINE; kind < KIND_RESIZE_POOL; kind++) {
        struct improvement asked = {.kind = kind, .dag = f.steps.dag, .site = f.all[0].site, .context = DAG_NONE};
        asked.path = DAG_NONE;
        assert_true(candidates_fill(&asked, &f.arena));
        assert_int_equal(asked.task_count, kind == KIND_COMBINATOR ? 0 : 38);
        assert_true(kind == KIND_COMBINATOR || !asked.refusal);
    }
    end(&f);
}

// A task that a timer runs has a time, and no other place: only its pool's size could change. What was handed over by
// plain submit to such a pool can't be told apart.
static void test_delayed_tasks_are_never_offered(void **state) {
    static const struct trace_pool timers[] = {
        {.kind = "java.util.concurrent.ScheduledThreadPoolExecutor",
         .queue = "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue"},
        {.kind = "com.acme.Timers", .queue = "java.util.concurrent.DelayQueue"},
        {.kind = "java.util.Timer"},
    };
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        struct fixture f = begin();
        struct trace_pool timer = timers[i];
        timer.core = timer.maximum = 1;
        timer.capacity = timer.keep_alive_ns = -1;
        f.steps.pool = tb_pool_like(f.steps.tb, timer);
        for (uint64_t task = 1; task <= 40; task++) step_spawn(&f.steps, MAIN, task);
        for (uint64_t task = 1; task <= 40; task++) step_body(&f.steps, task);
        find(&f, KINDS_ALL);
        for (size_t c = 0; c < f.count; c++) assert_int_equal(f.all[c].kind, KIND_RESIZE_POOL);
        struct improvement asked = {.kind = KIND_INLINE, .dag = f.steps.dag, .context = DAG_NONE, .path = DAG_NONE};
        asked.site = f.steps.dag->tasks[steps_task(&f.steps, 1)].site;
        for (; asked.kind < KIND_RESIZE_POOL; asked.kind++) {
            if (asked.kind == KIND_COMBINATOR) continue; // none of them waits
            asked.factor = 2;
            assert_true(candidates_fill(&asked, &f.arena));
            assert_string_equal(asked.refusal, "it is periodic, or was scheduled for a later time");
        }
        end(&f);
    }
}

// A path without the functions that it would be made of.
static void test_path_without_functions(void **state) {
    struct fixture f = begin();
    struct plan plan;
    char folder[] = "/tmp/rehype-path-XXXXXX", path[64], text[512];
    step_spawn(&f.steps, MAIN, 1);
    step_body(&f.steps, 1);
    steps_build(&f.steps);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/plan.json", folder);
    FILE *file = fopen(path, "w");
    fputs("{\"schema\": \"rehype.plan/1\", \"improvements\": [{\"kind\": \"hoist-branch\", \"site\": \"Main.run\","
          "\"params\": {\"path\": \"0123456789abcdef\"}}]}",
          file);
    fclose(file);
    assert_false(plan_read(path, f.steps.dag, &f.arena, &plan, &f.error));
    assert_int_equal(f.error.status, STATUS_BAD_INPUT);
    assert_non_null(strstr(error_text(&f.error, text, sizeof text), "has no function events"));
    unlink(path);
    rmdir(folder);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_inputs),
        cmocka_unit_test(test_stages_behind_a_task),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_work_between),
        cmocka_unit_test(test_many_inputs_and_loop),
        cmocka_unit_test(test_only_coordinators),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_equal_paths_offer_nothing),
        cmocka_unit_test(test_branch_in_body),
        cmocka_unit_test(test_branch_in_function),
        cmocka_unit_test(test_why_of_paths),
        cmocka_unit_test(test_why_of_stages),
        cmocka_unit_test(test_why_of_grain),
        cmocka_unit_test(test_fine),
        cmocka_unit_test(test_fine_by_samples),
        cmocka_unit_test(test_coarse),
        cmocka_unit_test(test_numbers_and_factors),
        cmocka_unit_test(test_pool_sizes),
        cmocka_unit_test(test_sizes_that_pools_have),
        cmocka_unit_test(test_tasks_of_the_jdk),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_join_of_any),
        cmocka_unit_test(test_what_recording_ended_before_is_left_out),
        cmocka_unit_test(test_what_lost_its_end_is_left_out),
        cmocka_unit_test(test_a_hand_over_with_another_in_it_is_left_out),
        cmocka_unit_test(test_cancelled_and_rejected_are_left_out),
        cmocka_unit_test(test_delayed_tasks_are_never_offered),
        cmocka_unit_test(test_path_without_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
