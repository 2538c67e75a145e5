// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag_reference.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN (INT64_MIN + 1)

// Thread edges as doubly linked lists; the label of the edge from before[v] to v is lead_ns + t(v) - from_ns, from_ns
// being the recorded time of what v follows. Beyond the vertices there is one root a thread, at its first
// vertex's recorded time.
struct graph {
    const struct dag *dag;
    const struct dag_edit *edit;
    uint32_t *before, *after;
    int64_t *lead_ns, *from_ns;
    bool *moved_in, *present;
    int64_t *time_ns;
};

static uint32_t root_of(const struct graph *graph, uint32_t thread) {
    return graph->dag->vertex_count + thread;
}

static void link(struct graph *graph, uint32_t v, uint32_t w) {
    graph->after[v] = w;
    if (w != DAG_NONE) graph->before[w] = v;
}

static int64_t delay(const struct graph *graph, uint32_t v) {
    return graph->lead_ns[v] + graph->dag->vertices.time_ns[v] - graph->from_ns[v];
}

static void link_recorded(struct graph *graph) {
    const int64_t *t = graph->dag->vertices.time_ns;
    for (uint32_t i = 0; i < graph->dag->thread_count; i++) {
        const struct dag_thread *thread = &graph->dag->threads[i];
        uint32_t before = root_of(graph, i);
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            link(graph, before, v);
            graph->from_ns[v] = v == thread->first ? t[v] : t[v - 1];
            before = v;
        }
        link(graph, before, DAG_NONE);
    }
}

// Eq. 2: the worker's chain closes over pick-up and body.
static void take_out(struct graph *graph, const struct dag_task *task) {
    uint32_t v = graph->before[task->pickup], w = graph->after[task->end];
    for (uint32_t u = task->pickup; u < task->start; u++) graph->present[u] = false;
    link(graph, v, w);
    if (w == DAG_NONE) return;
    bool works = task->enclosing != DAG_NONE; // a worker between tasks does not
    graph->lead_ns[w] += works ? delay(graph, task->pickup) : graph->lead_ns[task->pickup];
}

// Eq. 1: the body takes the place of its spawn bracket.
static void put_in(struct graph *graph, const struct dag_task *task) {
    uint32_t v = graph->before[task->spawn_begin], w = graph->after[task->spawn_end];
    for (uint32_t u = task->spawn_begin, next; u != w; u = next) {
        next = graph->after[u];
        graph->present[u] = false;
    }
    link(graph, v, task->start);
    link(graph, task->end, w);
    graph->lead_ns[task->start] = delay(graph, task->spawn_begin);
    graph->from_ns[task->start] = graph->dag->vertices.time_ns[task->start];
    graph->moved_in[task->start] = true;
}

static bool has_body(const struct graph *graph, uint32_t thread) {
    for (uint32_t v = graph->after[root_of(graph, thread)]; v != DAG_NONE; v = graph->after[v]) {
        unsigned kind = graph->dag->vertices.kind[v];
        bool spawns = kind == VERTEX_SPAWN_BEGIN && graph->dag->vertices.task[v] != DAG_NONE;
        if (kind == VERTEX_START || spawns) return true;
    }
    return false;
}

static void remove_idle_workers(struct graph *graph, const bool *had_body) {
    for (uint32_t i = 0; i < graph->dag->thread_count; i++) {
        if (!graph->dag->threads[i].worker || !had_body[i] || has_body(graph, i)) continue;
        for (uint32_t v = graph->after[root_of(graph, i)]; v != DAG_NONE; v = graph->after[v])
            graph->present[v] = false;
        graph->after[root_of(graph, i)] = DAG_NONE;
    }
}

static bool is_before_work(unsigned kind) {
    return kind == VERTEX_IDLE || kind == VERTEX_BUSY || vertex_is_of_resource(kind);
}

