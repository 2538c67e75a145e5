// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/service.h"

#include "dag/propagate/rules.h"
#include "metrics/quantiles.h"

#include <math.h>
#include <stdlib.h>

struct served {
    double *latency_ns;      // of those of the window
    size_t count;            // ... how many these are
    double *answered_ns;     // of all
    size_t answered, before; // ... how many, and how many of them came before the window
};

enum place { BEFORE_WINDOW, IN_WINDOW, ELSEWHERE };

uint32_t service_arrival(const struct dag_request *request) {
    return request->arrival != DAG_NONE ? request->arrival : request->begin;
}

// Of a run that was simulated the recorded request says whether it counts.
static enum place place_of(const struct dag *run, uint32_t index, const struct window *window) {
    const struct dag *recorded = run->origin ? run->origin : run;
    if (!window || recorded->request_count != run->request_count) return IN_WINDOW;
    const uint32_t arrival = service_arrival(&recorded->requests[index]);
    if (arrival == DAG_NONE) return ELSEWHERE;
    const int64_t ns = recorded->vertices.time_ns[arrival];
    if (ns < window->from_ns) return BEFORE_WINDOW;
    return ns <= window->to_ns ? IN_WINDOW : ELSEWHERE;
}

static void serve(struct served *served, const struct dag_request *request, const int64_t *time_ns, enum place place) {
    const uint32_t arrival = service_arrival(request);
    if (arrival == DAG_NONE || request->end == DAG_NONE) return;
    const int64_t from_ns = time_ns[arrival], to_ns = time_ns[request->end];
    if (from_ns == DAG_ABSENT || to_ns == DAG_ABSENT || to_ns < from_ns) return;
    served->answered_ns[served->answered++] = (double)to_ns;
    served->before += place == BEFORE_WINDOW;
    if (place == IN_WINDOW) served->latency_ns[served->count++] = (double)(to_ns - from_ns);
}

static int by_time(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

double service_rate(double *times_ns, size_t count) {
    const size_t left_out = count < 20 ? 0 : count / 20;
    if (count < 2) return NAN;
    qsort(times_ns, count, sizeof *times_ns, by_time);
    const size_t first = left_out, last = count - 1 - left_out;
    const double span_ns = times_ns[last] - times_ns[first];
    return span_ns > 0 ? (double)(last - first) * 1e9 / span_ns : NAN;
}

// Answers come in another order in an estimate: of the window are as many as were, behind as many as came before it.
static double rate_of(struct served *served) {
    qsort(served->answered_ns, served->answered, sizeof *served->answered_ns, by_time);
    return service_rate(&served->answered_ns[served->before], served->count);
}

bool service_figures(const struct dag *run, const int64_t *time_ns, const struct window *window,
                     struct request_metrics *requests) {
    if (run->request_count == 0) return true;
    struct served served = {.latency_ns = malloc(run->request_count * sizeof(double)),
                            .answered_ns = malloc(run->request_count * sizeof(double))};
    const bool ok = served.latency_ns && served.answered_ns;
    for (uint32_t i = 0; ok && i < run->request_count; i++)
        serve(&served, &run->requests[i], time_ns, place_of(run, i, window));
    if (served.count > 0) {
        requests->count = (double)served.count;
        requests->latency_ns = quantiles_of(served.latency_ns, served.count);
        requests->throughput_per_s = rate_of(&served);
        if (requests->sustainable_per_s < requests->throughput_per_s)
            requests->sustainable_per_s = requests->throughput_per_s;
    }
    free(served.latency_ns);
    free(served.answered_ns);
    return ok;
}

struct askers service_askers(const struct dag *recorded, const struct request_metrics *requests) {
    struct askers askers = {recorded->open_loop, NAN, NAN};
    double total_ns = 0, known = 0;
    for (uint32_t i = 0; i < recorded->request_count && !recorded->open_loop; i++) {
        const int64_t thought_ns = dag_thought_ns(recorded, &recorded->requests[i]);
        if (thought_ns < 0) continue;
        total_ns += (double)thought_ns;
        known++;
    }
    if (known == 0) return askers;
    askers.think_ns = total_ns / known;
    askers.clients = round(requests->throughput_per_s * (requests->latency_ns.mean + askers.think_ns) / 1e9);
    return askers;
}
