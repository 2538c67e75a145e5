// SPDX-License-Identifier: GPL-3.0-or-later
// The run as a DAG of its own: what processes passed is laid side by side, and then threads, bodies and causes are
// found again, by what is open at each vertex, as dag_build finds them in a recording.
//
// What is recorded of passages lies in as many places as a process ran bodies. So laying them decides nothing by it (no
// branch hangs on what has yet to come from memory), and passages overlap; what has to be decided is, in passes over
// what was laid, which stands side by side.
//
// Of large runs two threads derive processes, and tasks (base/hands.h). What comes out is the same whichever derives
// what: where a process's vertices go is counted first, and no two processes pass the same vertex.
#include "dag/simulate/derive.h"

#include "base/hands.h"
#include "base/pages.h"
#include "dag/edge.h"
#include "dag/propagate/rules.h"
#include "dag/simulate/clients.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/stretches.h"

#include <stdlib.h>
#include <string.h>

enum {
    FETCHED_AHEAD = 16,   // vertices
    LEAST_SHARED = 65536, // vertices: to make and join a thread takes as long as to derive a few thousand
    PIECE = 16384,        // tasks
};

// Where a job is in this run: vertices, a thread and jobs, DAG_NONE for none.
struct place {
    uint32_t spawn_begin, spawn_end, spawner;
    uint32_t thread, enclosing, pickup, start, end;
};

// What derives: this thread, or the one that helps it.
struct hand {
    struct simulation *sim;
    uint32_t *open; // tasks whose bodies are open on the process in hand
    uint32_t depth;
};

struct derive_work {
    struct dag_vertices vertices;
    uint32_t *source;
    uint32_t vertex_capacity;
    struct dag_aside *asides;
    uint32_t aside_capacity;
    struct dag_thread *threads;
    uint32_t *first_aside;  // a thread each, and one more
    uint32_t *caused_count; // a thread each: of vertices in `caused`
    uint32_t thread_capacity;
    struct dag_pool *pools;
    struct dag_resource *resources;
    struct dag_await *awaits;
    struct dag_request *requests;
    struct dag_task *tasks;
    int64_t *due_ns, *period_ns; // a task each, as in struct dag
    uint32_t *due_set;
    uint32_t *actor_of; // a task each, as in struct dag
    struct dag_actor *actors;
    uint32_t actor_capacity;
    struct place *places; // a task each
    uint32_t task_capacity;
    uint32_t *now;    // a vertex of the recording each: where it is in this run, DAG_NONE
    uint32_t *caused; // of each thread, where its vertices are: those whose cause is still to be found, rising
    uint32_t *open;   // room for all tasks, once for each hand
    struct hand hands[DERIVERS];
    uint32_t hand_count;
};

bool derive_new(struct simulation *sim) {
    struct derive_work *work = sim->derive = calloc(1, sizeof *work);
    if (!work) return false;
    work->pools = malloc(((size_t)sim->dag->pool_count + 1) * sizeof *work->pools);
    work->resources = malloc(((size_t)sim->dag->resource_count + 1) * sizeof *work->resources);
    work->awaits = malloc(((size_t)sim->dag->await_count + 1) * sizeof *work->awaits);
    work->requests = malloc(((size_t)sim->dag->request_count + 1) * sizeof *work->requests);
    return work->pools && work->resources && work->awaits && work->requests &&
           pages_resize(&work->now, (size_t)sim->dag->vertex_count + 1, sizeof *work->now);
}

void derive_free(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    if (!work) return;
    free(work->vertices.time_ns);
    free(work->vertices.cause);
    free(work->vertices.task);
    free(work->vertices.kind);
    free(work->vertices.rule);
    free(work->vertices.compute_ns);
    free(work->vertices.queued_ns);
    free(work->source);
    free(work->asides);
    free(work->threads);
    free(work->first_aside);
    free(work->caused_count);
    free(work->pools);
    free(work->resources);
    free(work->awaits);
    free(work->requests);
    free(work->tasks);
    free(work->due_ns);
    free(work->period_ns);
    free(work->due_set);
    free(work->actor_of);
    free(work->actors);
    free(work->places);
    free(work->now);
    free(work->caused);
    free(work->open);
    free(work);
}

static bool reserve_vertices(struct derive_work *work, const struct dag_vertices *recorded, size_t count) {
    struct dag_vertices *vertices = &work->vertices;
    return pages_resize(&vertices->time_ns, count, sizeof *vertices->time_ns) &&
           pages_resize(&vertices->cause, count, sizeof *vertices->cause) &&
           pages_resize(&vertices->task, count, sizeof *vertices->task) &&
           pages_resize(&vertices->kind, count, sizeof *vertices->kind) &&
           pages_resize(&vertices->rule, count, sizeof *vertices->rule) &&
           (!recorded->compute_ns || pages_resize(&vertices->compute_ns, count, sizeof *vertices->compute_ns)) &&
           (!recorded->queued_ns || pages_resize(&vertices->queued_ns, count, sizeof *vertices->queued_ns)) &&
           pages_resize(&work->source, count, sizeof *work->source) &&
           pages_resize(&work->caused, count, sizeof *work->caused);
}

static bool reserve_due(struct derive_work *work, size_t tasks) {
    return pages_resize(&work->due_ns, tasks, sizeof *work->due_ns) &&
           pages_resize(&work->period_ns, tasks, sizeof *work->period_ns) &&
           pages_resize(&work->due_set, tasks, sizeof *work->due_set);
}

