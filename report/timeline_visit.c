// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's events are read once, and its vertices taken up as theirs come by; functions lie between them. What is
// open stands on a stack, whose halves the metrics have matched (metrics/pairing.h); what lost its other half ends with
// what lies around it. Before the window nothing is shown, and what is open at its beginning begins there.
#include "dag/build/perturbation.h"
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

// A function is entered or left.
struct call {
    int64_t time_ns;
    uint32_t method;
    bool enters;
};

struct visiting {
    const struct timeline *timeline;
    moment_visitor *visit;
    void *context;
    uint32_t thread;
    int64_t now_ns;
    bool begun, over; // the window, on this thread
    struct span *open;
    uint32_t depth, capacity;
    struct call *calls; // of the edge at hand, if the thread slept on it: where is known once all have come
    uint32_t call_count, call_capacity;
    uint64_t *flows; // that leave a moment
    size_t flow_count, flow_capacity;
    bool no_memory;
};

// ---- flows, by the task that is spawned or the vertex that is led to

static uint64_t flow_of_spawn(const struct timeline *timeline, uint32_t task) {
    const struct dag_task *of = &timeline->dag->tasks[task];
    const int64_t *time_ns = timeline->dag->vertices.time_ns;
    if (of->spawn_begin == DAG_NONE || of->start == DAG_NONE) return 0;
    const bool within = timeline_is_within(timeline, timeline_ns(timeline, time_ns[of->spawn_begin])) &&
                        timeline_is_within(timeline, timeline_ns(timeline, time_ns[of->start]));
    return within ? 2 * (uint64_t)task + 1 : 0;
}

static uint64_t flow_of_effect(uint32_t vertex) {
    return 2 * (uint64_t)vertex + 2;
}

static void add_flow(struct visiting *visiting, uint64_t flow) {
    if (flow == 0) return;
    if (visiting->flow_count == visiting->flow_capacity) {
        const size_t larger = 2 * visiting->flow_capacity + 16;
        uint64_t *moved = realloc(visiting->flows, larger * sizeof *moved);
        visiting->no_memory |= !moved;
        if (!moved) return;
        visiting->flows = moved;
        visiting->flow_capacity = larger;
    }
    visiting->flows[visiting->flow_count++] = flow;
}

// ---- moments

static struct moment moment_of(const struct visiting *visiting, enum moment_kind kind, const struct span *span) {
    return (struct moment){.kind = kind,
                           .thread = visiting->thread,
                           .time_ns = visiting->now_ns,
                           .span = *span,
                           .flows_out = visiting->flows,
                           .flow_out_count = visiting->flow_count};
}

static void show(struct visiting *visiting, const struct moment *moment) {
    visiting->flow_count = 0;
    if (visiting->begun && !visiting->over) visiting->visit(visiting->context, moment);
}

static void end_top(struct visiting *visiting) {
    const struct moment moment = moment_of(visiting, MOMENT_END, &visiting->open[--visiting->depth]);
    show(visiting, &moment);
}

static void end_all(struct visiting *visiting) {
    while (visiting->depth > 0) end_top(visiting);
}

// What is open at the window's beginning begins there.
static void begin_window(struct visiting *visiting) {
    visiting->begun = true;
    visiting->now_ns = visiting->timeline->from_ns;
    for (uint32_t i = 0; i < visiting->depth; i++) {
        const struct moment moment = moment_of(visiting, MOMENT_BEGIN, &visiting->open[i]);
        show(visiting, &moment);
    }
}

// Times of functions lie between those of vertices, and never fall.
static void go_to(struct visiting *visiting, int64_t time_ns) {
    const struct timeline *timeline = visiting->timeline;
    if (visiting->over) return;
    if (!visiting->begun && time_ns >= timeline->from_ns) begin_window(visiting);
    if (time_ns > timeline->to_ns) {
        visiting->now_ns = timeline->to_ns;
        end_all(visiting);
        visiting->over = true;
    }
    if (time_ns > visiting->now_ns) visiting->now_ns = time_ns;
}

