// SPDX-License-Identifier: GPL-3.0-or-later
// The walk is the one of skew.c: each thread goes on until its next vertex has a cause without a time yet, and waits on
// that, or on the turn before at a pool's queues. The graph as recorded has no cycle, but turns and causes of locks
// (RULE_GRANT) are none of its edges, and waits may precede what they wait for by a moment: where no thread can go on,
// the earliest vertex that has its cause does without its turn, or else the earliest without its cause.
#include "dag/build/perturbation.h"

#include "dag/build/builder.h"
#include "dag/propagate/parking.h"
#include "dag/propagate/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct taking {
    struct dag *dag;
    const int64_t *recorded_ns;
    int64_t *time_ns;   // DAG_PENDING: none yet
    int64_t *taken_ns;  // a vertex each: off the edge to it, of what it computed
    int64_t *waited_ns; // likewise, of what it waited for a core that was at the tracer's work
    struct parking parking;
    uint32_t *at;         // a thread each: next vertex
    uint32_t *awaits;     // a thread each: vertex without a time yet, of a thread that is parked
    uint32_t *turn_after; // a vertex each: find_turns
    int64_t before_ns[EVENT_KINDS], after_ns[EVENT_KINDS];
    uint32_t unfinished;
};

static unsigned kind_of(const struct taking *taking, uint32_t vertex) {
    return taking->dag->tracer.event_kind[vertex];
}

// What the tracer took between a cause's having its effect and the effect's vertex: behind the one, before the other.
static int64_t cost_between(const struct taking *taking, uint32_t cause, uint32_t v) {
    return taking->after_ns[kind_of(taking, cause)] + taking->before_ns[kind_of(taking, v)];
}

// What is left of the time from a cause to what it led to. An effect that was seen a moment before its cause keeps that
// lead.
static int64_t delay_without(const struct taking *taking, uint32_t cause, uint32_t v) {
    int64_t delay_ns = taking->recorded_ns[v] - taking->recorded_ns[cause];
    return min_ns(delay_ns, max_ns(delay_ns - cost_between(taking, cause, v), 0));
}

// Vertices that stand for one event may share its time.
static int64_t least_edge(const struct taking *taking, uint32_t v) {
    return taking->dag->vertices.event[v] != taking->dag->vertices.event[v - 1];
}

// ---- waits for a core

// The first sample that was not before a time, from one that was not behind it on; sample_count: none was.
static uint32_t sample_from(const struct dag *dag, uint32_t sample, int64_t recorded_ns) {
    while (sample < dag->sample_count && dag->samples[sample].time_ns < recorded_ns) sample++;
    return sample;
}

// What all threads have of `edge_ns`, a vertex each, between the sample before and each, into `sum_ns`.
static void sum_between_samples(const struct taking *taking, const int64_t *edge_ns, int64_t *sum_ns) {
    const struct dag *dag = taking->dag;
    memset(sum_ns, 0, ((size_t)dag->sample_count + 1) * sizeof *sum_ns);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t sample = 0;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            sample = sample_from(dag, sample, taking->recorded_ns[v]);
            sum_ns[sample] += edge_ns[v];
        }
    }
}

// What part the tracer, which computed so much since the sample before, had of all that the process did.
static double tracer_part(const struct dag *dag, uint32_t sample, int64_t tracer_ns) {
    if (sample == 0 || sample >= dag->sample_count) return 0;
    const int64_t all_ns = dag->samples[sample].process_cpu_ns - dag->samples[sample - 1].process_cpu_ns;
    return all_ns > 0 ? fmin((double)tracer_ns / (double)all_ns, 1) : 0;
}

// What each edge waited for a core while others were at the tracer's work.
static bool find_waits(const struct taking *taking) {
    const struct dag *dag = taking->dag;
    if (!dag->vertices.queued_ns) return true;
    int64_t *tracer_ns = malloc(((size_t)dag->sample_count + 1) * sizeof *tracer_ns);
    if (!tracer_ns) return false;
    sum_between_samples(taking, dag->tracer.edge_ns, tracer_ns);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t sample = 0;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            sample = sample_from(dag, sample, taking->recorded_ns[v]);
            const double part = tracer_part(dag, sample, tracer_ns[sample]);
            taking->waited_ns[v] = (int64_t)(part * (double)dag->vertices.queued_ns[v]);
        }
    }
    free(tracer_ns);
    return true;
}

