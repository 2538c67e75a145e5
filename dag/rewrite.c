// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's chain is walked once. A vertex's event takes the vertex's new time, and the events behind it (functions,
// mostly) keep their distance to it, as far as the next vertex leaves them room.
//
// Where a body moves, the events between its pick-up and its start and those behind its end stay with the worker, so
// that a function entered before the body and left after it is still entered and left on one thread.
#include "dag/rewrite.h"

#include "dag/chain.h"

#include <stdlib.h>

struct moved_body {
    uint32_t outer_source;
    int64_t outer_cpu_shift;
    uint64_t begin_cpu;
    bool in_place; // it ran in its own bracket: the thread's computing holds it already
};

static bool more(void **array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return true;
    size_t larger = *capacity ? *capacity * 2 : 256;
    void *moved = realloc(*array, larger * size);
    if (!moved) return false;
    *array = moved;
    *capacity = larger;
    return true;
}

static void emit(struct rewrite *rewrite, struct event event, int64_t time_ns) {
    if (!more((void **)&rewrite->out, rewrite->count, &rewrite->capacity, sizeof *rewrite->out)) {
        rewrite->no_memory = true;
        return;
    }
    event.time = (uint64_t)time_ns;
    if (event_has_cpu(event.kind) && event.operand[1]) {
        event.operand[1] += (uint64_t)rewrite->cpu_shift;
        rewrite->last_cpu = event.operand[1];
    }
    rewrite->out[rewrite->count++] = event;
}

static int64_t least_time(const struct rewrite *rewrite, size_t index) {
    return index ? (int64_t)rewrite->out[index - 1].time + 1 : 0;
}

// Makes the unsettled events come before a vertex at `time_ns`, each as little earlier as can be, and then rise: where
// there is no room at all they, and the vertex, go on by a ns each. Returns the time that is left for the vertex.
static int64_t settle(struct rewrite *rewrite, int64_t time_ns) {
    struct event *out = rewrite->out;
    int64_t latest = time_ns;
    for (size_t i = rewrite->count; i-- > rewrite->settled;) {
        latest--;
        if ((int64_t)out[i].time > latest) out[i].time = (uint64_t)latest;
        latest = (int64_t)out[i].time;
    }
    for (size_t i = rewrite->settled; i < rewrite->count; i++) {
        int64_t least = least_time(rewrite, i);
        if ((int64_t)out[i].time < least) out[i].time = (uint64_t)least;
    }
    rewrite->settled = rewrite->count;
    int64_t least = least_time(rewrite, rewrite->count);
    return time_ns > least ? time_ns : least;
}

static void emit_vertex(struct rewrite *rewrite, struct event event, int64_t time_ns) {
    emit(rewrite, event, settle(rewrite, time_ns));
    rewrite->settled = rewrite->count;
}

static const struct stream_events *source_events(const struct rewrite *rewrite) {
    return &rewrite->streams[rewrite->dag->threads[rewrite->source].stream];
}

// How long the source's thread waited for cores says nothing of the thread that now runs its task.
static bool is_of_other_thread(const struct rewrite *rewrite, const struct event *event) {
    return event->kind == EVENT_RUN_DELAY && rewrite->depth > 0 && rewrite->bodies[0].outer_source != rewrite->source;
}

static void emit_others(struct rewrite *rewrite, uint64_t from, uint64_t to) {
    const struct event *events = source_events(rewrite)->events;
    for (uint64_t i = from; i < to; i++) {
        bool of_inlined =
            events[i].kind == EVENT_TASK_CREATED && idmap_get(&rewrite->inlined, events[i].operand[0]) != IDMAP_NONE;
        if (!of_inlined && !is_of_other_thread(rewrite, &events[i]))
            emit(rewrite, events[i], (int64_t)events[i].time - rewrite->from_ns + rewrite->to_ns);
    }
}

// The events behind a vertex of the source, up to the next vertex.
static void emit_behind(struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_thread *thread = &rewrite->dag->threads[rewrite->source];
    const uint64_t *event = rewrite->dag->vertices.event;
    bool last = vertex + 1 == thread->first + thread->count;
    emit_others(rewrite, event[vertex] + 1, last ? source_events(rewrite)->count : event[vertex + 1]);
}

