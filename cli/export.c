// SPDX-License-Identifier: GPL-3.0-or-later
// rehype export: a trace, or suggestions, for other programs.
#include "report/export.h"

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "report/chrome.h"
#include "report/collapsed.h"
#include "report/message_graph.h"
#include "report/perfetto.h"
#include "report/sampled_stacks.h"
#include "report/sarif.h"
#include "report/site_graph.h"
#include "report/speedscope.h"
#include "report/trace_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *to, *window, *beside, *sources;
    bool messages, keep_tracer_cost, sampled;
} options;

static const struct option_spec specs[] = {
    {"--to", 0, OPTION_TEXT, &options.to, "FORMAT",
     "perfetto, chrome, speedscope, collapsed, graphml, dot, csv or json;\n"
     "sarif of suggestions"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    {"--beside", 0, OPTION_TEXT, &options.beside, "TRACE",
     "of perfetto and chrome: a second run in the same file, such as an\n"
     "estimate"},
    {"--keep-tracer-cost", 0, OPTION_FLAG, &options.keep_tracer_cost, NULL,
     "of perfetto, chrome, speedscope and collapsed: times as recorded, with\n"
     "what the tracer itself cost left in; the other formats always have it"},
    {"--sampled", 0, OPTION_FLAG, &options.sampled, NULL,
     "of collapsed: the stacks that record --sample took, and how often each was\n"
     "seen"},
    {"--messages", 0, OPTION_FLAG, &options.messages, NULL,
     "of graphml and dot: the messages between actor types, which dot has anyway where\n"
     "the trace has messages"},
    {"--sources", 0, OPTION_TEXT, &options.sources, "DIR",
     "of sarif: folder of the sources, from the root of the repository on\n"
     "(src/main/java)"},
    {0},
};

// Exports are of all of the run, services too, unless a part is asked for.
static const char *window_option(void) {
    return options.window ? options.window : "..";
}

// ---- what happened, event by event

static bool write_json(const struct analysis *analysis, struct error *error) {
    return export_json(analysis->dag, &analysis->window, stdout, error);
}

static bool write_csv(const struct analysis *analysis, struct error *error) {
    return export_csv(analysis->trace, &analysis->window, stdout, error);
}

static bool write_messages(const struct analysis *analysis,
                           void (*write)(const struct message_graph *graph, FILE *file), struct error *error) {
    struct actor_log log = {0};
    struct message_graph graph;
    struct arena arena = ARENA_INIT;
    const struct window *window = options.window ? &analysis->window : NULL;
    bool ok = actor_log_read(analysis->dag, &log, error) && message_graph_make(&log, window, &arena, &graph, error);
    if (ok) write(&graph, stdout);
    arena_destroy(&arena);
    actor_log_destroy(&log);
    return ok;
}

static bool write_graphml(const struct analysis *analysis, struct error *error) {
    if (options.messages) return write_messages(analysis, message_graph_write_graphml, error);
    trace_graph_write(analysis->dag, &analysis->window, stdout);
    return true;
}

// ---- what threads were in, as the metrics count it

static bool write_timeline(const struct analysis *analysis,
                           bool (*write)(const struct timeline *timeline, FILE *file, struct error *error),
                           struct error *error) {
    struct timeline timeline;
    bool ok = timeline_init(&timeline, analysis->dag, &analysis->window, error) && write(&timeline, stdout, error);
    timeline_destroy(&timeline);
    return ok;
}

static bool write_speedscope(const struct analysis *analysis, struct error *error) {
    return write_timeline(analysis, speedscope_write, error);
}

// Of actors their messages; where there are none, the sites of tasks.
static bool write_dot(const struct analysis *analysis, struct error *error) {
    if (options.messages || !actor_log_is_empty(analysis->trace))
        return write_messages(analysis, message_graph_write_dot, error);
    return write_timeline(analysis, site_graph_write_dot, error);
}

static bool write_collapsed(const struct analysis *analysis, struct error *error) {
    if (options.sampled) return sampled_stacks_write(analysis->trace, &analysis->window, stdout, error);
    return write_timeline(analysis, collapsed_write, error);
}

typedef bool write_runs(const struct beside *runs, size_t count, FILE *file, struct error *error);

// One run, or two with --beside.
static bool write_beside(const struct analysis *first, const struct analysis *second, write_runs *write,
                         struct error *error) {
    struct timeline timelines[2] = {{0}, {0}};
    struct beside runs[2] = {{.timeline = &timelines[0]}, {.timeline = &timelines[1]}};
    const size_t count = second ? 2 : 1;
    bool ok = timeline_init(&timelines[0], first->dag, &first->window, error) &&
              (!second || timeline_init(&timelines[1], second->dag, &second->window, error));
    if (ok) {
        beside_number(runs, count);
        ok = write(runs, count, stdout, error);
    }
    for (size_t i = 0; i < count; i++) timeline_destroy(&timelines[i]);
    return ok;
}

static bool write_processes(const struct analysis *analysis, write_runs *write, struct error *error) {
    struct analysis second;
    if (!options.beside) return write_beside(analysis, NULL, write, error);
    if (!analysis_open(&second, options.beside, window_option(), options.keep_tracer_cost, error)) return false;
    progress_end();
    bool ok = write_beside(analysis, &second, write, error);
    analysis_close(&second);
    return ok;
}

static bool write_perfetto(const struct analysis *analysis, struct error *error) {
    return write_processes(analysis, perfetto_write, error);
}

static bool write_chrome(const struct analysis *analysis, struct error *error) {
    return write_processes(analysis, chrome_write, error);
}

// ---- suggestions

// All of a file, or of standard input for "-", as a text; freed by the caller. NULL and *error: it cannot be read.
static char *read_text(const char *path, struct error *error) {
    char *text = NULL, part[65536];
    size_t size = 0;
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *from = is_stdin ? stdin : fopen(path, "r"), *memory = from ? open_memstream(&text, &size) : NULL;
    bool ok = memory != NULL;
    for (size_t got; ok && (got = fread(part, 1, sizeof part, from)) > 0;) ok = fwrite(part, 1, got, memory) == got;
    ok = ok && !ferror(from);
    if (!ok) error_set(error, STATUS_FAILED, "cannot read %s: %s", path, strerror(errno));
    if (from && !is_stdin) fclose(from);
    if (memory && fclose(memory) != 0 && ok) ok = error_set(error, STATUS_FAILED, "no memory for %s", path);
    if (ok) return text;
    free(text);
    return NULL;
}

static bool write_sarif(const char *path, struct error *error) {
    const struct sarif_names names = {REHYPE_VERSION, options.sources};
    char *text = read_text(path, error);
    if (!text) return false;
    cJSON *suggestions = cJSON_Parse(text);
    bool ok = suggestions ? sarif_write(suggestions, &names, stdout, error)
                          : error_set(error, STATUS_BAD_INPUT,
                                      "not JSON: --to sarif takes what `rehype suggest --json` writes");
    if (!ok) error_wrap(error, "%s", path);
    cJSON_Delete(suggestions);
    free(text);
    return ok;
}

// ---- the command

// What an option is of.
enum { WITH_WINDOW = 1, WITH_BESIDE = 2, WITH_COST = 4, WITH_MESSAGES = 8, WITH_SOURCES = 16, WITH_SAMPLED = 32 };

struct format {
    const char *name;
    bool (*write)(const struct analysis *analysis, struct error *error); // NULL: of suggestions
    unsigned with;
};

static const struct format formats[] = {
    {"perfetto", write_perfetto, WITH_WINDOW | WITH_BESIDE | WITH_COST},
    {"chrome", write_chrome, WITH_WINDOW | WITH_BESIDE | WITH_COST},
    {"speedscope", write_speedscope, WITH_WINDOW | WITH_COST},
    {"collapsed", write_collapsed, WITH_WINDOW | WITH_COST | WITH_SAMPLED},
    {"graphml", write_graphml, WITH_WINDOW | WITH_MESSAGES},
    {"dot", write_dot, WITH_WINDOW | WITH_MESSAGES},
    {"csv", write_csv, WITH_WINDOW},
    {"json", write_json, WITH_WINDOW},
    {"sarif", NULL, WITH_SOURCES},
    {0},
};

static const struct format *find_format(const char *name, struct error *error) {
    static const char there_are[] = "perfetto, chrome, speedscope, collapsed, graphml, dot, csv, json, sarif";
    for (const struct format *format = formats; name && format->name; format++) {
        if (strcmp(format->name, name) == 0) return format;
    }
    if (!name)
        error_set(error, STATUS_USAGE, "--to is missing; there are: %s", there_are);
    else
        error_set(error, STATUS_USAGE, "no format '%s'; there are: %s", name, there_are);
    return NULL;
}

// Whether each option that was given is of the format.
static bool check_options(const struct format *format, struct error *error) {
    const struct {
        bool given;
        unsigned with;
        const char *name, *of;
    } given[] = {
        {options.window, WITH_WINDOW, "--window", "traces; suggestions are of the window that suggest was given"},
        {options.beside, WITH_BESIDE, "--beside", "perfetto and chrome"},
        {options.keep_tracer_cost, WITH_COST, "--keep-tracer-cost", "perfetto, chrome, speedscope and collapsed"},
        {options.messages, WITH_MESSAGES, "--messages", "graphml and dot"},
        {options.sampled, WITH_SAMPLED, "--sampled", "collapsed"},
        {options.sources, WITH_SOURCES, "--sources", "sarif"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i].given && !(format->with & given[i].with))
            return error_set(error, STATUS_USAGE, "%s is of %s", given[i].name, given[i].of);
    }
    return true;
}

