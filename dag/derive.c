// SPDX-License-Identifier: GPL-3.0-or-later
// The run as a DAG of its own: what happened, in order, is sorted by strand, and then threads, bodies and causes are
// found again, by what is open at each vertex, as dag_build finds them in a recording.
#include "dag/strand.h"

#include <stdlib.h>

struct derive_work {
    struct dag_vertices vertices;
    uint32_t *source;
    struct dag_step *steps;
    uint32_t *order; // a step each: its place in the log
    uint32_t vertex_capacity;
    struct dag_thread *threads;
    uint32_t *first_step, *cursor; // a thread each; cursor: where its next step goes
    uint32_t thread_capacity;
    struct dag_pool *pools;
    struct dag_task *tasks;
    uint32_t *now;  // a vertex of the recording each: where it is in this run, DAG_NONE
    uint32_t *open; // tasks whose bodies are open on the thread in hand
    uint32_t depth;
};

bool derive_new(struct simulation *sim) {
    struct derive_work *work = sim->derive = calloc(1, sizeof *work);
    if (!work) return false;
    size_t tasks = (size_t)sim->dag->task_count + 1;
    work->tasks = malloc(tasks * sizeof *work->tasks);
    work->pools = malloc(((size_t)sim->dag->pool_count + 1) * sizeof *work->pools);
    work->now = malloc(((size_t)sim->dag->vertex_count + 1) * sizeof *work->now);
    work->open = malloc(tasks * sizeof *work->open);
    return work->tasks && work->pools && work->now && work->open;
}

void derive_free(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    if (!work) return;
    free(work->vertices.time_ns);
    free(work->vertices.cause);
    free(work->vertices.task);
    free(work->vertices.event);
    free(work->vertices.kind);
    free(work->vertices.rule);
    free(work->vertices.compute_ns);
    free(work->vertices.queued_ns);
    free(work->source);
    free(work->steps);
    free(work->order);
    free(work->threads);
    free(work->first_step);
    free(work->cursor);
    free(work->pools);
    free(work->tasks);
    free(work->now);
    free(work->open);
    free(work);
}

static bool resize(void *array, size_t count, size_t size) {
    void **pointer = array;
    void *moved = realloc(*pointer, count * size);
    if (moved) *pointer = moved;
    return moved != NULL;
}

static bool reserve_vertices(struct derive_work *work, const struct dag_vertices *recorded, size_t count) {
    struct dag_vertices *vertices = &work->vertices;
    return resize(&vertices->time_ns, count, sizeof *vertices->time_ns) &&
           resize(&vertices->cause, count, sizeof *vertices->cause) &&
           resize(&vertices->task, count, sizeof *vertices->task) &&
           resize(&vertices->event, count, sizeof *vertices->event) &&
           resize(&vertices->kind, count, sizeof *vertices->kind) &&
           resize(&vertices->rule, count, sizeof *vertices->rule) &&
           (!recorded->compute_ns || resize(&vertices->compute_ns, count, sizeof *vertices->compute_ns)) &&
           (!recorded->queued_ns || resize(&vertices->queued_ns, count, sizeof *vertices->queued_ns)) &&
           resize(&work->source, count, sizeof *work->source) && resize(&work->steps, count, sizeof *work->steps) &&
           resize(&work->order, count, sizeof *work->order);
}

static bool reserve(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    size_t threads = sim->strand_capacity;
    if (sim->strand_count >= work->thread_capacity) {
        if (!resize(&work->threads, threads, sizeof *work->threads) ||
            !resize(&work->first_step, threads + 1, sizeof *work->first_step) ||
            !resize(&work->cursor, threads, sizeof *work->cursor)) {
            return false;
        }
        work->thread_capacity = sim->strand_capacity;
    }
    if (sim->log_count < work->vertex_capacity) return true;
    work->vertex_capacity = 0;
    if (!reserve_vertices(work, &sim->dag->vertices, (size_t)sim->log_capacity + 1)) return false;
    work->vertex_capacity = sim->log_capacity + 1;
    return true;
}

// Inlined bodies are no bodies any more; only what they bring about is left of them, where someone awaits it.
static bool is_left(const struct simulation *sim, const struct passage *passage) {
    bool inlined =
        passage->task != DAG_NONE && passage->kind <= VERTEX_RESULT && sim->fate[passage->task] == FATE_INLINED;
    if (!inlined) return true;
    const struct dag_task *task = &sim->dag->tasks[passage->task];
    return task->awaited > 0 && (passage->kind == VERTEX_RESULT || passage->source == task->result);
}

