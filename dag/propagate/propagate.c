// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/propagate/propagate.h"

#include "base/pages.h"
#include "dag/edit/chain.h"
#include "dag/propagate/deadlock.h"
#include "dag/propagate/parking.h"
#include "dag/propagate/segments.h"

#include <stdlib.h>
#include <string.h>

void dag_run_destroy(struct dag_run *run) {
    if (run->parking) parking_destroy(run->parking);
    if (run->segments) dag_segments_destroy(run->segments);
    free(run->parking);
    free(run->segments);
    free(run->time_ns);
    free(run->turns);
    free(run->moves);
    free(run->walks);
    *run = (struct dag_run){0};
}

static uint64_t marks_between(uint32_t from, uint32_t to) { // of vertices of one word; `to` may be the next one's first
    return (mark_of(to - 1) << 1) - mark_of(from);
}

// Where a task that is inlined leaves its worker's chain, comes in on its spawner's, and is left there. The chain goes
// on at `to`; shift_ns is how much more T - t there is than where it came from.
struct dag_move {
    int64_t shift_ns;
    uint32_t to;
    enum { MOVE_SKIP, MOVE_ENTER, MOVE_LEAVE } kind; // of these, the last gets its time before the chain moves, the
};                                                   // first two none

static inline bool moves_at(const struct dag_run *run, uint32_t v) {
    return run->segments->marks[v / MARKS].move & mark_of(v);
}

static inline struct dag_move *move_at(const struct dag_run *run, uint32_t v) {
    const struct dag_marks *marks = &run->segments->marks[v / MARKS];
    return &run->moves[marks->moves + count_bits(marks->move & (mark_of(v) - 1))];
}

// The edit reaches into the segments of vertices from `from` to before `to`: each vertex has its own time.
static void break_segments(struct dag_run *run, uint32_t from, uint32_t to) {
    struct dag_segments *segments = run->segments;
    for (uint32_t s = segment_of(segments, from); segments->list[s].begin < to; s++) {
        if (segments->shift_ns[s] == SHIFT_BROKEN) continue;
        segments->shift_ns[s] = SHIFT_BROKEN;
        segments->marks[segments->list[s].begin / MARKS].uneven = true;
    }
}

static void put_move(struct dag_run *run, uint32_t at, struct edit_move move, unsigned kind) {
    *move_at(run, at) = (struct dag_move){move.from_ns - move.to_ns, move.to, kind};
}

// In order of vertices, as a walk comes upon them.
static void list_moves(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    const int64_t *recorded_ns = dag->vertices.time_ns;
    uint32_t count = 0;
    if (!edit->inlined_count) return;
    for (uint32_t word = 0; word <= dag->vertex_count / MARKS; word++) {
        run->segments->marks[word].moves = count;
        count += count_bits(run->segments->marks[word].move);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!edit->inlined[t]) continue;
        const struct dag_task *task = &dag->tasks[t];
        bool first = task->pickup == dag->threads[task->thread].first;
        int64_t since_ns = recorded_ns[first ? task->pickup : task->pickup - 1];
        put_move(run, task->pickup, move_skip(dag, task, task->end, since_ns), MOVE_SKIP);
        put_move(run, task->spawn_begin, move_enter(dag, task), MOVE_ENTER);
        put_move(run, task->end, move_leave(dag, task), MOVE_LEAVE);
    }
}

// What the edit removes is marked by DAG_ABSENT.
struct removal {
    const struct dag *dag;
    int64_t *time_ns;
    struct dag_run *run; // or NULL
};

static void remove_range(const struct removal *removal, uint32_t from, uint32_t to) {
    for (uint32_t v = from; v < to; v++) {
        removal->time_ns[v] = DAG_ABSENT;
        if (removal->run) removal->run->segments->marks[v / MARKS].timed |= mark_of(v);
    }
}

// A removed worker keeps nothing but the bodies that moved out of it.
static void remove_worker(const struct removal *removal, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &removal->dag->vertices;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (vertices->kind[v] == VERTEX_START)
            v = removal->dag->tasks[vertices->task[v]].end;
        else {
            if (removal->run) break_segments(removal->run, v, v + 1);
            remove_range(removal, v, v + 1);
        }
    }
}

static void mark_move(struct dag_run *run, uint32_t v) {
    run->segments->marks[v / MARKS].move |= mark_of(v);
}

