// SPDX-License-Identifier: GPL-3.0-or-later
// Threads by state over time: changes of state are gathered thread by thread, sorted by time, and one sweep gives the
// time spent at every level, from which peak, max and mean follow. What is counted is how many threads are in a state,
// not which: a body that the edit moved is therefore gathered where it was recorded, in order of memory. Its spawner,
// which stays active in the count, is what it departs from when it waits; where no thread was active at the spawn, the
// body counts as a thread of its own, and the thread that it moved to leaves a gap for it.
#include "metrics/stretch.h"
#include "metrics/work.h"

#include <string.h>

const char *const thread_state_names[STATE_COUNT] = {"occupied", "active", "waiting", "blocked", "unoccupied"};

struct gathering {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct dag_run *run;
    const struct metrics_scratch *scratch;
    struct state_series *series; // with the window, or with from_ns and to_ns wide open
    enum thread_class class;     // of the threads to be counted
    struct stretch *top;         // of scratch->stretches
    uint8_t *nesting;            // above the last entry of scratch->nesting
    int64_t first_ns, last_ns;   // seen so far
};

static void stretch_turn(struct gathering *gathering, struct stretch *stretch, enum mode mode, int64_t time_ns) {
    stretch_to(gathering->series, stretch, mode, time_ns);
}

static enum mode stretch_mode(const struct gathering *gathering, const struct stretch *stretch) {
    return stretch->bodies == 0 ? stretch->outside : gathering->nesting[-1];
}

static void stretch_begin(struct gathering *gathering, struct stretch *stretch, enum thread_class class,
                          enum mode mode) {
    *stretch = stretch_from(gathering->series, mode, class == gathering->class);
}

static void stretch_end(struct gathering *gathering, struct stretch *stretch, enum mode mode, int64_t time_ns) {
    stretch_turn(gathering, stretch, mode, time_ns);
    stretch_last(gathering->series, stretch);
}

// Where a body runs under the edit: with its spawner if it is inlined, with the body around it if it lies in one.
static enum thread_class class_of_body(const struct gathering *gathering, uint32_t index) {
    for (;;) {
        const struct dag_task *task = &gathering->dag->tasks[index];
        bool inlined = gathering->edit->inlined[index];
        uint32_t around = inlined ? task->spawner : task->enclosing;
        if (around == DAG_NONE) {
            return gathering->scratch
                ->thread_class[inlined ? dag_thread_of(gathering->dag, task->spawn_begin) : task->thread];
        }
        index = around;
    }
}

static void see(struct gathering *gathering, int64_t time_ns) {
    if (time_ns < gathering->first_ns) gathering->first_ns = time_ns;
    if (time_ns > gathering->last_ns) gathering->last_ns = time_ns;
}

static void gather_open(struct gathering *gathering, uint32_t task, int64_t time_ns) {
    if (gathering->edit->inlined[task]) {
        bool plain = gathering->scratch->one_class;
        enum thread_class class = plain ? CLASS_PLATFORM : class_of_body(gathering, task);
        bool active = gathering->scratch->spawned_active[task];
        stretch_begin(gathering, ++gathering->top, class, active ? MODE_ACTIVE : MODE_NONE);
        if (gathering->top->counted) see(gathering, time_ns);
    }
    *gathering->nesting++ = MODE_ACTIVE;
    gathering->top->bodies++;
}

static void gather_close(struct gathering *gathering, uint32_t task, int64_t time_ns) {
    gathering->nesting--;
    gathering->top->bodies--;
    if (!gathering->edit->inlined[task]) {
        stretch_turn(gathering, gathering->top, stretch_mode(gathering, gathering->top), time_ns);
        return;
    }
    if (gathering->top->counted) see(gathering, time_ns);
    stretch_end(gathering, gathering->top, gathering->top->outside, time_ns);
    gathering->top--;
}

// The thread whose spawn became a call is in the called body's state meanwhile, which the body itself tells.
static void gather_gap(struct gathering *gathering, const struct dag_task *task) {
    stretch_turn(gathering, gathering->top, MODE_NONE, gathering->run->time_ns[task->start]);
    stretch_turn(gathering, gathering->top, stretch_mode(gathering, gathering->top),
                 gathering->run->time_ns[task->end]);
}

// Who slept unseen did so before the vertex, or before the body that has taken its place.
static void gather_sleep(struct gathering *gathering, uint32_t vertex) {
    const struct dag *dag = gathering->dag;
    const int64_t *run_ns = gathering->run->time_ns;
    const uint32_t task = dag_task_of(&dag->vertices, vertex);
    int64_t time_ns = run_ns[vertex];
    bool moved = time_ns == DAG_ABSENT && dag->vertices.kind[vertex] == VERTEX_SPAWN_BEGIN && task != DAG_NONE &&
                 gathering->edit->inlined[task];
    if (moved) time_ns = run_ns[dag->tasks[task].start];
    if (time_ns == DAG_ABSENT) return;
    stretch_turn(gathering, gathering->top, MODE_BLOCKED, time_ns - work_slept_ns(dag, vertex));
    stretch_turn(gathering, gathering->top, MODE_ACTIVE, time_ns);
}

