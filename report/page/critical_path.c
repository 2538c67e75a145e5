// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/critical_path.h"

#include "report/cause.h"

#include <stdlib.h>

// Part of the path on one thread: from one of its vertices to another, but not before a time.
struct leg {
    uint32_t from, to, order; // of order: how many come after it
    int64_t from_ns;
    uint32_t first_piece, piece_count;
};

struct path {
    const struct lanes *lanes;
    struct leg *legs;
    uint32_t count, capacity;
    struct lane_piece *pieces;
    uint32_t piece_count, piece_capacity;
};

static bool make_room(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    void **items = array;
    if (count < *capacity) return true;
    void *moved = realloc(*items, ((size_t)*capacity * 2 + 64) * size);
    if (!moved) return false;
    *items = moved;
    *capacity = *capacity * 2 + 64;
    return true;
}

// Of main, or of what the program handed over: what the JVM does for itself at the end is no part of it.
static bool is_of_program(const struct dag_task *task) {
    return task->flags & (TASK_MAIN | TASK_OF_ACTOR) || task->spawn_begin != DAG_NONE;
}

static bool is_later(const struct lanes *lanes, uint32_t vertex, uint32_t last) {
    return last == DAG_NONE || lanes_ns(lanes, vertex) > lanes_ns(lanes, last);
}

// The last end of a body; where there is none, the last vertex.
static uint32_t last_vertex(const struct lanes *lanes) {
    const struct dag *run = lanes->run;
    uint32_t last = DAG_NONE;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        if (task->start == DAG_NONE || task->end == DAG_NONE || !is_of_program(task)) continue;
        if (lanes->lane_of[task->thread] != DAG_NONE && is_later(lanes, task->end, last)) last = task->end;
    }
    for (uint32_t i = 0; last == DAG_NONE && i < lanes->count; i++) {
        const struct dag_thread *thread = &run->threads[lanes->threads[i]];
        if (thread->count && is_later(lanes, thread->first + thread->count - 1, last))
            last = thread->first + thread->count - 1;
    }
    return last;
}

// Where the path comes from to a vertex, if from another thread; DAG_NONE: from the vertex before.
static uint32_t came_from(const struct lanes *lanes, uint32_t vertex, uint32_t first) {
    const struct dag_vertices *vertices = &lanes->run->vertices;
    const uint32_t cause = cause_last(vertices, vertex);
    if (cause == DAG_NONE || vertices->time_ns[cause] > vertices->time_ns[vertex]) return DAG_NONE;
    if (vertex > first && vertices->time_ns[cause] < vertices->time_ns[vertex - 1]) return DAG_NONE;
    return lanes->lane_of[dag_thread_of(lanes->run, cause)] == DAG_NONE ? DAG_NONE : cause;
}

// From the vertex before the one that awaited a cause, since what was awaited takes effect some time later.
static bool add_leg(struct path *path, uint32_t vertex, uint32_t to, uint32_t first, uint32_t cause) {
    if (!make_room(&path->legs, path->count, &path->capacity, sizeof *path->legs)) return false;
    const uint32_t from = cause != DAG_NONE && vertex > first ? vertex - 1 : vertex;
    path->legs[path->count] = (struct leg){.from = from,
                                           .to = to,
                                           .order = path->count,
                                           .from_ns = lanes_ns(path->lanes, cause == DAG_NONE ? from : cause)};
    path->count++;
    return true;
}

// Where causes are at one time they could go round in a circle: no vertex is passed twice.
static bool find_legs(struct path *path, uint8_t *passed) {
    const struct lanes *lanes = path->lanes;
    for (uint32_t vertex = last_vertex(lanes); vertex != DAG_NONE && !passed[vertex];) {
        const uint32_t to = vertex, first = lanes->run->threads[dag_thread_of(lanes->run, vertex)].first;
        uint32_t cause = came_from(lanes, vertex, first);
        while (cause == DAG_NONE && vertex > first && !passed[vertex - 1]) {
            passed[vertex--] = 1;
            cause = came_from(lanes, vertex, first);
        }
        passed[vertex] = 1;
        if (!add_leg(path, vertex, to, first, cause)) return false;
        vertex = cause;
    }
    return true;
}

