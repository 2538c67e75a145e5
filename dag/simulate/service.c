// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: what of the cores' clock of service (dag/simulate/cores.h) each recorded edge took, and what else kept
// the cores busy meanwhile. Both are read off the recording once, by going through it in order of time as a run goes:
// first for what others can have had at most, then for the clock.
#include "dag/simulate/service.h"

#include "dag/ns.h"
#include "dag/simulate/awake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double recorded_cores(const struct simulation *sim) {
    uint32_t cores = sim->dag->trace->header.cores;
    return cores ? cores : INFINITY;
}

// An edge computes evenly while it is awake.
static void add_edge(const struct dag *dag, uint32_t v, uint32_t *sample, double *own_ns) {
    struct awake awake = awake_part(dag, v, PLAYED_WHOLE);
    double length_ns = (double)(awake.to_ns - awake.from_ns);
    while (*sample < dag->sample_count && dag->samples[*sample].time_ns <= awake.from_ns) ++*sample;
    for (uint32_t s = *sample; length_ns > 0; s++) {
        int64_t from_ns = s ? max_ns(awake.from_ns, dag->samples[s - 1].time_ns) : awake.from_ns;
        int64_t to_ns = s < dag->sample_count ? min_ns(awake.to_ns, dag->samples[s].time_ns) : awake.to_ns;
        own_ns[s] += (double)dag->vertices.compute_ns[v] * (double)(to_ns - from_ns) / length_ns;
        if (to_ns == awake.to_ns) break;
    }
}

// Samples in an estimate's file are of what it was made from.
static bool is_recorded(const struct dag *dag) {
    return dag->trace->header.origin && strcmp(dag->trace->header.origin, "recorded") == 0;
}

// By sample: what edges computed from the sample before until then.
static void measure_own(const struct dag *dag, const uint8_t *played, double *own_ns) {
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t sample = 0;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            if (played[v] == PLAYED_WHOLE && dag->vertices.compute_ns[v] > 0) add_edge(dag, v, &sample, own_ns);
        }
    }
}

// By sample: how many cores others had on the mean from the sample before until then.
static void measure_others(struct simulation *sim, const double *own_ns) {
    const struct dag *dag = sim->dag;
    for (uint32_t s = 1; s < dag->sample_count && is_recorded(dag); s++) {
        const struct dag_sample *from = &dag->samples[s - 1], *to = &dag->samples[s];
        double length_ns = (double)(to->time_ns - from->time_ns);
        double busy_ns = fmax((double)(to->machine_cpu_ns - from->machine_cpu_ns),
                              (double)(to->process_cpu_ns - from->process_cpu_ns));
        sim->recorded.background[s].cores = length_ns > 0 ? fmax(busy_ns - own_ns[s], 0) / length_ns : 0;
    }
}

// ---- who was awake when

// The recording, gone through in order of time.
struct sweep {
    struct simulation *sim;
    const uint8_t *played;     // a vertex each: enum played
    struct event_list edges;   // threads, by when their edge in hand falls asleep, or their next wakes up
    uint32_t *vertex;          // a thread each: the edge in hand
    struct cores_clock *begun; // a thread each: when that woke up; its ns are -1: it has not
    uint32_t awake;            // so many are
    int64_t now_ns;
    struct cores_clock served;
    double work_ns;         // what the run got
    uint32_t sample, pause; // the next to come, or the pause that goes on
    int64_t paused_ns;      // in pauses that are over
    bool paused;
    // The first time, when what others took is bounded; NULL the second time.
    int64_t *together_ns; // by number, up to `most`: how long so many, or more than `most`, were awake since a sample
    uint32_t most;
    const double *own_ns; // by sample: what edges computed until then
};

// The next edge of a thread that is awake for some time.
static void next_edge(struct sweep *sweep, uint32_t thread) {
    const struct dag *dag = sweep->sim->dag;
    uint32_t end = dag->threads[thread].first + dag->threads[thread].count;
    while (++sweep->vertex[thread] < end) {
        uint32_t v = sweep->vertex[thread];
        if (!awake_is_needed(dag, v, sweep->played[v])) continue;
        struct awake awake = awake_part(dag, v, sweep->played[v]);
        if (awake.to_ns <= awake.from_ns) continue;
        sweep->begun[thread].ns = -1;
        event_put(&sweep->edges, NOTICE_TURN, thread, awake.from_ns);
        return;
    }
}

// When the next sample was taken, or a pause begins or ends.
static int64_t next_change_ns(const struct sweep *sweep) {
    const struct dag *dag = sweep->sim->dag;
    int64_t next_ns = sweep->sample < dag->sample_count ? dag->samples[sweep->sample].time_ns : INT64_MAX;
    if (sweep->pause == dag->pause_count) return next_ns;
    const struct dag_pause *pause = &dag->pauses[sweep->pause];
    return min_ns(next_ns, sweep->paused ? pause->end_ns : pause->begin_ns);
}