static void gather_vertex(struct gathering *gathering, uint32_t vertex) {
    if (gathering->scratch->slept[vertex]) gather_sleep(gathering, vertex);
    const int64_t time_ns = gathering->run->time_ns[vertex];
    const uint32_t task = gathering->dag->vertices.task[vertex];
    const enum action action = gathering->scratch->action[vertex];
    if (action == ACTION_SPAWN) {
        if (time_ns == DAG_ABSENT && gathering->edit->inlined[task])
            gather_gap(gathering, &gathering->dag->tasks[task]);
        return;
    }
    if (time_ns == DAG_ABSENT) return;
    switch (action) {
    case ACTION_NONE:
        return;
    case ACTION_OPEN:
        gather_open(gathering, task, time_ns);
        break;
    case ACTION_CLOSE:
        gather_close(gathering, task, time_ns);
        return;
    case ACTION_WAIT:
        *gathering->nesting++ = MODE_WAITING;
        break;
    case ACTION_BLOCK:
        *gathering->nesting++ = MODE_BLOCKED;
        break;
    default:
        gathering->nesting--;
        break;
    }
    stretch_turn(gathering, gathering->top, stretch_mode(gathering, gathering->top), time_ns);
}
// First and last vertex that the edit leaves on the thread itself. false: none.
static bool find_life(const struct gathering *gathering, const struct dag_thread *thread, uint32_t *first,
                      uint32_t *last) {
    const struct dag *dag = gathering->dag;
    const int64_t *time_ns = gathering->run->time_ns;
    uint32_t end = thread->first + thread->count;
    for (*first = thread->first; *first < end; ++*first) {
        bool moved = dag->vertices.kind[*first] == VERTEX_START && gathering->edit->inlined[dag->vertices.task[*first]];
        if (moved)
            *first = dag->tasks[dag->vertices.task[*first]].end;
        else if (time_ns[*first] != DAG_ABSENT)
            break;
    }
    if (*first >= end) return false;
    for (*last = end - 1;; --*last) {
        bool moved = dag->vertices.kind[*last] == VERTEX_END && gathering->edit->inlined[dag->vertices.task[*last]];
        if (moved)
            *last = dag->tasks[dag->vertices.task[*last]].start;
        else if (time_ns[*last] != DAG_ABSENT)
            return true;
    }
}

// Of a thread that was there before recording and then did nothing nobody knows what it is for: it may be an idle
// worker of some pool of the program's own. main is in a task all the same.
static bool is_silent(const struct dag *dag, const struct dag_thread *thread) {
    if (thread->run_task == DAG_NONE || dag_thread_end(dag, thread) != thread->first + 1) return false;
    return (dag->tasks[thread->run_task].flags & (TASK_BEGUN_BEFORE | TASK_MAIN)) == TASK_BEGUN_BEFORE;
}

bool work_outlasts_run(const struct dag *dag, const struct dag_thread *thread) {
    const uint32_t last = thread->first + thread->count - 1, task = dag->vertices.task[last];
    if (is_silent(dag, thread)) return false;
    switch (dag->vertices.kind[last]) {
    case VERTEX_THREAD_END:
    case VERTEX_RETIRE:
        return false;
    case VERTEX_END:
        return task != thread->run_task || dag->tasks[task].flags & TASK_UNFINISHED;
    default:
        return true;
    }
}

