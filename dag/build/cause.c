// SPDX-License-Identifier: GPL-3.0-or-later
// What each vertex had to await, and so by which rule its time follows.
#include "dag/build/builder.h"
#include "dag/build/vertices.h"

enum { PIECE = 65536 };

static void set_cause(struct dag *dag, uint32_t vertex, enum vertex_rule rule, uint32_t cause) {
    dag->vertices.cause[vertex] = cause;
    dag->vertices.rule[vertex] = (uint8_t)rule;
}

// A result that comes later than the wait ended, by more than clocks can differ, was not what ended it.
static bool in_time(const struct dag *dag, uint32_t cause, uint32_t effect) {
    return dag->vertices.time_ns[cause] <= dag->vertices.time_ns[effect] + SKEW_TOLERANCE_NS;
}

// Tasks lie anywhere, and so do their results: both are fetched ahead of the vertex in hand.
FETCHES_AHEAD prefetch_awaited(const struct dag *dag, uint32_t v) {
    enum { AHEAD = 24 };
    const struct dag_vertices *vertices = &dag->vertices;
    if (dag->vertex_count - v <= 2 * AHEAD) return;
    uint32_t far = v + 2 * AHEAD, near = v + AHEAD;
    if (vertices->kind[far] == VERTEX_WAIT_END && vertices->task[far] != DAG_NONE) {
        __builtin_prefetch(&dag->tasks[vertices->task[far]].result);
        __builtin_prefetch(&dag->tasks[vertices->task[far]].flags);
    }
    if (vertices->kind[near] == VERTEX_WAIT_END && vertices->task[near] != DAG_NONE) {
        uint32_t result = dag->tasks[vertices->task[near]].result;
        if (result != DAG_NONE) __builtin_prefetch(&vertices->time_ns[result]);
    }
}

static void cause_waits(struct dag *dag, uint32_t first) {
    for (uint32_t v = first; v < dag->vertex_count && v - first < PIECE; v++) {
        prefetch_awaited(dag, v);
        if (dag->vertices.kind[v] != VERTEX_WAIT_END || dag->vertices.task[v] == DAG_NONE) continue;
        const struct dag_task *awaited = &dag->tasks[dag->vertices.task[v]];
        uint32_t result = awaited->flags & TASK_PERMIT ? DAG_NONE : awaited->result;
        if (result != DAG_NONE && in_time(dag, result, v)) set_cause(dag, v, RULE_WAIT, result);
    }
}

// Whatever came right behind it, what gave up did not wait for that.
static void leave_given_up(struct dag *dag) {
    for (uint32_t i = 0; i < dag->await_count; i++) {
        if (dag->awaits[i].given_up) set_cause(dag, dag->awaits[i].end, RULE_RUN, DAG_NONE);
    }
}

FETCHES_AHEAD prefetch_start(const struct dag *dag, uint32_t t) {
    enum { AHEAD = 16 };
    uint32_t start = dag->task_count - t > AHEAD ? dag->tasks[t + AHEAD].start : DAG_NONE;
    if (start == DAG_NONE) return;
    __builtin_prefetch(&dag->vertices.kind[start]);
    __builtin_prefetch(&dag->vertices.cause[start], 1);
    __builtin_prefetch(&dag->vertices.rule[start], 1);
}

// The spawn causes the first thing that shows the worker has the task: BUSY where it had been idle, else START.
static void cause_starts(struct dag *dag, uint32_t first) {
    for (uint32_t t = first; t < dag->task_count && t - first < PIECE; t++) {
        prefetch_start(dag, t);
        const struct dag_task *task = &dag->tasks[t];
        if (task->start == DAG_NONE) continue;
        bool begins_thread = task->start == dag->threads[task->thread].first && task->flags & TASK_THREAD_RUN;
        uint32_t shows = task->start;
        for (uint32_t v = task->pickup; v < task->start; v++) {
            if (dag->vertices.kind[v] == VERTEX_BUSY) shows = v;
        }
        if (begins_thread)
            set_cause(dag, shows, RULE_BEGIN, task->spawn_begin);
        else if (task->spawn_begin != DAG_NONE)
            set_cause(dag, shows, RULE_WAKE, task->spawn_begin);
    }
}

