// SPDX-License-Identifier: GPL-3.0-or-later
// rehype metrics: the figures of one run, where its threads wait, and what its actors do.
#include "cli/commands.h"
#include "cli/findings.h"
#include "cli/metrics_csv.h"
#include "cli/metrics_several.h"
#include "cli/terminal.h"
#include "optimize/warn_pools.h"
#include "optimize/warn_resources.h"
#include "report/actors_text.h"
#include "report/calling_text.h"
#include "report/calls_text.h"
#include "report/endpoints_text.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    WAITS_SHOWN = 20,
    RESOURCES_SHOWN = 20,
    LATENESS_SHOWN = 20,
    BYTECODES_SHOWN = 20,
    CALLING_SITES_SHOWN = 10,
    ACTORS_SHOWN = 20,
    ENDPOINTS_SHOWN = 20,
    ENDPOINTS_IN_DETAIL = 8
};

static struct {
    bool json, csv, keep_tracer_cost, actors;
    const char *window, *request, *slice, *trigger, *update;
    struct text_list paths;
} options;

static const struct option_spec specs[] = {
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_TRACER_OPTION(&options.keep_tracer_cost),
    ANALYSIS_REQUEST_OPTION(&options.request),
    {"--actors", 0, OPTION_FLAG, &options.actors, NULL, "only actors and their messages"},
    {"--path", 0, OPTION_LIST, &options.paths, "PATH",
     "latency along 'Actor:Message > Actor:Message' (the heaviest cascades); repeat for several"},
    {"--slice", 0, OPTION_TEXT, &options.slice, "MS", "figures of messages also in time slices, in milliseconds"},
    {"--trigger", 0, OPTION_TEXT, &options.trigger, "PATTERN",
     "'Actor:Message' that triggers an actor: how often, and what time goes to other messages"},
    {"--update", 0, OPTION_TEXT, &options.update, "PATTERN",
     "'Actor:Message' that brings a triggered actor up to date: how often it is whole"},
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.metrics/1)"},
    {"--csv", 0, OPTION_FLAG, &options.csv, NULL,
     "names, then a row for the run and for each endpoint; with --actors by actor and message type"},
    {0},
};

static void write_tracer_cost(const struct dag *dag, unsigned look) {
    const struct dag_tracer_cost *tracer = &dag->tracer;
    if (tracer->recorded_ns) {
        putchar('\n');
        look_printf(stdout, look, 4,
                    "  without the tracer's own cost: %s of threads' time, by which the run of %s got %s shorter",
                    text_duration((double)tracer->taken_ns).s, text_duration((double)tracer->recorded_wall_ns).s,
                    text_duration((double)(tracer->recorded_wall_ns - (dag->last_ns - dag->first_ns))).s);
    } else if (tracer->edge_ns) {
        puts("\n  with the tracer's own cost, which was kept");
    }
}

static bool asks_of_actors(void) {
    return options.actors || options.paths.count || options.slice || options.trigger || options.update;
}

static void write_actors_answer(const struct actor_findings *actors, unsigned look) {
    if (!actors->any) return;
    putchar('\n');
    actors_text_write_answer(actors, stdout, look);
    puts("  --actors tells more");
}

static void write_heading(const char *text, unsigned look) {
    putchar('\n');
    look_heading(stdout, look, text);
}

static bool write_calls(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls,
                        unsigned look, struct error *error) {
    calls_text_write_missing(dag, endpoints, ENDPOINTS_IN_DETAIL, stdout);
    if (calls->count == 0) return true;
    write_heading("where requests sleep, by recorded function", look);
    if (!calls_text_write(dag, endpoints, calls, ENDPOINTS_IN_DETAIL, stdout, look, error)) return false;
    if (!calls_text_has_sequences(endpoints, calls, ENDPOINTS_IN_DETAIL)) return true;
    write_heading("calls that sleep one after the other", look);
    calls_text_write_sequences(dag, endpoints, calls, ENDPOINTS_IN_DETAIL, stdout, look);
    return true;
}

static bool write_endpoints(const struct dag *dag, const struct findings *findings, unsigned look,
                            struct error *error) {
    const struct endpoints *endpoints = &findings->endpoints;
    if (endpoints->count == 0) return true;
    look_heading(stdout, look, "endpoints, by the time that all their requests take");
    if (!endpoints_text_write(dag, endpoints, ENDPOINTS_SHOWN, stdout, look, error)) return false;
    write_heading("where the time of a request goes", look);
    if (!endpoints_text_write_causes(dag, endpoints, ENDPOINTS_IN_DETAIL, stdout, look, error)) return false;
    if (!write_calls(dag, endpoints, &findings->calls, look, error)) return false;
    write_heading("what requests hold", look);
    if (!endpoints_text_write_held(dag, endpoints, ENDPOINTS_IN_DETAIL, stdout, look, error)) return false;
    putchar('\n');
    return true;
}

