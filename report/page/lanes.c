// SPDX-License-Identifier: GPL-3.0-or-later
// A walk over a thread's vertices keeps what is open as a stack. So that it can begin anywhere, the stack is kept at
// marks: so far from each other that all of them together are no larger than the run.
#include "report/page/lanes.h"

#include "base/pages.h"
#include "dag/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_LEAST = 1024, MARK_PER_OPEN = 8 }; // vertices between two marks

bool lanes_spawns(const struct dag *run, uint32_t vertex) {
    const uint32_t task = run->vertices.task[vertex];
    if (run->vertices.kind[vertex] != VERTEX_SPAWN_BEGIN || task == DAG_NONE) return false;
    const struct dag_task *of = &run->tasks[task];
    return of->spawn_begin == vertex && of->spawn_end != DAG_NONE && of->spawn_end != vertex;
}

int64_t lanes_thread_end_ns(const struct lanes *lanes, uint32_t thread) {
    const struct dag_thread *of = &lanes->run->threads[thread];
    return work_outlasts_run(lanes->run, of) ? lanes->length_ns : lanes_ns(lanes, of->first + of->count - 1);
}

// ---- what is open

static void show(struct lane_walk *walk, const struct lane_open *open, int64_t end_ns) {
    const int64_t begin_ns = open->begin_ns > walk->from_ns ? open->begin_ns : walk->from_ns;
    if (end_ns > walk->to_ns) end_ns = walk->to_ns;
    if (!walk->visit || begin_ns >= end_ns) return;
    const struct lane_piece piece = {.lane = walk->lanes->lane_of[walk->index],
                                     .state = (enum lane_state)open->state,
                                     .depth = walk->bodies ? walk->bodies - 1 : 0,
                                     .span = open->span,
                                     .begin_ns = begin_ns,
                                     .end_ns = end_ns};
    walk->visit(walk->context, &piece);
}

static bool has_room(struct lane_walk *walk, uint32_t depth) {
    if (depth <= walk->capacity) return true;
    const uint32_t larger = depth + walk->capacity + 16;
    struct lane_open *moved = realloc(walk->open, larger * sizeof *moved);
    walk->no_memory |= !moved;
    if (!moved) return false;
    walk->open = moved;
    walk->capacity = larger;
    return true;
}

// What opens in a body's row, or outside, covers what was to be seen there; a body within a body has its own row.
static void push(struct lane_walk *walk, struct lane_open open) {
    if (!has_room(walk, walk->depth + 1)) return;
    const bool own_row = open.kind == LANE_BODY && walk->bodies > 0;
    if (walk->depth && !own_row) show(walk, &walk->open[walk->depth - 1], open.begin_ns);
    walk->bodies += open.kind == LANE_BODY;
    walk->open[walk->depth++] = open;
}

// Outside a body a worker is idle behind this vertex.
static void pop(struct lane_walk *walk, int64_t time_ns, uint32_t vertex) {
    const struct lane_open *top = &walk->open[--walk->depth];
    const bool own_row = top->kind == LANE_BODY && walk->bodies > 1;
    show(walk, top, time_ns);
    walk->bodies -= top->kind == LANE_BODY;
    if (walk->depth == 0 || own_row) return;
    struct lane_open *beneath = &walk->open[walk->depth - 1];
    beneath->begin_ns = time_ns;
    if (beneath->kind == LANE_OUTSIDE) beneath->span = vertex;
}

// Ends the innermost of a kind, and of a task unless that is DAG_NONE, with what lies in it; but for bodies only within
// the innermost body.
static void end(struct lane_walk *walk, enum lane_open_kind kind, uint32_t task, int64_t time_ns, uint32_t vertex) {
    uint32_t level = walk->depth;
    for (; level > 0; level--) {
        const struct lane_open *open = &walk->open[level - 1];
        if (open->kind == kind && (task == DAG_NONE || open->task == task)) break;
        if (open->kind == LANE_OUTSIDE || (open->kind == LANE_BODY && kind != LANE_BODY)) return;
    }
    while (level > 0 && walk->depth >= level) pop(walk, time_ns, vertex);
}

// ---- a walk

static struct lane_open opened_at(enum lane_open_kind kind, enum lane_state state, int64_t time_ns, double span,
                                  uint32_t task) {
    return (struct lane_open){
        .begin_ns = time_ns, .span = span, .task = task, .kind = (uint8_t)kind, .state = (uint8_t)state};
}

