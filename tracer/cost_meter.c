// SPDX-License-Identifier: Apache-2.0
#include "tracer/cost_meter.h"

#include <string.h>

enum {
    OFTEN_AT_FIRST = 3, // short runs, too, are to have a few of each kind
    OFTEN_LATER = 63,   // every 32nd on average
    STEPS = 4,          // buckets for a doubling: a power of two
    BUCKETS = 128,
    DEAREST_PART = 50, // one in so many is left out, and one at least
    FOLLOWED_PART = 8, // of timed probes so many have the next one timed as well: a power of two
    // In the first operand of what was measured, above the kind.
    SILENT_AT = 8,
    STANDS_FOR_AT = 40,
};

// Producer ------------------------------------------------------------------------------------------------------------

// Knuth's generator of 32 bits; its upper ones are the random ones.
static void choose_next(struct probe_timer *timer) {
    timer->random = timer->random * 1664525u + 1013904223u;
    timer->left = 1 + (timer->random >> 16 & timer->often);
    timer->interval = 1 + timer->often / 2;
    if (timer->often < OFTEN_LATER) timer->often = timer->often << 1 | 1;
}

void probe_timer_init(struct probe_timer *timer, uint32_t seed, struct cpu_meter *meter) {
    *timer = (struct probe_timer){.often = OFTEN_AT_FIRST, .random = seed, .meter = meter};
    choose_next(timer);
}

static uint64_t ticks_between(uint64_t from, uint64_t to) {
    return to > from ? to - from : 0;
}

static void begin_timing(struct probe_timer *timer, uint64_t ticks, uint32_t stands_for) {
    uint32_t turn = cpu_meter_turn(timer->meter);
    bool measures_gap = timer->ended_ticks && turn == timer->begun_turn;
    timer->gap = measures_gap ? 1 + ticks_between(timer->ended_ticks, ticks) : 0;
    timer->ended_ticks = 0;
    timer->begun_turn = turn;
    timer->begun_ticks = ticks;
    timer->stands_for = stands_for;
}

void probe_timer_begin_at(struct probe_timer *timer, uint64_t ticks) {
    begin_timing(timer, ticks, 1);
}

void probe_timer_begin_chosen(struct probe_timer *timer) {
    begin_timing(timer, clock_ticks(), timer->interval);
}

// Where the thread lost its core meanwhile nothing was measured. Where the chunk is full an event needs the room more.
static void put(struct probe_timer *timer, struct ring *ring, uint64_t before_ticks, uint64_t after_ticks) {
    uint64_t gap = timer->gap;
    timer->gap = 0;
    if (cpu_meter_turn(timer->meter) != timer->begun_turn) return;
    if (ring->limit - atomic_load_explicit(&ring->cursor, memory_order_relaxed) < 2) return;
    uint64_t what = timer->recorded_kind | (uint64_t)timer->recorded_after << SILENT_AT |
                    (uint64_t)timer->stands_for << STANDS_FOR_AT;
    ring_put3(ring, before_ticks, RING_TIMED, what, after_ticks, gap);
}

// What lies between two events of one probe counts as before the second.
void probe_timer_note(struct probe_timer *timer, struct ring *ring, uint64_t ticks, unsigned kind) {
    uint32_t silent = timer->silent ? timer->silent - 1 : 0;
    if (timer->recorded_kind != EVENT_NONE) {
        put(timer, ring, ticks_between(timer->begun_ticks, timer->recorded_ticks), 0);
        timer->begun_ticks = timer->recorded_ticks;
    }
    timer->recorded_ticks = ticks;
    timer->recorded_kind = kind;
    timer->recorded_after = silent;
}

void probe_timer_finish(struct probe_timer *timer, struct ring *ring) {
    uint64_t now = clock_ticks(), begun = timer->begun_ticks, recorded = timer->recorded_ticks;
    if (timer->recorded_kind == EVENT_NONE) recorded = now;
    put(timer, ring, ticks_between(begun, recorded), ticks_between(recorded, now));
    timer->begun_ticks = 0;
    timer->recorded_kind = EVENT_NONE;
    timer->recorded_after = 0;
    choose_next(timer);
    if (timer->random >> 8 & (FOLLOWED_PART - 1)) return;
    timer->left = 1;
    timer->ended_ticks = clock_ticks();
}