static void mark_moves(struct dag_run *run, const struct dag_task *task, bool in_place) {
    break_segments(run, task->spawn_begin, in_place ? task->pickup : task->spawn_end + 1);
    break_segments(run, task->pickup, task->start + 1);
    break_segments(run, task->end, in_place ? task->spawn_end + 1 : task->end + 1);
    mark_move(run, task->spawn_begin);
    mark_move(run, task->pickup);
    mark_move(run, task->end);
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
        bool in_place = move_is_in_place(task);
        if (removal->run && edit->inlined[t]) mark_moves(removal->run, task, in_place);
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
        else if (kind != VERTEX_IDLE && kind != VERTEX_BUSY && !vertex_is_of_resource(kind))
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
    uint32_t segment; // next
    int64_t shift_ns; // of the vertex before its first
};

// What a walk needs at every step.
struct walker {
    const struct dag *dag;
    const struct dag_edit *edit;
    struct dag_run *run;
    uint32_t thread;
};

// Of a vertex of a broken segment.
static inline int64_t broken_shift(const struct walker *walker, uint32_t vertex) {
    const struct dag_run *run = walker->run;
    if (!(run->segments->marks[vertex / MARKS].timed & mark_of(vertex))) return SHIFT_PENDING;
    int64_t time_ns = run->time_ns[vertex];
    return time_ns == DAG_ABSENT ? SHIFT_ABSENT : time_ns - walker->dag->vertices.time_ns[vertex];
}

// Of a vertex, whatever segment it is in; SHIFT_PENDING or SHIFT_AWAITED if it has none yet.
static int64_t shift_of(const struct walker *walker, uint32_t vertex) {
    const struct dag_segments *segments = walker->run->segments;
    int64_t shift_ns = segments->shift_ns[segment_of(segments, vertex)];
    return shift_ns == SHIFT_BROKEN ? broken_shift(walker, vertex) : shift_ns;
}

static bool is_pending(int64_t shift_ns) {
    return shift_ns == SHIFT_PENDING || shift_ns == SHIFT_AWAITED;
}

// Of a vertex of RULE_BEGIN. false: what it awaits has none yet.
static bool begin_shift(const struct walker *walker, uint32_t vertex, uint32_t *awaits, int64_t *shift_ns) {
    const int64_t *recorded_ns = walker->dag->vertices.time_ns;
    uint32_t cause = walker->dag->vertices.cause[vertex];
    bool removed = cause != DAG_NONE && shift_of(walker, cause) == SHIFT_ABSENT;
    struct dag_constraint start = dag_constraint_of_start(walker->dag, walker->edit, vertex, walker->thread, removed);
    *awaits = start.cause;
    int64_t cause_ns = start.cause == DAG_NONE ? 0 : shift_of(walker, start.cause);
    if (is_pending(cause_ns)) return false;
    *shift_ns = cause_ns;
    if (start.cause != DAG_NONE) *shift_ns += recorded_ns[start.cause] + start.delay_ns - recorded_ns[vertex];
    return true;
}

// The shift of a vertex with a cause by its rule, when the edit may have removed that.
static int64_t far_shift(const struct walker *walker, uint32_t vertex, int64_t before_ns, int64_t cause_ns) {
    bool first = vertex == walker->dag->threads[walker->thread].first;
    struct dag_far_link link = segment_far_link(walker->dag, vertex, first);
    if (cause_ns != SHIFT_ABSENT && cause_ns - before_ns > link.slack_ns) return cause_ns + link.late_ns;
    return before_ns == SHIFT_ABSENT ? SHIFT_ABSENT : before_ns + link.early_ns;
}

// The shift of a segment's first vertex, whatever the edit did to it and its cause; *shift_ns is that of what it
// follows. false: what it awaits has none yet.
static bool settle(const struct walker *walker, uint32_t segment, uint32_t *awaits, int64_t *shift_ns) {
    const struct dag_segments *segments = walker->run->segments;
    struct dag_link link = segments->links[segment];
    int64_t cause_ns = segments->shift_ns[link.cause];
    uint32_t vertex = segments->list[segment].begin;
    *awaits = segments->list[segment].cause;
    if (cause_ns == SHIFT_BROKEN) {
        cause_ns = *awaits == DAG_NONE ? *shift_ns : broken_shift(walker, *awaits);
    }
    if (!shift_is_special(cause_ns)) {
        *shift_ns = link_shift(link, *shift_ns, cause_ns);
        return true;
    }
    if (walker->dag->vertices.rule[vertex] == RULE_BEGIN) return begin_shift(walker, vertex, awaits, shift_ns);
    if (*awaits == DAG_NONE) return true;
    cause_ns = shift_of(walker, *awaits);
    if (is_pending(cause_ns)) return false;
    *shift_ns = far_shift(walker, vertex, *shift_ns, cause_ns);
    return true;
}