// Sorts the log by strand.
static void order_steps(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    for (uint32_t i = 0; i <= sim->strand_count; i++) work->first_step[i] = 0;
    for (uint32_t i = 0; i < sim->log_count; i++) work->first_step[sim->log[i].strand + 1]++;
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        work->first_step[i + 1] += work->first_step[i];
        work->cursor[i] = work->first_step[i];
    }
    for (uint32_t i = 0; i < sim->log_count; i++) work->order[work->cursor[sim->log[i].strand]++] = i;
}

static void lay_vertex(struct simulation *sim, uint32_t at, const struct passage *passage) {
    const struct dag_vertices *recorded = &sim->dag->vertices;
    struct derive_work *work = sim->derive;
    struct dag_vertices *vertices = &work->vertices;
    uint32_t source = passage->source;
    bool inlined_end = passage->kind == VERTEX_END && sim->fate[passage->task] == FATE_INLINED;
    vertices->time_ns[at] = passage->time_ns;
    vertices->task[at] = passage->task;
    vertices->kind[at] = inlined_end ? VERTEX_RESULT : passage->kind;
    vertices->rule[at] = source == DAG_NONE ? RULE_RUN : recorded->rule[source];
    vertices->event[at] = source == DAG_NONE ? 0 : recorded->event[source];
    vertices->cause[at] = DAG_NONE;
    work->source[at] = source;
    if (source != DAG_NONE) work->now[source] = at;
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// The steps of one thread, and its vertices; what is computed up to a step that is no vertex belongs to the next.
static uint32_t lay_thread(struct simulation *sim, uint32_t thread, uint32_t next) {
    struct derive_work *work = sim->derive;
    int64_t compute_ns = 0, queued_ns = 0;
    work->threads[thread].first = next;
    for (uint32_t i = work->first_step[thread]; i < work->first_step[thread + 1]; i++) {
        const struct passage *passage = &sim->log[work->order[i]];
        bool left = is_left(sim, passage);
        work->steps[i] = (struct dag_step){passage->time_ns, passage->source, left ? next : DAG_NONE};
        int64_t passed_ns = i > work->first_step[thread] ? passage->time_ns - work->steps[i - 1].time_ns : 0;
        int64_t computed_ns = lesser(passage->compute_ns, passed_ns);
        compute_ns += computed_ns;
        queued_ns += lesser(passage->queued_ns, passed_ns - computed_ns);
        if (!left) continue;
        lay_vertex(sim, next, passage);
        if (work->vertices.compute_ns) work->vertices.compute_ns[next] = compute_ns;
        if (work->vertices.queued_ns) work->vertices.queued_ns[next] = queued_ns;
        compute_ns = queued_ns = 0;
        next++;
    }
    work->threads[thread].count = next - work->threads[thread].first;
    return next;
}

static struct dag_thread thread_of_strand(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    uint32_t model = sim->strands[index].model;
    struct dag_thread thread = {.stream = model == DAG_NONE ? DAG_NONE : dag->threads[model].stream,
                                .pool = sim->strands[index].pool,
                                .worker = true,
                                .run_task = DAG_NONE};
    if (index < dag->thread_count) thread = dag->threads[index];
    thread.bodies = 0;
    thread.pinned = false;
    return thread;
}

static void lay_threads(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    uint32_t next = 0;
    order_steps(sim);
    for (uint32_t v = 0; v < sim->dag->vertex_count; v++) work->now[v] = DAG_NONE;
    for (uint32_t i = 0; i < sim->strand_count; i++) {
        work->threads[i] = thread_of_strand(sim, i);
        next = lay_thread(sim, i, next);
    }
    sim->derived.thread_count = sim->strand_count;
    sim->derived.vertex_count = next;
}

static uint32_t now_at(const struct derive_work *work, uint32_t vertex) {
    return vertex == DAG_NONE ? DAG_NONE : work->now[vertex];
}

static void lay_task(struct simulation *sim, uint32_t index) {
    const struct derive_work *work = sim->derive;
    const struct dag_task *recorded = &sim->dag->tasks[index];
    struct dag_task *task = &sim->derive->tasks[index];
    *task = *recorded;
    task->spawner = task->thread = task->enclosing = task->pickup = DAG_NONE;
    task->result = now_at(work, recorded->result);
    if (sim->fate[index] == FATE_INLINED) {
        task->flags = TASK_NESTED;
        task->dispatch = DISPATCH_NONE;
        task->spawn_begin = task->spawn_end = task->start = task->end = task->tail = DAG_NONE;
        return;
    }
    task->dispatch = sim->dispatch[index];
    task->spawn_begin = now_at(work, recorded->spawn_begin);
    task->spawn_end = now_at(work, recorded->spawn_end);
    if (task->spawn_end == DAG_NONE) task->spawn_end = task->spawn_begin;
    task->start = now_at(work, recorded->start);
    task->end = now_at(work, recorded->end);
    task->tail = now_at(work, recorded->tail);
    if (recorded->start != DAG_NONE && task->start == DAG_NONE) task->flags |= TASK_REJECTED;
}

static void set_cause(struct dag_vertices *vertices, uint32_t vertex, enum vertex_rule rule, uint32_t cause) {
    vertices->cause[vertex] = cause;
    vertices->rule[vertex] = (uint8_t)(cause == DAG_NONE && rule != RULE_BEGIN && rule != RULE_MAX ? RULE_RUN : rule);
}

static void open_body(struct simulation *sim, struct dag_thread *thread, uint32_t start) {
    struct derive_work *work = sim->derive;
    const struct dag_vertices *vertices = &work->vertices;
    uint32_t index = vertices->task[start];
    struct dag_task *task = &work->tasks[index];
    task->thread = (uint32_t)(thread - work->threads);
    task->enclosing = work->depth ? work->open[work->depth - 1] : DAG_NONE;
    task->pickup = start;
    if (!work->depth) thread->bodies++;
    while (task->pickup > thread->first && vertices->task[task->pickup - 1] == index &&
           (vertices->kind[task->pickup - 1] == VERTEX_IDLE || vertices->kind[task->pickup - 1] == VERTEX_BUSY)) {
        task->pickup--;
    }
    work->open[work->depth++] = index;
}

static void close_body(struct derive_work *work, uint32_t task) {
    uint32_t depth = work->depth;
    while (depth && work->open[depth - 1] != task) depth--;
    if (depth) work->depth = depth - 1;
}

// The spawn causes the first thing that shows the worker has the task.
static void cause_start(struct simulation *sim, uint32_t start) {
    struct dag_vertices *vertices = &sim->derive->vertices;
    const struct dag_task *task = &sim->derive->tasks[vertices->task[start]];
    if (sim->fate[vertices->task[start]] != FATE_DISPATCHED) return;
    bool busy = task->pickup < start && vertices->kind[start - 1] == VERTEX_BUSY;
    set_cause(vertices, start, RULE_RUN, DAG_NONE);
    set_cause(vertices, start - busy, RULE_WAKE, task->spawn_begin);
}

static uint32_t first_task(const struct simulation *sim, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &sim->derive->vertices;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (vertices->kind[v] == VERTEX_START) return vertices->task[v];
    }
    return DAG_NONE;
}