static bool reserve(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    size_t threads = sim->process_capacity;
    if (sim->process_count >= work->thread_capacity) {
        if (!pages_resize(&work->threads, threads, sizeof *work->threads) ||
            !pages_resize(&work->first_aside, threads + 1, sizeof *work->first_aside) ||
            !pages_resize(&work->caused_count, threads, sizeof *work->caused_count)) {
            return false;
        }
        work->thread_capacity = sim->process_capacity;
    }
    if (sim->job_count >= work->task_capacity) {
        size_t tasks = (size_t)sim->job_capacity + 1;
        if (!pages_resize(&work->tasks, tasks, sizeof *work->tasks) ||
            !pages_resize(&work->open, DERIVERS * tasks, sizeof *work->open) ||
            !pages_resize(&work->places, tasks, sizeof *work->places) ||
            (sim->dag->due_ns && !reserve_due(work, tasks)) ||
            (sim->dag->actor_of && !pages_resize(&work->actor_of, tasks, sizeof *work->actor_of))) {
            return false;
        }
        work->task_capacity = (uint32_t)tasks;
    }
    if (sim->mailbox_count > work->actor_capacity) {
        if (!pages_resize(&work->actors, sim->mailbox_count, sizeof *work->actors)) return false;
        work->actor_capacity = sim->mailbox_count;
    }
    if (sim->passed < work->vertex_capacity) return true;
    uint32_t vertices = sim->passed + sim->passed / 8 + 1;
    work->vertex_capacity = 0;
    if (!reserve_vertices(work, &sim->dag->vertices, vertices)) return false;
    work->vertex_capacity = vertices;
    return true;
}

// Whether the result of a group or of a task in parts comes apart from their ends.
static bool comes_apart(const struct simulation *sim, uint32_t task) {
    return job_is_part(sim, task) || ends_group(sim, task) || sim->placement[task] == PLACEMENT_MERGED;
}

static bool is_result_of_whole(const struct passage *passage) {
    return passage->kind == VERTEX_RESULT && passage->source == DAG_NONE;
}

static bool is_end_of_part(const struct simulation *sim, const struct passage *passage) {
    return passage->kind == VERTEX_END && comes_apart(sim, passage->task);
}

static void set_cause(struct dag_vertices *vertices, uint32_t vertex, enum vertex_rule rule, uint32_t cause) {
    bool stays = (cause != DAG_NONE) | (rule == RULE_BEGIN) | (rule == RULE_MAX);
    vertices->cause[vertex] = cause;
    vertices->rule[vertex] = stays ? rule : RULE_RUN;
}

// ---- bodies and brackets, by what is open

static void open_body(struct hand *hand, struct dag_thread *thread, uint32_t job, uint32_t start) {
    struct derive_work *work = hand->sim->derive;
    const struct dag_vertices *vertices = &work->vertices;
    struct place *place = &work->places[job];
    place->start = place->pickup = start;
    place->thread = (uint32_t)(thread - work->threads);
    place->enclosing = hand->depth ? hand->open[hand->depth - 1] : DAG_NONE;
    if (!hand->depth) thread->bodies++;
    while (place->pickup > thread->first && vertices->task[place->pickup - 1] == job &&
           (vertices->kind[place->pickup - 1] == VERTEX_IDLE || vertices->kind[place->pickup - 1] == VERTEX_BUSY)) {
        place->pickup--;
    }
    hand->open[hand->depth++] = job;
}

static void close_body(struct hand *hand, uint32_t job, uint32_t end) {
    uint32_t depth = hand->depth;
    hand->sim->derive->places[job].end = end;
    while (depth && hand->open[depth - 1] != job) depth--;
    if (depth) hand->depth = depth - 1;
}

static void begin_bracket(struct hand *hand, struct dag_thread *thread, uint32_t job, uint32_t spawn_begin) {
    struct place *place = &hand->sim->derive->places[job];
    place->spawn_begin = place->spawn_end = spawn_begin;
    place->spawner = hand->depth ? hand->open[hand->depth - 1] : DAG_NONE;
    if (!hand->depth) thread->pinned = true;
}

static void find_places(struct hand *hand, struct dag_thread *thread) {
    struct derive_work *work = hand->sim->derive;
    const struct dag_vertices *vertices = &work->vertices;
    hand->depth = 0;
    for (uint32_t v = thread->first, end = v + thread->count; v < end; v++) {
        if (v + FETCHED_AHEAD < end) __builtin_prefetch(&work->places[vertices->task[v + FETCHED_AHEAD]], 1);
        uint32_t job = vertices->task[v];
        if (vertices->kind[v] > VERTEX_END || job == DAG_NONE) continue;
        switch (vertices->kind[v]) {
        case VERTEX_START:
            open_body(hand, thread, job, v);
            break;
        case VERTEX_END:
            close_body(hand, job, v);
            break;
        case VERTEX_SPAWN_BEGIN:
            begin_bracket(hand, thread, job, v);
            break;
        default: // VERTEX_SPAWN_END
            work->places[job].spawn_end = v;
        }
    }
}

// ---- vertices

// Of vertices without a recorded cause only these can have one.
static bool may_get_cause(enum vertex_kind kind) {
    return 1u << kind & (1u << VERTEX_START | 1u << VERTEX_THREAD_START | 1u << VERTEX_RETIRE | 1u << VERTEX_BARRIER);
}

