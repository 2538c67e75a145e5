// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/steady.h"

#include "dag/samples.h"
#include "metrics/metrics.h"
#include "metrics/requests.h"
#include "metrics/service.h"
#include "metrics/work.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_CORE = 100, // slices that the middle nine tenths of the requests are cut into
    LEAST_CORE = 10,
    PER_SLICE = 5,  // requests, on average
    LEAST_PART = 6, // slices
    TWENTIETH = 20
};

static const double differ_share = 0.05, differ_errors = 3;

enum series { SERIES_RATE, SERIES_LATENCY, SERIES_COUNT };

struct sums { // of the slices before one
    double requests, value[SERIES_COUNT], square[SERIES_COUNT];
};

struct slicing {
    const struct steady_request *requests; // sorted
    size_t count;
    int64_t begin_ns, length_ns; // of the first slice, of each
    size_t slices;
    struct sums sums[2 * MOST_CORE + 1];
};

struct part {        // slices
    size_t from, to; // `to` is behind the last
};

static int compare_arrivals(const void *a, const void *b) {
    const struct steady_request *left = a, *right = b;
    return (left->arrived_ns > right->arrived_ns) - (left->arrived_ns < right->arrived_ns);
}

// So many slices reach over `span_ns` beside the core, at most half as many as that has.
static size_t slices_beside(int64_t span_ns, int64_t length_ns, size_t core) {
    const int64_t needed = span_ns / length_ns + 1;
    return needed < (int64_t)(core / 2) ? (size_t)needed : core / 2;
}

// A single request long before the others (is it up?) makes slices no longer. false: all came at once.
static bool cut(struct slicing *slicing) {
    const struct steady_request *requests = slicing->requests;
    const size_t count = slicing->count, beyond = count / TWENTIETH;
    const int64_t from_ns = requests[beyond].arrived_ns, to_ns = requests[count - 1 - beyond].arrived_ns;
    size_t core = count / PER_SLICE;
    if (core > MOST_CORE) core = MOST_CORE;
    if (core < LEAST_CORE) core = LEAST_CORE;
    slicing->length_ns = (to_ns - from_ns) / (int64_t)core;
    if (slicing->length_ns == 0) return false;
    const size_t before = slices_beside(from_ns - requests[0].arrived_ns, slicing->length_ns, core);
    const size_t behind = slices_beside(requests[count - 1].arrived_ns - to_ns, slicing->length_ns, core);
    slicing->begin_ns = from_ns - (int64_t)before * slicing->length_ns;
    slicing->slices = before + core + behind;
    return true;
}

static double mean_latency(const struct steady_request *requests, size_t count) {
    double sum = 0, answered = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(requests[i].latency_ns)) continue;
        sum += requests[i].latency_ns;
        answered++;
    }
    return answered > 0 ? sum / answered : NAN;
}

// The rate is told in mean requests of a slice, the latency in logarithms of the whole's: so both weigh alike, and a
// slice in which a collection held everything up is no more than a few others.
static void sum_up(struct slicing *slicing) {
    const double all_ns = mean_latency(slicing->requests, slicing->count);
    const double usual = (double)slicing->count / (double)slicing->slices;
    size_t next = 0;
    while (next < slicing->count && slicing->requests[next].arrived_ns < slicing->begin_ns) next++;
    for (size_t s = 0; s < slicing->slices; s++) {
        const int64_t end_ns = slicing->begin_ns + (int64_t)(s + 1) * slicing->length_ns;
        const size_t first = next;
        while (next < slicing->count && slicing->requests[next].arrived_ns < end_ns) next++;
        const double mean_ns = mean_latency(&slicing->requests[first], next - first);
        const double value[SERIES_COUNT] = {(double)(next - first) / usual, isnan(mean_ns) ? 0 : log(mean_ns / all_ns)};
        const struct sums *before = &slicing->sums[s];
        struct sums *sums = &slicing->sums[s + 1];
        sums->requests = before->requests + (double)(next - first);
        for (int i = 0; i < SERIES_COUNT; i++) {
            sums->value[i] = before->value[i] + value[i];
            sums->square[i] = before->square[i] + value[i] * value[i];
        }
    }
}

static double mean_of(const struct slicing *slicing, struct part part, enum series series) {
    const struct sums *from = &slicing->sums[part.from], *to = &slicing->sums[part.to];
    return (to->value[series] - from->value[series]) / (double)(part.to - part.from);
}

// Squared deviations from the part's mean.
static double deviations(const struct slicing *slicing, struct part part, enum series series) {
    const struct sums *from = &slicing->sums[part.from], *to = &slicing->sums[part.to];
    const double mean = mean_of(slicing, part, series);
    const double sum = to->square[series] - from->square[series] - mean * mean * (double)(part.to - part.from);
    return sum > 0 ? sum : 0;
}

static double standard_error(const struct slicing *slicing, struct part part) {
    const double slices = (double)(part.to - part.from), rate = mean_of(slicing, part, SERIES_RATE);
    const double sum =
        deviations(slicing, part, SERIES_RATE) / (rate * rate) + deviations(slicing, part, SERIES_LATENCY);
    return sum / (slices * slices);
}

