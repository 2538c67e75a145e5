// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/work.h"

#include <stdlib.h>

// A thread's open bodies and waits while its vertices are paired.
struct pairing {
    const struct dag *dag;
    uint8_t *action, *spawned_active;
    uint32_t *open;
    uint32_t depth, deepest;
};

static bool is_start(const struct pairing *pairing, uint32_t level) {
    return pairing->dag->vertices.kind[pairing->open[level]] == VERTEX_START;
}

static void pair_open(struct pairing *pairing, uint32_t vertex) {
    pairing->open[pairing->depth++] = vertex;
    if (pairing->depth > pairing->deepest) pairing->deepest = pairing->depth;
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

static void pair_spawn(struct pairing *pairing, uint32_t vertex) {
    uint32_t task = pairing->dag->vertices.task[vertex];
    if (task == DAG_NONE) return;
    pairing->spawned_active[task] = pairing->depth > 0 && is_start(pairing, pairing->depth - 1);
    if (!pairing->spawned_active[task]) pairing->action[vertex] = ACTION_SPAWN;
}

static void pair_thread(struct pairing *pairing, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &pairing->dag->vertices;
    pairing->depth = 0;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        switch (vertices->kind[v]) {
        case VERTEX_START:
            pairing->action[v] = ACTION_OPEN;
            pair_open(pairing, v);
            break;
        case VERTEX_WAIT_BEGIN:
            pairing->action[v] = vertices->task[v] != DAG_NONE ? ACTION_WAIT : ACTION_NONE;
            pair_open(pairing, v);
            break;
        case VERTEX_END:
            pair_end(pairing, v);
            break;
        case VERTEX_WAIT_END:
            pair_wait_end(pairing, v);
            break;
        case VERTEX_SPAWN_BEGIN:
            pair_spawn(pairing, v);
            break;
        default:
            break;
        }
    }
}

// Fills action and spawned_active and says how deep bodies and waits nest.
static bool pair_all(const struct metrics_scratch *scratch, uint32_t *deepest) {
    const struct dag *dag = scratch->dag;
    struct pairing pairing = {.dag = dag,
                              .action = scratch->action,
                              .spawned_active = scratch->spawned_active,
                              .open = malloc(((size_t)dag->vertex_count + 1) * sizeof *pairing.open)};
    if (!pairing.open) return false;
    for (uint32_t t = 0; t < dag->thread_count; t++) pair_thread(&pairing, &dag->threads[t]);
    free(pairing.open);
    *deepest = pairing.deepest;
    return true;
}

static enum thread_class classify(const struct dag *dag, const struct dag_thread *thread) {
    if (thread->system || thread->stream == DAG_NONE) return CLASS_UNCOUNTED;
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
    scratch->one_class = true;
    for (uint32_t t = 0; t < scratch->dag->thread_count; t++) {
        enum thread_class class = classify(scratch->dag, &scratch->dag->threads[t]);
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
            if (scratch->action[v] != ACTION_NONE) scratch->acting[count++] = v;
        }
    }
    scratch->first_acting[dag->thread_count] = count;
}

// A thread changes state at most once a vertex that acts, twice where a body takes a spawn's place, and at its ends.
static size_t most_changes(const struct metrics_scratch *scratch) {
    size_t most = 2 * (size_t)scratch->dag->thread_count + 1;
    for (uint32_t v = 0; v < scratch->dag->vertex_count; v++) {
        most += (scratch->action[v] != ACTION_NONE) + (scratch->action[v] == ACTION_SPAWN);
    }
    return most;
}

static bool allocate(struct metrics_scratch *scratch) {
    const struct dag *dag = scratch->dag;
    scratch->action = calloc((size_t)dag->vertex_count + 1, 1);
    scratch->acting = malloc(((size_t)dag->vertex_count + 1) * sizeof *scratch->acting);
    scratch->first_acting = malloc(((size_t)dag->thread_count + 1) * sizeof *scratch->first_acting);
    scratch->spawned_active = calloc((size_t)dag->task_count + 1, 1);
    scratch->thread_class = calloc((size_t)dag->thread_count + 1, 1);
    scratch->overhead_ns = calloc((size_t)dag->task_count + 1, sizeof *scratch->overhead_ns);
    scratch->levels = dag->thread_count + 1;
    for (int s = 0; s < STATE_COUNT; s++) {
        scratch->time_at[s] = calloc(scratch->levels, sizeof *scratch->time_at[s]);
        if (!scratch->time_at[s]) return false;
    }
    return scratch->action && scratch->acting && scratch->first_acting && scratch->spawned_active &&
           scratch->thread_class && scratch->overhead_ns;
}

static bool scratch_fill(struct metrics_scratch *scratch, struct state_series *series) {
    uint32_t deepest;
    if (!allocate(scratch) || !pair_all(scratch, &deepest)) return false;
    classify_all(scratch);
    list_acting(scratch);
    measure_overheads(scratch->dag, scratch->overhead_ns);
    scratch->nesting = malloc((size_t)deepest + 1);
    scratch->stretches = malloc(((size_t)deepest + 2) * sizeof *scratch->stretches);
    series->capacity = most_changes(scratch);
    series->changes = malloc(series->capacity * sizeof *series->changes);
    scratch->spare = malloc(series->capacity * sizeof *scratch->spare);
    return scratch->nesting && scratch->stretches && series->changes && scratch->spare;
}

static void scratch_free(struct metrics_scratch *scratch) {
    if (!scratch) return;
    for (int s = 0; s < STATE_COUNT; s++) free(scratch->time_at[s]);
    free(scratch->action);
    free(scratch->acting);
    free(scratch->first_acting);
    free(scratch->stretches);
    free(scratch->spawned_active);
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
        if (scratch->thread_class[t] == CLASS_UNCOUNTED) continue;
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
