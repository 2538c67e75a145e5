// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/coverage_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INTERVAL_SHARE = 0.95;

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the methods seen");
}

static int by_times(const void *left, const void *right) {
    const struct species_class *a = left, *b = right;
    return (a->times > b->times) - (a->times < b->times);
}

// Folds those of the same times, of which `classes` has one for each method; returns how many are left.
static size_t fold(struct species_class *classes, size_t count) {
    size_t kept = 0;
    qsort(classes, count, sizeof *classes, by_times);
    for (size_t i = 0; i < count; i++) {
        if (kept && classes[kept - 1].times == classes[i].times)
            classes[kept - 1].kinds++;
        else
            classes[kept++] = classes[i];
    }
    return kept;
}

// Whether the method is among those that shares are of.
static bool is_of_whole(const struct coverage *coverage, const struct seen_method *method) {
    return method_globs_count(&coverage->globs, &method->name) && (method->in_whole || !coverage->has_whole);
}

enum { ALL_PARTS = SEEN_PARTS };

// Methods by how many repetitions saw them, of all, or without those of one part.
static size_t classes_without(const struct coverage *coverage, size_t part, struct species_class *classes) {
    size_t count = 0;
    for (size_t m = 0; m < coverage->methods.count; m++) {
        const struct seen_method *method = &coverage->methods.items[m];
        uint64_t times = method->repetitions - (part == ALL_PARTS ? 0 : method->of_part[part]);
        if (times > 0 && is_of_whole(coverage, method)) classes[count++] = (struct species_class){times, 1};
    }
    return fold(classes, count);
}

static size_t classes_of_stacks(const struct coverage *coverage, struct species_class *classes) {
    size_t count = 0;
    for (size_t m = 0; m < coverage->methods.count; m++) {
        const struct seen_method *method = &coverage->methods.items[m];
        if (method->stacks > 0 && is_of_whole(coverage, method))
            classes[count++] = (struct species_class){method->stacks, 1};
    }
    return fold(classes, count);
}

// Numbers of repetitions: all where they are few, else evenly over their logarithm.
static size_t choose_points(uint64_t repetitions, struct coverage_point *points) {
    size_t count = 0;
    for (int i = 0; i < COVERAGE_POINTS; i++) {
        double at =
            repetitions <= COVERAGE_POINTS ? i + 1 : round(pow((double)repetitions, (double)i / (COVERAGE_POINTS - 1)));
        if (at > (double)repetitions) break;
        if (count == 0 || at > points[count - 1].repetitions) points[count++].repetitions = at;
    }
    return count;
}

static size_t make_points(const struct species_class *classes, size_t class_count, uint64_t repetitions, double whole,
                          struct coverage_point *points) {
    size_t count = choose_points(repetitions, points);
    for (size_t i = 0; i < count; i++) {
        points[i].methods = species_expected(classes, class_count, repetitions, (uint64_t)points[i].repetitions);
        points[i].share = whole > 0 ? points[i].methods / whole : NAN;
    }
    return count;
}

struct fit_columns {
    double x[COVERAGE_POINTS], y[COVERAGE_POINTS];
    size_t count;
};

static struct fit_columns columns_of(const struct coverage_point *points, size_t count, double most) {
    struct fit_columns columns = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        if (points[i].share > most) break;
        columns.x[columns.count] = points[i].repetitions;
        columns.y[columns.count++] = points[i].share;
    }
    return columns;
}

static bool fit_points(const struct coverage_point *points, size_t count, size_t least, struct log_curve *curve) {
    const struct fit_columns columns = columns_of(points, count, FIT_LOG_MOST);
    return columns.count >= least && fit_log(columns.x, columns.y, columns.count, curve);
}

static uint64_t repetitions_of_part(uint64_t repetitions, size_t part) {
    return repetitions / SEEN_PARTS + (part < repetitions % SEEN_PARTS);
}

// What the curves without each part differ by: (parts - 1) / parts times their squares about their mean.
static void spread(const struct log_curve *without, size_t parts, struct coverage_found *found) {
    double a = 0, b = 0, aa = 0, ab = 0, bb = 0;
    for (size_t p = 0; p < parts; p++) {
        a += without[p].a / (double)parts;
        b += without[p].b / (double)parts;
    }
    for (size_t p = 0; p < parts; p++) {
        aa += (without[p].a - a) * (without[p].a - a);
        ab += (without[p].a - a) * (without[p].b - b);
        bb += (without[p].b - b) * (without[p].b - b);
    }
    const double factor = parts > 1 ? ((double)parts - 1) / (double)parts : NAN;
    found->log.var_a = factor * aa;
    found->log.covariance = factor * ab;
    found->log.var_b = factor * bb;
    found->degrees = (double)parts - 1;
}

static void jackknife(const struct coverage *coverage, struct species_class *spare, struct coverage_found *found) {
    struct log_curve without[SEEN_PARTS];
    struct coverage_point points[COVERAGE_POINTS];
    size_t parts = 0;
    for (size_t part = 0; part < SEEN_PARTS; part++) {
        uint64_t left_out = repetitions_of_part(coverage->repetitions, part);
        if (left_out == 0) continue;
        size_t count = classes_without(coverage, part, spare);
        count = make_points(spare, count, coverage->repetitions - left_out, found->whole.all, points);
        parts += fit_points(points, count, COVERAGE_LEAST_REPETITIONS - 1, &without[parts]);
    }
    spread(without, parts, found);
}