static uint32_t pieces(uint32_t count) {
    return (count + PIECE - 1) / PIECE;
}

// Items: pieces of all tasks, and then of all vertices.
static void cause_piece(void *of, uint32_t hand, uint32_t item) {
    struct dag *dag = of;
    (void)hand;
    if (item < pieces(dag->task_count))
        cause_starts(dag, item * PIECE);
    else
        cause_waits(dag, (item - pieces(dag->task_count)) * PIECE);
}

static void cause_thread_starts(struct builder *builder) {
    struct dag *dag = builder->dag;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t run = builder->streams[thread->stream].run;
        if (dag->vertices.kind[thread->first] != VERTEX_THREAD_START) continue;
        uint32_t spawn = run == DAG_NONE ? DAG_NONE : builder->sightings[run].spawn_begin;
        set_cause(dag, thread->first, RULE_BEGIN, spawn);
    }
}

bool add_shutdown(struct builder *builder, uint32_t pool, uint32_t vertex) {
    if (!GROW(builder->shutdowns, builder->shutdown_count, builder->shutdown_capacity)) return no_memory(builder);
    builder->shutdowns[builder->shutdown_count++] = (struct shutdown){pool, vertex};
    return true;
}

static bool is_shut_down(const struct builder *builder, uint32_t pool) {
    for (uint32_t i = 0; i < builder->shutdown_count; i++) {
        if (builder->shutdowns[i].pool == pool) return true;
    }
    return false;
}

// The pool's latest shutdown that is no later than a vertex, or DAG_NONE.
static uint32_t shutdown_before(const struct builder *builder, uint32_t pool, uint32_t vertex) {
    const int64_t *time_ns = builder->dag->vertices.time_ns;
    uint32_t latest = DAG_NONE;
    for (uint32_t i = 0; i < builder->shutdown_count; i++) {
        const struct shutdown *shutdown = &builder->shutdowns[i];
        if (shutdown->pool != pool || time_ns[shutdown->vertex] > time_ns[vertex]) continue;
        if (latest == DAG_NONE || time_ns[shutdown->vertex] > time_ns[latest]) latest = shutdown->vertex;
    }
    return latest;
}

// A stage is not shut down: its threads leave, told by a last element or otherwise, when nothing more comes. What was
// put last stands for that, where nothing else does.
static bool end_stages(struct builder *builder) {
    const struct dag *dag = builder->dag;
    const struct trace *trace = builder->trace;
    for (uint32_t p = 1; p < trace->pool_count; p++) {
        uint32_t last = DAG_NONE;
        if (!(trace->pools[p].flags & POOL_STAGE) || is_shut_down(builder, p)) continue;
        for (uint32_t t = 0; t < dag->task_count; t++) {
            const uint32_t put = dag->tasks[t].pool == p ? dag->tasks[t].spawn_begin : DAG_NONE;
            if (put == DAG_NONE) continue;
            if (last == DAG_NONE || dag->vertices.time_ns[put] > dag->vertices.time_ns[last]) last = put;
        }
        if (last != DAG_NONE && !add_shutdown(builder, p, last)) return false;
    }
    return true;
}

static void cause_retirements(struct builder *builder) {
    struct dag *dag = builder->dag;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (dag->vertices.kind[v] != VERTEX_RETIRE) continue;
            uint32_t shutdown = shutdown_before(builder, thread->pool, v);
            if (shutdown != DAG_NONE) set_cause(dag, v, RULE_WAKE, shutdown);
        }
    }
}

// Where a worker's part in its pool's termination ends: RETIRE, or its last vertex.
static uint32_t worker_gone(const struct dag *dag, const struct dag_thread *thread) {
    uint32_t last = thread->first + thread->count - 1;
    for (uint32_t v = last; v > thread->first && dag->vertices.kind[v] != VERTEX_BUSY; v--) {
        if (dag->vertices.kind[v] == VERTEX_RETIRE) return v;
    }
    return last;
}

