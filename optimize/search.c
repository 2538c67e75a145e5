// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates, and combinations that are wanted at once, are estimated by two threads, each with a panel of its own
// (base/hands.h). What comes out is the same: what is tried hangs on no thread's luck.
#include "optimize/search_internal.h"

#include <time.h>

#define WORTH_A_THREAD_NS 500000u // to make and join one takes a tenth of that

void search_count(struct search *search) {
    pthread_mutex_lock(&search->lock);
    search->result->evaluated++;
    search->spent_ns += search->cost_ns;
    if (search->options->progress) {
        search->options->progress(search->options->progress_context, search->result->evaluated);
    }
    pthread_mutex_unlock(&search->lock);
}

struct panel *search_panel(struct search *search, uint32_t hand) {
    pthread_mutex_lock(&search->lock);
    bool goes_on = !search->failed;
    pthread_mutex_unlock(&search->lock);
    return goes_on ? &search->panels[hand] : NULL;
}

void search_item_ended(struct search *search, bool done, const struct error *error) {
    if (done) return;
    pthread_mutex_lock(&search->lock);
    if (!search->failed) *search->error = *error;
    search->failed = true;
    pthread_mutex_unlock(&search->lock);
}

bool search_do_all(struct search *search, hands_item *run, void *context, uint32_t count, struct error *error) {
    search->error = error;
    hands_run(run, context, count, search->hands);
    return !search->failed;
}

static const char *failed_in(const struct search *search, size_t trace, const struct metrics *m) {
    const struct search_options *options = search->options;
    const struct metrics *recorded = &search->recorded[trace], *replayed = &search->replayed[trace];
    const char *failed = NULL;
    if (options->requirement_count == 0) {
        failed = filter_failed(m, recorded, search->noise_in[trace]);
        return failed ? failed : filter_failed(m, replayed, search->noise_in[trace]);
    }
    for (size_t i = 0; i < options->requirement_count && !failed; i++) {
        failed = requirement_failed(options->requirements[i], m, recorded, replayed);
    }
    return failed;
}

const char *search_failed(const struct search *search, const struct metrics *m, size_t *trace) {
    const char *failed = NULL;
    for (*trace = 0; *trace < search->trace_count; ++*trace) {
        if ((failed = failed_in(search, *trace, &m[*trace]))) break;
    }
    return failed;
}

double search_value(const struct search *search, const struct panel *panel, uint32_t edits) {
    return objective_value(search->options->objective, panel->estimates, search->recorded, search->trace_count, edits);
}

double search_gain(const struct search *search, const struct panel *panel) {
    return objective_gain(search->options->objective, panel->estimates, search->replayed, search->trace_count);
}

const char *search_trace_name(const struct search *search, size_t trace) {
    return trace > 0 ? search->result->traces[trace]->dag->trace->path : NULL;
}

void search_score(const struct search *search, const struct panel *panel, struct combination *combination) {
    size_t trace;
    double gain = search_gain(search, panel);
    double value = search_value(search, panel, 0); // edits break ties already
    if (isnan(value)) return;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > search->noise * fabs(value) || !search->base_passes) &&
                         !search_failed(search, panel->estimates, &trace);
}

static bool measure_base(struct search *search, size_t trace, struct error *error) {
    struct baseline baseline;
    if (!estimator_measure_baseline(search->panels[0].estimators[trace], true, &baseline, error)) return false;
    search->recorded[trace] = baseline.recorded;
    search->replayed[trace] = baseline.replayed;
    search->noise_in[trace] = baseline.noise;
    search->noise = fmax(search->noise, baseline.noise);
    if (baseline.replay_error.share >= search->result->null_replay_error.share) {
        search->result->null_replay_error = baseline.replay_error;
    }
    return objective_check(search->options->objective, &baseline.recorded, error);
}

static bool measure_bases(struct search *search, struct error *error) {
    size_t failing;
    for (size_t t = 0; t < search->trace_count; t++) {
        if (!measure_base(search, t, error)) {
            const char *name = search_trace_name(search, t);
            return name ? error_wrap(error, "%s", name) : false;
        }
    }
    search->result->base = search->recorded[0];
    search->result->replayed = search->replayed[0];
    search->result->noise = search->noise_in[0];
    search->base_passes = !search_failed(search, search->replayed, &failing);
    return true;
}

static bool needs_all(const struct search_options *options) {
    bool all = objective_needs_all(options->objective);
    for (size_t i = 0; i < options->requirement_count; i++) all |= requirement_needs_all(options->requirements[i]);
    return all;
}

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static bool begin(struct search *search, struct error *error) {
    const size_t count = search->trace_count;
    struct panel *panel = &search->panels[0];
    search->recorded = ARENA_NEW(&search->scratch, struct metrics, count);
    search->replayed = ARENA_NEW(&search->scratch, struct metrics, count);
    search->noise_in = ARENA_NEW(&search->scratch, double, count);
    if (!search->recorded || !search->replayed || !search->noise_in) {
        return error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
    }
    if (!panel_new(panel, search->result->traces, count, &search->scratch, error)) return false;
    panel_clear(panel);
    for (size_t t = 0; t < count; t++) {
        panel->estimators[t]->model = (struct model){.kind = search->options->model};
        search->cost_ns += estimator_cost_ns(panel->estimators[t]);
    }
    return true;
}

// After the replay, of which the helper's estimators know what they need not find out once more.
static bool get_help(struct search *search, uint32_t hands, struct error *error) {
    search->hands = hands ? hands : search->cost_ns < WORTH_A_THREAD_NS ? 1 : HANDS;
    for (uint32_t hand = 1; hand < search->hands; hand++) {
        if (!panel_new_beside(&search->panels[hand], &search->panels[0], &search->scratch, error)) return false;
    }
    return true;
}

bool search_run_by(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                   uint32_t hands, struct arena *arena, struct search_result *result, struct error *error) {
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    *result = (struct search_result){.traces = traces, .trace_count = trace_count};
    struct search search = {.trace_count = trace_count,
                            .options = options,
                            .result = result,
                            .needs_all = needs_all(options),
                            .scratch = ARENA_INIT,
                            .lock = PTHREAD_MUTEX_INITIALIZER};
    uint32_t usable = 0;
    bool done = begin(&search, error) && measure_bases(&search, error) && get_help(&search, hands, error) &&
                search_judge(&search, arena, &usable, error) && search_rank(&search, usable, arena, error);
    for (uint32_t hand = 0; hand < HANDS; hand++) panel_destroy(&search.panels[hand]);
    arena_destroy(&search.scratch);
    result->seconds = seconds_since(&begun);
    return done;
}

bool search_run(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error) {
    return search_run_by(traces, trace_count, options, 0, arena, result, error);
}
