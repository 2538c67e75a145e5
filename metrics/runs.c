// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/runs.h"

#include "metrics/statistics.h"

#include <stdlib.h>
#include <string.h>

const char *const run_figure_names[RUN_FIGURES] = {"wall_ns",        "thread_time_ns",   "occupied_peak",
                                                   "occupied_mean",  "throughput_per_s", "latency_p50_ns",
                                                   "latency_p99_ns", "composite",        "balanced"};

double run_figure_of(const struct metrics *metrics, enum run_figure figure) {
    switch (figure) {
    case RUN_WALL:
        return (double)metrics->wall_ns;
    case RUN_THREAD_TIME:
        return metrics->thread_time_ns;
    case RUN_OCCUPIED_PEAK:
        return metrics->threads[STATE_OCCUPIED].peak;
    case RUN_OCCUPIED_MEAN:
        return metrics->threads[STATE_OCCUPIED].mean;
    case RUN_THROUGHPUT:
        return metrics->requests.throughput_per_s;
    case RUN_LATENCY_P50:
        return metrics->requests.latency_ns.p50;
    case RUN_LATENCY_P99:
        return metrics->requests.latency_ns.p99;
    case RUN_COMPOSITE:
        return metrics->composite;
    case RUN_BALANCED:
        return metrics->balanced;
    default:
        return NAN;
    }
}

// ---- Noise

static size_t leave_out_unknown(double *values, size_t count) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) values[known++] = values[i];
    }
    return known;
}

struct noise noise_of(double *values, size_t count) {
    const size_t known = leave_out_unknown(values, count);
    struct noise noise = {.runs = known, .median = NAN, .half_width = NAN, .deviation = NAN};
    if (known == 0) return noise;
    statistics_sort(values, known);
    noise.median = statistics_quantile(values, known, 0.5);
    if (known < 2) return noise;
    noise.deviation = statistics_deviation(values, known);
    noise.half_width = known < RUNS_BY_ORDER ? statistics_median_error_normal(values, known)
                                             : statistics_median_error_by_order(values, known);
    return noise;
}

bool noises_of(const struct metrics *const *runs, size_t count, struct noises *noises, struct error *error) {
    double *values = malloc((count + 1) * sizeof *values);
    if (!values) return error_set(error, STATUS_FAILED, "no memory for the figures of %zu runs", count);
    for (enum run_figure figure = 0; figure < RUN_FIGURES; figure++) {
        for (size_t i = 0; i < count; i++) values[i] = run_figure_of(runs[i], figure);
        noises->of[figure] = noise_of(values, count);
    }
    free(values);
    return true;
}

void noises_fixed(const struct metrics *metrics, size_t runs, struct noises *noises) {
    for (enum run_figure figure = 0; figure < RUN_FIGURES; figure++)
        noises->of[figure] = (struct noise){.runs = runs, .median = run_figure_of(metrics, figure)};
}

double noise_of_change(const struct noise *before, const struct noise *after) {
    return hypot(before->half_width, after->half_width);
}

static double difference_of(const struct noise *before, const struct noise *after) {
    return fabs(after->median - before->median);
}

bool noise_hides(const struct noise *before, const struct noise *after) {
    return difference_of(before, after) <= noise_of_change(before, after);
}

uint64_t noise_more_runs(const struct noise *before, const struct noise *after) {
    const double difference = difference_of(before, after);
    const size_t runs = before->runs < after->runs ? before->runs : after->runs;
    if (!noise_hides(before, after) || difference == 0) return 0;
    const double needed = statistics_runs_to_tell(hypot(before->deviation, after->deviation), difference);
    if (!(needed <= RUNS_MOST)) return UINT64_MAX;
    return needed > (double)runs + 1 ? (uint64_t)ceil(needed) - runs : 1;
}

// ---- Medians of all figures

enum span_type { SPAN_DOUBLE, SPAN_INT64, SPAN_UINT64 };

// Figures that lie one behind the other.
struct span {
    size_t offset, count;
    enum span_type type;
};

#define SPAN(first, last, type)                                                                                        \
    {                                                                                                                  \
        offsetof(struct metrics, first), (offsetof(struct metrics, last) - offsetof(struct metrics, first)) / 8 + 1,   \
            type                                                                                                       \
    }

static const struct span spans[] = {
    SPAN(wall_ns, wall_ns, SPAN_INT64),
    SPAN(thread_time_ns, balanced, SPAN_DOUBLE),
    SPAN(tasks.count, tasks.count, SPAN_UINT64),
    SPAN(tasks.overhead_share, tasks.span_ns, SPAN_DOUBLE),
    SPAN(tasks.granularity.mean, tasks.coarse.tasks, SPAN_DOUBLE),
    SPAN(requests.count, requests.sustainable_per_s, SPAN_DOUBLE),
    SPAN(cpu.utilisation, initialisation_share, SPAN_DOUBLE),
    SPAN(gc_pauses, gc_pauses, SPAN_UINT64),
    SPAN(gc_ns, gc_ns, SPAN_INT64),
    SPAN(lost_events, lost_events, SPAN_UINT64),
    SPAN(warm_from_ns, warm_from_ns, SPAN_DOUBLE),
};

