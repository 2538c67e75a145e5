// SPDX-License-Identifier: GPL-3.0-or-later
// The lockless double buffer: what it promises on one thread, and that two threads lose and count exactly.
// `ring_test` alone runs for about a second; `ring_test --loop SECONDS` looks for races with ever new seeds.
#include "tracer/ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_EVENTS = 4096 };

static struct ring ring;
static struct event events[MOST_EVENTS];

static void make_ring(uint32_t capacity) {
    assert_true(ring_init(&ring, capacity, NULL));
}

static int destroy_ring(void **state) {
    ring_destroy(&ring);
    return 0;
}

// Numbered events: kinds of one operand and of three take turns by the seed, and each operand follows from the number.
static bool is_large(uint64_t number, uint64_t seed) {
    return ((number ^ seed) * 0x9e3779b97f4a7c15u >> 61) < 3;
}

static void put(struct ring *to, uint64_t number, uint64_t seed) {
    if (is_large(number, seed)) {
        ring_put3(to, number, EVENT_SPAWN_BEGIN, number, ~number, number * 3);
    } else {
        ring_put1(to, number, EVENT_ENTER, number);
    }
}

static bool is_event(const struct event *event, uint64_t number, uint64_t seed) {
    if (event->time != number || event->operand[0] != number) return false;
    if (!is_large(number, seed)) return event->kind == EVENT_ENTER;
    return event->kind == EVENT_SPAWN_BEGIN && event->operand[1] == ~number && event->operand[2] == number * 3;
}

static void put_small(uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) ring_put1(&ring, first + i, EVENT_ENTER, first + i);
}

static void assert_small(const struct event *event, uint64_t number) {
    assert_int_equal(event->kind, EVENT_ENTER);
    assert_int_equal(event->time, number);
    assert_int_equal(event->operand[0], number);
}

static void assert_lost(const struct event *event, uint64_t time, uint64_t count) {
    assert_int_equal(event->kind, EVENT_LOST);
    assert_int_equal(event->time, time);
    assert_int_equal(event->operand[0], count);
}

// ---- one thread

static void test_nothing_comes_out_of_an_empty_ring(void **state) {
    make_ring(RING_LEAST_RECORDS);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 0);
    assert_int_equal(ring_unreported(&ring), 0);
}

static void test_events_of_both_sizes_come_out_in_order(void **state) {
    make_ring(1024);
    for (uint64_t i = 0; i < 1000; i++) put(&ring, i, 1);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 1000);
    for (uint64_t i = 0; i < 1000; i++) assert_true(is_event(&events[i], i, 1));
}

static void test_operands_keep_their_width(void **state) {
    const uint64_t widest = (1ull << RING_OPERAND_BITS) - 1;
    make_ring(RING_LEAST_RECORDS);
    ring_put1(&ring, UINT64_MAX - 1, EVENT_RESULT, widest);
    ring_put3(&ring, UINT64_MAX, EVENT_WAIT_BEGIN, widest, UINT64_MAX, UINT64_MAX);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2);
    assert_int_equal(events[0].operand[0], widest);
    assert_int_equal(events[1].time, UINT64_MAX);
    assert_int_equal(events[1].kind, EVENT_WAIT_BEGIN);
    assert_int_equal(events[1].operand[0], widest);
    assert_int_equal(events[1].operand[1], UINT64_MAX);
    assert_int_equal(events[1].operand[2], UINT64_MAX);
}

static void test_a_half_that_is_not_full_is_drained_as_far_as_it_goes(void **state) {
    make_ring(RING_LEAST_RECORDS);
    for (uint64_t i = 0; i < 100; i++) {
        put(&ring, i, 2);
        assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 1);
        assert_true(is_event(&events[0], i, 2));
    }
}

static void test_halves_are_swapped_and_given_back(void **state) {
    make_ring(RING_LEAST_RECORDS);
    uint64_t put_count = 0, seen = 0;
    for (uint64_t round = 0; round < 100; round++) {
        uint64_t burst = 1 + round % RING_LEAST_RECORDS; // a half always fits, wherever the cursor stands
        put_small(put_count, burst);
        put_count += burst;
        size_t count = ring_drain(&ring, events, MOST_EVENTS);
        for (size_t i = 0; i < count; i++) assert_small(&events[i], seen++);
        assert_int_equal(seen, put_count);
    }
}