// What made a thread. A pool's worker that was made for the task that is its first again was made where it was; else
// the spawn of its first task made it.
static uint32_t maker_of(const struct simulation *sim, const struct dag_thread *thread, uint32_t source) {
    uint32_t index = (uint32_t)(thread - sim->derive->threads);
    uint32_t recorded = source == DAG_NONE ? DAG_NONE : sim->dag->vertices.cause[source];
    uint32_t maker = now_at(sim->derive, recorded);
    if (!(thread->worker && pool_governs(sim, thread->pool))) {
        if (maker != DAG_NONE || recorded == DAG_NONE) return maker;
        return now_at(sim->derive, dag_constraint_of_start(sim->dag, sim->edit, source, index, true).cause);
    }
    const int64_t *time_ns = sim->derive->vertices.time_ns;
    bool in_time = maker != DAG_NONE && time_ns[maker] <= time_ns[thread->first];
    if (stealing_governs(sim, thread->pool)) return in_time ? maker : now_at(sim->derive, sim->strands[index].maker);
    uint32_t task = first_task(sim, thread);
    if (task == DAG_NONE) return DAG_NONE;
    const struct dag_task *of = &sim->dag->tasks[task];
    bool same = of->thread == index && of->spawn_begin < recorded && recorded < of->spawn_end;
    return same && in_time ? maker : sim->derive->tasks[task].spawn_begin;
}