// What vertices are laid from and to. Copies on the stack: a byte that is stored could change whatever a pointer leads
// to, and so all of that would be read again for each vertex.
struct laying {
    struct dag_vertices recorded, vertices;
    const struct dag *paused; // what was recorded, where the JVM had pauses; else NULL
    uint32_t *source, *now;
    uint32_t *caused;
    uint32_t caused_count;
};

// With the rule and the cause that were recorded, until find_cause.
static inline void lay_rule(struct laying *laying, uint32_t at, uint32_t source, enum vertex_kind kind) {
    const struct dag_vertices *recorded = &laying->recorded;
    uint32_t cause = source == DAG_NONE ? DAG_NONE : recorded->cause[source];
    set_cause(&laying->vertices, at, source == DAG_NONE ? RULE_RUN : recorded->rule[source], cause);
    laying->caused[laying->caused_count] = at;
    laying->caused_count += (cause != DAG_NONE) | may_get_cause(kind);
}

static inline void lay_vertex(const struct simulation *sim, struct laying *laying, uint32_t at,
                              const struct passage *passage) {
    struct dag_vertices *vertices = &laying->vertices;
    uint32_t source = passage->source;
    bool inlined_end =
        passage->kind == VERTEX_END && (job_has_moved(sim, passage->task) || passage_ends_stages(sim, passage));
    vertices->time_ns[at] = passage->time_ns;
    vertices->task[at] = passage->task;
    vertices->kind[at] = inlined_end ? VERTEX_RESULT : passage->kind;
    lay_rule(laying, at, source, passage->kind);
    laying->source[at] = source;
    if (is_result_of_whole(passage))
        laying->now[sim->dag->tasks[passage->task].result] = at;
    else if (source != DAG_NONE && !is_end_of_part(sim, passage))
        laying->now[source] = at;
}

// What an edge computed, and what it waited for a core; also for the JVM, which no later reader of the run can tell,
// since its pauses are as recorded.
struct effort {
    int64_t compute_ns, queued_ns;
};

static void lay_effort(struct dag_vertices *vertices, uint32_t at, struct effort effort) {
    if (vertices->compute_ns) vertices->compute_ns[at] = effort.compute_ns;
    if (vertices->queued_ns) vertices->queued_ns[at] = effort.queued_ns;
}

// As much of it as there is room for.
static struct effort within(int64_t compute_ns, int64_t queued_ns, int64_t length_ns) {
    int64_t computed_ns = min_ns(compute_ns, length_ns);
    return (struct effort){computed_ns, min_ns(queued_ns, length_ns - computed_ns)};
}

// As recorded.
static inline struct effort effort_of_edge(const struct laying *laying, uint32_t vertex) {
    int64_t queued_ns = laying->recorded.queued_ns ? laying->recorded.queued_ns[vertex] : 0;
    if (laying->paused) queued_ns += edge_paused_ns(laying->paused, vertex);
    return (struct effort){laying->recorded.compute_ns[vertex], queued_ns};
}

// Lays the vertices that came after a passage's first as they did when recorded.
static inline void lay_followers(struct laying *laying, uint32_t at, const struct passage *passage) {
    const struct dag_vertices *recorded = &laying->recorded;
    struct dag_vertices *vertices = &laying->vertices;
    for (uint32_t i = 1; i < passage->count; i++) {
        uint32_t source = passage->source + i;
        int64_t length_ns = recorded->time_ns[source] - recorded->time_ns[source - 1];
        at++;
        vertices->time_ns[at] = vertices->time_ns[at - 1] + length_ns;
        vertices->task[at] = recorded->task[source];
        vertices->kind[at] = recorded->kind[source];
        vertices->rule[at] = RULE_RUN;
        vertices->cause[at] = DAG_NONE;
        laying->source[at] = source;
        laying->now[source] = at;
        if (!recorded->compute_ns) continue;
        struct effort effort = effort_of_edge(laying, source);
        lay_effort(vertices, at, within(effort.compute_ns, effort.queued_ns, length_ns));
    }
}

static inline struct effort effort_of(const struct laying *laying, const struct passage *passage, int64_t length_ns) {
    struct effort effort = {passage->compute_ns, passage->queued_ns};
    if (passage->has_edge && laying->recorded.compute_ns) {
        struct effort recorded = effort_of_edge(laying, passage->source);
        effort.compute_ns += recorded.compute_ns;
        effort.queued_ns += recorded.queued_ns;
    }
    return within(effort.compute_ns, effort.queued_ns, length_ns);
}

// What is recorded of passages lies in as many places as the process ran bodies, so it is fetched ahead. Inlined early,
// or gcc takes this and fetch_cause for functions without effect and leaves out the calls.
static inline __attribute__((always_inline)) void fetch_recorded(const struct laying *laying,
                                                                 const struct passages *log, uint32_t index) {
    const struct dag_vertices *recorded = &laying->recorded;
    uint32_t source = index < log->count ? log->items[index].source : DAG_NONE;
    if (source == DAG_NONE) return;
    __builtin_prefetch(&recorded->time_ns[source]);
    __builtin_prefetch(&recorded->cause[source]);
    __builtin_prefetch(&recorded->task[source]);
    __builtin_prefetch(&recorded->kind[source]);
    __builtin_prefetch(&recorded->rule[source]);
    __builtin_prefetch(&laying->now[source], 1);
    if (recorded->compute_ns) __builtin_prefetch(&recorded->compute_ns[source]);
}

