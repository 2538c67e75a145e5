// SPDX-License-Identifier: GPL-3.0-or-later
// The lockless buffer: what it promises on one thread, and that several threads lose and count exactly.
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

enum { MOST_EVENTS = 4096, MEMORY_BYTES = 64 << 20, CHUNKS = MEMORY_BYTES / CHUNK_MOST_BYTES };

static struct chunks chunks;
static struct ring ring;
static struct event events[MOST_EVENTS];

static int make_memory(void **state) {
    if (!chunks_reserve(&chunks, MEMORY_BYTES, CHUNK_MOST_BYTES)) return -1;
    chunks_limit(&chunks, MEMORY_BYTES);
    return 0;
}

static int release_memory(void **state) {
    chunks_release(&chunks);
    return 0;
}

static void make_ring(uint32_t records) {
    ring_init(&ring, &chunks, records, NULL);
}

static int destroy_ring(void **state) {
    ring_reset(&ring);
    chunks_limit(&chunks, MEMORY_BYTES);
    return chunks_taken_bytes(&chunks) == 0 ? 0 : -1;
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

static void test_a_chunk_that_is_not_full_is_drained_as_far_as_it_goes(void **state) {
    make_ring(RING_LEAST_RECORDS);
    for (uint64_t i = 0; i < 100; i++) {
        put(&ring, i, 2);
        assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 1);
        assert_true(is_event(&events[0], i, 2));
    }
}

static void test_chunks_are_given_back(void **state) {
    make_ring(RING_LEAST_RECORDS);
    uint64_t put_count = 0, seen = 0;
    for (uint64_t round = 0; round < 100; round++) {
        uint64_t burst = 1 + round % RING_LEAST_RECORDS; // a chunk always fits, wherever the cursor stands
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

static void test_a_limited_ring_holds_all_its_records(void **state) {
    make_ring(RING_LEAST_RECORDS);
    put_small(0, 2 * RING_LEAST_RECORDS);
    assert_int_equal(ring_unreported(&ring), 0);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 2 * RING_LEAST_RECORDS);
}

static void test_a_full_ring_drops_and_counts(void **state) {
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

// The chunk that stood full at the loss is sealed only then, and not yet given back: one is there for each round.
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

static void drain_small(uint64_t count) {
    uint64_t seen = 0;
    for (size_t some; (some = ring_drain(&ring, events, MOST_EVENTS)) > 0;) {
        for (size_t i = 0; i < some; i++) assert_small(&events[i], seen++);
    }
    assert_int_equal(seen, count);
}

static void test_a_ring_grows_by_what_is_not_drained(void **state) {
    enum { BURST = 1000000 };
    make_ring(0);
    assert_int_equal(chunks_taken_bytes(&chunks), 0);
    put_small(0, BURST);
    assert_int_equal(ring_unreported(&ring), 0);
    const uint32_t needed = (BURST + chunks.chunk_records - 1) / chunks.chunk_records;
    assert_int_equal(chunks_taken_bytes(&chunks), (uint64_t)needed * CHUNK_MOST_BYTES);
    drain_small(BURST);
    assert_int_equal(chunks_taken_bytes(&chunks), CHUNK_MOST_BYTES);
}

// What one can't have it loses, and counts.
static void test_the_limit_leaves_something_for_others(void **state) {
    enum { LIMIT = 1000 };
    static struct ring other;
    chunks_limit(&chunks, LIMIT * CHUNK_MOST_BYTES);
    make_ring(0);
    put_small(0, LIMIT * chunks.chunk_records);
    assert_in_range(chunks_taken_bytes(&chunks) / CHUNK_MOST_BYTES, LIMIT * 4 / 5, LIMIT * 4 / 5 + 1);
    assert_true(ring_unreported(&ring) > 0);
    ring_init(&other, &chunks, 0, NULL);
    for (uint64_t i = 0; i < 100 * chunks.chunk_records; i++) ring_put1(&other, i, EVENT_ENTER, i);
    assert_int_equal(ring_unreported(&other), 0);
    ring_reset(&other);
}

static void test_a_ring_has_what_it_is_owed_beyond_the_limit(void **state) {
    chunks_limit(&chunks, 0);
    make_ring(0);
    put_small(0, CHUNKS_OWED * chunks.chunk_records + 7);
    assert_int_equal(ring_unreported(&ring), 7);
    drain_small(CHUNKS_OWED * chunks.chunk_records);
}

static void test_without_memory_all_is_counted(void **state) {
    static struct chunks none;
    ring_init(&ring, &none, 0, NULL);
    put_small(0, 100);
    ring_put3(&ring, 100, EVENT_SPAWN_BEGIN, 1, 2, 3);
    ring_switch(&ring, 101, 8);
    assert_int_equal(ring_unreported(&ring), 101);
    assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 0);
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
        if (count % 3 == 0) chunks_rest(&chunks); // whoever needs them by then
        last = last && count < race->batch;
        if (count == 0) sched_yield();
    } while (!last);
    return tally;
}

