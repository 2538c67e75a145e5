// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate.h"

#include "dag/chain.h"
#include "dag/rules.h"
#include "dag/walk.h"

#include <stdlib.h>
#include <string.h>

// What there is to do at a vertex, told from its recorded surroundings once: most have none of it.
enum {
    STEP_MOVES = 1,  // a task that is inlined comes in or drops out here
    STEP_LEAVES = 2, // ... or is left
    STEP_BEGINS = 4, // RULE_BEGIN
    STEP_AWAITS = 8, // has a cause
    STEP_DONE = 16,  // in the present run: has its time, or is absent
};

static bool run_fail(struct dag_run *run, const struct dag *dag, struct error *error) {
    dag_run_destroy(run);
    return error_set(error, STATUS_FAILED, "no memory for the times of %u vertices", dag->vertex_count);
}

static uint8_t step_of(const struct dag_vertices *vertices, uint32_t v) {
    bool names_task = dag_task_of(vertices, v) != DAG_NONE;
    uint8_t step = 0;
    if (names_task && chain_may_move(vertices->kind[v])) step |= STEP_MOVES;
    if (names_task && vertices->kind[v] == VERTEX_END) step |= STEP_LEAVES;
    if (vertices->rule[v] == RULE_BEGIN)
        step |= STEP_BEGINS;
    else if (dag_awaited_by(vertices, v) != DAG_NONE)
        step |= STEP_AWAITS;
    return step;
}

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error) {
    size_t vertices = (size_t)dag->vertex_count + 1, threads = (size_t)dag->thread_count + 1;
    *run = (struct dag_run){.time_ns = malloc(vertices * sizeof *run->time_ns),
                            .steps = calloc(vertices + sizeof(uint64_t), sizeof *run->steps),
                            .parking = calloc(1, sizeof *run->parking),
                            .walks = malloc(threads * sizeof *run->walks)};
    if (!run->time_ns || !run->steps || !run->parking || !run->walks) return run_fail(run, dag, error);
    run->parking->first = malloc(vertices * sizeof *run->parking->first);
    run->parking->next = malloc(threads * sizeof *run->parking->next);
    if (!run->parking->first || !run->parking->next) return run_fail(run, dag, error);
    for (uint32_t v = 0; v < dag->vertex_count; v++) run->parking->first[v] = DAG_NONE;
    for (uint32_t v = 0; v < dag->vertex_count; v++) run->steps[v] = step_of(&dag->vertices, v);
    return true;
}

void dag_run_destroy(struct dag_run *run) {
    if (run->parking) {
        free(run->parking->first);
        free(run->parking->next);
    }
    free(run->parking);
    free(run->time_ns);
    free(run->steps);
    free(run->walks);
    *run = (struct dag_run){0};
}

// What the edit removes is marked by DAG_ABSENT, and in `steps`.
struct removal {
    const struct dag *dag;
    int64_t *time_ns;
    uint8_t *steps; // or NULL
};

static void remove_range(const struct removal *removal, uint32_t from, uint32_t to) {
    for (uint32_t v = from; v < to; v++) {
        removal->time_ns[v] = DAG_ABSENT;
        if (removal->steps) removal->steps[v] |= STEP_DONE;
    }
}

// A removed worker keeps nothing but the bodies that moved out of it.
static void remove_worker(const struct removal *removal, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &removal->dag->vertices;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (vertices->kind[v] == VERTEX_START)
            v = removal->dag->tasks[vertices->task[v]].end;
        else
            remove_range(removal, v, v + 1);
    }
}

// No body is ever removed, so that the order doesn't matter: a bracket may hold its own task's body (caller-runs), but
// nothing of other tasks (dag_inline_refusal).
static void remove_edited(const struct removal *removal, const struct dag_edit *edit) {
    const struct dag *dag = removal->dag;
    if (!(edit->inlined_count | edit->staged_count | edit->merged_count)) return;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag_edit_removes_thread(dag, edit, i)) remove_worker(removal, &dag->threads[i]);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!chain_moves_out(edit, t)) continue;
        const struct dag_task *task = &dag->tasks[t];
        bool in_place = chain_runs_in_place(task);
        remove_range(removal, task->pickup, task->start);
        remove_range(removal, task->spawn_begin, in_place ? task->pickup : task->spawn_end + 1);
        if (in_place) remove_range(removal, task->end + 1, task->spawn_end + 1);
    }
}

