// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/metrics_text.h"

#include "dag/names.h"
#include "metrics/requests.h"
#include "metrics/runs.h"
#include "report/comparison.h"
#include "report/noise.h"
#include "report/table.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

enum { HOLDERS_SHOWN = 3, INDENT = 4 };

static const double told_change = 0.005; // below that a figure is as good as the other

enum row_unit { UNIT_DURATION, UNIT_COUNT, UNIT_SHARE, UNIT_NUMBER, UNIT_RATE };
enum row_type { TYPE_DOUBLE, TYPE_INT64, TYPE_UINT64 };

struct row {
    const char *label;
    enum row_unit unit;
    enum row_type type;
    size_t offset; // in struct metrics
    bool only_known, less_is_better;
    bool total; // of parts of runs that are not of one length there is nothing to be said of what separates them
};

#define ROW(label, unit, type, member)                                                                                 \
    { label, unit, type, offsetof(struct metrics, member), false, false, false }
#define ROW_OF_LESS(label, unit, type, member)                                                                         \
    { label, unit, type, offsetof(struct metrics, member), false, true, false }
#define ROW_IF_KNOWN(label, unit, type, member)                                                                        \
    { label, unit, type, offsetof(struct metrics, member), true, false, false }
#define ROW_OF_ALL(label, unit, type, member)                                                                          \
    { label, unit, type, offsetof(struct metrics, member), false, false, true }
#define ROW_OF_ALL_LESS(label, unit, type, member)                                                                     \
    { label, unit, type, offsetof(struct metrics, member), false, true, true }

static const struct row two_rows[] = {
    ROW_OF_ALL_LESS("wall", UNIT_DURATION, TYPE_INT64, wall_ns),
    ROW_OF_ALL_LESS("thread-time", UNIT_DURATION, TYPE_DOUBLE, thread_time_ns),
    ROW_OF_LESS("occupied threads, peak", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_OCCUPIED].peak),
    ROW_OF_LESS("occupied threads, mean", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_OCCUPIED].mean),
    ROW("active threads, mean", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_ACTIVE].mean),
    ROW_OF_LESS("waiting threads, peak", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_WAITING].peak),
    ROW_OF_LESS("waiting threads, mean", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_WAITING].mean),
    ROW_IF_KNOWN("blocked threads, mean", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_BLOCKED].mean),
    ROW("unoccupied threads, mean", UNIT_NUMBER, TYPE_DOUBLE, threads[STATE_UNOCCUPIED].mean),
    ROW_OF_ALL("tasks", UNIT_COUNT, TYPE_UINT64, tasks.count),
    ROW("overhead share", UNIT_SHARE, TYPE_DOUBLE, tasks.overhead_share),
    ROW("idle share", UNIT_SHARE, TYPE_DOUBLE, tasks.idle_share),
    ROW_IF_KNOWN("CPU used", UNIT_SHARE, TYPE_DOUBLE, cpu.utilisation),
};

// Behind those of parts: figures of comparison_per_request.
static const struct row shared_rows[] = {
    ROW_OF_LESS("thread-time of a request", UNIT_DURATION, TYPE_DOUBLE, thread_time_ns),
    ROW_OF_LESS("work of a request", UNIT_DURATION, TYPE_DOUBLE, tasks.work_ns),
};

static const struct row one_rows[] = {
    ROW("wall", UNIT_DURATION, TYPE_INT64, wall_ns),
    ROW("thread-time", UNIT_DURATION, TYPE_DOUBLE, thread_time_ns),
    ROW("tasks", UNIT_COUNT, TYPE_UINT64, tasks.count),
    ROW("work in tasks", UNIT_DURATION, TYPE_DOUBLE, tasks.work_ns),
    ROW("span", UNIT_DURATION, TYPE_DOUBLE, tasks.span_ns),
    ROW("overhead share", UNIT_SHARE, TYPE_DOUBLE, tasks.overhead_share),
    ROW("idle share", UNIT_SHARE, TYPE_DOUBLE, tasks.idle_share),
    ROW("wait in queues, median", UNIT_DURATION, TYPE_DOUBLE, tasks.queue_wait_ns.p50),
    ROW("wait in queues, p95", UNIT_DURATION, TYPE_DOUBLE, tasks.queue_wait_ns.p95),
    ROW_IF_KNOWN("tasks too fine", UNIT_COUNT, TYPE_DOUBLE, tasks.fine.tasks),
    ROW_IF_KNOWN("tasks too coarse", UNIT_COUNT, TYPE_DOUBLE, tasks.coarse.tasks),
    ROW_IF_KNOWN("warm from", UNIT_DURATION, TYPE_DOUBLE, warm_from_ns),
    ROW_IF_KNOWN("CPU used", UNIT_SHARE, TYPE_DOUBLE, cpu.utilisation),
    ROW_IF_KNOWN("... by other processes", UNIT_SHARE, TYPE_DOUBLE, cpu.others),
    ROW_IF_KNOWN("context switches in 100 ms", UNIT_COUNT, TYPE_DOUBLE, cpu.context_switches),
    ROW("GC pauses", UNIT_COUNT, TYPE_UINT64, gc_pauses),
    ROW("GC", UNIT_DURATION, TYPE_INT64, gc_ns),
    ROW("lost events", UNIT_COUNT, TYPE_UINT64, lost_events),
};

