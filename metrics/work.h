// SPDX-License-Identifier: GPL-3.0-or-later
// What the families share: facts of a DAG that no edit changes, worked out once and kept in struct metrics_work.
#ifndef REHYPE_METRICS_WORK_H
#define REHYPE_METRICS_WORK_H

#include "metrics/figures.h"
#include "metrics/pairing.h"

enum thread_class { CLASS_UNCOUNTED, CLASS_PLATFORM, CLASS_VIRTUAL };

// A thread, or a body that the edit moved off its thread, on its way through modes (usage.c).
struct stretch {
    uint8_t now, written; // modes; written only once it has lasted
    uint8_t outside;      // mode when in no body
    bool counted;
    bool stands_in;   // while it is in a body, another that is not seems to be a thread more
    uint32_t depth;   // own entries on the stack of open bodies and waits
    uint32_t bodies;  // own open bodies
    int64_t since_ns; // of the mode `now`
    int64_t latest_ns;
};

struct span_work;
struct streamed;

// Beside the states: active and not blocked, hence on a core or ready for one.
enum { LEVEL_RUNNING = STATE_COUNT, LEVEL_COUNT };

struct metrics_scratch {
    const struct dag *dag;     // bound to; NULL: none
    uint8_t *action;           // a vertex each
    uint8_t *slept;            // a vertex each: in a body, and work_slept_ns is not 0
    uint32_t *acting;          // vertices that have an action or were slept before, thread by thread
    uint32_t *first_acting;    // a thread each, and one more: where its vertices begin in acting
    uint32_t *open;            // stack of a thread's open bodies and sleeps, as vertices
    uint8_t *nesting;          // the same while states are gathered, as modes
    struct stretch *stretches; // stack: a thread, and above it the moved bodies that lie in each other
    uint8_t *spawned_active;   // a task each: its spawner is active at the spawn, without an action of the spawn's own
    uint8_t *thread_class;     // a thread each
    bool one_class;            // all threads are platform threads that count
    bool any_virtual;
    int64_t *overhead_ns;          // a task each: spawn bracket and pick-up residual, as recorded
    struct state_change *spare;    // the radix sort's other half; series.capacity long
    int64_t *time_at[LEVEL_COUNT]; // [level]: time with so many threads in the state
    uint32_t levels;               // length of time_at[s]
    struct streamed *streamed;     // of metrics_of_simulation; NULL until then
    struct span_work *span;        // of metrics_compute; NULL until then
    bool span_bound;               // it is of this DAG
    struct dag_edit empty;         // of runs that are DAGs of their own: flags of `inlined` and no more
    uint32_t vertex_capacity, task_capacity, thread_capacity, deepest_capacity; // of the arrays above
};

// Binds the workspace to a DAG, unless it is that already, and its chain to an edit. Memory is kept from DAG to DAG.
bool work_bind(struct metrics_work *work, const struct dag *dag, const struct dag_edit *edit, struct error *error);

// Frees what work_bind made, but for what other files keep in scratch.
void work_empty(struct metrics_work *work);

// The same for a run that is a DAG of its own, with scratch->empty as its edit.
bool work_bind_run(struct metrics_work *work, const struct dag *run, struct error *error);

// A DAG that was made from a recording keeps its address when it is made anew, so that what is bound to says nothing.
static inline void work_forget(struct metrics_work *work, const struct dag *dag) {
    if (dag->origin && work->scratch) work->scratch->dag = NULL;
}

// What was recorded, of a DAG that was simulated; else the DAG itself.
static inline const struct dag *work_origin(const struct dag *dag) {
    while (dag->origin) dag = dag->origin;
    return dag;
}

// Recorded time of what a vertex stands for, or DAG_ABSENT for what only a simulation made. A replicate of a recording
// (metrics/interval.h) may be simulated in turn.
static inline int64_t work_recorded_ns(const struct dag *dag, uint32_t vertex) {
    for (; dag->origin && vertex != DAG_NONE; dag = dag->origin) vertex = dag->source[vertex];
    return vertex == DAG_NONE ? DAG_ABSENT : dag->vertices.time_ns[vertex];
}