// What one thread passed. What is computed up to what is no vertex belongs to the next that is one.
static void lay_thread(const struct simulation *sim, uint32_t index) {
    const struct derive_work *work = sim->derive;
    uint32_t next = work->threads[index].first, aside = work->first_aside[index];
    const struct passages *log = &sim->log[index];
    const struct dag *paused = sim->dag->pause_count && !sim->dag->origin ? sim->dag : NULL;
    struct laying laying = {sim->dag->vertices, work->vertices,      paused, work->source,
                            work->now,          &work->caused[next], 0};
    struct effort carried = {0, 0};
    int64_t before_ns = log->count ? log->items[0].time_ns : 0;
    if (log->count && process_is_virtual(sim, index)) before_ns -= log->items[0].queued_ns; // from when it was ready
    for (uint32_t i = 0; i < log->count; i++) {
        const struct passage *passage = &log->items[i];
        fetch_recorded(&laying, log, i + FETCHED_AHEAD);
        struct effort effort = effort_of(&laying, passage, passage->time_ns - before_ns);
        carried.compute_ns += effort.compute_ns;
        carried.queued_ns += effort.queued_ns;
        before_ns = passage->time_ns;
        if (!passage_is_left(sim, passage)) {
            work->asides[aside++] = (struct dag_aside){passage->time_ns, passage->source, next};
            continue;
        }
        lay_vertex(sim, &laying, next, passage);
        lay_effort(&laying.vertices, next, carried);
        lay_followers(&laying, next, passage);
        carried = (struct effort){0, 0};
        next += passage->count;
        before_ns = laying.vertices.time_ns[next - 1];
    }
    work->caused_count[index] = laying.caused_count;
}

static void lay_process(void *hands, uint32_t hand, uint32_t index) {
    struct hand *by = (struct hand *)hands + hand;
    lay_thread(by->sim, index);
    find_places(by, &by->sim->derive->threads[index]);
}

// ---- threads

static struct dag_thread thread_of_process(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    uint32_t model = sim->processes[index].worker.model;
    struct dag_thread thread = {.stream = model == DAG_NONE ? DAG_NONE : dag->threads[model].stream,
                                .pool = pool_model(sim, sim->processes[index].worker.pool),
                                .worker = true,
                                .run_task = DAG_NONE};
    if (index < dag->thread_count) thread = dag->threads[index];
    thread.bodies = 0;
    thread.pinned = thread.stands_in = false;
    return thread;
}

// How many asides the thread has. Where no job has moved these were counted as it ran.
static uint32_t count_asides(const struct simulation *sim, const struct passages *log) {
    uint32_t asides = 0;
    if (!sim->moves) return log->dropped;
    for (uint32_t i = 0; i < log->count; i++) asides += !passage_is_left(sim, &log->items[i]);
    return asides;
}

static uint32_t count_vertices(const struct passages *log, uint32_t asides) {
    return log->count - asides + log->followers;
}

// The number of its asides stands where first_aside will.
static void count_process(const struct simulation *sim, uint32_t index) {
    const struct passages *log = &sim->log[index];
    struct dag_thread thread = thread_of_process(sim, index);
    uint32_t asides = count_asides(sim, log);
    thread.count = count_vertices(log, asides);
    sim->derive->threads[index] = thread;
    sim->derive->first_aside[index] = asides;
}

// Items: to forget where vertices were, and jobs; then the processes.
enum { FORGET_VERTICES, FORGET_JOBS, FIRST_PROCESS };

static void prepare(void *hands, uint32_t hand, uint32_t item) {
    const struct simulation *sim = ((struct hand *)hands + hand)->sim;
    const struct derive_work *work = sim->derive;
    if (item == FORGET_VERTICES)
        memset(work->now, 0xff, sim->dag->vertex_count * sizeof *work->now); // DAG_NONE
    else if (item == FORGET_JOBS)
        memset(work->places, 0xff, sim->job_count * sizeof *work->places); // likewise
    else
        count_process(sim, item - FIRST_PROCESS);
}

// Side by side, in their order. false: no memory.
static bool arrange_threads(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    uint32_t vertices = 0, asides = 0;
    for (uint32_t i = 0; i < sim->process_count; i++) {
        uint32_t count = work->first_aside[i];
        work->threads[i].first = vertices;
        work->first_aside[i] = asides;
        vertices += work->threads[i].count;
        asides += count;
    }
    work->first_aside[sim->process_count] = asides;
    sim->derived.thread_count = sim->process_count;
    sim->derived.vertex_count = vertices;
    if (asides <= work->aside_capacity) return true;
    work->aside_capacity = 0;
    if (!pages_resize(&work->asides, asides, sizeof *work->asides)) return false;
    work->aside_capacity = asides;
    return true;
}

static uint32_t now_at(const struct derive_work *work, uint32_t vertex) {
    return vertex == DAG_NONE ? DAG_NONE : work->now[vertex];
}

// ---- causes

static uint32_t first_task(const struct simulation *sim, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &sim->derive->vertices;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (vertices->kind[v] == VERTEX_START) return vertices->task[v];
    }
    return DAG_NONE;
}