void lane_walk_begin(struct lane_walk *walk, const struct lanes *lanes, uint32_t thread) {
    walk->lanes = lanes;
    walk->index = thread;
    walk->thread = &lanes->run->threads[thread];
    walk->vertex = walk->thread->first;
    walk->depth = walk->bodies = 0;
    walk->from_ns = INT64_MIN;
    walk->to_ns = INT64_MAX;
    if (walk->thread->worker && walk->thread->count)
        push(walk, opened_at(LANE_OUTSIDE, LANE_IDLE, lanes_ns(lanes, walk->vertex), walk->vertex, DAG_NONE));
}

void lane_walk_destroy(struct lane_walk *walk) {
    free(walk->open);
    *walk = (struct lane_walk){0};
}

static void sleep_unseen(struct lane_walk *walk, uint32_t vertex, int64_t time_ns) {
    const int64_t slept_ns = lanes_slept_ns(walk->lanes, vertex);
    if (slept_ns <= 0) return;
    push(walk, opened_at(LANE_SLEEP, LANE_BLOCKED, time_ns - slept_ns, vertex - 0.5, DAG_NONE));
    end(walk, LANE_SLEEP, DAG_NONE, time_ns, vertex);
}

static void pass_spawn(struct lane_walk *walk, uint32_t vertex, int64_t time_ns) {
    const struct dag *run = walk->lanes->run;
    const struct lane_open *top = lane_walk_top(walk);
    if (run->vertices.kind[vertex] == VERTEX_SPAWN_END)
        end(walk, LANE_SPAWN, run->vertices.task[vertex], time_ns, vertex);
    else if (top && top->kind == LANE_BODY && lanes_spawns(run, vertex))
        push(walk, opened_at(LANE_SPAWN, LANE_SPAWNING, time_ns, vertex, run->vertices.task[vertex]));
}

void lane_walk_step(struct lane_walk *walk) {
    const struct lanes *lanes = walk->lanes;
    const uint32_t vertex = walk->vertex++, task = lanes->run->vertices.task[vertex];
    const int64_t time_ns = lanes_ns(lanes, vertex);
    sleep_unseen(walk, vertex, time_ns);
    switch ((enum action)lanes->work->scratch->action[vertex]) {
    case ACTION_OPEN:
        push(walk, opened_at(LANE_BODY, LANE_RUNNING, time_ns, vertex, task));
        break;
    case ACTION_CLOSE:
        end(walk, LANE_BODY, task, time_ns, vertex);
        break;
    case ACTION_WAIT:
        if (walk->bodies) push(walk, opened_at(LANE_SLEEP, LANE_WAITING, time_ns, vertex, DAG_NONE));
        break;
    case ACTION_BLOCK:
        if (walk->bodies) push(walk, opened_at(LANE_SLEEP, LANE_BLOCKED, time_ns, vertex, DAG_NONE));
        break;
    case ACTION_WAKE:
        end(walk, LANE_SLEEP, DAG_NONE, time_ns, vertex);
        break;
    case ACTION_NONE:
    case ACTION_SPAWN:
        pass_spawn(walk, vertex, time_ns);
        break;
    }
}

// The last mark of the thread that does not lie behind a vertex; NULL: there is none.
static const struct lane_mark *mark_before(const struct lanes *lanes, uint32_t thread, uint32_t vertex) {
    uint32_t least = lanes->first_mark[thread], most = lanes->first_mark[thread + 1];
    const uint32_t first = least;
    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;
        if (lanes->marks[middle].vertex <= vertex)
            least = middle + 1;
        else
            most = middle;
    }
    return least > first ? &lanes->marks[least - 1] : NULL;
}

static void go_to_mark(struct lane_walk *walk, const struct lane_mark *mark) {
    if (!has_room(walk, mark->depth)) return;
    walk->vertex = mark->vertex;
    walk->depth = mark->depth;
    walk->bodies = 0;
    if (mark->depth) memcpy(walk->open, &walk->lanes->opened[mark->first], mark->depth * sizeof *walk->open);
    for (uint32_t i = 0; i < walk->depth; i++) walk->bodies += walk->open[i].kind == LANE_BODY;
}

void lane_walk_seek(struct lane_walk *walk, uint32_t vertex) {
    const struct lane_mark *mark = mark_before(walk->lanes, walk->index, vertex);
    if (walk->vertex > vertex) lane_walk_begin(walk, walk->lanes, walk->index);
    if (mark && mark->vertex > walk->vertex) go_to_mark(walk, mark);
    while (walk->vertex < vertex) lane_walk_step(walk);
}

