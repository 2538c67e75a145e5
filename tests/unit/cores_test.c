// SPDX-License-Identifier: GPL-3.0-or-later
// Laws of processor sharing (dag/simulate/cores.h) with pauses, others' computing and residual, in random order.
#include "dag/simulate/cores.h"
#include "random_trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROCESSES = 100, STRETCHES = 5, PAUSES = 3, CASES = 300 };

struct world {
    struct random_source random;
    struct cores_recorded recorded;
    struct cores_background background[STRETCHES];
    struct cores_pause pauses[PAUSES];
    struct cores cores;
    bool computes[PROCESSES];
    int64_t joined_ns[PROCESSES], compute_ns[PROCESSES], work_ns, end_ns;
};

static int64_t below(struct world *world, uint64_t limit) {
    return (int64_t)random_below(&world->random, limit);
}

static void make_world(struct world *world, uint64_t seed, double count, double most_taken) {
    int64_t work_ns = 0, end_ns = 0;
    memset(world, 0, sizeof *world);
    world->random = (struct random_source){seed};
    world->recorded = (struct cores_recorded){.cores = 4,
                                              .pauses = world->pauses,
                                              .pause_count = PAUSES,
                                              .background = world->background,
                                              .background_count = STRETCHES};
    for (int i = 0; i < STRETCHES; i++) {
        work_ns += below(world, 40000); // some are empty
        end_ns += below(world, 60000);
        double taken = most_taken * (double)below(world, 1000) / 1000;
        world->background[i] = (struct cores_background){work_ns, end_ns, {taken, INFINITY}};
    }
    for (int i = 0; i < PAUSES; i++) {
        world->pauses[i] = (struct cores_pause){(i + 1) * 20000 + below(world, 10000), 1 + below(world, 5000)};
    }
    assert_true(cores_reserve(&world->cores, PROCESSES));
    cores_begin(&world->cores, count, &world->recorded);
}

static void join_one(struct world *world, uint32_t process, int64_t now_ns, bool lucky) {
    int64_t compute_ns = 1 + below(world, 2000);
    struct cores_residual residual = {below(world, 1000) - 500, (float)below(world, 100) / 100};
    if (!lucky) residual.more_ns = 0;
    world->computes[process] = true;
    world->joined_ns[process] = now_ns;
    world->compute_ns[process] = compute_ns;
    world->work_ns += compute_ns;
    cores_join(&world->cores, process, now_ns, (struct cores_demand){compute_ns, residual, 1});
}

static void take_one(struct world *world, bool lucky) {
    int64_t now_ns = world->cores.next_ns;
    uint32_t done = cores_take(&world->cores);
    if (done == NOTICE_NONE) return;
    assert_true(world->computes[done]);
    world->computes[done] = false;
    world->end_ns = now_ns;
    bool early = now_ns - world->joined_ns[done] + 2 < world->compute_ns[done];
    if (early && !lucky) fail_msg("process %u is done before it can be", done);
}

// Each process joins once, at random, until all are done.
static void play(struct world *world, bool lucky) {
    int64_t now_ns = 0;
    for (uint32_t process = 0; process < PROCESSES; process++) {
        now_ns += below(world, 1000);
        while (world->cores.next_ns < now_ns) take_one(world, lucky);
        join_one(world, process, now_ns, lucky);
    }
    while (world->cores.next_ns != INT64_MAX) take_one(world, lucky);
    for (uint32_t process = 0; process < PROCESSES; process++) assert_false(world->computes[process]);
}

static void test_work_is_conserved_within_capacity(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct world world;
        double count = 1 + (double)(seed % 4), least_taken = INFINITY;
        make_world(&world, seed, count, 3.5);
        play(&world, false);
        for (int i = 0; i < STRETCHES; i++) {
            double taken = world.background[i].others.cores;
            least_taken = fmin(least_taken, count < 4 ? taken * count / 4 : taken);
        }
        double left = world.cores.stretch == STRETCHES ? 0 : least_taken;
        assert_true(fabs(world.cores.work_ns - (double)world.work_ns) <= 2.0 * PROCESSES * PROCESSES);
        assert_true(world.cores.work_ns <= (count - left) * (double)world.cores.moved_ns + 1);
        for (uint32_t i = 0; i < world.cores.next_pause; i++) assert_true(world.pauses[i].work_ns <= world.work_ns);
        cores_destroy(&world.cores);
    }
}

// Where nobody takes any, stretches change nothing.
static void test_no_background_is_none(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct world with, without;
        make_world(&with, seed, 2, 0);
        make_world(&without, seed, 2, 0);
        without.cores.recorded.background_count = 0;
        play(&with, true);
        play(&without, true);
        if (llabs(with.end_ns - without.end_ns) > 2 * PROCESSES) {
            fail_msg("seed %lu: %ld, not %ld", (unsigned long)seed, (long)with.end_ns, (long)without.end_ns);
        }
        cores_destroy(&with.cores);
        cores_destroy(&without.cores);
    }
}

