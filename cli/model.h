// SPDX-License-Identifier: GPL-3.0-or-later
// --model, --cores and --rate: by what an estimate is made, and of what machine and load.
#ifndef REHYPE_CLI_MODEL_H
#define REHYPE_CLI_MODEL_H

#include "cli/analysis.h"

#define MODEL_OPTION(target)                                                                                           \
    {                                                                                                                  \
        "--model", 0, OPTION_TEXT, (target), "M",                                                                      \
            "dag: threads as recorded; pool: pools dispatch tasks again;\n"                                            \
            "cpu: that, and what computes shares the cores (default)"                                                  \
    }

#define WITHOUT_OPTION(target)                                                                                         \
    {                                                                                                                  \
        "--without", 0, OPTION_TEXT, (target), "NAME,...",                                                             \
            "leave out corrections of the model, to see what they bring: service-residuals,\n"                         \
            "other-load, first-use, amortised-costs, wake-transitions, queue-order,\n"                                 \
            "waking-costs, full-queue-slack, pace, garbage, all"                                                       \
    }

extern const char *const model_names[];

// Names with commas between them, "all", or NULL for none, as CORRECTION_BIT each. STATUS_USAGE for any other.
bool model_parse_without(const char *names, unsigned *without, struct error *error);

// NULL is the default. Others than there are: STATUS_USAGE, with those there are.
bool model_parse(const char *name, enum model_kind *kind, struct error *error);

// "2x": how many times as often, to model->rate; "400": how many a second, to model->load. STATUS_USAGE for what is no
// number above 0.
bool model_parse_rate(const char *text, struct model *model, struct error *error);

// "20ms", "1.5s", "300us". STATUS_USAGE for what is no time.
bool model_parse_think(const char *text, struct offered_load *load, struct error *error);

// The nearest to `wanted` that the trace has the measurements for, and that comes to an end when nothing is changed,
// with a warning where that is another one. The estimator's edit must be empty. Cost: a run of each that is tried.
bool model_choose(struct analysis *analysis, enum model_kind wanted, enum model_kind *kind, struct error *error);

#endif