// Calls `each` with everything that the termination of a pool had to await before the wait's end `effect`.
// Returns whether all of them said yes.
static bool each_terminator(struct builder *builder, uint32_t pool, uint32_t effect, uint32_t recorded_threads,
                            bool (*each)(struct builder *builder, uint32_t cause, uint32_t effect)) {
    struct dag *dag = builder->dag;
    uint32_t shutdown = shutdown_before(builder, pool, effect);
    if (shutdown != DAG_NONE && !each(builder, shutdown, effect)) return false;
    for (uint32_t i = 0; i < recorded_threads; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!thread->worker || thread->pool != pool) continue;
        if (dag->vertices.time_ns[thread->first] > dag->vertices.time_ns[effect]) continue;
        if (!each(builder, worker_gone(dag, thread), effect)) return false;
    }
    return true;
}

static bool terminator_in_time(struct builder *builder, uint32_t cause, uint32_t effect) {
    return in_time(builder->dag, cause, effect);
}

static bool add_barrier_vertex(struct builder *builder, uint32_t cause, uint32_t effect) {
    (void)effect;
    struct dag *dag = builder->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    bool first = dag->threads[dag->thread_count - 1].count == 0;
    int64_t so_far = first ? INT64_MIN : time_ns[dag->vertex_count - 1];
    int64_t reached = time_ns[cause] > so_far ? time_ns[cause] : so_far;
    if (!add_vertex(builder, VERTEX_BARRIER, reached, 0, DAG_NONE)) return false;
    set_cause(dag, dag->vertex_count - 1, RULE_MAX, cause);
    return true;
}

// One chain of barriers for one wait. A wait that gave up before the pool's end has no cause, nor has one for a pool
// whose shutdown was lost: in no run would that end.
static bool cause_pool_wait(struct builder *builder, const struct other_wait *wait, uint32_t recorded_threads) {
    struct dag *dag = builder->dag;
    if (builder->trace->lost_events && shutdown_before(builder, wait->pool, wait->vertex) == DAG_NONE) return true;
    if (!each_terminator(builder, wait->pool, wait->vertex, recorded_threads, terminator_in_time)) return true;
    uint32_t before = dag->vertex_count;
    if (!add_thread(builder, DAG_NONE)) return false;
    dag->threads[dag->thread_count - 1].system = true; // stands for no thread: never counted
    if (!each_terminator(builder, wait->pool, wait->vertex, recorded_threads, add_barrier_vertex)) return false;
    if (dag->vertex_count == before)
        dag->thread_count--; // nothing known of that pool
    else
        set_cause(dag, wait->vertex, RULE_WAIT, dag->vertex_count - 1);
    return true;
}

static void cause_worker_join(struct builder *builder, const struct other_wait *wait) {
    struct dag *dag = builder->dag;
    uint32_t stream = builder->sightings[wait->sighting].run_on;
    uint32_t thread = stream == DAG_NONE ? DAG_NONE : builder->thread_of_stream[stream];
    if (thread == DAG_NONE) return;
    uint32_t last = dag->threads[thread].first + dag->threads[thread].count - 1;
    if (in_time(dag, last, wait->vertex)) set_cause(dag, wait->vertex, RULE_WAIT, last);
}

bool find_causes(struct builder *builder) {
    struct dag *dag = builder->dag;
    hands_run(cause_piece, dag, pieces(dag->task_count) + pieces(dag->vertex_count), builder->hands);
    leave_given_up(dag);
    cause_thread_starts(builder);
    if (!end_stages(builder)) return false;
    cause_retirements(builder);
    uint32_t recorded_threads = dag->thread_count;
    for (uint32_t i = 0; i < builder->other_wait_count; i++) {
        const struct other_wait *wait = &builder->other_waits[i];
        if (wait->pool == 0)
            cause_worker_join(builder, wait);
        else if (!cause_pool_wait(builder, wait, recorded_threads))
            return false;
    }
    return true;
}