static void gather_thread(struct gathering *gathering, uint32_t index) {
    const struct dag_thread *thread = &gathering->dag->threads[index];
    if (thread->count == 0) return;
    const struct metrics_scratch *scratch = gathering->scratch;
    uint32_t first, last;
    bool lives = find_life(gathering, thread, &first, &last);
    gathering->top = scratch->stretches;
    gathering->nesting = scratch->nesting;
    stretch_begin(gathering, gathering->top, scratch->thread_class[index], MODE_NONE);
    gathering->top->stands_in = thread->stands_in;
    gathering->top->outside = thread->worker && !thread->stands_in ? MODE_UNOCCUPIED : MODE_NONE;
    if (lives) {
        if (gathering->top->counted) see(gathering, gathering->run->time_ns[first]);
        if (gathering->top->counted) see(gathering, gathering->run->time_ns[last]);
        stretch_turn(gathering, gathering->top, gathering->top->outside, gathering->run->time_ns[first]);
    }
    for (uint32_t i = scratch->first_acting[index]; i < scratch->first_acting[index + 1]; i++) {
        gather_vertex(gathering, scratch->acting[i]);
    }
    if (lives && work_outlasts_run(gathering->dag, thread))
        stretch_last(gathering->series, gathering->top);
    else if (lives)
        stretch_end(gathering, gathering->top, MODE_NONE, gathering->run->time_ns[last]);
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, DIGIT_COUNT = (64 + DIGIT_BITS - 1) / DIGIT_BITS };

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
void series_sort(struct state_series *series, struct state_change **spare) {
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

static struct gathering gather(struct metrics_work *work, const struct dag_edit *edit, const struct dag_run *run,
                               enum thread_class class) {
    const struct metrics_scratch *scratch = work->scratch;
    struct gathering gathering = {.dag = scratch->dag,
                                  .edit = edit,
                                  .run = run,
                                  .scratch = scratch,
                                  .series = &work->series,
                                  .class = class,
                                  .first_ns = INT64_MAX,
                                  .last_ns = INT64_MIN};
    work->series.count = 0;
    for (uint32_t t = 0; t < scratch->dag->thread_count; t++) {
        if (!scratch->one_class || scratch->thread_class[t] == class) gather_thread(&gathering, t);
    }
    return gathering;
}

// At one instant levels may pass through any value; only what lasts counts. Where a thread stands in for another that
// is at something else by then, fewer than none seem to be idle.
static void sweep(const struct state_series *series, int64_t *const time_at[LEVEL_COUNT], uint32_t levels) {
    for (int l = 0; l < LEVEL_COUNT; l++) memset(time_at[l], 0, levels * sizeof *time_at[l]);
    uint32_t level[LEVEL_COUNT] = {0};
    int64_t since = series->from_ns;
    for (size_t i = 0; i < series->count; i++) {
        const struct state_change *change = &series->changes[i];
        int64_t lasted = change->time_ns - since;
        for (int l = 0; l < LEVEL_COUNT && lasted > 0; l++) time_at[l][level[l] < levels ? level[l] : 0] += lasted;
        for (int s = 0; s < STATE_COUNT; s++) level[s] += (uint32_t)change->delta[s];
        level[LEVEL_RUNNING] = level[STATE_ACTIVE] - level[STATE_BLOCKED];
        since = change->time_ns;
    }
    for (int l = 0; l < LEVEL_COUNT; l++) time_at[l][level[l] < levels ? level[l] : 0] += series->to_ns - since;
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

// Version 2 of the format tells of contended locks. An estimate is of that version whatever it was made from.
static bool tells_blocked(const struct trace *trace) {
    for (int kind = EVENT_RUN_DELAY; kind <= EVENT_SAMPLE; kind++) {
        if (trace->events_of_kind[kind]) return true;
    }
    return trace->version >= 2 && work_is_recorded(trace);
}

static void usage_all(struct metrics_work *work, const struct trace *trace, struct usage usages[STATE_COUNT]) {
    const struct metrics_scratch *scratch = work->scratch;
    sweep(&work->series, scratch->time_at, scratch->levels);
    double wall = (double)(work->series.to_ns - work->series.from_ns);
    for (int s = 0; s < STATE_COUNT; s++) usages[s] = usage_of(scratch->time_at[s], scratch->levels, wall);
    if (!tells_blocked(trace)) usages[STATE_BLOCKED] = (struct usage){NAN, NAN, NAN}; // unknown, not 0
}

// Gathers the series of the platform threads; the whole run's window is what it saw, others must be looked for.
static bool gather_window(struct metrics_work *work, const struct dag_edit *edit, const struct dag_run *run,
                          const struct window *window, struct usage virtual_threads[STATE_COUNT]) {
    struct state_series *series = &work->series;
    const struct dag *origin = work_origin(work->scratch->dag);
    bool whole = !window || (window->from_ns <= origin->first_ns && window->to_ns >= origin->last_ns);
    if (whole && work->scratch->one_class) {
        series->from_ns = INT64_MIN;
        series->to_ns = INT64_MAX;
        struct gathering seen = gather(work, edit, run, CLASS_PLATFORM);
        series->from_ns = seen.first_ns;
        if (seen.first_ns > seen.last_ns) return false;
        series->to_ns = seen.last_ns + origin->still_ns;
    } else {
        if (!work_window(work->scratch, run, whole ? NULL : window, &series->from_ns, &series->to_ns)) return false;
        if (whole) series->to_ns += origin->still_ns;
        if (work->scratch->any_virtual) {
            gather(work, edit, run, CLASS_VIRTUAL);
            series_sort(series, &work->scratch->spare);
            usage_all(work, work->scratch->dag->trace, virtual_threads);
        }
        gather(work, edit, run, CLASS_PLATFORM);
    }
    series_sort(series, &work->scratch->spare);
    return true;
}

// Who is blocked gives a core no work. While all are asleep tasks wait for something else than cores, which no other
// cut of the work changes: a program that mostly sleeps is not the worse for computing less.
static double idle_share(const struct metrics_scratch *scratch, double cores, double wall) {
    if (cores == 0 || wall <= 0) return NAN;
    double idle = 0;
    for (uint32_t level = 1; level < cores && level < scratch->levels; level++) {
        idle += (cores - level) * (double)scratch->time_at[LEVEL_RUNNING][level];
    }
    return idle / (cores * wall);
}

static double overhead_ns(const struct metrics_work *work, const struct dag_edit *edit, const struct dag_run *run) {
    const struct dag *dag = work->scratch->dag;
    double overhead = 0;
    for (uint32_t task = 0; task < dag->task_count; task++) {
        if (!work_task_runs(dag, edit, run, task)) continue;
        int64_t start = run->time_ns[dag->tasks[task].start];
        if (start < work->series.from_ns || start > work->series.to_ns) continue;
        overhead += (double)work->scratch->overhead_ns[task];
    }
    return overhead;
}

// NAN where the trace does not tell.
static double virtual_ready(const struct dag *dag, const struct dag_run *run, const struct state_series *series) {
    double ready_ns = 0, wall_ns = (double)(series->to_ns - series->from_ns);
    if (!dag->trace->events_of_kind[EVENT_READY] || !dag->vertices.queued_ns || wall_ns <= 0) return NAN;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first; thread->is_virtual && v < thread->first + thread->count; v++) {
            bool within = run->time_ns[v] >= series->from_ns && run->time_ns[v] <= series->to_ns;
            if (within) ready_ns += (double)dag->vertices.queued_ns[v];
        }
    }
    return ready_ns / wall_ns;
}

