// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/comparison.h"

#include "report/json.h"

double comparison_error(double estimated, double actual) {
    if (actual != 0) return fabs(estimated - actual) / actual;
    return estimated == 0 ? 0 : NAN;
}

void comparison_compute(const struct metrics *estimated, const struct metrics *actual, const struct metrics *base,
                        const struct state_series *estimated_series, const struct state_series *actual_series,
                        struct comparison *comparison) {
    const struct usage *e = estimated->threads, *a = actual->threads;
    *comparison = (struct comparison){
        .wall = comparison_error((double)estimated->wall_ns, (double)actual->wall_ns),
        .thread_time = comparison_error(estimated->thread_time_ns, actual->thread_time_ns),
        .occupied_peak = comparison_error(e[STATE_OCCUPIED].peak, a[STATE_OCCUPIED].peak),
        .occupied_mean = comparison_error(e[STATE_OCCUPIED].mean, a[STATE_OCCUPIED].mean),
        .waiting_peak = comparison_error(e[STATE_WAITING].peak, a[STATE_WAITING].peak),
        .waiting_mean = comparison_error(e[STATE_WAITING].mean, a[STATE_WAITING].mean),
        .composite_error = fabs(metrics_composite(estimated, actual) - 1),
        .profile_distance = metrics_profile_distance(estimated_series, actual_series),
        .composite_estimated = base ? metrics_composite(estimated, base) : NAN,
        .composite_actual = base ? metrics_composite(actual, base) : NAN,
    };
}

static cJSON *errors_of(const struct comparison *c) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "wall", json_number(c->wall));
    cJSON_AddItemToObject(object, "thread_time", json_number(c->thread_time));
    cJSON_AddItemToObject(object, "occupied_peak", json_number(c->occupied_peak));
    cJSON_AddItemToObject(object, "occupied_mean", json_number(c->occupied_mean));
    cJSON_AddItemToObject(object, "waiting_peak", json_number(c->waiting_peak));
    cJSON_AddItemToObject(object, "waiting_mean", json_number(c->waiting_mean));
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
