// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/laid_lanes.h"

#include <stdlib.h>

struct laying {
    const struct lanes *lanes;
    const struct dag *run;
    struct laid_lanes *laid;
    int64_t *weights; // an actor each: for so long it did something
};

// ---- pieces, each with its actor in place of its lane

static int64_t end_ns_of(const struct laying *laying, const struct dag_task *task) {
    return task->end == DAG_NONE ? lanes_thread_end_ns(laying->lanes, dag_thread_of(laying->run, task->start))
                                 : lanes_ns(laying->lanes, task->end);
}

static bool shows(const struct laying *laying, const struct dag_task *task) {
    return laying->lanes->work->scratch->action[task->start] == ACTION_OPEN &&
           laying->lanes->lane_of[dag_thread_of(laying->run, task->start)] != DAG_NONE;
}

static bool add_tasks(struct laying *laying) {
    const struct dag *run = laying->run;
    for (uint32_t t = 0; t < run->task_count; t++) {
        const struct dag_task *task = &run->tasks[t];
        const uint32_t actor = run->actor_of[t];
        if (!actor || task->start == DAG_NONE || !shows(laying, task)) continue;
        const struct laid_piece piece = {.begin_ns = lanes_ns(laying->lanes, task->start),
                                         .end_ns = end_ns_of(laying, task),
                                         .lane = actor,
                                         .vertex = task->start,
                                         .state = LANE_RUNNING};
        if (!laid_lanes_add(laying->laid, &piece)) return false;
        laying->weights[actor] += piece.end_ns - piece.begin_ns;
    }
    return true;
}

static int compare(const void *a, const void *b) {
    const struct laid_piece *left = a, *right = b;
    if (left->lane != right->lane) return left->lane < right->lane ? -1 : 1;
    if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
    return (left->vertex > right->vertex) - (left->vertex < right->vertex);
}

// ---- rows

// When what begins at a vertex came to its actor.
static int64_t came_ns(const struct laying *laying, uint32_t start) {
    const struct dag *run = laying->run;
    const uint32_t sent = run->tasks[run->vertices.task[start]].spawn_begin;
    return lanes_ns(laying->lanes, sent == DAG_NONE ? start : sent);
}

// For each of an actor's pieces, since when it or a later one lay there.
static void find_first_waiting(const struct laying *laying, const struct laid_piece *pieces, uint32_t count,
                               int64_t *since_ns) {
    int64_t earliest_ns = INT64_MAX;
    for (uint32_t i = count; i-- > 0;) {
        const int64_t ns = came_ns(laying, pieces[i].vertex);
        if (ns < earliest_ns) earliest_ns = ns;
        since_ns[i] = earliest_ns;
    }
}

static bool add_piece(struct laying *laying, const struct laid_piece *of, int64_t begin_ns, int64_t end_ns,
                      enum lane_state state) {
    struct laid_piece piece = *of;
    piece.begin_ns = begin_ns;
    piece.end_ns = end_ns;
    piece.lane = laying->laid->count - 1;
    piece.state = (uint8_t)state;
    return begin_ns >= end_ns || laid_lanes_add(laying->laid, &piece);
}

// What an actor does while it does something else already, as its initialisation in a handler, is seen from when that
// is over.
static bool lay_actor(struct laying *laying, const struct laid_piece *pieces, uint32_t count, int64_t *since_ns) {
    int64_t free_ns = INT64_MIN;
    if (!laid_lanes_add_lane(laying->laid, pieces->lane, LANE_RUNNING)) return false;
    find_first_waiting(laying, pieces, count, since_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct laid_piece *piece = &pieces[i];
        const int64_t since = since_ns[i] > free_ns ? since_ns[i] : free_ns;
        const int64_t begin_ns = piece->begin_ns > free_ns ? piece->begin_ns : free_ns;
        if (!add_piece(laying, piece, since, begin_ns, LANE_WAITING) ||
            !add_piece(laying, piece, begin_ns, piece->end_ns, LANE_RUNNING))
            return false;
        if (piece->end_ns > free_ns) free_ns = piece->end_ns;
    }
    return true;
}

// Of actors in the order of their ranks; `pieces` have them in the order of their indices.
static bool lay_actors(struct laying *laying, const struct laid_piece *pieces, uint32_t count, const uint32_t *order,
                       const uint32_t *first, int64_t *since_ns) {
    for (uint32_t i = 0; i <= laying->run->actor_count; i++) {
        const uint32_t actor = order[i], of_actor = first[actor + 1] - first[actor];
        if (of_actor && !lay_actor(laying, &pieces[first[actor]], of_actor, since_ns)) return false;
    }
    return count == 0 || laid_lanes_order(laying->laid);
}

static bool lay(struct laying *laying) {
    struct laid_lanes *laid = laying->laid;
    struct laid_piece *pieces = laid->pieces;
    const uint32_t count = laid->piece_count, actors = laying->run->actor_count + 1;
    uint32_t *ranks = malloc(3 * ((size_t)actors + 1) * sizeof *ranks);
    int64_t *since_ns = malloc(((size_t)count + 1) * sizeof *since_ns);
    bool ok = ranks && since_ns && laid_lanes_rank(laying->weights, actors, ranks);
    uint32_t *order = ok ? ranks + actors : NULL, *first = ok ? order + actors : NULL;
    laid->pieces = NULL;
    laid->piece_count = laid->piece_capacity = 0;
    if (ok && count) qsort(pieces, count, sizeof *pieces, compare);
    for (uint32_t a = 0; ok && a < actors; a++) order[ranks[a]] = a;
    for (uint32_t a = 0, i = 0; ok && a <= actors; a++) {
        first[a] = i;
        while (i < count && pieces[i].lane == a) i++;
    }
    ok = ok && lay_actors(laying, pieces, count, order, first, since_ns);
    free(pieces);
    free(ranks);
    free(since_ns);
    return ok;
}

bool actor_lanes_make(struct laid_lanes *laid, const struct lanes *lanes, struct error *error) {
    struct laying laying = {.lanes = lanes, .run = lanes->run, .laid = laid};
    const uint32_t actors = lanes->run->actor_count + 1;
    *laid = (struct laid_lanes){0};
    if (!lanes->run->actor_of) return true;
    laying.weights = calloc(actors, sizeof *laying.weights);
    laid->lane_of = malloc(actors * sizeof *laid->lane_of);
    bool ok = laying.weights && laid->lane_of;
    for (uint32_t i = 0; ok && i < actors; i++) laid->lane_of[i] = DAG_NONE;
    ok = ok && add_tasks(&laying) && lay(&laying);
    free(laying.weights);
    return ok || error_set(error, STATUS_FAILED, "no memory for the lanes of actors");
}