// What is left of the edge to a vertex: what it waited for a core is, but while others were at the tracer's work.
static int64_t edge_without(const struct taking *taking, uint32_t v) {
    const struct dag_vertices *vertices = &taking->dag->vertices;
    const int64_t waited_ns = taking->waited_ns[v];
    int64_t edge_ns = taking->recorded_ns[v] - taking->recorded_ns[v - 1], least_ns = least_edge(taking, v);
    if (vertices->queued_ns) least_ns = max_ns(least_ns, vertices->queued_ns[v] - waited_ns);
    return min_ns(edge_ns, max_ns(edge_ns - taking->dag->tracer.edge_ns[v] - waited_ns, least_ns));
}

// A thread's first vertex, behind what made the thread. Barriers have no time of their own.
static int64_t time_of_first(const struct taking *taking, uint32_t v, uint32_t cause) {
    return cause == DAG_NONE ? taking->recorded_ns[v] : taking->time_ns[cause] + delay_without(taking, cause, v);
}

static int64_t time_of(struct taking *taking, const struct dag_thread *thread, uint32_t v, uint32_t cause) {
    if (v == thread->first) return time_of_first(taking, v, cause);
    const int64_t *recorded_ns = taking->recorded_ns, before_ns = taking->time_ns[v - 1];
    const unsigned rule = taking->dag->vertices.rule[v];
    const int64_t edge_ns = recorded_ns[v] - recorded_ns[v - 1];
    if (cause != DAG_NONE && rule != RULE_GRANT && recorded_ns[cause] > recorded_ns[v - 1]) {
        int64_t delay_ns = delay_without(taking, cause, v);
        taking->taken_ns[v] = recorded_ns[v] - recorded_ns[cause] - delay_ns;
        taking->waited_ns[v] = 0; // who is woken waits on, or the wait would be taken for sleep
        return max_ns(before_ns + min_ns(edge_ns, least_edge(taking, v)), taking->time_ns[cause] + delay_ns);
    }
    int64_t left_ns = edge_without(taking, v);
    taking->waited_ns[v] = min_ns(taking->waited_ns[v], edge_ns - left_ns);
    taking->taken_ns[v] = edge_ns - left_ns - taking->waited_ns[v];
    return cause == DAG_NONE ? before_ns + left_ns : max_ns(before_ns + left_ns, taking->time_ns[cause]);
}

static bool is_pending(const struct taking *taking, uint32_t vertex) {
    return vertex != DAG_NONE && taking->time_ns[vertex] == DAG_PENDING;
}

// Where find_turns knows what a worker followed, its cause is no more than what it then found.
static bool follows_turn(const struct taking *taking, uint32_t v) {
    return taking->dag->vertices.kind[v] == VERTEX_BUSY && taking->turn_after[v] != DAG_NONE;
}

static uint32_t cause_of(const struct taking *taking, uint32_t v) {
    return follows_turn(taking, v) ? taking->turn_after[v] : taking->dag->vertices.cause[v];
}

static uint32_t turn_of(const struct taking *taking, uint32_t v) {
    return follows_turn(taking, v) ? taking->dag->vertices.cause[v] : taking->turn_after[v];
}

// The order must be seen from the times: of a vertex that would be too early less is taken.
static int64_t time_in_turn(struct taking *taking, uint32_t thread, uint32_t v) {
    int64_t time_ns = time_of(taking, &taking->dag->threads[thread], v, cause_of(taking, v));
    uint32_t before = turn_of(taking, v);
    if (before == DAG_NONE) return time_ns;
    int64_t apart_ns = taking->recorded_ns[v] - taking->recorded_ns[before];
    int64_t early_ns = max_ns(taking->time_ns[before] + min_ns(apart_ns, 1) - time_ns, 0);
    const int64_t waited_on_ns = min_ns(early_ns, taking->waited_ns[v]);
    taking->waited_ns[v] -= waited_on_ns;
    taking->taken_ns[v] = max_ns(taking->taken_ns[v] - (early_ns - waited_on_ns), 0);
    return time_ns + early_ns;
}

