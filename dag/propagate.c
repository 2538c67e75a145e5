// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate.h"

#include "dag/chain.h"
#include "dag/rules.h"
#include "dag/walk.h"

#include <stdlib.h>
#include <string.h>

// Marks of 64 vertices, a bit each.
struct dag_marks {
    uint64_t stop;   // awaits a cause, or begins a thread by RULE_BEGIN
    uint64_t move;   // a task that is inlined comes in or drops out here, or is left
    uint64_t done;   // in the present run: has its time, or is absent
    uint64_t wanted; // ... a chain is parked on it
    uint32_t first;  // of their stops, in dag_run's
};

// What a stop awaits, kept apart from the vertices: a walk reads it, and stops only, in order.
struct dag_stop {
    uint32_t cause;
    uint32_t rule; // enum vertex_rule
};

enum { MARKS = 64 };

static inline uint64_t mark_of(uint32_t v) {
    return UINT64_C(1) << v % MARKS;
}

static inline bool is_done(const struct dag_run *run, uint32_t v) {
    return run->marks[v / MARKS].done & mark_of(v);
}

static inline unsigned count_bits(uint64_t word) { // in parallel: twos, fours, bytes, their sum
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return word * 0x0101010101010101 >> 56;
}

static inline const struct dag_stop *stop_at(const struct dag_run *run, uint32_t v) {
    const struct dag_marks *marks = &run->marks[v / MARKS];
    return &run->stops[marks->first + count_bits(marks->stop & (mark_of(v) - 1))];
}

// The first vertex behind `v` at which more is to be done than to follow the one before; where these marks know of
// none, the first that they don't know.
static inline uint32_t next_mark(const struct dag_marks *marks, uint32_t v) {
    uint64_t behind = (marks->stop | marks->move) & -mark_of(v) << 1;
    return v / MARKS * MARKS + (behind ? (uint32_t)__builtin_ctzll(behind) : MARKS);
}

void dag_run_destroy(struct dag_run *run) {
    if (run->parking) {
        free(run->parking->first);
        free(run->parking->next);
    }
    free(run->parking);
    free(run->time_ns);
    free(run->marks);
    free(run->stops);
    free(run->turns);
    free(run->walks);
    *run = (struct dag_run){0};
}

// What the edit removes is marked by DAG_ABSENT, and as done.
struct removal {
    const struct dag *dag;
    int64_t *time_ns;
    struct dag_marks *marks; // or NULL
};

