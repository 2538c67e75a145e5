// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's steps are walked once. A step's recorded event takes the step's time, and the events behind it (functions,
// mostly) come where they were between it and the next vertex, in proportion, or where that is elsewhere now keep their
// distance to it, as far as the next step leaves them room.
//
// Where a body is inlined, the events between its pick-up and its start and those behind its end stay with the worker,
// so that a function entered before the body and left after it is still entered and left on one thread. Where a pool
// gave it to another worker, they go with it.
#include "dag/rewrite.h"

#include <stdlib.h>

// What a thread passes: its vertices, and what is none in this run.
struct step {
    int64_t time_ns;
    uint32_t source; // vertex of the recording, or DAG_NONE for what is new
    uint32_t vertex; // of this run, or DAG_NONE
};

// ---- emitting

static bool more(struct rewrite *rewrite) {
    if (rewrite->count < rewrite->capacity) return true;
    size_t larger = rewrite->capacity ? rewrite->capacity * 2 : 256;
    struct event *moved = realloc(rewrite->out, larger * sizeof *moved);
    if (!moved) {
        rewrite->no_memory = true;
        return false;
    }
    rewrite->out = moved;
    rewrite->capacity = larger;
    return true;
}

static void emit(struct rewrite *rewrite, struct event event, int64_t time_ns) {
    if (!more(rewrite)) return;
    event.time = (uint64_t)time_ns;
    if (event_has_cpu(event.kind) && rewrite->run->redispatched) {
        const uint64_t computed_ns = rewrite->between_ns ? rewrite->between_ns : rewrite->computed_ns;
        if (computed_ns > rewrite->told_ns) rewrite->told_ns = computed_ns;
        event.operand[1] = rewrite->told_ns;
    } else if (event_has_cpu(event.kind) && event.operand[1]) {
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

static bool is_virtual(const struct rewrite *rewrite) {
    return rewrite->run->threads[rewrite->thread].is_virtual;
}

// What a thread waited for cores is told before a boundary where it has grown.
static void emit_queued(struct rewrite *rewrite, int64_t time_ns) {
    struct event event = {.kind = EVENT_RUN_DELAY, .operand = {(uint64_t)rewrite->queued_ns}};
    rewrite->tells_queued = false;
    emit(rewrite, event, time_ns - 1);
}

// What a virtual thread waited for carriers and cores since it was told last.
static void emit_ready(struct rewrite *rewrite, int64_t time_ns) {
    struct event event = {.kind = EVENT_READY, .operand = {(uint64_t)rewrite->queued_ns}};
    rewrite->tells_queued = false;
    if (rewrite->queued_ns > 0) emit(rewrite, event, time_ns);
    rewrite->queued_ns = 0;
}

// Of a virtual thread that is told before each vertex where it waited, but for the first, behind which it is.
static void emit_vertex(struct rewrite *rewrite, struct event event, int64_t time_ns) {
    const bool first = rewrite->settled == 0;
    if (rewrite->tells_queued && is_virtual(rewrite) && !first)
        emit_ready(rewrite, time_ns - 1);
    else if (rewrite->tells_queued && !is_virtual(rewrite) && event_has_cpu(event.kind))
        emit_queued(rewrite, time_ns);
    emit(rewrite, event, settle(rewrite, time_ns));
    rewrite->settled = rewrite->count;
    if (rewrite->tells_queued && is_virtual(rewrite) && first) emit_ready(rewrite, time_ns + 1);
}

// ---- reading

static const struct dag_thread *source_thread(const struct rewrite *rewrite) {
    return &rewrite->recorded->threads[rewrite->source];
}

static const struct stream_events *source_events(const struct rewrite *rewrite) {
    return &rewrite->streams[source_thread(rewrite)->stream];
}

static const struct event *event_at(const struct rewrite *rewrite, uint32_t vertex) {
    return &source_events(rewrite)->events[rewrite->recorded->vertices.event[vertex]];
}

static uint64_t cpu_at(const struct rewrite *rewrite, uint32_t vertex) {
    const struct event *event = event_at(rewrite, vertex);
    return event_has_cpu(event->kind) ? event->operand[1] : 0;
}

// Whether a task runs inside another in this run only.
static bool is_folded(const struct rewrite *rewrite, uint32_t task) {
    return task != DAG_NONE && rewrite->run != rewrite->recorded && rewrite->run->tasks[task].flags & TASK_NESTED &&
           !(rewrite->recorded->tasks[task].flags & (TASK_NESTED | TASK_OF_ACTOR));
}

static int64_t moved_time(const struct rewrite *rewrite, int64_t recorded_ns) {
    int64_t since_ns = recorded_ns - rewrite->from_ns;
    if (rewrite->span_ns) {
        since_ns = (int64_t)((double)since_ns * (double)rewrite->stretch_ns / (double)rewrite->span_ns);
    }
    return rewrite->to_ns + since_ns;
}

// How long the source's thread waited for cores says nothing of another, nor what it executed. A task that is none any
// more was not made. Of a unit its result tells where it ran.
static bool is_kept(const struct rewrite *rewrite, const struct event *event) {
    if (event->kind == EVENT_RUN_DELAY || event->kind == EVENT_READY || event->kind == EVENT_TURNS)
        return !rewrite->run->redispatched && rewrite->source == rewrite->thread;
    if (event->kind == EVENT_BYTECODES) return !rewrite->run->redispatched && rewrite->folded.count == 0;
    if (event->kind == EVENT_TIMED_OUT) return !rewrite->tells_limits;
    if (event->kind == EVENT_TASK_START || event->kind == EVENT_TASK_END)
        return idmap_get(&rewrite->shared_out, event->operand[0]) == IDMAP_NONE;
    if (event->kind != EVENT_TASK_CREATED) return true;
    uint32_t task = idmap_get(&rewrite->folded, event->operand[0]);
    return task == IDMAP_NONE;
}

// A due time is told by how far off it is.
static struct event due_in_run(const struct rewrite *rewrite, struct event event, int64_t time_ns) {
    uint32_t task = idmap_get(&rewrite->delayed, event.operand[0]);
    if (task != IDMAP_NONE) event.operand[1] = (uint64_t)(rewrite->run->due_ns[task] - time_ns);
    return event;
}

// What an actor's event that is no vertex tells: what it did beyond the last vertex that told of computing.
static uint64_t computed_between(const struct rewrite *rewrite, const struct event *event) {
    const struct anchor *anchor = &rewrite->anchor;
    const bool told = event->kind >= EVENT_MESSAGE_SENT && event_has_cpu(event->kind);
    if (!told || anchor->source != rewrite->source || event->operand[1] <= anchor->cpu) return 0;
    const double since_ns = (double)(event->operand[1] - anchor->cpu) * anchor->ns_per_cpu;
    return since_ns < (double)INT64_MAX ? anchor->computed_ns + (uint64_t)since_ns : 0;
}

static void emit_others(struct rewrite *rewrite, uint64_t from, uint64_t to) {
    const struct event *events = source_events(rewrite)->events;
    for (uint64_t i = from; i < to; i++) {
        struct event event = events[i];
        if (!is_kept(rewrite, &event) || !rewritten_actors_event(&rewrite->actors, &event, DAG_NONE)) continue;
        int64_t time_ns = moved_time(rewrite, (int64_t)event.time);
        rewrite->between_ns = computed_between(rewrite, &event);
        emit(rewrite, event.kind == EVENT_DUE ? due_in_run(rewrite, event, time_ns) : event, time_ns);
        rewrite->between_ns = 0;
    }
}

// The events behind a recorded vertex, up to the next.
static void emit_behind(struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_thread *thread = source_thread(rewrite);
    const uint64_t *event = rewrite->recorded->vertices.event;
    rewrite->tells_limits = rewrite->run->redispatched && dag_await_at(rewrite->recorded, vertex + 1) != DAG_NONE;
    bool last = vertex + 1 == thread->first + thread->count;
    emit_others(rewrite, event[vertex] + 1, last ? source_events(rewrite)->count : event[vertex + 1]);
}

static bool is_on_source(const struct rewrite *rewrite, uint32_t vertex) {
    if (rewrite->source == DAG_NONE) return false;
    const struct dag_thread *thread = source_thread(rewrite);
    return vertex >= thread->first && vertex - thread->first < thread->count;
}

// Whether reading can go on from where it stands to `vertex`: what lies between went with an edit, or moved into
// another body, but to no other worker.
static bool leads_to(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag *recorded = rewrite->recorded;
    if (!is_on_source(rewrite, vertex) || rewrite->at == DAG_NONE || vertex <= rewrite->at) return false;
    for (uint32_t v = rewrite->at + 1; v < vertex; v++) {
        if (recorded->vertices.kind[v] != VERTEX_START) continue;
        uint32_t task = recorded->vertices.task[v];
        if (!is_folded(rewrite, task) || recorded->tasks[task].end >= vertex) return false;
        v = recorded->tasks[task].end;
    }
    return true;
}

// Time closes up over a pick-up and its body.
static void close_up(struct rewrite *rewrite, const struct dag_task *task) {
    const int64_t *time_ns = rewrite->recorded->vertices.time_ns;
    int64_t lead_ns = task->enclosing != DAG_NONE ? time_ns[task->pickup] - rewrite->from_ns : 0;
    rewrite->from_ns = time_ns[task->end] - lead_ns;
}

// Emits what lies between, and leaves out what the bodies that moved out of it computed.
static void read_on(struct rewrite *rewrite, uint32_t vertex) {
    const struct dag *recorded = rewrite->recorded;
    for (uint32_t v = rewrite->at + 1; v < vertex; v++) {
        uint32_t index = dag_task_of(&recorded->vertices, v);
        const struct dag_task *task = is_folded(rewrite, index) ? &recorded->tasks[index] : NULL;
        if (task && v == task->pickup) close_up(rewrite, task);
        if (task && v == task->start) {
            uint64_t begin_cpu = cpu_at(rewrite, v), end_cpu = cpu_at(rewrite, task->end);
            if (begin_cpu && end_cpu) rewrite->cpu_shift -= (int64_t)(end_cpu - begin_cpu);
            v = task->end;
        }
        emit_behind(rewrite, v);
    }
}

// Reading goes on elsewhere: what the thread has computed so far is what it has told last.
static void read_from(struct rewrite *rewrite, uint32_t vertex, int64_t time_ns) {
    const struct dag *recorded = rewrite->recorded;
    rewrite->source = dag_thread_of(recorded, vertex);
    uint64_t cpu = cpu_at(rewrite, vertex);
    if (!cpu) cpu = rewrite->readings[rewrite->source].cpu;
    if (cpu && rewrite->last_cpu) rewrite->cpu_shift = (int64_t)(rewrite->last_cpu - cpu);
    if (recorded->vertices.kind[vertex] != VERTEX_START || is_folded(rewrite, recorded->vertices.task[vertex])) return;
    rewrite->from_ns = recorded->vertices.time_ns[vertex];
    rewrite->to_ns = time_ns;
    rewrite->span_ns = 0;
    for (uint32_t v = recorded->tasks[recorded->vertices.task[vertex]].pickup; v < vertex; v++) emit_behind(rewrite, v);
}

// ---- vertices

// Whether two vertices are a wait for a task without anything in between, which may be written as TAKEN.
static bool is_plain_wait(const struct dag *dag, uint32_t begin) {
    return begin + 1 < dag->vertex_count && dag->vertices.kind[begin] == VERTEX_WAIT_BEGIN &&
           dag->vertices.kind[begin + 1] == VERTEX_WAIT_END && dag->vertices.task[begin] != DAG_NONE &&
           dag->vertices.task[begin] == dag->vertices.task[begin + 1];
}

// Of a wait that did not sleep none was told.
static void emit_limit(struct rewrite *rewrite, const struct step *begin) {
    uint32_t await = begin[1].vertex == DAG_NONE ? DAG_NONE : dag_await_at(rewrite->run, begin[1].vertex);
    if (await == DAG_NONE) return;
    uint64_t limit_ns = (uint64_t)rewrite->run->awaits[await].limit_ns;
    emit(rewrite, (struct event){.kind = EVENT_LIMIT, .operand = {limit_ns}}, begin->time_ns - 1);
}

// A wait is written by whether it sleeps now, whatever it did.
static void emit_wait(struct rewrite *rewrite, const struct step *begin, const struct event *begin_event) {
    bool sleeps = begin[1].time_ns > begin->time_ns, was_taken = begin_event->kind == EVENT_TAKEN;
    struct event event = *begin_event;
    if (was_taken && sleeps) {
        event.kind = EVENT_WAIT_BEGIN;
        event.operand[1] = rewrite->last_cpu ? rewrite->last_cpu - (uint64_t)rewrite->cpu_shift : 0;
        emit_limit(rewrite, begin);
    } else if (!was_taken && !sleeps) {
        event = (struct event){.kind = EVENT_TAKEN, .operand = {begin_event->operand[0]}};
    }
    emit_vertex(rewrite, event, begin->time_ns);
}

// A wait that gives up in this run says so, whatever it did.
static void emit_time_is_up(struct rewrite *rewrite, const struct step *end) {
    uint32_t await = rewrite->run->redispatched ? dag_await_at(rewrite->run, end->vertex) : DAG_NONE;
    if (await == DAG_NONE || !rewrite->run->awaits[await].given_up) return;
    uint64_t target = event_at(rewrite, end->source)->operand[0];
    emit(rewrite, (struct event){.kind = EVENT_TIMED_OUT, .operand = {target}}, end->time_ns - 1);
}

static void emit_wait_end(struct rewrite *rewrite, const struct step *end, const struct event *end_event) {
    struct event event = *end_event;
    if (event.kind == EVENT_TAKEN) {
        event.kind = EVENT_WAIT_END;
        event.operand[1] = rewrite->last_cpu ? rewrite->last_cpu - (uint64_t)rewrite->cpu_shift : 0;
    }
    if (end->time_ns <= end[-1].time_ns) return;
    emit_time_is_up(rewrite, end);
    emit_vertex(rewrite, event, end->time_ns);
}

// The end of a body whose own end was lost stands for whatever event closed it.
static bool owns_event(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag *recorded = rewrite->recorded;
    if (recorded->vertices.kind[vertex] != VERTEX_END) return true;
    uint32_t task = recorded->vertices.task[vertex];
    const struct event *event = event_at(rewrite, vertex);
    if (event->kind == EVENT_THREAD_END) return source_thread(rewrite)->run_task == task;
    bool ends = event->kind == EVENT_TASK_END || event->kind == EVENT_MESSAGE_END || event->kind == EVENT_INIT_END;
    return ends && event->operand[0] == recorded->tasks[task].id;
}

// Of the vertices that stand for one event its owner emits it, or else the first of them.
static bool emits_event(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_thread *thread = source_thread(rewrite);
    const uint64_t *event = rewrite->recorded->vertices.event;
    if (owns_event(rewrite, vertex)) return true;
    uint32_t from = vertex, to = vertex + 1;
    while (from > thread->first && event[from - 1] == event[vertex]) from--;
    while (to < thread->first + thread->count && event[to] == event[vertex]) to++;
    for (uint32_t v = from; v < to; v++) {
        if (owns_event(rewrite, v)) return false;
    }
    return vertex == from;
}

// A hand-over that stands with its client is written there.
static bool is_of_client(const struct event *event) {
    return event->kind == EVENT_SPAWN_BEGIN || event->kind == EVENT_SPAWN_END;
}

// Brackets of bodies that run inside others are gone, waits of those that became stages, results of those that share a
// group's, and what made a worker that was made by another task.
static bool is_gone(const struct rewrite *rewrite, const struct step *step) {
    const struct dag_vertices *vertices = &rewrite->recorded->vertices;
    unsigned kind = vertices->kind[step->source];
    if (rewrite->unmade && rewrite->unmade[step->source]) return true;
    if (kind == VERTEX_REQUEST) return is_of_client(event_at(rewrite, step->source));
    if (step->vertex != DAG_NONE) return false;
    if (kind == VERTEX_WAIT_BEGIN || kind == VERTEX_WAIT_END) return true;
    if (kind == VERTEX_RESULT) return rewrite->run->tasks[vertices->task[step->source]].result != DAG_NONE;
    if (kind == VERTEX_END && !is_folded(rewrite, vertices->task[step->source])) return true; // it ended earlier
    return (kind == VERTEX_SPAWN_BEGIN || kind == VERTEX_SPAWN_END) && is_folded(rewrite, vertices->task[step->source]);
}

static uint64_t id_of(const struct rewrite *rewrite, uint32_t task) {
    uint32_t recorded = rewrite->recorded->task_count;
    return task < recorded ? rewrite->recorded->tasks[task].id : rewrite->part_ids[task - recorded];
}

static uint64_t want_of(const struct dag_ask *ask, const struct dag_resource *resource) {
    bool writes = resource->kind == RESOURCE_READ_WRITE_LOCK && !ask->shared;
    return want_operand(writes ? 1 : (uint32_t)ask->units, ask->shared, ask->site);
}

static struct event event_of_ask(const struct rewrite *rewrite, unsigned kind, uint32_t index) {
    const struct dag_ask *ask = &rewrite->recorded->asks[index];
    const struct dag_resource *resource = &rewrite->recorded->resources[ask->resource];
    uint64_t want = want_of(ask, resource);
    switch (kind) {
    case VERTEX_ACQUIRE:
        return (struct event){.kind = EVENT_ACQUIRE_BEGIN, .operand = {resource->id, 0, want}};
    case VERTEX_ACQUIRED:
        return (struct event){.kind = EVENT_ACQUIRED, .operand = {resource->id}};
    case VERTEX_GIVEN_UP:
        return (struct event){.kind = EVENT_GIVEN_UP, .operand = {resource->id, 0, GIVEN_UP_TIME}};
    case VERTEX_HELD:
        return (struct event){.kind = EVENT_HELD, .operand = {resource->id, want}};
    default:
        return (struct event){.kind = EVENT_RELEASED, .operand = {resource->id, want}};
    }
}

// Where a wait for a resource came out otherwise, its vertex is of another kind than recorded.
static bool comes_otherwise(const struct rewrite *rewrite, const struct step *step) {
    if (step->vertex == DAG_NONE) return false;
    unsigned kind = rewrite->run->vertices.kind[step->vertex];
    return vertex_is_of_resource(kind) && kind != rewrite->recorded->vertices.kind[step->source];
}

// Whether the end of a coordinator's last stage is but its result: its task ended with the first
// (dag/edit/combinator.c).
static bool ended_earlier(const struct rewrite *rewrite, const struct step *step) {
    uint32_t task = dag_task_of(&rewrite->recorded->vertices, step->source);
    return step->vertex != DAG_NONE && rewrite->recorded->vertices.kind[step->source] == VERTEX_END &&
           rewrite->run->vertices.kind[step->vertex] == VERTEX_RESULT && !is_folded(rewrite, task);
}

static uint64_t connection_in_run(const struct rewrite *rewrite, const struct event *event) {
    const uint32_t request = idmap_get(&rewrite->redealt, event->operand[0]);
    return request == IDMAP_NONE ? event->operand[2] : rewrite->run->requests[request].connection;
}

static void emit_recorded(struct rewrite *rewrite, const struct step *step, struct event event) {
    if (comes_otherwise(rewrite, step))
        event =
            event_of_ask(rewrite, rewrite->run->vertices.kind[step->vertex], rewrite->run->vertices.task[step->vertex]);
    uint32_t task = dag_task_of(&rewrite->recorded->vertices, step->source);
    if (is_folded(rewrite, task) && event.kind == EVENT_THREAD_START) event.kind = EVENT_TASK_START;
    if (is_folded(rewrite, task) && event.kind == EVENT_THREAD_END) event.kind = EVENT_TASK_END;
    uint32_t now = step->vertex == DAG_NONE ? DAG_NONE : dag_task_of(&rewrite->run->vertices, step->vertex);
    if (ended_earlier(rewrite, step)) event = (struct event){.kind = EVENT_RESULT, .operand = {event.operand[0]}};
    if (event.kind == EVENT_REQUEST_BEGIN) event.operand[2] = connection_in_run(rewrite, &event);
    if (!rewritten_actors_event(&rewrite->actors, &event, now)) return;
    if (now != DAG_NONE && now >= rewrite->recorded->task_count) event.operand[0] = id_of(rewrite, now);
    if (event.kind == EVENT_SPAWN_END && task != DAG_NONE && rewrite->run->tasks[task].flags & TASK_REJECTED) {
        event.operand[1] = SPAWN_REJECTED;
    }
    emit_vertex(rewrite, event, step->time_ns);
}

// What recording had cut, and ends in the run, so that its worker takes the next: no event told so.
static bool is_new_end(const struct rewrite *rewrite, const struct step *step) {
    const uint32_t task = dag_task_of(&rewrite->recorded->vertices, step->source);
    return step->vertex != DAG_NONE && rewrite->recorded->vertices.kind[step->source] == VERTEX_END &&
           rewrite->recorded->tasks[task].flags & TASK_CUT && !(rewrite->run->tasks[task].flags & TASK_UNFINISHED);
}

static void emit_source(struct rewrite *rewrite, const struct step *step, const struct step *before,
                        const struct step *next) {
    const struct dag *recorded = rewrite->recorded;
    uint32_t source = step->source;
    const struct event *event = event_at(rewrite, source);
    if (is_plain_wait(recorded, source) && next && next->source == source + 1)
        emit_wait(rewrite, step, event);
    else if (before && before->source + 1 == source && is_plain_wait(recorded, before->source))
        emit_wait_end(rewrite, step, event);
    else if (emits_event(rewrite, source))
        emit_recorded(rewrite, step, *event);
    if (is_new_end(rewrite, step))
        emit_vertex(
            rewrite,
            (struct event){.kind = EVENT_TASK_END, .operand = {id_of(rewrite, recorded->vertices.task[source])}},
            step->time_ns);
}

// By what the run computes, up to the next vertex that told of computing, what was told in between is measured, where
// it passes the same ones; else what was told stands.
static double ns_per_cpu(const struct rewrite *rewrite, const struct step *step, uint64_t cpu) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    const bool known = run->redispatched && run->vertices.compute_ns && step->vertex != DAG_NONE;
    if (!known || !recorded->trace->events_of_kind[EVENT_UPKEEP_END]) return 0;
    int64_t computed_ns = 0;
    for (uint32_t more = 1; is_on_source(rewrite, step->source + more); more++) {
        const uint32_t vertex = step->vertex + more;
        if (vertex >= run->vertex_count || run->source[vertex] != step->source + more) break;
        computed_ns += run->vertices.compute_ns[vertex];
        const uint64_t then = cpu_at(rewrite, step->source + more);
        if (then) return then > cpu ? (double)computed_ns / (double)(then - cpu) : 0;
    }
    return recorded->cycles_per_ns > 0 ? 1 / recorded->cycles_per_ns : 0;
}

static void emit_step(struct rewrite *rewrite, const struct step *step, const struct step *before,
                      const struct step *next) {
    if (!is_gone(rewrite, step)) emit_source(rewrite, step, before, next);
    const uint64_t cpu = cpu_at(rewrite, step->source);
    if (!cpu) return;
    rewrite->readings[rewrite->source].cpu = cpu;
    rewrite->anchor = (struct anchor){rewrite->source, cpu, rewrite->computed_ns, ns_per_cpu(rewrite, step, cpu)};
}

// Whether what was recorded behind a step is left where that was: before a body that comes there now, behind one that
// left.
static bool leaves_behind(const struct rewrite *rewrite, uint32_t source) {
    const struct dag_vertices *vertices = &rewrite->recorded->vertices;
    unsigned kind = vertices->kind[source];
    return (kind == VERTEX_SPAWN_BEGIN || kind == VERTEX_END) && is_folded(rewrite, vertices->task[source]);
}

static void pass_recorded(struct rewrite *rewrite, const struct step *step, const struct step *before,
                          const struct step *next) {
    const struct dag *recorded = rewrite->recorded;
    if (leads_to(rewrite, step->source))
        read_on(rewrite, step->source);
    else
        read_from(rewrite, step->source, step->time_ns);
    emit_step(rewrite, step, before, next);
    rewrite->at = step->source;
    rewrite->from_ns = recorded->vertices.time_ns[step->source];
    rewrite->to_ns = step->time_ns;
    bool edge = next && next->source == step->source + 1 && is_on_source(rewrite, next->source);
    int64_t span_ns = edge ? recorded->vertices.time_ns[next->source] - rewrite->from_ns : 0;
    rewrite->stretch_ns = edge ? next->time_ns - step->time_ns : 0;
    rewrite->span_ns = rewrite->stretch_ns == span_ns ? 0 : span_ns;
    if (!leaves_behind(rewrite, step->source)) emit_behind(rewrite, step->source);
    rewrite->span_ns = 0;
}

// ---- what is new

static struct event event_of_worker(const struct rewrite *rewrite, enum event_kind kind) {
    return (struct event){.kind = (uint8_t)kind, .operand = {rewrite->run->threads[rewrite->thread].pool}};
}

static const struct dag_task *task_of_part(const struct rewrite *rewrite, uint32_t task) {
    const struct dag *recorded = rewrite->recorded;
    return &recorded->tasks[task < recorded->task_count ? task : rewrite->run->part_of[task - recorded->task_count]];
}

// What was recorded at a vertex, of this task.
static struct event event_like(const struct rewrite *rewrite, uint32_t vertex, uint32_t task) {
    const struct dag *recorded = rewrite->recorded;
    uint32_t stream = recorded->threads[dag_thread_of(recorded, vertex)].stream;
    struct event event = rewrite->streams[stream].events[recorded->vertices.event[vertex]];
    event.operand[0] = id_of(rewrite, task);
    return event;
}

// A copy of an actor is made and initialised like that.
static struct event event_of_copy(const struct rewrite *rewrite, unsigned kind, uint32_t task) {
    const struct dag_task *of = task_of_part(rewrite, task);
    return event_like(rewrite,
                      kind == VERTEX_SPAWN_BEGIN ? of->spawn_begin
                      : kind == VERTEX_START     ? of->start
                                                 : of->end,
                      task);
}

static struct event event_of_task(const struct rewrite *rewrite, unsigned kind, uint32_t task) {
    uint64_t id = id_of(rewrite, task);
    bool rejected = rewrite->run->tasks[task].flags & TASK_REJECTED;
    if (rewrite->run->tasks[task].flags & TASK_INIT) return event_of_copy(rewrite, kind, task);
    switch (kind) {
    case VERTEX_SPAWN_BEGIN: // a part is spawned where its task was
        return event_like(rewrite, task_of_part(rewrite, task)->spawn_begin, task);
    case VERTEX_SPAWN_END:
        return (struct event){.kind = EVENT_SPAWN_END, .operand = {id, rejected ? SPAWN_REJECTED : SPAWN_ACCEPTED}};
    case VERTEX_START:
        return (struct event){.kind = EVENT_TASK_START, .operand = {id}};
    case VERTEX_END:
        return (struct event){.kind = EVENT_TASK_END, .operand = {id, 0, rewrite->run->tasks[task].outcome}};
    default:
        return (struct event){.kind = EVENT_RESULT, .operand = {id}};
    }
}

static uint64_t target_of(const struct rewrite *rewrite, uint32_t task) {
    return task == DAG_NONE ? 0 : id_of(rewrite, task);
}

static struct event event_of_wait(const struct rewrite *rewrite, uint32_t task) {
    uint64_t what = wait_operand(task == DAG_NONE ? WAIT_FOR_UNKNOWN : WAIT_FOR_TASK, 0, 0);
    return (struct event){.kind = EVENT_WAIT_BEGIN, .operand = {target_of(rewrite, task), 0, what}};
}

static struct event event_of_new(const struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_vertices *vertices = &rewrite->run->vertices;
    switch (vertices->kind[vertex]) {
    case VERTEX_THREAD_START:
        return (struct event){.kind = EVENT_THREAD_START, .operand = {rewrite->run_ids[rewrite->thread]}};
    case VERTEX_THREAD_END:
        return (struct event){.kind = EVENT_THREAD_END, .operand = {rewrite->run_ids[rewrite->thread]}};
    case VERTEX_IDLE:
        return event_of_worker(rewrite, EVENT_IDLE);
    case VERTEX_BUSY:
        return event_of_worker(rewrite, EVENT_BUSY);
    case VERTEX_RETIRE:
        return event_of_worker(rewrite, EVENT_RETIRE);
    case VERTEX_WAIT_BEGIN:
        return event_of_wait(rewrite, vertices->task[vertex]);
    case VERTEX_WAIT_END:
        return (struct event){.kind = EVENT_WAIT_END, .operand = {target_of(rewrite, vertices->task[vertex])}};
    default:
        if (vertex_is_of_resource(vertices->kind[vertex]))
            return event_of_ask(rewrite, vertices->kind[vertex], vertices->task[vertex]);
        return event_of_task(rewrite, vertices->kind[vertex], vertices->task[vertex]);
    }
}

// Of a vertex that was not recorded; kinds that a simulation makes. Results that are not awaited are no vertices.
static void pass_new(struct rewrite *rewrite, const struct step *step) {
    if (step->vertex == DAG_NONE) return;
    struct event event = event_of_new(rewrite, step->vertex);
    emit_vertex(rewrite, event, step->time_ns);
    if (event.kind == EVENT_THREAD_START)
        emit(rewrite, event_of_worker(rewrite, EVENT_WORKER_BEGIN), step->time_ns + 1);
}

// ---- threads

// What was recorded before a thread's first vertex keeps its distance to the first step.
static void begin(struct rewrite *rewrite, uint32_t thread, const struct step *first) {
    const struct dag *recorded = rewrite->recorded;
    rewrite->count = rewrite->settled = 0;
    rewrite->thread = thread;
    rewrite->source = rewrite->at = DAG_NONE;
    rewrite->cpu_shift = rewrite->queued_ns = rewrite->span_ns = 0;
    rewrite->last_cpu = 0;
    rewrite->anchor.source = DAG_NONE;
    rewrite->told_ns = 0;
    rewrite->computed_ns = recorded->vertices.compute_ns != NULL;                       // 0 would be: not measured
    rewrite->tells_queued = rewrite->run->redispatched && recorded->vertices.queued_ns; // even if none waited
    rewrite->to_ns = first->time_ns;
    if (thread < recorded->thread_count) {
        uint32_t vertex = recorded->threads[thread].first;
        rewrite->source = thread;
        rewrite->from_ns = recorded->vertices.time_ns[vertex];
        emit_others(rewrite, 0, recorded->vertices.event[vertex]);
        rewrite->at = vertex - 1; // of no thread of its own: nothing is left out before the first
    } else if (first->source != DAG_NONE || rewrite->run->vertices.kind[first->vertex] != VERTEX_THREAD_START) {
        emit(rewrite, event_of_worker(rewrite, EVENT_WORKER_BEGIN), first->time_ns - 1);
    }
}

// Where a thread's steps have been read up to.
struct progress {
    uint32_t vertex, end; // of this run
    uint32_t aside, asides_end;
};

static struct progress progress_on(const struct dag *run, uint32_t thread) {
    const struct dag_thread *of = &run->threads[thread];
    struct progress progress = {.vertex = of->first, .end = of->first + of->count};
    if (!run->origin) return progress;
    progress.aside = run->first_aside[thread];
    progress.asides_end = run->first_aside[thread + 1];
    return progress;
}

static bool next_step(const struct dag *run, struct progress *progress, struct step *step) {
    const struct dag_aside *aside = progress->aside < progress->asides_end ? &run->asides[progress->aside] : NULL;
    if (aside && aside->before == progress->vertex) {
        *step = (struct step){aside->time_ns, aside->source, DAG_NONE};
        progress->aside++;
        return true;
    }
    uint32_t v = progress->vertex;
    if (v == progress->end) return false;
    *step = (struct step){run->vertices.time_ns[v], run->origin ? run->source[v] : v, v};
    progress->vertex++;
    return true;
}

static void compute_up_to(struct rewrite *rewrite, uint32_t vertex) {
    const struct dag_vertices *vertices = &rewrite->run->vertices;
    if (!rewrite->run->redispatched || vertex == DAG_NONE) return;
    if (vertices->compute_ns) rewrite->computed_ns += (uint64_t)vertices->compute_ns[vertex];
    if (!vertices->queued_ns || !vertices->queued_ns[vertex]) return;
    rewrite->queued_ns += vertices->queued_ns[vertex];
    rewrite->tells_queued = true;
}

bool rewrite_thread(struct rewrite *rewrite, uint32_t thread) {
    const struct dag *run = rewrite->run;
    struct progress progress = progress_on(run, thread);
    struct step steps[3] = {{0}}; // before, this one, next
    bool first = true, more_follow = next_step(run, &progress, &steps[1]);
    rewrite->count = 0;
    if (more_follow) begin(rewrite, thread, &steps[1]);
    for (; more_follow && !rewrite->no_memory; first = false) {
        more_follow = next_step(run, &progress, &steps[2]);
        compute_up_to(rewrite, steps[1].vertex);
        if (steps[1].source == DAG_NONE)
            pass_new(rewrite, &steps[1]);
        else
            pass_recorded(rewrite, &steps[1], first ? NULL : &steps[0], more_follow ? &steps[2] : NULL);
        steps[0] = steps[1];
        steps[1] = steps[2];
    }
    if (!rewrite->no_memory) settle(rewrite, INT64_MAX);
    return !rewrite->no_memory;
}

// A recorded making of a worker tells nothing where its thread was made for another task.
static void find_unmade(struct rewrite *rewrite) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    for (uint32_t i = 0; i < recorded->thread_count; i++) {
        uint32_t first = recorded->threads[i].first, maker = recorded->vertices.cause[first];
        if (recorded->vertices.kind[first] != VERTEX_THREAD_START || maker == DAG_NONE) continue;
        uint32_t now = run->threads[i].count ? run->vertices.cause[run->threads[i].first] : DAG_NONE;
        if (now != DAG_NONE && run->source[now] == maker) continue;
        rewrite->unmade[maker] = true;
        if (recorded->vertices.kind[maker + 1] == VERTEX_SPAWN_END) rewrite->unmade[maker + 1] = true;
    }
}