static void advance(struct taking *taking, uint32_t index) {
    const struct dag *dag = taking->dag;
    const struct dag_thread *thread = &dag->threads[index];
    uint32_t *at = &taking->at[index];
    for (; *at < thread->first + thread->count; ++*at) {
        uint32_t awaits = cause_of(taking, *at);
        if (!is_pending(taking, awaits)) awaits = turn_of(taking, *at);
        if (is_pending(taking, awaits)) {
            taking->awaits[index] = awaits;
            parking_wait(&taking->parking, index, awaits);
            return;
        }
        taking->time_ns[*at] = time_in_turn(taking, index, *at);
        parking_release(&taking->parking, *at);
    }
    taking->unfinished--;
}

static bool lacks_cause(const struct taking *taking, uint32_t thread) {
    return is_pending(taking, cause_of(taking, taking->at[thread]));
}

// Of threads that are all stuck, whose turn is to be passed over, or whose cause.
static uint32_t find_next(const struct taking *taking) {
    const struct dag *dag = taking->dag;
    uint32_t best = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (taking->at[i] == dag->threads[i].first + dag->threads[i].count) continue;
        bool lacks = lacks_cause(taking, i), other = best != DAG_NONE && lacks != lacks_cause(taking, best);
        int64_t time_ns = taking->recorded_ns[taking->at[i]];
        bool earlier = best == DAG_NONE || time_ns < taking->recorded_ns[taking->at[best]];
        if (other ? !lacks : earlier) best = i;
    }
    return best;
}

static void pass_stuck(struct taking *taking) {
    uint32_t thread = find_next(taking), v = taking->at[thread];
    uint32_t cause = lacks_cause(taking, thread) ? DAG_NONE : cause_of(taking, v);
    parking_leave(&taking->parking, thread, taking->awaits[thread]);
    taking->time_ns[v] = time_of(taking, &taking->dag->threads[thread], v, cause);
    taking->at[thread]++;
    parking_release(&taking->parking, v);
    parking_make_ready(&taking->parking, thread);
}

static void walk(struct taking *taking) {
    for (uint32_t i = taking->dag->thread_count; i--;) parking_make_ready(&taking->parking, i);
    while (taking->unfinished) {
        for (uint32_t i; (i = parking_take_ready(&taking->parking)) != DAG_NONE;) advance(taking, i);
        if (taking->unfinished) pass_stuck(taking);
    }
}

// ---- what edges compute

// What was taken had been computed. An edge that is shorter now for another reason has no room for more either.
static void shorten_computing(const struct taking *taking) {
    struct dag *dag = taking->dag;
    struct dag_vertices *vertices = &dag->vertices;
    if (!vertices->compute_ns) return;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            int64_t edge_ns = taking->time_ns[v] - taking->time_ns[v - 1];
            int64_t compute_ns = max_ns(vertices->compute_ns[v] - taking->taken_ns[v], 0);
            if (vertices->queued_ns) {
                vertices->queued_ns[v] = min_ns(vertices->queued_ns[v] - taking->waited_ns[v], edge_ns);
                edge_ns -= vertices->queued_ns[v];
            }
            vertices->compute_ns[v] = min_ns(compute_ns, edge_ns);
        }
    }
}

// ---- the rest of the run

static bool is_counted(const struct dag *dag, uint32_t thread) {
    return dag->threads[thread].stream != DAG_NONE && !dag->threads[thread].system;
}

static void sum_up(const struct taking *taking) {
    struct dag *dag = taking->dag;
    dag->tracer.recorded_wall_ns = dag->last_ns - dag->first_ns;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!is_counted(dag, i)) continue;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            dag->tracer.taken_ns += taking->taken_ns[v];
        }
    }
}

// The first and the last event, which need not be vertices, keep their distance to those.
static void move_window(const struct taking *taking) {
    struct dag *dag = taking->dag;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, recorded_first_ns = INT64_MAX, recorded_last_ns = INT64_MIN;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!is_counted(dag, i)) continue;
        uint32_t first = thread->first, last = thread->first + thread->count - 1;
        first_ns = min_ns(first_ns, taking->time_ns[first]);
        last_ns = max_ns(last_ns, taking->time_ns[last]);
        recorded_first_ns = min_ns(recorded_first_ns, taking->recorded_ns[first]);
        recorded_last_ns = max_ns(recorded_last_ns, taking->recorded_ns[last]);
    }
    if (first_ns > last_ns) return;
    dag->first_ns += first_ns - recorded_first_ns;
    dag->last_ns += last_ns - recorded_last_ns;
}

