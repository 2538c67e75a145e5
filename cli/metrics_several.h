// SPDX-License-Identifier: GPL-3.0-or-later
// rehype metrics of several traces: their figures side by side.
#ifndef REHYPE_CLI_METRICS_SEVERAL_H
#define REHYPE_CLI_METRICS_SEVERAL_H

#include "cli/options.h"
#include "metrics/actor_findings.h"

struct several_options {
    const char *window, *request;
    bool keep_tracer_cost, json, csv;
    bool actors_alone; // with csv
    struct actor_questions questions;
};

// Returns the exit status; *error is set.
int metrics_several(const struct operands *operands, const struct several_options *options, struct error *error);

#endif
