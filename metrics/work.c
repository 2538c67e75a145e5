// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/work.h"

#include "dag/edge.h"

#include <stdlib.h>
#include <string.h>

// Boundaries read their clocks one after the other, and threads are kept from cores for a little that nobody counts.
#define SLEEP_LEAST_NS 20000
// The rate of cycles changes with the processor's frequency: less than this part of an edge may be that.
#define SLEEP_LEAST_PART_OF_CYCLES 0.25

int64_t work_least_slept_ns(const struct dag *dag, int64_t length_ns) {
    bool in_cycles = work_origin(dag)->cycles_per_ns != 1;
    double least_ns = in_cycles ? SLEEP_LEAST_PART_OF_CYCLES * (double)length_ns : 0;
    return least_ns > SLEEP_LEAST_NS ? (int64_t)least_ns : SLEEP_LEAST_NS;
}

int64_t work_slept_ns(const struct dag *dag, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (!vertices->queued_ns) return 0; // nobody knows who was ready
    const int64_t length_ns = vertices->time_ns[vertex] - vertices->time_ns[vertex - 1];
    int64_t slept_ns = length_ns - vertices->compute_ns[vertex] - vertices->queued_ns[vertex];
    const unsigned rule = vertices->rule[vertex];
    if (slept_ns < SLEEP_LEAST_NS || (rule != RULE_RUN && rule != RULE_WOKEN) || edge_sleeps(dag, vertex)) return 0;
    if (!dag->origin) slept_ns -= edge_paused_ns(dag, vertex); // a simulated run has waited them out as for cores
    return slept_ns < work_least_slept_ns(dag, length_ns) ? 0 : slept_ns;
}

static void pair_spawn(const struct metrics_scratch *scratch, const struct pairing *pairing, uint32_t vertex) {
    const uint32_t task = pairing->task[vertex];
    if (task == DAG_NONE) return;
    scratch->spawned_active[task] = pairing_is_active(pairing);
    if (!scratch->spawned_active[task]) pairing->action[vertex] = ACTION_SPAWN;
}

static void pair_thread(const struct metrics_scratch *scratch, struct pairing *pairing,
                        const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &scratch->dag->vertices;
    const uint32_t end = dag_thread_end(scratch->dag, thread); // what is under way is open
    pairing->depth = 0;
    for (uint32_t v = thread->first; v < end; v++) {
        scratch->slept[v] = pairing_is_active(pairing) && work_slept_ns(scratch->dag, v) > 0;
        if (vertices->kind[v] == VERTEX_SPAWN_BEGIN)
            pair_spawn(scratch, pairing, v);
        else
            pairing_pass(pairing, v, vertices->kind[v] == VERTEX_WAIT_END && vertices->cause[v] != DAG_NONE);
    }
}

// Fills action, slept and spawned_active and says how deep bodies and sleeps nest.
static uint32_t pair_all(const struct metrics_scratch *scratch) {
    const struct dag *dag = scratch->dag;
    struct pairing pairing = {
        .kind = dag->vertices.kind, .task = dag->vertices.task, .action = scratch->action, .open = scratch->open};
    memset(scratch->action, 0, dag->vertex_count);
    memset(scratch->slept, 0, dag->vertex_count);
    memset(scratch->spawned_active, 0, dag->task_count);
    for (uint32_t t = 0; t < dag->thread_count; t++) pair_thread(scratch, &pairing, &dag->threads[t]);
    return pairing.deepest;
}

// Of threads without a stream, workers were made by the simulation; others are the DAG's own.
enum thread_class work_classify(const struct dag *dag, const struct dag_thread *thread) {
    if (thread->system) return CLASS_UNCOUNTED;
    if (thread->stream == DAG_NONE) return thread->worker ? CLASS_PLATFORM : CLASS_UNCOUNTED;
    return dag->trace->streams[thread->stream].thread.flags & THREAD_VIRTUAL ? CLASS_VIRTUAL : CLASS_PLATFORM;
}

static int64_t body_ns(const struct dag *dag, const struct dag_task *task) {
    return dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start];
}