// An instant of the whole JVM: the mean of when it comes on the threads that were there then.
struct instants {
    struct dag_remap *remaps; // of counted threads
    uint32_t count;
    int64_t least_ns; // it comes no earlier than the one before
    const struct dag *dag;
};

static bool instants_init(struct instants *instants, const struct dag *dag) {
    *instants = (struct instants){.dag = dag, .least_ns = INT64_MIN};
    instants->remaps = malloc(((size_t)dag->thread_count + 1) * sizeof *instants->remaps);
    for (uint32_t i = 0; instants->remaps && i < dag->thread_count; i++) {
        if (is_counted(dag, i)) dag_remap_init(&instants->remaps[instants->count++], dag, i);
    }
    return instants->remaps;
}

static int64_t move_instant(struct instants *instants, int64_t recorded_ns) {
    const int64_t *then_ns = instants->dag->tracer.recorded_ns;
    double sum_ns = 0;
    uint32_t there = 0;
    for (uint32_t i = 0; i < instants->count; i++) {
        struct dag_remap *remap = &instants->remaps[i];
        if (recorded_ns < then_ns[remap->vertex] || recorded_ns > then_ns[remap->last]) continue;
        sum_ns += (double)(recorded_ns - dag_remap(remap, recorded_ns));
        there++;
    }
    int64_t time_ns = recorded_ns - (there ? (int64_t)(sum_ns / there) : 0);
    instants->least_ns = time_ns = max_ns(time_ns, instants->least_ns);
    return time_ns;
}

// The JVM's collector is no slower for the tracer.
static void move_pauses(struct dag *dag, struct instants *instants) {
    for (uint32_t i = 0; i < dag->pause_count; i++) {
        struct dag_pause *pause = &dag->pauses[i];
        int64_t length_ns = pause->end_ns - pause->begin_ns;
        pause->begin_ns = move_instant(instants, pause->begin_ns);
        pause->end_ns = instants->least_ns = pause->begin_ns + length_ns;
    }
}

// A count of computing, less what the tracer took of it; that is no more than what it grew by since the sample before.
struct lessened {
    int64_t before_ns, taken_ns;
};

static int64_t lessen(struct lessened *count, int64_t now_ns, int64_t taken_ns) {
    count->taken_ns += min_ns(taken_ns, max_ns(now_ns - count->before_ns, 0));
    count->before_ns = now_ns;
    return now_ns - count->taken_ns;
}

static void move_samples(struct dag *dag, struct instants *instants, const int64_t *taken_ns) {
    struct lessened process = {0}, machine = {0};
    for (uint32_t i = 0; i < dag->sample_count; i++) {
        struct dag_sample *sample = &dag->samples[i];
        sample->time_ns = move_instant(instants, sample->time_ns);
        sample->process_cpu_ns = lessen(&process, sample->process_cpu_ns, taken_ns[i]);
        sample->machine_cpu_ns = lessen(&machine, sample->machine_cpu_ns, taken_ns[i]);
    }
}

// From here on recorded_ns and time_ns are the DAG's.
static bool move_machine(const struct taking *taking) {
    struct dag *dag = taking->dag;
    struct instants instants[2] = {{0}};
    int64_t *taken_ns = malloc(((size_t)dag->sample_count + 1) * sizeof *taken_ns);
    bool ok = taken_ns && instants_init(&instants[0], dag) && instants_init(&instants[1], dag);
    if (ok) {
        sum_between_samples(taking, taking->taken_ns, taken_ns);
        move_pauses(dag, &instants[0]);
        move_samples(dag, &instants[1], taken_ns);
    }
    free(instants[0].remaps);
    free(instants[1].remaps);
    free(taken_ns);
    return ok;
}

// ---- all together

static void read_costs(struct taking *taking) {
    const struct event_cost *costs = taking->dag->trace->costs;
    for (unsigned kind = 0; kind < EVENT_KINDS; kind++) {
        taking->before_ns[kind] = (int64_t)(costs[kind].before_ps + 500) / 1000;
        taking->after_ns[kind] = (int64_t)(costs[kind].after_ps + 500) / 1000;
    }
}