static void test_a_drain_of_few_goes_on_where_it_stopped(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS);
    for (uint64_t seen = 0; seen < 2 * RING_LEAST_RECORDS; seen++) {
        assert_int_equal(ring_drain(&ring, events, 1), 1);
        assert_small(&events[0], seen);
    }
    assert_int_equal(ring_drain(&ring, events, 1), 0);
}

static void test_a_pair_holds_all_its_records(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS);
    assert_int_equal(ring_unreported(&ring), 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
}

static void test_a_full_pair_drops_and_counts(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS + 7);
    assert_int_equal(ring_unreported(&ring), 7);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
    assert_small(&events[2 * RING_LEAST_RECORDS - 1], 2 * RING_LEAST_RECORDS - 1);
}

static void test_the_loss_comes_before_the_next_event(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS + 7);
    ring_drain(&ring, events, MOST_EVENTS);
    ring_put3(&ring, 100, EVENT_SPAWN_BEGIN, 1, 2, 3);
    ring_put1(&ring, 101, EVENT_ENTER, 101);
    assert_int_equal(ring_unreported(&ring), 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 3);
    assert_lost(&events[0], 100, 7);
    assert_int_equal(events[1].kind, EVENT_SPAWN_BEGIN);
    assert_int_equal(events[1].operand[2], 3);
    assert_small(&events[2], 101);
}

// A small event that would still fit behind a dropped large one must not overtake the loss.
static void test_nothing_is_recorded_between_a_loss_and_its_report(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS - 1);
    ring_put3(&ring, 50, EVENT_SPAWN_BEGIN, 1, 2, 3);
    ring_put1(&ring, 51, EVENT_ENTER, 51);
    assert_int_equal(ring_unreported(&ring), 2);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS - 1);
    ring_put1(&ring, 52, EVENT_ENTER, 52);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2);
    assert_lost(&events[0], 52, 2);
    assert_small(&events[1], 52);
}

static void assert_switch(const struct event *event, uint64_t owner) {
    assert_int_equal(event->kind, RING_SWITCH);
    assert_int_equal(event->operand[0], owner);
}

static void test_a_switch_says_whose_the_events_are(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 1);
    ring_switch(&ring, 1, UINT64_C(0xffffff00000007));
    put_small(2, 1);
    ring_switch(&ring, 3, 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 4);
    assert_small(&events[0], 0);
    assert_switch(&events[1], UINT64_C(0xffffff00000007));
    assert_small(&events[2], 2);
    assert_switch(&events[3], 0);
}

// Nothing is put down to another, and what was lost to several to whose the ring is.
static void test_a_switch_without_room_is_caught_up_with(void **state) {
    make_ring(RING_LEAST_RECORDS);
    ring_switch(&ring, 0, 7);
    put_small(1, 2 * RING_LEAST_RECORDS + 3); // four of them are lost
    ring_switch(&ring, 98, 0);
    put_small(99, 1);
    ring_switch(&ring, 100, 8);
    put_small(101, 1);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
    put_small(102, 1);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 4);
    assert_switch(&events[0], 0);
    assert_lost(&events[1], 102, 6);
    assert_switch(&events[2], 8);
    assert_small(&events[3], 102);
}

static void test_a_switch_alone_without_room_is_no_loss(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS);
    ring_switch(&ring, 50, 8);
    assert_int_equal(ring_unreported(&ring), 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
    put_small(51, 1);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2);
    assert_switch(&events[0], 8);
    assert_small(&events[1], 51);
}

// The half that stood full at the loss is sealed only then, and not yet given back: one half is there for each round.
static void test_losses_are_reported_each_time(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS + 1);
    ring_drain(&ring, events, MOST_EVENTS);
    for (uint64_t lost = 1; lost < 10; lost++) {
        put_small(1000 * lost, RING_LEAST_RECORDS - 1 + lost + 1);
        assert_int_equal(ring_unreported(&ring), lost + 1);
        assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), RING_LEAST_RECORDS);
        assert_lost(&events[0], 1000 * lost, lost);
        for (uint64_t i = 1; i < RING_LEAST_RECORDS; i++) assert_small(&events[i], 1000 * lost + i - 1);
    }
}

static void test_a_burst_fits_the_default_size_undrained(void **state) {
    enum { BURST = RING_BURST_RECORDS + RING_DEFAULT_RECORDS };
    make_ring(RING_DEFAULT_RECORDS);
    put_small(0, BURST);
    assert_int_equal(ring_unreported(&ring), 0);
    uint64_t seen = 0;
    for (size_t count; (count = ring_drain(&ring, events, MOST_EVENTS)) > 0;) {
        for (size_t i = 0; i < count; i++) assert_small(&events[i], seen++);
    }
    assert_int_equal(seen, BURST);
}

