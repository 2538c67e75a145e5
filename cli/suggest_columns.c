// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_columns.h"

#include "cli/terminal.h"
#include "report/look.h"
#include "report/noise.h"
#include "report/text.h"

#include <stdio.h>
#include <string.h>

bool columns_are_of_service(const struct search_result *result) {
    return result->base.requests.throughput_per_s > 0;
}

size_t columns_name(const struct search_result *result, struct table_column *columns, size_t count) {
    static const char *const of_service[] = {"req/s", "median", "p99", "threads"}, *const of_run[] = {"wall", "peak",
                                                                                                      "mean"};
    const bool service = columns_are_of_service(result);
    const char *const *names = service ? of_service : of_run;
    const size_t more = service ? sizeof of_service / sizeof *of_service : sizeof of_run / sizeof *of_run;
    for (size_t i = 0; i < more; i++) columns[count++] = (struct table_column){names[i], TABLE_RIGHT};
    return count;
}

const char *columns_legend(const struct search_result *result) {
    return columns_are_of_service(result)
               ? "median and p99 are of the answers' latency; threads: occupied on the mean, computing or waiting"
               : "peak and mean are of occupied threads: computing or waiting";
}

const char *columns_compared(const struct search_result *result) {
    return columns_are_of_service(result) ? "requests a second, threads" : "wall time, threads";
}

static const enum run_figure of_service[] = {RUN_THROUGHPUT, RUN_LATENCY_P50, RUN_LATENCY_P99, RUN_OCCUPIED_MEAN},
                             of_run[] = {RUN_WALL, RUN_OCCUPIED_PEAK, RUN_OCCUPIED_MEAN};

static size_t figures_of(const struct search_result *result, const enum run_figure **figures) {
    const bool service = columns_are_of_service(result);
    *figures = service ? of_service : of_run;
    return service ? sizeof of_service / sizeof *of_service : sizeof of_run / sizeof *of_run;
}

size_t columns_figures(const struct search_result *result, enum run_figure figures[ESTIMATE_COLUMNS_MOST]) {
    const enum run_figure *shown;
    const size_t count = figures_of(result, &shown);
    memcpy(figures, shown, count * sizeof *figures);
    return count;
}

static struct text show(enum run_figure figure, double value) {
    switch (figure) {
    case RUN_OCCUPIED_PEAK:
    case RUN_THROUGHPUT:
        return text_fixed(value, 1);
    case RUN_OCCUPIED_MEAN:
        return text_fixed(value, 2);
    default:
        return text_duration(value);
    }
}

// Whether it differs, but by no more than the noise of both.
static bool is_hidden(enum run_figure figure, const struct noises *base, const struct noises *noises) {
    if (!base || !noises || base->of[figure].median == noises->of[figure].median) return false;
    return noise_hides(&base->of[figure], &noises->of[figure]);
}

static void add_figure(struct table *table, enum run_figure figure, double before, double after, double model_noise,
                       const struct noises *base, const struct noises *noises) {
    const double sign = figure == RUN_THROUGHPUT ? -1 : 1; // of which more is better
    const enum look_tone tone = look_less_is_better(sign * before, sign * after, model_noise);
    const bool hidden = is_hidden(figure, base, noises);
    struct text noise = {""};
    char cell[80];
    if (noises) noise = noise_text(show(figure, noises->of[figure].half_width), terminal_look(stdout));
    snprintf(cell, sizeof cell, "%s%s%s%s", hidden ? "~" : "", show(figure, after).s, noises ? " " : "", noise.s);
    table_add_toned(table, cell, hidden ? TONE_PLAIN : tone);
}

void columns_add_against(struct table *table, const struct search_result *result, const struct metrics *before,
                         const struct metrics *estimate, const struct noises *base, const struct noises *noises) {
    const enum run_figure *figures;
    const size_t count = figures_of(result, &figures);
    for (size_t i = 0; i < count; i++) {
        if (estimate)
            add_figure(table, figures[i], run_figure_of(before, figures[i]), run_figure_of(estimate, figures[i]),
                       result->noise, base, noises);
        else
            table_add(table, "-");
    }
}

void columns_add(struct table *table, const struct search_result *result, const struct metrics *estimate,
                 const struct noises *base, const struct noises *noises) {
    columns_add_against(table, result, &result->base, estimate, base, noises);
}