// Whether what came out and what was counted as lost add up to what was put in, event by event.
static bool run_race(uint32_t records, struct race *race, struct tally *tally) {
    pthread_t producer;
    struct ring_bell bell = {0};
    ring_init(&race->ring, &chunks, records, &bell);
    atomic_init(&race->ended, false);
    bool made = pthread_create(&producer, NULL, produce, race) == 0;
    if (made) {
        *tally = consume(race);
        pthread_join(producer, NULL);
        tally->lost += ring_unreported(&race->ring);
    }
    ring_reset(&race->ring);
    return made && !tally->wrong && tally->received + tally->lost == race->total;
}

static void test_two_threads_lose_and_count_exactly(void **state) {
    static const uint32_t capacities[] = {0, 16, 17, 64, 1000, 4097, 65536};
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

// Several producers share a memory that is too small for them.
static void test_many_threads_share_what_there_is(void **state) {
    enum { RACES = 4, LIMIT = 40 };
    static struct race races[RACES];
    pthread_t producers[RACES];
    struct tally tallies[RACES] = {{0}};
    chunks_limit(&chunks, LIMIT * CHUNK_MOST_BYTES);
    for (size_t i = 0; i < RACES; i++) {
        races[i] = (struct race){.total = 500000, .seed = i, .pause_every = i * 1000};
        ring_init(&races[i].ring, &chunks, 0, NULL);
        assert_int_equal(pthread_create(&producers[i], NULL, produce, &races[i]), 0);
    }
    for (size_t left = RACES, round = 0; left > 0; round++) {
        left = RACES;
        for (size_t i = 0; i < RACES; i++) {
            bool last = atomic_load_explicit(&races[i].ended, memory_order_acquire);
            size_t count = ring_drain(&races[i].ring, events, MOST_EVENTS);
            for (size_t e = 0; e < count; e++) check(&tallies[i], &events[e], i);
            left -= last && count < MOST_EVENTS;
        }
        if (round % 16 == 0) chunks_rest(&chunks);
    }
    for (size_t i = 0; i < RACES; i++) {
        pthread_join(producers[i], NULL);
        assert_false(tallies[i].wrong);
        assert_int_equal(tallies[i].received + tallies[i].lost + ring_unreported(&races[i].ring), races[i].total);
        ring_reset(&races[i].ring);
    }
    assert_int_equal(chunks_taken_bytes(&chunks), 0);
    chunks_limit(&chunks, MEMORY_BYTES);
}

static int loop(unsigned seconds) {
    time_t until = time(NULL) + seconds;
    if (make_memory(NULL) != 0) return 1;
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

// ---- memory

static size_t resident_bytes(void) {
    static unsigned char pages[MEMORY_BYTES / 4096];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = MEMORY_BYTES / page;
    size_t resident = 0;
    assert_true(count <= sizeof pages);
    assert_int_equal(mincore(chunks.memory, MEMORY_BYTES, pages), 0);
    for (size_t i = 0; i < count; i++) resident += pages[i] & 1;
    return resident * page;
}

// What a burst touched goes back at the second rest behind it: at the first it was needed a moment ago.
static void test_what_a_burst_touched_goes_back(void **state) {
    enum { KEPT_BYTES = 2 << 20, BURST = 2000000 };
    for (int burst = 0; burst < 3; burst++) {
        make_ring(0);
        put_small(0, BURST);
        drain_small(BURST);
        chunks_rest(&chunks);
        assert_true(resident_bytes() >= BURST * sizeof(struct ring_record));
        chunks_rest(&chunks);
        assert_true(resident_bytes() <= KEPT_BYTES + CHUNK_MOST_BYTES);
        ring_reset(&ring);
    }
}

static void test_a_quiet_producer_touches_little(void **state) {
    chunks_rest(&chunks);
    chunks_rest(&chunks);
    const size_t before = resident_bytes();
    make_ring(0);
    for (uint64_t i = 0; i < 1000; i++) {
        put_small(0, 1000);
        assert_int_equal(ring_drain(&ring, events, MOST_EVENTS), 1000);
        assert_true(chunks_taken_bytes(&chunks) <= CHUNK_MOST_BYTES);
    }
    assert_true(resident_bytes() <= before + 2 * CHUNK_MOST_BYTES);
}

static void test_memory_of_another_size(void **state) {
    static struct chunks small;
    static struct ring in_small;
    assert_true(chunks_reserve(&small, CHUNK_LEAST_BYTES * 8, CHUNK_LEAST_BYTES));
    chunks_limit(&small, UINT64_MAX);
    ring_init(&in_small, &small, 0, NULL);
    for (uint64_t i = 0; i < 1000; i++) ring_put1(&in_small, i, EVENT_ENTER, i);
    assert_true(ring_drain(&in_small, events, MOST_EVENTS) >= 6 * small.chunk_records);
    chunks_rest(&small);
    ring_reset(&in_small);
    chunks_release(&small);
    assert_false(chunks_reserve(&small, 0, CHUNK_LEAST_BYTES));
}

// ---- the bell

static void test_who_fills_half_a_ring_rings(void **state) {
    static struct ring_bell bell;
    const struct timespec past = {0};
    ring_init(&ring, &chunks, 4, &bell);
    put_small(0, 4);
    assert_false(ring_bell_wait(&bell, 0, &past));
    put_small(4, 1);
    assert_true(ring_bell_wait(&bell, 0, &past));
    assert_false(ring_bell_wait(&bell, 1, &past));
    put_small(5, 8); // the other chunk is full, and what finds no room rings nobody
    assert_false(ring_bell_wait(&bell, 1, &past));
}

static void *fill_a_chunk(void *bell) {
    struct ring_bell *awaited = bell;
    while (!atomic_load(&awaited->awaited)) sched_yield();
    put_small(0, 5);
    return NULL;
}

static void test_who_awaits_the_bell_is_woken(void **state) {
    static struct ring_bell bell;
    struct timespec until;
    pthread_t producer;
    ring_init(&ring, &chunks, 4, &bell);
    assert_int_equal(pthread_create(&producer, NULL, fill_a_chunk, &bell), 0);
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
        cmocka_unit_test_teardown(test_a_chunk_that_is_not_full_is_drained_as_far_as_it_goes, destroy_ring),
        cmocka_unit_test_teardown(test_chunks_are_given_back, destroy_ring),
        cmocka_unit_test_teardown(test_a_drain_of_few_goes_on_where_it_stopped, destroy_ring),
        cmocka_unit_test_teardown(test_a_limited_ring_holds_all_its_records, destroy_ring),
        cmocka_unit_test_teardown(test_a_full_ring_drops_and_counts, destroy_ring),
        cmocka_unit_test_teardown(test_the_loss_comes_before_the_next_event, destroy_ring),
        cmocka_unit_test_teardown(test_nothing_is_recorded_between_a_loss_and_its_report, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_says_whose_the_events_are, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_without_room_is_caught_up_with, destroy_ring),
        cmocka_unit_test_teardown(test_a_switch_alone_without_room_is_no_loss, destroy_ring),
        cmocka_unit_test_teardown(test_losses_are_reported_each_time, destroy_ring),
        cmocka_unit_test_teardown(test_a_ring_grows_by_what_is_not_drained, destroy_ring),
        cmocka_unit_test_teardown(test_the_limit_leaves_something_for_others, destroy_ring),
        cmocka_unit_test_teardown(test_a_ring_has_what_it_is_owed_beyond_the_limit, destroy_ring),
        cmocka_unit_test_teardown(test_without_memory_all_is_counted, destroy_ring),
        cmocka_unit_test_teardown(test_reset_forgets_all, destroy_ring),
        cmocka_unit_test(test_two_threads_lose_and_count_exactly),
        cmocka_unit_test(test_many_threads_share_what_there_is),
        cmocka_unit_test_teardown(test_what_a_burst_touched_goes_back, destroy_ring),
        cmocka_unit_test_teardown(test_a_quiet_producer_touches_little, destroy_ring),
        cmocka_unit_test(test_memory_of_another_size),
        cmocka_unit_test_teardown(test_who_fills_half_a_ring_rings, destroy_ring),
        cmocka_unit_test_teardown(test_who_awaits_the_bell_is_woken, destroy_ring),
    };
    return cmocka_run_group_tests_name("ring", tests, make_memory, release_memory);
}