// Whether two vertices are a wait for a task without anything in between, which may be written as TAKEN.
static bool is_plain_wait(const struct dag *dag, uint32_t begin) {
    return begin + 1 < dag->vertex_count && dag->vertices.kind[begin] == VERTEX_WAIT_BEGIN &&
           dag->vertices.kind[begin + 1] == VERTEX_WAIT_END && dag->vertices.task[begin] != DAG_NONE &&
           dag->vertices.task[begin] == dag->vertices.task[begin + 1];
}

// A wait is written by whether it sleeps now, whatever it did.
static void emit_wait(struct rewrite *rewrite, uint32_t begin, const struct event *begin_event) {
    const int64_t *time_ns = rewrite->run->time_ns;
    bool sleeps = time_ns[begin + 1] > time_ns[begin], was_taken = begin_event->kind == EVENT_TAKEN;
    struct event event = *begin_event;
    if (was_taken && sleeps) {
        event.kind = EVENT_WAIT_BEGIN;
    } else if (!was_taken && !sleeps) {
        event = (struct event){.kind = EVENT_TAKEN, .operand = {begin_event->operand[0]}};
    }
    emit_vertex(rewrite, event, time_ns[begin]);
}

static void emit_wait_end(struct rewrite *rewrite, uint32_t end, const struct event *end_event) {
    const int64_t *time_ns = rewrite->run->time_ns;
    struct event event = *end_event;
    if (event.kind == EVENT_TAKEN) event.kind = EVENT_WAIT_END;
    if (time_ns[end] > time_ns[end - 1]) emit_vertex(rewrite, event, time_ns[end]);
}

// The end of a body whose own end was lost stands for whatever event closed it.
static bool owns_event(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag *dag = rewrite->dag;
    if (dag->vertices.kind[vertex] != VERTEX_END) return true;
    uint32_t task = dag->vertices.task[vertex];
    const struct event *event = &source_events(rewrite)->events[dag->vertices.event[vertex]];
    return event->kind == EVENT_TASK_END
               ? event->operand[0] == dag->tasks[task].id
               : event->kind == EVENT_THREAD_END && dag->threads[rewrite->source].run_task == task;
}

// Of the vertices that stand for one event its owner emits it, or else the first of them.
static bool emits_event(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_thread *thread = &rewrite->dag->threads[rewrite->source];
    const uint64_t *event = rewrite->dag->vertices.event;
    if (owns_event(rewrite, vertex)) return true;
    uint32_t from = vertex, to = vertex + 1;
    while (from > thread->first && event[from - 1] == event[vertex]) from--;
    while (to < thread->first + thread->count && event[to] == event[vertex]) to++;
    for (uint32_t v = from; v < to; v++) {
        if (owns_event(rewrite, v)) return false;
    }
    return vertex == from;
}

static void emit_at(struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_vertices *vertices = &rewrite->dag->vertices;
    uint32_t first = rewrite->dag->threads[rewrite->source].first;
    const struct event *recorded = &source_events(rewrite)->events[vertices->event[vertex]];
    if (is_plain_wait(rewrite->dag, vertex)) {
        emit_wait(rewrite, vertex, recorded);
        return;
    }
    if (vertex > first && is_plain_wait(rewrite->dag, vertex - 1)) {
        emit_wait_end(rewrite, vertex, recorded);
        return;
    }
    if (!emits_event(rewrite, vertex)) return;
    struct event event = *recorded;
    bool moved = chain_moves(rewrite->edit, dag_task_of(vertices, vertex));
    if (moved && event.kind == EVENT_THREAD_START) event.kind = EVENT_TASK_START;
    if (moved && event.kind == EVENT_THREAD_END) event.kind = EVENT_TASK_END;
    emit_vertex(rewrite, event, rewrite->run->time_ns[vertex]);
}

// What the event at a vertex says of its thread's computing so far; 0 if it was not measured.
static uint64_t recorded_cpu(const struct rewrite *rewrite, uint32_t vertex, uint32_t thread) {
    uint32_t stream = rewrite->dag->threads[thread].stream;
    const struct event *event = &rewrite->streams[stream].events[rewrite->dag->vertices.event[vertex]];
    return event_has_cpu(event->kind) ? event->operand[1] : 0;
}

