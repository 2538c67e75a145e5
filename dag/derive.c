// SPDX-License-Identifier: GPL-3.0-or-later
// The run as a DAG of its own: what happened, in order, is sorted by strand, and then threads, bodies and causes are
// found again, by what is open at each vertex, as dag_build finds them in a recording.
#include "dag/rules.h"
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
    uint32_t task_capacity;
    uint32_t *now;  // a vertex of the recording each: where it is in this run, DAG_NONE
    uint32_t *open; // tasks whose bodies are open on the thread in hand
    uint32_t depth;
};

bool derive_new(struct simulation *sim) {
    struct derive_work *work = sim->derive = calloc(1, sizeof *work);
    if (!work) return false;
    work->pools = malloc(((size_t)sim->dag->pool_count + 1) * sizeof *work->pools);
    work->now = malloc(((size_t)sim->dag->vertex_count + 1) * sizeof *work->now);
    return work->pools && work->now;
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
    if (sim->job_count >= work->task_capacity) {
        size_t tasks = (size_t)sim->job_capacity + 1;
        if (!resize(&work->tasks, tasks, sizeof *work->tasks) || !resize(&work->open, tasks, sizeof *work->open)) {
            return false;
        }
        work->task_capacity = (uint32_t)tasks;
    }
    if (sim->log_count < work->vertex_capacity) return true;
    work->vertex_capacity = 0;
    if (!reserve_vertices(work, &sim->dag->vertices, (size_t)sim->log_capacity + 1)) return false;
    work->vertex_capacity = sim->log_capacity + 1;
    return true;
}

static bool has_moved(const struct simulation *sim, uint32_t job) {
    if (job_is_part(sim, job)) return false;
    return sim->fate[job] != FATE_RECORDED && sim->fate[job] != FATE_DISPATCHED;
}