void dag_mark_absent(const struct dag *dag, const struct dag_edit *edit, int64_t *time_ns) {
    for (uint32_t v = 0; v < dag->vertex_count; v++) time_ns[v] = DAG_PENDING;
    remove_edited(&(struct removal){dag, time_ns, NULL}, edit);
}

// Whether a worker does nothing before the pick-up of `first_task` that others could depend on: only then can its start
// wait for that task's spawn without closing a cycle.
static bool only_waits_before(const struct dag *dag, const struct dag_thread *thread, uint32_t first_task) {
    for (uint32_t v = thread->first + 1; v < dag->tasks[first_task].pickup; v++) {
        unsigned kind = dag->vertices.kind[v];
        if (kind == VERTEX_START)
            v = dag->tasks[dag->vertices.task[v]].end;
        else if (kind != VERTEX_IDLE && kind != VERTEX_BUSY && kind != VERTEX_BLOCK_BEGIN && kind != VERTEX_BLOCK_END)
            return false;
    }
    return true;
}

struct dag_constraint dag_constraint_of_start(const struct dag *dag, const struct dag_edit *edit, uint32_t vertex,
                                              uint32_t index, bool removed) {
    uint32_t cause = dag->vertices.cause[vertex];
    if (cause == DAG_NONE) return (struct dag_constraint){.cause = DAG_NONE};
    int64_t delay_ns = dag->vertices.time_ns[vertex] - dag->vertices.time_ns[cause];
    if (!removed) return (struct dag_constraint){cause, delay_ns};
    uint32_t first_task = dag_edit_first_task(dag, edit, index);
    bool replaced = first_task != DAG_NONE && dag->tasks[first_task].spawn_begin != DAG_NONE &&
                    only_waits_before(dag, &dag->threads[index], first_task);
    return (struct dag_constraint){replaced ? dag->tasks[first_task].spawn_begin : DAG_NONE, delay_ns};
}

// Where a chain stands while it is advanced, in few enough words for registers.
struct stand {
    uint32_t vertex;    // next to get its time
    int64_t reached_ns; // T of what it follows, and own time since
    int64_t since_ns;   // recorded time of what it follows
};

// What the first vertex of a thread awaits, if its rule is RULE_BEGIN. false: that has no time yet.
static bool time_begin(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, const struct dag_run *run,
                       uint32_t vertex, uint32_t *awaits, int64_t *time_ns) {
    uint32_t cause = dag->vertices.cause[vertex];
    bool removed = cause != DAG_NONE && run->steps[cause] & STEP_DONE && run->time_ns[cause] == DAG_ABSENT;
    struct dag_constraint start = dag_constraint_of_start(dag, edit, vertex, thread, removed);
    *awaits = start.cause;
    *time_ns = dag->vertices.time_ns[vertex];
    if (start.cause == DAG_NONE) return true;
    if (!(run->steps[start.cause] & STEP_DONE)) return false;
    *time_ns = run->time_ns[start.cause] + start.delay_ns;
    return true;
}

// Past a vertex at which bodies move. `visited`: it has its time, and is the last of a body that is left; else it is
// next. Returns how the chain goes on; the stand is where it does.
static enum dag_hop hop(struct dag_chain *chain, struct stand *stand, bool visited) {
    chain->vertex = stand->vertex;
    chain->next = stand->vertex;
    chain->since_ns = stand->since_ns;
    chain->lead_ns = 0;
    chain->visited = visited;
    enum dag_hop hop = chain_hop(chain);
    stand->vertex = hop == HOP_VISIT ? chain->vertex : chain->next;
    stand->reached_ns += chain->lead_ns;
    stand->since_ns = chain->since_ns;
    return hop;
}

// Leaves the chain parked at the vertex, as dag_chain_next would have left it there.
static void park(struct dag_run *run, uint32_t thread, struct stand stand, uint32_t awaits) {
    struct dag_walk *walk = &run->walks[thread];
    chain_visit(&walk->chain, stand.vertex, false);
    walk->chain.since_ns = stand.since_ns;
    walk->chain.lead_ns = 0;
    walk->reached_ns = stand.reached_ns;
    walk->awaits = awaits;
    parking_wait(run->parking, thread, awaits);
}