static void begin(struct visiting *visiting, const struct span *span, uint64_t flow_in) {
    if (visiting->depth == visiting->capacity) {
        const uint32_t larger = 2 * visiting->capacity + 64;
        struct span *moved = realloc(visiting->open, larger * sizeof *moved);
        visiting->no_memory |= !moved;
        if (!moved) return;
        visiting->open = moved;
        visiting->capacity = larger;
    }
    visiting->open[visiting->depth++] = *span;
    struct moment moment = moment_of(visiting, MOMENT_BEGIN, span);
    moment.flow_in = flow_in;
    show(visiting, &moment);
}

static void mark(struct visiting *visiting, enum mark mark, uint32_t task, uint64_t flow_in) {
    const struct span span = {.kind = SPAN_TASK, .of = task};
    struct moment moment = moment_of(visiting, MOMENT_MARK, &span);
    moment.mark = mark;
    moment.flow_in = flow_in;
    show(visiting, &moment);
}

// Ends the innermost span of a kind, and of a thing unless that is DAG_NONE, with all that lies in it; of functions and
// spawns only within the innermost body.
static void end_span(struct visiting *visiting, unsigned kinds, uint32_t of, bool within_body) {
    uint32_t level = visiting->depth;
    for (; level > 0; level--) {
        const struct span *span = &visiting->open[level - 1];
        if (kinds >> span->kind & 1 && (of == DAG_NONE || span->of == of)) break;
        if (within_body && span->kind == SPAN_TASK) return;
    }
    while (level > 0 && visiting->depth >= level) end_top(visiting);
}

// ---- vertices

static void pass_spawn(struct visiting *visiting, uint32_t vertex) {
    const struct dag *dag = visiting->timeline->dag;
    const uint32_t task = dag->vertices.task[vertex];
    if (task == DAG_NONE || dag->tasks[task].spawn_begin != vertex) return;
    const uint32_t spawn_end = dag->tasks[task].spawn_end;
    add_flow(visiting, flow_of_spawn(visiting->timeline, task));
    if (spawn_end == vertex || spawn_end == DAG_NONE) {
        mark(visiting, MARK_SENT, task, 0);
        return;
    }
    const struct span span = {.kind = SPAN_SPAWN, .of = task};
    begin(visiting, &span, 0);
}

static void pass_start(struct visiting *visiting, uint32_t vertex, const struct event *event) {
    const uint32_t task = visiting->timeline->dag->vertices.task[vertex];
    struct span span = {.kind = SPAN_TASK, .of = task};
    if (event->kind == EVENT_MESSAGE_BEGIN) span.actor = event->operand[2];
    if (event->kind == EVENT_INIT_BEGIN) span.actor = event->operand[0];
    begin(visiting, &span, flow_of_spawn(visiting->timeline, task));
}

static void pass_sleep(struct visiting *visiting, uint32_t vertex, enum action action, const struct event *event) {
    const struct dag_vertices *vertices = &visiting->timeline->dag->vertices;
    struct span span = {.kind = action == ACTION_WAIT ? SPAN_WAIT : SPAN_BLOCKED, .of = DAG_NONE};
    if (event->kind == EVENT_TAKEN) return;
    if (vertices->kind[vertex] == VERTEX_ACQUIRE) {
        span.of = vertices->task[vertex];
    } else {
        if (span.kind == SPAN_WAIT) span.of = vertices->task[vertex];
        span.site = (uint32_t)event->operand[2];
        span.class = wait_class_of(event->operand[2]);
        if (wait_for_of(event->operand[2]) == WAIT_FOR_POOL) span.pool = (uint32_t)event->operand[0];
    }
    begin(visiting, &span, 0);
}

// ---- functions, and sleeps that no event tells of

static void pass_call(struct visiting *visiting, const struct call *call) {
    const struct span span = {.kind = SPAN_FUNCTION, .of = call->method};
    go_to(visiting, call->time_ns);
    if (call->enters)
        begin(visiting, &span, 0);
    else
        end_span(visiting, 1u << SPAN_FUNCTION, span.of, true);
}

static void hold_call(struct visiting *visiting, const struct call *call) {
    if (visiting->call_count == visiting->call_capacity) {
        const uint32_t larger = 2 * visiting->call_capacity + 64;
        struct call *moved = realloc(visiting->calls, larger * sizeof *moved);
        visiting->no_memory |= !moved;
        if (!moved) return;
        visiting->calls = moved;
        visiting->call_capacity = larger;
    }
    visiting->calls[visiting->call_count++] = *call;
}