// What made a thread. A pool's worker that was made for the task that is its first again was made where it was; else
// the spawn of its first task made it.
static uint32_t maker_of(const struct simulation *sim, const struct dag_thread *thread, uint32_t source) {
    uint32_t index = (uint32_t)(thread - sim->derive->threads);
    uint32_t recorded = source == DAG_NONE ? DAG_NONE : sim->dag->vertices.cause[source];
    uint32_t maker = now_at(sim->derive, recorded);
    if (!(thread->worker && pool_governs(sim, thread->pool))) {
        if (maker != DAG_NONE || recorded == DAG_NONE) return maker;
        return now_at(sim->derive, dag_constraint_of_start(sim->dag, sim->edit, source, index, true).cause);
    }
    const int64_t *time_ns = sim->derive->vertices.time_ns;
    bool in_time = maker != DAG_NONE && time_ns[maker] <= time_ns[thread->first];
    const bool of_stage = pool_governs(sim, thread->pool) && sim->pools[thread->pool].rules->is_stage;
    if (of_stage || stealing_governs(sim, thread->pool))
        return in_time ? maker : now_at(sim->derive, sim->processes[index].worker.maker);
    uint32_t task = first_task(sim, thread);
    if (task == DAG_NONE || sim->processes[index].worker.maker == DAG_NONE)
        return DAG_NONE; // it was there from the beginning
    const struct dag_task *of = &sim->dag->tasks[job_task(sim, task)];
    bool same = of->thread == index && of->spawn_begin < recorded && recorded < of->spawn_end;
    return same && in_time ? maker : sim->derive->places[task].spawn_begin;
}

// Of all that a pool's end had to await, what came last; a pool can be asked for more when it has ended.
static uint32_t last_awaited(const struct simulation *sim, uint32_t barrier, int64_t end_ns) {
    const struct derive_work *work = sim->derive;
    uint32_t latest = DAG_NONE;
    for (uint32_t v = barrier + 1; v-- > 0 && sim->dag->vertices.kind[v] == VERTEX_BARRIER;) {
        uint32_t cause = now_at(work, sim->dag->vertices.cause[v]);
        if (cause == DAG_NONE || work->vertices.time_ns[cause] > end_ns) continue;
        if (latest == DAG_NONE || work->vertices.time_ns[cause] > work->vertices.time_ns[latest]) latest = cause;
    }
    return latest;
}

static void find_cause(struct simulation *sim, const struct dag_thread *thread, uint32_t v) {
    struct derive_work *work = sim->derive;
    struct dag_vertices *vertices = &work->vertices;
    uint32_t cause = now_at(work, vertices->cause[v]);
    enum vertex_rule rule = vertices->rule[v];
    if (vertices->kind[v] == VERTEX_THREAD_START) {
        set_cause(vertices, v, RULE_BEGIN, maker_of(sim, thread, work->source[v]));
    } else if (vertices->kind[v] == VERTEX_RETIRE && pool_governs(sim, thread->pool)) {
        set_cause(vertices, v, RULE_WAKE, now_at(work, sim->pools[thread->pool].shutdown));
    } else if (vertices->kind[v] == VERTEX_BARRIER &&
               pool_governs(sim, sim->recorded.pool_of_barrier[thread - work->threads])) {
        set_cause(vertices, v, RULE_MAX, last_awaited(sim, work->source[v], vertices->time_ns[v]));
    } else {
        if (rule == RULE_BEGIN && thread->request) cause = now_at(work, client_turn(sim, thread->request - 1).cause);
        bool came_first = rule == RULE_GRANT && cause != DAG_NONE && vertices->time_ns[cause] > vertices->time_ns[v];
        set_cause(vertices, v, rule, came_first ? DAG_NONE : cause);
    }
}

static bool is_dispatched(const struct simulation *sim, uint32_t job) {
    return job_is_part(sim, job) || sim->placement[job] >= PLACEMENT_DISPATCHED;
}

// The spawn causes the first thing that shows the worker has the task.
static void cause_start(struct derive_work *work, uint32_t start) {
    struct dag_vertices *vertices = &work->vertices;
    const struct place *place = &work->places[vertices->task[start]];
    bool busy = place->pickup < start && vertices->kind[start - 1] == VERTEX_BUSY;
    set_cause(vertices, start, RULE_RUN, DAG_NONE);
    set_cause(vertices, start - busy, place->spawn_begin == DAG_NONE ? RULE_RUN : RULE_WAKE, place->spawn_begin);
}

static inline __attribute__((always_inline)) void fetch_cause(const struct derive_work *work, uint32_t v) {
    uint32_t cause = work->vertices.cause[v], task = work->vertices.task[v];
    __builtin_prefetch(&work->now[cause == DAG_NONE ? 0 : cause]);
    __builtin_prefetch(&work->places[task == DAG_NONE ? 0 : task]);
}

static void find_causes(struct simulation *sim, uint32_t index) {
    struct derive_work *work = sim->derive;
    const struct dag_thread *thread = &work->threads[index];
    const uint32_t *caused = &work->caused[thread->first];
    for (uint32_t i = 0, count = work->caused_count[index]; i < count; i++) {
        uint32_t v = caused[i], task = work->vertices.task[v];
        if (i + FETCHED_AHEAD < count) fetch_cause(work, caused[i + FETCHED_AHEAD]);
        if (work->vertices.kind[v] == VERTEX_START && task != DAG_NONE && is_dispatched(sim, task))
            cause_start(work, v);
        else
            find_cause(sim, thread, v);
    }
}

