// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/spans.h"

#include "report/cause.h"
#include "report/page/laid_lanes.h"

#include <math.h>

// ---- the span

// What sleeps and bodies open and close on the thread from a vertex on that opens one; DAG_NONE: it stays open.
static uint32_t find_end(const struct lanes *lanes, const struct dag_thread *thread, uint32_t vertex) {
    const uint8_t *action = lanes->work->scratch->action;
    uint32_t open = 0;
    for (uint32_t v = vertex + 1; v < thread->first + thread->count; v++) {
        const bool opens = action[v] == ACTION_OPEN || action[v] == ACTION_WAIT || action[v] == ACTION_BLOCK;
        const bool closes = action[v] == ACTION_CLOSE || action[v] == ACTION_WAKE;
        if (closes && open == 0) return v;
        open += opens;
        open -= closes;
    }
    return DAG_NONE;
}

static uint32_t find_begin(const struct lanes *lanes, uint32_t end) {
    const uint8_t *action = lanes->work->scratch->action;
    uint32_t open = 0;
    for (uint32_t v = end; v-- > lanes->run->threads[dag_thread_of(lanes->run, end)].first;) {
        const bool opens = action[v] == ACTION_OPEN || action[v] == ACTION_WAIT || action[v] == ACTION_BLOCK;
        const bool closes = action[v] == ACTION_CLOSE || action[v] == ACTION_WAKE;
        if (opens && open == 0) return v;
        open += closes;
        open -= opens;
    }
    return DAG_NONE;
}

static uint32_t next_body(const struct lanes *lanes, const struct dag_thread *thread, uint32_t vertex) {
    for (uint32_t v = vertex + 1; v < thread->first + thread->count; v++) {
        if (lanes->work->scratch->action[v] == ACTION_OPEN) return v;
    }
    return DAG_NONE;
}

// The recorded event that a vertex stands for. false: it is new, or none.
static bool read_event(const struct dag *run, uint32_t vertex, struct event *event) {
    for (; run->origin; run = run->origin) {
        if (run->source[vertex] == DAG_NONE) return false;
        vertex = run->source[vertex];
    }
    struct trace_cursor cursor;
    struct error error = ERROR_INIT;
    const struct dag_thread *thread = &run->threads[dag_thread_of(run, vertex)];
    const uint64_t wanted = run->vertices.event[vertex];
    trace_cursor_init(&cursor, run->trace, &run->trace->streams[thread->stream]);
    uint64_t next = trace_cursor_seek(&cursor, wanted);
    while (trace_cursor_next(&cursor, event, &error)) {
        if (next++ == wanted) return true;
    }
    return false;
}

static void describe_sleep(const struct dag *run, struct lane_span *span) {
    const struct dag_vertices *vertices = &run->vertices;
    struct event event;
    if (vertices->kind[span->vertex] == VERTEX_ACQUIRE) {
        span->of.of = vertices->task[span->vertex];
        return;
    }
    if (span->of.kind == SPAN_WAIT) span->of.of = vertices->task[span->vertex];
    if (!read_event(run, span->vertex, &event) || event.kind != EVENT_WAIT_BEGIN) return;
    span->of.site = (uint32_t)event.operand[2];
    span->of.class = wait_class_of(event.operand[2]);
    if (wait_for_of(event.operand[2]) == WAIT_FOR_POOL) span->of.pool = (uint32_t)event.operand[0];
}

static void describe_body(const struct dag *run, struct lane_span *span) {
    span->of.kind = SPAN_TASK;
    span->of.of = run->vertices.task[span->vertex];
    const uint32_t actor = run->actor_of ? run->actor_of[span->of.of] : 0;
    if (actor) span->of.actor = run->actors[actor].id;
}

// false: nothing that lanes show begins there.
static bool describe(const struct lanes *lanes, struct lane_span *span) {
    const struct dag_thread *thread = &lanes->run->threads[span->thread];
    const enum action action = lanes->work->scratch->action[span->vertex];
    if (action == ACTION_OPEN) {
        describe_body(lanes->run, span);
        span->end = find_end(lanes, thread, span->vertex);
    } else if (action == ACTION_WAIT || action == ACTION_BLOCK) {
        span->of.kind = action == ACTION_WAIT ? SPAN_WAIT : SPAN_BLOCKED;
        describe_sleep(lanes->run, span);
        span->end = find_end(lanes, thread, span->vertex);
    } else if (lanes_spawns(lanes->run, span->vertex)) {
        span->of = (struct span){.kind = SPAN_SPAWN, .of = lanes->run->vertices.task[span->vertex]};
        span->end = lanes->run->tasks[span->of.of].spawn_end;
    } else {
        span->idle = true;
        span->end = next_body(lanes, thread, span->vertex);
    }
    return !span->idle || thread->worker;
}

