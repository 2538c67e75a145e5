// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/pacing.h"

#include <math.h>
#include <stdlib.h>

static int64_t compiled_at(const struct dag *dag, uint32_t sample) {
    return dag->samples[sample < dag->sample_count ? sample : dag->sample_count - 1].compiled_ns;
}

struct pacing *pacing_new(const struct dag *dag, bool *no_memory) {
    if (dag->sample_count < 2 || compiled_at(dag, dag->sample_count) <= 0 || dag->trace->header.cores == 0) return NULL;
    const size_t vertices = (size_t)dag->vertex_count + 1;
    struct pacing *pacing = calloc(1, sizeof *pacing);
    if (pacing) {
        pacing->when = calloc(vertices, sizeof *pacing->when);
        pacing->edge_pace = calloc(vertices, sizeof *pacing->edge_pace);
        pacing->rate = calloc((size_t)dag->sample_count + 1, sizeof *pacing->rate);
        pacing->compiling = calloc((size_t)dag->sample_count + 1, sizeof *pacing->compiling);
        pacing->compiled_ns = (double)compiled_at(dag, dag->sample_count);
        pacing->compiled_before_ns = (double)compiled_at(dag, 0);
    }
    if (pacing && pacing->when && pacing->edge_pace && pacing->rate && pacing->compiling) return pacing;
    pacing_free(pacing);
    *no_memory = true;
    return NULL;
}

void pacing_free(struct pacing *pacing) {
    if (!pacing) return;
    free(pacing->when);
    free(pacing->edge_pace);
    free(pacing->rate);
    free(pacing->compiling);
    free(pacing);
}

// ---- what tasks tell

// The means over what a body computed up to its last vertex.
static struct pace_task told_by(const struct pacing *pacing, const struct dag *dag, uint32_t site, uint32_t first,
                                uint32_t last) {
    struct pace_task told = {.site = site};
    for (uint32_t v = first; v <= last; v++) {
        const double cost_ns = (double)dag->vertices.compute_ns[v];
        told.cost_ns += cost_ns;
        for (int f = 0; f < PACE_FACTORS; f++) told.when.part[f] += cost_ns * pacing->when[v].part[f];
    }
    for (int f = 0; f < PACE_FACTORS && told.cost_ns > 0; f++) told.when.part[f] /= told.cost_ns;
    return told;
}

// A task with others in its body, or of which a part was not recorded, tells nothing.
static bool tells(const struct dag_task *task) {
    const unsigned not =
        TASK_NESTED | TASK_BEGUN_BEFORE | TASK_UNFINISHED | TASK_OF_ACTOR | TASK_THREAD_RUN | TASK_MAIN;
    return task->site != DAG_NONE && task->start != DAG_NONE && !(task->flags & not );
}

// What a helper computes is by the units that were left for it, which tell by themselves.
static bool takes_units(const struct dag *dag, const struct dag_task *task) {
    const uint32_t claim = dag_claim_from(dag, task->start + 1);
    return claim < dag->claim_count && dag->claims[claim].vertex == task->start + 1;
}

static uint32_t units_tell(const struct pacing *pacing, const struct dag *dag, struct pace_task *tasks) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->batch_count; i++) {
        const struct dag_batch *batch = &dag->batches[i];
        for (uint32_t u = batch->first_unit; u < batch->first_unit + batch->unit_count; u++)
            tasks[count++] = told_by(pacing, dag, batch->site, dag->units[u].first, dag->units[u].last);
    }
    return count;
}

// How much a task computes that serves a connection hangs on how many requests came by it in a row. So these tell, each
// like others of its endpoint, and the task does not.
static bool request_tells(const struct dag *dag, const struct dag_request *request) {
    if (request->task == DAG_NONE || request->begin == DAG_NONE || request->end == DAG_NONE) return false;
    const struct dag_task *task = &dag->tasks[request->task];
    return tells(task) && request->begin > task->start && request->begin < request->end && request->end < task->end;
}

static uint32_t requests_tell(const struct pacing *pacing, const struct dag *dag, struct pace_task *tasks,
                              bool *served) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->request_count; i++) {
        const struct dag_request *request = &dag->requests[i];
        if (!request_tells(dag, request)) continue;
        tasks[count++] = told_by(pacing, dag, dag->site_count + request->endpoint, request->begin + 1, request->end);
        served[request->task] = true;
    }
    return count;
}

static uint32_t tasks_tell(const struct pacing *pacing, const struct dag *dag, struct pace_task *tasks,
                           const bool *served) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (tells(task) && !served[t] && !takes_units(dag, task))
            tasks[count++] = told_by(pacing, dag, task->site, task->start + 1, task->end);
    }
    return count;
}

