// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/coverage_json.h"

#include "report/coverage_chart.h"
#include "report/coverage_text.h"
#include "report/json.h"

#include <math.h>
#include <stdlib.h>

enum { CURVE_POINTS = 60 };

// Six digits: of what a search finds, further ones are the machine's. NAN and infinities are null.
static cJSON *figure(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.6g", value);
    return json_number(isfinite(value) ? strtod(digits, NULL) : NAN);
}

static cJSON *methods_json(const struct coverage_found *found) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "seen", json_integer((int64_t)found->seen));
    cJSON_AddItemToObject(object, "whole", figure(found->whole.all));
    cJSON_AddItemToObject(object, "whole_from", json_text(coverage_whole_names[found->whole_from]));
    cJSON_AddItemToObject(object, "whole_low", figure(found->whole.low));
    cJSON_AddItemToObject(object, "whole_high", figure(found->whole.high));
    cJSON_AddItemToObject(object, "share", figure(coverage_share(found)));
    cJSON_AddItemToObject(object, "besides", json_integer((int64_t)found->besides));
    cJSON *unseen = cJSON_AddArrayToObject(object, "unseen");
    for (size_t i = 0; i < found->unseen_count; i++) {
        cJSON *method = cJSON_CreateObject();
        cJSON_AddItemToObject(method, "class", json_text(found->unseen[i].class_name));
        cJSON_AddItemToObject(method, "method", json_text(found->unseen[i].name));
        cJSON_AddItemToObject(method, "descriptor", json_text(found->unseen[i].descriptor));
        cJSON_AddItemToArray(unseen, method);
    }
    return object;
}

static void add_costs(cJSON *object, const struct trace_stack_costs *costs) {
    cJSON_AddItemToObject(object, "missed", json_integer((int64_t)costs->missed));
    cJSON_AddItemToObject(object, "left_out", json_integer((int64_t)costs->left_out));
    cJSON_AddItemToObject(object, "take_ns", json_integer((int64_t)costs->take_ns));
    cJSON_AddItemToObject(object, "work_ns", json_integer((int64_t)costs->work_ns));
}

static cJSON *stacks_json(const struct coverage_stacks *stacks) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "moments", json_integer((int64_t)stacks->moments));
    cJSON_AddItemToObject(object, "stacks", json_integer((int64_t)stacks->stacks));
    cJSON_AddItemToObject(object, "outside", json_integer((int64_t)stacks->outside));
    add_costs(object, &stacks->costs);
    return object;
}

static cJSON *points_json(const struct coverage_found *found) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < found->point_count; i++) {
        cJSON *point = cJSON_CreateObject();
        cJSON_AddItemToObject(point, "repetitions", figure(found->points[i].repetitions));
        cJSON_AddItemToObject(point, "methods", figure(found->points[i].methods));
        cJSON_AddItemToObject(point, "share", figure(found->points[i].share));
        cJSON_AddItemToArray(array, point);
    }
    return array;
}

static cJSON *log_json(const struct coverage_found *found) {
    if (!found->has_log) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "a", figure(found->log.a));
    cJSON_AddItemToObject(object, "b", figure(found->log.b));
    cJSON_AddItemToObject(object, "r2", figure(found->log.r2));
    const double a = fit_half_width(sqrt(found->log.var_a), found->degrees, 0.95);
    const double b = fit_half_width(sqrt(found->log.var_b), found->degrees, 0.95);
    cJSON_AddItemToObject(object, "a_low", figure(found->log.a - a));
    cJSON_AddItemToObject(object, "a_high", figure(found->log.a + a));
    cJSON_AddItemToObject(object, "b_low", figure(found->log.b - b));
    cJSON_AddItemToObject(object, "b_high", figure(found->log.b + b));
    cJSON_AddItemToObject(object, "holds_below", figure(FIT_LOG_MOST));
    return object;
}

static cJSON *saturating_json(const struct coverage_found *found) {
    if (!found->has_saturating) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "limit", figure(found->saturating.limit));
    cJSON_AddItemToObject(object, "half", figure(found->saturating.half));
    cJSON_AddItemToObject(object, "slope", figure(found->saturating.slope));
    cJSON_AddItemToObject(object, "r2", figure(found->saturating.r2));
    return object;
}

static cJSON *curves_json(const struct coverage_found *found, double end) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < CURVE_POINTS && (found->has_log || found->has_saturating); i++) {
        const double at = pow(end, (double)i / (CURVE_POINTS - 1));
        double low, high;
        coverage_band(found, at, &low, &high);
        cJSON *point = cJSON_CreateObject();
        cJSON_AddItemToObject(point, "repetitions", figure(at));
        cJSON_AddItemToObject(point, "log", figure(found->has_log ? log_curve_at(&found->log, at) : NAN));
        cJSON_AddItemToObject(point, "low", figure(low));
        cJSON_AddItemToObject(point, "high", figure(high));
        cJSON_AddItemToObject(point, "saturating",
                              figure(found->has_saturating ? saturating_curve_at(&found->saturating, at) : NAN));
        cJSON_AddItemToArray(array, point);
    }
    return array;
}

static cJSON *forecast_json(const struct coverage_forecast *forecast) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "share", figure(forecast->share));
    cJSON_AddItemToObject(object, "measured", figure(forecast->measured));
    cJSON_AddItemToObject(object, "log", figure(forecast->by_log));
    cJSON_AddItemToObject(object, "low", figure(forecast->low));
    cJSON_AddItemToObject(object, "high", figure(forecast->high));
    cJSON_AddItemToObject(object, "saturating", figure(forecast->by_saturation));
    return object;
}

void coverage_json_add(cJSON *document, const struct coverage_found *found, const struct coverage_forecast *wanted,
                       const struct warnings *warnings) {
    cJSON_AddItemToObject(document, "repetitions", json_integer((int64_t)found->repetitions));
    cJSON_AddItemToObject(document, "methods", methods_json(found));
    cJSON_AddItemToObject(document, "wanted", forecast_json(wanted));
    cJSON_AddItemToObject(document, "log", log_json(found));
    cJSON_AddItemToObject(document, "saturating", saturating_json(found));
    cJSON_AddItemToObject(document, "points", points_json(found));
    cJSON_AddItemToObject(document, "curves", curves_json(found, coverage_chart_end(found, wanted)));
    cJSON_AddItemToObject(document, "stacks", stacks_json(&found->stacks));
    cJSON_AddItemToObject(document, "warnings", json_texts(warnings->texts, warnings->count));
}

cJSON *coverage_json_sampled(const struct trace_stacks *stacks, double seconds, const struct coverage_found *seen) {
    const double moments = (double)stacks->moment_count;
    const bool known = !isnan(seen->whole.all);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "moments", json_integer((int64_t)stacks->moment_count));
    cJSON_AddItemToObject(object, "per_s", figure(seconds > 0 ? (moments - 1) / seconds : NAN));
    add_costs(object, &stacks->costs);
    cJSON_AddItemToObject(object, "methods_seen", json_integer((int64_t)seen->seen));
    cJSON_AddItemToObject(object, "methods_estimated", figure(seen->whole.all));
    cJSON_AddItemToObject(object, "share_seen", figure(known ? coverage_share(seen) : NAN));
    return object;
}