// ---- tasks

static uint32_t tail_of(const struct simulation *sim, uint32_t job, const struct dag_task *recorded) {
    bool no_tail = recorded->tail == recorded->end || job_is_part(sim, job) || job_has_left(sim, job);
    uint32_t tail = no_tail ? DAG_NONE : now_at(sim->derive, recorded->tail), end = sim->derive->places[job].end;
    return tail == DAG_NONE || end == DAG_NONE || tail < end ? end : tail;
}

// A periodic task's repetition, which no task spawned, wherever it was handed over (dag/build/due.c).
static bool repeats_unspawned(const struct dag *dag, const struct dag_task *recorded) {
    return recorded->spawner == DAG_NONE && dag->period_ns && dag->period_ns[recorded - dag->tasks] != 0;
}

// By a body that gave up waiting for it.
static bool was_cancelled_queued(const struct simulation *sim, const struct dag_task *recorded) {
    return sim->races && recorded->result != DAG_NONE && sim->recorded.traits[recorded->result] & TRAIT_CANCELS;
}

// Whether a task that recording had cut ended in this run, since its worker went on to others.
static bool ends_now(const struct simulation *sim, const struct dag_task *recorded, const struct dag_task *task) {
    if (!(recorded->flags & TASK_CUT) || task->thread == DAG_NONE || task->tail == DAG_NONE) return false;
    const struct dag_thread *thread = &sim->derive->threads[task->thread];
    return task->tail + 1 < thread->first + thread->count;
}

static void lay_task(struct simulation *sim, uint32_t job) {
    const struct place *place = &sim->derive->places[job];
    const struct dag_task *recorded = &sim->dag->tasks[job_task(sim, job)];
    struct dag_task *task = &sim->derive->tasks[job];
    bool part = job_is_part(sim, job), moved = job_has_moved(sim, job);
    *task = *recorded;
    task->spawn_begin = place->spawn_begin;
    task->spawn_end = place->spawn_end;
    task->spawner = repeats_unspawned(sim->dag, recorded) ? DAG_NONE : place->spawner;
    task->thread = place->thread;
    task->enclosing = place->enclosing;
    task->pickup = place->pickup;
    task->start = place->start;
    task->end = place->end;
    task->tail = tail_of(sim, job, recorded);
    task->result = part ? DAG_NONE : now_at(sim->derive, recorded->result);
    task->dispatch = moved ? DISPATCH_NONE : sim->dispatch[job];
    if (part) task->awaited = 0;
    if (ends_now(sim, recorded, task)) task->flags &= (uint16_t) ~(TASK_UNFINISHED | TASK_CUT);
    if (recorded->start == DAG_NONE && place->start != DAG_NONE) { // it was cancelled, and is not in this run
        task->flags &= (uint16_t)~TASK_UNFINISHED;
        task->outcome = TASK_RETURNED;
    }
    if (moved)
        task->flags = TASK_NESTED;
    else if (was_cancelled_queued(sim, recorded) && place->start == DAG_NONE)
        task->flags |= TASK_UNFINISHED;
    else if (recorded->flags & TASK_OF_ACTOR && recorded->start != DAG_NONE && place->start == DAG_NONE)
        task->flags = TASK_NESTED; // of an actor that was not made
    else if (recorded->start != DAG_NONE && place->start == DAG_NONE && !(task->flags & TASK_NESTED))
        task->flags |= TASK_REJECTED; // no worker was there to take it up
}

// As its pool had it in this run, or else as much later as what set it. A part of a task has none: what is delayed is
// never split.
static void lay_due(struct simulation *sim, uint32_t job) {
    struct derive_work *work = sim->derive;
    const struct dag *recorded = sim->dag;
    bool known = !job_is_part(sim, job) && recorded->due_ns[job] != INT64_MIN;
    work->due_ns[job] = known ? recorded->due_ns[job] : INT64_MIN;
    work->period_ns[job] = known ? recorded->period_ns[job] : 0;
    work->due_set[job] = DAG_NONE;
    uint32_t set = known ? recorded->due_set[job] : DAG_NONE, now = now_at(work, set);
    if (now == DAG_NONE) return;
    work->due_set[job] = now;
    if (sim->due_ns[job] != INT64_MIN) work->due_ns[job] = sim->due_ns[job];
    if (sim->due_ns[job] != INT64_MIN) return;
    int64_t moved_ns = work->vertices.time_ns[now] - recorded->vertices.time_ns[set];
    if (__builtin_add_overflow(work->due_ns[job], moved_ns, &work->due_ns[job])) work->due_ns[job] = INT64_MAX;
}

// What came to no mailbox is its actor's as recorded.
static void lay_actor(struct simulation *sim, uint32_t job) {
    const uint32_t mailbox = sim->mailbox_of[job];
    sim->derive->actor_of[job] = mailbox ? mailbox : sim->dag->actor_of[job_task(sim, job)];
}