static void remove_range(const struct removal *removal, uint32_t from, uint32_t to) {
    for (uint32_t v = from; v < to; v++) {
        removal->time_ns[v] = DAG_ABSENT;
        if (removal->marks) removal->marks[v / MARKS].done |= mark_of(v);
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

// The time of a thread's first vertex, if its rule is RULE_BEGIN. false: what it awaits has none yet.
static bool time_begin(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, const struct dag_run *run,
                       uint32_t vertex, uint32_t *awaits, int64_t *time_ns) {
    uint32_t cause = dag->vertices.cause[vertex];
    bool removed = cause != DAG_NONE && is_done(run, cause) && run->time_ns[cause] == DAG_ABSENT;
    struct dag_constraint start = dag_constraint_of_start(dag, edit, vertex, thread, removed);
    *awaits = start.cause;
    *time_ns = dag->vertices.time_ns[vertex];
    if (start.cause == DAG_NONE) return true;
    if (!is_done(run, start.cause)) return false;
    *time_ns = run->time_ns[start.cause] + start.delay_ns;
    return true;
}

// The time of a vertex that may await something. false: that has none yet.
static inline bool time_stop(const struct dag *dag, const struct dag_edit *edit, uint32_t thread,
                             const struct dag_run *run, struct stand stand, uint32_t *awaits, int64_t *time_ns) {
    const int64_t *recorded_ns = dag->vertices.time_ns;
    const struct dag_stop *stop = stop_at(run, stand.vertex);
    if (stop->rule == RULE_BEGIN) return time_begin(dag, edit, thread, run, stand.vertex, awaits, time_ns);
    uint32_t cause = *awaits = stop->cause;
    if (!is_done(run, cause)) return false;
    struct reach reach = {stand.reached_ns, 0, stand.since_ns};
    *time_ns = rule_apply(stop->rule, recorded_ns[stand.vertex], reach, run->time_ns[cause], recorded_ns[cause],
                          dag->wakeup_ns);
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

// Leaves the chain at a vertex, as dag_chain_next would have left it there.
static void stay(struct dag_walk *walk, struct stand stand, uint32_t awaits) {
    chain_visit(&walk->chain, stand.vertex, false);
    walk->chain.since_ns = stand.since_ns;
    walk->chain.lead_ns = 0;
    walk->reached_ns = stand.reached_ns;
    walk->awaits = awaits;
}

static void park(struct dag_run *run, uint32_t thread, struct stand stand, uint32_t awaits) {
    stay(&run->walks[thread], stand, awaits);
    run->marks[awaits / MARKS].wanted |= mark_of(awaits);
    parking_wait(run->parking, thread, awaits);
}

// Vertices from `from` to before `to`, all of one word of marks, have their times.
static inline void mark_done(struct dag_run *run, uint32_t from, uint32_t to) {
    struct dag_marks *marks = &run->marks[from / MARKS];
    uint64_t these = (mark_of(to - 1) << 1) - mark_of(from), wanted = marks->wanted & these;
    marks->done |= these;
    marks->wanted ^= wanted;
    for (; wanted; wanted &= wanted - 1) {
        parking_release(run->parking, from / MARKS * MARKS + (uint32_t)__builtin_ctzll(wanted));
    }
}

// Up to where a chain may go from a vertex: on its own thread as far as it is its turn, in bodies that moved here to
// their ends. (No body that moved here is met at the vertex behind the thread's last but by its start, which is passed
// at once.)
static uint32_t limit_at(const struct dag *dag, uint32_t thread, const struct dag_walk *walk, uint32_t vertex) {
    bool own = vertex >= dag->threads[thread].first && vertex <= walk->chain.end;
    return own ? walk->due : DAG_NONE;
}

// Gives a vertex its time, and those behind it, which keep their recorded distances, theirs.
static inline struct stand follow(const int64_t *recorded_ns, int64_t *time_ns, uint32_t v, uint32_t end,
                                  int64_t now_ns) {
    const int64_t *at = &recorded_ns[v], *last = &recorded_ns[end - 1];
    int64_t since_ns = *at, *now = &time_ns[v];
    *now = now_ns;
    while (at != last) {
        now_ns += *++at - since_ns;
        since_ns = *at;
        *++now = now_ns;
    }
    return (struct stand){end, now_ns, since_ns};
}

// Takes a chain as far as it goes in this turn, from mark to mark.
static void advance(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, struct dag_run *run) {
    struct dag_walk *walk = &run->walks[thread];
    struct stand stand = {walk->chain.vertex, walk->reached_ns, walk->chain.since_ns};
    const int64_t *recorded_ns = dag->vertices.time_ns;
    int64_t *time_ns = run->time_ns;
    uint32_t limit = limit_at(dag, thread, walk, stand.vertex);
    while (stand.vertex < limit) {
        const struct dag_marks *marks = &run->marks[stand.vertex / MARKS];
        bool moves = marks->move & mark_of(stand.vertex), stops = marks->stop & mark_of(stand.vertex);
        bool leaves = moves && dag->vertices.kind[stand.vertex] == VERTEX_END;
        if (moves && !leaves) {
            if (hop(&walk->chain, &stand, false) == HOP_SKIP) continue;
            limit = DAG_NONE;
            stops = false; // a body that moved here follows what it replaced
        }
        const uint32_t v = stand.vertex;
        int64_t now_ns = stand.reached_ns + (recorded_ns[v] - stand.since_ns);
        uint32_t awaits;
        if (stops && !time_stop(dag, edit, thread, run, stand, &awaits, &now_ns)) {
            return park(run, thread, stand, awaits);
        }
        uint32_t end = leaves ? v + 1 : next_mark(&run->marks[v / MARKS], v);
        if (end > limit) end = limit;
        stand = follow(recorded_ns, time_ns, v, end, now_ns);
        mark_done(run, v, end);
        if (leaves) {
            stand.vertex = v;
            hop(&walk->chain, &stand, true);
            limit = limit_at(dag, thread, walk, stand.vertex);
        }
    }
    stay(walk, stand, DAG_NONE);
    walk->done = stand.vertex == walk->chain.end;
}

static void start_walks(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    run->parking->ready = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        struct dag_walk *walk = &run->walks[i];
        uint32_t first = dag->threads[i].first;
        dag_chain_init(&walk->chain, dag, edit);
        dag_chain_start(&walk->chain, i);
        walk->chain.vertex = walk->due = walk->chain.next;
        walk->done = walk->chain.next == walk->chain.end;
        walk->awaits = DAG_NONE;
        walk->reached_ns = dag->vertices.rule[first] == RULE_MAX ? DAG_ABSENT : dag->vertices.time_ns[first];
    }
}

static void forget_walk(struct dag_run *run, const struct dag *dag) {
    for (uint32_t word = 0; word <= dag->vertex_count / MARKS; word++) {
        run->marks[word].move = run->marks[word].done = run->marks[word].wanted = 0;
    }
}

static void mark_move(struct dag_run *run, uint32_t v) {
    run->marks[v / MARKS].move |= mark_of(v);
}

static void mark_moves(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    for (uint32_t t = 0; edit->inlined_count && t < dag->task_count; t++) {
        if (!edit->inlined[t]) continue;
        mark_move(run, dag->tasks[t].spawn_begin);
        mark_move(run, dag->tasks[t].pickup);
        mark_move(run, dag->tasks[t].end);
    }
}

// A chain that waits, where an edit changed what comes when, goes on as soon as it can, as far as turns have come.
static inline void take_turn(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run,
                             struct dag_turn turn) {
    struct dag_walk *walk = &run->walks[turn.thread];
    walk->due = turn.until;
    if (walk->awaits == DAG_NONE) advance(dag, edit, turn.thread, run);
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) {
        run->walks[i].awaits = DAG_NONE;
        advance(dag, edit, i, run);
    }
}

// Threads' arrays lie far apart, and a turn is too short for the processor to foresee where it leads. What matters most
// is that lines to be written are there: stores wait for them in order, and soon everything waits for stores.
enum { TURNS_AHEAD = 8, LINE_VERTICES = 64 / sizeof(int64_t) };

// Inlined early, or gcc takes it for a function without effect and leaves out the call.
static inline __attribute__((always_inline)) void prefetch_turn(const struct dag *dag, const struct dag_run *run,
                                                                struct dag_turn turn) {
    uint32_t before = turn.until > LINE_VERTICES ? turn.until - LINE_VERTICES : 0;
    __builtin_prefetch(&run->time_ns[before], 1);
    __builtin_prefetch(&run->time_ns[turn.until], 1);
    __builtin_prefetch(&dag->vertices.time_ns[turn.until]);
    __builtin_prefetch(&run->stops[run->marks[turn.until / MARKS].first]);
}

static void forget_parked(const struct dag *dag, struct dag_run *run) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (!run->walks[i].done) run->parking->first[run->walks[i].awaits] = DAG_NONE;
    }
}

enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    forget_walk(run, dag);
    mark_moves(dag, edit, run);
    remove_edited(&(struct removal){dag, run->time_ns, run->marks}, edit);
    start_walks(dag, edit, run);
    run->deadlock_length = 0;
    for (uint32_t i = 0; i < run->turn_count; i++) {
        prefetch_turn(dag, run, run->turns[i + TURNS_AHEAD < run->turn_count ? i + TURNS_AHEAD : i]);
        take_turn(dag, edit, run, run->turns[i]);
    }
    bool stuck = false;
    for (uint32_t i = 0; i < dag->thread_count && !stuck; i++) stuck = !run->walks[i].done;
    if (!stuck) return DAG_OK;
    forget_parked(dag, run);
    return dag_find_deadlock(dag, run) ? DAG_DEADLOCK : DAG_NO_MEMORY;
}

// ---- making the workspace

static bool is_stop(const struct dag_vertices *vertices, uint32_t v) {
    return vertices->rule[v] == RULE_BEGIN || dag_awaited_by(vertices, v) != DAG_NONE;
}

// Returns how many.
static uint32_t mark_stops(const struct dag *dag, struct dag_run *run) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (v % MARKS == 0) run->marks[v / MARKS].first = count;
        if (!is_stop(&dag->vertices, v)) continue;
        run->marks[v / MARKS].stop |= mark_of(v);
        count++;
    }
    return count;
}

static void list_stops(const struct dag *dag, struct dag_run *run) {
    struct dag_stop *stop = run->stops;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (run->marks[v / MARKS].stop & mark_of(v)) {
            *stop++ = (struct dag_stop){dag->vertices.cause[v], dag->vertices.rule[v]};
        }
    }
}

// Walks what was recorded, each chain as far as it goes, and notes how. A chain waits at a stop once at most, and comes
// to its end once: so many turns there can be.
static void schedule(const struct dag *dag, struct dag_run *run) {
    const struct dag_edit nothing = {0};
    start_walks(dag, &nothing, run);
    for (uint32_t i = dag->thread_count; i--;) {
        run->walks[i].due = run->walks[i].chain.end;
        parking_make_ready(run->parking, i);
    }
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) {
        uint32_t from = run->walks[i].chain.vertex;
        advance(dag, &nothing, i, run);
        uint32_t until = run->walks[i].chain.vertex;
        if (until != from) run->turns[run->turn_count++] = (struct dag_turn){i, until};
    }
}

static bool run_fail(struct dag_run *run, const struct dag *dag, struct error *error) {
    dag_run_destroy(run);
    return error_set(error, STATUS_FAILED, "no memory for the times of %u vertices", dag->vertex_count);
}

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error) {
    size_t vertices = (size_t)dag->vertex_count + 1, threads = (size_t)dag->thread_count + 1;
    *run = (struct dag_run){.time_ns = malloc(vertices * sizeof *run->time_ns),
                            .marks = calloc(vertices / MARKS + 1, sizeof *run->marks),
                            .parking = calloc(1, sizeof *run->parking),
                            .walks = malloc(threads * sizeof *run->walks)};
    if (!run->time_ns || !run->marks || !run->parking || !run->walks) return run_fail(run, dag, error);
    run->parking->first = malloc(vertices * sizeof *run->parking->first);
    run->parking->next = malloc(threads * sizeof *run->parking->next);
    run->stop_count = mark_stops(dag, run);
    run->stops = malloc(((size_t)run->stop_count + 1) * sizeof *run->stops);
    run->turns = malloc((run->stop_count + threads) * sizeof *run->turns);
    if (!run->parking->first || !run->parking->next || !run->stops || !run->turns) return run_fail(run, dag, error);
    list_stops(dag, run);
    for (uint32_t v = 0; v < dag->vertex_count; v++) run->parking->first[v] = DAG_NONE;
    schedule(dag, run);
    return true;
}