// Below the others where requests are known, the first with the name of their site.
static const struct row request_rows[] = {
    ROW_OF_ALL("requests", UNIT_COUNT, TYPE_DOUBLE, requests.count),
    ROW_IF_KNOWN("throughput", UNIT_RATE, TYPE_DOUBLE, requests.throughput_per_s),
    ROW_OF_LESS("latency, median", UNIT_DURATION, TYPE_DOUBLE, requests.latency_ns.p50),
    ROW_OF_LESS("latency, p95", UNIT_DURATION, TYPE_DOUBLE, requests.latency_ns.p95),
    ROW_OF_LESS("latency, p99", UNIT_DURATION, TYPE_DOUBLE, requests.latency_ns.p99),
    ROW("threads of one request", UNIT_COUNT, TYPE_DOUBLE, requests.peak_threads),
    ROW("requests at once", UNIT_COUNT, TYPE_DOUBLE, requests.concurrent),
    ROW("sustainable rate", UNIT_RATE, TYPE_DOUBLE, requests.sustainable_per_s),
};

enum { REQUEST_ROWS = sizeof request_rows / sizeof *request_rows };

// "requests of Server.handle:12"; empty where there are none.
struct request_label {
    char s[560];
};

static struct request_label label_requests(const struct request_metrics *requests) {
    struct request_label label = {""};
    char site[512];
    if (requests->dag && !isnan(requests->count)) {
        snprintf(label.s, sizeof label.s, "requests of %s",
                 dag_site_text(requests->dag, requests->site, site, sizeof site));
    }
    return label;
}

static double value_of(const struct metrics *metrics, const struct row *row) {
    const char *at = (const char *)metrics + row->offset;
    switch (row->type) {
    case TYPE_INT64:
        return (double)*(const int64_t *)at;
    case TYPE_UINT64:
        return (double)*(const uint64_t *)at;
    default:
        return *(const double *)at;
    }
}

static struct text show(double value, enum row_unit unit) {
    switch (unit) {
    case UNIT_DURATION:
        return text_duration(value);
    case UNIT_COUNT:
        return isnan(value) ? text_number(value) : text_count((uint64_t)value);
    case UNIT_SHARE:
        return text_percent(value);
    case UNIT_RATE:
        return text_rate(value);
    default:
        return text_fixed(value, 2);
    }
}

static void add_granularity(struct table *table, const struct task_metrics *tasks) {
    const struct {
        const char *label;
        double value;
    } rows[] = {{"task size, median", tasks->granularity.p50},
                {"task size, p95", tasks->granularity.p95},
                {"task size, largest", tasks->granularity.max}};
    bool cycles = tasks->granularity_unit && tasks->granularity_unit[0] == 'c';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char cell[64];
        table_add(table, rows[i].label);
        if (cycles && !isnan(rows[i].value)) {
            snprintf(cell, sizeof cell, "%s cycles", text_count((uint64_t)rows[i].value).s);
            table_add(table, cell);
        } else {
            table_add(table, text_duration(rows[i].value).s);
        }
    }
}

