// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/estimator.h"

#include "dag/propagate/deadlock.h"
#include "dag/simulate/stretches.h"
#include "dag/simulate/stuck.h"
#include "dag/write.h"
#include "metrics/metrics.h"
#include "metrics/requests.h"
#include "metrics/service.h"
#include "metrics/streamed.h"

#include <stdio.h>

enum { LEAST_REPLICATES = 5, MOST_REPLICATES = 200 };
#define INTERVAL_NS UINT64_C(6000000000) // expected, for all replicates, of one thread
#define ALONE_NS    UINT64_C(2000000)    // less is done before a second thread is there
#define AT_ONCE_NS                                                                                                     \
    UINT64_C(1200000000) // expected, for what is simulated at once, of four million vertices: it takes memory

bool estimator_init(struct estimator *estimator, const struct dag *dag, const struct window *window,
                    struct error *error) {
    *estimator = (struct estimator){.dag = dag, .window = window, .request_site = DAG_NONE};
    return dag_edit_init(&estimator->edit, dag, error) && dag_run_init(&estimator->run, dag, error) &&
           actor_shares_read(dag, &estimator->actor_shares, error) && (estimator->costs = costs_measure(dag, error));
}

bool estimator_init_beside(struct estimator *estimator, const struct estimator *other, struct error *error) {
    *estimator = (struct estimator){.dag = other->dag,
                                    .window = other->window,
                                    .model = other->model,
                                    .request_site = other->request_site,
                                    .actor_shares = other->actor_shares,
                                    .costs = other->costs,
                                    .borrows_costs = true};
    if (!dag_edit_init(&estimator->edit, other->dag, error) || !dag_run_init(&estimator->run, other->dag, error))
        return false;
    return !other->simulation || (estimator->simulation = simulation_new_beside(other->simulation, error));
}

void estimator_destroy(struct estimator *estimator) {
    metrics_work_destroy(&estimator->work);
    simulation_free(estimator->simulation);
    if (!estimator->borrows_costs) {
        costs_free(estimator->costs);
        actor_shares_destroy(&estimator->actor_shares);
    }
    dag_run_destroy(&estimator->run);
    dag_edit_destroy(&estimator->edit);
    *estimator = (struct estimator){0};
}

static bool asks_otherwise(const struct offered_load *load) {
    return load->per_s > 0 || load->clients || load->thinks;
}

static bool needs_simulation(const struct estimator *estimator) {
    const struct model *model = &estimator->model;
    return model->kind != MODEL_DAG || model->rate != 0 || asks_otherwise(&model->load) ||
           !dag_edit_only_inlines(&estimator->edit);
}

static bool is_replay(const struct estimator *estimator) {
    const struct model *model = &estimator->model;
    return dag_edit_is_empty(&estimator->edit) && model->cores == 0 && model->rate == 0 &&
           !asks_otherwise(&model->load);
}

static bool simulate(struct estimator *estimator, enum dag_outcome *outcome, struct error *error) {
    if (!estimator->simulation) estimator->simulation = simulation_new(estimator->dag, estimator->costs, error);
    if (!estimator->simulation) return false;
    const bool keeps = estimator->keeps && is_replay(estimator);
    *outcome = (keeps ? simulation_keep : simulation_run)(estimator->simulation, &estimator->edit, &estimator->model);
    return true;
}

bool estimator_run(struct estimator *estimator, bool *stuck, struct error *error) {
    enum dag_outcome outcome = DAG_DEADLOCK;
    estimator->simulated = needs_simulation(estimator);
    if (!estimator->simulated) {
        outcome = dag_propagate(estimator->dag, &estimator->edit, &estimator->run);
        estimator->simulated = outcome == DAG_DEADLOCK && dag_edit_sinks_any(estimator->dag, &estimator->edit);
    }
    if (estimator->simulated && !simulate(estimator, &outcome, error)) return false;
    *stuck = outcome == DAG_DEADLOCK;
    estimator->replay = (struct replay){outcome == DAG_OK && is_replay(estimator), estimator->model.kind,
                                        estimator->costs->without, estimator->keeps};
    return outcome != DAG_NO_MEMORY || error_set(error, STATUS_FAILED, "no memory for an estimate");
}

bool estimator_starves(const struct estimator *estimator) {
    return estimator->simulated && simulation_stuck(estimator->simulation)->pool != 0;
}

bool estimator_halts(const struct estimator *estimator) {
    return estimator->simulated && stuck_is_loose(simulation_stuck(estimator->simulation));
}

const char *estimator_stuck_verb(const struct estimator *estimator) {
    if (estimator_halts(estimator)) return "come to a halt";
    return estimator_starves(estimator) ? "starve" : "deadlock";
}