static double get(const struct metrics *metrics, size_t offset, enum span_type type) {
    const char *at = (const char *)metrics + offset;
    switch (type) {
    case SPAN_INT64:
        return (double)*(const int64_t *)(const void *)at;
    case SPAN_UINT64:
        return (double)*(const uint64_t *)(const void *)at;
    default:
        return *(const double *)(const void *)at;
    }
}

static void set(struct metrics *metrics, size_t offset, enum span_type type, double value) {
    void *at = (char *)metrics + offset;
    if (type == SPAN_INT64)
        *(int64_t *)at = llround(value);
    else if (type == SPAN_UINT64)
        *(uint64_t *)at = (uint64_t)llround(value);
    else
        *(double *)at = value;
}

static double median_of(const struct metrics *const *runs, size_t count, size_t offset, enum span_type type,
                        double *values) {
    for (size_t i = 0; i < count; i++) values[i] = get(runs[i], offset, type);
    const size_t known = leave_out_unknown(values, count);
    if (known) statistics_sort(values, known);
    return known ? statistics_quantile(values, known, 0.5) : NAN;
}

bool runs_median(const struct metrics *const *runs, size_t count, struct metrics *median, struct error *error) {
    double *values = malloc(count * sizeof *values);
    if (!values) return error_set(error, STATUS_FAILED, "no memory for the figures of %zu runs", count);
    *median = *runs[0];
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++) {
        for (size_t i = 0; i < spans[s].count; i++) {
            const size_t offset = spans[s].offset + 8 * i;
            set(median, offset, spans[s].type, median_of(runs, count, offset, spans[s].type, values));
        }
    }
    free(values);
    return true;
}

// ---- Loads

// The next word at *at; false at the end.
static bool next_word(const char **at, const char **word, size_t *length) {
    *word = *at + strspn(*at, " ");
    *length = strcspn(*word, " ");
    *at = *word + *length;
    return *length > 0;
}

static bool names_tracer(const char *word, size_t length) {
    static const char OPTION[] = "-agentpath:";
    return strncmp(word, OPTION, sizeof OPTION - 1) == 0 && memmem(word, length, "rehype-agent", 12);
}

static bool next_own_word(const char **at, const char **word, size_t *length) {
    bool found;
    while ((found = next_word(at, word, length)) && names_tracer(*word, *length)) {
    }
    return found;
}

static bool are_equal_commands(const char *a, const char *b) {
    const char *left, *right;
    size_t left_length, right_length;
    for (;;) {
        const bool here = next_own_word(&a, &left, &left_length), there = next_own_word(&b, &right, &right_length);
        if (!here || !there) return here == there;
        if (left_length != right_length || memcmp(left, right, left_length) != 0) return false;
    }
}

static bool are_equal_texts(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool are_one_run(const struct trace_header *a, const struct trace_header *b) {
    return a->start_unix_ns && a->start_unix_ns == b->start_unix_ns && a->pid == b->pid;
}

bool runs_are_alike(const struct trace *a, const struct trace *b) {
    const struct trace_header *left = &a->header, *right = &b->header;
    return left->command && right->command && left->cores == right->cores && are_equal_texts(left->jvm, right->jvm) &&
           are_equal_texts(left->origin, right->origin) && a->part.number == b->part.number &&
           !are_one_run(left, right) && are_equal_commands(left->command, right->command);
}

uint32_t runs_find_loads(const struct trace *const *traces, size_t count, uint32_t *loads) {
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        size_t like = 0;
        while (like < i && !runs_are_alike(traces[like], traces[i])) like++;
        loads[i] = like < i ? loads[like] : found++;
    }
    return found;
}

static double size_of_run(const struct metrics *metrics) {
    const double per_s = metrics->requests.throughput_per_s;
    return per_s > 0 ? 1 / per_s : (double)metrics->wall_ns;
}

// Whether run a comes before run b by size.
static bool is_before(const struct metrics *const *runs, size_t a, size_t b) {
    const double left = size_of_run(runs[a]), right = size_of_run(runs[b]);
    return left != right ? left < right : a < b;
}

size_t runs_median_run(const struct metrics *const *runs, const uint32_t *loads, size_t count, uint32_t load) {
    size_t of_load = 0, median = 0;
    for (size_t i = 0; i < count; i++) of_load += loads[i] == load;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        for (size_t j = 0; j < count; j++) before += loads[j] == load && is_before(runs, j, i);
        if (loads[i] == load && before == (of_load - 1) / 2) median = i;
    }
    return median;
}