static bool write_states(const char *threads, const struct usage *states, double ready, FILE *file, unsigned look,
                         struct error *error) {
    const struct table_column columns[] = {
        {threads, TABLE_LEFT}, {"peak", TABLE_RIGHT}, {"max", TABLE_RIGHT}, {"mean", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (int state = 0; state < STATE_COUNT; state++) {
        table_add(&table, thread_state_names[state]);
        table_add(&table, text_fixed(states[state].peak, 1).s);
        table_add(&table, text_fixed(states[state].max, 0).s);
        table_add(&table, text_fixed(states[state].mean, 2).s);
    }
    if (!isnan(ready)) {
        table_add(&table, "without a carrier, though ready");
        table_add(&table, "");
        table_add(&table, "");
        table_add(&table, text_fixed(ready, 2).s);
    }
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

struct text_pair text_from_to(double before, double after, const struct text_noises *noises, enum run_figure figure,
                              int digits) {
    const bool in_time = digits == NOISE_IN_TIME;
    struct text_pair text;
    snprintf(text.s, sizeof text.s, "%s%s -> %s%s", (in_time ? text_duration(before) : text_fixed(before, digits)).s,
             noise_behind(noises->before, figure, digits, noises->look).s,
             (in_time ? text_duration(after) : text_fixed(after, digits)).s,
             noise_behind(noises->after, figure, digits, noises->look).s);
    return text;
}

// What is gained where as many threads are occupied: fewer that wait for work. Empty where that is not so.
static struct text_pair text_unoccupied(const struct metrics *before, const struct metrics *after) {
    const double then = before->threads[STATE_UNOCCUPIED].mean, now = after->threads[STATE_UNOCCUPIED].mean;
    const double as_many = 0.99, least_fewer = 0.5;
    struct text_pair text = {""};
    if (now <= then - least_fewer &&
        after->threads[STATE_OCCUPIED].mean >= as_many * before->threads[STATE_OCCUPIED].mean)
        snprintf(text.s, sizeof text.s, ", unoccupied %s -> %s", text_fixed(then, 2).s, text_fixed(now, 2).s);
    return text;
}

// What those who ask see. Wall time is that of the load then, and says nothing more.
static void write_service_change(const struct metrics *before, const struct metrics *after,
                                 const struct text_noises *noises, char *text, size_t size) {
    const struct request_metrics *then = &before->requests, *now = &after->requests;
    const double share = now->throughput_per_s / then->throughput_per_s - 1;
    snprintf(text, size, "%s requests/s (%s%s %%), latency %s (median), %s (p99), occupied threads %s (mean)%s",
             text_from_to(then->throughput_per_s, now->throughput_per_s, noises, RUN_THROUGHPUT, 1).s,
             share > 0 ? "+" : "", text_fixed(100 * share, 1).s,
             text_from_to(then->latency_ns.p50, now->latency_ns.p50, noises, RUN_LATENCY_P50, NOISE_IN_TIME).s,
             text_from_to(then->latency_ns.p99, now->latency_ns.p99, noises, RUN_LATENCY_P99, NOISE_IN_TIME).s,
             text_from_to(before->threads[STATE_OCCUPIED].mean, after->threads[STATE_OCCUPIED].mean, noises,
                          RUN_OCCUPIED_MEAN, 2)
                 .s,
             text_unoccupied(before, after).s);
}

const char *metrics_text_change(const struct metrics *before, const struct metrics *after,
                                const struct text_noises *noises, char *text, size_t size) {
    const struct usage *then = &before->threads[STATE_OCCUPIED], *now = &after->threads[STATE_OCCUPIED];
    const double share = before->wall_ns ? (double)after->wall_ns / (double)before->wall_ns - 1 : 0;
    if (before->requests.throughput_per_s > 0 && after->requests.throughput_per_s > 0) {
        write_service_change(before, after, noises, text, size);
        return text;
    }
    snprintf(text, size, "wall %s (%s%s %%), occupied threads %s (peak), %s (mean)%s",
             text_from_to((double)before->wall_ns, (double)after->wall_ns, noises, RUN_WALL, NOISE_IN_TIME).s,
             share > 0 ? "+" : "", text_fixed(100 * share, 1).s,
             text_from_to(then->peak, now->peak, noises, RUN_OCCUPIED_PEAK, 1).s,
             text_from_to(then->mean, now->mean, noises, RUN_OCCUPIED_MEAN, 2).s, text_unoccupied(before, after).s);
    return text;
}

void metrics_text_write_answer(const struct metrics *metrics, const struct wait_site *most, FILE *file, unsigned look) {
    const struct usage *threads = metrics->threads;
    look_printf(file, look, 0,
                "In %s %s tasks occupied %s threads on average (%s at peak): %s active%s, %s waiting for other tasks.",
                text_duration((double)metrics->wall_ns).s, text_count(metrics->tasks.count).s,
                text_fixed(threads[STATE_OCCUPIED].mean, 2).s, text_fixed(threads[STATE_OCCUPIED].peak, 1).s,
                text_fixed(threads[STATE_ACTIVE].mean, 2).s,
                threads[STATE_BLOCKED].mean > 0 ? " (some of them blocked)" : "",
                text_fixed(threads[STATE_WAITING].mean, 2).s);
    if (most && most->waits)
        look_printf(file, look, 0, "They wait most in %s (%s): %s in all.",
                    text_method(most->site.class_name, most->site.method).s, text_file_line(&most->site).s,
                    text_duration((double)most->total_ns).s);
    putc('\n', file);
}

bool metrics_text_write(const struct metrics *metrics, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{NULL, TABLE_LEFT}, {NULL, TABLE_RIGHT}};
    if (!write_states("threads", metrics->threads, NAN, file, look, error)) return false;
    if (!isnan(metrics->virtual_threads[STATE_OCCUPIED].mean)) {
        putc('\n', file);
        if (!write_states("virtual threads", metrics->virtual_threads, metrics->virtual_ready, file, look, error))
            return false;
    }
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < sizeof one_rows / sizeof *one_rows; i++) {
        if (one_rows[i].only_known && isnan(value_of(metrics, &one_rows[i]))) continue;
        table_add(&table, one_rows[i].label);
        table_add(&table, show(value_of(metrics, &one_rows[i]), one_rows[i].unit).s);
    }
    add_granularity(&table, &metrics->tasks);
    struct request_label label = label_requests(&metrics->requests);
    for (size_t i = 0; i < REQUEST_ROWS && *label.s; i++) {
        if (request_rows[i].only_known && isnan(value_of(metrics, &request_rows[i]))) continue;
        table_add(&table, i == 0 ? label.s : request_rows[i].label);
        table_add(&table, show(value_of(metrics, &request_rows[i]), request_rows[i].unit).s);
    }
    char name[600];
    const char *bottleneck = requests_bottleneck(&metrics->requests, name, sizeof name);
    if (bottleneck) table_add(&table, "... limited by");
    if (bottleneck) table_add(&table, bottleneck);
    putc('\n', file);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static void add_two(struct table *table, const struct row *row, const char *label,
                    const struct metrics_text_run runs[2], enum metrics_text_last last) {
    double first = value_of(runs[0].metrics, row), second = value_of(runs[1].metrics, row);
    table_add(table, label);
    table_add(table, show(first, row->unit).s);
    table_add(table, show(second, row->unit).s);
    if (last == LAST_ERROR_OF_PARTS && row->total)
        table_add(table, "");
    else if (last != LAST_CHANGE)
        table_add(table, text_percent(comparison_error(first, second)).s);
    else
        table_add_toned(table, text_change(first, second).s,
                        row->less_is_better ? look_less_is_better(first, second, told_change) : TONE_PLAIN);
}

// Requests of two sites are not compared.
static void add_two_requests(struct table *table, const struct metrics_text_run runs[2], enum metrics_text_last last) {
    struct request_label first = label_requests(&runs[0].metrics->requests),
                         second = label_requests(&runs[1].metrics->requests);
    if (!*first.s || strcmp(first.s, second.s) != 0) return;
    for (size_t i = 0; i < REQUEST_ROWS; i++) {
        const bool known = !isnan(value_of(runs[0].metrics, &request_rows[i]));
        if (request_rows[i].only_known && !known) continue;
        add_two(table, &request_rows[i], i == 0 ? first.s : request_rows[i].label, runs, last);
    }
}

static void add_two_shared(struct table *table, const struct metrics_text_run runs[2]) {
    const struct metrics first = comparison_per_request(runs[0].metrics),
                         second = comparison_per_request(runs[1].metrics);
    const struct metrics_text_run shared[2] = {{runs[0].heading, &first}, {runs[1].heading, &second}};
    for (size_t i = 0; i < sizeof shared_rows / sizeof *shared_rows; i++)
        add_two(table, &shared_rows[i], shared_rows[i].label, shared, LAST_ERROR);
}

bool metrics_text_write_two(const struct metrics_text_run runs[2], enum metrics_text_last last, FILE *file,
                            unsigned look, struct error *error) {
    const struct table_column columns[] = {{"", TABLE_LEFT},
                                           {runs[0].heading, TABLE_RIGHT},
                                           {runs[1].heading, TABLE_RIGHT},
                                           {last == LAST_CHANGE ? "change" : "error", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < sizeof two_rows / sizeof *two_rows; i++) {
        bool known = !isnan(value_of(runs[0].metrics, &two_rows[i])) && !isnan(value_of(runs[1].metrics, &two_rows[i]));
        if (two_rows[i].only_known && !known) continue;
        add_two(&table, &two_rows[i], two_rows[i].label, runs, last);
    }
    add_two_requests(&table, runs, last);
    if (last == LAST_ERROR_OF_PARTS) add_two_shared(&table, runs);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static struct noise noise_of_row(const struct metrics *const *runs, size_t count, const struct row *row,
                                 double *spare) {
    for (size_t i = 0; i < count; i++) spare[i] = value_of(runs[i], row);
    return noise_of(spare, count);
}

static void add_noise(struct table *table, const struct noise *noise, enum row_unit unit) {
    table_add(table, show(noise->median, unit).s);
    table_add(table, show(noise->half_width, unit).s);
}

static void add_row_of_runs(struct table *table, const struct row *row, const char *label,
                            const struct metrics_text_runs *runs, double *spare) {
    const struct noise before = noise_of_row(runs->before, runs->count, row, spare),
                       after = noise_of_row(runs->after, runs->count, row, spare);
    const bool hidden = noise_hides(&before, &after) && before.median != after.median;
    const enum look_tone tone = look_less_is_better(before.median, after.median, told_change);
    char cell[48] = "";
    if (hidden) snprintf(cell, sizeof cell, "%s", noise_more_text(noise_more_runs(&before, &after)).s);
    table_add(table, label);
    add_noise(table, &before, row->unit);
    add_noise(table, &after, row->unit);
    table_add_toned(table, text_change(before.median, after.median).s,
                    row->less_is_better && !hidden ? tone : TONE_PLAIN);
    table_add(table, cell);
}

static bool is_known(const struct metrics_text_runs *runs, const struct row *row) {
    for (size_t i = 0; i < runs->count; i++) {
        if (!isnan(value_of(runs->before[i], row)) && !isnan(value_of(runs->after[i], row))) return true;
    }
    return false;
}

static void add_rows_of_runs(struct table *table, const struct row *rows, size_t count, const char *first,
                             const struct metrics_text_runs *runs, double *spare) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i].only_known && !is_known(runs, &rows[i])) continue;
        add_row_of_runs(table, &rows[i], i == 0 && first ? first : rows[i].label, runs, spare);
    }
}

