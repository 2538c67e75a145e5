// SPDX-License-Identifier: GPL-3.0-or-later
// rehype export: a trace for other programs.
#include "report/export.h"

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "dag/graph.h"
#include "report/message_graph.h"

#include <string.h>

static struct {
    const char *to;
    bool messages;
} options;

static const struct option_spec specs[] = {
    {"--to", 0, OPTION_TEXT, &options.to, "FORMAT", "json, csv, graphml or dot"},
    {"--messages", 0, OPTION_FLAG, &options.messages, NULL, "of graphml: who sends whom what, as dot has it"},
    {0},
};

static bool write_json(const struct analysis *analysis, struct error *error) {
    return export_json(analysis->dag, stdout, error);
}

static bool write_csv(const struct analysis *analysis, struct error *error) {
    return export_csv(analysis->trace, stdout, error);
}

static bool write_messages(const struct analysis *analysis,
                           void (*write)(const struct message_graph *graph, FILE *file), struct error *error) {
    struct actor_log log = {0};
    struct message_graph graph;
    struct arena arena = ARENA_INIT;
    bool ok = actor_log_read(analysis->dag, &log, error) && message_graph_make(&log, &arena, &graph, error);
    if (ok) write(&graph, stdout);
    arena_destroy(&arena);
    actor_log_destroy(&log);
    return ok;
}

static bool write_dot(const struct analysis *analysis, struct error *error) {
    return write_messages(analysis, message_graph_write_dot, error);
}

static bool write_graphml(const struct analysis *analysis, struct error *error) {
    if (options.messages) return write_messages(analysis, message_graph_write_graphml, error);
    return graph_write_graphml(analysis->dag, &analysis->estimator.edit, stdout, error);
}

struct format {
    const char *name;
    bool (*write)(const struct analysis *analysis, struct error *error);
};

static const struct format formats[] = {
    {"json", write_json}, {"csv", write_csv}, {"graphml", write_graphml}, {"dot", write_dot}, {0}};

static const struct format *find_format(const char *name, struct error *error) {
    for (const struct format *format = formats; name && format->name; format++) {
        if (strcmp(format->name, name) == 0) return format;
    }
    if (!name)
        error_set(error, STATUS_USAGE, "--to is missing; there are: json, csv, graphml, dot");
    else
        error_set(error, STATUS_USAGE, "no format '%s'; there are: json, csv, graphml, dot", name);
    return NULL;
}

static int run(const struct operands *operands, struct error *error) {
    struct analysis analysis;
    const struct format *format = find_format(options.to, error);
    if (format && options.messages && format->write != write_graphml && format->write != write_dot)
        error_set(error, STATUS_USAGE, "--messages is of graphml and dot");
    if (!format || error->status != STATUS_OK) return (int)error->status;
    if (!analysis_open(&analysis, operands->items[0], NULL, true, error)) return (int)error->status;
    progress_end();
    format->write(&analysis, error);
    analysis_close(&analysis);
    return (int)error->status;
}

const struct command command_export = {
    .name = "export",
    .summary = "the events as JSON or CSV, the trace-DAG as GraphML, messages as a graph",
    .usage = "TRACE --to json|csv|graphml|dot [--messages]",
    .about =
        "Writes TRACE to standard output for other programs: json holds every table, task and event, csv one line an\n"
        "event with names resolved, graphml the trace-DAG with its thread edges and time edges, dot (and graphml with\n"
        "--messages) who sends whom what: actor types, and the messages between them, by type and how many.",
    .example = "  rehype export trace.msgpack --to csv > events.csv",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