static bool halves_differ(const struct slicing *slicing, struct part part, enum series series) {
    const size_t half = (part.to - part.from) / 2;
    const struct part first = {part.from, part.from + half}, second = {part.to - half, part.to};
    const double apart = fabs(mean_of(slicing, first, series) - mean_of(slicing, second, series));
    const double scale = series == SERIES_RATE ? mean_of(slicing, part, series) : 1;
    const double square = deviations(slicing, first, series) + deviations(slicing, second, series);
    const double error = sqrt(square / (double)(half * (half - 1)));
    return apart > differ_share * scale && apart > differ_errors * error;
}

static bool drifts(const struct slicing *slicing, struct part part) {
    return halves_differ(slicing, part, SERIES_RATE) || halves_differ(slicing, part, SERIES_LATENCY);
}

static bool holds_enough(const struct slicing *slicing, struct part part) {
    const struct sums *from = &slicing->sums[part.from], *to = &slicing->sums[part.to];
    const double all = slicing->sums[slicing->slices].requests;
    return 2 * (to->requests - from->requests) >= all && TWENTIETH * (all - to->requests) >= all;
}

// Empty where there is none.
static struct part find_part(const struct slicing *slicing) {
    double least = INFINITY;
    struct part best = {0, 0};
    for (size_t from = 0; from < slicing->slices; from++) {
        for (size_t to = from + LEAST_PART; to <= slicing->slices; to++) {
            const struct part part = {from, to};
            if (!holds_enough(slicing, part)) continue;
            const double error = standard_error(slicing, part);
            if (error >= least || drifts(slicing, part)) continue;
            least = error;
            best = part;
        }
    }
    return best;
}

bool steady_find(struct steady_request *requests, size_t count, struct steady *steady, struct error *error) {
    *steady = (struct steady){.verdict = STEADY_FEW, .requests = count};
    if (count < STEADY_LEAST) return true;
    struct slicing *slicing = calloc(1, sizeof *slicing);
    if (!slicing) return error_set(error, STATUS_FAILED, "no memory for the steady part");
    qsort(requests, count, sizeof *requests, compare_arrivals);
    slicing->requests = requests;
    slicing->count = count;
    steady->verdict = STEADY_NONE;
    if (cut(slicing)) {
        sum_up(slicing);
        const struct part part = find_part(slicing);
        if (part.to > 0) {
            steady->verdict = STEADY_FOUND;
            steady->from_ns = slicing->begin_ns + (int64_t)part.from * slicing->length_ns;
            steady->to_ns = slicing->begin_ns + (int64_t)part.to * slicing->length_ns;
        }
    }
    free(slicing);
    return true;
}

// ---- of a run

// From when on the compilers of a JVM that ran before the recording did were done; INT64_MIN: from its begin on, or
// never.
static int64_t settled_ns(const struct dag *dag) {
    const int64_t look_ns = INT64_C(1000000) * SETTLED_MS;
    uint32_t from = 0;
    if (!dag_ran_before(dag->trace) || !samples_are_own(dag)) return INT64_MIN;
    for (uint32_t to = 0; to < dag->sample_count; to++) {
        const struct dag_sample *first = &dag->samples[from], *last = &dag->samples[to];
        const int64_t passed_ns = last->time_ns - first->time_ns;
        if (passed_ns < look_ns) continue;
        if ((double)(last->compiled_ns - first->compiled_ns) < SETTLED_CORES * (double)passed_ns)
            return from ? first->time_ns : INT64_MIN;
        from++;
    }
    return INT64_MIN;
}

struct gathered {
    int64_t from_ns; // what came before does not count
    struct steady_request *requests;
    size_t count;
};

static void gather(struct gathered *gathered, const struct dag *dag, uint32_t arrival, uint32_t answer) {
    if (arrival == DAG_NONE || dag->vertices.time_ns[arrival] < gathered->from_ns) return;
    const int64_t arrived_ns = dag->vertices.time_ns[arrival];
    const int64_t took_ns = answer == DAG_NONE ? 0 : dag->vertices.time_ns[answer] - arrived_ns;
    gathered->requests[gathered->count++] = (struct steady_request){arrived_ns, took_ns > 0 ? (double)took_ns : NAN};
}

static void gather_requests(struct gathered *gathered, const struct dag *dag) {
    for (uint32_t i = 0; i < dag->request_count; i++)
        gather(gathered, dag, service_arrival(&dag->requests[i]), dag->requests[i].end);
}

static bool gather_tasks(struct gathered *gathered, const struct dag *dag, struct error *error) {
    struct metrics_work work = {0};
    struct request_metrics requests;
    const bool ok = metrics_requests_of_run(dag, NULL, DAG_NONE, &work, &requests, error);
    for (uint32_t t = 0; ok && requests.site != DAG_NONE && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->site != requests.site || task->flags & TASK_NESTED) continue;
        gather(gathered, dag, task->spawn_begin != DAG_NONE ? task->spawn_begin : task->start, task->result);
    }
    metrics_work_destroy(&work);
    return ok;
}

bool steady_of_run(const struct dag *dag, struct steady *steady, struct error *error) {
    const size_t most = dag->request_count ? dag->request_count : dag->task_count;
    struct gathered gathered = {.from_ns = settled_ns(dag), .requests = malloc((most + 1) * sizeof *gathered.requests)};
    bool ok = gathered.requests || error_set(error, STATUS_FAILED, "no memory for the requests of %zu", most);
    if (ok && dag->request_count)
        gather_requests(&gathered, dag);
    else if (ok)
        ok = gather_tasks(&gathered, dag, error);
    ok = ok && steady_find(gathered.requests, gathered.count, steady, error);
    free(gathered.requests);
    return ok;
}