bool metrics_text_write_runs(const struct metrics_text_runs *runs, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"", TABLE_LEFT},       {"before", TABLE_RIGHT}, {"noise", TABLE_RIGHT},       {"after", TABLE_RIGHT},
        {"noise", TABLE_RIGHT}, {"change", TABLE_RIGHT}, {"within noise", TABLE_LEFT},
    };
    struct table table = TABLE_INIT(columns);
    double *spare = malloc(runs->count * sizeof *spare);
    const struct request_label requests = label_requests(&runs->before[0]->requests);
    if (spare) add_rows_of_runs(&table, two_rows, sizeof two_rows / sizeof *two_rows, NULL, runs, spare);
    if (spare && *requests.s) add_rows_of_runs(&table, request_rows, REQUEST_ROWS, requests.s, runs, spare);
    const bool ok = (spare || error_set(error, STATUS_FAILED, "no memory for %zu runs", runs->count)) &&
                    table_write(&table, file, look, error);
    table_destroy(&table);
    free(spare);
    return ok;
}

// What an estimate is held against.
struct actual_runs {
    const struct metrics *estimated, *const *runs;
    size_t count;
    enum metrics_text_last last;
    double *spare;
};

static void add_actual(struct table *table, const struct row *row, const char *label,
                       const struct actual_runs *actual) {
    const double estimated = value_of(actual->estimated, row);
    const struct noise noise = noise_of_row(actual->runs, actual->count, row, actual->spare);
    const bool no_error = actual->last == LAST_ERROR_OF_PARTS && row->total;
    const struct noise fixed = {.runs = actual->count, .median = estimated};
    const bool hidden = noise_hides(&fixed, &noise) && estimated != noise.median;
    char cell[48] = "";
    if (hidden) snprintf(cell, sizeof cell, "%s", noise_more_text(noise_more_runs(&fixed, &noise)).s);
    if (row->only_known && (isnan(estimated) || noise.runs == 0)) return;
    table_add(table, label);
    table_add(table, show(estimated, row->unit).s);
    add_noise(table, &noise, row->unit);
    table_add(table, no_error ? "" : text_percent(comparison_error(estimated, noise.median)).s);
    table_add(table, no_error ? "" : cell);
}

