// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics as text tables.
#ifndef REHYPE_REPORT_METRICS_TEXT_H
#define REHYPE_REPORT_METRICS_TEXT_H

#include "metrics/bytecodes.h"
#include "metrics/grain.h"
#include "metrics/interval.h"
#include "metrics/lateness.h"
#include "metrics/metrics.h"
#include "metrics/pipeline.h"
#include "metrics/resources.h"
#include "metrics/runs.h"
#include "report/text.h"

#include <stdio.h>

// One run: threads by state, then the rest; its requests, where there are any.
// What medians of several runs may be off by; NULLs of single runs. look: of noise_text.
struct text_noises {
    const struct noises *before, *after;
    unsigned look;
};

// "1.95 s ±12.0 ms -> 290 ms ±3.10 ms"; digits as of noise_behind.
struct text_pair {
    char s[4 * sizeof(struct text) + sizeof " -> "];
};
struct text_pair text_from_to(double before, double after, const struct text_noises *noises, enum run_figure figure,
                              int digits);

// "wall 1.95 s -> 290 ms (-85.1 %), occupied threads 9.0 -> 104.2 (peak), 8.76 -> 57.55 (mean)"; returns text. Of
// several runs each figure has its noise behind it.
const char *metrics_text_change(const struct metrics *before, const struct metrics *after,
                                const struct text_noises *noises, char *text, size_t size);

// The answer, in two sentences and an empty line. `most`: where threads wait most, or NULL.
void metrics_text_write_answer(const struct metrics *metrics, const struct wait_site *most, FILE *file, unsigned look);

bool metrics_text_write(const struct metrics *metrics, FILE *file, unsigned look, struct error *error);

// Two runs side by side, a row a metric, with what separates them. Requests where both have those of one site.
enum metrics_text_last {
    LAST_CHANGE,         // from the first to the second
    LAST_ERROR,          // of the first, an estimate, against the second
    LAST_ERROR_OF_PARTS, // that are not of one length: none of totals, but of what a request costs
};
struct metrics_text_run {
    const char *heading;
    const struct metrics *metrics;
};
bool metrics_text_write_two(const struct metrics_text_run runs[2], enum metrics_text_last last, FILE *file,
                            unsigned look, struct error *error);

// The same of several runs of one load, as recorded and as estimated: medians, how far these may be off from run to
// run, and which changes are within that. At least two.
struct metrics_text_runs {
    const struct metrics *const *before, *const *after; // a run each
    size_t count;
};
bool metrics_text_write_runs(const struct metrics_text_runs *runs, FILE *file, unsigned look, struct error *error);

// An estimate against the medians of several runs of what was really changed: how far each of these may be off, the
// error, and whether it is within that. last: LAST_ERROR or LAST_ERROR_OF_PARTS.
bool metrics_text_write_actual_runs(const struct metrics *estimated, const struct metrics *const *runs, size_t count,
                                    enum metrics_text_last last, FILE *file, unsigned look, struct error *error);

// Between what limits an estimate's figures lie; those that are known, and where replicates could not end, how many
// did.
bool metrics_text_write_intervals(const struct intervals *intervals, FILE *file, unsigned look, struct error *error);

// Sites whose tasks are too fine or too coarse, with what tells so.
bool metrics_text_write_grain(const struct dag *dag, const struct grain_group *groups, size_t count, FILE *file,
                              unsigned look, struct error *error);

// How many bytecodes tasks executed, all of them in the first row, then by site; at most `most` sites, and a line that
// says how many more there are.
bool metrics_text_write_bytecodes(const struct dag *dag, const struct bytecodes *bytecodes, size_t most, FILE *file,
                                  unsigned look, struct error *error);

// Where threads wait; at most `most` rows, and a line that says how many more there are.
bool metrics_text_write_waits(const struct wait_site *waits, size_t count, size_t most, FILE *file, unsigned look,
                              struct error *error);

// How late delayed and periodic tasks begin, by site, in the same way.
bool metrics_text_write_lateness(const struct dag *dag, const struct lateness *found, size_t count, size_t most,
                                 FILE *file, unsigned look, struct error *error);

// Stages of pipelines, all of them.
bool metrics_text_write_stages(const struct dag *dag, const struct pipeline_stage *stages, size_t count, FILE *file,
                               unsigned look, struct error *error);

// The resources that were waited for, which come first, in the same way.
bool metrics_text_write_resources(const struct resource_use *uses, size_t count, size_t most, FILE *file, unsigned look,
                                  struct error *error);

// The same of what blocks them.
bool metrics_text_write_blockers(const struct blocker *blockers, size_t count, size_t most, FILE *file, unsigned look,
                                 struct error *error);

#endif