static void test_reset_forgets_all(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 3 * RING_LEAST_RECORDS);
    ring_reset(&ring);
    assert_int_equal(ring_unreported(&ring), 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 0);
    put_small(7, 2 * RING_LEAST_RECORDS);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
    assert_small(&events[0], 7);
}

// ---- two threads

struct race {
    struct ring ring;
    uint64_t total, seed;
    uint64_t pause_every; // events after which the producer lets the consumer in; 0: never
    size_t batch;         // of the consumer's
    _Atomic(bool) ended;
};

struct tally {
    uint64_t next;           // number expected next
    uint64_t received, lost; // events, and what the EVENT_LOST among them add up to
    bool wrong;
};

static void *produce(void *argument) {
    struct race *race = argument;
    for (uint64_t i = 0; i < race->total; i++) {
        put(&race->ring, i, race->seed);
        if (race->pause_every && i % race->pause_every == 0) sched_yield();
    }
    atomic_store_explicit(&race->ended, true, memory_order_release);
    return NULL;
}

static void check(struct tally *tally, const struct event *event, uint64_t seed) {
    if (event->kind == EVENT_LOST) {
        tally->next += event->operand[0];
        tally->lost += event->operand[0];
        tally->wrong |= event->operand[0] == 0 || event->time != tally->next;
    } else {
        tally->wrong |= !is_event(event, tally->next, seed);
        tally->next++;
        tally->received++;
    }
}

static struct tally consume(struct race *race) {
    struct tally tally = {0};
    bool last;
    do {
        last = atomic_load_explicit(&race->ended, memory_order_acquire); // before the drain, as the drainer does
        size_t count = ring_drain(&race->ring, events, race->batch);
        for (size_t i = 0; i < count; i++) check(&tally, &events[i], race->seed);
        if (count % 3 == 0) ring_rest(&race->ring); // whoever rests by then
        last = last && count < race->batch;
        if (count == 0) sched_yield();
    } while (!last);
    return tally;
}

// Whether what came out and what was counted as lost add up to what was put in, event by event.
static bool run_race(uint32_t capacity, struct race *race, struct tally *tally) {
    pthread_t producer;
    struct ring_bell bell = {.quiet_ticks = race->seed % 2}; // each producer is quiet, or none
    if (!ring_init(&race->ring, capacity, &bell)) return false;
    atomic_init(&race->ended, false);
    bool made = pthread_create(&producer, NULL, produce, race) == 0;
    if (made) {
        *tally = consume(race);
        pthread_join(producer, NULL);
        tally->lost += ring_unreported(&race->ring);
    }
    ring_destroy(&race->ring);
    return made && !tally->wrong && tally->received + tally->lost == race->total;
}

static void test_two_threads_lose_and_count_exactly(void **state) {
    static const uint32_t capacities[] = {16, 17, 64, 1000, 4097, 8193, 65536, 70000};
    static const uint64_t pauses[] = {0, 7, 100, 5000};
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        for (size_t p = 0; p < sizeof pauses / sizeof *pauses; p++) {
            struct race race = {.total = 100000, .seed = c + p, .pause_every = pauses[p], .batch = 1 + 37 * p * c};
            struct tally tally;
            if (!run_race(capacities[c], &race, &tally)) {
                fail_msg("capacity %u, pause every %llu: %llu received, %llu lost", capacities[c],
                         (unsigned long long)pauses[p], (unsigned long long)tally.received,
                         (unsigned long long)tally.lost);
            }
        }
    }
}

static uint64_t random_next(uint64_t *seed) { // xorshift64*
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545f4914f6cdd1d;
}

static int loop(unsigned seconds) {
    time_t until = time(NULL) + seconds;
    uint64_t seed = (uint64_t)time(NULL), rounds = 0, received = 0, lost = 0;
    for (; time(NULL) < until; rounds++) {
        uint64_t at = seed;
        uint32_t capacity = RING_LEAST_RECORDS + (uint32_t)(random_next(&seed) >> (50 + random_next(&seed) % 11));
        struct race race = {.total = 20000 + random_next(&seed) % 200000,
                            .seed = random_next(&seed),
                            .pause_every = random_next(&seed) % 3 ? 1 + random_next(&seed) % 1000 : 0,
                            .batch = 1 + random_next(&seed) % MOST_EVENTS};
        struct tally tally;
        if (!run_race(capacity, &race, &tally)) {
            fprintf(stderr, "ring_test: seed %llu: event %llu is wrong or the sum is\n", (unsigned long long)at,
                    (unsigned long long)tally.next);
            return 1;
        }
        received += tally.received;
        lost += tally.lost;
    }
    printf("ring_test: %llu rounds, %llu events received, %llu lost, all accounted for\n", (unsigned long long)rounds,
           (unsigned long long)received, (unsigned long long)lost);
    return 0;
}

