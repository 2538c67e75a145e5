// SPDX-License-Identifier: GPL-3.0-or-later
// Where the trial says that it works: whatever takes a thread from its core is seen, and a program's own restartable
// sequences, on a watched thread, are aborted and done as if nobody watched.
#include "tracer/core_watch.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static bool works;
static uint64_t *rseq_cs;

static int try_it(void **state) {
    works = core_watch_works();
    print_message("restartable sequences %s\n", works ? "tell" : "don't tell");
    return 0;
}

static int begin(void **state) {
    rseq_cs = works ? core_watch_begin() : NULL;
    return 0;
}

static int end(void **state) {
    if (rseq_cs) core_watch_end(rseq_cs);
    return 0;
}

static void need_it(void) {
    if (!works) skip();
    assert_non_null(rseq_cs);
}

static long switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw + usage.ru_nivcsw : 0;
}

// Where a host takes the core away, the alarm may have rung before the thread is asleep: it is tried again.
static void nap(void) {
    enum { TRIES = 100 };
    const long before = switches();
    for (int i = 0; i < TRIES && switches() == before; i++) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static void test_it_leaves_nothing_behind(void **state) {
    need_it();
    core_watch_end(rseq_cs);
    assert_int_equal(*rseq_cs, 0);
    assert_true(core_watch_works());
    assert_int_equal(*rseq_cs, 0);
}

static void test_what_is_anothers_stays(void **state) {
    enum { TRIES = 100 };
    static struct core_watch_sequence others;
    need_it();
    others = core_watch_sequence;
    uint64_t left = 0;
    for (int i = 0; i < TRIES && left == 0; i++) { // 0: interrupted just now
        __atomic_store_n(rseq_cs, (uint64_t)(uintptr_t)&others, __ATOMIC_RELAXED);
        core_watch_end(rseq_cs);
        left = __atomic_load_n(rseq_cs, __ATOMIC_RELAXED);
    }
    assert_int_equal(left, (uint64_t)(uintptr_t)&others);
}

static void test_each_nap_is_seen_once(void **state) {
    enum { NAPS = 50, ASKED = 100 };
    need_it();
    int again = 0;
    for (int i = 0; i < NAPS; i++) {
        nap();
        assert_true(core_watch_lost(rseq_cs));
        for (int j = 0; j < ASKED; j++) again += core_watch_lost(rseq_cs);
    }
    assert_in_range(again, 0, NAPS * ASKED / 2); // what others took
}

// ---- turns on one core

enum { ROUNDS = 2000 };

static int there[2], back[2];

static void *answer(void *unused) {
    char byte;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {
    }
    return NULL;
}

// The other thread must have run for the answer to be there.
static void test_each_turn_of_another_on_the_core_is_seen(void **state) {
    need_it();
    cpu_set_t allowed, one;
    pthread_t other;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pipe(there) | pipe(back), 0);
    assert_int_equal(pthread_create(&other, NULL, answer, NULL), 0);
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char byte = 0;
        core_watch_lost(rseq_cs);
        assert_int_equal(write(there[1], &byte, 1), 1);
        assert_int_equal(read(back[0], &byte, 1), 1);
        seen += core_watch_lost(rseq_cs);
    }
    close(there[1]);
    pthread_join(other, NULL);
    close(there[0]);
    close(back[0]);
    close(back[1]);
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    assert_int_equal(seen, ROUNDS);
}

// ---- another's sequence

#if defined(__x86_64__)
// Adds 1 to *count by a sequence that spins `spins` times first, and leaves the descriptor named, as some allocators
// do. Returns whether it was aborted, with *count as it was.
static bool add_restartably(uint64_t *named, uint64_t *count, uint64_t spins) {
    int aborted = 0;
    __asm__ volatile(".pushsection .data.rel.ro.sequences, \"aw\"\n\t"
                     ".balign 32\n"
                     "10: .long 0, 0\n\t"
                     ".quad 1f, 2f - 1f, 4f\n\t"
                     ".popsection\n\t"
                     "leaq 10b(%%rip), %%rax\n\t"
                     "movq %%rax, (%[named])\n"
                     "1: testq %[spins], %[spins]\n\t"
                     "jz 3f\n\t"
                     "decq %[spins]\n\t"
                     "jmp 1b\n"
                     "3: incq (%[count])\n"
                     "2: jmp 5f\n\t"
                     ".long 0x53053053\n"
                     "4: movl $1, %[aborted]\n"
                     "5:"
                     : [spins] "+r"(spins), [aborted] "+r"(aborted)
                     : [named] "r"(named), [count] "r"(count)
                     : "rax", "memory", "cc");
    return aborted;
}
#else
static bool add_restartably(uint64_t *named, uint64_t *count, uint64_t spins) {
    skip();
    return false;
}
#endif

static volatile sig_atomic_t ticked;

static void on_tick(int number) {
    if (rseq_cs) core_watch_lost(rseq_cs); // a probe in a handler
    ticked++;
}

static void tick_each(suseconds_t us) {
    const struct itimerval each = {{0, us}, {0, us}};
    assert_int_equal(setitimer(ITIMER_REAL, &each, NULL), 0);
}

static void test_what_others_leave_counts_as_away(void **state) {
    need_it();
    uint64_t count = 0;
    for (int i = 0; i < 1000; i++) {
        add_restartably(rseq_cs, &count, 0);
        assert_true(core_watch_lost(rseq_cs));
    }
}

// A sequence without end, but for the signal.
static void test_a_sequence_is_aborted_on_a_watched_thread(void **state) {
    need_it();
    uint64_t count = 0;
    signal(SIGALRM, on_tick);
    tick_each(5000);
    core_watch_lost(rseq_cs);
    const bool aborted = add_restartably(rseq_cs, &count, UINT64_MAX);
    tick_each(0);
    assert_true(aborted);
    assert_int_equal(count, 0);
}

// Watched and interrupted all the time, each sequence is done once or not at all.
static void test_sequences_between_looks_are_done_or_aborted(void **state) {
    enum { SEQUENCES = 20000, SPINS = 5000 };
    need_it();
    uint64_t count = 0, done = 0;
    ticked = 0;
    signal(SIGALRM, on_tick);
    tick_each(200);
    for (int i = 0; i < SEQUENCES; i++) {
        core_watch_lost(rseq_cs);
        done += !add_restartably(rseq_cs, &count, SPINS);
        if (i % 1024 == 0) nap();
    }
    tick_each(0);
    signal(SIGALRM, SIG_DFL);
    print_message("%d interruptions, %d aborts\n", (int)ticked, (int)(SEQUENCES - done));
    assert_int_equal(count, done);
    assert_in_range(done, 1, SEQUENCES);
    nap();
    assert_true(core_watch_lost(rseq_cs));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_leaves_nothing_behind, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_anothers_stays, begin, end),
        cmocka_unit_test_setup_teardown(test_each_nap_is_seen_once, begin, end),
        cmocka_unit_test_setup_teardown(test_each_turn_of_another_on_the_core_is_seen, begin, end),
        cmocka_unit_test_setup_teardown(test_what_others_leave_counts_as_away, begin, end),
        cmocka_unit_test_setup_teardown(test_a_sequence_is_aborted_on_a_watched_thread, begin, end),
        cmocka_unit_test_setup_teardown(test_sequences_between_looks_are_done_or_aborted, begin, end),
    };
    return cmocka_run_group_tests_name("core_watch", tests, try_it, NULL);
}