// ---- lanes

static bool is_shown(const struct dag *run, const struct dag_thread *thread) {
    return !thread->system && (thread->stream != DAG_NONE || thread->worker);
}

static bool add_mark(struct lanes *lanes, const struct lane_walk *walk) {
    if (lanes->mark_count == lanes->mark_capacity) {
        lanes->mark_capacity = 2 * lanes->mark_capacity + 64;
        if (!pages_resize(&lanes->marks, lanes->mark_capacity, sizeof *lanes->marks)) return false;
    }
    if (lanes->opened_count + walk->depth > lanes->opened_capacity) {
        lanes->opened_capacity = 2 * lanes->opened_capacity + walk->depth + 64;
        if (!pages_resize(&lanes->opened, lanes->opened_capacity, sizeof *lanes->opened)) return false;
    }
    lanes->marks[lanes->mark_count++] = (struct lane_mark){walk->vertex, (uint32_t)lanes->opened_count, walk->depth};
    if (walk->depth) memcpy(&lanes->opened[lanes->opened_count], walk->open, walk->depth * sizeof *walk->open);
    lanes->opened_count += walk->depth;
    return true;
}

static bool mark_thread(struct lanes *lanes, struct lane_walk *walk, uint32_t thread) {
    const struct dag_thread *of = &lanes->run->threads[thread];
    uint32_t next = of->first + MARK_LEAST;
    lanes->first_mark[thread] = lanes->mark_count;
    if (lanes->lane_of[thread] == DAG_NONE) return true;
    lane_walk_begin(walk, lanes, thread);
    while (walk->vertex < of->first + of->count && !walk->no_memory) {
        if (walk->vertex >= next) {
            if (!add_mark(lanes, walk)) return false;
            next = walk->vertex + MARK_LEAST + MARK_PER_OPEN * walk->depth;
        }
        lane_walk_step(walk);
    }
    return !walk->no_memory;
}

static bool mark_all(struct lanes *lanes) {
    struct lane_walk walk = {0};
    bool done = true;
    for (uint32_t t = 0; done && t < lanes->run->thread_count; t++) done = mark_thread(lanes, &walk, t);
    lanes->first_mark[lanes->run->thread_count] = lanes->mark_count;
    lane_walk_destroy(&walk);
    return done;
}

static bool list_lanes(struct lanes *lanes) {
    const struct dag *run = lanes->run;
    lanes->threads = malloc(((size_t)run->thread_count + 1) * sizeof *lanes->threads);
    lanes->lane_of = malloc(((size_t)run->thread_count + 1) * sizeof *lanes->lane_of);
    lanes->first_mark = malloc(((size_t)run->thread_count + 1) * sizeof *lanes->first_mark);
    if (!lanes->threads || !lanes->lane_of || !lanes->first_mark) return false;
    for (uint32_t t = 0; t < run->thread_count; t++) {
        const bool shown = is_shown(run, &run->threads[t]);
        lanes->lane_of[t] = shown ? lanes->count : DAG_NONE;
        if (shown) lanes->threads[lanes->count++] = t;
    }
    return true;
}

// As the metrics have them: the first event, or the last, may be no vertex.
static bool find_length(struct lanes *lanes, struct error *error) {
    const struct dag_run times = {.time_ns = lanes->run->vertices.time_ns};
    int64_t from_ns, to_ns;
    if (!work_window(lanes->work->scratch, &times, NULL, &from_ns, &to_ns))
        return error_set(error, STATUS_FAILED, "the run has no thread that counts");
    lanes->first_ns = from_ns;
    lanes->length_ns = to_ns + work_origin(lanes->run)->still_ns - from_ns;
    return true;
}

bool lanes_init(struct lanes *lanes, const struct dag *run, struct metrics_work *work, struct error *error) {
    *lanes = (struct lanes){.run = run, .work = work};
    work_forget(work, run);
    if (!work_bind_run(work, run, error) || !find_length(lanes, error)) return false;
    return (list_lanes(lanes) && mark_all(lanes)) ||
           error_set(error, STATUS_FAILED, "no memory for the lanes of a run");
}

void lanes_destroy(struct lanes *lanes) {
    free(lanes->threads);
    free(lanes->lane_of);
    free(lanes->first_mark);
    free(lanes->marks);
    free(lanes->opened);
    *lanes = (struct lanes){0};
}