static int run(const struct operands *operands, struct error *error) {
    struct analysis analysis;
    const struct format *format = find_format(options.to, error);
    if (!format || !check_options(format, error)) return (int)error->status;
    if (!format->write) {
        write_sarif(operands->items[0], error);
        return (int)error->status;
    }
    // Stacks were taken at recorded times.
    const bool keep_tracer_cost = options.keep_tracer_cost || options.sampled || !(format->with & WITH_COST);
    if (!analysis_open(&analysis, operands->items[0], window_option(), keep_tracer_cost, error))
        return (int)error->status;
    progress_end();
    format->write(&analysis, error);
    analysis_close(&analysis);
    return (int)error->status;
}

const struct command command_export = {
    .name = "export",
    .summary = "a trace for Perfetto, speedscope and others; suggestions as SARIF",
    .usage = "TRACE --to FORMAT [--window FROM..TO] [--beside TRACE] [--keep-tracer-cost] [--sampled] [--messages]\n"
             "SUGGESTIONS --to sarif [--sources DIR]",
    .about = "Writes TRACE, recorded or estimated, to standard output for other programs:\n"
             "  perfetto    what each thread was in, with arrows and counters, for ui.perfetto.dev\n"
             "  chrome      the same as JSON, for chrome://tracing and others that read its trace events\n"
             "  speedscope  what each thread was in, in order of time, for speedscope\n"
             "  collapsed   the same added up by stack, in ns, for flamegraph.pl and others; with --sampled\n"
             "              the stacks that were sampled\n"
             "  graphml     the trace-DAG with its thread edges and time edges\n"
             "  dot         which spawn sites spawn and await which, for Graphviz; of actors (and graphml with\n"
             "              --messages) who sends whom what: types, and the messages between them, by type\n"
             "  csv         a line an event, names resolved\n"
             "  json        every table, task and event\n"
             "SUGGESTIONS is what `rehype suggest --json` writes, or - for standard input; --to sarif makes it\n"
             "SARIF 2.1.0, by which tools for code review show each suggestion at its source line.",
    .example = "  rehype export trace.msgpack --to perfetto > trace.pftrace\n"
               "  rehype export trace.msgpack --beside estimated.msgpack --to perfetto > both.pftrace\n"
               "  rehype suggest trace.msgpack --json | rehype export - --to sarif > rehype.sarif",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
