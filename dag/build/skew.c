// SPDX-License-Identifier: GPL-3.0-or-later
// Clocks of different cores differ, so an effect can seem to precede its cause. Moves what is too early, by as little
// as can be, forward in the order in which causes come: every effect ends up no earlier than its cause, every vertex
// after the one before it. Not so waits: a result can be seen before its event is recorded, which is no fault of
// clocks. A cause that can only come after its own effect (ids confused, events lost) is dropped.
#include "dag/build/builder.h"
#include "dag/propagate/parking.h"

#include <stdlib.h>

struct repair {
    struct dag *dag;
    struct parking parking;
    uint32_t *at;      // a thread each: next vertex
    uint64_t *settled; // a bit a vertex: its time stands
    uint32_t unfinished;
};

static bool is_settled(const struct repair *repair, uint32_t vertex) {
    return repair->settled[vertex / 64] >> vertex % 64 & 1;
}

// Vertices that stand for one event may share its time.
static int64_t least_time(const struct dag *dag, const struct dag_thread *thread, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t least = INT64_MIN;
    if (v > thread->first) {
        least = vertices->time_ns[v - 1];
        if (vertices->time_ns[v] <= least) least += vertices->event[v] != vertices->event[v - 1]; // asked for rarely
    }
    uint32_t cause = vertices->cause[v];
    bool binds = cause != DAG_NONE && vertices->rule[v] != RULE_WAIT; // a result's event may lag behind it
    if (binds && vertices->time_ns[cause] > least) least = vertices->time_ns[cause];
    return least;
}

static void settle(struct dag *dag, const struct dag_thread *thread, uint32_t v) {
    int64_t least = least_time(dag, thread, v), *time_ns = &dag->vertices.time_ns[v];
    if (*time_ns >= least) return;
    if (dag->vertices.kind[v] != VERTEX_BARRIER) { // those only follow what they gather
        dag->skew_fixed++;
        if (least - *time_ns > dag->skew_worst_ns) dag->skew_worst_ns = least - *time_ns;
    }
    *time_ns = least;
}

static void advance(struct repair *repair, uint32_t index) {
    struct dag *dag = repair->dag;
    const struct dag_thread *thread = &dag->threads[index];
    uint32_t *at = &repair->at[index];
    for (; *at < thread->first + thread->count; ++*at) {
        uint32_t cause = dag->vertices.cause[*at];
        if (cause != DAG_NONE && !is_settled(repair, cause)) {
            parking_wait(&repair->parking, index, cause);
            return;
        }
        settle(dag, thread, *at);
        repair->settled[*at / 64] |= UINT64_C(1) << *at % 64;
        parking_release(&repair->parking, *at);
    }
    repair->unfinished--;
}

static bool comes_after_cause(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t cause = vertices->cause[v];
    if (cause == DAG_NONE || vertices->time_ns[cause] < vertices->time_ns[v]) return true;
    bool gathers = vertices->kind[v] == VERTEX_BARRIER && vertices->kind[cause] != VERTEX_BARRIER;
    return gathers && vertices->time_ns[cause] == vertices->time_ns[v];
}

// Causes lie anywhere: their times are fetched ahead of the vertex in hand.
FETCHES_AHEAD prefetch_cause(const struct dag *dag, uint32_t v) {
    enum { AHEAD = 24 };
    uint32_t ahead = dag->vertex_count - v > AHEAD ? v + AHEAD : v, cause = dag->vertices.cause[ahead];
    __builtin_prefetch(&dag->vertices.time_ns[cause == DAG_NONE ? v : cause]);
}

// What waking up cost: [0] waits that slept, [1] workers that did.
struct wakeups {
    int64_t total_ns[2], count[2];
};

// `v` is not its thread's first.
static void note_wakeup(const struct dag_vertices *vertices, uint32_t v, struct wakeups *wakeups) {
    uint32_t cause = vertices->cause[v], kind = vertices->kind[v];
    if (cause == DAG_NONE || (kind != VERTEX_WAIT_END && kind != VERTEX_BUSY)) return;
    if (vertices->time_ns[cause] <= vertices->time_ns[v - 1]) return;
    if (vertices->time_ns[cause] > vertices->time_ns[v]) return;
    wakeups->total_ns[kind == VERTEX_BUSY] += vertices->time_ns[v] - vertices->time_ns[cause];
    wakeups->count[kind == VERTEX_BUSY]++;
}

