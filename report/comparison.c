// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/comparison.h"

#include "report/json.h"

double comparison_error(double estimated, double actual) {
    if (actual != 0) return fabs(estimated - actual) / actual;
    return estimated == 0 ? 0 : NAN;
}

struct metrics comparison_per_request(const struct metrics *metrics) {
    struct metrics shared = *metrics;
    const double requests = metrics->requests.count;
    shared.wall_ns = requests > 0 ? llround((double)metrics->wall_ns / requests) : 0;
    shared.thread_time_ns = requests > 0 ? metrics->thread_time_ns / requests : NAN;
    shared.tasks.work_ns = requests > 0 ? metrics->tasks.work_ns / requests : NAN;
    return shared;
}

static void compare_requests(const struct request_metrics *e, const struct request_metrics *a,
                             struct comparison *comparison) {
    comparison->throughput = comparison_error(e->throughput_per_s, a->throughput_per_s);
    comparison->latency_p50 = comparison_error(e->latency_ns.p50, a->latency_ns.p50);
    comparison->latency_p95 = comparison_error(e->latency_ns.p95, a->latency_ns.p95);
    comparison->latency_p99 = comparison_error(e->latency_ns.p99, a->latency_ns.p99);
}

static void compare_costs(const struct metrics *estimated, const struct metrics *actual,
                          struct comparison *comparison) {
    const double wall = comparison_error((double)estimated->wall_ns, (double)actual->wall_ns);
    const double thread_time = comparison_error(estimated->thread_time_ns, actual->thread_time_ns);
    const double work = comparison_error(estimated->tasks.work_ns, actual->tasks.work_ns);
    comparison->wall = comparison->parts ? NAN : wall;
    comparison->thread_time = comparison->parts ? NAN : thread_time;
    comparison->thread_time_of_request = comparison->parts ? thread_time : NAN;
    comparison->work_of_request = comparison->parts ? work : NAN;
    comparison->composite_error = fabs(metrics_composite(estimated, actual) - 1);
}

static double composite_of(const struct metrics *run, const struct metrics *base, bool parts) {
    if (!base) return NAN;
    const struct metrics shared = parts ? comparison_per_request(base) : *base;
    return metrics_composite(run, &shared);
}

void comparison_compute(const struct metrics *estimated, const struct metrics *actual, const struct metrics *base,
                        bool parts, const struct state_series *estimated_series,
                        const struct state_series *actual_series, struct comparison *comparison) {
    const struct metrics first = parts ? comparison_per_request(estimated) : *estimated;
    const struct metrics second = parts ? comparison_per_request(actual) : *actual;
    const struct usage *e = first.threads, *a = second.threads;
    *comparison = (struct comparison){
        .parts = parts,
        .occupied_peak = comparison_error(e[STATE_OCCUPIED].peak, a[STATE_OCCUPIED].peak),
        .occupied_mean = comparison_error(e[STATE_OCCUPIED].mean, a[STATE_OCCUPIED].mean),
        .waiting_peak = comparison_error(e[STATE_WAITING].peak, a[STATE_WAITING].peak),
        .waiting_mean = comparison_error(e[STATE_WAITING].mean, a[STATE_WAITING].mean),
        .profile_distance = metrics_profile_distance(estimated_series, actual_series),
        .composite_estimated = composite_of(&first, base, parts),
        .composite_actual = composite_of(&second, base, parts),
    };
    compare_costs(&first, &second, comparison);
    compare_requests(&first.requests, &second.requests, comparison);
}

static cJSON *errors_of(const struct comparison *c) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "wall", json_number(c->wall));
    cJSON_AddItemToObject(object, "thread_time", json_number(c->thread_time));
    cJSON_AddItemToObject(object, "occupied_peak", json_number(c->occupied_peak));
    cJSON_AddItemToObject(object, "occupied_mean", json_number(c->occupied_mean));
    cJSON_AddItemToObject(object, "waiting_peak", json_number(c->waiting_peak));
    cJSON_AddItemToObject(object, "waiting_mean", json_number(c->waiting_mean));
    cJSON_AddItemToObject(object, "throughput", json_number(c->throughput));
    cJSON_AddItemToObject(object, "latency_p50", json_number(c->latency_p50));
    cJSON_AddItemToObject(object, "latency_p95", json_number(c->latency_p95));
    cJSON_AddItemToObject(object, "latency_p99", json_number(c->latency_p99));
    cJSON_AddItemToObject(object, "thread_time_of_request", json_number(c->thread_time_of_request));
    cJSON_AddItemToObject(object, "work_of_request", json_number(c->work_of_request));
    return object;
}

cJSON *comparison_json(const struct comparison *comparison, const struct metrics *estimated,
                       const struct metrics *actual) {
    cJSON *document = cJSON_CreateObject(), *composites = cJSON_CreateObject();
    cJSON_AddItemToObject(composites, "estimated", json_number(comparison->composite_estimated));
    cJSON_AddItemToObject(composites, "actual", json_number(comparison->composite_actual));
    cJSON_AddStringToObject(document, "schema", "rehype.compare/1");
    cJSON_AddItemToObject(document, "errors", errors_of(comparison));
    cJSON_AddItemToObject(document, "composite_error", json_number(comparison->composite_error));
    cJSON_AddItemToObject(document, "profile_distance", json_number(comparison->profile_distance));
    cJSON_AddItemToObject(document, "composites", composites);
    cJSON_AddItemToObject(document, "estimated", json_metrics(estimated));
    cJSON_AddItemToObject(document, "actual", json_metrics(actual));
    return document;
}
