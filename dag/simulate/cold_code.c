// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/cold_code.h"

#include "dag/simulate/handed_over.h"

#include <math.h>
#include <stdlib.h>

// Whether the edge to a vertex is of handing over the vertex's task.
static bool is_of_hand_over(const struct dag_vertices *vertices, uint32_t v) {
    switch (vertices->kind[v]) {
    case VERTEX_SPAWN_END:
    case VERTEX_START:
        return true;
    case VERTEX_SPAWN_BEGIN:
        return vertices->kind[v - 1] == VERTEX_SPAWN_END;
    case VERTEX_WAIT_BEGIN:
        return vertices->kind[v - 1] == VERTEX_WAIT_END;
    default:
        return false;
    }
}

static double cold_part(const struct pace *pace, const struct pace_when *when) {
    return 1 - 1 / pace_factor(pace, when, PACE_COLD);
}

// What each task's hand-over computed, and what other code did beside what it would have warm.
static void sum_up(struct cold_code *cold, const struct dag *dag, const struct pace *pace, const struct pace_when *when,
                   double *of_task) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            const double computed_ns = (double)vertices->compute_ns[v];
            const uint32_t task = dag_task_of(vertices, v);
            if (task != DAG_NONE && is_of_hand_over(vertices, v) && is_handed_over(dag, task))
                of_task[task] += computed_ns;
            else if (!thread->system)
                cold->other_ns += computed_ns * cold_part(pace, &when[v]);
        }
    }
}

// Leaves the hand-overs' alone, in order of time.
static uint32_t gather(const struct dag *dag, double *of_task) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (is_handed_over(dag, t)) of_task[count++] = of_task[t];
    }
    return count;
}

static double warm_mean(const double *costs, uint32_t count) {
    double sum_ns = 0;
    for (uint32_t i = count / 2; i < count; i++) sum_ns += costs[i];
    return count ? sum_ns / (count - count / 2) : 0;
}

static void add_up(struct cold_code *cold, const double *costs, uint32_t count) {
    const double warm_ns = warm_mean(costs, count);
    double beside_ns = 0, most_ns = 0;
    int doubling = 0;
    for (uint32_t i = 0; i < count; i++) {
        beside_ns += costs[i] - warm_ns;
        most_ns = fmax(most_ns, beside_ns);
        if (i + 1 == UINT64_C(1) << doubling) cold->hand_over_ns[doubling++] = most_ns;
    }
    while (doubling < COLD_DOUBLINGS) cold->hand_over_ns[doubling++] = most_ns;
    cold->hand_overs = count;
}

bool cold_code_measure(struct cold_code *cold, const struct dag *dag, const struct pace *pace,
                       const struct pace_when *when) {
    double *of_task = calloc((size_t)dag->task_count + 1, sizeof *of_task);
    if (!of_task) return false;
    *cold = (struct cold_code){0};
    sum_up(cold, dag, pace, when, of_task);
    add_up(cold, of_task, gather(dag, of_task));
    free(of_task);
    return true;
}

// What the first so many cost beside what they would have warm; between two doublings evenly.
static double first_ns(const struct cold_code *cold, uint32_t count) {
    if (count == 0) return 0;
    int doubling = 0;
    while (doubling + 2 < COLD_DOUBLINGS && count >> (doubling + 1)) doubling++;
    const double low = (double)(UINT64_C(1) << doubling), part = ((double)count - low) / low;
    const double low_ns = cold->hand_over_ns[doubling];
    return low_ns + part * (cold->hand_over_ns[doubling + 1] - low_ns);
}

static uint32_t count_left(const struct cold_code *cold, const struct dag *dag, const struct dag_edit *edit) {
    uint32_t left = cold->hand_overs;
    for (uint32_t t = 0; t < dag->task_count; t++) left -= hand_over_goes(dag, edit, t);
    return left;
}

double cold_code_gone(const struct cold_code *cold, const struct dag *dag, const struct dag_edit *edit,
                      double compiled_ns) {
    const double dearest = 3; // it takes compilers so many times what code cost cold, at the most
    if (edit->inlined_count == 0 && edit->merged_count == 0) return 0;
    const double all_ns = first_ns(cold, cold->hand_overs);
    const double gone_ns = all_ns - first_ns(cold, count_left(cold, dag, edit));
    if (gone_ns <= 0 || compiled_ns <= 0) return 0;
    return fmin(gone_ns / (all_ns + cold->other_ns), fmin(dearest * gone_ns / compiled_ns, 1));
}

// ---- hand-overs that an edit adds

static const double interpreted_calls = 200, compiled_calls = 20000, learnt_power = 0.6;
// What follows from these: of the first 20,000 calls in all, and of each behind them.
static const double first_compiled = 2854.78672240, compiled_part = 0.06309573445;

// What the first so many calls cost, in calls that are interpreted.
static double first_calls(double calls) {
    if (calls <= interpreted_calls) return calls;
    if (calls >= compiled_calls) return first_compiled + (calls - compiled_calls) * compiled_part;
    const double rest = 1 - learnt_power;
    return interpreted_calls + interpreted_calls / rest * (pow(calls / interpreted_calls, rest) - 1);
}

double cold_code_added(double recorded, double before, double count) {
    if (recorded <= 0 || count <= 0) return 1;
    return (first_calls(before + count) - first_calls(before)) / count / (first_calls(recorded) / recorded);
}