// Two processes of 1000 ns on two cores, of which others have one for the first 500 ns that are computed.
static void test_others_take_their_share(void **state) {
    (void)state;
    const struct cores_background background = {500, INT64_MAX, {1, INFINITY}};
    const struct cores_recorded recorded = {.cores = 2, .background = &background, .background_count = 1};
    struct cores cores = {0};
    assert_true(cores_reserve(&cores, 2));
    cores_begin(&cores, 2, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){1000, {0, 0}, 1});
    cores_join(&cores, 1, 0, (struct cores_demand){1000, {0, 0}, 1});
    assert_int_equal(cores.next_ns, 500);
    assert_int_equal(cores_take(&cores), NOTICE_NONE);
    assert_int_equal(cores.next_ns, 1250);
    cores_destroy(&cores);
}

// When two processes of 1000 ns are done on so many of two cores, of which others have one for the first 500 ns of
// time.
static int64_t end_beside_others(double count) {
    const struct cores_background background = {INT64_MAX, 500, {1, INFINITY}};
    const struct cores_recorded recorded = {.cores = 2, .background = &background, .background_count = 1};
    struct cores cores = {0};
    int64_t end_ns = 0;
    assert_true(cores_reserve(&cores, 2));
    cores_begin(&cores, count, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){1000, {0, 0}, 1});
    cores_join(&cores, 1, 0, (struct cores_demand){1000, {0, 0}, 1});
    while (cores.next_ns != INT64_MAX) {
        end_ns = cores.next_ns;
        cores_take(&cores);
    }
    cores_destroy(&cores);
    return end_ns;
}

static void test_others_end_by_time(void **state) {
    (void)state;
    assert_int_equal(end_beside_others(2), 1250);
    assert_int_equal(end_beside_others(1), 2500); // they have half a core for twice as long
}

// Others have one of two cores, as so many threads: beside four processes of 500 ns each has a quarter of a core, or,
// if that is more, as much as one of them.
static int64_t end_of_four_beside(double threads) {
    const struct cores_background background = {INT64_MAX, INT64_MAX, {1, threads}};
    const struct cores_recorded recorded = {.cores = 2, .background = &background, .background_count = 1};
    struct cores cores = {0};
    int64_t end_ns = 0;
    assert_true(cores_reserve(&cores, 4));
    cores_begin(&cores, 2, &recorded);
    for (uint32_t process = 0; process < 4; process++)
        cores_join(&cores, process, 0, (struct cores_demand){500, {0, 0}, 1});
    while (cores.next_ns != INT64_MAX) {
        end_ns = cores.next_ns;
        cores_take(&cores);
    }
    cores_destroy(&cores);
    return end_ns;
}

static void test_others_give_way(void **state) {
    (void)state;
    assert_int_equal(end_of_four_beside(INFINITY), 2000);
    assert_int_equal(end_of_four_beside(12), 2000); // with an eighth of a core each they would have more than they want
    assert_int_equal(end_of_four_beside(1), 1250);  // five on two cores
}

// Who got 300 ns less service than its share while it had half a core gets as much less again there, a third of it with
// a sixth of a core to do without, and none on a core of its own.
static void test_luck_needs_others(void **state) {
    (void)state;
    const struct cores_recorded recorded = {.cores = 1};
    const struct cores_residual late = {300, 0.5F}, early = {-300, 0.5F};
    struct cores cores = {0};
    assert_true(cores_reserve(&cores, 2));
    cores_begin(&cores, 1, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){600, late, 1});
    cores_join(&cores, 1, 0, (struct cores_demand){5000, {0, 0}, 1});
    while (cores_take(&cores) != 0) {
    }
    assert_int_equal(cores.since_ns, 1800);
    cores_begin(&cores, 1, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){600, late, 1});
    assert_int_equal(cores_take(&cores), 0);
    assert_int_equal(cores.since_ns, 600);
    cores_begin(&cores, 1, &recorded);
    cores_join(&cores, 0, 0, (struct cores_demand){600, early, 1});
    while (cores_take(&cores) != 0) {
    }
    assert_int_equal(cores.since_ns, 600);
    cores_destroy(&cores);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_is_conserved_within_capacity),
        cmocka_unit_test(test_no_background_is_none),
        cmocka_unit_test(test_others_take_their_share),
        cmocka_unit_test(test_others_end_by_time),
        cmocka_unit_test(test_others_give_way),
        cmocka_unit_test(test_luck_needs_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
