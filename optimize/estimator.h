// SPDX-License-Identifier: GPL-3.0-or-later
// How a plan becomes numbers: (DAG, window, model, edit) -> outcome, metrics, trace. The one place that runs a model.
//
// What is compared with what. Three runs are measured:
//   recorded   the run as it was; METRICS `base` everywhere, and what `composite` and `balanced` are printed against.
//   replayed   the empty edit through the model, by the same code as any other. The null-replay error is how far it is
//              from `recorded`.
//   estimated  the edit through the model. Its figures are printed as the model gave them, never scaled, so that they
//              are those of the trace that `estimate` writes.
// All that is printed of a plan is against recorded: figures before and after, changes, sentences. Where `replayed` is
// off by more than the least noise, that is shown beside.
// What decides whether a plan pays (gain, requirements in per cent, R's filter) is estimated against replayed: both
// carry the model's own error, which so cancels. R's filter holds against recorded as well, so that no plan is listed
// whose printed figures contradict it. For ranking either base gives the same order. Model `dag` replays exactly, and
// there the two are one.
#ifndef REHYPE_OPTIMIZE_ESTIMATOR_H
#define REHYPE_OPTIMIZE_ESTIMATOR_H

#include "dag/simulate/simulate.h"
#include "metrics/actor_shares.h"
#include "metrics/interval.h"
#include "metrics/lateness.h"
#include "metrics/resources.h"

// What `model` asks for (cores, rate) is part of an estimate like the plan: the replay is without it.
struct estimator { // workspace, reused from plan to plan; not shared between threads
    const struct dag *dag;
    const struct window *window; // NULL: the whole run
    struct model model;          // callers may change it between runs; MODEL_DAG at first
    uint32_t request_site;       // whose tasks are requests; DAG_NONE: the outermost
    struct dag_edit edit;        // what to estimate: callers fill it; empty at first
    struct metrics_work work;    // `series` is of the run that was measured last
    struct costs *costs;
    struct actor_shares actor_shares;
    bool borrows_costs;            // costs and actor_shares are another's
    struct dag_run run;            // where dag_propagate knows model and edit, which it tells twenty times faster
    struct simulation *simulation; // else; made for the first such run
    bool keeps;     // the replay is kept, for runs under edits to begin at (simulation_keep): for a search; no at first
    bool simulated; // the last run
    struct replay { // whether it was a replay, which need not be run again, and by what
        bool ended;
        enum model_kind kind;
        unsigned without; // corrections
        bool kept;
    } replay;
    // Of estimator_intervals: replicates evaluated and left. May be NULL; by the calling thread.
    void (*progress)(void *context, uint64_t done, uint64_t left);
    void *progress_context;
};

// The DAG and the window must outlive it. estimator_destroy is harmless after a failure, and on zeros.
bool estimator_init(struct estimator *estimator, const struct dag *dag, const struct window *window,
                    struct error *error);

// For another thread: as `other` is, but with an empty edit. What `other` found out of the recording is both's, so it
// must outlive this, and may not be used meanwhile.
bool estimator_init_beside(struct estimator *estimator, const struct estimator *other, struct error *error);
void estimator_destroy(struct estimator *estimator);

// Times of the run under estimator->edit. false and *error when there is no memory, or the simulation does not re-enact
// what is asked for (STATUS_FAILED): groups, parts, stages and other rates. Else *stuck says whether the run could not
// end. Cost: dag_propagate's for inlining by MODEL_DAG, else simulation_run's.
bool estimator_run(struct estimator *estimator, bool *stuck, struct error *error);

// Of a run that was stuck: whether a pool has no worker left, or else tasks wait for each other; whether that is only
// so with the signals that were recorded, which others could give as well; what it would do by that ("starve"); and
// how, a step a line: "Main.a:12 waits for Main.b:20", "Main.b:20 waits for Main.a:12". The last one returns text.
bool estimator_starves(const struct estimator *estimator);
bool estimator_halts(const struct estimator *estimator);
const char *estimator_stuck_verb(const struct estimator *estimator);
char *estimator_stuck_text(const struct estimator *estimator, char *text, size_t size);

// Of such a run of a simulation: where a process waits for a result that was there when recorded, the one of these that
// was recorded first; DAG_NONE.
uint32_t estimator_stuck_at_taken(const struct estimator *estimator);

// The tasks of that chain, until the next run. Returns how many.
uint32_t estimator_stuck_tasks(const struct estimator *estimator, const uint32_t **tasks);

// Figures of the last run, which was not stuck: all of them, or with `all` false what metrics_usage gives. A base gives
// composite and balanced. Errors as of metrics_compute.
bool estimator_measure(struct estimator *estimator, const struct metrics *base, bool all, struct metrics *metrics,
                       struct error *error);

// What the run that was measured last, as recorded or as estimated, waited for and held (metrics/resources.h). In the
// arena.
bool estimator_resources(const struct estimator *estimator, bool recorded, struct arena *arena,
                         struct resource_use **uses, size_t *count, struct error *error);

// The same of how late delayed and periodic tasks begin (metrics/lateness.h).
bool estimator_lateness(const struct estimator *estimator, bool recorded, struct arena *arena, struct lateness **found,
                        size_t *count, struct error *error);

// All figures of the run as recorded, without a base.
bool estimator_measure_recorded(struct estimator *estimator, struct metrics *recorded, struct error *error);

// The null-replay error: largest difference between the wall, peaks and means of a run as recorded and as replayed, as
// a share of the larger, or of the occupied threads' peak or mean where a state has few threads: an instant more of one
// is no error of many.
struct replay_error {
    double share;
    char figure[40]; // in which it is: "wall", "peak of blocked threads"
};

// A smaller difference, as a share, means nothing, nor has a model to be truer (SPEC section 3).
#define LEAST_NOISE 0.005

// What estimates are compared with.
struct baseline {
    struct metrics recorded; // its own base
    struct metrics replayed; // against recorded
    struct replay_error replay_error;
    double noise; // LEAST_NOISE, or the null-replay error in what R's filter compares, wall and occupied threads
};

// The edit must be empty. `all` as of estimator_measure, for `replayed`. Errors: as of metrics_compute; STATUS_FAILED
// if the trace's own events wait for each other.
bool estimator_measure_baseline(struct estimator *estimator, bool all, struct baseline *baseline, struct error *error);

// What a run and its measurement cost, as expected of this model on a DAG of this size.
uint64_t estimator_cost_ns(const struct estimator *estimator);

// How many threads should do runs of that cost each: one for each CPU (base/hands.h), fewer, but two, of large DAGs, as
// each keeps a simulation.
uint32_t estimator_hands(uint64_t cost_ns);

// How much `estimate`, of this model and edit, owes to the accident of the recording (metrics/interval.h). As many
// replicates as take some seconds: at most 200, and of a large DAG 5. The last run, which was this one, is kept.
bool estimator_intervals(const struct estimator *estimator, const struct metrics *estimate, struct intervals *intervals,
                         struct error *error);

// The last run, which was not stuck, as a DAG of its own, until the next run. The edit must still be what it was. NULL
// and *error: no memory.
const struct dag *estimator_run_dag(struct estimator *estimator, struct error *error);

// Writes the last run, which was not stuck, as a trace (dag_write_run).
bool estimator_write(struct estimator *estimator, const char *path, struct error *error);

#endif
