// SPDX-License-Identifier: GPL-3.0-or-later
// rehype coverage: how much of the program was seen, and how many repetitions more of it needs. One trace is open at a
// time.
#include "metrics/coverage_find.h"

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/coverage_json.h"
#include "report/coverage_text.h"
#include "report/json.h"
#include "report/window_text.h"

#include <stdlib.h>
#include <string.h>

enum { WARNING_INDENT = 2 };

static struct {
    const char *unit, *share, *window;
    struct text_list whole, include, exclude;
    bool json;
} options;

static const struct option_spec specs[] = {
    {"--whole", 0, OPTION_LIST, &options.whole, "TRACE",
     "a recording with --include: its methods are the whole that\n"
     "shares are of; repeatable"},
    {"--unit", 0, OPTION_TEXT, &options.unit, "METHOD",
     "a repetition is a call of this method (com.acme.Main.step),\n"
     "not a trace"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    {"--share", 0, OPTION_TEXT, &options.share, "SHARE", "how much is to be seen: 0.8 or 80% (80%)"},
    {"--include", 0, OPTION_LIST, &options.include, "GLOB",
     "count methods of these classes (com.acme.*), or these methods\n"
     "of them (com.acme.*::get*); repeatable (those of the recording,\n"
     "or all but the JDK's)"},
    {"--exclude", 0, OPTION_LIST, &options.exclude, "GLOB", "leave these out again; repeatable"},
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.coverage/1)"},
    TERMINAL_WIDE_OPTION,
    {0},
};

static bool parse_share(const char *text, double *share, struct error *error) {
    char *end = NULL;
    *share = text ? strtod(text, &end) : 0.8;
    bool per_cent = end && *end == '%';
    if (per_cent) *share /= 100;
    if (!text || (end != text && end[per_cent] == '\0' && *share > 0 && *share < 1)) return true;
    return error_set(error, STATUS_USAGE, "--share %s: expected a share between 0 and 1, or a percentage below 100%%",
                     text);
}

// Without --window all of a trace counts, that of a service too, and no graph is built to look for a part.
static bool add_window(struct coverage *coverage, const struct trace *trace, cJSON *windows, struct error *error) {
    struct window window;
    struct window_choice choice;
    struct dag *dag = dag_build(trace, error);
    const bool ok = dag && window_choose(options.window, dag, &window, &choice, error) &&
                    coverage_add(coverage, trace, &window, error);
    if (ok) cJSON_AddItemToArray(windows, window_json(dag, &window, &choice));
    dag_free(dag);
    return ok;
}

static bool add(struct coverage *coverage, const char *path, bool whole, cJSON *windows, struct error *error) {
    progress_stage("reading the traces");
    struct trace *trace = trace_open(path, false, error);
    bool ok = trace;
    if (ok && whole)
        ok = coverage_add_whole(coverage, trace, error);
    else if (ok)
        ok = options.window ? add_window(coverage, trace, windows, error) : coverage_add(coverage, trace, NULL, error);
    trace_close(trace);
    return ok;
}

static bool add_all(struct coverage *coverage, const struct operands *operands, cJSON *windows, struct error *error) {
    bool ok = true;
    for (size_t i = 0; ok && i < operands->count; i++) ok = add(coverage, operands->items[i], false, windows, error);
    for (size_t i = 0; ok && i < options.whole.count; i++)
        ok = add(coverage, options.whole.items[i], true, windows, error);
    progress_end();
    return ok;
}

static bool write_json(const struct operands *operands, const struct coverage_found *found,
                       const struct coverage_forecast *wanted, const struct warnings *warnings, const cJSON *windows,
                       struct error *error) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.coverage/1"));
    cJSON_AddItemToObject(document, "traces", json_texts((const char *const *)operands->items, operands->count));
    cJSON_AddItemToObject(document, "whole", json_texts(options.whole.items, options.whole.count));
    cJSON_AddItemToObject(document, "unit", json_text(options.unit));
    cJSON_AddItemToObject(document, "windows", cJSON_Duplicate(windows, true));
    coverage_json_add(document, found, wanted, warnings);
    return json_write(document, stdout, error);
}

static bool show(struct coverage *coverage, const struct operands *operands, double share, struct warnings *warnings,
                 const cJSON *windows, struct error *error) {
    struct coverage_found found;
    if (!coverage_find(coverage, &found, error)) return false;
    const struct coverage_forecast wanted = coverage_forecast(&found, share);
    if (!coverage_warn(warnings, &found, &wanted, error)) return false;
    for (size_t i = 0; i < warnings->count; i++)
        look_lead(stderr, terminal_look(stderr), TONE_WARNING, "rehype: warning: ", WARNING_INDENT, warnings->texts[i]);
    if (options.json) return write_json(operands, &found, &wanted, warnings, windows, error);
    return coverage_text_write(&found, &wanted, stdout, terminal_look(stdout), error);
}

static int run(const struct operands *operands, struct error *error) {
    const struct coverage_rules rules = {.globs = {.include = options.include.items,
                                                   .exclude = options.exclude.items,
                                                   .include_count = options.include.count,
                                                   .exclude_count = options.exclude.count},
                                         .unit = options.unit};
    struct arena arena = ARENA_INIT;
    struct warnings warnings = {.arena = &arena};
    double share;
    struct coverage *coverage = parse_share(options.share, &share, error) ? coverage_new(&rules, error) : NULL;
    cJSON *windows = cJSON_CreateArray();
    if (coverage && add_all(coverage, operands, windows, error))
        show(coverage, operands, share, &warnings, windows, error);
    cJSON_Delete(windows);
    coverage_free(coverage);
    arena_destroy(&arena);
    return (int)error->status;
}

const struct command command_coverage = {
    .name = "coverage",
    .summary = "how much of the program sampled stacks have seen",
    .usage = "TRACE... [--whole TRACE]... [--unit METHOD] [--window FROM..TO] "
             "[--share SHARE] [--include GLOB]... [--exclude GLOB]... [--json] [--wide]",
    .about = "Says what share of the program's methods the stacks of recordings with --sample have seen,\n"
             "how that grows with repetitions, and how many of them a wanted share needs, by a logarithm\n"
             "and by a curve that levels off. A repetition is a trace, or with --unit a call of that method.\n"
             "The whole that shares are of comes from --whole, or else is estimated from how many methods\n"
             "were seen once and twice.",
    .example = "  rehype record --include 'com.acme.*' -o whole.msgpack -- java -jar app.jar\n"
               "  rehype record --sample 100 --include 'com.acme.*' -o run%p.msgpack -- java -jar app.jar\n"
               "  rehype coverage run*.msgpack --whole whole.msgpack",
    .options = specs,
    .operands_least = 1,
    .operands_most = SIZE_MAX,
    .run = run,
};
