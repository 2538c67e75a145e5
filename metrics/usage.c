// SPDX-License-Identifier: GPL-3.0-or-later
// Threads by state over time: each thread's chain is walked once, its changes of state are sorted by time with everyone
// else's, and one sweep gives the time spent at every level, from which peak, max and mean follow.
#include "metrics/work.h"

#include <string.h>

const char *const thread_state_names[STATE_COUNT] = {"occupied", "active", "waiting", "blocked", "unoccupied"};

enum mode { MODE_NONE, MODE_ACTIVE, MODE_WAITING, MODE_UNOCCUPIED, MODE_COUNT };

static const int8_t mode_states[MODE_COUNT][STATE_COUNT] = {
    [MODE_ACTIVE] = {[STATE_OCCUPIED] = 1, [STATE_ACTIVE] = 1},
    [MODE_WAITING] = {[STATE_OCCUPIED] = 1, [STATE_WAITING] = 1},
    [MODE_UNOCCUPIED] = {[STATE_UNOCCUPIED] = 1},
};

// A thread's mode since `since_ns`; written only once it has lasted.
struct stretch {
    enum mode written, now;
    int64_t since_ns;
};

static void write_change(struct state_series *series, const struct stretch *stretch) {
    struct state_change *change = &series->changes[series->count++];
    change->time_ns = stretch->since_ns;
    for (int s = 0; s < STATE_COUNT; s++) {
        change->delta[s] = (int8_t)(mode_states[stretch->now][s] - mode_states[stretch->written][s]);
    }
}

static void stretch_turn(struct state_series *series, struct stretch *stretch, enum mode mode, int64_t time_ns) {
    if (mode == stretch->now) return;
    if (time_ns > stretch->since_ns && stretch->now != stretch->written) {
        write_change(series, stretch);
        stretch->written = stretch->now;
    }
    stretch->now = mode;
    stretch->since_ns = time_ns;
}

static void gather_thread(struct metrics_work *work, const struct dag_run *run, uint32_t thread) {
    struct state_series *series = &work->series;
    const struct metrics_scratch *scratch = work->scratch;
    const enum mode outside = scratch->dag->threads[thread].worker ? MODE_UNOCCUPIED : MODE_NONE;
    struct stretch stretch = {.since_ns = series->from_ns};
    uint32_t depth = 0, bodies = 0;
    int64_t now = series->from_ns;
    dag_chain_start(&work->chain, thread);
    for (uint32_t v; (v = dag_chain_next(&work->chain)) != DAG_NONE;) {
        if (run->time_ns[v] == DAG_ABSENT) continue;
        if (run->time_ns[v] > now) now = run->time_ns[v] < series->to_ns ? run->time_ns[v] : series->to_ns;
        switch (scratch->action[v]) {
        case ACTION_OPEN:
            scratch->nesting[depth++] = 0, bodies++;
            break;
        case ACTION_CLOSE:
            depth--, bodies--;
            break;
        case ACTION_WAIT:
            scratch->nesting[depth++] = 1;
            break;
        case ACTION_WAKE:
            depth--;
            break;
        default:
            break;
        }
        enum mode inside = depth > 0 && scratch->nesting[depth - 1] ? MODE_WAITING : MODE_ACTIVE;
        stretch_turn(series, &stretch, bodies ? inside : outside, now);
    }
    stretch_turn(series, &stretch, MODE_NONE, now);
    if (stretch.written != MODE_NONE) write_change(series, &stretch);
}

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, DIGIT_COUNT = 64 / DIGIT_BITS };

static unsigned digit_of(const struct state_change *change, int64_t from_ns, int digit) {
    return (unsigned)((uint64_t)(change->time_ns - from_ns) >> (digit * DIGIT_BITS)) & (DIGITS - 1);
}

static void scatter(const struct state_change *from, struct state_change *to, size_t count, int64_t from_ns, int digit,
                    const uint32_t *tally) {
    uint32_t place[DIGITS], sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        place[d] = sum;
        sum += tally[d];
    }
    for (size_t i = 0; i < count; i++) to[place[digit_of(&from[i], from_ns, digit)]++] = from[i];
}

// Radix sort, least digit first; digits in which no two times differ cost nothing.
static void series_sort(struct state_series *series, struct state_change **spare) {
    int digits = (64 - __builtin_clzll((uint64_t)(series->to_ns - series->from_ns) | 1) + DIGIT_BITS - 1) / DIGIT_BITS;
    uint32_t tally[DIGIT_COUNT][DIGITS];
    memset(tally, 0, (size_t)digits * sizeof tally[0]);
    for (size_t i = 0; i < series->count; i++) {
        for (int d = 0; d < digits; d++) tally[d][digit_of(&series->changes[i], series->from_ns, d)]++;
    }
    for (int d = 0; d < digits && series->count > 0; d++) {
        if (tally[d][digit_of(&series->changes[0], series->from_ns, d)] == series->count) continue;
        scatter(series->changes, *spare, series->count, series->from_ns, d, tally[d]);
        struct state_change *sorted = *spare;
        *spare = series->changes;
        series->changes = sorted;
    }
}

static void gather(struct metrics_work *work, const struct dag_run *run, enum thread_class class) {
    work->series.count = 0;
    for (uint32_t t = 0; t < work->scratch->dag->thread_count; t++) {
        if (work->scratch->thread_class[t] == class) gather_thread(work, run, t);
    }
    series_sort(&work->series, &work->scratch->spare);
}