// What lies between two of the events of an edge: calls, and the edge's ends.
static int64_t gap_before(const struct visiting *visiting, uint32_t index, const int64_t edge_ns[2]) {
    const int64_t from_ns = index == 0 ? edge_ns[0] : visiting->calls[index - 1].time_ns;
    const int64_t to_ns = index == visiting->call_count ? edge_ns[1] : visiting->calls[index].time_ns;
    return to_ns - from_ns;
}

// So long of each gap the thread is awake, if that is as long as the gap: what it slept lies in the longest, as it does
// among edges (dag.h).
static int64_t awake_ns(const struct visiting *visiting, const int64_t edge_ns[2], int64_t slept_ns) {
    int64_t least = 0, most = edge_ns[1] - edge_ns[0];
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        int64_t asleep_ns = 0;
        for (uint32_t i = 0; i <= visiting->call_count; i++) {
            const int64_t gap_ns = gap_before(visiting, i, edge_ns);
            asleep_ns += gap_ns > middle ? gap_ns - middle : 0;
        }
        if (asleep_ns > slept_ns)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

static void sleep_until(struct visiting *visiting, int64_t time_ns, int64_t asleep_ns) {
    const struct span span = {.kind = SPAN_SLEEP, .of = DAG_NONE};
    if (asleep_ns <= 0) return;
    go_to(visiting, time_ns - asleep_ns);
    begin(visiting, &span, 0);
    go_to(visiting, time_ns);
    end_span(visiting, 1u << SPAN_SLEEP, DAG_NONE, true);
}

// The edge to a vertex, in which the thread slept: the calls that were held back, and each sleep at its gap's end.
static void pass_asleep(struct visiting *visiting, uint32_t vertex) {
    const struct timeline *timeline = visiting->timeline;
    const int64_t *time_ns = timeline->dag->vertices.time_ns;
    const int64_t edge_ns[2] = {timeline_ns(timeline, time_ns[vertex - 1]), timeline_ns(timeline, time_ns[vertex])};
    for (uint32_t i = 0; i < visiting->call_count; i++) { // which by rounding may lie a ns beside the edge
        const int64_t least_ns = i == 0 ? edge_ns[0] : visiting->calls[i - 1].time_ns;
        if (visiting->calls[i].time_ns < least_ns) visiting->calls[i].time_ns = least_ns;
        if (visiting->calls[i].time_ns > edge_ns[1]) visiting->calls[i].time_ns = edge_ns[1];
    }
    const int64_t awake = awake_ns(visiting, edge_ns, work_slept_ns(timeline->dag, vertex));
    for (uint32_t i = 0; i <= visiting->call_count; i++) {
        const bool last = i == visiting->call_count;
        sleep_until(visiting, last ? edge_ns[1] : visiting->calls[i].time_ns, gap_before(visiting, i, edge_ns) - awake);
        if (!last) pass_call(visiting, &visiting->calls[i]);
    }
    visiting->call_count = 0;
}

// ---- what wakes others, and is woken

// What others waited for: said before the body that it may be the end of.
static void pass_effects(struct visiting *visiting, uint32_t vertex) {
    const struct timeline *timeline = visiting->timeline;
    const unsigned kind = timeline->dag->vertices.kind[vertex];
    const bool result = kind == VERTEX_RESULT || kind == VERTEX_END;
    if (timeline->first_effect[vertex] == DAG_NONE) return;
    for (uint32_t effect = timeline->first_effect[vertex]; effect != DAG_NONE; effect = timeline->next_effect[effect])
        add_flow(visiting, flow_of_effect(effect));
    mark(visiting, result ? MARK_RESULT : MARK_RELEASE, result ? timeline->dag->vertices.task[vertex] : DAG_NONE, 0);
}

static void pass_wake(struct visiting *visiting, uint32_t vertex, const struct event *event) {
    if (event->kind == EVENT_TAKEN) return;
    end_span(visiting, 1u << SPAN_WAIT | 1u << SPAN_BLOCKED, DAG_NONE, true);
    if (timeline_cause(visiting->timeline, vertex) != DAG_NONE)
        mark(visiting, MARK_WOKEN, DAG_NONE, flow_of_effect(vertex));
}

static void pass_vertex(struct visiting *visiting, uint32_t vertex, const struct event *event) {
    const struct timeline *timeline = visiting->timeline;
    const struct dag_vertices *vertices = &timeline->dag->vertices;
    const enum action action = timeline->work.scratch->action[vertex];
    if (timeline->work.scratch->slept[vertex]) pass_asleep(visiting, vertex);
    go_to(visiting, timeline_ns(timeline, vertices->time_ns[vertex]));
    if (vertices->kind[vertex] == VERTEX_SPAWN_BEGIN) pass_spawn(visiting, vertex);
    pass_effects(visiting, vertex);
    if (vertices->kind[vertex] == VERTEX_SPAWN_END) end_span(visiting, 1u << SPAN_SPAWN, vertices->task[vertex], true);
    if (action == ACTION_OPEN) pass_start(visiting, vertex, event);
    if (action == ACTION_CLOSE) end_span(visiting, 1u << SPAN_TASK, vertices->task[vertex], false);
    if (action == ACTION_WAIT || action == ACTION_BLOCK) pass_sleep(visiting, vertex, action, event);
    if (action == ACTION_WAKE) pass_wake(visiting, vertex, event);
}

// ---- threads

// Behind the vertex before `vertex`. Where the thread slept on the way there it is held back.
static void pass_function(struct visiting *visiting, uint32_t vertex, struct dag_remap *remap,
                          const struct event *event) {
    const struct timeline *timeline = visiting->timeline;
    const struct dag_thread *thread = &timeline->dag->threads[visiting->thread];
    const bool slept = vertex < thread->first + thread->count && timeline->work.scratch->slept[vertex];
    const struct call call = {.time_ns = timeline_ns(timeline, dag_remap(remap, (int64_t)event->time)),
                              .method = (uint32_t)event->operand[0],
                              .enters = event->kind == EVENT_ENTER};
    if (slept)
        hold_call(visiting, &call);
    else
        pass_call(visiting, &call);
}

static bool is_function(unsigned kind) {
    return kind == EVENT_ENTER || kind == EVENT_EXIT || kind == EVENT_EXIT_THROW;
}

static bool visit_events(struct visiting *visiting, struct error *error) {
    const struct dag *dag = visiting->timeline->dag;
    const struct dag_thread *thread = &dag->threads[visiting->thread];
    struct trace_cursor cursor;
    struct event event;
    struct dag_remap remap;
    uint32_t vertex = thread->first, end = thread->first + thread->count;
    dag_remap_init(&remap, dag, visiting->thread);
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[thread->stream]);
    error->status = STATUS_OK;
    for (uint64_t ordinal = 0; !visiting->over && trace_cursor_next(&cursor, &event, error); ordinal++) {
        if (is_function(event.kind)) pass_function(visiting, vertex, &remap, &event);
        while (vertex < end && dag->vertices.event[vertex] == ordinal) pass_vertex(visiting, vertex++, &event);
    }
    return error->status == STATUS_OK;
}

// What is open at a thread's last event lasts as long as the run, unless the thread had ended.
static bool visit_thread(struct visiting *visiting, struct error *error) {
    const struct timeline *timeline = visiting->timeline;
    visiting->now_ns = INT64_MIN;
    visiting->depth = visiting->call_count = 0;
    visiting->begun = visiting->over = false;
    if (!visit_events(visiting, error)) return false;
    if (work_outlasts_run(timeline->dag, &timeline->dag->threads[visiting->thread])) go_to(visiting, timeline->to_ns);
    if (!visiting->over) end_all(visiting);
    return !visiting->no_memory || error_set(error, STATUS_FAILED, "no memory for what a thread is in");
}

bool timeline_visit(const struct timeline *timeline, moment_visitor *visit, void *context, struct error *error) {
    struct visiting visiting = {.timeline = timeline, .visit = visit, .context = context};
    bool ok = true;
    for (uint32_t t = 0; ok && t < timeline->dag->thread_count; t++) {
        visiting.thread = t;
        if (timeline_has_thread(timeline, t)) ok = visit_thread(&visiting, error);
    }
    free(visiting.open);
    free(visiting.calls);
    free(visiting.flows);
    return ok;
}
