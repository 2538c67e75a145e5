// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks: how many, how large, how long they queue; work and span. One walk over the threads' chains attributes what was
// computed to bodies and notes for each vertex what it follows within its body; the span is then the longest path over
// these and the causes (work-span model; Rosa, Sec. 2.2, reviews it), where only computing in a body has length. Where
// computing was not measured, all running is taken for it.
#include "metrics/quantiles.h"
#include "metrics/work.h"

#include <stdlib.h>
#include <string.h>

// An open body while its thread's chain is walked. `since_last` and `total` count what it computes within the window.
struct body {
    uint32_t task, last; // last: vertex of the body seen last
    uint32_t sleeps;     // open ones
    int64_t start_ns, since_last_ns, total_ns;
    int64_t size_ns; // what it and those inlined into it compute, window or not
};

// How a vertex's longest path follows from others'.
struct link {
    uint32_t before;  // on its thread, or DAG_NONE
    uint32_t follows; // within its body, DAG_NONE outside bodies and at a submitted body's start
    int64_t run_ns;   // from `follows`
    int64_t path_ns;  // longest path to here, and
    int64_t most_ns;  // the longest so far on this thread: what someone who awaits the thread itself awaits
    enum { LINK_ABSENT, LINK_NEW, LINK_OPEN, LINK_DONE } state;
};

struct span_work {
    struct link *links;               // a vertex each
    uint32_t *stack;                  // vertices whose predecessors are being solved
    struct body *bodies;              // stack, as deep as there are tasks
    double *granularity, *queue_wait; // samples, a task each at most
    size_t granularity_count, queue_wait_count;
    uint32_t vertex_capacity, task_capacity;
};

static void free_arrays(struct span_work *span) {
    free(span->links);
    free(span->stack);
    free(span->bodies);
    free(span->granularity);
    free(span->queue_wait);
}

static bool make_room(struct span_work *span, const struct dag *dag) {
    if (span->links && dag->vertex_count <= span->vertex_capacity && dag->task_count <= span->task_capacity)
        return true;
    free_arrays(span);
    *span = (struct span_work){.vertex_capacity = dag->vertex_count + dag->vertex_count / 8 + 1,
                               .task_capacity = dag->task_count + dag->task_count / 8 + 1};
    const size_t vertices = span->vertex_capacity, tasks = span->task_capacity;
    span->links = malloc(vertices * sizeof *span->links);
    span->stack = malloc(vertices * sizeof *span->stack);
    span->bodies = malloc(tasks * sizeof *span->bodies);
    span->granularity = malloc(tasks * sizeof *span->granularity);
    span->queue_wait = malloc(tasks * sizeof *span->queue_wait);
    return span->links && span->stack && span->bodies && span->granularity && span->queue_wait;
}

static bool span_prepare(struct metrics_scratch *scratch, struct error *error) {
    if (scratch->span_bound) return true;
    if (!scratch->span) scratch->span = calloc(1, sizeof *scratch->span);
    if (!scratch->span || !make_room(scratch->span, scratch->dag)) {
        tasks_forget(scratch->span);
        scratch->span = NULL;
        return error_set(error, STATUS_FAILED, "no memory for task metrics");
    }
    return scratch->span_bound = true;
}

void tasks_forget(struct span_work *span) {
    if (!span) return;
    free_arrays(span);
    free(span);
}

// The walk over one thread's chain.
struct walk {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct dag_run *run;
    struct metrics_work *work;
    struct span_work *span;
    struct task_metrics *tasks;
    bool counted; // the thread
    uint32_t depth, before;
    int64_t now_ns, before_ns; // before_ns: time of `before`, be it outside of the window
};

static int64_t clamp(const struct state_series *series, int64_t time_ns) {
    return time_ns < series->from_ns ? series->from_ns : time_ns > series->to_ns ? series->to_ns : time_ns;
}

static void walk_follow(struct walk *walk, uint32_t vertex, struct body *body) {
    struct link *link = &walk->span->links[vertex];
    link->follows = body->last;
    link->run_ns = body->since_last_ns;
    body->last = vertex;
    body->since_last_ns = 0;
}

static void count_start(struct walk *walk, uint32_t vertex, const struct dag_task *task) {
    const struct state_series *series = &walk->work->series;
    int64_t time = walk->run->time_ns[vertex];
    if (!walk->counted || time < series->from_ns || time > series->to_ns) return;
    walk->tasks->count++;
    if (task->spawn_begin == DAG_NONE || walk->run->time_ns[task->spawn_begin] == DAG_ABSENT) return;
    walk->span->queue_wait[walk->span->queue_wait_count++] = (double)(time - walk->run->time_ns[task->spawn_begin]);
}