// With how many cores for all of them edges could have computed so much while they were awake.
static double cores_needed(const int64_t *together_ns, uint32_t most, double own_ns) {
    double fewer_ns = 0;    // what is computed while fewer than n are awake
    int64_t as_many_ns = 0; // how long n or more are
    uint32_t n = 1;
    for (uint32_t i = 1; i <= most; i++) as_many_ns += together_ns[i];
    for (; n <= most && as_many_ns > 0; n++) {
        double needed = (own_ns - fewer_ns) / (double)as_many_ns;
        if (needed <= n) return needed;
        fewer_ns += (double)n * (double)together_ns[n];
        as_many_ns -= together_ns[n];
    }
    return n - 1; // more would have been of no use
}

// What edges had while they were awake nobody else did, however much others took while they slept; but for a
// hundredth, so that a moment in which many were awake and had what they needed says nothing of all the time between
// two samples.
static void bound_others(struct sweep *sweep) {
    const double nearly_all = 0.99;
    double *others = &sweep->sim->recorded.background[sweep->sample].cores;
    double needed = cores_needed(sweep->together_ns, sweep->most, nearly_all * sweep->own_ns[sweep->sample]);
    *others = fmax(fmin(*others, recorded_cores(sweep->sim) - needed), 0);
    memset(sweep->together_ns, 0, (sweep->most + 1) * sizeof *sweep->together_ns);
}

static void pass_sample(struct sweep *sweep) {
    if (sweep->together_ns) bound_others(sweep);
    struct cores_background *stretch = &sweep->sim->recorded.background[sweep->sample++];
    stretch->until_work_ns = (int64_t)sweep->work_ns;
    stretch->until_ns = sweep->now_ns - sweep->paused_ns;
}

static void pass_change(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    const struct dag *dag = sim->dag;
    if (sweep->sample < dag->sample_count && dag->samples[sweep->sample].time_ns <= sweep->now_ns) {
        pass_sample(sweep);
        return;
    }
    const struct dag_pause *pause = &dag->pauses[sweep->pause];
    if (!sweep->paused) {
        sim->recorded.pauses[sweep->pause] =
            (struct cores_pause){(int64_t)sweep->work_ns, pause->end_ns - pause->begin_ns};
    } else {
        sweep->pause++;
        sweep->paused_ns += pause->end_ns - pause->begin_ns;
    }
    sweep->paused = !sweep->paused;
}

static double rate(const struct sweep *sweep) {
    const struct simulation *sim = sweep->sim;
    return cores_rate(recorded_cores(sim), sim->recorded.background[sweep->sample].cores, sweep->awake);
}

static void serve(struct sweep *sweep, int64_t until_ns) {
    int64_t from_ns = sweep->now_ns;
    sweep->now_ns = until_ns;
    if (sweep->paused || sweep->awake == 0) return; // before the first edge the clock stands at INT64_MIN
    if (sweep->together_ns) {
        sweep->together_ns[sweep->awake < sweep->most ? sweep->awake : sweep->most] += until_ns - from_ns;
        return;
    }
    double each_ns = (double)(until_ns - from_ns) * rate(sweep);
    cores_clock_pass(&sweep->served, each_ns);
    sweep->work_ns += each_ns * sweep->awake;
}

static void pass_to(struct sweep *sweep, int64_t until_ns) {
    for (int64_t change_ns; (change_ns = next_change_ns(sweep)) <= until_ns;) {
        serve(sweep, max_ns(change_ns, sweep->now_ns));
        pass_change(sweep);
    }
    serve(sweep, until_ns);
}

static void take_edge(struct sweep *sweep, uint32_t thread) {
    struct simulation *sim = sweep->sim;
    uint32_t v = sweep->vertex[thread];
    if (sweep->begun[thread].ns < 0) {
        sweep->begun[thread] = sweep->served;
        sweep->awake++;
        event_put(&sweep->edges, NOTICE_TURN, thread, awake_part(sim->dag, v, sweep->played[v]).to_ns);
        return;
    }
    int64_t service_ns = (int64_t)round(cores_clock_since(sweep->served, sweep->begun[thread]));
    sim->recorded.residuals[v].more_ns = service_ns - awake_part(sim->dag, v, sweep->played[v]).compute_ns;
    sweep->awake--;
    next_edge(sweep, thread);
}