// What a busy producer touched goes back, and the next one finds a ring like new.
static void test_trimmed_ring_is_small(void **state) {
    enum { RECORDS = RING_DEFAULT_RECORDS };
    struct ring busy;
    struct event event;
    assert_true(ring_init(&busy, RECORDS, NULL));
    for (uint64_t i = 1; i <= 2 * RECORDS; i++) ring_put1(&busy, i, EVENT_ENTER, i);
    assert_int_not_equal(busy.half[1][RECORDS - 1].first, 0);
    while (ring_drain(&busy, &event, 1) == 1) {
    }
    ring_trim(&busy);
    ring_reset(&busy);
    assert_int_not_equal(busy.half[0][0].first, 0);
    assert_int_equal(busy.half[0][RECORDS - 1].first, 0);
    assert_int_equal(busy.half[1][RECORDS - 1].first, 0);
    ring_put1(&busy, 7, EVENT_ENTER, 8);
    assert_int_equal(ring_drain(&busy, &event, 1), 1);
    assert_int_equal(event.operand[0], 8);
    ring_destroy(&busy);
}

static size_t resident_bytes(const struct ring *of) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 2 * (of->capacity + 1) * sizeof(struct ring_record);
    unsigned char pages[8192];
    size_t count = bytes / page, resident = 0;
    assert_true(count <= sizeof pages);
    assert_int_equal(mincore(of->half[0], count * page, pages), 0);
    for (size_t i = 0; i < count; i++) resident += pages[i] & 1;
    return resident * page;
}

// Whatever of a half it fills: what is drained comes back but for what a quiet producer uses, nothing else goes.
static void test_who_rests_behind_a_burst_keeps_little(void **state) {
    enum { ALL = RING_DEFAULT_RECORDS, KEPT = 2 * RING_KEPT_BYTES };
    static struct ring_bell bell = {.quiet_ticks = UINT64_MAX};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t put_count = 0, drained = 0;
    assert_true(ring_init(&ring, ALL, &bell));
    for (uint64_t burst = 3 * ALL; burst > 0; burst /= 2) {
        for (uint64_t left = burst; left > 0;) {
            uint64_t some = left < MOST_EVENTS ? left : MOST_EVENTS;
            put_small(put_count, some);
            put_count += some;
            left -= some;
            if (left < 5) ring_rest(&ring); // nothing of this is drained yet
            for (size_t i = 0, count = ring_drain(&ring, events, MOST_EVENTS); i < count; i++)
                assert_small(&events[i], drained++);
        }
        ring_rest(&ring);
    }
    assert_int_equal(drained, put_count);
    assert_int_equal(ring_unreported(&ring), 0);
    const struct ring_record *cursor = atomic_load(&ring.cursor), *begin = ring.half[ring.filling];
    size_t ahead = (size_t)(begin + ALL - cursor) * sizeof *cursor; // the producer's, touched in an earlier lap
    assert_true(resident_bytes(&ring) <= KEPT + ahead + 4 * page);
}

// Near the end of its half a producer must find the other free at any time.
static void test_who_rests_at_the_end_of_a_half_keeps_the_other(void **state) {
    enum { ALL = RING_BURST_RECORDS };
    assert_true(ring_init(&ring, ALL, NULL));
    for (int i = 0; i < 2 * ALL - ALL / 8; i++) {
        put_small((uint64_t)i + 1, 1);
        assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 1);
    }
    ring_rest(&ring);
    assert_int_not_equal(ring.half[0][ALL - 1].first, 0);
    assert_int_equal(ring.half[1][ALL / 2].first, 0);
    put_small(1, ALL / 4);
    ring_drain(&ring, events, MOST_EVENTS);
    while (ring_drain(&ring, events, MOST_EVENTS) > 0) {
    }
    ring_rest(&ring);
    assert_int_equal(ring.half[1][ALL - ALL / 16].first, 0);
}