// Of all that a pool's end had to await, what came last; a pool can be asked for more when it has ended.
static uint32_t last_awaited(const struct simulation *sim, uint32_t barrier, int64_t end_ns) {
    const struct derive_work *work = sim->derive;
    uint32_t latest = DAG_NONE;
    for (uint32_t v = barrier + 1; v-- > 0 && sim->dag->vertices.kind[v] == VERTEX_BARRIER;) {
        uint32_t cause = now_at(work, sim->dag->vertices.cause[v]);
        if (cause == DAG_NONE || work->vertices.time_ns[cause] > end_ns) continue;
        if (latest == DAG_NONE || work->vertices.time_ns[cause] > work->vertices.time_ns[latest]) latest = cause;
    }
    return latest;
}

static void find_cause(struct simulation *sim, const struct dag_thread *thread, uint32_t v) {
    struct derive_work *work = sim->derive;
    struct dag_vertices *vertices = &work->vertices;
    uint32_t source = work->source[v];
    uint32_t cause = source == DAG_NONE ? DAG_NONE : now_at(work, sim->dag->vertices.cause[source]);
    enum vertex_rule rule = source == DAG_NONE ? RULE_RUN : sim->dag->vertices.rule[source];
    if (vertices->kind[v] == VERTEX_THREAD_START) {
        set_cause(vertices, v, RULE_BEGIN, maker_of(sim, thread, source));
    } else if (vertices->kind[v] == VERTEX_RETIRE && pool_governs(sim, thread->pool)) {
        set_cause(vertices, v, RULE_WAKE, now_at(work, sim->pools[thread->pool].shutdown));
    } else if (vertices->kind[v] == VERTEX_BARRIER && pool_governs(sim, sim->pool_of_barrier[thread - work->threads])) {
        set_cause(vertices, v, RULE_MAX, last_awaited(sim, source, vertices->time_ns[v]));
    } else {
        set_cause(vertices, v, rule, cause);
    }
}

static void walk_thread(struct simulation *sim, struct dag_thread *thread) {
    struct derive_work *work = sim->derive;
    const struct dag_vertices *vertices = &work->vertices;
    work->depth = 0;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        uint32_t task = vertices->task[v];
        find_cause(sim, thread, v);
        if (vertices->kind[v] == VERTEX_START) {
            open_body(sim, thread, v);
            cause_start(sim, v);
        } else if (vertices->kind[v] == VERTEX_END) {
            close_body(work, task);
        } else if (vertices->kind[v] == VERTEX_SPAWN_BEGIN && task != DAG_NONE) {
            work->tasks[task].spawner = work->depth ? work->open[work->depth - 1] : DAG_NONE;
            if (!work->depth) thread->pinned = true;
        }
    }
}

static void find_window(struct dag *dag) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (thread->system || thread->count == 0) continue;
        int64_t from_ns = dag->vertices.time_ns[thread->first];
        int64_t to_ns = dag->vertices.time_ns[thread->first + thread->count - 1];
        if (from_ns < first_ns) first_ns = from_ns;
        if (to_ns > last_ns) last_ns = to_ns;
    }
    dag->first_ns = first_ns <= last_ns ? first_ns : 0;
    dag->last_ns = first_ns <= last_ns ? last_ns : 0;
}

static void lay_pools(struct simulation *sim) {
    for (uint32_t p = 0; p < sim->dag->pool_count; p++) {
        struct dag_pool *pool = &sim->derive->pools[p];
        *pool = sim->dag->pools[p];
        if (!sim->edit->pool_threads[p]) continue;
        pool->core = sim->pools[p].core;
        pool->maximum = sim->pools[p].maximum;
        pool->capacity = sim->pools[p].capacity;
        pool->discipline = sim->pools[p].discipline;
    }
}

bool derive_run(struct simulation *sim) {
    if (!reserve(sim)) return false;
    struct derive_work *work = sim->derive;
    sim->derived = *sim->dag;
    lay_threads(sim);
    lay_pools(sim);
    for (uint32_t t = 0; t < sim->dag->task_count; t++) lay_task(sim, t);
    sim->derived.vertices = work->vertices;
    sim->derived.threads = work->threads;
    sim->derived.tasks = work->tasks;
    sim->derived.pools = work->pools;
    sim->derived.origin = sim->dag;
    sim->derived.redispatched = sim->model != MODEL_DAG;
    sim->derived.source = work->source;
    sim->derived.steps = work->steps;
    sim->derived.first_step = work->first_step;
    for (uint32_t i = 0; i < sim->strand_count; i++) walk_thread(sim, &work->threads[i]);
    find_window(&sim->derived);
    return true;
}
