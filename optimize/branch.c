// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/branch.h"

#include "dag/edit/body.h"

#include <stdlib.h>

// A body's first entry into a function that another path lacks.
struct parting {
    bool found;
    uint32_t entered, caller; // trace method ids; 0: none
    int64_t after_ns;
};

static bool holds(const struct dag_path *path, uint32_t method) {
    uint32_t low = 0, high = path->length;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (path->methods[middle] < method)
            low = middle + 1;
        else
            high = middle;
    }
    return low < path->length && path->methods[low] == method;
}

static bool has_more(const struct dag_path *path, const struct dag_path *than) {
    for (uint32_t i = 0; i < path->length; i++) {
        if (!holds(than, path->methods[i])) return true;
    }
    return false;
}

enum { DEEPEST = 1024 };

struct scan {
    const struct dag_path *other;
    uint32_t stack[DEEPEST]; // functions of the body; of deeper ones only the number is kept
    uint32_t depth, bodies;  // bodies: of others, open within
};

static bool scan_enter(struct scan *scan, uint32_t method, struct parting *parting) {
    if (scan->bodies == 0 && !holds(scan->other, method)) {
        uint32_t caller = scan->depth < DEEPEST ? scan->depth : DEEPEST;
        *parting = (struct parting){.found = true, .entered = method, .caller = caller ? scan->stack[caller - 1] : 0};
        return true;
    }
    if (scan->bodies == 0 && scan->depth++ < DEEPEST) scan->stack[scan->depth - 1] = method;
    return false;
}

static bool scan_event(struct scan *scan, const struct event *event, struct parting *parting) {
    switch (event->kind) {
    case EVENT_ENTER:
        return scan_enter(scan, (uint32_t)event->operand[0], parting);
    case EVENT_EXIT:
    case EVENT_EXIT_THROW:
        if (scan->bodies == 0 && scan->depth) scan->depth--;
        return false;
    case EVENT_TASK_START:
        scan->bodies++;
        return false;
    case EVENT_TASK_END:
        scan->bodies -= scan->bodies > 0;
        return false;
    default:
        return false;
    }
}

static struct parting find_parting(const struct dag *dag, uint32_t index, const struct dag_path *other) {
    const struct dag_task *task = &dag->tasks[index];
    const uint64_t first = dag->vertices.event[task->start], last = dag->vertices.event[task->end];
    struct scan scan = {.other = other};
    struct parting parting = {0};
    struct error error = ERROR_INIT;
    struct trace_cursor cursor;
    struct event event;
    int64_t begin_ns = 0;
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[dag->threads[task->thread].stream]);
    for (uint64_t at = trace_cursor_seek(&cursor, first); at < last && trace_cursor_next(&cursor, &event, &error);
         at++) {
        if (at == first) begin_ns = (int64_t)event.time;
        if (at <= first || !scan_event(&scan, &event, &parting)) continue;
        parting.after_ns = (int64_t)event.time - begin_ns;
        break;
    }
    return parting;
}

static bool awaited_before(const struct dag *dag, const struct dag_task *task, int64_t after_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    const int64_t until_ns = vertices->time_ns[task->start] + after_ns;
    bool awaited = false;
    for (uint32_t v = body_next(dag, task->start); v < task->end && vertices->time_ns[v] < until_ns && !awaited;
         v = body_next(dag, v)) {
        awaited = vertices->kind[v] == VERTEX_WAIT_END;
    }
    return awaited;
}

// The first task of the commonest path but one's own, DAG_NONE if there is none.
static uint32_t find_other(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    uint32_t *counts = calloc((size_t)dag->path_count + 1, sizeof *counts), *firsts = NULL, other = DAG_NONE;
    if (counts) firsts = calloc((size_t)dag->path_count + 1, sizeof *firsts);
    for (uint32_t t = 0; firsts && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool here = task->site == improvement->site && task->start != DAG_NONE && task->path != improvement->path &&
                    (improvement->context == DAG_NONE || task->context == improvement->context);
        if (here && counts[task->path]++ == 0) firsts[task->path] = t;
    }
    for (uint32_t p = 0, most = 0; firsts && p < dag->path_count; p++) {
        if (counts[p] <= most) continue;
        most = counts[p];
        other = firsts[p];
    }
    free(counts);
    free(firsts);
    return other;
}

struct branch branch_find(const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    struct branch branch = {0};
    if (improvement->path == DAG_NONE || improvement->task_count == 0) return branch;
    uint32_t mine = improvement->tasks[0], other = find_other(improvement);
    if (other == DAG_NONE || dag->tasks[mine].start == DAG_NONE) return branch;
    const struct dag_path *here = &dag->paths[improvement->path], *there = &dag->paths[dag->tasks[other].path];
    branch.on_this = has_more(here, there);
    const uint32_t scanned = branch.on_this ? mine : other;
    const struct parting parting = find_parting(dag, scanned, branch.on_this ? there : here);
    const struct dag_task *task = &dag->tasks[scanned];
    branch.known = parting.found;
    branch.decides = parting.caller;
    branch.leads_to = parting.entered;
    branch.before_ns = parting.after_ns;
    branch.awaited = parting.found && awaited_before(dag, task, parting.after_ns);
    int64_t whole_ns = dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start];
    branch.late = branch.awaited || parting.after_ns * 10 > whole_ns;
    return branch;
}