char *estimator_stuck_text(const struct estimator *estimator, char *text, size_t size) {
    if (estimator->simulated) return stuck_text(estimator->dag, simulation_stuck(estimator->simulation), text, size);
    return dag_deadlock_text(estimator->dag, &estimator->run, text, size);
}

uint32_t estimator_stuck_at_taken(const struct estimator *estimator) {
    return estimator->simulated ? simulation_stuck(estimator->simulation)->taken : DAG_NONE;
}

uint32_t estimator_stuck_tasks(const struct estimator *estimator, const uint32_t **tasks) {
    const struct stuck *stuck = estimator->simulated ? simulation_stuck(estimator->simulation) : NULL;
    *tasks = stuck ? stuck->tasks : estimator->run.deadlock;
    return stuck ? stuck->length : estimator->run.deadlock_length;
}

// Of the recorded DAG's vertices at other times, or at their own.
static bool measure_times(struct estimator *estimator, const struct dag_run *run, const struct metrics *base, bool all,
                          struct metrics *metrics, struct error *error) {
    if (!(all ? metrics_compute : metrics_usage)(estimator->dag, &estimator->edit, run, estimator->window, base,
                                                 &estimator->work, metrics, error)) {
        return false;
    }
    return !all || estimator->request_site == DAG_NONE ||
           metrics_requests(estimator->dag, &estimator->edit, run, estimator->window, estimator->request_site,
                            &estimator->work, &metrics->requests, error);
}

static bool measure_simulated(struct estimator *estimator, const struct metrics *base, bool all,
                              struct metrics *metrics, struct error *error) {
    bool known = false;
    if (!all && !metrics_of_simulation(estimator->simulation, estimator->window, base, &estimator->work, metrics,
                                       &known, error))
        return false;
    if (known) return true;
    const struct dag *run = simulation_dag(estimator->simulation);
    if (!run) return error_set(error, STATUS_FAILED, "no memory for an estimate");
    if (!metrics_of_run(run, all, estimator->window, base, &estimator->work, metrics, error)) return false;
    return !all || estimator->request_site == DAG_NONE ||
           metrics_requests_of_run(run, estimator->window, estimator->request_site, &estimator->work,
                                   &metrics->requests, error);
}

// Cheap enough for each plan of a search.
static bool measure_service(const struct estimator *estimator, struct metrics *metrics, struct error *error) {
    const int64_t *time_ns = estimator->simulated ? simulation_times(estimator->simulation) : estimator->run.time_ns;
    return service_figures(estimator->dag, time_ns, estimator->window, &metrics->requests) ||
           error_set(error, STATUS_FAILED, "no memory for requests");
}

bool estimator_measure(struct estimator *estimator, const struct metrics *base, bool all, struct metrics *metrics,
                       struct error *error) {
    bool ok = estimator->simulated ? measure_simulated(estimator, base, all, metrics, error)
                                   : measure_times(estimator, &estimator->run, base, all, metrics, error);
    if (ok && !all) ok = measure_service(estimator, metrics, error);
    if (!ok) return false;
    metrics->initialisation_share = actor_shares_under(&estimator->actor_shares, estimator->dag, &estimator->edit);
    const bool serves = metrics->requests.throughput_per_s > 0;
    if (base && (serves || !isnan(metrics->initialisation_share))) { // not known when these were worked out
        metrics->composite = metrics_composite(metrics, base);
        metrics->balanced = metrics_balanced(metrics, base);
    }
    return true;
}

// The run that was measured last, and the times of its vertices.
static const struct dag *measured_run(const struct estimator *estimator, bool recorded, const int64_t **time_ns) {
    const bool simulated = !recorded && estimator->simulated;
    const struct dag *run = simulated ? simulation_dag(estimator->simulation) : estimator->dag;
    *time_ns = simulated || recorded ? run->vertices.time_ns : estimator->run.time_ns;
    return run;
}

bool estimator_resources(const struct estimator *estimator, bool recorded, struct arena *arena,
                         struct resource_use **uses, size_t *count, struct error *error) {
    const struct window window = {estimator->work.series.from_ns, estimator->work.series.to_ns};
    const int64_t *time_ns;
    const struct dag *run = measured_run(estimator, recorded, &time_ns);
    return metrics_resources(run, time_ns, &window, arena, uses, count, error);
}