static void sweep(const struct state_series *series, int64_t *const time_at[STATE_COUNT], uint32_t levels) {
    for (int s = 0; s < STATE_COUNT; s++) memset(time_at[s], 0, levels * sizeof *time_at[s]);
    uint32_t level[STATE_COUNT] = {0};
    int64_t since = series->from_ns;
    for (size_t i = 0; i < series->count; i++) {
        const struct state_change *change = &series->changes[i];
        int64_t lasted = change->time_ns - since;
        for (int s = 0; s < STATE_COUNT; s++) {
            time_at[s][level[s]] += lasted;
            level[s] += (uint32_t)change->delta[s];
        }
        since = change->time_ns;
    }
    for (int s = 0; s < STATE_COUNT; s++) time_at[s][level[s]] += series->to_ns - since;
}

// Mean over the busiest 1 % of wall: levels are used up from the top, the last one in part.
static double peak_of(const int64_t *time_at, uint32_t levels, double wall) {
    double left = wall / 100, weighted = 0;
    for (uint32_t level = levels; level-- > 0 && left > 0;) {
        double taken = (double)time_at[level] < left ? (double)time_at[level] : left;
        weighted += taken * level;
        left -= taken;
    }
    return weighted / (wall / 100);
}

static struct usage usage_of(const int64_t *time_at, uint32_t levels, double wall) {
    if (wall <= 0) return (struct usage){NAN, NAN, NAN};
    struct usage usage = {.peak = peak_of(time_at, levels, wall)};
    double area = 0;
    for (uint32_t level = 0; level < levels; level++) {
        area += (double)time_at[level] * level;
        if (time_at[level] > 0) usage.max = level;
    }
    usage.mean = area / wall;
    return usage;
}

static void usage_all(struct metrics_work *work, struct usage usages[STATE_COUNT]) {
    const struct metrics_scratch *scratch = work->scratch;
    sweep(&work->series, scratch->time_at, scratch->levels);
    double wall = (double)(work->series.to_ns - work->series.from_ns);
    for (int s = 0; s < STATE_COUNT; s++) usages[s] = usage_of(scratch->time_at[s], scratch->levels, wall);
    usages[STATE_BLOCKED] = (struct usage){NAN, NAN, NAN}; // no event tells of it: unknown, not 0
}

// Without an occupied thread no task runs, and no core is idle for want of work.
static double idle_share(const struct metrics_scratch *scratch, double wall) {
    uint32_t cores = scratch->dag->trace->header.cores;
    if (cores == 0 || wall <= 0) return NAN;
    double idle = -(double)cores * (double)scratch->time_at[STATE_OCCUPIED][0];
    for (uint32_t level = 0; level < cores && level < scratch->levels; level++) {
        idle += (double)(cores - level) * (double)scratch->time_at[STATE_ACTIVE][level];
    }
    return idle / (cores * wall);
}

static double overhead_share(const struct metrics_work *work, const struct dag_edit *edit, const struct dag_run *run,
                             double bodies_ns) {
    const struct dag *dag = work->scratch->dag;
    double overhead = 0;
    for (uint32_t task = 0; task < dag->task_count; task++) {
        if (!work_task_runs(dag, edit, run, task)) continue;
        int64_t start = run->time_ns[dag->tasks[task].start];
        if (start < work->series.from_ns || start > work->series.to_ns) continue;
        overhead += (double)work->scratch->overhead_ns[task];
    }
    return bodies_ns > 0 ? overhead / bodies_ns : NAN;
}

void metrics_unknown(struct metrics *metrics) {
    const struct usage none = {NAN, NAN, NAN};
    const struct quantiles nothing = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    *metrics = (struct metrics){.composite = NAN, .balanced = NAN};
    for (int s = 0; s < STATE_COUNT; s++) metrics->threads[s] = metrics->virtual_threads[s] = none;
    metrics->tasks = (struct task_metrics){
        .overhead_share = NAN, .idle_share = NAN, .work_ns = NAN, .span_ns = NAN, .granularity_unit = "ns"};
    metrics->tasks.granularity = metrics->tasks.queue_wait_ns = nothing;
}

bool metrics_usage(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   const struct window *window, const struct metrics *base, struct metrics_work *work,
                   struct metrics *metrics, struct error *error) {
    metrics_unknown(metrics);
    if (!work_bind(work, dag, edit, error)) return false;
    struct state_series *series = &work->series;
    if (!work_window(work->scratch, run, window, &series->from_ns, &series->to_ns)) {
        return error_set(error, STATUS_USAGE, "no event of a counted thread lies within the window");
    }
    if (work->scratch->any_virtual) {
        gather(work, run, THREAD_VIRTUALLY);
        usage_all(work, metrics->virtual_threads);
    }
    gather(work, run, THREAD_PLATFORM);
    usage_all(work, metrics->threads);
    metrics->wall_ns = series->to_ns - series->from_ns;
    double wall = (double)metrics->wall_ns;
    metrics->thread_time_ns = wall > 0 ? metrics->threads[STATE_OCCUPIED].mean * wall : 0;
    metrics->tasks.idle_share = idle_share(work->scratch, wall);
    metrics->tasks.overhead_share = overhead_share(work, edit, run, metrics->thread_time_ns);
    metrics->lost_events = dag->trace->lost_events;
    if (base) {
        metrics->composite = metrics_composite(metrics, base);
        metrics->balanced = metrics_balanced(metrics, base);
    }
    return true;
}
