// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/work.h"

#include <stdlib.h>

// A thread's open bodies and waits while its vertices are paired.
struct pairing {
    const struct dag *dag;
    uint8_t *action;
    uint32_t *open;
    uint32_t depth;
};

static bool is_start(const struct pairing *pairing, uint32_t level) {
    return pairing->dag->vertices.kind[pairing->open[level]] == VERTEX_START;
}

// Pairs an END with its START; what was left open inside has lost its other half.
static void pair_end(struct pairing *pairing, uint32_t vertex) {
    const uint32_t *task = pairing->dag->vertices.task;
    uint32_t level = pairing->depth;
    while (level > 0 && !(is_start(pairing, level - 1) && task[pairing->open[level - 1]] == task[vertex])) level--;
    if (level == 0) return;
    pairing->action[vertex] = ACTION_CLOSE;
    for (uint32_t inner = level; inner < pairing->depth; inner++) pairing->action[pairing->open[inner]] = ACTION_NONE;
    pairing->depth = level - 1;
}

// A wait whose releaser is unknown leaves its thread active (SPEC section 2: that is blocked, not waiting).
static void pair_wait_end(struct pairing *pairing, uint32_t vertex) {
    if (pairing->depth == 0 || is_start(pairing, pairing->depth - 1)) return;
    uint32_t begin = pairing->open[--pairing->depth];
    const struct dag_vertices *vertices = &pairing->dag->vertices;
    bool known = vertices->cause[vertex] != DAG_NONE || vertices->task[begin] != DAG_NONE;
    pairing->action[begin] = known ? ACTION_WAIT : ACTION_NONE;
    pairing->action[vertex] = known ? ACTION_WAKE : ACTION_NONE;
}

static void pair_thread(struct pairing *pairing, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &pairing->dag->vertices;
    pairing->depth = 0;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        switch (vertices->kind[v]) {
        case VERTEX_START:
            pairing->action[v] = ACTION_OPEN;
            pairing->open[pairing->depth++] = v;
            break;
        case VERTEX_WAIT_BEGIN:
            pairing->action[v] = vertices->task[v] != DAG_NONE ? ACTION_WAIT : ACTION_NONE;
            pairing->open[pairing->depth++] = v;
            break;
        case VERTEX_END:
            pair_end(pairing, v);
            break;
        case VERTEX_WAIT_END:
            pair_wait_end(pairing, v);
            break;
        default:
            break;
        }
    }
}

static bool pair_all(const struct dag *dag, uint8_t *action) {
    struct pairing pairing = {.dag = dag, .action = action, .open = malloc(((size_t)dag->vertex_count + 1) * 4)};
    if (!pairing.open) return false;
    for (uint32_t t = 0; t < dag->thread_count; t++) pair_thread(&pairing, &dag->threads[t]);
    free(pairing.open);
    return true;
}

static enum thread_class classify(const struct dag *dag, const struct dag_thread *thread) {
    if (thread->system || thread->stream == DAG_NONE) return THREAD_UNCOUNTED;
    return dag->trace->streams[thread->stream].thread.flags & THREAD_VIRTUAL ? THREAD_VIRTUALLY : THREAD_PLATFORM;
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
// (enum vertex_rule), hence the recorded one holds for every run.
static int64_t pickup_ns(const struct dag *dag, const struct dag_task *task, bool first_on_thread) {
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t ready = time_ns[task->spawn_begin];
    bool fetched = task->pickup != DAG_NONE && task->pickup != task->start;
    uint32_t free_from = fetched ? task->pickup : task->start - !first_on_thread;
    if (free_from != task->start && time_ns[free_from] > ready) ready = time_ns[free_from];
    return time_ns[task->start] > ready ? time_ns[task->start] - ready : 0;
}

static void measure_overheads(const struct dag *dag, int64_t *overhead_ns) {
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
    for (uint32_t t = 0; t < scratch->dag->thread_count; t++) {
        enum thread_class class = classify(scratch->dag, &scratch->dag->threads[t]);
        scratch->thread_class[t] = (uint8_t) class;
        scratch->any_virtual |= class == THREAD_VIRTUALLY;
    }
}

// A thread changes state at most once a vertex that acts, once at its start and once at its end.
static size_t most_changes(const struct metrics_scratch *scratch) {
    size_t acting = 0;
    for (uint32_t v = 0; v < scratch->dag->vertex_count; v++) acting += scratch->action[v] != ACTION_NONE;
    return acting + 2 * (size_t)scratch->dag->thread_count + 1;
}

static bool scratch_fill(struct metrics_scratch *scratch, struct state_series *series) {
    const struct dag *dag = scratch->dag;
    scratch->action = calloc((size_t)dag->vertex_count + 1, 1);
    scratch->nesting = malloc((size_t)dag->vertex_count + 1);
    scratch->thread_class = calloc((size_t)dag->thread_count + 1, 1);
    scratch->overhead_ns = calloc((size_t)dag->task_count + 1, sizeof *scratch->overhead_ns);
    scratch->levels = dag->thread_count + 1;
    for (int s = 0; s < STATE_COUNT; s++) {
        scratch->time_at[s] = calloc(scratch->levels, sizeof *scratch->time_at[s]);
        if (!scratch->time_at[s]) return false;
    }
    if (!scratch->action || !scratch->nesting || !scratch->thread_class || !scratch->overhead_ns) return false;
    if (!pair_all(dag, scratch->action)) return false;
    classify_all(scratch);
    measure_overheads(dag, scratch->overhead_ns);
    series->capacity = most_changes(scratch);
    series->changes = malloc(series->capacity * sizeof *series->changes);
    scratch->spare = malloc(series->capacity * sizeof *scratch->spare);
    return series->changes && scratch->spare;
}

static void scratch_free(struct metrics_scratch *scratch) {
    if (!scratch) return;
    for (int s = 0; s < STATE_COUNT; s++) free(scratch->time_at[s]);
    free(scratch->action);
    free(scratch->nesting);
    free(scratch->thread_class);
    free(scratch->overhead_ns);
    free(scratch->spare);
    tasks_forget(scratch->span);
    free(scratch);
}

void metrics_work_destroy(struct metrics_work *work) {
    scratch_free(work->scratch);
    free(work->series.changes);
    *work = (struct metrics_work){0};
}

bool work_bind(struct metrics_work *work, const struct dag *dag, const struct dag_edit *edit, struct error *error) {
    if (work->scratch && work->scratch->dag == dag) {
        work->chain.edit = edit;
        return true;
    }
    metrics_work_destroy(work);
    struct metrics_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch) return error_set(error, STATUS_FAILED, "no memory for metrics");
    scratch->dag = dag;
    work->scratch = scratch;
    dag_chain_init(&work->chain, dag, edit);
    if (scratch_fill(scratch, &work->series)) return true;
    metrics_work_destroy(work);
    return error_set(error, STATUS_FAILED, "no memory for the metrics of %u events", dag->vertex_count);
}

bool work_window(const struct metrics_scratch *scratch, const struct dag_run *run, const struct window *window,
                 int64_t *from_ns, int64_t *to_ns) {
    const struct dag *dag = scratch->dag;
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (scratch->thread_class[t] == THREAD_UNCOUNTED) continue;
        const struct dag_thread *thread = &dag->threads[t];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            int64_t recorded = dag->vertices.time_ns[v], time = run->time_ns[v];
            if (time == DAG_ABSENT || (window && (recorded < window->from_ns || recorded > window->to_ns))) continue;
            if (time < *from_ns) *from_ns = time;
            if (time > *to_ns) *to_ns = time;
        }
    }
    return *from_ns <= *to_ns;
}