static bool is_of_actor(const struct walk *walk, uint32_t task) {
    return walk->dag->tasks[task].flags & TASK_OF_ACTOR;
}

// What an actor does counts with the task that it lies in, if any.
static bool is_part(const struct walk *walk, uint32_t task) {
    return work_is_part(walk->dag, walk->edit, task) || is_of_actor(walk, task);
}

static void walk_open(struct walk *walk, uint32_t vertex) {
    uint32_t index = walk->dag->vertices.task[vertex];
    struct span_work *span = walk->span;
    struct body *body = &span->bodies[walk->depth++];
    *body = (struct body){.task = index, .last = DAG_NONE, .start_ns = walk->run->time_ns[vertex]};
    if (is_part(walk, index)) {
        if (walk->depth > 1) walk_follow(walk, vertex, body - 1);
    } else {
        count_start(walk, vertex, &walk->dag->tasks[index]);
    }
    body->last = vertex;
}

static void sample_granularity(struct walk *walk, const struct body *body) {
    const struct state_series *series = &walk->work->series;
    if (walk->dag->tasks[body->task].flags & TASK_BEGUN_BEFORE || is_of_actor(walk, body->task))
        return; // only its end was seen, or it is no task
    if (!walk->counted || body->start_ns < series->from_ns || body->start_ns > series->to_ns) return;
    walk->span->granularity[walk->span->granularity_count++] = (double)body->size_ns;
}

static void walk_close(struct walk *walk, uint32_t vertex) {
    struct body *body = &walk->span->bodies[--walk->depth];
    walk_follow(walk, vertex, body);
    walk->tasks->work_ns += walk->counted ? (double)body->total_ns : 0;
    if (!is_part(walk, body->task) || walk->depth == 0) {
        sample_granularity(walk, body);
        return;
    }
    struct body *outer = body - 1;
    outer->last = vertex;
    outer->since_last_ns = 0;
    outer->total_ns += body->total_ns;
    outer->size_ns += body->size_ns;
    walk->tasks->work_ns -= walk->counted ? (double)body->total_ns : 0; // it is the outer body's now
}

// What the edge to the vertex computes: all of it, and what of it lies within the window.
static void walk_compute(const struct walk *walk, uint32_t vertex, struct body *body, int64_t within_ns) {
    int64_t passed_ns = walk->run->time_ns[vertex] - walk->before_ns, size_ns = body->sleeps == 0 ? passed_ns : 0;
    if (walk->dag->vertices.compute_ns) size_ns = work_compute_ns(walk->dag, walk->edit, vertex);
    if (size_ns > passed_ns) size_ns = passed_ns;
    if (size_ns <= 0) return;
    body->size_ns += size_ns;
    if (within_ns <= 0) return;
    if (within_ns < passed_ns) size_ns = llrint((double)size_ns * (double)within_ns / (double)passed_ns);
    body->since_last_ns += size_ns;
    body->total_ns += size_ns;
}

static void walk_vertex(struct walk *walk, uint32_t vertex) {
    int64_t time = clamp(&walk->work->series, walk->run->time_ns[vertex]);
    struct body *body = walk->depth ? &walk->span->bodies[walk->depth - 1] : NULL;
    if (body) walk_compute(walk, vertex, body, time - walk->now_ns);
    walk->before_ns = walk->run->time_ns[vertex];
    if (time > walk->now_ns) walk->now_ns = time;
    walk->span->links[vertex] = (struct link){.before = walk->before, .follows = DAG_NONE, .state = LINK_NEW};
    walk->before = vertex;
    enum action action = walk->work->scratch->action[vertex];
    if (action == ACTION_OPEN) {
        walk_open(walk, vertex);
    } else if (action == ACTION_CLOSE) {
        walk_close(walk, vertex);
    } else if (body) {
        walk_follow(walk, vertex, body);
        if (action == ACTION_WAIT || action == ACTION_BLOCK) body->sleeps++;
        if (action == ACTION_WAKE) body->sleeps--;
    }
}