bool pacing_learn(struct pacing *pacing, const struct dag *dag) {
    const size_t most = (size_t)dag->task_count + dag->request_count + 1; // units are among the tasks
    struct pace_task *tasks = malloc(most * sizeof *tasks);
    bool *served = calloc((size_t)dag->task_count + 1, sizeof *served); // a task each
    bool ok = tasks && served;
    if (ok) {
        uint32_t count = units_tell(pacing, dag, tasks);
        count += requests_tell(pacing, dag, &tasks[count], served);
        count += tasks_tell(pacing, dag, &tasks[count], served);
        ok = pace_fit(&pacing->pace, tasks, count, dag->site_count + dag->trace->endpoint_count);
    }
    if (ok && pacing->pace.known) ok = cold_code_measure(&pacing->cold, dag, &pacing->pace, pacing->when);
    free(tasks);
    free(served);
    free(pacing->when);
    pacing->when = NULL;
    return ok;
}

// ---- what there was to compile

static double awake_part_of(const struct dag *dag, uint32_t sample) {
    const struct dag_sample *from = &dag->samples[sample - 1], *to = &dag->samples[sample];
    const double awake_ns =
        (double)(to->compiled_ns - from->compiled_ns) + (double)(to->compilers_waited_ns - from->compilers_waited_ns);
    return to->time_ns > from->time_ns ? awake_ns / (double)(to->time_ns - from->time_ns) : 0;
}

// From a sample to the one behind it there was always something to compile.
static bool has_backlog(const struct dag *dag, uint32_t sample) {
    const double nearly_all = 0.8;
    return awake_part_of(dag, sample) >= nearly_all;
}

double pacing_cold_part(const struct pacing *pacing, const struct dag *dag, uint32_t sample, int64_t time_ns) {
    if (sample == 0 || sample >= dag->sample_count) return (double)compiled_at(dag, sample) / pacing->compiled_ns;
    const struct dag_sample *from = &dag->samples[sample - 1], *to = &dag->samples[sample];
    double part = 0.5;
    if (has_backlog(dag, sample)) part = (double)(time_ns - from->time_ns) / (double)(to->time_ns - from->time_ns);
    return ((double)from->compiled_ns + part * (double)(to->compiled_ns - from->compiled_ns)) / pacing->compiled_ns;
}

// As many processes as would have had what they had, but no more than there were.
static double processes_of(const struct pacing *pacing, const struct dag *dag, uint32_t sample) {
    const struct dag_sample *from = &dag->samples[sample - 1], *to = &dag->samples[sample];
    const double had = (double)(to->compiled_ns - from->compiled_ns) / (double)(to->time_ns - from->time_ns);
    const double awake = awake_part_of(dag, sample);
    return had < awake * pacing->rate[sample] ? had / pacing->rate[sample] : awake;
}

// How much of the way between two parts is of a class.
static double part_in_class(double from, double to, uint32_t class) {
    const double low = fmax(from, (double)class / PACE_CLASSES), high = fmin(to, (class + 1.0) / PACE_CLASSES);
    return to > from ? fmax(high - low, 0) / (to - from) : 1;
}

// Of each class of compiled code the mean over the time in which there was something to compile, and of one without
// such time, that over all of it.
static void find_compilers(struct pacing *pacing, const struct dag *dag) {
    double compilers_ns[PACE_CLASSES] = {0}, length_ns[PACE_CLASSES] = {0}, all_ns = 0, all_length_ns = 0;
    for (uint32_t s = 1; s < dag->sample_count; s++) {
        if (!has_backlog(dag, s)) continue;
        const double ns = (double)(dag->samples[s].time_ns - dag->samples[s - 1].time_ns);
        const double from = (double)compiled_at(dag, s - 1) / pacing->compiled_ns;
        const double to = (double)compiled_at(dag, s) / pacing->compiled_ns;
        for (uint32_t c = pace_class(from); c <= pace_class(to); c++) {
            const double part_ns = ns * part_in_class(from, to, c);
            compilers_ns[c] += part_ns * processes_of(pacing, dag, s);
            length_ns[c] += part_ns;
        }
    }
    for (int c = 0; c < PACE_CLASSES; c++) {
        all_ns += compilers_ns[c];
        all_length_ns += length_ns[c];
    }
    const double mean = all_length_ns > 0 ? all_ns / all_length_ns : 1;
    for (int c = 0; c < PACE_CLASSES; c++)
        pacing->compilers[c] = length_ns[c] > 0 ? compilers_ns[c] / length_ns[c] : mean;
}

void pacing_find_compiling(struct pacing *pacing, const struct dag *dag, const struct cores_background *until) {
    struct cores_compiling *first = &pacing->compiling[0]; // of the backlog that goes on
    find_compilers(pacing, dag);
    for (uint32_t s = 0; s < dag->sample_count; s++) {
        struct cores_compiling *here = &pacing->compiling[s];
        const int64_t from_work_ns = s ? until[s - 1].until_work_ns : 0;
        const double compiled_ns = s ? (double)(compiled_at(dag, s) - compiled_at(dag, s - 1)) : 0;
        const double work_ns = (double)(until[s].until_work_ns - from_work_ns);
        const bool backlog = s == 0 || has_backlog(dag, s);
        here->until_work_ns = until[s].until_work_ns;
        if (!backlog) first = here + 1;
        if (backlog)
            first->at_once_ns += compiled_ns;
        else if (work_ns >= 1)
            here->by_work = compiled_ns / work_ns;
        else
            here->at_once_ns += compiled_ns;
    }
}
