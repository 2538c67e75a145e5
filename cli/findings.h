// SPDX-License-Identifier: GPL-3.0-or-later
// All that is told of one recorded run, beside what could be changed: what `metrics` prints and the page shows.
#ifndef REHYPE_CLI_FINDINGS_H
#define REHYPE_CLI_FINDINGS_H

#include "cli/analysis.h"
#include "metrics/actor_findings.h"
#include "metrics/bytecodes.h"
#include "metrics/calling_contexts.h"
#include "metrics/calls.h"
#include "metrics/endpoints.h"
#include "metrics/grain.h"
#include "metrics/pipeline.h"

#include <cjson/cJSON.h>

struct findings {
    struct metrics metrics;
    struct wait_findings waits;
    struct resource_use *resources;
    size_t resource_count;
    struct lateness *lateness; // NULL: the trace tells none
    size_t lateness_count;
    struct pipeline_stage *stages; // of pipelines
    size_t stage_count;
    struct grain_group *grain; // sites
    size_t grain_count;
    struct bytecodes bytecodes;
    struct calling_contexts callings;
    struct actor_findings actors;
    struct endpoints endpoints;
    struct calls calls; // of their requests
};

// Finds all of it, in the window; what it names is the arena's and the analysis'. The estimator's edit must be empty.
// findings_destroy in any case. Errors: as of metrics_compute; STATUS_USAGE for a pattern of `questions` that fits
// nothing.
bool findings_make(struct analysis *analysis, const struct actor_questions *questions, struct arena *arena,
                   struct findings *findings, struct error *error);
void findings_destroy(struct findings *findings);

// The whole rehype.metrics/1 document; `path` is the trace's name in it.
cJSON *findings_json(const struct analysis *analysis, const char *path, const struct findings *findings);

#endif