const char *lane_name(const struct lanes *lanes, uint32_t lane, char *text, size_t size) {
    const uint32_t index = lanes->threads[lane];
    const struct dag_thread *thread = &lanes->run->threads[index];
    const struct trace_stream *streams = lanes->run->trace->streams;
    const uint32_t recorded = work_origin(lanes->run)->thread_count;
    char pool[300];
    if (index >= recorded)
        snprintf(text, size, "%s, added worker %u", dag_pool_text(lanes->run, thread->pool, pool, sizeof pool),
                 index - recorded + 1);
    else if (streams[thread->stream].thread.name && *streams[thread->stream].thread.name)
        snprintf(text, size, "%s", streams[thread->stream].thread.name);
    else
        snprintf(text, size, "thread %u", streams[thread->stream].id);
    return text;
}

// The last vertex of the thread that is not after a time, and one more; its first where that comes later.
static uint32_t vertex_after(const struct lanes *lanes, const struct dag_thread *thread, int64_t time_ns) {
    uint32_t least = thread->first, most = thread->first + thread->count;
    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;
        if (lanes_ns(lanes, middle) <= time_ns)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

bool lanes_visit(const struct lanes *lanes, uint32_t lane, int64_t from_ns, int64_t to_ns, lane_visitor *visit,
                 void *context) {
    const uint32_t thread = lanes->threads[lane];
    const struct dag_thread *of = &lanes->run->threads[thread];
    struct lane_walk walk = {0};
    if (of->count == 0) return true;
    lane_walk_begin(&walk, lanes, thread);
    lane_walk_seek(&walk, vertex_after(lanes, of, from_ns));
    walk.visit = visit;
    walk.context = context;
    walk.from_ns = from_ns;
    walk.to_ns = to_ns;
    const uint32_t end_vertex = of->first + of->count;
    while (walk.vertex < end_vertex && lanes_ns(lanes, walk.vertex) < to_ns) lane_walk_step(&walk);
    if (walk.vertex < end_vertex) sleep_unseen(&walk, walk.vertex, lanes_ns(lanes, walk.vertex));
    const int64_t end_ns = walk.vertex < end_vertex ? to_ns : lanes_thread_end_ns(lanes, thread);
    while (walk.depth) pop(&walk, end_ns, 0);
    const bool done = !walk.no_memory;
    lane_walk_destroy(&walk);
    return done;
}

// As the last before the one that comes next.
static double span_now(const struct lane_walk *walk, int64_t time_ns) {
    const struct lanes *lanes = walk->lanes;
    const struct lane_open *top = lane_walk_top(walk);
    const bool ended = walk->vertex == walk->thread->first + walk->thread->count;
    if (!ended && lanes_ns(lanes, walk->vertex) - lanes_slept_ns(lanes, walk->vertex) <= time_ns)
        return walk->vertex - 0.5;
    if (!top || (ended && time_ns >= lanes_thread_end_ns(lanes, walk->index))) return LANE_NO_SPAN;
    return top->span;
}

double lanes_at(const struct lanes *lanes, uint32_t lane, int64_t time_ns) {
    const uint32_t thread = lanes->threads[lane];
    const struct dag_thread *of = &lanes->run->threads[thread];
    struct lane_walk walk = {0};
    if (of->count == 0 || time_ns < lanes_ns(lanes, of->first)) return LANE_NO_SPAN;
    lane_walk_begin(&walk, lanes, thread);
    lane_walk_seek(&walk, vertex_after(lanes, of, time_ns));
    const double span = span_now(&walk, time_ns);
    lane_walk_destroy(&walk);
    return span;
}

double lanes_body_before(const struct lanes *lanes, uint32_t vertex) {
    const uint32_t thread = dag_thread_of(lanes->run, vertex);
    struct lane_walk walk = {0};
    if (lanes->lane_of[thread] == DAG_NONE) return LANE_NO_SPAN;
    lane_walk_begin(&walk, lanes, thread);
    lane_walk_seek(&walk, vertex);
    uint32_t level = walk.depth;
    while (level > 0 && walk.open[level - 1].kind != LANE_BODY && walk.open[level - 1].kind != LANE_OUTSIDE) level--;
    const double span = level ? walk.open[level - 1].span : LANE_NO_SPAN;
    lane_walk_destroy(&walk);
    return span;
}