static void add_actual_requests(struct table *table, const struct actual_runs *actual) {
    const struct request_label first = label_requests(&actual->estimated->requests),
                               second = label_requests(&actual->runs[0]->requests);
    if (!*first.s || strcmp(first.s, second.s) != 0) return;
    for (size_t i = 0; i < REQUEST_ROWS; i++)
        add_actual(table, &request_rows[i], i == 0 ? first.s : request_rows[i].label, actual);
}

static bool add_actual_shared(struct table *table, const struct actual_runs *actual, struct error *error) {
    const struct metrics estimated = comparison_per_request(actual->estimated);
    struct metrics *each = malloc(actual->count * sizeof *each);
    const struct metrics **runs = malloc(actual->count * sizeof *runs);
    struct actual_runs shared = {&estimated, runs, actual->count, LAST_ERROR, actual->spare};
    const bool ok = each && runs;
    for (size_t r = 0; ok && r < actual->count; r++) {
        each[r] = comparison_per_request(actual->runs[r]);
        runs[r] = &each[r];
    }
    for (size_t i = 0; ok && i < sizeof shared_rows / sizeof *shared_rows; i++)
        add_actual(table, &shared_rows[i], shared_rows[i].label, &shared);
    free(runs);
    free(each);
    return ok || error_set(error, STATUS_FAILED, "no memory for %zu runs", actual->count);
}