// What a worker's start follows when its creation is gone: the spawn of the first body, if nothing else comes before
// it.
static uint32_t substitute(const struct graph *graph, uint32_t v) {
    const struct dag_vertices *vertices = &graph->dag->vertices;
    uint32_t w = graph->after[v];
    while (w != DAG_NONE && is_before_work(vertices->kind[w])) w = graph->after[w];
    if (w == DAG_NONE || vertices->kind[w] != VERTEX_START || graph->moved_in[w]) return DAG_NONE;
    return graph->dag->tasks[vertices->task[w]].spawn_begin;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// Its time, or UNKNOWN as long as one of its causes has none.
static int64_t begin_time(const struct graph *graph, uint32_t v) {
    const int64_t *t = graph->dag->vertices.time_ns;
    uint32_t cause = graph->dag->vertices.cause[v], follows = cause;
    if (cause == DAG_NONE) return t[v];
    if (!graph->present[cause]) follows = substitute(graph, v);
    if (follows == DAG_NONE) return t[v];
    return graph->time_ns[follows] == UNKNOWN ? UNKNOWN : graph->time_ns[follows] + (t[v] - t[cause]);
}

static int64_t wait_time(const struct graph *graph, uint32_t v, int64_t before_ns, int64_t result_ns) {
    const int64_t *t = graph->dag->vertices.time_ns;
    int64_t recorded_result_ns = t[graph->dag->vertices.cause[v]];
    if (recorded_result_ns > t[v]) { // seen before its event: that much sooner in any run
        result_ns -= recorded_result_ns - t[v];
        recorded_result_ns = t[v];
    }
    bool sleeps = result_ns > before_ns + graph->lead_ns[v], slept = recorded_result_ns > graph->from_ns[v];
    if (sleeps && slept) return result_ns + (t[v] - recorded_result_ns);
    if (sleeps) return result_ns + graph->dag->wakeup_ns;
    return before_ns + (slept ? graph->lead_ns[v] : delay(graph, v));
}

static int64_t time_of(const struct graph *graph, uint32_t v) {
    const struct dag_vertices *vertices = &graph->dag->vertices;
    int64_t before_ns = graph->time_ns[graph->before[v]];
    unsigned rule = graph->moved_in[v] ? RULE_RUN : vertices->rule[v];
    if (rule == RULE_BEGIN) return begin_time(graph, v);
    if (before_ns == UNKNOWN) return UNKNOWN;
    uint32_t cause = vertices->cause[v];
    if (rule == RULE_RUN || rule == RULE_GRANT || cause == DAG_NONE) return before_ns + delay(graph, v);
    int64_t cause_ns = graph->present[cause] ? graph->time_ns[cause] : DAG_ABSENT;
    if (cause_ns == UNKNOWN) return UNKNOWN;
    if (rule == RULE_WAIT) return wait_time(graph, v, before_ns, cause_ns);
    if (rule == RULE_MAX) return most(before_ns, cause_ns);
    int64_t recorded_ns = most(graph->from_ns[v], vertices->time_ns[cause]);
    return most(before_ns + graph->lead_ns[v], cause_ns) + vertices->time_ns[v] - recorded_ns;
}

static bool relax(struct graph *graph) {
    bool changed = false;
    for (uint32_t v = 0; v < graph->dag->vertex_count; v++) {
        if (!graph->present[v] || graph->time_ns[v] != UNKNOWN) continue;
        graph->time_ns[v] = time_of(graph, v);
        changed |= graph->time_ns[v] != UNKNOWN;
    }
    return changed;
}

static void rewrite(struct graph *graph) {
    const struct dag *dag = graph->dag;
    bool *had_body = calloc(dag->thread_count + 1, sizeof *had_body);
    if (!had_body) abort();
    link_recorded(graph);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            had_body[i] |= dag->vertices.kind[v] == VERTEX_START;
        }
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (graph->edit->inlined[t]) take_out(graph, &dag->tasks[t]);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (graph->edit->inlined[t]) put_in(graph, &dag->tasks[t]);
    }
    remove_idle_workers(graph, had_body);
    free(had_body);
}

// ---- helped bodies that sink (dag/edit/edit.h)

// The wait, in the body around, in which a helped body lies; DAG_NONE: in none. Found from that body's start on.
static uint32_t wait_with(const struct dag *dag, const struct dag_task *task) {
    uint32_t open = DAG_NONE;
    if (task->dispatch != DISPATCH_HELPED) return DAG_NONE;
    for (uint32_t v = dag->tasks[task->enclosing].start + 1; v < task->pickup; v++) {
        if (dag->vertices.kind[v] == VERTEX_START)
            v = dag->tasks[dag->vertices.task[v]].end;
        else if (dag->vertices.kind[v] == VERTEX_WAIT_BEGIN)
            open = v;
        else if (dag->vertices.kind[v] == VERTEX_WAIT_END)
            open = DAG_NONE;
    }
    return open;
}

static bool comes_from(const struct dag *dag, uint32_t task, uint32_t ancestor) {
    return task != DAG_NONE && (task == ancestor || comes_from(dag, dag->tasks[task].spawner, ancestor));
}

