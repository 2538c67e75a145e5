// SPDX-License-Identifier: GPL-3.0-or-later
// rehype compare: how far an estimate was from what happened.
#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/comparison.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/table.h"
#include "report/text.h"

static struct {
    const char *base, *window, *request;
    bool json, keep_tracer_cost;
} options;

static const struct option_spec specs[] = {
    {"--base", 0, OPTION_TEXT, &options.base, "TRACE", "the run before the change: shows both composites against it"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_TRACER_OPTION(&options.keep_tracer_cost),
    ANALYSIS_REQUEST_OPTION(&options.request),
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.compare/1)"},
    {0},
};

struct side {
    struct analysis analysis;
    struct metrics metrics;
};

static bool open_side(struct side *side, const char *path, const char *request, struct error *error) {
    return analysis_open(&side->analysis, path, options.window, options.keep_tracer_cost, error) &&
           analysis_choose_requests(&side->analysis, request, error) &&
           analysis_measure(&side->analysis, &side->metrics, error);
}

static bool write_verdict(const struct comparison *c, struct error *error) {
    static const struct table_column columns[] = {{NULL, TABLE_LEFT}, {NULL, TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    table_add(&table, "composite error");
    table_add(&table, text_percent(c->composite_error).s);
    table_add(&table, "profile distance");
    table_add(&table, text_percent(c->profile_distance).s);
    if (options.base) {
        table_add(&table, "composite, estimated, against the base");
        table_add(&table, text_number(c->composite_estimated).s);
        table_add(&table, "composite, actual, against the base");
        table_add(&table, text_number(c->composite_actual).s);
    }
    bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    return ok;
}

static void write_answer(const struct side *estimated, const struct side *actual, const struct comparison *c) {
    const struct metrics *a = &estimated->metrics, *b = &actual->metrics;
    const struct usage *first = &a->threads[STATE_OCCUPIED], *second = &b->threads[STATE_OCCUPIED];
    const unsigned look = terminal_look(stdout);
    char text[256];
    snprintf(text, sizeof text, "by %s in wall time, by %s in occupied threads on average (%s at peak); composite %s",
             text_percent(comparison_error((double)a->wall_ns, (double)b->wall_ns)).s,
             text_percent(comparison_error(first->mean, second->mean)).s,
             text_percent(comparison_error(first->peak, second->peak)).s, text_percent(c->composite_error).s);
    look_lead(stdout, look, TONE_HEAD, "The estimate is off: ", 2, text);
    putchar('\n');
}

static void write_charts(const struct side *estimated, const struct side *actual) {
    struct chart charts[2];
    analysis_chart(&estimated->analysis, "estimated", &estimated->metrics, &charts[0]);
    analysis_chart(&actual->analysis, "actual", &actual->metrics, &charts[1]);
    double top = chart_top(charts, 2);
    for (int i = 0; i < 2; i++) {
        putchar('\n');
        chart_write(&charts[i], top, stdout, terminal_look(stdout));
    }
}

static bool write_text(const struct side *estimated, const struct side *actual, const struct comparison *c,
                       struct error *error) {
    write_answer(estimated, actual, c);
    const struct metrics_text_run runs[2] = {{"estimated", &estimated->metrics}, {"actual", &actual->metrics}};
    if (!metrics_text_write_two(runs, LAST_ERROR, stdout, terminal_look(stdout), error)) return false;
    putchar('\n');
    if (!write_verdict(c, error)) return false;
    write_charts(estimated, actual);
    return true;
}

static bool compare(struct side *estimated, struct side *actual, struct side *base, const struct operands *operands,
                    struct error *error) {
    struct comparison comparison;
    if (!open_side(estimated, operands->items[0], options.request, error) ||
        !open_side(actual, operands->items[1], options.request, error) ||
        (options.base && !open_side(base, options.base, NULL, error))) {
        return false;
    }
    progress_end();
    comparison_compute(&estimated->metrics, &actual->metrics, options.base ? &base->metrics : NULL,
                       &estimated->analysis.estimator.work.series, &actual->analysis.estimator.work.series,
                       &comparison);
    if (!options.json) return write_text(estimated, actual, &comparison, error);
    return json_write(comparison_json(&comparison, &estimated->metrics, &actual->metrics), stdout, error);
}

static int run(const struct operands *operands, struct error *error) {
    struct side estimated = {0}, actual = {0}, base = {0};
    compare(&estimated, &actual, &base, operands, error);
    analysis_close(&estimated.analysis);
    analysis_close(&actual.analysis);
    analysis_close(&base.analysis);
    return (int)error->status;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "how far an estimate was from what happened",
    .usage =
        "ESTIMATED ACTUAL [--base TRACE] [--window FROM..TO] [--keep-tracer-cost] [--request SITE] [--wide] [--json]",
    .about = "Shows the metrics of two runs side by side with the error of each, the error of the composite, and the\n"
             "distance between their concurrency profiles: the area between them over the area under the actual one.",
    .example = "  rehype compare estimated.msgpack actual.msgpack --base trace.msgpack",
    .options = specs,
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