// Inlined bodies are no bodies any more; only what they bring about is left of them, where someone awaits it.
static bool is_left(const struct simulation *sim, const struct passage *passage) {
    if (passage->dropped) return false;
    if (passage->task == DAG_NONE || passage->kind > VERTEX_RESULT || !has_moved(sim, passage->task)) return true;
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

// Whether the result of a group or of a task in parts comes apart from their ends.
static bool comes_apart(const struct simulation *sim, uint32_t task) {
    return job_is_part(sim, task) || ends_group(sim, task) || sim->fate[task] == FATE_MERGED;
}

static bool is_result_of_whole(const struct passage *passage) {
    return passage->kind == VERTEX_RESULT && passage->source == DAG_NONE;
}

static bool is_end_of_part(const struct simulation *sim, const struct passage *passage) {
    return passage->kind == VERTEX_END && comes_apart(sim, passage->task);
}

static void lay_vertex(struct simulation *sim, uint32_t at, const struct passage *passage) {
    const struct dag_vertices *recorded = &sim->dag->vertices;
    struct derive_work *work = sim->derive;
    struct dag_vertices *vertices = &work->vertices;
    uint32_t source = passage->source;
    bool inlined_end = passage->kind == VERTEX_END && has_moved(sim, passage->task);
    vertices->time_ns[at] = passage->time_ns;
    vertices->task[at] = passage->task;
    vertices->kind[at] = inlined_end ? VERTEX_RESULT : passage->kind;
    vertices->rule[at] = source == DAG_NONE ? RULE_RUN : recorded->rule[source];
    vertices->event[at] = source == DAG_NONE ? 0 : recorded->event[source];
    vertices->cause[at] = DAG_NONE;
    work->source[at] = source;
    if (is_result_of_whole(passage))
        work->now[sim->dag->tasks[passage->task].result] = at;
    else if (source != DAG_NONE && !is_end_of_part(sim, passage))
        work->now[source] = at;
}

// A thread's passages lie apart in the log: they are fetched so many ahead. Past a thread's last come the next one's.
#define FETCHED_AHEAD 16

// The steps of one thread, and its vertices; what is computed up to a step that is no vertex belongs to the next.
static uint32_t lay_thread(struct simulation *sim, uint32_t thread, uint32_t next) {
    struct derive_work *work = sim->derive;
    int64_t compute_ns = 0, queued_ns = 0;
    work->threads[thread].first = next;
    for (uint32_t i = work->first_step[thread]; i < work->first_step[thread + 1]; i++) {
        if (i + FETCHED_AHEAD < sim->log_count) __builtin_prefetch(&sim->log[work->order[i + FETCHED_AHEAD]]);
        const struct passage *passage = &sim->log[work->order[i]];
        bool left = is_left(sim, passage);
        work->steps[i] = (struct dag_step){passage->time_ns, passage->source, left ? next : DAG_NONE};
        int64_t passed_ns = i > work->first_step[thread] ? passage->time_ns - work->steps[i - 1].time_ns : 0;
        int64_t computed_ns = min_ns(passage->compute_ns, passed_ns);
        compute_ns += computed_ns;
        queued_ns += min_ns(passage->queued_ns, passed_ns - computed_ns);
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

// Bodies and brackets are found when threads are walked.
static void lay_task(struct simulation *sim, uint32_t job) {
    const struct derive_work *work = sim->derive;
    const struct dag_task *recorded = &sim->dag->tasks[job_task(sim, job)];
    struct dag_task *task = &sim->derive->tasks[job];
    *task = *recorded;
    task->spawner = task->thread = task->enclosing = task->pickup = DAG_NONE;
    task->spawn_begin = task->spawn_end = task->start = task->end = task->tail = DAG_NONE;
    task->result = job < sim->dag->task_count ? now_at(work, recorded->result) : DAG_NONE;
    if (has_moved(sim, job)) {
        task->flags = TASK_NESTED;
        task->dispatch = DISPATCH_NONE;
        return;
    }
    task->dispatch = sim->dispatch[job];
    if (job >= sim->dag->task_count) task->awaited = 0;
}

// Nobody was there to take it up.
static void find_rejected(struct simulation *sim) {
    for (uint32_t job = 0; job < sim->job_count; job++) {
        struct dag_task *task = &sim->derive->tasks[job];
        bool started = sim->dag->tasks[job_task(sim, job)].start != DAG_NONE;
        if (started && task->start == DAG_NONE && !(task->flags & TASK_NESTED)) task->flags |= TASK_REJECTED;
    }
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
    uint32_t job = vertices->task[start];
    if (!job_is_part(sim, job) && sim->fate[job] != FATE_DISPATCHED) return;
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
    const struct dag_task *of = &sim->dag->tasks[job_task(sim, task)];
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
        bool came_first = rule == RULE_LOCK && cause != DAG_NONE && vertices->time_ns[cause] > vertices->time_ns[v];
        set_cause(vertices, v, rule, came_first ? DAG_NONE : cause);
    }
}

static void end_body(struct simulation *sim, uint32_t job, uint32_t end) {
    struct derive_work *work = sim->derive;
    const struct dag_task *recorded = &sim->dag->tasks[job_task(sim, job)];
    bool no_tail = recorded->tail == recorded->end || job_is_part(sim, job);
    uint32_t tail = no_tail ? DAG_NONE : now_at(work, recorded->tail);
    work->tasks[job].end = end;
    work->tasks[job].tail = tail == DAG_NONE || tail < end ? end : tail;
    close_body(work, job);
}

static void begin_bracket(struct derive_work *work, struct dag_thread *thread, uint32_t job, uint32_t spawn_begin) {
    work->tasks[job].spawn_begin = work->tasks[job].spawn_end = spawn_begin;
    work->tasks[job].spawner = work->depth ? work->open[work->depth - 1] : DAG_NONE;
    if (!work->depth) thread->pinned = true;
}

// Bodies and brackets of a thread.
static void walk_thread(struct simulation *sim, struct dag_thread *thread) {
    struct derive_work *work = sim->derive;
    const struct dag_vertices *vertices = &work->vertices;
    work->depth = 0;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        uint32_t job = dag_task_of(vertices, v);
        if (job == DAG_NONE) continue;
        switch (vertices->kind[v]) {
        case VERTEX_START:
            work->tasks[job].start = v;
            open_body(sim, thread, v);
            break;
        case VERTEX_END:
            end_body(sim, job, v);
            break;
        case VERTEX_SPAWN_BEGIN:
            begin_bracket(work, thread, job, v);
            break;
        case VERTEX_SPAWN_END:
            work->tasks[job].spawn_end = v;
            break;
        default:
            break;
        }
    }
}

static void find_causes_of_run(struct simulation *sim, const struct dag_thread *thread) {
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        find_cause(sim, thread, v);
        if (sim->derive->vertices.kind[v] == VERTEX_START) cause_start(sim, v);
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
    for (uint32_t job = 0; job < sim->job_count; job++) lay_task(sim, job);
    sim->derived.vertices = work->vertices;
    sim->derived.threads = work->threads;
    sim->derived.tasks = work->tasks;
    sim->derived.pools = work->pools;
    sim->derived.origin = sim->dag;
    sim->derived.redispatched = sim->model != MODEL_DAG;
    sim->derived.source = work->source;
    sim->derived.steps = work->steps;
    sim->derived.first_step = work->first_step;
    sim->derived.task_count = sim->job_count;
    sim->derived.part_of = sim->part_of;
    for (uint32_t i = 0; i < sim->strand_count; i++) walk_thread(sim, &work->threads[i]);
    for (uint32_t i = 0; i < sim->strand_count; i++) find_causes_of_run(sim, &work->threads[i]);
    find_rejected(sim);
    find_window(&sim->derived);
    return true;
}
