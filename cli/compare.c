// SPDX-License-Identifier: GPL-3.0-or-later
// rehype compare: how far an estimate was from what happened.
#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "metrics/runs.h"
#include "report/comparison.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/noise.h"
#include "report/table.h"
#include "report/text.h"

static struct {
    struct text_list base;
    const char *window, *request;
    bool json, keep_tracer_cost;
} options;

static const struct option_spec specs[] = {
    {"--base", 0, OPTION_LIST, &options.base, "TRACE",
     "the run before the change: shows both composites against it; repeatable"},
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

// Runs of what is compared: one is estimated, the others may be several of each, which medians are taken of.
struct runs {
    struct side *each;
    const struct metrics **metrics; // theirs
    size_t count, chosen;           // of them the median one
    struct metrics median;
    struct noises noises;
};

enum { ESTIMATED, ACTUAL, BASE, SIDES }; // base may have no run

static struct analysis *analysis_of(const struct runs *runs) {
    return &runs->each[runs->chosen].analysis;
}

static bool open_runs(struct runs *runs, const char *const *paths, size_t count, const char *request,
                      struct arena *arena, struct error *error) {
    runs->each = ARENA_NEW(arena, struct side, count + 1);
    runs->metrics = ARENA_NEW(arena, const struct metrics *, count + 1);
    if (!runs->each || !runs->metrics) return error_set(error, STATUS_FAILED, "no memory for %zu runs", count);
    for (size_t r = 0; r < count; r++) {
        struct side *side = &runs->each[runs->count++];
        runs->metrics[r] = &side->metrics;
        if (!analysis_open(&side->analysis, paths[r], options.window, options.keep_tracer_cost, error) ||
            !analysis_choose_requests(&side->analysis, request, error))
            return false;
    }
    return true;
}

// They are taken for repetitions all the same.
static void warn_of_loads(const struct runs *runs) {
    for (size_t r = 1; r < runs->count; r++) {
        const struct trace *first = runs->each[0].analysis.trace, *other = runs->each[r].analysis.trace;
        char text[1024];
        if (runs_are_alike(first, other)) continue;
        snprintf(text, sizeof text,
                 "%s and %s are no repetitions: they are of one run, or their command lines, JVMs or cores differ",
                 first->path, other->path);
        look_lead(stderr, terminal_look(stderr), TONE_WARNING, "rehype: warning: ", 2, text);
        return;
    }
}

static bool is_part(const struct side *side) {
    const enum window_kind kind = side->analysis.choice.kind;
    return side->analysis.choice.found && (kind == WINDOW_STEADY || kind == WINDOW_WARM);
}

// Each run's own steady (or warm) part is compared; where one has none all of each is. Returns whether it is parts.
static bool align(struct runs sides[SIDES]) {
    bool any = false, all = true;
    for (int i = 0; i < SIDES; i++) {
        for (size_t r = 0; r < sides[i].count; r++) {
            any |= is_part(&sides[i].each[r]);
            all &= is_part(&sides[i].each[r]);
        }
    }
    for (int i = 0; i < SIDES && any && !all; i++) {
        for (size_t r = 0; r < sides[i].count; r++) {
            struct analysis *analysis = &sides[i].each[r].analysis;
            if (is_part(&sides[i].each[r]))
                window_choose_all(&analysis->window, &analysis->choice,
                                  "the run that it is compared with has no such part");
        }
    }
    return any && all;
}

static bool measure_runs(struct runs *runs, struct arena *arena, struct error *error) {
    bool ok = true;
    const uint32_t *loads = ARENA_NEW(arena, uint32_t, runs->count + 1); // all of one
    if (!loads) return error_set(error, STATUS_FAILED, "no memory for %zu runs", runs->count);
    for (size_t r = 0; r < runs->count && ok; r++)
        ok = analysis_measure(&runs->each[r].analysis, &runs->each[r].metrics, error);
    if (!ok || runs->count == 0) return ok;
    runs->chosen = runs_median_run(runs->metrics, loads, runs->count, 0);
    return runs_median(runs->metrics, runs->count, &runs->median, error) &&
           noises_of(runs->metrics, runs->count, &runs->noises, error);
}

static bool measure(struct runs sides[SIDES], struct arena *arena, struct error *error) {
    bool ok = true;
    for (int i = 0; i < SIDES && ok; i++) ok = measure_runs(&sides[i], arena, error);
    return ok;
}

static bool write_verdict(const struct comparison *c, struct error *error) {
    static const struct table_column columns[] = {{NULL, TABLE_LEFT}, {NULL, TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    table_add(&table, "composite error");
    table_add(&table, text_percent(c->composite_error).s);
    table_add(&table, "profile distance");
    table_add(&table, text_percent(c->profile_distance).s);
    if (options.base.count) {
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

static void write_charts(const struct runs *estimated, const struct runs *actual) {
    struct chart charts[2];
    analysis_chart(analysis_of(estimated), "estimated", estimated->metrics[estimated->chosen], &charts[0]);
    analysis_chart(analysis_of(actual), "actual", actual->metrics[actual->chosen], &charts[1]);
    double top = chart_top(charts, 2);
    for (int i = 0; i < 2; i++) {
        putchar('\n');
        chart_write(&charts[i], top, stdout, terminal_look(stdout));
    }
}

static void write_legend(const struct runs *actual) {
    const char *caveat = noise_caveat(actual->count);
    look_printf(
        stdout, terminal_look(stdout), 2,
        "  (actual: medians of %zu runs; noise: how far these may be off from run to run, 95 %%. An error within it "
        "is none that these runs tell; so many more of them would.%s%s)",
        actual->count, *caveat ? " " : "", caveat);
}

static bool write_figures(const struct runs sides[SIDES], const struct comparison *c, struct error *error) {
    const enum metrics_text_last last = c->parts ? LAST_ERROR_OF_PARTS : LAST_ERROR;
    const struct runs *estimated = &sides[ESTIMATED], *actual = &sides[ACTUAL];
    const struct metrics_text_run two[2] = {{"estimated", &estimated->median}, {"actual", &actual->median}};
    const unsigned look = terminal_look(stdout);
    if (actual->count == 1) return metrics_text_write_two(two, last, stdout, look, error);
    if (!metrics_text_write_actual_runs(&estimated->median, actual->metrics, actual->count, last, stdout, look, error))
        return false;
    write_legend(actual);
    return true;
}

static bool write_text(const struct runs sides[SIDES], const struct comparison *c, struct error *error) {
    for (int i = 0; i < SIDES; i++) {
        for (size_t r = 0; r < sides[i].count; r++) analysis_write_window(&sides[i].each[r].analysis, true);
    }
    write_answer(c);
    if (!write_figures(sides, c, error)) return false;
    putchar('\n');
    if (!write_verdict(c, error)) return false;
    write_charts(&sides[ESTIMATED], &sides[ACTUAL]);
    return true;
}

static cJSON *json_paths(const struct runs *runs) {
    cJSON *array = cJSON_CreateArray();
    for (size_t r = 0; r < runs->count; r++) cJSON_AddItemToArray(array, json_text(runs->each[r].analysis.trace->path));
    return array;
}

static cJSON *json_runs(const struct runs sides[SIDES]) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "actual", json_paths(&sides[ACTUAL]));
    cJSON_AddItemToObject(object, "base", json_paths(&sides[BASE]));
    return object;
}

static bool write_json(const struct runs sides[SIDES], const struct comparison *c, struct error *error) {
    const struct runs *actual = &sides[ACTUAL];
    cJSON *document = comparison_json(c, &sides[ESTIMATED].median, &actual->median);
    cJSON_AddItemToObject(document, "window", analysis_window_json(analysis_of(&sides[ESTIMATED])));
    cJSON_AddItemToObject(document, "actual_window", analysis_window_json(analysis_of(actual)));
    cJSON_AddItemToObject(document, "runs", json_runs(sides));
    struct noises estimated;
    noises_fixed(&sides[ESTIMATED].median, actual->count, &estimated);
    cJSON_AddItemToObject(document, "noise",
                          actual->count > 1 ? noise_json(&actual->noises, &estimated) : cJSON_CreateNull());
    return json_write(document, stdout, error);
}

static bool open_sides(struct runs sides[SIDES], const struct operands *operands, struct arena *arena,
                       struct error *error) {
    const char *const *paths = (const char *const *)operands->items;
    return open_runs(&sides[ESTIMATED], paths, 1, options.request, arena, error) &&
           open_runs(&sides[ACTUAL], paths + 1, operands->count - 1, options.request, arena, error) &&
           open_runs(&sides[BASE], options.base.items, options.base.count, NULL, arena, error);
}

static bool compare(struct runs sides[SIDES], const struct operands *operands, struct arena *arena,
                    struct error *error) {
    struct comparison comparison;
    if (!open_sides(sides, operands, arena, error)) return false;
    const bool parts = align(sides);
    if (!measure(sides, arena, error)) return false;
    progress_end();
    warn_of_loads(&sides[ACTUAL]);
    warn_of_loads(&sides[BASE]);
    comparison_compute(&sides[ESTIMATED].median, &sides[ACTUAL].median, sides[BASE].count ? &sides[BASE].median : NULL,
                       parts, &analysis_of(&sides[ESTIMATED])->estimator.work.series,
                       &analysis_of(&sides[ACTUAL])->estimator.work.series, &comparison);
    return options.json ? write_json(sides, &comparison, error) : write_text(sides, &comparison, error);
}

static int run(const struct operands *operands, struct error *error) {
    struct runs sides[SIDES] = {0};
    struct arena arena = ARENA_INIT;
    compare(sides, operands, &arena, error);
    for (int i = 0; i < SIDES; i++) {
        for (size_t r = 0; r < sides[i].count; r++) analysis_close(&sides[i].each[r].analysis);
    }
    arena_destroy(&arena);
    return (int)error->status;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "how far an estimate was from what happened",
    .usage = "ESTIMATED ACTUAL... [--base TRACE]... [--window FROM..TO] [--keep-tracer-cost] [--request SITE] [--wide] "
             "[--json]",
    .about = "Shows the metrics of two runs side by side with the error of each, the error of the composite, and the\n"
             "distance between their concurrency profiles: the area between them over the area under the actual one.\n"
             "Of services the steady part of each is taken, and rates and what a request costs are compared.\n"
             "Several runs of ACTUAL, or of --base, are repetitions: medians are compared, and beside each stands what "
             "it\n"
             "may be off by from run to run.",
    .example = "  rehype compare estimated.msgpack actual.msgpack --base trace.msgpack\n"
               "  rehype compare estimated.msgpack actual-run*.msgpack",
    .options = specs,
    .operands_least = 2,
    .operands_most = SIZE_MAX,
    .run = run,
};