bool metrics_text_write_actual_runs(const struct metrics *estimated, const struct metrics *const *runs, size_t count,
                                    enum metrics_text_last last, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"", TABLE_LEFT},        {"estimated", TABLE_RIGHT},
                                                  {"actual", TABLE_RIGHT}, {"noise", TABLE_RIGHT},
                                                  {"error", TABLE_RIGHT},  {"within noise", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    const struct actual_runs actual = {estimated, runs, count, last, malloc(count * sizeof(double))};
    bool ok = actual.spare || error_set(error, STATUS_FAILED, "no memory for %zu runs", count);
    for (size_t i = 0; ok && i < sizeof two_rows / sizeof *two_rows; i++)
        add_actual(&table, &two_rows[i], two_rows[i].label, &actual);
    if (ok) add_actual_requests(&table, &actual);
    if (ok && last == LAST_ERROR_OF_PARTS) ok = add_actual_shared(&table, &actual, error);
    ok = ok && table_write(&table, file, look, error);
    table_destroy(&table);
    free(actual.spare);
    return ok;
}

bool metrics_text_write_intervals(const struct intervals *intervals, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"by the tasks' own variation", TABLE_LEFT}, {"5 %", TABLE_RIGHT}, {"95 %", TABLE_RIGHT}};
    static const struct {
        const char *label;
        enum row_unit unit;
    } rows[INTERVAL_FIGURES] = {
        [INTERVAL_WALL] = {"wall", UNIT_DURATION},
        [INTERVAL_THREAD_TIME] = {"thread-time", UNIT_DURATION},
        [INTERVAL_OCCUPIED_PEAK] = {"occupied threads, peak", UNIT_NUMBER},
        [INTERVAL_OCCUPIED_MEAN] = {"occupied threads, mean", UNIT_NUMBER},
        [INTERVAL_WAITING_PEAK] = {"waiting threads, peak", UNIT_NUMBER},
        [INTERVAL_WAITING_MEAN] = {"waiting threads, mean", UNIT_NUMBER},
        [INTERVAL_COMPOSITE] = {"composite", UNIT_NUMBER},
    };
    struct table table = TABLE_INIT(columns);
    bool known = false;
    for (int f = 0; f < INTERVAL_FIGURES; f++) {
        if (isnan(intervals->of[f].low)) continue;
        known = true;
        table_add(&table, rows[f].label);
        table_add(&table, show(intervals->of[f].low, rows[f].unit).s);
        table_add(&table, show(intervals->of[f].high, rows[f].unit).s);
    }
    bool ok = !known || table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && intervals->replicates < intervals->asked)
        look_printf(file, look, 2, "  (%u of %u variations of the run came to an end%s)", intervals->replicates,
                    intervals->asked, known ? "" : ": too few to tell limits");
    return ok;
}

static void add_grain(struct table *table, const struct dag *dag, const struct grain_group *group) {
    const struct trace_site *site = &dag->sites[group->site].site;
    table_add(table, group->grain == GRAIN_FINE ? "fine" : "coarse");
    table_add(table, text_method(site->class_name, site->method).s);
    table_add(table, text_file_line(site).s);
    table_add(table, text_count(group->task_count).s);
    table_add(table, text_duration(group->median_ns).s);
    table_add(table, text_duration(group->handover_ns).s);
    table_add(table, isnan(group->switches_with) ? "-" : text_count((uint64_t)llround(group->switches_with)).s);
    table_add(table, isnan(group->switches_without) ? "-" : text_count((uint64_t)llround(group->switches_without)).s);
    table_add(table, text_fixed(group->cores_idle, 1).s);
}

bool metrics_text_write_grain(const struct dag *dag, const struct grain_group *groups, size_t count, FILE *file,
                              unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"too", TABLE_LEFT},       {"spawned in", TABLE_LEFT},   {"at", TABLE_LEFT},
        {"tasks", TABLE_RIGHT},    {"median", TABLE_RIGHT},      {"hand-over", TABLE_RIGHT},
        {"switches", TABLE_RIGHT}, {"... without", TABLE_RIGHT}, {"idle cores", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t g = 0; g < count; g++) add_grain(&table, dag, &groups[g]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static void add_bytecodes(struct table *table, uint64_t tasks, double total, const struct quantiles *executed) {
    const double figures[] = {executed->mean, executed->p50, executed->p95, executed->max, total};
    table_add(table, text_count(tasks).s);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        table_add(table, isnan(figures[i]) ? "-" : text_count((uint64_t)llround(figures[i])).s);
    }
}