static void walk_thread(struct walk *walk, uint32_t thread) {
    if (walk->dag->threads[thread].count == 0) return;
    walk->counted = walk->work->scratch->thread_class[thread] != CLASS_UNCOUNTED;
    walk->depth = 0;
    walk->before = DAG_NONE;
    walk->now_ns = walk->work->series.from_ns;
    struct dag_chain *chain = &walk->work->chain;
    dag_chain_start(chain, thread);
    for (uint32_t v; (v = dag_chain_next(chain)) != DAG_NONE;) {
        if (walk->run->time_ns[v] != DAG_ABSENT) walk_vertex(walk, v);
    }
    while (walk->depth > 0 && walk->counted) walk->tasks->work_ns += (double)walk->span->bodies[--walk->depth].total_ns;
}

// What a vertex awaits beside its thread: a body its spawn, others their cause.
static uint32_t awaited_by(const struct walk *walk, uint32_t vertex) {
    const struct dag_vertices *vertices = &walk->dag->vertices;
    if (vertices->kind[vertex] != VERTEX_START || vertices->task[vertex] == DAG_NONE)
        return dag_awaited_by(vertices, vertex);
    if (work_is_part(walk->dag, walk->edit, vertices->task[vertex])) return DAG_NONE;
    return walk->dag->tasks[vertices->task[vertex]].spawn_begin;
}

static bool is_unsolved(const struct link *links, uint32_t vertex) {
    return vertex != DAG_NONE && links[vertex].state == LINK_NEW;
}

static void solve_link(const struct walk *walk, uint32_t vertex, uint32_t awaited) {
    struct link *links = walk->span->links, *link = &links[vertex];
    bool in_body = link->follows != DAG_NONE || walk->work->scratch->action[vertex] == ACTION_OPEN;
    int64_t most = link->before != DAG_NONE ? links[link->before].most_ns : 0;
    link->path_ns = in_body ? 0 : most;
    if (link->follows != DAG_NONE) link->path_ns = links[link->follows].path_ns + link->run_ns;
    if (awaited != DAG_NONE && links[awaited].state == LINK_DONE && links[awaited].path_ns > link->path_ns) {
        link->path_ns = links[awaited].path_ns;
    }
    link->most_ns = most > link->path_ns ? most : link->path_ns;
    link->state = LINK_DONE;
}

static void solve_path(const struct walk *walk, uint32_t vertex) {
    struct link *links = walk->span->links;
    uint32_t *stack = walk->span->stack, depth = 0;
    if (links[vertex].state != LINK_NEW) return;
    for (stack[depth++] = vertex; depth > 0;) {
        uint32_t top = stack[depth - 1], awaited = awaited_by(walk, top);
        links[top].state = LINK_OPEN;
        if (is_unsolved(links, links[top].before)) {
            stack[depth++] = links[top].before;
        } else if (is_unsolved(links, awaited)) {
            stack[depth++] = awaited;
        } else {
            solve_link(walk, top, awaited);
            depth--;
        }
    }
}

static double span_of(const struct walk *walk) {
    int64_t longest = 0;
    for (uint32_t v = 0; v < walk->dag->vertex_count; v++) {
        solve_path(walk, v);
        if (walk->span->links[v].state == LINK_DONE && walk->span->links[v].path_ns > longest) {
            longest = walk->span->links[v].path_ns;
        }
    }
    return (double)longest;
}

static bool in_cycles(const struct dag *dag) {
    return dag->vertices.compute_ns && strcmp(dag->trace->header.cycle_unit, "cycles") == 0;
}

bool tasks_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   struct metrics_work *work, struct metrics *metrics, struct error *error) {
    if (!span_prepare(work->scratch, error)) return false;
    struct span_work *span = work->scratch->span;
    struct walk walk = {.dag = dag, .edit = edit, .run = run, .work = work, .span = span, .tasks = &metrics->tasks};
    span->granularity_count = span->queue_wait_count = 0;
    metrics->tasks.work_ns = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) span->links[v].state = LINK_ABSENT;
    for (uint32_t t = 0; t < dag->thread_count; t++) walk_thread(&walk, t);
    metrics->tasks.span_ns = span_of(&walk);
    metrics->tasks.granularity_unit = in_cycles(dag) ? "cycles" : "ns";
    if (in_cycles(dag)) {
        double per_ns = work_origin(dag)->cycles_per_ns;
        for (size_t i = 0; i < span->granularity_count; i++) span->granularity[i] *= per_ns;
    }
    metrics->tasks.granularity = quantiles_of(span->granularity, span->granularity_count);
    metrics->tasks.queue_wait_ns = quantiles_of(span->queue_wait, span->queue_wait_count);
    return true;
}