static void park(const struct walker *walker, uint32_t awaits) {
    struct dag_run *run = walker->run;
    uint32_t segment = segment_of(run->segments, awaits);
    int64_t *shift_ns = &run->segments->shift_ns[segment];
    if (*shift_ns == SHIFT_PENDING) *shift_ns = SHIFT_AWAITED;
    run->walks[walker->thread].awaits = awaits;
    parking_wait(run->parking, walker->thread, segment);
}

static void release(struct dag_run *run, uint32_t segment) {
    if (run->parking->first[segment] != DAG_NONE) parking_release(run->parking, segment);
}

// Passes a segment that is whole, where its link doesn't say all. false: what it awaits has no time yet.
static bool pass_whole(const struct walker *walker, struct stand *stand) {
    struct dag_segments *segments = walker->run->segments;
    uint32_t segment = stand->segment, awaits;
    if (!settle(walker, segment, &awaits, &stand->shift_ns)) {
        park(walker, awaits);
        return false;
    }
    segments->shift_ns[segment] = stand->shift_ns;
    if (stand->shift_ns == SHIFT_ABSENT) segments->marks[segments->list[segment].begin / MARKS].uneven = true;
    release(walker->run, segment);
    stand->segment++;
    return true;
}

// The first vertex behind `v` at which more is to be done than to follow the one before; where these marks know of
// none, the first that they don't know.
static uint32_t next_mark(const struct dag_marks *marks, uint32_t v) {
    uint64_t behind = (marks->first | marks->move) & -mark_of(v) << 1;
    return v / MARKS * MARKS + (behind ? (uint32_t)__builtin_ctzll(behind) : MARKS);
}

// Gives vertices up to the next mark their times and returns it.
static uint32_t follow(const struct walker *walker, uint32_t v, bool leaves, int64_t shift_ns) {
    struct dag_run *run = walker->run;
    uint32_t end = leaves ? v + 1 : next_mark(&run->segments->marks[v / MARKS], v);
    release(run, segment_of(run->segments, v));
    run->segments->marks[v / MARKS].timed |= marks_between(v, end);
    for (; v < end; v++) run->time_ns[v] = walker->dag->vertices.time_ns[v] + shift_ns;
    return end;
}

// Passes a segment that is broken, up to the beginning of another, be it that of a body that moved here or of what
// comes behind it. false: what its first vertex awaits has no time yet.
static bool pass_broken(const struct walker *walker, struct stand *stand) {
    const struct dag_segments *segments = walker->run->segments;
    uint32_t v = segments->list[stand->segment].begin, awaits;
    int64_t shift_ns = stand->shift_ns;
    const struct dag_move *move = moves_at(walker->run, v) ? move_at(walker->run, v) : NULL;
    if ((!move || move->kind == MOVE_LEAVE) && !settle(walker, stand->segment, &awaits, &shift_ns)) {
        park(walker, awaits);
        return false;
    }
    do {
        move = moves_at(walker->run, v) ? move_at(walker->run, v) : NULL;
        bool leaves = move && move->kind == MOVE_LEAVE;
        if (move && !leaves) {
            shift_ns += move->shift_ns;
            v = move->to;
            if (move->kind == MOVE_SKIP) continue;
        }
        v = follow(walker, v, leaves, shift_ns);
        if (leaves) {
            shift_ns += move->shift_ns;
            v = move->to;
        }
    } while (!segment_begins(segments, v));
    *stand = (struct stand){segment_of(segments, v), shift_ns};
    return true;
}

// Up to where a chain may go from a segment: on its own thread as far as it is its turn, in bodies that moved here to
// their ends. (No body that moved here is met at the segment behind the thread's last but by its start, which is passed
// at once.)
static uint32_t limit_at(const struct dag_walk *walk, uint32_t segment) {
    return segment >= walk->first && segment <= walk->end ? walk->due : DAG_NONE;
}