void metrics_unknown(struct metrics *metrics) {
    const struct usage none = {NAN, NAN, NAN};
    const struct quantiles nothing = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    *metrics = (struct metrics){.composite = NAN, .balanced = NAN, .virtual_ready = NAN, .initialisation_share = NAN};
    for (int s = 0; s < STATE_COUNT; s++) metrics->threads[s] = metrics->virtual_threads[s] = none;
    metrics->tasks = (struct task_metrics){
        .overhead_share = NAN, .idle_share = NAN, .work_ns = NAN, .span_ns = NAN, .granularity_unit = "ns"};
    metrics->tasks.granularity = metrics->tasks.queue_wait_ns = nothing;
    metrics->tasks.fine = metrics->tasks.coarse = (struct grain_count){NAN, NAN};
    metrics->warm_from_ns = NAN;
    metrics->requests = requests_unknown();
    metrics->cpu = cpu_unknown();
}

void usage_figures(struct metrics_work *work, const struct trace *trace, double cores, double overhead,
                   const struct metrics *base, struct metrics *metrics) {
    const struct state_series *series = &work->series;
    usage_all(work, trace, metrics->threads);
    metrics->wall_ns = series->to_ns - series->from_ns;
    double wall = (double)metrics->wall_ns;
    metrics->thread_time_ns = wall > 0 ? metrics->threads[STATE_OCCUPIED].mean * wall : 0;
    metrics->tasks.idle_share = idle_share(work->scratch, cores, wall);
    const double virtual_mean = metrics->virtual_threads[STATE_OCCUPIED].mean; // NAN where there are none
    const double bodies_ns = metrics->thread_time_ns + (virtual_mean > 0 ? virtual_mean * wall : 0);
    metrics->tasks.overhead_share = bodies_ns > 0 ? overhead / bodies_ns : NAN;
    metrics->lost_events = trace->lost_events;
    if (base) {
        metrics->composite = metrics_composite(metrics, base);
        metrics->balanced = metrics_balanced(metrics, base);
    }
}

static bool no_event(struct error *error) {
    return error_set(error, STATUS_USAGE, "no event of a counted thread lies within the window");
}

bool usage_series(const struct dag *run, bool virtual_threads, struct metrics_work *work, struct error *error) {
    const struct dag_run times = {.time_ns = run->vertices.time_ns};
    struct state_series *series = &work->series;
    if (!work_window(work->scratch, &times, NULL, &series->from_ns, &series->to_ns)) return no_event(error);
    series->to_ns += work_origin(run)->still_ns;
    gather(work, &work->scratch->empty, &times, virtual_threads ? CLASS_VIRTUAL : CLASS_PLATFORM);
    series_sort(series, &work->scratch->spare);
    return true;
}

bool usage_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   const struct window *window, const struct metrics *base, struct metrics_work *work,
                   struct metrics *metrics, struct error *error) {
    if (!gather_window(work, edit, run, window, metrics->virtual_threads)) return no_event(error);
    metrics->virtual_ready = virtual_ready(dag, run, &work->series);
    usage_figures(work, dag->trace, work_cores(dag), overhead_ns(work, edit, run), base, metrics);
    return true;
}