// The mean, over waits or else over workers.
static void set_wakeup(struct dag *dag, const struct wakeups *wakeups) {
    int which = wakeups->count[0] == 0;
    dag->wakeup_ns = wakeups->count[which] ? wakeups->total_ns[which] / wakeups->count[which] : 0;
}

void measure_wakeup(struct dag *dag) {
    struct wakeups wakeups = {0};
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            prefetch_cause(dag, v);
            note_wakeup(&dag->vertices, v, &wakeups);
        }
    }
    set_wakeup(dag, &wakeups);
}

struct inspection { // by each hand
    const struct dag *dag;
    struct wakeups wakeups;
    bool out_of_order;
};

static void inspect_thread(void *inspections, uint32_t hand, uint32_t index) {
    struct inspection *by = (struct inspection *)inspections + hand;
    const struct dag *dag = by->dag;
    const struct dag_thread *thread = &dag->threads[index];
    for (uint32_t v = thread->first; v < thread->first + thread->count && !by->out_of_order; v++) {
        prefetch_cause(dag, v);
        by->out_of_order = dag->vertices.time_ns[v] < least_time(dag, thread, v) || !comes_after_cause(dag, v);
        if (v > thread->first) note_wakeup(&dag->vertices, v, &by->wakeups);
    }
}

// Whether times agree with causes as they are, as where all cores have one clock. Then nothing is to be moved, and no
// vertex can wait for itself: by time, barriers after others of their time, everything comes after what it waits for.
// Measures wake-ups on the way, which saves a pass.
static bool is_in_order(const struct builder *builder, struct wakeups *wakeups) {
    struct inspection by[HANDS];
    bool in_order = true;
    for (uint32_t i = 0; i < HANDS; i++) by[i] = (struct inspection){.dag = builder->dag};
    hands_run(inspect_thread, by, builder->dag->thread_count, builder->hands);
    for (uint32_t i = 0; i < HANDS; i++) {
        in_order &= !by[i].out_of_order;
        for (int of = 0; of < 2; of++) {
            wakeups->total_ns[of] += by[i].wakeups.total_ns[of];
            wakeups->count[of] += by[i].wakeups.count[of];
        }
    }
    return in_order;
}

// Frees the chain whose parked vertex is the earliest: its cause can't be what it waited for.
static void drop_one_cause(struct repair *repair) {
    struct dag *dag = repair->dag;
    uint32_t earliest = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (repair->at[i] == dag->threads[i].first + dag->threads[i].count) continue;
        int64_t time_ns = dag->vertices.time_ns[repair->at[i]];
        if (earliest == DAG_NONE || time_ns < dag->vertices.time_ns[repair->at[earliest]]) earliest = i;
    }
    uint32_t v = repair->at[earliest];
    parking_leave(&repair->parking, earliest, dag->vertices.cause[v]);
    dag->vertices.cause[v] = DAG_NONE;
    if (dag->vertices.rule[v] != RULE_BEGIN) dag->vertices.rule[v] = RULE_RUN;
    parking_make_ready(&repair->parking, earliest);
}

static void walk(struct repair *repair) {
    for (uint32_t i = repair->dag->thread_count; i--;) parking_make_ready(&repair->parking, i);
    while (repair->unfinished) {
        for (uint32_t i; (i = parking_take_ready(&repair->parking)) != DAG_NONE;) advance(repair, i);
        if (repair->unfinished) drop_one_cause(repair);
    }
}

static bool repair_times(struct builder *builder) {
    struct dag *dag = builder->dag;
    struct repair repair = {.dag = dag, .unfinished = dag->thread_count};
    repair.settled = calloc((size_t)dag->vertex_count / 64 + 1, sizeof *repair.settled);
    repair.at = malloc(((size_t)dag->thread_count + 1) * sizeof *repair.at);
    bool ok = parking_init(&repair.parking, dag->vertex_count, dag->thread_count) && repair.settled && repair.at;
    if (ok) {
        for (uint32_t i = 0; i < dag->thread_count; i++) repair.at[i] = dag->threads[i].first;
        walk(&repair);
    }
    free(repair.settled);
    parking_destroy(&repair.parking);
    free(repair.at);
    return ok || no_memory(builder);
}

bool repair_skew(struct builder *builder) {
    struct wakeups wakeups = {0};
    if (is_in_order(builder, &wakeups)) {
        set_wakeup(builder->dag, &wakeups);
        return true;
    }
    if (!repair_times(builder)) return false;
    measure_wakeup(builder->dag);
    return true;
}
