// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_columns.h"

#include "report/look.h"
#include "report/text.h"

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

static void add_less_is_better(struct table *table, struct text text, double before, double after, double noise) {
    table_add_toned(table, text.s, look_less_is_better(before, after, noise));
}

static void add_of_service(struct table *table, const struct search_result *result, const struct metrics *estimate) {
    const struct request_metrics *before = &result->base.requests, *after = &estimate->requests;
    const double then = before->throughput_per_s, now = after->throughput_per_s, noise = result->noise;
    const double threads = result->base.threads[STATE_OCCUPIED].mean, left = estimate->threads[STATE_OCCUPIED].mean;
    table_add_toned(table, text_fixed(now, 1).s, look_less_is_better(-then, -now, noise));
    add_less_is_better(table, text_duration(after->latency_ns.p50), before->latency_ns.p50, after->latency_ns.p50,
                       noise);
    add_less_is_better(table, text_duration(after->latency_ns.p99), before->latency_ns.p99, after->latency_ns.p99,
                       noise);
    add_less_is_better(table, text_fixed(left, 2), threads, left, noise);
}

static void add_of_run(struct table *table, const struct search_result *result, const struct metrics *estimate) {
    const struct usage *before = &result->base.threads[STATE_OCCUPIED], *after = &estimate->threads[STATE_OCCUPIED];
    const double wall_ns = (double)estimate->wall_ns, noise = result->noise;
    add_less_is_better(table, text_duration(wall_ns), (double)result->base.wall_ns, wall_ns, noise);
    add_less_is_better(table, text_fixed(after->peak, 1), before->peak, after->peak, noise);
    add_less_is_better(table, text_fixed(after->mean, 2), before->mean, after->mean, noise);
}

void columns_add(struct table *table, const struct search_result *result, const struct metrics *estimate) {
    struct table_column names[ESTIMATE_COLUMNS_MOST];
    if (!estimate)
        for (size_t i = columns_name(result, names, 0); i > 0; i--) table_add(table, "-");
    else if (columns_are_of_service(result))
        add_of_service(table, result, estimate);
    else
        add_of_run(table, result, estimate);
}