static int by_place(const void *a, const void *b) {
    const struct leg *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->order < y->order) - (x->order > y->order);
}

static int by_time(const void *a, const void *b) {
    const struct leg *x = a, *y = b;
    return (x->order < y->order) - (x->order > y->order);
}

// ---- pieces

static bool add_piece(struct path *path, struct leg *leg, struct lane_piece piece) {
    if (piece.begin_ns < leg->from_ns) piece.begin_ns = leg->from_ns;
    if (piece.begin_ns >= piece.end_ns) return true;
    struct lane_piece *last = leg->piece_count ? &path->pieces[path->piece_count - 1] : NULL;
    if (last && last->span == piece.span && last->state == piece.state && last->end_ns == piece.begin_ns) {
        last->end_ns = piece.end_ns;
        return true;
    }
    if (!make_room(&path->pieces, path->piece_count, &path->piece_capacity, sizeof *path->pieces)) return false;
    path->pieces[path->piece_count++] = piece;
    leg->piece_count++;
    return true;
}

// The edge to the vertex that the walk passes next.
static bool add_edge(struct path *path, struct leg *leg, const struct lane_walk *walk) {
    const struct lanes *lanes = path->lanes;
    const struct lane_open *top = lane_walk_top(walk);
    const int64_t end_ns = lanes_ns(lanes, walk->vertex), slept_ns = lanes_slept_ns(lanes, walk->vertex);
    if (!top) return true;
    struct lane_piece piece = {.lane = lanes->lane_of[walk->index],
                               .state = (enum lane_state)top->state,
                               .depth = walk->bodies ? walk->bodies - 1 : 0,
                               .span = top->span,
                               .begin_ns = lanes_ns(lanes, walk->vertex - 1),
                               .end_ns = end_ns - slept_ns};
    if (!add_piece(path, leg, piece)) return false;
    piece.state = LANE_BLOCKED;
    piece.span = walk->vertex - 0.5;
    piece.begin_ns = end_ns - slept_ns;
    piece.end_ns = end_ns;
    return add_piece(path, leg, piece);
}

// In the order of vertices, so that each thread is walked over once.
static bool find_pieces(struct path *path) {
    struct lane_walk walk = {0};
    bool done = true;
    if (path->count) qsort(path->legs, path->count, sizeof *path->legs, by_place);
    for (uint32_t i = 0; done && i < path->count; i++) {
        struct leg *leg = &path->legs[i];
        const uint32_t thread = dag_thread_of(path->lanes->run, leg->from);
        if (i == 0 || thread != walk.index) lane_walk_begin(&walk, path->lanes, thread);
        leg->first_piece = path->piece_count;
        lane_walk_seek(&walk, leg->from + 1);
        while (done && walk.vertex <= leg->to) {
            done = add_edge(path, leg, &walk) && !walk.no_memory;
            lane_walk_step(&walk);
        }
    }
    lane_walk_destroy(&walk);
    return done;
}

bool critical_path_visit(const struct lanes *lanes, lane_visitor *visit, void *context, struct error *error) {
    struct path path = {.lanes = lanes};
    uint8_t *passed = calloc((size_t)lanes->run->vertex_count + 1, 1);
    const bool done = passed && find_legs(&path, passed) && find_pieces(&path);
    if (done && path.count) qsort(path.legs, path.count, sizeof *path.legs, by_time);
    for (uint32_t i = 0; done && i < path.count; i++) {
        const struct leg *leg = &path.legs[i];
        for (uint32_t p = 0; p < leg->piece_count; p++) visit(context, &path.pieces[leg->first_piece + p]);
    }
    free(passed);
    free(path.legs);
    free(path.pieces);
    return done || error_set(error, STATUS_FAILED, "no memory for the critical path");
}