static void add_bytecodes_site(struct table *table, const struct dag *dag, const struct bytecodes_site *site) {
    const struct trace_site *place = site->site == DAG_NONE ? NULL : &dag->sites[site->site].site;
    table_add(table, place ? text_method(place->class_name, place->method).s : "(not spawned)");
    table_add(table, place ? text_file_line(place).s : "");
    add_bytecodes(table, site->tasks, site->total, &site->executed);
}

bool metrics_text_write_bytecodes(const struct dag *dag, const struct bytecodes *bytecodes, size_t most, FILE *file,
                                  unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"tasks spawned in", TABLE_LEFT}, {"at", TABLE_LEFT},   {"tasks", TABLE_RIGHT}, {"mean", TABLE_RIGHT},
        {"median", TABLE_RIGHT},          {"p95", TABLE_RIGHT}, {"most", TABLE_RIGHT},  {"total", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    table_add(&table, "all");
    table_add(&table, "");
    add_bytecodes(&table, bytecodes->tasks, bytecodes->total, &bytecodes->executed);
    size_t count = bytecodes->site_count;
    for (size_t i = 0; i < count && i < most; i++) add_bytecodes_site(&table, dag, &bytecodes->sites[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && count > most) fprintf(file, "  and %s more: --json lists them\n", text_count(count - most).s);
    return ok;
}

static void add_wait(struct table *table, const struct wait_site *wait) {
    table_add(table, text_method(wait->site.class_name, wait->site.method).s);
    table_add(table, text_file_line(&wait->site).s);
    table_add(table, text_count(wait->waits).s);
    table_add(table, text_count(wait->taken).s);
    table_add(table, text_duration((double)wait->total_ns).s);
    table_add(table, text_duration((double)wait->longest_ns).s);
    table_add(table, text_file_line(&wait->spawned).s);
}

bool metrics_text_write_waits(const struct wait_site *waits, size_t count, size_t most, FILE *file, unsigned look,
                              struct error *error) {
    static const struct table_column columns[] = {
        {"waits in", TABLE_LEFT}, {"at", TABLE_LEFT},       {"slept", TABLE_RIGHT},      {"found ready", TABLE_RIGHT},
        {"total", TABLE_RIGHT},   {"longest", TABLE_RIGHT}, {"for tasks of", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < count && i < most; i++) add_wait(&table, &waits[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && count > most) fprintf(file, "  and %s more: --json lists them\n", text_count(count - most).s);
    for (size_t i = 0; ok && i < count && i < most; i++) {
        if (waits[i].timed_out)
            look_printf(file, look, INDENT, "  in %s (%s) %s of %s waits gave up, since their time was up",
                        text_method(waits[i].site.class_name, waits[i].site.method).s, text_file_line(&waits[i].site).s,
                        text_count(waits[i].timed_out).s, text_count(waits[i].waits).s);
    }
    return ok;
}

static void add_lateness(struct table *table, const struct dag *dag, const struct lateness *of) {
    const struct trace_site *place = of->site == DAG_NONE ? NULL : &dag->sites[of->site].site;
    const double figures[] = {of->ns.mean, of->ns.p50, of->ns.p95, of->ns.max};
    table_add(table, place ? text_method(place->class_name, place->method).s : "(not spawned)");
    table_add(table, place ? text_file_line(place).s : "");
    table_add(table, text_count(of->tasks).s);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) table_add(table, text_duration(figures[i]).s);
}

bool metrics_text_write_lateness(const struct dag *dag, const struct lateness *found, size_t count, size_t most,
                                 FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"delayed or periodic in", TABLE_LEFT},
                                                  {"at", TABLE_LEFT},
                                                  {"tasks", TABLE_RIGHT},
                                                  {"late by (mean)", TABLE_RIGHT},
                                                  {"median", TABLE_RIGHT},
                                                  {"p95", TABLE_RIGHT},
                                                  {"most", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < count && i < most; i++) add_lateness(&table, dag, &found[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && count > most) fprintf(file, "  and %s more: --json lists them\n", text_count(count - most).s);
    return ok;
}

static void add_stage(struct table *table, const struct dag *dag, const struct pipeline_stage *of) {
    char name[80];
    table_add(table, dag_pool_text(dag, of->pool, name, sizeof name));
    table_add(table, text_count(of->threads).s);
    table_add(table, text_number(of->busy).s);
    table_add(table, text_count(of->tasks).s);
    const double figures[] = {of->task_ns, of->wait_ns.mean, of->wait_ns.p50, of->wait_ns.p95};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) table_add(table, text_duration(figures[i]).s);
}

bool metrics_text_write_stages(const struct dag *dag, const struct pipeline_stage *stages, size_t count, FILE *file,
                               unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"stage", TABLE_LEFT}, {"threads", TABLE_RIGHT},       {"busy (mean)", TABLE_RIGHT}, {"tasks", TABLE_RIGHT},
        {"take", TABLE_RIGHT}, {"wait in queue", TABLE_RIGHT}, {"median", TABLE_RIGHT},      {"p95", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < count; i++) add_stage(&table, dag, &stages[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static const char *place_of(const struct resource_place *places, size_t count, struct text_place *text) {
    *text = count ? text_file_line(&places[0].site) : (struct text_place){"-"};
    return text->s;
}

static void add_resource(struct table *table, const struct resource_use *use) {
    struct text_place place;
    table_add(table, use->name);
    table_add(table, use->capacity < 0 ? "-" : text_count((uint64_t)use->capacity).s);
    table_add(table, text_fixed(use->holders_mean, 2).s);
    table_add(table, text_count(use->waits).s);
    table_add(table, text_count(use->timed_out).s);
    table_add(table, text_duration((double)use->wait_ns).s);
    table_add(table, place_of(use->waits_at, use->waits_at_count, &place));
    table_add(table, place_of(use->held_at, use->held_at_count, &place));
}

static bool is_same_method(const struct trace_site *a, const struct trace_site *b) {
    return strcmp(text_method(a->class_name, a->method).s, text_method(b->class_name, b->method).s) == 0;
}

// Whether the methods that give it back tell more of its holders than those that take it.
static bool returns_tell_more(const struct resource_use *use) {
    for (size_t r = 0; r < use->returned_at_count; r++) {
        size_t h = 0;
        while (h < use->held_at_count && !is_same_method(&use->returned_at[r].site, &use->held_at[h].site)) h++;
        if (h == use->held_at_count) return true;
    }
    return false;
}

// "Shop.connections was held 2.1 s until Shop.order gave it back (Shop.java:12), 20 ms until Shop.pay did (...)"
static void write_holders(const struct resource_use *use, FILE *file, unsigned look) {
    char text[4096] = "";
    size_t used = 0;
    for (size_t i = 0; i < use->returned_at_count && i < HOLDERS_SHOWN && used < sizeof text; i++) {
        const struct resource_place *place = &use->returned_at[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s %s until %s %s (%s)", i ? "" : "  ",
                                 i ? "," : use->name, i ? "" : " was held", text_duration((double)place->total_ns).s,
                                 text_method(place->site.class_name, place->site.method).s, i ? "did" : "gave it back",
                                 text_file_line(&place->site).s);
    }
    look_write(file, look, INDENT, text);
}

bool metrics_text_write_resources(const struct resource_use *uses, size_t count, size_t most, FILE *file, unsigned look,
                                  struct error *error) {
    static const struct table_column columns[] = {{"resource", TABLE_LEFT},      {"capacity", TABLE_RIGHT},
                                                  {"held (mean)", TABLE_RIGHT},  {"waits", TABLE_RIGHT},
                                                  {"gave up", TABLE_RIGHT},      {"waited", TABLE_RIGHT},
                                                  {"waits most at", TABLE_LEFT}, {"held most at", TABLE_LEFT}};
    size_t waited_for = 0;
    while (waited_for < count && uses[waited_for].waits) waited_for++;
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < waited_for && i < most; i++) add_resource(&table, &uses[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    const size_t shown = waited_for < most ? waited_for : most;
    if (ok && count > shown) fprintf(file, "  and %s more: --json lists them\n", text_count(count - shown).s);
    for (size_t i = 0; ok && i < shown; i++) {
        if (returns_tell_more(&uses[i])) write_holders(&uses[i], file, look);
    }
    return ok;
}

// Of who sleeps unseen the tasks are known, and nothing else.
static void add_blocker(struct table *table, const struct blocker *blocker) {
    const struct trace_site *place = blocker->unseen ? &blocker->spawned : &blocker->site;
    const char *known = blocker->resource ? blocker->resource : blocker->class_name;
    const char *class_name = known ? known : "-";
    table_add(table, blocker->unseen ? "sleep or I/O, by tasks spawned" : class_name);
    table_add(table, text_method(place->class_name, place->method).s);
    table_add(table, text_file_line(place).s);
    table_add(table, text_count(blocker->times).s);
    table_add(table, text_duration((double)blocker->total_ns).s);
    table_add(table, text_duration((double)blocker->longest_ns).s);
}

bool metrics_text_write_blockers(const struct blocker *blockers, size_t count, size_t most, FILE *file, unsigned look,
                                 struct error *error) {
    static const struct table_column columns[] = {{"blocked on", TABLE_LEFT}, {"in", TABLE_LEFT},
                                                  {"at", TABLE_LEFT},         {"times", TABLE_RIGHT},
                                                  {"total", TABLE_RIGHT},     {"longest", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < count && i < most; i++) add_blocker(&table, &blockers[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && count > most) fprintf(file, "  and %s more: --json lists them\n", text_count(count - most).s);
    return ok;
}