void probe_timer_drop(struct probe_timer *timer) {
    if (timer->begun_ticks == 0) return;
    timer->begun_ticks = 0;
    timer->recorded_kind = EVENT_NONE;
    timer->recorded_after = 0;
    timer->left = 1;
}

// Calibration ---------------------------------------------------------------------------------------------------------

static _Atomic(uint64_t) call_1024, call_times, function_1024, function_times;

void cost_meter_set_call(uint64_t ticks_1024, uint64_t times) {
    atomic_store_explicit(&call_1024, ticks_1024, memory_order_relaxed);
    atomic_store_explicit(&call_times, times, memory_order_relaxed);
}

void cost_meter_set_function(uint64_t ticks_1024, uint64_t times) {
    atomic_store_explicit(&function_1024, ticks_1024, memory_order_relaxed);
    atomic_store_explicit(&function_times, times, memory_order_relaxed);
}

// Drainer -------------------------------------------------------------------------------------------------------------

struct bucket {
    uint32_t count;
    uint64_t stand_for;             // so many probes
    uint64_t before, after, silent; // sums over those: ticks, and probes
};

static struct bucket buckets[EVENT_KINDS][BUCKETS]; // of EVENT_NONE: probes that recorded nothing
static struct bucket gaps[EVENT_KINDS][BUCKETS];    // `before`: between such a probe and the one that came before it
static uint64_t timed, timed_told, functions_told;  // probes

void cost_meter_restart(void) {
    memset(buckets, 0, sizeof buckets);
    memset(gaps, 0, sizeof gaps);
    timed = timed_told = functions_told = 0;
}

static unsigned bucket_of(uint64_t ticks) {
    if (ticks < STEPS) return (unsigned)ticks;
    unsigned exponent = 63u - (unsigned)__builtin_clzll(ticks), shift = exponent - 2;
    unsigned bucket = (exponent - 1) * STEPS + (unsigned)(ticks >> shift & (STEPS - 1));
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static void add(struct bucket *bucket, uint64_t stands_for, uint64_t before, uint64_t after, uint64_t silent) {
    bucket->count++;
    bucket->stand_for += stands_for;
    bucket->before += stands_for * before;
    bucket->after += stands_for * after;
    bucket->silent += stands_for * silent;
}

static void take(const struct event *measured) {
    unsigned kind = (unsigned)(measured->operand[0] & 0xff);
    if (kind >= EVENT_KINDS) return;
    uint64_t stands_for = measured->operand[0] >> STANDS_FOR_AT;
    uint64_t silent = (uint32_t)(measured->operand[0] >> SILENT_AT);
    struct bucket *bucket = &buckets[kind][bucket_of(measured->time + measured->operand[1])];
    add(bucket, stands_for, measured->time, measured->operand[1], silent);
    timed++;
    if (measured->operand[2] == 0) return;
    uint64_t gap = measured->operand[2] - 1;
    add(&gaps[kind][bucket_of(gap)], 1, gap, 0, 0);
}

static size_t before_measured(const struct event *events, size_t from, size_t count) {
    while (from < count && events[from].kind != RING_TIMED) from++;
    return from;
}

// What lies between two of them moves as one.
size_t cost_meter_take(struct event *events, size_t count) {
    size_t at = before_measured(events, 0, count), kept = at;
    while (at < count) {
        take(&events[at]);
        size_t from = at + 1;
        at = before_measured(events, from, count);
        memmove(events + kept, events + from, (at - from) * sizeof *events);
        kept += at - from;
    }
    return kept;
}

struct means {
    uint64_t count; // of what was measured
    double before, after, silent;
};

// What the dearest fiftieth stands for, and one at least.
static double left_out(const struct bucket *of_kind, double stand_for) {
    unsigned dearest = BUCKETS - 1;
    while (of_kind[dearest].count == 0) dearest--;
    double one = (double)of_kind[dearest].stand_for / of_kind[dearest].count;
    return one + (stand_for - one) / DEAREST_PART;
}

// Of the dearest bucket that isn't left out whole, a part goes.
static struct means means_of(const struct bucket *of_kind) {
    struct means means = {0};
    uint64_t count = 0;
    double stand_for = 0;
    for (unsigned b = 0; b < BUCKETS; b++) {
        count += of_kind[b].count;
        stand_for += (double)of_kind[b].stand_for;
    }
    if (count < 2) return means;
    double kept = stand_for - left_out(of_kind, stand_for), left = kept;
    for (unsigned b = 0; b < BUCKETS && left > 0; b++) {
        if (!of_kind[b].count) continue;
        double here = (double)of_kind[b].stand_for, taken = here < left ? here : left, part = taken / here;
        means.before += part * (double)of_kind[b].before;
        means.after += part * (double)of_kind[b].after;
        means.silent += part * (double)of_kind[b].silent;
        left -= taken;
    }
    means.count = count;
    means.before /= kept;
    means.after /= kept;
    means.silent /= kept;
    return means;
}

// What a reading of the clock costs: each timed stretch holds one that an untimed probe would not have had.
static double clock_cost(void) {
    enum { ROUNDS = 16, READINGS = 64 };
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t from = clock_ticks(), to = from;
        for (int i = 0; i < READINGS; i++) to = clock_ticks();
        if (to - from < least) least = to - from;
    }
    return (double)least / READINGS;
}