// From when the thread of `vertex` got a resource there.
static bool describe_hold(const struct lanes *lanes, uint32_t vertex, struct lane_span *span) {
    *span = (struct lane_span){.id = vertex + HOLD_SPAN, .of = {.kind = SPAN_BLOCKED}, .vertex = vertex, .holds = true};
    span->thread = dag_thread_of(lanes->run, vertex);
    if (lanes->lane_of[span->thread] == DAG_NONE || !hold_begins(lanes->run, vertex)) return false;
    span->of.of = lanes->run->vertices.task[vertex];
    span->end = hold_end(lanes->run, vertex);
    span->from_ns = lanes_ns(lanes, vertex);
    span->to_ns = hold_until_ns(lanes, vertex);
    return true;
}

bool lane_span_find(const struct lanes *lanes, double id, struct lane_span *span) {
    if (!(id >= 0 && id < lanes->run->vertex_count)) return false;
    if (id == floor(id) + HOLD_SPAN) return describe_hold(lanes, (uint32_t)id, span);
    const bool unseen = id != floor(id);
    *span = (struct lane_span){.id = id, .of = {.kind = SPAN_SLEEP, .of = DAG_NONE}, .vertex = (uint32_t)ceil(id)};
    if (span->vertex >= lanes->run->vertex_count) return false;
    span->thread = dag_thread_of(lanes->run, span->vertex);
    if (lanes->lane_of[span->thread] == DAG_NONE) return false;
    span->from_ns = lanes_ns(lanes, span->vertex);
    if (unseen) {
        span->end = span->vertex;
        span->from_ns -= lanes_slept_ns(lanes, span->vertex);
    } else if (!describe(lanes, span)) {
        return false;
    }
    span->to_ns = span->end == DAG_NONE ? lanes_thread_end_ns(lanes, span->thread) : lanes_ns(lanes, span->end);
    return !unseen || span->from_ns < span->to_ns;
}

// ---- arrows

static void add(struct arrow *arrows, uint32_t *count, struct arrow arrow) {
    uint32_t place = *count;
    if (place == ARROWS_MOST && arrow.time_ns >= arrows[place - 1].time_ns) return;
    if (place == ARROWS_MOST) place--;
    for (; place > 0 && arrows[place - 1].time_ns > arrow.time_ns; place--) arrows[place] = arrows[place - 1];
    arrows[place] = arrow;
    if (*count < ARROWS_MOST) ++*count;
}

void arrows_add(struct arrows *arrows, bool inward, struct arrow arrow) {
    if (inward)
        add(arrows->in, &arrows->in_count, arrow);
    else
        add(arrows->out, &arrows->out_count, arrow);
}

static bool has_room_at(const struct arrows *arrows, int64_t time_ns) {
    return arrows->out_count < ARROWS_MOST || time_ns < arrows->out[ARROWS_MOST - 1].time_ns;
}

static bool runs(const struct dag *run, uint32_t task) {
    return task != DAG_NONE && run->tasks[task].start != DAG_NONE;
}

bool lanes_shows_task(const struct lanes *lanes, uint32_t task) {
    return runs(lanes->run, task) && lanes->work->scratch->action[lanes->run->tasks[task].start] == ACTION_OPEN &&
           lanes->lane_of[dag_thread_of(lanes->run, lanes->run->tasks[task].start)] != DAG_NONE;
}

static struct arrow arrow_to(const struct lanes *lanes, const char *what, double span, uint32_t at, uint32_t here) {
    return (struct arrow){.what = what,
                          .span = span,
                          .lane = lanes->lane_of[dag_thread_of(lanes->run, at)],
                          .here_lane = lanes->lane_of[dag_thread_of(lanes->run, here)],
                          .time_ns = lanes_ns(lanes, at),
                          .here_ns = lanes_ns(lanes, here)};
}

// Whose result it is, if a task's that ran on that thread.
static uint32_t result_of(const struct dag *run, uint32_t cause) {
    const unsigned kind = run->vertices.kind[cause];
    const uint32_t task = run->vertices.task[cause];
    if ((kind != VERTEX_RESULT && kind != VERTEX_END) || !runs(run, task)) return DAG_NONE;
    const struct dag_task *of = &run->tasks[task];
    const bool here = cause >= of->start && (of->end == DAG_NONE || cause <= (of->tail > of->end ? of->tail : of->end));
    return here ? task : DAG_NONE;
}