static void fit(const struct coverage *coverage, struct species_class *spare, struct coverage_found *found) {
    found->point_count =
        make_points(found->classes, found->class_count, found->repetitions, found->whole.all, found->points);
    found->has_log = found->repetitions >= COVERAGE_LEAST_REPETITIONS &&
                     fit_points(found->points, found->point_count, COVERAGE_LEAST_REPETITIONS, &found->log);
    if (found->has_log) jackknife(coverage, spare, found);
    const struct fit_columns columns = columns_of(found->points, found->point_count, INFINITY);
    found->has_saturating = found->repetitions >= COVERAGE_LEAST_REPETITIONS &&
                            fit_saturating(columns.x, columns.y, columns.count, &found->saturating);
}

static int by_name(const void *left, const void *right) {
    const struct method_name *a = left, *b = right;
    int order = strcmp(a->class_name, b->class_name);
    if (!order) order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->descriptor ? a->descriptor : "", b->descriptor ? b->descriptor : "");
}

static bool list_unseen(struct coverage *coverage, struct coverage_found *found) {
    struct method_name *unseen = ARENA_NEW(&coverage->arena, struct method_name, coverage->methods.count + 1);
    if (!unseen) return false;
    for (size_t m = 0; m < coverage->methods.count; m++) {
        const struct seen_method *method = &coverage->methods.items[m];
        bool counted = method_globs_count(&coverage->globs, &method->name);
        if (counted && method->in_whole && method->repetitions == 0) unseen[found->unseen_count++] = method->name;
        if (counted && !method->in_whole && method->repetitions > 0) found->besides++;
    }
    qsort(unseen, found->unseen_count, sizeof *unseen, by_name);
    found->unseen = unseen;
    return true;
}

static void count_seen(const struct coverage_found *found, uint64_t *seen) {
    *seen = 0;
    for (size_t i = 0; i < found->class_count; i++) *seen += found->classes[i].kinds;
}

static bool choose_whole(struct coverage *coverage, struct species_class *spare, struct coverage_found *found) {
    if (coverage->has_whole) {
        double all = (double)found->seen;
        if (!list_unseen(coverage, found)) return false;
        all += (double)found->unseen_count;
        found->whole_from = COVERAGE_WOVEN;
        found->whole = (struct species_estimate){all, all, all};
    } else if (found->repetitions > 1) {
        found->whole_from = COVERAGE_CHAO2;
        found->whole = species_estimate(found->classes, found->class_count, found->repetitions);
    } else {
        found->whole_from = COVERAGE_CHAO1;
        found->whole = species_estimate(spare, classes_of_stacks(coverage, spare),
                                        coverage->stacks.stacks - coverage->stacks.outside);
    }
    return true;
}

bool coverage_find(struct coverage *coverage, struct coverage_found *found, struct error *error) {
    *found = (struct coverage_found){.repetitions = coverage->repetitions, .stacks = coverage->stacks};
    const size_t most = coverage->methods.count + 1;
    struct species_class *classes = ARENA_NEW(&coverage->arena, struct species_class, most);
    struct species_class *spare = ARENA_NEW(&coverage->arena, struct species_class, most);
    if (!classes || !spare) return no_memory(error);
    found->classes = classes;
    found->class_count = classes_without(coverage, ALL_PARTS, classes);
    count_seen(found, &found->seen);
    if (!choose_whole(coverage, spare, found)) return no_memory(error);
    if (found->whole.all <= 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "no method that counts was seen, nor is in the whole: --include GLOB says which count");
    fit(coverage, spare, found);
    return true;
}

double coverage_share(const struct coverage_found *found) {
    return (double)found->seen / found->whole.all;
}

// ---- forecasts

// The least number of these repetitions that shows so many methods on average.
static double measured(const struct coverage_found *found, double methods) {
    const double ROUNDING = 1e-9; // of sums of logarithms
    uint64_t low = 0, high = found->repetitions;
    if ((double)found->seen < methods * (1 - ROUNDING)) return NAN;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (species_expected(found->classes, found->class_count, found->repetitions, middle) < methods * (1 - ROUNDING))
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low;
}

// Of the logarithm at ln x; ln x of a given share errs by that over a.
static double standard_error(const struct log_curve *log, double ln_x) {
    return sqrt(fmax(log->var_b + 2 * ln_x * log->covariance + ln_x * ln_x * log->var_a, 0));
}

struct coverage_forecast coverage_forecast(const struct coverage_found *found, double share) {
    struct coverage_forecast forecast = {share, measured(found, share * found->whole.all), NAN, NAN, NAN, NAN};
    if (found->has_log) {
        const double ln_x = log(forecast.by_log = log_curve_reaches(&found->log, share));
        const double error =
            fit_half_width(standard_error(&found->log, ln_x) / found->log.a, found->degrees, INTERVAL_SHARE);
        forecast.low = exp(ln_x - error);
        forecast.high = exp(ln_x + error);
    }
    if (found->has_saturating) forecast.by_saturation = saturating_curve_reaches(&found->saturating, share);
    return forecast;
}

void coverage_band(const struct coverage_found *found, double repetitions, double *low, double *high) {
    *low = *high = NAN;
    if (!found->has_log) return;
    const double at = log_curve_at(&found->log, repetitions);
    const double error = fit_half_width(standard_error(&found->log, log(repetitions)), found->degrees, INTERVAL_SHARE);
    *low = at - error;
    *high = at + error;
}
