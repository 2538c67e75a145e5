// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates, and combinations that are wanted at once, are estimated by two threads, each with an evaluator of its own
// (base/hands.h). What comes out is the same: what is tried does not depend on which thread is faster.
#include "optimize/search.h"

#include "optimize/front.h"
#include "optimize/rank.h"
#include "optimize/screen.h"

#include <time.h>

#define WORTH_A_THREAD_NS 500000u // to make and join one takes a tenth of that

static bool measure_base(struct search *search, size_t trace, struct error *error) {
    struct baseline baseline;
    if (!estimator_measure_baseline(search->evaluators[0].estimators[trace], search->base_all, &baseline, error))
        return false;
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
    struct evaluator *evaluator = &search->evaluators[0];
    search->recorded = ARENA_NEW(&search->scratch, struct metrics, count);
    search->replayed = ARENA_NEW(&search->scratch, struct metrics, count);
    search->noise_in = ARENA_NEW(&search->scratch, double, count);
    if (!search->recorded || !search->replayed || !search->noise_in) {
        return error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
    }
    if (!evaluator_new(evaluator, search->result->traces, count, &search->scratch, error)) return false;
    evaluator_clear(evaluator);
    for (size_t t = 0; t < count; t++) {
        evaluator->estimators[t]->model = (struct model){.kind = search->options->model};
        evaluator->estimators[t]->keeps = search->options->model != MODEL_DAG;
        search->cost_ns += estimator_cost_ns(evaluator->estimators[t]);
    }
    return true;
}

// After the replay, of which the helpers' estimators know what they need not find out once more.
static bool get_help(struct search *search, uint32_t hands, struct error *error) {
    search->hands = hands ? hands : search->cost_ns < WORTH_A_THREAD_NS ? 1 : estimator_hands(search->cost_ns);
    for (uint32_t hand = 1; hand < search->hands; hand++) {
        if (!evaluator_new_beside(&search->evaluators[hand], &search->evaluators[0], &search->scratch, error))
            return false;
    }
    return true;
}

static struct search search_of(struct estimator *const *traces, size_t trace_count,
                               const struct search_options *options, struct search_result *result) {
    *result = (struct search_result){.traces = traces, .trace_count = trace_count};
    return (struct search){.trace_count = trace_count,
                           .options = options,
                           .result = result,
                           .needs_all = needs_all(options),
                           .shows_all = options->all_figures || needs_all(options),
                           .base_all = options->all_figures || needs_all(options) || !options->parts,
                           .scratch = ARENA_INIT,
                           .screened = UINT64_MAX,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
}

static bool get_ready(struct search *search, uint32_t hands, struct error *error) {
    return begin(search, error) && measure_bases(search, error) && get_help(search, hands, error);
}

static void search_end(struct search *search) {
    for (uint32_t hand = 0; hand < HANDS; hand++) evaluator_destroy(&search->evaluators[hand]);
    arena_destroy(&search->scratch);
}

static bool search_all(struct search *search, uint32_t hands, struct arena *arena, struct error *error) {
    uint32_t usable = 0;
    const bool done = get_ready(search, hands, error) && search_screen(search, arena, &usable, error) &&
                      search_rank(search, usable, arena, error);
    search_end(search);
    return done;
}

// Estimates on the whole traces what was found in their parts.
static bool confirm(struct search *search, const struct search_result *found, uint32_t hands, struct arena *arena,
                    struct error *error) {
    struct search_result *result = search->result;
    uint32_t *places = ARENA_NEW(&search->scratch, uint32_t, found->candidate_count + 1);
    const bool done = (places || error_set(error, STATUS_FAILED, "no memory for candidates")) &&
                      get_ready(search, hands, error) && search_screen_found(search, found, arena, places, error) &&
                      search_rank_found(search, found, places, arena, error);
    search_end(search);
    result->evaluated += found->evaluated;
    result->untried = found->untried;
    result->limit = found->limit;
    result->method = found->method;
    return done;
}

bool search_run_by(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                   uint32_t hands, struct arena *arena, struct search_result *result, struct error *error) {
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    struct search search = search_of(traces, trace_count, options, result);
    bool done;
    if (options->parts) {
        struct search_result found;
        struct search_options briefer = *options;
        if (briefer.top > SEARCH_CONFIRMED) briefer.top = SEARCH_CONFIRMED;
        struct search part = search_of(options->parts, trace_count, &briefer, &found);
        part.wholes = traces;
        done = search_all(&part, hands, arena, error) && confirm(&search, &found, hands, arena, error);
    } else {
        done = search_all(&search, hands, arena, error);
    }
    done = done && front_find(result, arena, error);
    result->seconds = seconds_since(&begun);
    return done;
}

bool search_run(struct estimator *const *traces, size_t trace_count, const struct search_options *options,
                struct arena *arena, struct search_result *result, struct error *error) {
    return search_run_by(traces, trace_count, options, 0, arena, result, error);
}
