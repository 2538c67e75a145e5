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
    struct analysis analysis; // of no trace: there is no such side
    struct metrics metrics;
};

enum { ESTIMATED, ACTUAL, BASE, SIDES };

static bool open_side(struct side *side, const char *path, const char *request, struct error *error) {
    return analysis_open(&side->analysis, path, options.window, options.keep_tracer_cost, error) &&
           analysis_choose_requests(&side->analysis, request, error);
}

static bool is_part(const struct side *side) {
    const enum window_kind kind = side->analysis.choice.kind;
    return side->analysis.trace && side->analysis.choice.found && (kind == WINDOW_STEADY || kind == WINDOW_WARM);
}

// Each run's own steady (or warm) part is compared; where one has none all of each is. Returns whether it is parts.
static bool align(struct side sides[SIDES]) {
    bool any = false, all = true;
    for (int i = 0; i < SIDES; i++) {
        any |= is_part(&sides[i]);
        all &= !sides[i].analysis.trace || is_part(&sides[i]);
    }
    for (int i = 0; i < SIDES && any && !all; i++) {
        struct analysis *analysis = &sides[i].analysis;
        if (is_part(&sides[i]))
            window_choose_all(&analysis->window, &analysis->choice,
                              "the run that it is compared with has no such part");
    }
    return any && all;
}

static bool measure(struct side sides[SIDES], struct error *error) {
    bool ok = true;
    for (int i = 0; i < SIDES && ok; i++)
        ok = !sides[i].analysis.trace || analysis_measure(&sides[i].analysis, &sides[i].metrics, error);
    return ok;
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

static void write_answer(const struct comparison *c) {
    char text[256];
    int used = c->parts ? snprintf(text, sizeof text, "by %s in throughput, by %s in median latency (p99: %s)",
                                   text_percent(c->throughput).s, text_percent(c->latency_p50).s,
                                   text_percent(c->latency_p99).s)
                        : snprintf(text, sizeof text, "by %s in wall time", text_percent(c->wall).s);
    snprintf(text + used, sizeof text - (size_t)used,
             ", by %s in occupied threads on average (%s at peak); composite %s", text_percent(c->occupied_mean).s,
             text_percent(c->occupied_peak).s, text_percent(c->composite_error).s);
    look_lead(stdout, terminal_look(stdout), TONE_HEAD, "The estimate is off: ", 2, text);
    if (c->parts)
        look_printf(stdout, terminal_look(stdout), 2,
                    "Parts of different lengths: rates and what a request costs are compared, totals are not.");
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

static bool write_text(const struct side sides[SIDES], const struct comparison *c, struct error *error) {
    const struct metrics_text_run runs[2] = {{"estimated", &sides[ESTIMATED].metrics},
                                             {"actual", &sides[ACTUAL].metrics}};
    for (int i = 0; i < SIDES; i++) {
        if (sides[i].analysis.trace) analysis_write_window(&sides[i].analysis, true);
    }
    write_answer(c);
    if (!metrics_text_write_two(runs, c->parts ? LAST_ERROR_OF_PARTS : LAST_ERROR, stdout, terminal_look(stdout),
                                error))
        return false;
    putchar('\n');
    if (!write_verdict(c, error)) return false;
    write_charts(&sides[ESTIMATED], &sides[ACTUAL]);
    return true;
}

static bool write_json(const struct side sides[SIDES], const struct comparison *c, struct error *error) {
    cJSON *document = comparison_json(c, &sides[ESTIMATED].metrics, &sides[ACTUAL].metrics);
    cJSON_AddItemToObject(document, "window", analysis_window_json(&sides[ESTIMATED].analysis));
    cJSON_AddItemToObject(document, "actual_window", analysis_window_json(&sides[ACTUAL].analysis));
    return json_write(document, stdout, error);
}

static bool compare(struct side sides[SIDES], const struct operands *operands, struct error *error) {
    struct comparison comparison;
    if (!open_side(&sides[ESTIMATED], operands->items[0], options.request, error) ||
        !open_side(&sides[ACTUAL], operands->items[1], options.request, error) ||
        (options.base && !open_side(&sides[BASE], options.base, NULL, error)))
        return false;
    const bool parts = align(sides);
    if (!measure(sides, error)) return false;
    progress_end();
    comparison_compute(&sides[ESTIMATED].metrics, &sides[ACTUAL].metrics, options.base ? &sides[BASE].metrics : NULL,
                       parts, &sides[ESTIMATED].analysis.estimator.work.series,
                       &sides[ACTUAL].analysis.estimator.work.series, &comparison);
    return options.json ? write_json(sides, &comparison, error) : write_text(sides, &comparison, error);
}

static int run(const struct operands *operands, struct error *error) {
    struct side sides[SIDES] = {0};
    compare(sides, operands, error);
    for (int i = 0; i < SIDES; i++) analysis_close(&sides[i].analysis);
    return (int)error->status;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "how far an estimate was from what happened",
    .usage =
        "ESTIMATED ACTUAL [--base TRACE] [--window FROM..TO] [--keep-tracer-cost] [--request SITE] [--wide] [--json]",
    .about = "Shows the metrics of two runs side by side with the error of each, the error of the composite, and the\n"
             "distance between their concurrency profiles: the area between them over the area under the actual one.\n"
             "Of services the steady part of each is taken, and rates and what a request costs are compared.",
    .example = "  rehype compare estimated.msgpack actual.msgpack --base trace.msgpack",
    .options = specs,
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