// The time of a vertex that may have a cause, without a branch: one that has none takes itself for it.
static inline int64_t time_vertex(const struct dag *dag, uint32_t v, uint32_t cause, bool awaits, struct stand stand,
                                  const int64_t *time_ns) {
    const int64_t *recorded_ns = dag->vertices.time_ns;
    int64_t cause_ns = awaits ? time_ns[cause] : DAG_ABSENT,
            recorded_cause_ns = awaits ? recorded_ns[cause] : DAG_ABSENT;
    unsigned rule = awaits ? dag->vertices.rule[v] : RULE_RUN;
    struct reach reach = {stand.reached_ns, 0, stand.since_ns};
    return rule_apply(rule, recorded_ns[v], reach, cause_ns, recorded_cause_ns, dag->wakeup_ns);
}

// Takes a chain as far as it goes. Branches are taken by edits, at threads' beginnings, and where chains meet; what
// else differs from vertex to vertex is arithmetic.
static void advance(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, struct dag_run *run) {
    struct dag_walk *walk = &run->walks[thread];
    struct stand stand = {walk->chain.vertex, walk->reached_ns, walk->chain.since_ns};
    const uint32_t end = walk->chain.end, *parked = run->parking->first;
    int64_t *time_ns = run->time_ns;
    uint8_t *steps = run->steps;
    const unsigned moves = edit->inlined_count ? STEP_MOVES | STEP_LEAVES : 0;
    for (; stand.vertex != end; stand.vertex++) {
        unsigned step = steps[stand.vertex];
        bool moved = step & moves && edit->inlined[dag->vertices.task[stand.vertex]];
        if (moved && step & STEP_MOVES) {
            if (hop(&walk->chain, &stand, false) == HOP_SKIP) {
                stand.vertex--;
                continue;
            }
            step = 0; // a body that moved here follows what it replaced
        }
        const uint32_t v = stand.vertex;
        bool awaits = step & STEP_AWAITS;
        uint32_t cause = awaits ? dag->vertices.cause[v] : v;
        if (awaits & !(steps[cause] & STEP_DONE)) return park(run, thread, stand, cause);
        int64_t now_ns = time_vertex(dag, v, cause, awaits, stand, time_ns);
        if (step & STEP_BEGINS && !time_begin(dag, edit, thread, run, v, &cause, &now_ns)) {
            return park(run, thread, stand, cause);
        }
        time_ns[v] = stand.reached_ns = now_ns;
        stand.since_ns = dag->vertices.time_ns[v];
        steps[v] |= STEP_DONE;
        if (parked[v] != DAG_NONE) parking_release(run->parking, v);
        if (moved && step & STEP_LEAVES) {
            hop(&walk->chain, &stand, true);
            stand.vertex--;
        }
    }
    walk->done = true;
}

static void start_walks(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    run->parking->ready = DAG_NONE;
    for (uint32_t i = dag->thread_count; i--;) {
        struct dag_walk *walk = &run->walks[i];
        uint32_t first = dag->threads[i].first;
        dag_chain_init(&walk->chain, dag, edit);
        dag_chain_start(&walk->chain, i);
        walk->chain.vertex = walk->chain.next;
        walk->done = false;
        walk->awaits = DAG_NONE;
        walk->reached_ns = dag->vertices.rule[first] == RULE_MAX ? DAG_ABSENT : dag->vertices.time_ns[first];
        parking_make_ready(run->parking, i);
    }
}

// Eight at a time; the array has room beyond its last.
static void forget_done(uint8_t *steps, uint32_t count) {
    for (uint32_t v = 0; v < count; v += sizeof(uint64_t)) {
        uint64_t eight;
        memcpy(&eight, steps + v, sizeof eight);
        eight &= ~(UINT64_C(0x0101010101010101) * STEP_DONE);
        memcpy(steps + v, &eight, sizeof eight);
    }
}

static void forget_parked(const struct dag *dag, struct dag_run *run) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (!run->walks[i].done) run->parking->first[run->walks[i].awaits] = DAG_NONE;
    }
}

enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    forget_done(run->steps, dag->vertex_count);
    remove_edited(&(struct removal){dag, run->time_ns, run->steps}, edit);
    start_walks(dag, edit, run);
    run->deadlock_length = 0;
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) advance(dag, edit, i, run);
    bool stuck = false;
    for (uint32_t i = 0; i < dag->thread_count && !stuck; i++) stuck = !run->walks[i].done;
    if (!stuck) return DAG_OK;
    forget_parked(dag, run);
    return dag_find_deadlock(dag, run) ? DAG_DEADLOCK : DAG_NO_MEMORY;
}