static bool taking_init(struct taking *taking, struct dag *dag) {
    size_t vertices = (size_t)dag->vertex_count + 1, threads = (size_t)dag->thread_count + 1;
    *taking = (struct taking){.dag = dag,
                              .recorded_ns = dag->vertices.time_ns,
                              .time_ns = malloc(vertices * sizeof *taking->time_ns),
                              .taken_ns = calloc(vertices, sizeof *taking->taken_ns),
                              .waited_ns = calloc(vertices, sizeof *taking->waited_ns),
                              .at = malloc(threads * sizeof *taking->at),
                              .awaits = malloc(threads * sizeof *taking->awaits),
                              .turn_after = malloc(vertices * sizeof *taking->turn_after),
                              .unfinished = dag->thread_count};
    if (!parking_init(&taking->parking, dag->vertex_count, dag->thread_count) || !taking->time_ns ||
        !taking->taken_ns || !taking->waited_ns || !find_waits(taking) || !taking->at || !taking->awaits ||
        !taking->turn_after || !find_turns(dag, taking->turn_after)) {
        return false;
    }
    read_costs(taking);
    for (uint32_t v = 0; v < dag->vertex_count; v++) taking->time_ns[v] = DAG_PENDING;
    for (uint32_t i = 0; i < dag->thread_count; i++) taking->at[i] = dag->threads[i].first;
    return true;
}

static void taking_destroy(struct taking *taking) {
    free(taking->time_ns);
    free(taking->taken_ns);
    free(taking->waited_ns);
    free(taking->at);
    free(taking->awaits);
    free(taking->turn_after);
    parking_destroy(&taking->parking);
}

static void adopt_times(struct taking *taking) {
    struct dag *dag = taking->dag;
    dag->tracer.recorded_ns = dag->vertices.time_ns;
    dag->vertices.time_ns = taking->time_ns;
}

// A due time moves with the vertex behind which it was set.
static void move_due(struct dag *dag) {
    for (uint32_t t = 0; dag->due_ns && t < dag->task_count; t++) {
        uint32_t set = dag->due_set[t];
        if (set == DAG_NONE) continue;
        int64_t moved_ns = dag->vertices.time_ns[set] - dag->tracer.recorded_ns[set];
        if (__builtin_add_overflow(dag->due_ns[t], moved_ns, &dag->due_ns[t])) dag->due_ns[t] = INT64_MAX;
    }
}

static bool take_out(struct taking *taking) {
    struct dag *dag = taking->dag;
    walk(taking);
    adopt_times(taking);
    if (!move_machine(taking)) {
        dag->vertices.time_ns = dag->tracer.recorded_ns;
        dag->tracer.recorded_ns = NULL;
        return false;
    }
    move_due(dag);
    shorten_computing(taking);
    sum_up(taking);
    move_window(taking);
    taking->time_ns = NULL; // the DAG's now
    measure_wakeup(dag);
    return true;
}

bool dag_take_out_tracer_cost(struct dag *dag, struct error *error) {
    struct taking taking;
    if (!dag->tracer.edge_ns || dag->tracer.recorded_ns) return true;
    bool ok = taking_init(&taking, dag) && take_out(&taking);
    taking_destroy(&taking);
    return ok || error_set(error, STATUS_FAILED, "no memory for the times of %u vertices", dag->vertex_count);
}

// ---- mapping instants

void dag_remap_init(struct dag_remap *remap, const struct dag *dag, uint32_t thread) {
    uint32_t first = dag->threads[thread].first;
    *remap = (struct dag_remap){dag, first, first + dag->threads[thread].count - 1};
}

int64_t dag_remap(struct dag_remap *remap, int64_t recorded_ns) {
    const int64_t *then_ns = remap->dag->tracer.recorded_ns, *now_ns = remap->dag->vertices.time_ns;
    if (!then_ns) return recorded_ns;
    while (remap->vertex < remap->last && then_ns[remap->vertex + 1] <= recorded_ns) remap->vertex++;
    uint32_t v = remap->vertex;
    int64_t since_ns = recorded_ns - then_ns[v];
    if (v == remap->last || since_ns <= 0) return now_ns[v] + since_ns;
    double share = (double)(now_ns[v + 1] - now_ns[v]) / (double)(then_ns[v + 1] - then_ns[v]);
    return now_ns[v] + (int64_t)((double)since_ns * share);
}