// The submit's own time; a body that ran within it (caller-runs) is not its cost.
static int64_t bracket_ns(const struct dag *dag, const struct dag_task *task) {
    if (task->spawn_end == DAG_NONE) return 0;
    int64_t cost = dag->vertices.time_ns[task->spawn_end] - dag->vertices.time_ns[task->spawn_begin];
    bool within = task->start > task->spawn_begin && task->start < task->spawn_end && task->end != DAG_NONE;
    return within ? cost - body_ns(dag, task) : cost;
}

// From the moment when the task was there and its thread free to the body's start. The edits' rules keep this residual
// (enum vertex_rule), hence the recorded one holds for every run. What a thread of the task's own waited for a core, or
// for its first carrier, before it began is no part of it.
static int64_t pickup_ns(const struct dag *dag, const struct dag_task *task, bool first_on_thread) {
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t ready = time_ns[task->spawn_begin];
    bool fetched = task->pickup != DAG_NONE && task->pickup != task->start;
    uint32_t free_from = fetched ? task->pickup : task->start - !first_on_thread;
    if (free_from != task->start && time_ns[free_from] > ready) ready = time_ns[free_from];
    const int64_t passed_ns = time_ns[task->start] - ready,
                  waited_ns = first_on_thread ? dag_waited_before_ns(dag, task->thread) : 0;
    return passed_ns > waited_ns ? passed_ns - waited_ns : 0;
}

static void measure_overheads(const struct dag *dag, int64_t *overhead_ns) {
    memset(overhead_ns, 0, dag->task_count * sizeof *overhead_ns);
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (dag->vertices.kind[v] != VERTEX_START || dag->vertices.task[v] == DAG_NONE) continue;
            const struct dag_task *task = &dag->tasks[dag->vertices.task[v]];
            if (task->start != v || task->spawn_begin == DAG_NONE) continue;
            overhead_ns[dag->vertices.task[v]] = bracket_ns(dag, task) + pickup_ns(dag, task, v == thread->first);
        }
    }
}

static void classify_all(struct metrics_scratch *scratch) {
    scratch->one_class = true;
    scratch->any_virtual = false;
    for (uint32_t t = 0; t < scratch->dag->thread_count; t++) {
        enum thread_class class = work_classify(scratch->dag, &scratch->dag->threads[t]);
        scratch->thread_class[t] = (uint8_t) class;
        scratch->any_virtual |= class == CLASS_VIRTUAL;
        scratch->one_class &= class == CLASS_PLATFORM || scratch->dag->threads[t].stream == DAG_NONE;
    }
}

static void list_acting(struct metrics_scratch *scratch) {
    const struct dag *dag = scratch->dag;
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        scratch->first_acting[t] = count;
        for (uint32_t v = dag->threads[t].first; v < dag->threads[t].first + dag->threads[t].count; v++) {
            if (scratch->action[v] != ACTION_NONE || scratch->slept[v]) scratch->acting[count++] = v;
        }
    }
    scratch->first_acting[dag->thread_count] = count;
}

// A thread changes state at most once a vertex that acts, twice where a body takes a spawn's place or where it slept
// unseen, and at its ends.
static size_t most_changes(const struct metrics_scratch *scratch) {
    size_t most = 2 * (size_t)scratch->dag->thread_count + 1;
    for (uint32_t v = 0; v < scratch->dag->vertex_count; v++) {
        most += (scratch->action[v] != ACTION_NONE) + (scratch->action[v] == ACTION_SPAWN) + 2 * scratch->slept[v];
    }
    return most;
}

// Room for at least `count` items, some more so that a slightly larger DAG needs none; contents are lost.
static bool make_room(void *array, size_t count, size_t size) {
    void **items = array;
    free(*items);
    *items = malloc((count + count / 8 + 1) * size);
    return *items;
}

static bool make_room_for_vertices(struct metrics_scratch *scratch, uint32_t count) {
    if (scratch->action && count <= scratch->vertex_capacity) return true;
    scratch->vertex_capacity = count + count / 8;
    return make_room(&scratch->action, count, sizeof *scratch->action) &&
           make_room(&scratch->slept, count, sizeof *scratch->slept) &&
           make_room(&scratch->acting, count, sizeof *scratch->acting) &&
           make_room(&scratch->open, count, sizeof *scratch->open);
}