static bool fill(struct rewrite *rewrite, uint64_t *next_id) {
    const struct dag *run = rewrite->run, *recorded = rewrite->recorded;
    if (run->redispatched) {
        rewrite->unmade = calloc((size_t)recorded->vertex_count + 1, sizeof *rewrite->unmade);
        if (!rewrite->unmade) return false;
        find_unmade(rewrite);
    }
    for (uint32_t t = 0; t < recorded->task_count; t++) {
        if (is_folded(rewrite, t) && !idmap_add(&rewrite->folded, recorded->tasks[t].id, t)) return false;
    }
    for (uint32_t i = 0; run->redispatched && i < recorded->batch_count; i++) {
        const struct dag_batch *batch = &recorded->batches[i];
        for (uint32_t u = batch->first_unit; u < batch->first_unit + batch->unit_count; u++) {
            const uint32_t task = recorded->units[u].task;
            if (!idmap_add(&rewrite->shared_out, recorded->tasks[task].id, task)) return false;
        }
    }
    for (uint32_t t = 0; run->due_ns && t < recorded->task_count; t++) {
        bool due = run->due_ns[t] != INT64_MIN;
        if (due && !idmap_add(&rewrite->delayed, recorded->tasks[t].id, t)) return false;
    }
    for (uint32_t i = 0; i < recorded->request_count; i++) {
        const bool same = run->requests[i].connection == recorded->requests[i].connection;
        if (!same && !idmap_add(&rewrite->redealt, recorded->requests[i].id, i)) return false;
    }
    for (uint32_t i = recorded->thread_count; i < run->thread_count; i++) rewrite->run_ids[i] = (*next_id)++;
    uint32_t parts = run->task_count - recorded->task_count;
    if (!parts) return true;
    rewrite->part_ids = malloc(parts * sizeof *rewrite->part_ids);
    for (uint32_t i = 0; rewrite->part_ids && i < parts; i++) rewrite->part_ids[i] = (*next_id)++;
    return rewrite->part_ids;
}

bool rewrite_init(struct rewrite *rewrite, const struct dag *run, const struct stream_events *streams,
                  uint64_t *next_id, struct error *error) {
    rewrite->run = run;
    rewrite->recorded = run->origin ? run->origin : run;
    rewrite->streams = streams;
    rewrite->run_ids = calloc((size_t)run->thread_count + 1, sizeof *rewrite->run_ids);
    rewrite->readings = calloc((size_t)rewrite->recorded->thread_count + 1, sizeof *rewrite->readings);
    if (rewrite->run_ids && rewrite->readings && fill(rewrite, next_id) &&
        rewritten_actors_init(&rewrite->actors, run, rewrite->part_ids))
        return true;
    return error_set(error, STATUS_FAILED, "no memory for the tasks of the run");
}

void rewrite_destroy(struct rewrite *rewrite) {
    free(rewrite->out);
    free(rewrite->run_ids);
    free(rewrite->readings);
    free(rewrite->unmade);
    free(rewrite->part_ids);
    idmap_destroy(&rewrite->folded);
    rewritten_actors_destroy(&rewrite->actors);
    idmap_destroy(&rewrite->delayed);
    idmap_destroy(&rewrite->shared_out);
    idmap_destroy(&rewrite->redealt);
}
