// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: what of the cores' clock of service (dag/simulate/cores.h) each recorded edge took, and what else kept
// the cores busy meanwhile. Both are read off the recording once, by going through it in order of time as a run goes.
#include "dag/propagate/rules.h"
#include "dag/simulate/cores.h"
#include "dag/simulate/strand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double recorded_cores(const struct simulation *sim) {
    uint32_t cores = sim->dag->trace->header.cores;
    return cores ? cores : INFINITY;
}

// An edge is awake, computing or ready to, for a part of its length: from its beginning on, or, where it sleeps for
// what wakes it up, up to its end.
struct awake {
    int64_t from_ns, to_ns;
    int64_t compute_ns; // of what the edge computes
};

static bool is_wakeup(const struct dag *dag, uint32_t v) {
    unsigned before = dag->vertices.kind[v - 1], kind = dag->vertices.kind[v];
    return before == VERTEX_IDLE || before == VERTEX_WAIT_BEGIN || kind == VERTEX_BUSY;
}

// When a wait that slept had its result, DAG_ABSENT where that is not known. Who was kept from a core before that was
// kept from falling asleep.
static int64_t woken_ns(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t cause = vertices->cause[v];
    if (vertices->rule[v] != RULE_WAIT || cause == DAG_NONE) return DAG_ABSENT;
    bool slept = vertices->time_ns[cause] > vertices->time_ns[v - 1];
    return slept ? min_ns(vertices->time_ns[cause], vertices->time_ns[v]) : DAG_ABSENT;
}

static struct awake awake_part(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t from_ns = vertices->time_ns[v - 1], to_ns = vertices->time_ns[v];
    if (is_wakeup(dag, v)) {
        int64_t queued_ns = vertices->queued_ns ? vertices->queued_ns[v] : 0, compute_ns = vertices->compute_ns[v];
        from_ns = max_ns(max_ns(from_ns, woken_ns(dag, v)), to_ns - compute_ns - queued_ns);
        return (struct awake){from_ns, to_ns, min_ns(compute_ns, max_ns(to_ns - from_ns - queued_ns, 0))};
    }
    return (struct awake){from_ns, to_ns - computing_asleep_ns(dag, v, from_ns), vertices->compute_ns[v]};
}

static bool is_needed(const struct dag *dag, uint32_t v) {
    return dag->vertices.compute_ns[v] > 0 || (dag->vertices.queued_ns && dag->vertices.queued_ns[v] > 0);
}

// ---- what else computed

// An edge computes evenly while it is awake.
static void add_edge(const struct dag *dag, uint32_t v, uint32_t *sample, double *own_ns) {
    struct awake awake = awake_part(dag, v);
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

// By sample: how many cores others had on the mean from the sample before until then.
static bool measure_background(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    double *own_ns = calloc((size_t)dag->sample_count + 1, sizeof *own_ns);
    sim->background = calloc((size_t)dag->sample_count + 1, sizeof *sim->background);
    if (!own_ns || !sim->background) {
        free(own_ns);
        return false;
    }
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t sample = 0;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            if (is_needed(dag, v)) add_edge(dag, v, &sample, own_ns);
        }
    }
    for (uint32_t s = 1; s < dag->sample_count && is_recorded(dag); s++) {
        const struct dag_sample *from = &dag->samples[s - 1], *to = &dag->samples[s];
        double length_ns = (double)(to->time_ns - from->time_ns);
        double busy_ns = fmax((double)(to->machine_cpu_ns - from->machine_cpu_ns),
                              (double)(to->process_cpu_ns - from->process_cpu_ns));
        double taken = length_ns > 0 ? fmax(busy_ns - own_ns[s], 0) / length_ns : 0;
        double left = length_ns > 0 ? own_ns[s] / length_ns : 0; // what the run had, nobody else did
        sim->background[s].cores = fmax(fmin(taken, recorded_cores(sim) - left), 0);
    }
    free(own_ns);
    return true;
}

// ---- who was awake when

// The recording, gone through in order of time.
struct sweep {
    struct simulation *sim;
    struct agenda agenda; // threads, by when their edge in hand falls asleep, or their next wakes up
    uint32_t *vertex;     // a thread each: the edge in hand
    int64_t *begun;       // a thread each: the clock of service when that woke up; -1: it has not
    uint32_t awake;       // so many are
    int64_t now_ns, served;
    double work_ns;         // what the run got
    uint32_t sample, pause; // the next to come, or the pause that goes on
    int64_t paused_ns;      // in pauses that are over
    bool paused;
};