// Takes a chain as far as it goes in this turn.
static void advance(const struct dag *dag, const struct dag_edit *edit, uint32_t thread, struct dag_run *run) {
    struct dag_walk *walk = &run->walks[thread];
    const struct walker walker = {dag, edit, run, thread};
    struct stand stand = {walk->segment, walk->shift_ns};
    const struct dag_link *links = run->segments->links;
    int64_t *shift_ns = run->segments->shift_ns;
    uint32_t limit = limit_at(walk, stand.segment);
    walk->awaits = DAG_NONE;
    while (stand.segment < limit) {
        struct dag_link link = links[stand.segment];
        int64_t cause_ns = shift_ns[link.cause], own_ns = shift_ns[stand.segment];
        if (!shift_is_special(cause_ns) && own_ns == SHIFT_PENDING) {
            stand.shift_ns = link_shift(link, stand.shift_ns, cause_ns);
            shift_ns[stand.segment++] = stand.shift_ns;
        } else if (own_ns != SHIFT_BROKEN) {
            if (!pass_whole(&walker, &stand)) break;
        } else {
            if (!pass_broken(&walker, &stand)) break;
            limit = limit_at(walk, stand.segment);
        }
    }
    walk->segment = stand.segment;
    walk->shift_ns = stand.shift_ns;
    walk->done = stand.segment == walk->end;
}

static void start_walks(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    run->parking->ready = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        struct dag_walk *walk = &run->walks[i];
        uint32_t first = dag->threads[i].first;
        unsigned rule = dag->vertices.rule[first];
        bool only_cause = rule == RULE_MAX || (rule == RULE_BEGIN && !moves_at(run, first));
        bool removed = dag_edit_removes_thread(dag, edit, i);
        walk->segment = walk->due = removed ? walk->end : walk->first;
        walk->done = removed;
        walk->awaits = DAG_NONE;
        walk->shift_ns = only_cause ? SHIFT_ABSENT : 0;
    }
}

static void forget_walk(struct dag_run *run, const struct dag *dag) {
    struct dag_segments *segments = run->segments;
    for (uint32_t word = 0; word <= dag->vertex_count / MARKS; word++) {
        segments->marks[word].move = segments->marks[word].timed = 0;
        segments->marks[word].uneven = false;
    }
    for (uint32_t s = 0; s < segments->count; s++) segments->shift_ns[s] = SHIFT_PENDING;
}

// A chain that waits, where an edit changed what comes when, goes on as soon as it can, as far as turns have come.
static inline void take_turn(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run,
                             struct dag_turn turn) {
    struct dag_walk *walk = &run->walks[turn.thread];
    walk->due = turn.until;
    if (walk->awaits == DAG_NONE) advance(dag, edit, turn.thread, run);
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) advance(dag, edit, i, run);
}

// Threads' arrays lie far apart, and a turn is too short for the processor to foresee where it leads. What matters most
// is that lines to be written are there: stores wait for them in order, and soon everything waits for stores.
enum { TURNS_AHEAD = 8 };

// Inlined early, or gcc takes it for a function without effect and leaves out the call.
static inline __attribute__((always_inline)) void prefetch_turn(const struct dag_segments *segments,
                                                                struct dag_turn turn) {
    __builtin_prefetch(&segments->shift_ns[turn.until], 1);
    __builtin_prefetch(&segments->links[turn.until]);
    __builtin_prefetch(&segments->list[turn.until]);
}

static void forget_parked(const struct dag *dag, struct dag_run *run) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (!run->walks[i].done) run->parking->first[segment_of(run->segments, run->walks[i].awaits)] = DAG_NONE;
    }
}

// ---- from shifts to times

// Times of vertices from `from` to before `to`, all of one word of marks. Without a branch a vertex: how long segments
// are no processor foresees.
static inline void shift_word(const struct dag *dag, struct dag_run *run, uint32_t from, uint32_t to, bool uneven) {
    const int64_t *recorded_ns = dag->vertices.time_ns;
    int64_t *time_ns = run->time_ns;
    const struct dag_marks *marks = &run->segments->marks[from / MARKS];
    const int64_t *shift_ns = run->segments->shift_ns + marks->segment;
    uint64_t first = marks->first;
    for (uint32_t v = from; v < to; v++) {
        int64_t now_ns = recorded_ns[v] + *shift_ns;
        if (uneven) {
            now_ns = *shift_ns == SHIFT_BROKEN ? time_ns[v] : now_ns;
            now_ns = *shift_ns == SHIFT_ABSENT ? DAG_ABSENT : now_ns;
        }
        time_ns[v] = now_ns;
        first >>= 1;
        shift_ns += first & 1;
    }
}