// Who takes long for a little touches no more than that of either half, unless the consumer is late.
static void test_a_quiet_producer_touches_little(void **state) {
    enum { QUIET = RING_QUIET_RECORDS, ALL = RING_DEFAULT_RECORDS };
    static struct ring_bell bell = {.quiet_ticks = QUIET};
    assert_true(ring_init(&ring, ALL, &bell));
    uint64_t ticks = 1;
    for (; ticks <= 9 * QUIET; ticks++) {
        ring_put1(&ring, ticks, EVENT_ENTER, ticks);
        if (ticks % QUIET == 0) assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), QUIET);
    }
    assert_int_equal(ring.half[0][QUIET].first, 0);
    assert_int_equal(ring.half[1][QUIET].first, 0);
    for (uint32_t i = 0; i < ALL; i++, ticks++) ring_put1(&ring, ticks, EVENT_ENTER, ticks);
    assert_int_equal(ring_unreported(&ring), 0);
    uint64_t drained = 9 * QUIET;
    for (size_t count; (count = ring_drain(&ring, events, MOST_EVENTS)) > 0;) {
        for (size_t i = 0; i < count; i++) assert_int_equal(events[i].operand[0], ++drained);
    }
    assert_int_equal(drained, ticks - 1);
}

// Behind a burst, too.
static void test_who_falls_quiet_touches_no_more(void **state) {
    enum { QUIET = RING_QUIET_RECORDS };
    static struct ring_bell bell = {.quiet_ticks = 100 * QUIET};
    assert_true(ring_init(&ring, RING_DEFAULT_RECORDS, &bell));
    uint64_t ticks = 1, drained = 0;
    for (; ticks <= 2 * QUIET + 10; ticks++) ring_put1(&ring, ticks, EVENT_ENTER, ticks);
    for (uint32_t i = 0; i < 5 * QUIET; i++, ticks += 100) {
        ring_put1(&ring, ticks, EVENT_ENTER, ticks);
        if (i % 100 == 0) drained += ring_drain(&ring, events, MOST_EVENTS);
    }
    for (size_t count; (count = ring_drain(&ring, events, MOST_EVENTS)) > 0;) drained += count;
    assert_int_equal(drained, 7 * QUIET + 10);
    assert_int_not_equal(ring.half[0][3 * QUIET - 1].first, 0);
    assert_int_equal(ring.half[0][4 * QUIET].first, 0);
    assert_int_equal(ring.half[1][QUIET].first, 0);
}

// Whatever the size: events of two records never get less room than that where the limit is raised.
static void test_a_raised_limit_leaves_room_for_an_event(void **state) {
    static struct ring_bell bell = {.quiet_ticks = UINT64_MAX};
    for (uint32_t capacity = RING_QUIET_RECORDS; capacity <= 4 * RING_QUIET_RECORDS; capacity++) {
        if (capacity % RING_QUIET_RECORDS > 3 && capacity % 509) continue;
        assert_true(ring_init(&ring, capacity, &bell));
        for (uint64_t i = 1; i <= 2 * capacity; i++) {
            ring_put3(&ring, i, EVENT_SPAWN_BEGIN, i, 2, 3);
            assert_true(atomic_load(&ring.cursor) <= ring.half[ring.filling] + capacity);
        }
        ring_destroy(&ring);
    }
}

// Of halves that caches hold it has all of both; of greater ones it leaves the first as soon as it has filled so much.
static void test_a_burst_has_both_halves(void **state) {
    static struct ring_bell bell = {.quiet_ticks = RING_QUIET_RECORDS + 1};
    static const uint64_t halves[] = {RING_BURST_RECORDS, RING_DEFAULT_RECORDS};
    for (size_t h = 0; h < sizeof halves / sizeof *halves; h++) {
        const uint64_t all = RING_BURST_RECORDS + halves[h];
        assert_true(ring_init(&ring, (uint32_t)halves[h], &bell));
        for (uint64_t i = 1; i <= all; i++) ring_put1(&ring, i, EVENT_ENTER, i);
        assert_int_equal(ring_unreported(&ring), 0);
        ring_put1(&ring, all + 1, EVENT_ENTER, 1);
        assert_int_equal(ring_unreported(&ring), 1);
        uint64_t drained = 0;
        for (size_t count; (count = ring_drain(&ring, events, MOST_EVENTS)) > 0;) drained += count;
        assert_int_equal(drained, all);
        ring_destroy(&ring);
    }
}

