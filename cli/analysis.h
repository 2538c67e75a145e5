// SPDX-License-Identifier: GPL-3.0-or-later
// A trace opened for analysis: the trace, its DAG, the window, and what estimates it under an edit (empty at first).
#ifndef REHYPE_CLI_ANALYSIS_H
#define REHYPE_CLI_ANALYSIS_H

#include "metrics/window.h"
#include "optimize/estimator.h"
#include "optimize/warnings.h"
#include "report/chart.h"

#include <cjson/cJSON.h>

#define ANALYSIS_WINDOW_OPTION(target)                                                                                 \
    {                                                                                                                  \
        "--window", 0, OPTION_TEXT, (target), "FROM..TO",                                                              \
            "only this part of the run: seconds (0.5..2), per cent (10%..90%), calls\n"                                \
            "of a traced method (Main.step#3..Main.step#8), steady (of services the\n"                                 \
            "default), or warm"                                                                                        \
    }

#define ANALYSIS_REQUEST_OPTION(target)                                                                                \
    {                                                                                                                  \
        "--request", 0, OPTION_TEXT, (target), "SITE",                                                                 \
            "the site whose tasks are requests: Class.method[:LINE] (the outermost)"                                   \
    }

#define ANALYSIS_TRACER_OPTION(target)                                                                                 \
    {                                                                                                                  \
        "--keep-tracer-cost", 0, OPTION_FLAG, (target), NULL,                                                          \
            "times as recorded, with what the tracer itself cost left in"                                              \
    }

struct analysis {
    struct trace *trace;
    struct dag *dag;
    struct window window;
    struct window_choice choice; // and why
    struct estimator estimator;
    struct warnings warnings; // of the trace, when it is opened; callers add theirs
    size_t warned;            // of them, were written
    struct arena arena;       // of the warnings
};

// `window` as the user wrote it, or NULL (metrics/window.h). The tracer's own cost is taken out of the times unless it
// is to be kept, and the window is of what is left. Warnings go to stderr. On failure everything is released;
// analysis_close is harmless then.
bool analysis_open(struct analysis *analysis, const char *path, const char *window, bool keep_tracer_cost,
                   struct error *error);

// The same of a trace that is open, which becomes the analysis's; no warning is written, and no window looked for.
bool analysis_open_trace(struct analysis *analysis, struct trace *trace, struct error *error);

// Whose tasks are requests, as the user wrote it. NULL changes nothing. Errors are STATUS_USAGE and name the nearest.
bool analysis_choose_requests(struct analysis *analysis, const char *site, struct error *error);

// Writes which part of the run what follows is of, a line, where that was looked for; with the trace's name if there
// are others.
void analysis_write_window(const struct analysis *analysis, bool named);
cJSON *analysis_window_json(const struct analysis *analysis);

// All metrics of the run as recorded.
bool analysis_measure(struct analysis *analysis, struct metrics *metrics, struct error *error);

// All metrics of the run under the estimator's edit. One that deadlocks is STATUS_FAILED with its chain of sites.
bool analysis_estimate(struct analysis *analysis, const struct metrics *base, struct metrics *metrics,
                       struct error *error);

// The concurrency profile of the run that was measured last.
void analysis_chart(const struct analysis *analysis, const char *title, const struct metrics *metrics,
                    struct chart *chart);
void analysis_close(struct analysis *analysis);

// Writes to stderr what analysis->warnings holds and was not written yet.
void analysis_warn(struct analysis *analysis);

#endif