static inline bool work_is_within(const struct window *window, int64_t recorded_ns) {
    return !window || (recorded_ns != DAG_ABSENT && recorded_ns >= window->from_ns && recorded_ns <= window->to_ns);
}

// Whether a body is no task's own, but part of what lies around it; what an actor does is likewise counted with what
// lies around it (metrics/figures.h).
static inline bool work_is_part(const struct dag *dag, const struct dag_edit *edit, uint32_t task) {
    return edit->inlined[task] || dag->tasks[task].flags & TASK_NESTED;
}

enum thread_class work_classify(const struct dag *dag, const struct dag_thread *thread);

// The window as times of this run. As many of its recorded events (of counted threads, that it still has) come before
// the window as were recorded before it, and within it as were recorded within it; so windows that don't overlap as
// recorded don't here. Of the run as recorded that is from the first event within it to the last. NULL: all events,
// those that were not recorded among them. false: there is none. Cost: a pass over the vertices, with a window about
// ten.
bool work_window(const struct metrics_scratch *scratch, const struct dag_run *run, const struct window *window,
                 int64_t *from_ns, int64_t *to_ns);

// What the edge to a vertex computes; only where that was measured. A body that moved follows what led to its spawn.
static inline int64_t work_compute_ns(const struct dag *dag, const struct dag_edit *edit, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    bool moved = edit->inlined_count && vertices->kind[vertex] == VERTEX_START && edit->inlined[vertices->task[vertex]];
    return vertices->compute_ns[moved ? dag->tasks[vertices->task[vertex]].spawn_begin : vertex];
}

// What a thread slept on the edge to a vertex, at its end, though no event says so (Thread.sleep, I/O): it neither
// computed then nor waited for a core. 0 also for what is too little to tell from none, where that was not measured,
// and of edges that sleep as events say. Of a vertex that is not its thread's first.
int64_t work_slept_ns(const struct dag *dag, uint32_t vertex);
int64_t work_least_slept_ns(const struct dag *dag, int64_t length_ns); // of an edge: less is none

static inline bool work_task_runs(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                                  uint32_t task) {
    uint32_t start = dag->tasks[task].start;
    return start != DAG_NONE && !work_is_part(dag, edit, task) && !(dag->tasks[task].flags & TASK_OF_ACTOR) &&
           run->time_ns[start] != DAG_ABSENT;
}

// Cores of the run, be it simulated; 0: unknown.
static inline double work_cores(const struct dag *dag) {
    return dag->cores > 0 ? dag->cores : dag->trace->header.cores;
}

// Whether the trace tells what a JVM did, not what it might have done.
bool work_is_recorded(const struct trace *trace);

// Whether a thread was still there when recording ended: it waits, computes, or is idle as long as the run lasts.
bool work_outlasts_run(const struct dag *dag, const struct dag_thread *thread);

// Whether the JVM paused (GC) for some of that time.
bool work_meets_pause(const struct dag *dag, int64_t from_ns, int64_t to_ns);

// Per family; metrics.c calls them in this order, on a workspace that is bound.
bool usage_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   const struct window *window, const struct metrics *base, struct metrics_work *work,
                   struct metrics *metrics, struct error *error);
// The series of its platform threads, or its virtual ones, over the whole of a run that is a DAG of its own. Errors: a
// run without a counted thread's event (STATUS_USAGE).
bool usage_series(const struct dag *run, bool virtual_threads, struct metrics_work *work, struct error *error);
void series_sort(struct state_series *series, struct state_change **spare);
// What follows from a series that is sorted, into figures that are unknown until then. Of the trace that was recorded.
void usage_figures(struct metrics_work *work, const struct trace *trace, double cores, double overhead,
                   const struct metrics *base, struct metrics *metrics);
void streamed_free(struct streamed *streamed);
bool tasks_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                   struct metrics_work *work, struct metrics *metrics, struct error *error);
void tasks_forget(struct span_work *span);
struct request_metrics requests_unknown(void);
struct cpu_metrics cpu_unknown(void);
void cpu_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                 const struct window *window, const struct metrics_work *work, struct cpu_metrics *cpu);

#endif