// Copies of actors come behind those that were recorded.
static void lay_actors(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    const uint32_t recorded = sim->dag->actor_count + 1;
    if (!sim->dag->actors) return;
    memcpy(work->actors, sim->dag->actors, recorded * sizeof *work->actors);
    for (uint32_t a = 1; a < recorded; a++) {
        const uint32_t copies = sim->edit->actors[a].copies;
        for (uint32_t copy = 1; copy < copies; copy++)
            work->actors[sim->mailboxes[a].copies_at + copy - 1] =
                (struct dag_actor){0, DAG_NONE, work->actors[a].pool};
    }
    for (uint32_t job = sim->dag->task_count; job < sim->job_count; job++) {
        if (sim->mailbox_of[job] >= recorded) work->actors[sim->mailbox_of[job]].init = job;
    }
    sim->derived.actors = work->actors;
    sim->derived.actor_of = work->actor_of;
    sim->derived.actor_count = sim->mailbox_count - 1;
}

static void find_window(struct dag *dag) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (thread->system || thread->count == 0) continue;
        int64_t from_ns = dag->vertices.time_ns[thread->first];
        int64_t to_ns = dag->vertices.time_ns[thread->first + thread->count - 1];
        if (from_ns < first_ns) first_ns = from_ns;
        if (to_ns > last_ns) last_ns = to_ns;
    }
    dag->first_ns = first_ns <= last_ns ? first_ns : 0;
    dag->last_ns = first_ns <= last_ns ? last_ns : 0;
}

static void lay_pools_and_resources(struct simulation *sim) {
    for (uint32_t r = 0; r < sim->dag->resource_count; r++) {
        sim->derive->resources[r] = sim->dag->resources[r];
        if (sim->edit->resource_units[r]) sim->derive->resources[r].capacity = sim->edit->resource_units[r];
    }
    if (sim->dag->carriers) sim->derive->resources[sim->dag->carriers - 1].capacity = sim->carriers.count;
    for (uint32_t p = 0; p < sim->dag->pool_count; p++) {
        struct dag_pool *pool = &sim->derive->pools[p];
        *pool = sim->dag->pools[p];
        if (!sim->edit->pool_threads[p]) continue;
        pool->core = sim->pools[p].core;
        pool->maximum = sim->pools[p].maximum;
        pool->capacity = sim->pools[p].capacity;
        pool->discipline = sim->pools[p].discipline;
    }
}

// ---- waits with a time limit

static int by_end(const void *a, const void *b) {
    const struct dag_await *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

// Those that were recorded; of tasks that did as others the rest is not told.
static void lay_awaits(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->dag->await_count; i++) {
        struct dag_await await = sim->dag->awaits[i];
        uint32_t recorded = await.end;
        await.begin = now_at(work, await.begin);
        await.end = now_at(work, recorded);
        if (await.begin == DAG_NONE || await.end == DAG_NONE) continue;
        if (sim->await_outcomes[i] != AWAIT_OPEN && await.given_up != (sim->await_outcomes[i] == AWAIT_GAVE_UP)) {
            await.given_up = !await.given_up;
            uint32_t result = sim->dag->tasks[sim->dag->vertices.task[recorded]].result;
            if (await.given_up)
                set_cause(&work->vertices, await.end, RULE_RUN, DAG_NONE);
            else
                set_cause(&work->vertices, await.end, RULE_WAIT, now_at(work, result));
        }
        work->awaits[count++] = await;
    }
    if (count) qsort(work->awaits, count, sizeof *work->awaits, by_end);
    sim->derived.awaits = work->awaits;
    sim->derived.await_count = count;
}

// ---- all of it

static void lay_tasks(struct simulation *sim, uint32_t first) {
    for (uint32_t job = first; job < sim->job_count && job - first < PIECE; job++) {
        lay_task(sim, job);
        if (sim->dag->due_ns) lay_due(sim, job);
        if (sim->dag->actor_of) lay_actor(sim, job);
    }
}

// Items: processes, and then pieces of all tasks.
static void connect(void *hands, uint32_t hand, uint32_t item) {
    struct simulation *sim = ((struct hand *)hands + hand)->sim;
    if (item < sim->process_count)
        find_causes(sim, item);
    else
        lay_tasks(sim, (item - sim->process_count) * PIECE);
}

static void run_all(const struct simulation *sim, hands_item *run, uint32_t count) {
    hands_run(run, sim->derive->hands, count, sim->derive->hand_count);
}

// Clients that share the requests out anew have connections of their own.
static void lay_requests(struct simulation *sim) {
    struct derive_work *work = sim->derive;
    for (uint32_t i = 0; i < sim->dag->request_count; i++) {
        struct dag_request request = sim->dag->requests[i];
        if (request.arrival != DAG_NONE && sim->load.clients) {
            request.before = client_turn(sim, i).after;
            request.connection = 1 + sim->clients.rank[i] % sim->load.clients;
        }
        request.begin = now_at(work, request.begin);
        request.end = now_at(work, request.end);
        request.arrival = now_at(work, request.arrival);
        request.polled = now_at(work, request.polled);
        work->requests[i] = request;
    }
    sim->derived.requests = work->requests;
}

