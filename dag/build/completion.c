// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for the end of all that a body handed over, of which no event says so. A latch that each task counts down, a
// phaser or a condition is told by the one that opened it, and in an edited run another one may come last. What looks
// now and then whether all is done (isDone, isTerminated, a counter, between two sleeps) is told by nothing but that it
// comes onto a core again and again. By what it looks like: of what the body had handed over to that pool since it
// awaited all before, nothing was under way any more, and the last end came right before. Such a wait ends behind a
// barrier of those ends.
#include "dag/build/builder.h"
#include "dag/build/vertices.h"
#include "dag/edge.h"

#include <stdlib.h>

// A stretch in which a thread looked for the end of others, and how often it did so at the least. It sees the end by
// its next look: in two of its periods, as not all of its turns are looks.
#define LONG_SLEEP_NS INT64_C(10000000)
enum { LOOKS_LEAST = 8, PERIODS_MOST = 2 };

// A task that has just counted down ends behind that, and is told later than another's counting down: so much at most.
#define LATE_END_NS INT64_C(100000)

enum { LOOKS_PER_TASK = 16 }; // so many tasks are looked at, over all waits, for each that there is

// A body is a task, or of a thread that is none all that it does: numbers of tasks first, of threads behind them.
struct bodies {
    struct builder *builder;
    uint32_t *adopter;      // a task each: the body that may await it, DAG_NONE: none
    uint32_t *first, *task; // a body's tasks are task[first[body]] and so on up to first[body + 1]
    uint32_t *from;         // a body each: the first of these that it has not awaited yet
    uint64_t looks;         // tasks that may be looked at still
};

// What one wait awaits, among the tasks task[from] up to task[until].
struct group {
    uint32_t from, until, last; // last: the task that ends it
    uint32_t vertex;            // that awaits
    int64_t ended_ns;           // by then all others are to have ended
};

static bool can_be_awaited(const struct dag *dag, uint32_t t) {
    const struct dag_task *task = &dag->tasks[t];
    const unsigned other = TASK_NESTED | TASK_OF_ACTOR | TASK_HANDLES | TASK_DELAYED;
    return !(task->flags & other) && task->spawn_begin != DAG_NONE && task->start != DAG_NONE;
}

static int64_t end_ns(const struct dag *dag, uint32_t t) {
    const struct dag_task *task = &dag->tasks[t];
    return task->flags & TASK_UNFINISHED || task->end == DAG_NONE ? INT64_MAX : dag->vertices.time_ns[task->end];
}

// Its spawner's; what outlives that is its spawner's spawner's, and so on, as far as anything may await that. A spawner
// is mentioned before what it spawns, unless events were lost: then it is not followed.
static uint32_t find_adopter(const struct bodies *bodies, uint32_t t) {
    const struct dag *dag = bodies->builder->dag;
    const struct dag_task *task = &dag->tasks[t];
    uint32_t body = task->spawner == DAG_NONE ? dag->task_count + dag_thread_of(dag, task->spawn_begin) : task->spawner;
    while (body < dag->task_count && end_ns(dag, body) < end_ns(dag, t)) {
        const uint32_t next = bodies->adopter[body];
        if (next == DAG_NONE || (next < dag->task_count && next >= body)) break;
        body = next;
    }
    return body;
}

static void list_by_adopter(struct bodies *bodies, uint32_t body_count) {
    const struct dag *dag = bodies->builder->dag;
    for (uint32_t t = 0; t < dag->task_count; t++) bodies->adopter[t] = DAG_NONE;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (can_be_awaited(dag, t)) bodies->adopter[t] = find_adopter(bodies, t);
        if (bodies->adopter[t] != DAG_NONE) bodies->first[bodies->adopter[t] + 1]++;
    }
    for (uint32_t b = 0; b < body_count; b++) bodies->first[b + 1] += bodies->first[b];
    for (uint32_t b = 0; b < body_count; b++) bodies->from[b] = bodies->first[b];
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (bodies->adopter[t] != DAG_NONE) bodies->task[bodies->from[bodies->adopter[t]]++] = t;
    }
    for (uint32_t b = 0; b < body_count; b++) bodies->from[b] = bodies->first[b];
}

// ---- what awaits

static bool is_signal(const struct dag *dag, uint32_t v) {
    const uint32_t cause = dag->vertices.cause[v], task = dag->vertices.task[v];
    if (dag->vertices.kind[v] != VERTEX_WAIT_END || cause == DAG_NONE || task == DAG_NONE) return false;
    return dag->tasks[task].flags & TASK_SIGNAL && dag->vertices.time_ns[cause] <= dag->vertices.time_ns[v];
}

static bool may_look(const struct builder *builder, uint32_t v) {
    const struct dag *dag = builder->dag;
    if (builder->turned_count == 0) return false;
    return dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1] >= LONG_SLEEP_NS && ends_for_nothing_known(dag, v);
}

// ---- what it awaits