// The span that what woke another thread is of: the body whose result it is, or in which it was, or an idle time.
static double source_of(const struct lanes *lanes, uint32_t cause) {
    const uint32_t task = result_of(lanes->run, cause);
    return task != DAG_NONE && lanes_shows_task(lanes, task) ? lanes->run->tasks[task].start
                                                             : lanes_body_before(lanes, cause);
}

uint32_t lanes_waker(const struct lanes *lanes, uint32_t end) {
    const struct dag_vertices *vertices = &lanes->run->vertices;
    if (lanes->work->scratch->action[end] != ACTION_WAKE || !cause_ends_sleep(vertices, end)) return DAG_NONE;
    const uint32_t cause = cause_last(vertices, end);
    return cause == DAG_NONE || vertices->time_ns[cause] > vertices->time_ns[end] ? DAG_NONE : cause;
}

static void add_waker(const struct lanes *lanes, const struct lane_span *span, struct arrows *arrows) {
    const uint32_t cause = span->end == DAG_NONE ? DAG_NONE : lanes_waker(lanes, span->end);
    const double source = cause == DAG_NONE ? LANE_NO_SPAN : source_of(lanes, cause);
    if (source == LANE_NO_SPAN) return;
    const char *what = result_of(lanes->run, cause) == DAG_NONE ? "unblocked by" : "result of";
    add(arrows->in, &arrows->in_count, arrow_to(lanes, what, source, cause, span->end));
}

// Sleeps that something in this span ended: what is of it lies behind its vertex, on its thread.
static void add_woken(const struct lanes *lanes, const struct lane_span *span, struct arrows *arrows) {
    const struct dag *run = lanes->run;
    const struct dag_thread *thread = &run->threads[span->thread];
    const uint32_t last = thread->first + thread->count - 1;
    for (uint32_t v = 0; v < run->vertex_count; v++) {
        if (run->vertices.cause[v] == DAG_NONE || lanes->work->scratch->action[v] != ACTION_WAKE) continue;
        const uint32_t cause = lanes_waker(lanes, v);
        if (cause == DAG_NONE || cause < span->vertex || cause > last || !has_room_at(arrows, lanes_ns(lanes, v)))
            continue;
        const uint32_t begin = source_of(lanes, cause) == span->id ? find_begin(lanes, v) : DAG_NONE;
        if (begin == DAG_NONE || lanes->lane_of[dag_thread_of(run, v)] == DAG_NONE) continue;
        const char *what = result_of(run, cause) == DAG_NONE ? "unblocks" : "result for";
        add(arrows->out, &arrows->out_count, arrow_to(lanes, what, begin, v, cause));
    }
}

static void add_spawner(const struct lanes *lanes, const struct dag_task *task, struct arrows *arrows) {
    const struct dag *run = lanes->run;
    if (task->spawn_begin == DAG_NONE) return;
    if (lanes_shows_task(lanes, task->spawner)) {
        const double spawner = run->tasks[task->spawner].start;
        add(arrows->in, &arrows->in_count, arrow_to(lanes, "spawned by", spawner, task->spawn_begin, task->start));
    }
    if (lanes_spawns(run, task->spawn_begin) && lanes->lane_of[dag_thread_of(run, task->spawn_begin)] != DAG_NONE)
        add(arrows->in, &arrows->in_count,
            arrow_to(lanes, "handed over in", task->spawn_begin, task->spawn_begin, task->start));
}

static void add_spawned(const struct lanes *lanes, uint32_t spawner, struct arrows *arrows) {
    const struct dag *run = lanes->run;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->spawner != spawner || task->spawn_begin == DAG_NONE || !lanes_shows_task(lanes, t)) continue;
        add(arrows->out, &arrows->out_count, arrow_to(lanes, "spawns", task->start, task->start, task->spawn_begin));
    }
}

void lane_span_arrows(const struct lanes *lanes, const struct lane_span *span, struct arrows *arrows) {
    const struct dag_task *task = !span->idle && (span->of.kind == SPAN_TASK || span->of.kind == SPAN_SPAWN)
                                      ? &lanes->run->tasks[span->of.of]
                                      : NULL;
    arrows->in_count = arrows->out_count = 0;
    if (span->idle) {
        add_woken(lanes, span, arrows);
    } else if (span->of.kind == SPAN_TASK) {
        add_spawner(lanes, task, arrows);
        add_spawned(lanes, span->of.of, arrows);
        add_woken(lanes, span, arrows);
    } else if (span->of.kind == SPAN_SPAWN && lanes_shows_task(lanes, span->of.of)) {
        add(arrows->out, &arrows->out_count, arrow_to(lanes, "spawns", task->start, task->start, span->vertex));
    } else if (span->of.kind == SPAN_WAIT || span->of.kind == SPAN_BLOCKED) {
        add_waker(lanes, span, arrows);
    }
}