bool derive_run_by(struct simulation *sim, uint32_t hands) {
    if (!reserve(sim)) return false;
    struct derive_work *work = sim->derive;
    work->hand_count = hands;
    for (uint32_t i = 0; i < DERIVERS; i++)
        work->hands[i] = (struct hand){sim, &work->open[i * work->task_capacity], 0};
    sim->derived = *sim->dag;
    run_all(sim, prepare, FIRST_PROCESS + sim->process_count);
    if (!arrange_threads(sim)) return false;
    run_all(sim, lay_process, sim->process_count);
    lay_pools_and_resources(sim);
    lay_actors(sim);
    sim->derived.vertices = work->vertices;
    sim->derived.threads = work->threads;
    sim->derived.tasks = work->tasks;
    sim->derived.pools = work->pools;
    sim->derived.resources = work->resources;
    sim->derived.pinned_ns = NULL;
    if (sim->dag->due_ns) {
        sim->derived.due_ns = work->due_ns;
        sim->derived.period_ns = work->period_ns;
        sim->derived.due_set = work->due_set;
    }
    sim->derived.origin = sim->dag;
    sim->derived.batch_count = sim->derived.claim_count = 0;
    sim->derived.redispatched = sim->model != MODEL_DAG;
    sim->derived.source = work->source;
    sim->derived.asides = work->asides;
    sim->derived.first_aside = work->first_aside;
    sim->derived.task_count = sim->job_count;
    sim->derived.part_of = sim->regroup.part_of;
    sim->derived.cores = sim->cores_asked;
    run_all(sim, connect, sim->process_count + (sim->job_count + PIECE - 1) / PIECE);
    lay_awaits(sim);
    lay_requests(sim);
    find_window(&sim->derived);
    sim->to_derive = sim->no_memory;
    return !sim->no_memory;
}

bool derive_run(struct simulation *sim) {
    return derive_run_by(sim, sim->passed < LEAST_SHARED || hands_there() == 1 ? 1 : DERIVERS);
}

// ---- the run without a DAG

struct simulated_run simulation_as_run(const struct simulation *sim) {
    return (struct simulated_run){.dag = sim->dag,
                                  .cores = sim->cores_asked,
                                  .process_count = sim->process_count,
                                  .job_count = sim->job_count,
                                  .vertex_count = sim->passed};
}

struct dag_thread simulation_thread(const struct simulation *sim, uint32_t process) {
    return thread_of_process(sim, process);
}

uint32_t simulation_vertex_count(const struct simulation *sim) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->process_count; i++)
        count += count_vertices(&sim->log[i], count_asides(sim, &sim->log[i]));
    return count;
}

uint32_t simulation_task(const struct simulation *sim, uint32_t job) {
    return job_task(sim, job);
}

uint32_t simulation_stretches(const struct simulation *sim, uint32_t process) {
    return sim->log[process].count;
}

// Of a stretch to come what is recorded is fetched, too.
uint32_t simulation_job_at(const struct simulation *sim, uint32_t process, uint32_t index) {
    const struct passages *log = &sim->log[process];
    if (index >= log->count) return DAG_NONE;
    const uint32_t source = log->items[index].source;
    if (source != DAG_NONE) {
        __builtin_prefetch(&sim->dag->vertices.time_ns[source]);
        __builtin_prefetch(&sim->dag->vertices.cause[source]);
        __builtin_prefetch(&sim->dag->vertices.kind[source]);
        __builtin_prefetch(&sim->dag->vertices.task[source]);
    }
    return log->items[index].task;
}

static struct laying laying_of(const struct simulation *sim) {
    return (struct laying){.recorded = sim->dag->vertices,
                           .paused = sim->dag->pause_count && !sim->dag->origin ? sim->dag : NULL};
}

struct run_effort simulation_effort_behind(const struct simulation *sim, uint32_t source) {
    const struct laying laying = laying_of(sim);
    int64_t length_ns = laying.recorded.time_ns[source] - laying.recorded.time_ns[source - 1];
    struct effort effort = effort_of_edge(&laying, source);
    effort = within(effort.compute_ns, effort.queued_ns, length_ns);
    return (struct run_effort){effort.compute_ns, effort.queued_ns};
}

// What is computed up to what is no vertex belongs to the next that is one.
static void carry_effort(const struct simulation *sim, const struct passage *passage, struct run_stretch *stretch) {
    const struct laying laying = laying_of(sim);
    struct effort effort = effort_of(&laying, passage, passage->time_ns - stretch->before_ns);
    stretch->carried.compute_ns += effort.compute_ns;
    stretch->carried.queued_ns += effort.queued_ns;
}

static int64_t last_of_passage_ns(const struct simulation *sim, const struct passage *passage) {
    if (passage->count == 1) return passage->time_ns;
    const int64_t *recorded_ns = sim->dag->vertices.time_ns;
    return passage->time_ns + recorded_ns[passage->source + passage->count - 1] - recorded_ns[passage->source];
}

bool simulation_stretch(const struct simulation *sim, uint32_t process, uint32_t index, struct run_stretch *stretch) {
    const struct passage *passage = &sim->log[process].items[index];
    const bool is_left = passage_is_left(sim, passage);
    if (index == 0) {
        stretch->carried = (struct run_effort){0, 0};
        stretch->before_ns = passage->time_ns;
    }
    if (sim->dag->vertices.queued_ns) carry_effort(sim, passage, stretch);
    stretch->before_ns = is_left ? last_of_passage_ns(sim, passage) : passage->time_ns;
    if (!is_left) return false;
    bool inlined_end =
        passage->kind == VERTEX_END && (job_has_moved(sim, passage->task) || passage_ends_stages(sim, passage));
    stretch->time_ns = passage->time_ns;
    stretch->source = passage->source;
    stretch->count = passage->count;
    stretch->task = passage->task;
    stretch->kind = inlined_end ? VERTEX_RESULT : passage->kind;
    stretch->effort = stretch->carried;
    stretch->carried = (struct run_effort){0, 0};
    return true;
}