static bool write_text(const struct analysis *analysis, const struct findings *findings, struct error *error) {
    struct chart chart;
    unsigned look = terminal_look(stdout);
    analysis_write_window(analysis, false);
    if (asks_of_actors()) return actors_text_write(&findings->actors, ACTORS_SHOWN, stdout, look, error);
    const struct wait_findings *waits = &findings->waits;
    endpoints_text_write_answer(analysis->dag, &findings->endpoints, stdout, look);
    metrics_text_write_answer(&findings->metrics, waits->site_count ? waits->sites : NULL, stdout, look);
    if (!write_endpoints(analysis->dag, findings, look, error)) return false;
    if (!metrics_text_write(&findings->metrics, stdout, look, error)) return false;
    write_tracer_cost(analysis->dag, look);
    write_actors_answer(&findings->actors, look);
    putchar('\n');
    analysis_chart(analysis, "concurrency profile", &findings->metrics, &chart);
    chart_write(&chart, chart_top(&chart, 1), stdout, look);
    if (findings->grain_count) {
        write_heading("tasks that are too fine or too coarse", look);
        if (!metrics_text_write_grain(analysis->dag, findings->grain, findings->grain_count, stdout, look, error))
            return false;
    }
    if (findings->bytecodes.counted) {
        write_heading("bytecodes that tasks executed", look);
        if (!metrics_text_write_bytecodes(analysis->dag, &findings->bytecodes, BYTECODES_SHOWN, stdout, look, error))
            return false;
    }
    if (findings->callings.site_count) {
        write_heading(
            "where tasks come from and how they are run (a sample of each site's; the JDK's frames are folded)", look);
        if (!calling_text_write(analysis->dag, &findings->callings, CALLING_SITES_SHOWN, stdout, look, error))
            return false;
    }
    if (findings->lateness_count) {
        write_heading("lateness: how long after they are due tasks begin", look);
        if (!metrics_text_write_lateness(analysis->dag, findings->lateness, findings->lateness_count, LATENESS_SHOWN,
                                         stdout, look, error))
            return false;
    }
    if (findings->stage_count) {
        write_heading("stages of pipelines", look);
        if (!metrics_text_write_stages(analysis->dag, findings->stages, findings->stage_count, stdout, look, error))
            return false;
    }
    if (findings->resource_count) {
        write_heading("what threads hold and wait for", look);
        if (!metrics_text_write_resources(findings->resources, findings->resource_count, RESOURCES_SHOWN, stdout, look,
                                          error))
            return false;
    }
    write_heading(waits->site_count ? "where threads wait" : "no waits", look);
    if (waits->site_count &&
        !metrics_text_write_waits(waits->sites, waits->site_count, WAITS_SHOWN, stdout, look, error))
        return false;
    if (waits->blocker_count == 0) return true;
    write_heading("what blocks threads", look);
    return metrics_text_write_blockers(waits->blockers, waits->blocker_count, WAITS_SHOWN, stdout, look, error);
}

static bool write_findings(const struct analysis *analysis, const char *path, const struct findings *findings,
                           struct error *error) {
    if (options.json) return json_write(findings_json(analysis, path, findings), stdout, error);
    if (!options.csv) return write_text(analysis, findings, error);
    if (asks_of_actors())
        metrics_csv_write_actors(path, &findings->actors, true);
    else
        metrics_csv_write(path, analysis->dag, &findings->metrics, &findings->endpoints, true);
    return true;
}

static bool read_questions(struct actor_questions *questions, struct error *error) {
    *questions = (struct actor_questions){.paths = options.paths.items,
                                          .path_count = options.paths.count,
                                          .trigger = options.trigger,
                                          .update = options.update};
    if (options.json && options.csv) return error_set(error, STATUS_USAGE, "--json and --csv exclude each other");
    if (!options.slice) return true;
    char *end;
    questions->slice_ms = strtod(options.slice, &end);
    if (*end == '\0' && end != options.slice && questions->slice_ms > 0 && isfinite(questions->slice_ms)) return true;
    return error_set(error, STATUS_USAGE, "--slice '%s' is no number of milliseconds", options.slice);
}

static int run_one(const char *path, const struct actor_questions *questions, struct error *error) {
    struct analysis analysis;
    struct findings findings = {0};
    struct arena arena = ARENA_INIT;
    if (!analysis_open(&analysis, path, options.window, options.keep_tracer_cost, error)) return (int)error->status;
    if (analysis_choose_requests(&analysis, options.request, error) &&
        findings_make(&analysis, questions, &arena, &findings, error) &&
        warn_of_halted_pools(&analysis.warnings, analysis.dag, error) &&
        warn_of_resources(&analysis.warnings, analysis.dag, error)) {
        analysis_warn(&analysis);
        write_findings(&analysis, path, &findings, error);
    }
    findings_destroy(&findings);
    arena_destroy(&arena);
    analysis_close(&analysis);
    return (int)error->status;
}

static int run(const struct operands *operands, struct error *error) {
    struct actor_questions questions;
    if (!read_questions(&questions, error)) return (int)error->status;
    if (operands->count == 1) return run_one(operands->items[0], &questions, error);
    const struct several_options several = {.window = options.window,
                                            .request = options.request,
                                            .keep_tracer_cost = options.keep_tracer_cost,
                                            .json = options.json,
                                            .csv = options.csv,
                                            .actors_alone = asks_of_actors(),
                                            .questions = questions};
    return metrics_several(operands, &several, error);
}

const struct command command_metrics = {
    .name = "metrics",
    .summary = "thread usage, tasks, and where threads wait",
    .usage = "TRACE... [--window FROM..TO] [--keep-tracer-cost] [--request SITE] [--actors] [--path PATH]... [--slice "
             "MS] [--trigger PATTERN [--update PATTERN]] [--wide] [--json | --csv]",
    .about =
        "Shows how many threads a run occupied and in which states, its tasks, and the sites where threads wait,\n"
        "longest first. 'occupied' is active + waiting; 'peak' is the mean over the busiest 1 % of the time.\n"
        "Requests are the tasks of the site that spawns most tasks outside of pools, or of --request SITE.\n"
        "Of actors: what they cost to make and compute, by type; their messages, by type, in time slices and along\n"
        "paths. PATTERNs are names with * and ?, of an actor's type, path or name, and of a message's class.\n"
        "Of several traces figures stand side by side, with what separates two, or what all come to.",
    .example = "  rehype metrics trace.msgpack --window 20%..100%",
    .options = specs,
    .operands_least = 1,
    .operands_most = SIZE_MAX,
    .run = run,
};