// Where a body that lies in `waiter`'s wait for what is inlined, or runs in that wait, goes from there; DAG_NONE: it
// stays where it was.
static uint32_t deeper(const struct dag *dag, const struct dag_edit *edit, uint32_t sinking, uint32_t waiter,
                       uint32_t wait) {
    uint32_t awaited = dag->vertices.task[wait], inner = DAG_NONE;
    if (awaited == sinking || (!edit->inlined[awaited] && wait_with(dag, &dag->tasks[awaited]) != wait)) return wait;
    if (dag->tasks[awaited].spawner != waiter) return DAG_NONE;
    uint32_t start = dag->tasks[awaited].start, end = dag->tasks[awaited].end;
    for (uint32_t v = end; v-- > start + 1;) {
        bool own = dag->vertices.kind[v] == VERTEX_WAIT_BEGIN && dag->vertices.task[v] != DAG_NONE;
        for (uint32_t u = start + 1; own && u <= v; u++) {
            if (dag->vertices.kind[u] != VERTEX_START) continue;
            own = dag->tasks[dag->vertices.task[u]].end < v;
            u = dag->tasks[dag->vertices.task[u]].end;
        }
        uint32_t child = own ? dag->vertices.task[v] : DAG_NONE;
        if (child == DAG_NONE || dag->tasks[child].spawner != awaited) continue;
        if (comes_from(dag, sinking, child)) inner = v;
    }
    return inner == DAG_NONE ? DAG_NONE : deeper(dag, edit, sinking, awaited, inner);
}

static void sink(struct graph *graph, const struct dag_task *task, uint32_t wait, uint32_t *last_of_wait) {
    uint32_t v = graph->before[task->pickup], w = graph->after[task->tail];
    uint32_t before = last_of_wait[wait] == DAG_NONE ? wait : last_of_wait[wait], then = graph->after[before];
    link(graph, v, w);
    if (w != DAG_NONE) graph->lead_ns[w] += delay(graph, task->pickup);
    graph->lead_ns[task->pickup] = 0;
    link(graph, before, task->pickup);
    link(graph, task->tail, then == task->pickup ? w : then);
    last_of_wait[wait] = task->tail;
}

static void sink_all(struct graph *graph) {
    const struct dag *dag = graph->dag;
    uint32_t *last_of_wait = malloc((dag->vertex_count + 1) * sizeof *last_of_wait);
    if (!last_of_wait) abort();
    for (uint32_t v = 0; v < dag->vertex_count; v++) last_of_wait[v] = DAG_NONE;
    for (uint32_t v = 0; v < dag->vertex_count; v++) { // in the order of their starts
        if (dag->vertices.kind[v] != VERTEX_START) continue;
        uint32_t t = dag->vertices.task[v], wait = wait_with(dag, &dag->tasks[t]);
        uint32_t awaited = wait == DAG_NONE ? DAG_NONE : dag->vertices.task[wait];
        if (awaited == DAG_NONE || graph->edit->inlined[t] || !graph->edit->inlined[awaited]) continue;
        uint32_t target = deeper(dag, graph->edit, t, dag->tasks[t].enclosing, wait);
        if (target != DAG_NONE) sink(graph, &dag->tasks[t], target, last_of_wait);
    }
    free(last_of_wait);
}

static void graph_init(struct graph *graph, const struct dag *dag, const struct dag_edit *edit) {
    size_t nodes = (size_t)dag->vertex_count + dag->thread_count + 1;
    *graph = (struct graph){.dag = dag,
                            .edit = edit,
                            .before = malloc(nodes * sizeof(uint32_t)),
                            .after = malloc(nodes * sizeof(uint32_t)),
                            .lead_ns = calloc(nodes, sizeof(int64_t)),
                            .from_ns = calloc(nodes, sizeof(int64_t)),
                            .moved_in = calloc(nodes, sizeof(bool)),
                            .present = malloc(nodes * sizeof(bool)),
                            .time_ns = malloc(nodes * sizeof(int64_t))};
    bool whole = graph->before && graph->after && graph->lead_ns && graph->from_ns && graph->moved_in && graph->present;
    if (!whole || !graph->time_ns) abort();
    memset(graph->present, true, nodes);
    for (size_t v = 0; v < nodes; v++) graph->time_ns[v] = UNKNOWN;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t first = dag->threads[i].first;
        bool barrier = dag->vertices.kind[first] == VERTEX_BARRIER;
        graph->time_ns[root_of(graph, i)] = barrier ? DAG_ABSENT : dag->vertices.time_ns[first];
    }
}

static void graph_destroy(struct graph *graph) {
    free(graph->before);
    free(graph->after);
    free(graph->lead_ns);
    free(graph->from_ns);
    free(graph->moved_in);
    free(graph->present);
    free(graph->time_ns);
}

bool reference_propagate(const struct dag *dag, const struct dag_edit *edit, bool sinks, int64_t *time_ns) {
    struct graph graph;
    graph_init(&graph, dag, edit);
    rewrite(&graph);
    if (sinks) sink_all(&graph);
    while (relax(&graph)) {
    }
    bool all_known = true;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        time_ns[v] = graph.present[v] ? graph.time_ns[v] : DAG_ABSENT;
        all_known &= time_ns[v] != UNKNOWN;
    }
    graph_destroy(&graph);
    return all_known;
}