static void enter_body(struct rewrite *rewrite, const struct dag_task *task) {
    if (!more((void **)&rewrite->bodies, rewrite->depth, &rewrite->body_capacity, sizeof *rewrite->bodies)) {
        rewrite->no_memory = true;
        return;
    }
    bool in_place = chain_runs_in_place(task);
    rewrite->bodies[rewrite->depth++] =
        (struct moved_body){rewrite->source, rewrite->cpu_shift, rewrite->last_cpu, in_place};
    rewrite->source = task->thread;
    uint64_t begin_cpu = recorded_cpu(rewrite, task->start, task->thread);
    if (!in_place && begin_cpu && rewrite->last_cpu) rewrite->cpu_shift = (int64_t)(rewrite->last_cpu - begin_cpu);
}

static void leave_body(struct rewrite *rewrite, uint32_t bracket_end) {
    struct moved_body body = rewrite->bodies[--rewrite->depth];
    rewrite->source = body.outer_source;
    if (!body.in_place) {
        int64_t computed = body.begin_cpu ? (int64_t)(rewrite->last_cpu - body.begin_cpu) : 0;
        rewrite->cpu_shift = body.outer_cpu_shift + computed;
    }
    rewrite->from_ns = rewrite->dag->vertices.time_ns[bracket_end];
    emit_behind(rewrite, bracket_end);
}

static void pass_body(struct rewrite *rewrite, const struct dag_task *task, const struct dag_chain *chain) {
    rewrite->from_ns = chain->since_ns - chain->lead_ns;
    for (uint32_t v = task->pickup; v < task->start; v++) emit_behind(rewrite, v);
    uint64_t begin_cpu = recorded_cpu(rewrite, task->start, task->thread);
    uint64_t end_cpu = recorded_cpu(rewrite, task->end, task->thread);
    if (begin_cpu && end_cpu) rewrite->cpu_shift -= (int64_t)(end_cpu - begin_cpu);
    emit_behind(rewrite, task->end);
}

static void visit(struct rewrite *rewrite, const struct dag_chain *chain) {
    const struct dag *dag = rewrite->dag;
    uint32_t v = chain->vertex, task = dag->vertices.task[v];
    if (chain->entered) enter_body(rewrite, &dag->tasks[task]);
    if (rewrite->no_memory) return;
    emit_at(rewrite, v);
    rewrite->from_ns = dag->vertices.time_ns[v];
    rewrite->to_ns = rewrite->run->time_ns[v];
    bool leaves = dag->vertices.kind[v] == VERTEX_END && chain_moves(rewrite->edit, task);
    if (!leaves) emit_behind(rewrite, v);
}

static void begin(struct rewrite *rewrite, uint32_t thread) {
    uint32_t first = rewrite->dag->threads[thread].first;
    rewrite->count = rewrite->settled = rewrite->depth = 0;
    rewrite->source = thread;
    rewrite->cpu_shift = 0;
    rewrite->last_cpu = 0;
    rewrite->from_ns = rewrite->to_ns = rewrite->dag->vertices.time_ns[first];
    emit_others(rewrite, 0, rewrite->dag->vertices.event[first]);
}

bool rewrite_thread(struct rewrite *rewrite, uint32_t thread) {
    rewrite->count = 0;
    if (dag_edit_removes_thread(rewrite->dag, rewrite->edit, thread)) return true;
    struct dag_chain chain;
    dag_chain_init(&chain, rewrite->dag, rewrite->edit);
    dag_chain_start(&chain, thread);
    begin(rewrite, thread);
    for (enum dag_hop hop; !rewrite->no_memory && (hop = dag_chain_hop(&chain)) != HOP_DONE;) {
        if (hop == HOP_VISIT) visit(rewrite, &chain);
        if (hop == HOP_LEAVE) leave_body(rewrite, chain.vertex);
        if (hop == HOP_SKIP) {
            pass_body(rewrite, &rewrite->dag->tasks[rewrite->dag->vertices.task[chain.vertex]], &chain);
        }
    }
    if (!rewrite->no_memory) settle(rewrite, INT64_MAX);
    return !rewrite->no_memory;
}

void rewrite_destroy(struct rewrite *rewrite) {
    free(rewrite->out);
    free(rewrite->bodies);
    idmap_destroy(&rewrite->inlined);
}
