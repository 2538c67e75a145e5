// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/search_state.h"

#include <math.h>
#include <string.h>

size_t search_row(const struct search *search) {
    return search->wholes ? 2 * search->trace_count : search->trace_count;
}

uint64_t search_left(const struct search *search) {
    const struct search_options *options = search->options;
    const uint64_t combined =
                       search->result->evaluated > search->screened ? search->result->evaluated - search->screened : 0,
                   by_number = options->evaluations > combined ? options->evaluations - combined : 0,
                   by_time = search->spent_ns < options->budget_ns
                                 ? (options->budget_ns - search->spent_ns) / search->cost_ns
                                 : 0;
    return by_number < by_time ? by_number : by_time;
}

void search_count(struct search *search) {
    pthread_mutex_lock(&search->lock);
    search->result->evaluated++;
    search->spent_ns += search->cost_ns;
    if (search->options->progress) {
        search->options->progress(search->options->progress_context, search->result->evaluated, search_left(search));
    }
    pthread_mutex_unlock(&search->lock);
}

struct items {
    struct search *search;
    search_item *run;
    void *context;
};

static void do_item(void *of, uint32_t hand, uint32_t item) {
    const struct items *items = of;
    struct search *search = items->search;
    struct error error = ERROR_INIT;
    pthread_mutex_lock(&search->lock);
    const bool goes_on = !search->failed;
    pthread_mutex_unlock(&search->lock);
    if (!goes_on || items->run(search, &search->evaluators[hand], items->context, item, &error)) return;
    pthread_mutex_lock(&search->lock);
    if (!search->failed) *search->error = error;
    search->failed = true;
    pthread_mutex_unlock(&search->lock);
}

bool search_do_all(struct search *search, search_item *run, void *context, uint32_t count, struct error *error) {
    struct items items = {search, run, context};
    search->error = error;
    hands_run(do_item, &items, count, search->hands);
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

double search_value(const struct search *search, const struct evaluator *evaluator, uint32_t edits) {
    return objective_value(search->options->objective, evaluator->estimates, search->recorded, search->trace_count,
                           edits);
}

double search_gain(const struct search *search, const struct evaluator *evaluator) {
    return objective_gain(search->options->objective, evaluator->estimates, search->replayed, search->trace_count);
}

// NAN where unknown; of all of them less is better.
enum { FIGURES = 6 };

static void list_figures(const struct metrics *m, const struct metrics *recorded, double *figures) {
    const struct usage *occupied = &m->threads[STATE_OCCUPIED];
    const double all[FIGURES] = {metrics_wall_ratio(m, recorded),
                                 m->requests.latency_ns.p50,
                                 m->requests.latency_ns.p99,
                                 occupied->peak,
                                 occupied->mean,
                                 metrics_utilisation(m, recorded)};
    memcpy(figures, all, sizeof all);
}

const void *search_figures(const struct search *search, const struct evaluator *evaluator, struct arena *arena) {
    double *figures = ARENA_NEW(arena, double, FIGURES * search->trace_count);
    for (size_t t = 0; figures && t < search->trace_count; t++)
        list_figures(&evaluator->estimates[t], &search->recorded[t], &figures[FIGURES * t]);
    return figures;
}

bool search_figures_worse(const struct search *search, const void *now, const void *then) {
    const double *here = now, *there = then;
    for (size_t i = 0; i < FIGURES * search->trace_count; i++) {
        if (here[i] > (1 + LEAST_NOISE) * there[i]) return true;
    }
    return false;
}

const char *search_trace_name(const struct search *search, size_t trace) {
    return trace > 0 ? search->result->traces[trace]->dag->trace->path : NULL;
}

void search_score(const struct search *search, const struct evaluator *evaluator, struct combination *combination) {
    size_t trace;
    double gain = search_gain(search, evaluator);
    double value = search_value(search, evaluator, 0); // edits break ties already
    if (isnan(value)) return;
    combination->score = value;
    combination->valid = combination->count > 0 && (gain > search->noise * fabs(value) || !search->base_passes) &&
                         !search_failed(search, evaluator->estimates, &trace);
}
