// SPDX-License-Identifier: GPL-3.0-or-later
// rehype export: a trace for other programs.
#include "report/export.h"

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "dag/graph.h"

#include <string.h>

static struct { const char *to; } options;

static const struct option_spec specs[] = {
    {"--to", 0, OPTION_TEXT, &options.to, "FORMAT", "json, csv or graphml"},
    {0},
};

static bool write_json(const struct analysis *analysis, struct error *error) {
    return export_json(analysis->dag, stdout, error);
}

static bool write_csv(const struct analysis *analysis, struct error *error) {
    return export_csv(analysis->trace, stdout, error);
}

static bool write_graphml(const struct analysis *analysis, struct error *error) {
    return graph_write_graphml(analysis->dag, &analysis->estimator.edit, stdout, error);
}

struct format {
    const char *name;
    bool (*write)(const struct analysis *analysis, struct error *error);
};

static const struct format formats[] = {{"json", write_json}, {"csv", write_csv}, {"graphml", write_graphml}, {0}};

static const struct format *find_format(const char *name, struct error *error) {
    for (const struct format *format = formats; name && format->name; format++) {
        if (strcmp(format->name, name) == 0) return format;
    }
    if (!name)
        error_set(error, STATUS_USAGE, "--to is missing; there are: json, csv, graphml");
    else
        error_set(error, STATUS_USAGE, "no format '%s'; there are: json, csv, graphml", name);
    return NULL;
}

static int run(const struct operands *operands, struct error *error) {
    struct analysis analysis;
    const struct format *format = find_format(options.to, error);
    if (!format || !analysis_open(&analysis, operands->items[0], NULL, true, error)) return (int)error->status;
    progress_end();
    format->write(&analysis, error);
    analysis_close(&analysis);
    return (int)error->status;
}

const struct command command_export = {
    .name = "export",
    .summary = "the events as JSON or CSV, the trace-DAG as GraphML",
    .usage = "TRACE --to json|csv|graphml",
    .about =
        "Writes TRACE to standard output for other programs: json holds every table, task and event, csv one line an\n"
        "event with names resolved, graphml the trace-DAG with its thread edges and time edges.",
    .example = "  rehype export trace.msgpack --to csv > events.csv",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
