// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/noise.h"

#include "report/json.h"
#include "report/look.h"

#include <stdio.h>

struct text noise_text(struct text half_width, unsigned look) {
    struct text text;
    snprintf(text.s, sizeof text.s, "%s%.28s", look & LOOK_UTF8 ? "\u00b1" : "+-", half_width.s);
    return text;
}

struct text noise_behind(const struct noises *noises, enum run_figure figure, int digits, unsigned look) {
    struct text text = {""};
    const double off = noises ? noises->of[figure].half_width : NAN;
    if (isnan(off)) return text;
    const struct text half_width = digits == NOISE_IN_TIME ? text_duration(off) : text_fixed(off, digits);
    snprintf(text.s, sizeof text.s, " %.30s", noise_text(half_width, look).s);
    return text;
}

struct text noise_more_text(uint64_t more_runs) {
    struct text text;
    if (more_runs == UINT64_MAX)
        snprintf(text.s, sizeof text.s, "over %.8s more runs", text_count(RUNS_MOST).s);
    else
        snprintf(text.s, sizeof text.s, "%.8s more run%s", text_count(more_runs).s, more_runs == 1 ? "" : "s");
    return text;
}

const char *noise_caveat(size_t runs) {
    if (runs < RUNS_BY_ORDER)
        return "Fewer than 9 runs tell little of noise; that of so few is worked out as if runs were normally "
               "distributed.";
    return runs < RUNS_TELL_NOISE ? "Fewer than 9 runs tell little of noise." : "";
}

cJSON *noise_json_figure(enum run_figure figure, double value) {
    const bool is_time =
        figure == RUN_WALL || figure == RUN_THREAD_TIME || figure == RUN_LATENCY_P50 || figure == RUN_LATENCY_P99;
    return is_time && !isnan(value) ? json_integer(llround(value)) : json_number(value);
}

static cJSON *json_figure(enum run_figure figure, const struct noise *noise, const struct noise *base) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "median", noise_json_figure(figure, noise->median));
    cJSON_AddItemToObject(object, "half_width", noise_json_figure(figure, noise->half_width));
    if (!base) return object;
    const bool known = !isnan(noise_of_change(base, noise));
    const uint64_t more = noise_more_runs(base, noise);
    cJSON_AddItemToObject(object, "within", known ? cJSON_CreateBool(noise_hides(base, noise)) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "more_runs",
                          known && more != UINT64_MAX ? json_integer((int64_t)more) : cJSON_CreateNull());
    return object;
}

cJSON *noise_json(const struct noises *noises, const struct noises *base) {
    cJSON *object = cJSON_CreateObject();
    for (enum run_figure figure = 0; figure < RUN_FIGURES; figure++)
        cJSON_AddItemToObject(object, run_figure_names[figure],
                              json_figure(figure, &noises->of[figure], base ? &base->of[figure] : NULL));
    return object;
}