static bool make_room_for_tasks(struct metrics_scratch *scratch, uint32_t count) {
    if (scratch->overhead_ns && count <= scratch->task_capacity) return true;
    scratch->task_capacity = count + count / 8;
    free(scratch->empty.inlined);
    scratch->empty.inlined = calloc((size_t)scratch->task_capacity + 1, 1);
    return scratch->empty.inlined && make_room(&scratch->spawned_active, count, sizeof *scratch->spawned_active) &&
           make_room(&scratch->overhead_ns, count, sizeof *scratch->overhead_ns);
}

static bool make_room_for_threads(struct metrics_scratch *scratch, uint32_t count) {
    scratch->levels = count + 1;
    if (scratch->thread_class && count <= scratch->thread_capacity) return true;
    scratch->thread_capacity = count + count / 8;
    for (int l = 0; l < LEVEL_COUNT; l++) {
        if (!make_room(&scratch->time_at[l], count + 1, sizeof *scratch->time_at[l])) return false;
    }
    return make_room(&scratch->first_acting, count + 1, sizeof *scratch->first_acting) &&
           make_room(&scratch->thread_class, count, sizeof *scratch->thread_class);
}

static bool make_room_for_stacks(struct metrics_scratch *scratch, uint32_t deepest) {
    if (scratch->nesting && deepest <= scratch->deepest_capacity) return true;
    scratch->deepest_capacity = deepest + deepest / 8;
    return make_room(&scratch->nesting, deepest, sizeof *scratch->nesting) &&
           make_room(&scratch->stretches, (size_t)deepest + 1, sizeof *scratch->stretches);
}

static bool make_room_for_changes(struct metrics_scratch *scratch, struct state_series *series) {
    size_t most = most_changes(scratch);
    if (series->changes && most <= series->capacity) return true;
    series->capacity = most + most / 8;
    return make_room(&series->changes, most, sizeof *series->changes) &&
           make_room(&scratch->spare, most, sizeof *scratch->spare);
}

static bool scratch_fill(struct metrics_scratch *scratch, struct state_series *series) {
    const struct dag *dag = scratch->dag;
    scratch->span_bound = false;
    if (!make_room_for_vertices(scratch, dag->vertex_count) || !make_room_for_tasks(scratch, dag->task_count) ||
        !make_room_for_threads(scratch, dag->thread_count) || !make_room_for_stacks(scratch, pair_all(scratch)))
        return false;
    classify_all(scratch);
    list_acting(scratch);
    measure_overheads(dag, scratch->overhead_ns);
    return make_room_for_changes(scratch, series);
}

void work_empty(struct metrics_work *work) {
    struct metrics_scratch *scratch = work->scratch;
    if (!scratch) return;
    for (int l = 0; l < LEVEL_COUNT; l++) free(scratch->time_at[l]);
    free(scratch->action);
    free(scratch->slept);
    free(scratch->acting);
    free(scratch->first_acting);
    free(scratch->open);
    free(scratch->nesting);
    free(scratch->stretches);
    free(scratch->spawned_active);
    free(scratch->thread_class);
    free(scratch->overhead_ns);
    free(scratch->spare);
    free(scratch->empty.inlined);
    free(work->series.changes);
    *scratch = (struct metrics_scratch){.span = scratch->span, .streamed = scratch->streamed};
    work->series = (struct state_series){0};
}

bool work_bind(struct metrics_work *work, const struct dag *dag, const struct dag_edit *edit, struct error *error) {
    if (!work->scratch && !(work->scratch = calloc(1, sizeof *work->scratch))) {
        return error_set(error, STATUS_FAILED, "no memory for metrics");
    }
    struct metrics_scratch *scratch = work->scratch;
    dag_chain_init(&work->chain, dag, edit);
    if (scratch->dag == dag) return true;
    scratch->dag = dag;
    if (scratch_fill(scratch, &work->series)) return true;
    work_empty(work);
    return error_set(error, STATUS_FAILED, "no memory for the metrics of %u events", dag->vertex_count);
}

bool work_bind_run(struct metrics_work *work, const struct dag *run, struct error *error) {
    if (!work_bind(work, run, NULL, error)) return false;
    work->chain.edit = &work->scratch->empty;
    return true;
}

// ---- windows