bool estimator_lateness(const struct estimator *estimator, bool recorded, struct arena *arena, struct lateness **found,
                        size_t *count, struct error *error) {
    const struct window window = {estimator->work.series.from_ns, estimator->work.series.to_ns};
    const int64_t *time_ns;
    const struct dag *run = measured_run(estimator, recorded, &time_ns);
    return metrics_lateness(run, time_ns, &window, arena, found, count, error);
}

bool estimator_measure_recorded(struct estimator *estimator, struct metrics *recorded, struct error *error) {
    const struct dag_run as_recorded = {.time_ns = estimator->dag->vertices.time_ns};
    const struct dag_edit none = {0};
    if (!measure_times(estimator, &as_recorded, NULL, true, recorded, error)) return false;
    recorded->initialisation_share = actor_shares_under(&estimator->actor_shares, estimator->dag, &none);
    return true;
}

// As a share of the larger, or of `least`.
static double difference(double a, double b, double least) {
    double scale = fmax(fmax(fabs(a), fabs(b)), least);
    return scale > 0 ? fabs(a - b) / scale : 0; // also where both are unknown
}

static void keep_larger(struct replay_error *worst, double share, const char *kind, enum thread_state state) {
    if (share <= worst->share) return;
    worst->share = share;
    snprintf(worst->figure, sizeof worst->figure, "%s of %s threads", kind, thread_state_names[state]);
}

static struct replay_error largest_difference(const struct metrics *recorded, const struct metrics *replayed) {
    const struct usage *occupied = &recorded->threads[STATE_OCCUPIED];
    struct replay_error worst = {difference((double)recorded->wall_ns, (double)replayed->wall_ns, 0), "wall"};
    for (int s = 0; s < STATE_COUNT; s++) {
        const struct usage *then = &recorded->threads[s], *now = &replayed->threads[s];
        keep_larger(&worst, difference(then->peak, now->peak, occupied->peak), "peak", s);
        keep_larger(&worst, difference(then->mean, now->mean, occupied->mean), "mean", s);
    }
    return worst;
}

static double off_by(double now, double then) {
    return then > 0 ? fabs(now / then - 1) : 0;
}

// Of what was recorded, as a plan's figures are judged, so that the run itself is never worse than it may be: not by
// what products are rounded by either.
static double noise_of(const struct metrics *recorded, const struct metrics *replayed) {
    const struct usage *then = &recorded->threads[STATE_OCCUPIED], *now = &replayed->threads[STATE_OCCUPIED];
    const double threads = fmax(off_by(now->peak, then->peak), off_by(now->mean, then->mean));
    const double rounded = 1e-12;
    return fmax(LEAST_NOISE, fmax(threads, fabs(metrics_wall_ratio(replayed, recorded) - 1)) + rounded);
}

// Whether the last run was this one.
static bool has_replayed(const struct estimator *estimator) {
    const struct replay *last = &estimator->replay;
    return last->ended && is_replay(estimator) && last->kind == estimator->model.kind &&
           last->without == estimator->costs->without && last->kept == estimator->keeps;
}

static bool replay(struct estimator *estimator, bool all, struct baseline *baseline, struct error *error) {
    bool stuck = false;
    if (!has_replayed(estimator) && !estimator_run(estimator, &stuck, error)) return false;
    if (stuck) return error_set(error, STATUS_FAILED, "the trace's own events wait for each other");
    return estimator_measure(estimator, NULL, all, &baseline->replayed, error);
}

bool estimator_measure_baseline(struct estimator *estimator, bool all, struct baseline *baseline, struct error *error) {
    struct metrics *recorded = &baseline->recorded;
    const struct model asked = estimator->model;
    estimator->model = (struct model){.kind = asked.kind};
    bool replayed = replay(estimator, all, baseline, error);
    estimator->model = asked;
    if (!replayed || !estimator_measure_recorded(estimator, recorded, error)) return false;
    recorded->composite = metrics_composite(recorded, recorded);
    recorded->balanced = metrics_balanced(recorded, recorded);
    baseline->replayed.composite = metrics_composite(&baseline->replayed, recorded);
    baseline->replayed.balanced = all ? metrics_balanced(&baseline->replayed, recorded) : NAN;
    baseline->replay_error = largest_difference(recorded, &baseline->replayed);
    baseline->noise = noise_of(recorded, &baseline->replayed);
    return true;
}

static uint64_t cost_ns(enum model_kind kind, uint64_t vertices) {
    return (kind == MODEL_DAG ? 60 : 300) * vertices;
}

uint64_t estimator_cost_ns(const struct estimator *estimator) {
    return cost_ns(estimator->model.kind, (uint64_t)estimator->dag->vertex_count + 1);
}