// The next edge of a thread that is awake for some time.
static void next_edge(struct sweep *sweep, uint32_t thread) {
    const struct dag *dag = sweep->sim->dag;
    uint32_t end = dag->threads[thread].first + dag->threads[thread].count;
    while (++sweep->vertex[thread] < end) {
        uint32_t v = sweep->vertex[thread];
        if (!is_needed(dag, v)) continue;
        struct awake awake = awake_part(dag, v);
        if (awake.to_ns <= awake.from_ns) continue;
        sweep->begun[thread] = -1;
        agenda_put(&sweep->agenda, thread, awake.from_ns);
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

static void pass_change(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    const struct dag *dag = sim->dag;
    if (sweep->sample < dag->sample_count && dag->samples[sweep->sample].time_ns <= sweep->now_ns) {
        struct cores_background *stretch = &sim->background[sweep->sample++];
        stretch->until_work_ns = (int64_t)sweep->work_ns;
        stretch->until_ns = sweep->now_ns - sweep->paused_ns;
        return;
    }
    const struct dag_pause *pause = &dag->pauses[sweep->pause];
    if (!sweep->paused) {
        sim->pauses[sweep->pause] = (struct cores_pause){(int64_t)sweep->work_ns, pause->end_ns - pause->begin_ns};
    } else {
        sweep->pause++;
        sweep->paused_ns += pause->end_ns - pause->begin_ns;
    }
    sweep->paused = !sweep->paused;
}

static double rate(const struct sweep *sweep) {
    const struct simulation *sim = sweep->sim;
    return cores_rate(recorded_cores(sim), sim->background[sweep->sample].cores, sweep->awake);
}

static void serve(struct sweep *sweep, int64_t until_ns) {
    int64_t from_ns = sweep->now_ns;
    sweep->now_ns = until_ns;
    if (sweep->paused || sweep->awake == 0) return; // before the first edge the clock stands at INT64_MIN
    double each_ns = (double)(until_ns - from_ns) * rate(sweep);
    sweep->served += (int64_t)(each_ns * CORES_TICKS);
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
    if (sweep->begun[thread] < 0) {
        sweep->begun[thread] = sweep->served;
        sweep->awake++;
        agenda_put(&sweep->agenda, thread, awake_part(sim->dag, v).to_ns);
        return;
    }
    int64_t service_ns = (sweep->served - sweep->begun[thread] + CORES_TICKS / 2) / CORES_TICKS;
    sim->luck[v].more_ns = service_ns - awake_part(sim->dag, v).compute_ns;
    sweep->awake--;
    next_edge(sweep, thread);
}

static bool begin_sweep(struct sweep *sweep) {
    struct simulation *sim = sweep->sim;
    const struct dag *dag = sim->dag;
    sim->luck = calloc((size_t)dag->vertex_count + 1, sizeof *sim->luck);
    sim->pauses = calloc((size_t)dag->pause_count + 1, sizeof *sim->pauses);
    sweep->vertex = malloc(((size_t)dag->thread_count + 1) * sizeof *sweep->vertex);
    sweep->begun = malloc(((size_t)dag->thread_count + 1) * sizeof *sweep->begun);
    return sim->luck && sim->pauses && sweep->vertex && sweep->begun &&
           agenda_reserve(&sweep->agenda, dag->thread_count + 1);
}

static bool measure_service(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    struct sweep sweep = {.sim = sim, .now_ns = INT64_MIN};
    bool ok = begin_sweep(&sweep);
    for (uint32_t i = 0; ok && i < dag->thread_count; i++) {
        sweep.vertex[i] = dag->threads[i].first;
        if (dag->threads[i].count) next_edge(&sweep, i);
    }
    int64_t time_ns = ok ? agenda_next_ns(&sweep.agenda) : INT64_MAX;
    if (time_ns != INT64_MAX) sweep.now_ns = min_ns(time_ns, next_change_ns(&sweep));
    for (uint32_t thread; ok && (thread = agenda_take(&sweep.agenda, &time_ns)) != AGENDA_NONE;) {
        pass_to(&sweep, time_ns);
        take_edge(&sweep, thread);
    }
    if (ok) pass_to(&sweep, INT64_MAX - 1);
    agenda_destroy(&sweep.agenda);
    free(sweep.vertex);
    free(sweep.begun);
    return ok;
}

bool service_new(struct simulation *sim) {
    free(sim->luck); // of an attempt without enough memory
    free(sim->pauses);
    free(sim->background);
    return measure_background(sim) && measure_service(sim);
}

struct cores_luck service_of_pickup(const struct simulation *sim, uint32_t index) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[index];
    struct cores_luck luck = {0, 0};
    if (!sim->shares || task->start == DAG_NONE || (task->spawn_begin == DAG_NONE && !dag_task_stands(task)))
        return luck;
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t since_ns = dag_pickup_from_ns(dag, task);
    uint32_t first = dag->threads[task->thread].first, from = task->pickup > first ? task->pickup - 1 : first;
    for (uint32_t v = from + 1; v <= task->start; v++) {
        if (time_ns[v] > since_ns) luck.more_ns += sim->luck[v].more_ns;
    }
    // A worker that was kept from a core before the task was spawned was not kept from the task.
    int64_t kept_ns = time_ns[task->start] - since_ns - sim->costs->pickup_ns[index];
    luck.more_ns = min_ns(max_ns(luck.more_ns, 0), max_ns(kept_ns, 0));
    return luck;
}