// What a run has of the events that were recorded, of counted threads.
struct passing {
    const struct dag *dag;
    const struct metrics_scratch *scratch;
    const int64_t *time_ns;
    uint32_t thread, vertex; // the next
};

static bool pass(struct passing *passing, uint32_t *vertex) {
    const struct dag *dag = passing->dag;
    for (; passing->thread < dag->thread_count; passing->thread++, passing->vertex = 0) {
        const struct dag_thread *thread = &dag->threads[passing->thread];
        if (passing->scratch->thread_class[passing->thread] == CLASS_UNCOUNTED) continue;
        while (passing->vertex < thread->count) {
            *vertex = thread->first + passing->vertex++;
            if (passing->time_ns[*vertex] != DAG_ABSENT) return true;
        }
    }
    return false;
}

static struct passing pass_events(const struct metrics_scratch *scratch, const struct dag_run *run) {
    return (struct passing){.dag = scratch->dag, .scratch = scratch, .time_ns = run->time_ns};
}

static void whole_run(const struct metrics_scratch *scratch, const struct dag_run *run, int64_t *from_ns,
                      int64_t *to_ns) {
    struct passing passing = pass_events(scratch, run);
    for (uint32_t v; pass(&passing, &v);) {
        if (run->time_ns[v] < *from_ns) *from_ns = run->time_ns[v];
        if (run->time_ns[v] > *to_ns) *to_ns = run->time_ns[v];
    }
}

enum { RANK_BITS = 11 };

// When the recorded event comes in this run before which `rank` others do, the first at least_ns and the last at
// most_ns. Digit by digit, the highest first: no memory, and a pass over the events for each.
static int64_t time_of_rank(const struct metrics_scratch *scratch, const struct dag_run *run, int64_t least_ns,
                            int64_t most_ns, uint64_t rank) {
    int digits = (64 - __builtin_clzll((uint64_t)(most_ns - least_ns) | 1) + RANK_BITS - 1) / RANK_BITS;
    for (int shift = (digits - 1) * RANK_BITS; shift >= 0; shift -= RANK_BITS) {
        uint32_t tally[1 << RANK_BITS] = {0}, digit = 0;
        struct passing passing = pass_events(scratch, run);
        for (uint32_t v; pass(&passing, &v);) {
            if (run->time_ns[v] < least_ns || work_recorded_ns(scratch->dag, v) == DAG_ABSENT) continue;
            uint64_t place = (uint64_t)(run->time_ns[v] - least_ns) >> shift;
            if (place < 1 << RANK_BITS) tally[place]++;
        }
        while (rank >= tally[digit]) rank -= tally[digit++];
        least_ns += (int64_t)((uint64_t)digit << shift);
    }
    return least_ns;
}

// A run may have single events far from where they were, since a pool gave its tasks out in another order. So a bound
// lies where as many events have come as had been at it.
bool work_window(const struct metrics_scratch *scratch, const struct dag_run *run, const struct window *window,
                 int64_t *from_ns, int64_t *to_ns) {
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    if (!window) {
        whole_run(scratch, run, from_ns, to_ns);
        return *from_ns <= *to_ns;
    }
    uint64_t before = 0, until = 0;
    int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
    struct passing passing = pass_events(scratch, run);
    for (uint32_t v; pass(&passing, &v);) {
        const int64_t recorded_ns = work_recorded_ns(scratch->dag, v), time_ns = run->time_ns[v];
        if (recorded_ns == DAG_ABSENT) continue;
        before += recorded_ns < window->from_ns;
        until += recorded_ns <= window->to_ns;
        if (time_ns < least_ns) least_ns = time_ns;
        if (time_ns > most_ns) most_ns = time_ns;
    }
    if (until <= before) return false;
    *from_ns = time_of_rank(scratch, run, least_ns, most_ns, before);
    *to_ns = time_of_rank(scratch, run, least_ns, most_ns, until - 1);
    return true;
}

bool work_meets_pause(const struct dag *dag, int64_t from_ns, int64_t to_ns) {
    uint32_t low = 0, high = dag->pause_count; // the first pause that ends after `from`
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->pauses[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < dag->pause_count && dag->pauses[low].begin_ns < to_ns;
}

bool work_is_recorded(const struct trace *trace) {
    return trace->header.origin && strcmp(trace->header.origin, "recorded") == 0;
}