static void shift_all(const struct dag *dag, struct dag_run *run) {
    for (uint32_t from = 0; from < dag->vertex_count; from += MARKS) {
        uint32_t to = dag->vertex_count - from < MARKS ? dag->vertex_count : from + MARKS;
        if (run->segments->marks[from / MARKS].uneven)
            shift_word(dag, run, from, to, true);
        else
            shift_word(dag, run, from, to, false);
    }
}

enum dag_outcome dag_propagate(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run) {
    forget_walk(run, dag);
    remove_edited(&(struct removal){dag, run->time_ns, run}, edit);
    list_moves(dag, edit, run);
    start_walks(dag, edit, run);
    run->deadlock_length = 0;
    for (uint32_t i = 0; i < run->turn_count; i++) {
        prefetch_turn(run->segments, run->turns[i + TURNS_AHEAD < run->turn_count ? i + TURNS_AHEAD : i]);
        take_turn(dag, edit, run, run->turns[i]);
    }
    bool stuck = false;
    for (uint32_t i = 0; i < dag->thread_count && !stuck; i++) stuck = !run->walks[i].done;
    if (!stuck) {
        shift_all(dag, run);
        return DAG_OK;
    }
    forget_parked(dag, run);
    return dag_find_deadlock(dag, edit, run) ? DAG_DEADLOCK : DAG_NO_MEMORY;
}

// ---- making the workspace

static void bound_walks(const struct dag *dag, struct dag_run *run) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        run->walks[i].first = segment_of(run->segments, thread->first);
        run->walks[i].end = segment_of(run->segments, thread->first + thread->count);
    }
}

// Walks what was recorded, each chain as far as it goes, and notes how. A chain waits at a segment once at most, and
// comes to its end once: so many turns there can be.
static void schedule(const struct dag *dag, struct dag_run *run) {
    const struct dag_edit nothing = {0};
    forget_walk(run, dag);
    start_walks(dag, &nothing, run);
    for (uint32_t i = dag->thread_count; i--;) {
        run->walks[i].due = run->walks[i].end;
        parking_make_ready(run->parking, i);
    }
    for (uint32_t i; (i = parking_take_ready(run->parking)) != DAG_NONE;) {
        uint32_t from = run->walks[i].segment;
        advance(dag, &nothing, i, run);
        uint32_t until = run->walks[i].segment;
        if (until != from) run->turns[run->turn_count++] = (struct dag_turn){i, until};
    }
}

static bool allocate(struct dag_run *run, const struct dag *dag) {
    size_t vertices = (size_t)dag->vertex_count + 1, threads = (size_t)dag->thread_count + 1;
    *run = (struct dag_run){.time_ns = malloc(vertices * sizeof *run->time_ns),
                            .segments = calloc(1, sizeof *run->segments),
                            .parking = calloc(1, sizeof *run->parking),
                            .walks = malloc(threads * sizeof *run->walks)};
    if (!run->time_ns || !run->segments || !run->parking || !run->walks) return false;
    pages_prefer_huge(run->time_ns, vertices * sizeof *run->time_ns);
    if (!dag_segments_init(run->segments, dag)) return false;
    size_t segments = (size_t)run->segments->count + 1;
    run->moves = malloc(((size_t)dag->task_count * 3 + 1) * sizeof *run->moves);
    run->turns = malloc((segments + threads) * sizeof *run->turns);
    return parking_init(run->parking, run->segments->count, dag->thread_count) && run->moves && run->turns;
}

bool dag_run_init(struct dag_run *run, const struct dag *dag, struct error *error) {
    if (!allocate(run, dag)) {
        dag_run_destroy(run);
        return error_set(error, STATUS_FAILED, "no memory for the times of %u vertices", dag->vertex_count);
    }
    bound_walks(dag, run);
    schedule(dag, run);
    return true;
}
