// SPDX-License-Identifier: GPL-3.0-or-later
// What the functions of core.h share: the one trace that is open, and its runs.
#ifndef REHYPE_REPORT_PAGE_CORE_STATE_H
#define REHYPE_REPORT_PAGE_CORE_STATE_H

#include "dag/idmap.h"
#include "metrics/actor_log.h"
#include "optimize/estimator.h"
#include "optimize/improvement.h"
#include "report/page/core.h"
#include "report/page/laid_spans.h"
#include "report/page/pixels.h"

enum { CORE_MESSAGE_BYTES = 4096, CORE_NAME_BYTES = 600 };

// Threads by state over a whole run, platform or virtual ones; no changes until asked for.
struct core_series {
    struct state_series series;
    bool known;
};

struct core {
    bool open;
    uint8_t *bytes;
    struct trace *trace;
    struct dag *dag;
    struct window window;
    struct estimator estimator;
    struct baseline baseline;
    struct metrics estimated;
    struct actor_log log; // read when a switch of actors comes, or an actor's name is asked for
    struct idmap named;   // ids of the log's actors, with their indices

    struct arena arena; // of the switches
    struct improvement *switches;
    uint32_t switch_count, switch_capacity;
    struct improvement *plan; // the switches that are on; none: PAGE_ESTIMATED is as replayed
    uint32_t plan_count;

    uint32_t stuck[DAG_DEADLOCK_TASKS]; // tasks of a plan that was stuck, the last one
    uint32_t stuck_count;
    bool starves;

    enum page_run simulated; // the run that the estimator has: replayed or estimated; PAGE_RUNS: neither
    struct lanes lanes[2];   // as recorded; of `simulated`
    bool has_lanes[2];
    struct laid_run laid[2]; // of these
    bool has_laid[2];
    struct metrics_work recorded_work; // of lanes[0]; of lanes[1] it is the estimator's
    struct core_series series[PAGE_RUNS][2];

    struct pixels pixels;
    double *profile;
    char *span; // text
    char name[CORE_NAME_BYTES];
    char message[CORE_MESSAGE_BYTES];
};

extern struct core page_core;

// Keeps an error's text as the message; false.
bool core_fail(struct core *core, const struct error *error);
bool core_say(struct core *core, const char *format, ...) __attribute__((format(printf, 2, 3))); // false

// The lanes of a run, made where they are not there, for which the run may have to be simulated anew. NULL, and the
// message says why.
const struct lanes *core_lanes(struct core *core, enum page_run run);

// Likewise with the lanes of resources and actors.
const struct laid_run *core_laid(struct core *core, enum page_run run);

// Reads the log of actors where that was not done.
bool core_read_log(struct core *core, struct error *error);

// Before the estimator gets another run: its lanes go.
void core_forget_run(struct core *core);

// Of PAGE_ESTIMATED and the estimator: what is kept of the run before.
void core_forget_estimated(struct core *core);

// Puts the plan, or nothing, into the estimator's edit.
bool core_apply(struct core *core, bool plan, struct error *error);

#endif
