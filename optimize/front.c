// SPDX-License-Identifier: GPL-3.0-or-later
// Points are taken in order of wall time, of a service of throughput: one is dominated if a faster one takes as few
// threads and changes. What serves fewer requests is no choice, whatever it saves: its clients wait.
#include "optimize/front.h"

#include <stdlib.h>

static double threads_of(const struct front_point *point) {
    return point->estimate->threads[STATE_OCCUPIED].mean;
}

// Wall time; of a service the time from answer to answer.
static double time_of(const struct metrics *m) {
    const double per_s = m->requests.throughput_per_s;
    return per_s > 0 ? 1e9 / per_s : (double)m->wall_ns;
}

static int compare_points(const void *a, const void *b) {
    const struct front_point *left = a, *right = b;
    const double here = time_of(left->estimate), there = time_of(right->estimate);
    if (here != there) return here < there ? -1 : 1;
    if (threads_of(left) != threads_of(right)) return threads_of(left) < threads_of(right) ? -1 : 1;
    if (left->count != right->count) return left->count < right->count ? -1 : 1;
    return (left->candidates[0] > right->candidates[0]) - (left->candidates[0] < right->candidates[0]);
}

bool front_saves_threads(const struct metrics *m, const struct metrics *run, double noise) {
    const struct usage *now = &m->threads[STATE_OCCUPIED], *then = &run->threads[STATE_OCCUPIED];
    if (!(now->mean < (1 - noise) * then->mean)) return false;
    return now->peak < (1 - noise) * then->peak || now->mean * metrics_wall_ratio(m, run) < (1 - noise) * then->mean;
}

static bool betters_run(const struct search_result *result, const struct front_point *point) {
    const struct metrics *run = &result->replayed;
    const double ratio = time_of(point->estimate) / time_of(run);
    if (run->requests.throughput_per_s > 0 && ratio > 1 + result->noise) return false;
    if (metrics_drags_on(point->estimate, run)) return false;
    return ratio < 1 - result->noise || front_saves_threads(point->estimate, run, result->noise);
}

static bool is_dominated(const struct search_result *result, const struct front_point *point) {
    for (size_t i = 0; i < result->front_count; i++) {
        const struct front_point *faster = &result->front[i];
        if (threads_of(faster) <= (1 + result->noise) * threads_of(point) && faster->count <= point->count) return true;
    }
    return false;
}

// Of plans those of several changes: others are changes alone.
static size_t list_points(const struct search_result *result, uint32_t *indices, struct front_point *points) {
    size_t count = 0;
    for (size_t i = 0; i < result->candidate_count; i++) {
        const struct candidate *candidate = &result->candidates[i];
        indices[i] = (uint32_t)i;
        if (!candidate_is_estimated(candidate) || candidate->negligible || candidate->beyond) continue;
        points[count++] = (struct front_point){&indices[i], 1, &candidate->estimate};
    }
    for (size_t i = 0; i < result->plan_count; i++) {
        const struct ranked_plan *plan = &result->plans[i];
        if (plan->count > 1) points[count++] = (struct front_point){plan->candidates, plan->count, &plan->estimate};
    }
    return count;
}

bool front_find(struct search_result *result, struct arena *arena, struct error *error) {
    const size_t most = result->candidate_count + result->plan_count + 1;
    uint32_t *indices = ARENA_NEW(arena, uint32_t, most);
    struct front_point *points = malloc(most * sizeof *points);
    result->front = ARENA_NEW(arena, struct front_point, most);
    bool done = indices && points && result->front;
    const size_t count = done ? list_points(result, indices, points) : 0;
    if (count) qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 0; i < count; i++) {
        if (betters_run(result, &points[i]) && !is_dominated(result, &points[i]))
            result->front[result->front_count++] = points[i];
    }
    free(points);
    return done || error_set(error, STATUS_FAILED, "no memory for what can be had");
}