static double less(double ticks, double part) {
    return ticks > part ? ticks - part : 0;
}

static uint64_t to_ps(double ticks, uint64_t ticks_per_s) {
    double ps = ticks * 1e12 / (double)ticks_per_s;
    if (ps <= 0) return 0;
    return ps < (double)EVENT_COST_MOST_PS ? (uint64_t)ps : EVENT_COST_MOST_PS;
}

// Between two probes, as the next kind was: what is between their own clocks is a call, and what the program did. Where
// that was least it did next to nothing, or too much to tell. Gaps without a call are between two probes of one.
static double call_cost(double least, double clock) {
    enum { MEASURED_LEAST = 64, PLAIN_CALLS_MOST = 4 };
    double cost = PLAIN_CALLS_MOST * least;
    bool found = false;
    for (unsigned kind = EVENT_NONE; kind < EVENT_KINDS; kind++) {
        struct means between = means_of(gaps[kind]);
        double gap = less(between.before, clock);
        if (between.count < MEASURED_LEAST || gap < least || gap > cost) continue;
        cost = gap;
        found = true;
    }
    return found ? cost : least;
}

// What a probe costs beside what it measures, in ticks.
struct surroundings {
    double clock, call, silent_probe;
};

static struct surroundings look_around(void) {
    struct surroundings around = {.clock = clock_cost()};
    around.call = call_cost((double)atomic_load_explicit(&call_1024, memory_order_relaxed) / 1024, around.clock);
    around.silent_probe = less(means_of(buckets[EVENT_NONE]).before, around.clock) + around.call;
    return around;
}

// The call into native code lies half before the event, half after it. One clock of a timed probe is the event's own.
static struct event_cost cost_of_kind(unsigned kind, const struct surroundings *around, uint64_t ticks_per_s) {
    struct means means = means_of(buckets[kind]);
    double before = means.before + around->call / 2 + means.silent * around->silent_probe;
    double after = less(means.after, around->clock) + around->call / 2;
    return (struct event_cost){means.count, to_ps(before, ticks_per_s), to_ps(after, ticks_per_s)};
}

bool cost_meter_costs(uint64_t ticks_per_s, struct event_cost costs[EVENT_KINDS]) {
    uint64_t functions = atomic_load_explicit(&function_times, memory_order_relaxed);
    if (timed == timed_told && functions == functions_told) return false;
    const struct surroundings around = look_around();
    memset(costs, 0, EVENT_KINDS * sizeof *costs);
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        costs[kind] = cost_of_kind(kind, &around, ticks_per_s);
    }
    double function = (double)atomic_load_explicit(&function_1024, memory_order_relaxed) / 1024;
    uint64_t half_ps = to_ps(function / 2, ticks_per_s);
    for (unsigned kind = EVENT_ENTER; kind <= EVENT_EXIT_THROW && functions; kind++) {
        costs[kind] = (struct event_cost){functions, half_ps, half_ps};
    }
    timed_told = timed;
    functions_told = functions;
    return true;
}
