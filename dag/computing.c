// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: how long the edges of a run take when what is computed shares the cores.
#include "dag/rules.h"
#include "dag/strand.h"

#include <math.h>
#include <stdlib.h>

// ---- what does not change from run to run

static uint32_t first_pause_from(const struct dag *dag, int64_t time_ns) {
    uint32_t low = 0, high = dag->pause_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->pauses[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// An edge that computed from `from_ns` to `to_ns` did a part of it before pauses that began meanwhile, and all of it
// before those that came later (`later`: what the first of these adds to those before it).
static void count_edge(const struct dag *dag, int64_t from_ns, int64_t to_ns, int64_t compute_ns, int64_t *later,
                       struct cores_pause *pauses) {
    uint32_t i = first_pause_from(dag, from_ns), end = first_pause_from(dag, to_ns);
    for (; i < end; i++) {
        double share = (double)(dag->pauses[i].begin_ns - from_ns) / (double)(to_ns - from_ns);
        pauses[i].work_ns += (int64_t)((double)compute_ns * share);
    }
    later[end] += compute_ns;
}

static bool measure_pauses(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    sim->pauses = calloc((size_t)dag->pause_count + 1, sizeof *sim->pauses);
    int64_t *later = calloc((size_t)dag->pause_count + 1, sizeof *later), before_ns = 0;
    for (uint32_t i = 0; sim->pauses && later && dag->pause_count && i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            count_edge(dag, vertices->time_ns[v - 1], vertices->time_ns[v], vertices->compute_ns[v], later,
                       sim->pauses);
        }
    }
    for (uint32_t i = 0; sim->pauses && later && i < dag->pause_count; i++) {
        before_ns += later[i];
        sim->pauses[i].work_ns += before_ns;
        sim->pauses[i].length_ns = dag->pauses[i].end_ns - dag->pauses[i].begin_ns;
    }
    bool ok = sim->pauses && later;
    free(later);
    return ok;
}

bool computing_new(struct simulation *sim) {
    return !sim->dag->vertices.compute_ns || measure_pauses(sim);
}

void computing_begin_run(struct simulation *sim, const struct model *model) {
    sim->shares = model->kind == MODEL_CPU && sim->dag->vertices.compute_ns;
    double cores = model->cores > 0 ? model->cores : sim->dag->trace->header.cores;
    sim->queued_ns = 0;
    cores_begin(&sim->cores, cores > 0 ? cores : INFINITY, sim->pauses, sim->shares ? sim->dag->pause_count : 0);
}

// ---- edges

// How much of the time between two instants the JVM stood still.
static int64_t paused_ns(const struct dag *dag, int64_t from_ns, int64_t to_ns) {
    int64_t paused = 0;
    for (uint32_t i = first_pause_from(dag, from_ns); i < dag->pause_count; i++) {
        if (dag->pauses[i].begin_ns >= to_ns) break;
        paused += min_ns(dag->pauses[i].end_ns, to_ns) - dag->pauses[i].begin_ns;
    }
    return paused;
}

int64_t computing_recorded_queue_ns(const struct dag *dag) {
    int64_t queued_ns = 0;
    for (uint32_t v = 0; dag->vertices.queued_ns && v < dag->vertex_count; v++) queued_ns += dag->vertices.queued_ns[v];
    return queued_ns;
}

double computing_others_part(const struct dag *dag) {
    if (dag->sample_count < 2) return 1;
    const struct dag_sample *first = &dag->samples[0], *last = &dag->samples[dag->sample_count - 1];
    double busy_ns = (double)(last->machine_cpu_ns - first->machine_cpu_ns), own_ns = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) own_ns += (double)dag->vertices.compute_ns[v];
    return busy_ns > own_ns ? (busy_ns - own_ns) / busy_ns : 0;
}

// What of an edge is neither lead nor such waiting for a core as arises anew. Of pauses that came while the thread
// might as well have slept, so much was in its way as it computed of the rest.
static int64_t length_without_queue(const struct simulation *sim, uint32_t v, int64_t since_ns, int64_t compute_ns) {
    const struct dag *dag = sim->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t length_ns = vertices->time_ns[v] - since_ns;
    if (vertices->queued_ns) {
        int64_t before_ns = vertices->kind[v] == VERTEX_WAIT_END ? since_ns - vertices->time_ns[v - 1] : 0; // held up
        int64_t queued_ns = min_ns(max_ns(vertices->queued_ns[v] - before_ns, 0), length_ns);
        length_ns -= queued_ns - computing_kept_ns(sim, queued_ns);
    }
    int64_t pause_ns = dag->pause_count && compute_ns ? paused_ns(dag, since_ns, vertices->time_ns[v]) : 0;
    if (pause_ns == 0) return length_ns;
    int64_t moving_ns = max_ns(length_ns - pause_ns, compute_ns);
    return length_ns -
           (int64_t)((double)min_ns(pause_ns, length_ns - compute_ns) * (double)compute_ns / (double)moving_ns);
}

// Of a vertex that slept for its cause, and now does again: less what it then waited for a core.
static int64_t end_of_sleep(const struct simulation *sim, uint32_t v, int64_t time_ns, int64_t woken_ns) {
    const int64_t *queued_ns = sim->dag->vertices.queued_ns;
    if (!queued_ns || woken_ns == DAG_ABSENT || time_ns <= woken_ns) return time_ns;
    int64_t here_ns = min_ns(queued_ns[v], time_ns - woken_ns);
    return time_ns - here_ns + computing_kept_ns(sim, here_ns);
}

// When what the vertex waits for comes; DAG_ABSENT where it waits for nothing any more.
static int64_t cause_time(const struct simulation *sim, const struct strand *strand) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = strand->vertex, cause = dag_awaited_by(vertices, v);
    if (cause == DAG_NONE || strand->entered) return DAG_ABSENT;
    return sim->time_ns[cause];
}

bool strand_computes(struct simulation *sim, uint32_t index, int64_t *time_ns) {
    const struct dag *dag = sim->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    struct strand *strand = &sim->strands[index];
    uint32_t v = strand->vertex;
    if (strand->edge == EDGE_COMPUTED) {
        *time_ns = strand->computed_ns + strand->asleep_ns;
        return false;
    }
    if (v >= STEP_LEAST) {
        strand->edge_compute_ns = min_ns(strand->compute_ns, strand->lead_ns);
        strand->asleep_ns = strand->lead_ns - strand->edge_compute_ns;
        return strand->edge_compute_ns > 0;
    }
    if (strand_is_blocked(sim, strand)) {
        *time_ns = end_of_sleep(sim, v, *time_ns, contention_look_ns(strand));
        return false;
    }
    int64_t cause_ns = cause_time(sim, strand);
    if (cause_ns > strand->now_ns + strand->lead_ns || (vertices->rule[v] == RULE_BEGIN && !strand->entered)) {
        *time_ns = end_of_sleep(sim, v, *time_ns, cause_ns);
        return false;
    }
    int64_t since_ns = sim->frames[strand->frame].since_ns, own_ns = vertices->time_ns[v] - since_ns;
    int64_t compute_ns = own_ns ? vertices->compute_ns[v] : 0, edge_ns = *time_ns - strand->now_ns;
    if (edge_ns >= own_ns) edge_ns -= own_ns - length_without_queue(sim, v, since_ns, compute_ns);
    strand->edge_compute_ns = min_ns(strand->compute_ns + compute_ns, edge_ns);
    strand->asleep_ns = edge_ns - strand->edge_compute_ns;
    *time_ns = strand->now_ns + edge_ns;
    return strand->edge_compute_ns > 0;
}