static bool begin_sweep(struct sweep *sweep) {
    const struct dag *dag = sweep->sim->dag;
    sweep->now_ns = INT64_MIN;
    sweep->vertex = malloc(((size_t)dag->thread_count + 1) * sizeof *sweep->vertex);
    sweep->begun = malloc(((size_t)dag->thread_count + 1) * sizeof *sweep->begun);
    if (!sweep->vertex || !sweep->begun || !events_reserve(&sweep->edges, SUBJECT_PROCESS, dag->thread_count + 1))
        return false;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        sweep->vertex[i] = dag->threads[i].first;
        if (dag->threads[i].count) next_edge(sweep, i);
    }
    return true;
}

static bool go_through(struct sweep *sweep) {
    bool ok = begin_sweep(sweep);
    int64_t time_ns = ok ? event_next_ns(&sweep->edges) : INT64_MAX;
    if (time_ns != INT64_MAX) sweep->now_ns = min_ns(time_ns, next_change_ns(sweep));
    for (struct notice notice; ok && (notice = event_take(&sweep->edges)).subject != NOTICE_NONE;) {
        pass_to(sweep, notice.time_ns);
        take_edge(sweep, notice.subject);
    }
    if (ok) pass_to(sweep, INT64_MAX - 1);
    events_destroy(&sweep->edges);
    free(sweep->vertex);
    free(sweep->begun);
    return ok;
}

static bool measure_background(struct simulation *sim, const uint8_t *played) {
    const struct dag *dag = sim->dag;
    uint32_t cores = dag->trace->header.cores, most = cores && cores < dag->thread_count ? cores : dag->thread_count;
    double *own_ns = calloc((size_t)dag->sample_count + 1, sizeof *own_ns);
    struct sweep sweep = {.sim = sim, .played = played, .most = most, .own_ns = own_ns};
    sweep.together_ns = calloc((size_t)most + 1, sizeof *sweep.together_ns);
    bool ok = own_ns && sweep.together_ns;
    if (ok) {
        measure_own(dag, played, own_ns);
        measure_others(sim, own_ns);
        ok = go_through(&sweep);
    }
    free(own_ns);
    free(sweep.together_ns);
    return ok;
}

bool service_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    free(sim->recorded.residuals); // of an attempt without enough memory
    free(sim->recorded.pauses);
    free(sim->recorded.background);
    sim->recorded.residuals = calloc((size_t)dag->vertex_count + 1, sizeof *sim->recorded.residuals);
    sim->recorded.pauses = calloc((size_t)dag->pause_count + 1, sizeof *sim->recorded.pauses);
    sim->recorded.background = calloc((size_t)dag->sample_count + 1, sizeof *sim->recorded.background);
    uint8_t *played = awake_played_new(dag);
    bool ok = sim->recorded.residuals && sim->recorded.pauses && sim->recorded.background && played &&
              measure_background(sim, played) && go_through(&(struct sweep){.sim = sim, .played = played});
    free(played);
    for (uint32_t i = 0; ok && i < dag->thread_count; i++) { // a carrier is kept, and not shared
        const struct dag_thread *thread = &dag->threads[i];
        if (thread->is_virtual)
            memset(&sim->recorded.residuals[thread->first], 0, thread->count * sizeof *sim->recorded.residuals);
    }
    if (ok && !corrects(sim, CORRECTION_SERVICE))
        memset(sim->recorded.residuals, 0, ((size_t)dag->vertex_count + 1) * sizeof *sim->recorded.residuals);
    for (uint32_t i = 0; ok && i < dag->sample_count && !corrects(sim, CORRECTION_OTHER_LOAD); i++)
        sim->recorded.background[i].cores = 0;
    return ok;
}

struct pickup_service service_of_pickup(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[index];
    struct pickup_service pickup = {0};
    if (!sim->shares || task->start == DAG_NONE || (task->spawn_begin == DAG_NONE && !dag_task_stands(task)))
        return pickup;
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t since_ns = dag_pickup_from_ns(dag, task);
    uint32_t first = dag->threads[task->thread].first, from = task->pickup > first ? task->pickup - 1 : first;
    for (uint32_t v = from + 1; v <= task->start; v++) {
        if (time_ns[v] <= since_ns) continue;
        pickup.residual.more_ns += sim->recorded.residuals[v].more_ns;
        pickup.compute_ns += dag->vertices.compute_ns[v];
    }
    if (task->dispatch == DISPATCH_QUEUED) return pickup;
    // A worker that was kept from a core before the task was spawned was not kept from the task.
    int64_t kept_ns = time_ns[task->start] - since_ns - sim->costs->pickup_ns[index];
    pickup.residual.more_ns = min_ns(max_ns(pickup.residual.more_ns, 0), max_ns(kept_ns, 0));
    return pickup;
}