uint32_t estimator_hands(uint64_t cost_ns) {
    const uint64_t roomy = AT_ONCE_NS / (cost_ns + 1), most = roomy < 2 ? 2 : roomy, there = hands_there();
    return (uint32_t)(there < most ? there : most);
}

// Intervals

// An estimator of replicates that asks for what another does.
struct replicate_evaluator {
    const struct simulation *simulation; // the other's, NULL
    struct estimator estimator;          // but for edit and costs, which are the other's
    struct metrics_work base_work;
};

// Both workspaces keep what follows from recorded times, which differ from replicate to replicate.
static bool bind_replicate(struct replicate_evaluator *evaluator, const struct dag *replicate, struct error *error) {
    struct estimator *estimator = &evaluator->estimator;
    simulation_free(estimator->simulation);
    dag_run_destroy(&estimator->run);
    estimator->simulation = NULL;
    estimator->dag = replicate;
    if (!needs_simulation(estimator)) return dag_run_init(&estimator->run, replicate, error);
    if (!evaluator->simulation) return true; // estimator_run makes one
    estimator->simulation = simulation_new_replicate(replicate, evaluator->simulation, error);
    return estimator->simulation;
}

static bool evaluate_replicate(void *context, const struct dag *replicate, struct metrics *metrics, bool *stuck,
                               struct error *error) {
    struct replicate_evaluator *evaluator = context;
    struct estimator *estimator = &evaluator->estimator;
    struct metrics base;
    if (!bind_replicate(evaluator, replicate, error) || !estimator_run(estimator, stuck, error)) return false;
    return *stuck || (metrics_of_run(replicate, false, estimator->window, NULL, &evaluator->base_work, &base, error) &&
                      estimator_measure(estimator, &base, false, metrics, error));
}

// Workspaces are made anew, and parts of tasks make the run longer than the recording.
static uint64_t replicate_cost_ns(const struct estimator *estimator) {
    const uint32_t recorded = estimator->dag->vertex_count,
                   run = estimator->simulated ? simulation_vertex_count(estimator->simulation) : recorded;
    return estimator_cost_ns(estimator) * 3 / 2 + (run > recorded ? cost_ns(estimator->model.kind, run - recorded) : 0);
}

static struct interval_request request_of(const struct estimator *estimator) {
    const uint64_t cost = replicate_cost_ns(estimator), affordable = INTERVAL_NS / cost;
    const uint64_t replicates = affordable < MOST_REPLICATES ? affordable : MOST_REPLICATES;
    return (struct interval_request){.replicates =
                                         (unsigned)(replicates > LEAST_REPLICATES ? replicates : LEAST_REPLICATES),
                                     .seed = 1,
                                     .evaluate = evaluate_replicate,
                                     .progress = estimator->progress,
                                     .progress_context = estimator->progress_context,
                                     .hands = replicates * cost > ALONE_NS ? estimator_hands(cost) : 1};
}

bool estimator_intervals(const struct estimator *estimator, const struct metrics *estimate, struct intervals *intervals,
                         struct error *error) {
    struct interval_request request = request_of(estimator);
    struct replicate_evaluator evaluators[HANDS];
    for (uint32_t h = 0; h < HANDS; h++) {
        evaluators[h] = (struct replicate_evaluator){.simulation = estimator->simulation,
                                                     .estimator = {.window = estimator->window,
                                                                   .model = estimator->model,
                                                                   .request_site = DAG_NONE,
                                                                   .edit = estimator->edit,
                                                                   .costs = estimator->costs}};
        request.contexts[h] = &evaluators[h];
    }
    bool done = interval_estimate(estimator->dag, estimate, &request, intervals, error);
    for (uint32_t h = 0; h < HANDS; h++) {
        metrics_work_destroy(&evaluators[h].base_work);
        metrics_work_destroy(&evaluators[h].estimator.work);
        simulation_free(evaluators[h].estimator.simulation);
        dag_run_destroy(&evaluators[h].estimator.run);
    }
    return done;
}

const struct dag *estimator_run_dag(struct estimator *estimator, struct error *error) {
    enum dag_outcome outcome = DAG_OK;
    if (!estimator->simulated && !simulate(estimator, &outcome, error)) return NULL;
    const struct dag *run = outcome == DAG_OK ? simulation_dag(estimator->simulation) : NULL;
    if (!run) error_set(error, STATUS_FAILED, "no memory for an estimate");
    return run;
}

bool estimator_write(struct estimator *estimator, const char *path, struct error *error) {
    const struct dag *run = estimator_run_dag(estimator, error);
    if (!run) return error_wrap(error, "%s", path);
    return dag_write_run(run, (uint64_t)metrics_besides_ns(estimator->dag), path, error);
}