static uint32_t handed_over_until(const struct bodies *bodies, uint32_t body, int64_t time_ns) {
    const struct dag *dag = bodies->builder->dag;
    uint32_t low = bodies->from[body], high = bodies->first[body + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, spawn = dag->tasks[bodies->task[middle]].spawn_begin;
        if (dag->vertices.time_ns[spawn] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool look_at(struct bodies *bodies, uint32_t tasks) {
    const bool enough = bodies->looks >= tasks;
    bodies->looks -= enough ? tasks : bodies->looks;
    return enough;
}

// The task that ended last by the time of the group's vertex; DAG_NONE: none did since the vertex before.
static uint32_t ended_last(const struct bodies *bodies, const struct group *group) {
    const struct dag *dag = bodies->builder->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t last_ns = time_ns[group->vertex - 1];
    uint32_t last = DAG_NONE;
    for (uint32_t i = group->from; i < group->until; i++) {
        const int64_t ns = end_ns(dag, bodies->task[i]);
        if (ns <= last_ns || ns > time_ns[group->vertex]) continue;
        last_ns = ns;
        last = bodies->task[i];
    }
    return last;
}

// What goes to one pool is awaited together; of threads, what is handed over at one place.
static bool is_of_group(const struct dag *dag, const struct group *group, uint32_t t) {
    const struct dag_task *task = &dag->tasks[t], *last = &dag->tasks[group->last];
    return task->pool == last->pool && (task->pool || task->site == last->site);
}

// The others of a group, all of which have ended.
struct others {
    uint32_t count;
    int64_t first_end_ns, last_start_ns; // of the whole group
};

static void note_member(const struct dag *dag, uint32_t t, struct others *others) {
    const int64_t begin_ns = dag->vertices.time_ns[dag->tasks[t].start];
    if (end_ns(dag, t) < others->first_end_ns) others->first_end_ns = end_ns(dag, t);
    if (begin_ns > others->last_start_ns) others->last_start_ns = begin_ns;
}

// Whether all others have ended.
static bool have_ended(const struct bodies *bodies, const struct group *group, struct others *others) {
    const struct dag *dag = bodies->builder->dag;
    *others = (struct others){.first_end_ns = INT64_MAX, .last_start_ns = INT64_MIN};
    note_member(dag, group->last, others);
    for (uint32_t i = group->until; i-- > group->from;) { // what was handed over last is the likeliest not to have
        const uint32_t t = bodies->task[i];
        if (t == group->last || !is_of_group(dag, group, t)) continue;
        if (end_ns(dag, t) > group->ended_ns + LATE_END_NS) return false;
        note_member(dag, t, others);
        others->count++;
    }
    return true;
}

static bool add_barrier(struct builder *builder, uint32_t cause) {
    struct dag *dag = builder->dag;
    const bool first = dag->threads[dag->thread_count - 1].count == 0;
    int64_t time_ns = dag->vertices.time_ns[cause];
    if (!first && dag->vertices.time_ns[dag->vertex_count - 1] > time_ns)
        time_ns = dag->vertices.time_ns[dag->vertex_count - 1];
    if (!add_vertex(builder, VERTEX_BARRIER, time_ns, 0, DAG_NONE)) return false;
    dag->vertices.rule[dag->vertex_count - 1] = RULE_MAX;
    dag->vertices.cause[dag->vertex_count - 1] = cause;
    return true;
}

// Behind the ends of the others, and at last `last`. Returns the last of the chain, DAG_NONE: no memory.
static uint32_t await_all(const struct bodies *bodies, const struct group *group, uint32_t last) {
    struct builder *builder = bodies->builder;
    struct dag *dag = builder->dag;
    if (!add_thread(builder, DAG_NONE)) return DAG_NONE;
    dag->threads[dag->thread_count - 1].system = true; // stands for no thread
    for (uint32_t i = group->from; i < group->until; i++) {
        const uint32_t t = bodies->task[i];
        const bool in_time = t != group->last && is_of_group(dag, group, t) && end_ns(dag, t) <= group->ended_ns;
        if (in_time && !add_barrier(builder, dag->tasks[t].end)) return DAG_NONE;
    }
    return add_barrier(builder, last) ? dag->vertex_count - 1 : DAG_NONE;
}

// ---- waits of both kinds

// A signal that the last of them gave: it opens once all have ended.
static bool try_signal(struct bodies *bodies, uint32_t body, struct group group) {
    struct dag *dag = bodies->builder->dag;
    const uint32_t signal = dag->vertices.cause[group.vertex];
    struct others others;
    group.last = dag->tasks[dag->vertices.task[group.vertex]].enclosing;
    group.ended_ns = dag->vertices.time_ns[signal];
    if (group.last == DAG_NONE || bodies->adopter[group.last] != body) return true;
    if (!have_ended(bodies, &group, &others)) return true;
    bodies->from[body] = group.until;
    if (others.count == 0) return true;
    const uint32_t barrier = await_all(bodies, &group, signal);
    if (barrier != DAG_NONE) dag->vertices.cause[group.vertex] = barrier;
    return barrier != DAG_NONE;
}

// How far apart looks are in the edge to a vertex; 0: it is no stretch of looks.
static int64_t period_ns(const struct builder *builder, uint32_t v) {
    const struct dag *dag = builder->dag;
    uint32_t low = 0;
    for (uint32_t high = builder->turned_count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (builder->turned[middle].to < v)
            low = middle + 1;
        else
            high = middle;
    }
    const struct turned *turned = low < builder->turned_count ? &builder->turned[low] : NULL;
    if (!turned || turned->from >= v || turned->turns < LOOKS_LEAST) return 0;
    const int64_t edge_ns = dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1];
    return turned->turns > (uint64_t)edge_ns ? 0 : edge_ns / (int64_t)turned->turns;
}

// Looks that ended right behind the last end. Where all began at once, a body that does as much itself as each of them
// ends like that, too: then it is not known. Whether it was asleep is known later.
static bool try_look(struct bodies *bodies, uint32_t body, struct group group) {
    struct builder *builder = bodies->builder;
    struct dag *dag = builder->dag;
    const int64_t seen_ns = dag->vertices.time_ns[group.vertex];
    struct others others;
    group.last = ended_last(bodies, &group);
    group.ended_ns = seen_ns;
    if (group.last == DAG_NONE) return true;
    const uint32_t end = dag->tasks[group.last].end;
    if (seen_ns - dag->vertices.time_ns[end] > PERIODS_MOST * period_ns(builder, group.vertex)) return true;
    if (!have_ended(bodies, &group, &others) || others.last_start_ns < others.first_end_ns) return true;
    bodies->from[body] = group.until;
    const uint32_t awaited = await_all(bodies, &group, end);
    if (awaited == DAG_NONE) return false;
    if (!GROW(builder->looks, builder->look_count, builder->look_capacity)) return no_memory(builder);
    builder->looks[builder->look_count++] = (struct look){group.vertex, awaited};
    return true;
}

static bool try_wait(struct bodies *bodies, uint32_t body, uint32_t v) {
    const struct dag *dag = bodies->builder->dag;
    const bool signal = is_signal(dag, v);
    if (!signal && !may_look(bodies->builder, v)) return true;
    const uint32_t from = bodies->from[body], until = handed_over_until(bodies, body, dag->vertices.time_ns[v]);
    const struct group group = {.from = from, .until = until, .vertex = v};
    if (from == until || !look_at(bodies, until - from)) return true;
    return signal ? try_signal(bodies, body, group) : try_look(bodies, body, group);
}

static bool look_at_thread(struct bodies *bodies, uint32_t index) {
    const struct dag *dag = bodies->builder->dag;
    const struct dag_thread thread = dag->threads[index];
    if (thread.system || thread.stream == DAG_NONE) return true;
    const uint32_t outermost = thread.run_task == DAG_NONE ? dag->task_count + index : thread.run_task;
    uint32_t body = outermost;
    for (uint32_t v = thread.first; v < thread.first + thread.count; v++) {
        if (v > thread.first && !try_wait(bodies, body, v)) return false;
        const uint32_t kind = dag->vertices.kind[v], t = dag->vertices.task[v];
        if ((kind != VERTEX_START && kind != VERTEX_END) || t == DAG_NONE) continue;
        const uint32_t around = dag->tasks[t].enclosing == DAG_NONE ? outermost : dag->tasks[t].enclosing;
        body = kind == VERTEX_START ? t : around;
    }
    return true;
}

bool find_completions(struct builder *builder) {
    struct dag *dag = builder->dag;
    const uint32_t thread_count = dag->thread_count, body_count = dag->task_count + thread_count;
    struct bodies bodies = {.builder = builder, .looks = (uint64_t)LOOKS_PER_TASK * dag->task_count};
    bodies.adopter = malloc(((size_t)dag->task_count + 1) * sizeof *bodies.adopter);
    bodies.task = malloc(((size_t)dag->task_count + 1) * sizeof *bodies.task);
    bodies.first = calloc((size_t)body_count + 1, sizeof *bodies.first);
    bodies.from = malloc(((size_t)body_count + 1) * sizeof *bodies.from);
    bool ok = (bodies.adopter && bodies.task && bodies.first && bodies.from) || no_memory(builder);
    if (ok) list_by_adopter(&bodies, body_count);
    for (uint32_t t = 0; ok && t < thread_count; t++) ok = look_at_thread(&bodies, t);
    free(bodies.adopter);
    free(bodies.task);
    free(bodies.first);
    free(bodies.from);
    return ok;
}

void settle_looks(struct builder *builder) {
    struct dag *dag = builder->dag;
    for (uint32_t i = 0; i < builder->look_count && dag->vertices.compute_ns; i++) {
        const struct look *look = &builder->looks[i];
        const int64_t asleep_ns = edge_asleep_ns(dag, look->vertex, dag->vertices.time_ns[look->vertex - 1]);
        const int64_t edge_ns = dag->vertices.time_ns[look->vertex] - dag->vertices.time_ns[look->vertex - 1];
        if (asleep_ns < edge_ns / 2 || !ends_for_nothing_known(dag, look->vertex)) continue;
        set_waker(dag, look->vertex, look->awaited);
        dag->looked_ns += asleep_ns;
    }
}