// A consumer that keeps up finds all in what caches hold.
static void test_a_burst_touches_no_more_than_caches_hold(void **state) {
    static struct ring_bell bell = {.quiet_ticks = RING_QUIET_RECORDS + 1};
    make_ring(RING_DEFAULT_RECORDS);
    ring.bell = &bell;
    for (uint64_t i = 1; i <= 8 * RING_BURST_RECORDS; i++) {
        ring_put1(&ring, i, EVENT_ENTER, i);
        if (i % 1000 == 0) ring_drain(&ring, events, MOST_EVENTS);
    }
    assert_int_not_equal(ring.half[0][RING_BURST_RECORDS - 1].first, 0);
    assert_int_not_equal(ring.half[1][RING_BURST_RECORDS - 1].first, 0);
    assert_int_equal(ring.half[0][RING_BURST_RECORDS].first, 0);
    assert_int_equal(ring.half[1][RING_BURST_RECORDS].first, 0);
}

// ---- the bell

static void test_who_fills_a_half_rings(void **state) {
    static struct ring_bell bell;
    const struct timespec past = {0};
    assert_true(ring_init(&ring, 4, &bell));
    put_small(0, 4);
    assert_false(ring_bell_wait(&bell, 0, &past));
    put_small(4, 1);
    assert_true(ring_bell_wait(&bell, 0, &past));
    assert_false(ring_bell_wait(&bell, 1, &past));
    put_small(5, 8); // the other half is full, and what finds no room rings nobody
    assert_false(ring_bell_wait(&bell, 1, &past));
}

static void *fill_a_half(void *bell) {
    struct ring_bell *awaited = bell;
    while (!atomic_load(&awaited->awaited)) sched_yield();
    put_small(0, 5);
    return NULL;
}

static void test_who_awaits_the_bell_is_woken(void **state) {
    static struct ring_bell bell;
    struct timespec until;
    pthread_t producer;
    assert_true(ring_init(&ring, 4, &bell));
    assert_int_equal(pthread_create(&producer, NULL, fill_a_half, &bell), 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 100;
    atomic_store(&bell.awaited, true);
    assert_true(ring_bell_wait(&bell, 0, &until));
    pthread_join(producer, NULL);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--loop") == 0) return loop((unsigned)strtoul(argv[2], NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_nothing_comes_out_of_an_empty_ring, destroy_ring),
        cmocka_unit_test_teardown(test_events_of_both_sizes_come_out_in_order, destroy_ring),
        cmocka_unit_test_teardown(test_operands_keep_their_width, destroy_ring),
        cmocka_unit_test_teardown(test_a_half_that_is_not_full_is_drained_as_far_as_it_goes, destroy_ring),
        cmocka_unit_test_teardown(test_halves_are_swapped_and_given_back, destroy_ring),
        cmocka_unit_test_teardown(test_a_drain_of_few_goes_on_where_it_stopped, destroy_ring),
        cmocka_unit_test_teardown(test_a_pair_holds_all_its_records, destroy_ring),
        cmocka_unit_test_teardown(test_a_full_pair_drops_and_counts, destroy_ring),
        cmocka_unit_test_teardown(test_the_loss_comes_before_the_next_event, destroy_ring),
        cmocka_unit_test_teardown(test_nothing_is_recorded_between_a_loss_and_its_report, destroy_ring),
        cmocka_unit_test_teardown(test_losses_are_reported_each_time, destroy_ring),
        cmocka_unit_test_teardown(test_a_burst_fits_the_default_size_undrained, destroy_ring),
        cmocka_unit_test_teardown(test_a_quiet_producer_touches_little, destroy_ring),
        cmocka_unit_test_teardown(test_who_falls_quiet_touches_no_more, destroy_ring),
        cmocka_unit_test(test_a_raised_limit_leaves_room_for_an_event),
        cmocka_unit_test(test_a_burst_has_both_halves),
        cmocka_unit_test_teardown(test_a_burst_touches_no_more_than_caches_hold, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_says_whose_the_events_are, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_without_room_is_caught_up_with, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_alone_without_room_is_no_loss, destroy_ring),
        cmocka_unit_test_teardown(test_reset_forgets_all, destroy_ring),
        cmocka_unit_test_teardown(test_who_fills_a_half_rings, destroy_ring),
        cmocka_unit_test_teardown(test_who_awaits_the_bell_is_woken, destroy_ring),
        cmocka_unit_test(test_two_threads_lose_and_count_exactly),
        cmocka_unit_test(test_trimmed_ring_is_small),
        cmocka_unit_test_teardown(test_who_rests_behind_a_burst_keeps_little, destroy_ring),
        cmocka_unit_test_teardown(test_who_rests_at_the_end_of_a_half_keeps_the_other, destroy_ring),
    };
    return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
