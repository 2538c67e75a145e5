// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/actor_runs_text.h"

#include "report/table.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4 };

enum figure_unit { FIGURE_DURATION, FIGURE_COUNT, FIGURE_NUMBER, FIGURE_RATE, FIGURE_SHARE };

struct figure {
    const char *label;
    enum figure_unit unit;
    bool sums; // over traces it means something
    double (*value)(const struct actor_run *run);
};

static struct text show(double value, enum figure_unit unit) {
    switch (unit) {
    case FIGURE_DURATION:
        return text_duration(value);
    case FIGURE_COUNT:
        return isnan(value) ? text_number(value) : text_count((uint64_t)value);
    case FIGURE_RATE:
        return text_rate(value);
    case FIGURE_SHARE:
        return text_percent(value);
    default:
        return text_fixed(value, 2);
    }
}

// ---- the figures

static double wall(const struct actor_run *run) {
    return (double)run->metrics.wall_ns;
}

static double peak(const struct actor_run *run) {
    return run->metrics.threads[STATE_OCCUPIED].peak;
}

static double mean(const struct actor_run *run) {
    return run->metrics.threads[STATE_OCCUPIED].mean;
}

static double actors(const struct actor_run *run) {
    return (double)run->findings.actors.count;
}

static double sent(const struct actor_run *run) {
    return (double)balances_sent(&run->findings.messages.balances);
}

static double received(const struct actor_run *run) {
    return (double)run->findings.messages.flow.received;
}

static double rate(const struct actor_run *run) {
    return run->findings.messages.flow.per_s;
}

static double at_once(const struct actor_run *run) {
    return run->findings.messages.parallelism_mean;
}

static double handling(const struct actor_run *run) {
    return run->findings.messages.flow.processing_ns.p50;
}

static double waiting(const struct actor_run *run) {
    return run->findings.messages.flow.queue_wait_ns.p50;
}

static double share(const struct actor_run *run) {
    return run->findings.actors.initialisation_share;
}

static double utilisation(const struct actor_run *run) {
    return run->findings.actors.utilisation.p50;
}

static double triggers(const struct actor_run *run) {
    return run->findings.triggers.all.per_s;
}

static double overhead(const struct actor_run *run) {
    return run->findings.triggers.all.overhead_share;
}

static double consistency(const struct actor_run *run) {
    return run->findings.triggers.consistency;
}

static const struct figure figures[] = {
    {"wall", FIGURE_DURATION, false, wall},
    {"occupied threads, peak", FIGURE_NUMBER, false, peak},
    {"occupied threads, mean", FIGURE_NUMBER, false, mean},
    {"actors", FIGURE_COUNT, true, actors},
    {"messages sent", FIGURE_COUNT, true, sent},
    {"messages handled", FIGURE_COUNT, true, received},
    {"... a second", FIGURE_RATE, false, rate},
    {"... at once, mean", FIGURE_NUMBER, false, at_once},
    {"handling, median", FIGURE_DURATION, false, handling},
    {"in the mailbox, median", FIGURE_DURATION, false, waiting},
    {"share of making actors", FIGURE_SHARE, false, share},
    {"utilisation, median", FIGURE_NUMBER, false, utilisation},
};

static const struct figure trigger_figures[] = {
    {"triggers", FIGURE_RATE, false, triggers},
    {"time on other messages", FIGURE_SHARE, false, overhead},
    {"updates that were whole", FIGURE_SHARE, false, consistency},
};

// ---- the table

struct sheet {
    const struct actor_run *runs;
    size_t count;
    struct table table;
};

static void add_row(struct sheet *sheet, const char *label, enum figure_unit unit, const double *values, bool sums) {
    double sum = 0;
    table_add(&sheet->table, label);
    for (size_t r = 0; r < sheet->count; r++) {
        table_add(&sheet->table, show(values[r], unit).s);
        sum += values[r];
    }
    if (sheet->count == 2) table_add(&sheet->table, text_change(values[0], values[1]).s);
    table_add(&sheet->table, sums ? show(sum, unit).s : "");
}

static void add_figures(struct sheet *sheet, const struct figure *all, size_t count, double *values) {
    for (size_t f = 0; f < count; f++) {
        for (size_t r = 0; r < sheet->count; r++) values[r] = all[f].value(&sheet->runs[r]);
        add_row(sheet, all[f].label, all[f].unit, values, all[f].sums);
    }
}

static const struct latency_figures *latency_at(const struct actor_run *run, size_t path) {
    return &run->findings.latencies[path];
}

// Segments stand beside each other where both runs have the same ones.
static bool has_segments_alike(const struct sheet *sheet, size_t path) {
    const struct latency_figures *first = latency_at(&sheet->runs[0], path);
    for (size_t r = 0; r < sheet->count; r++) {
        const struct latency_figures *other = latency_at(&sheet->runs[r], path);
        if (other->segment_count != first->segment_count) return false;
        for (uint32_t s = 0; s < first->segment_count; s++) {
            if (other->segments[s].id != first->segments[s].id) return false;
        }
    }
    return true;
}

static void add_latency(struct sheet *sheet, size_t path, double *values) {
    char label[256];
    for (size_t r = 0; r < sheet->count; r++) values[r] = latency_at(&sheet->runs[r], path)->latency_ns.p50;
    snprintf(label, sizeof label, "%.200s, median", latency_at(&sheet->runs[0], path)->path);
    add_row(sheet, label, FIGURE_DURATION, values, false);
    const uint32_t segments = has_segments_alike(sheet, path) ? latency_at(&sheet->runs[0], path)->segment_count : 0;
    for (uint32_t s = 0; s < segments; s++) {
        for (size_t r = 0; r < sheet->count; r++) values[r] = latency_at(&sheet->runs[r], path)->segments[s].ns.p50;
        snprintf(label, sizeof label, "... span %u", (unsigned)latency_at(&sheet->runs[0], path)->segments[s].id);
        add_row(sheet, label, FIGURE_DURATION, values, false);
    }
}

// What the latency of two runs differs by, and the span that has most of it.
static void say_latency(const struct sheet *sheet, size_t path, FILE *file, unsigned look) {
    const struct latency_figures *then = latency_at(&sheet->runs[0], path), *now = latency_at(&sheet->runs[1], path);
    char by[128] = "";
    if (!then->chains || !now->chains) return;
    const uint32_t segments = has_segments_alike(sheet, path) ? then->segment_count : 0;
    uint32_t most = 0;
    for (uint32_t s = 1; s < segments; s++) {
        const double change_ns = fabs(now->segments[s].ns.p50 - then->segments[s].ns.p50);
        if (change_ns > fabs(now->segments[most].ns.p50 - then->segments[most].ns.p50)) most = s;
    }
    if (segments)
        snprintf(by, sizeof by, ", mostly by span %u: %s instead of %s", (unsigned)now->segments[most].id,
                 text_duration(now->segments[most].ns.p50).s, text_duration(then->segments[most].ns.p50).s);
    look_printf(file, look, INDENT, "%s takes %s instead of %s in the median (%s)%s", now->path,
                text_duration(now->latency_ns.p50).s, text_duration(then->latency_ns.p50).s,
                text_change(then->latency_ns.p50, now->latency_ns.p50).s, by);
}

static void say(const struct sheet *sheet, FILE *file, unsigned look) {
    const struct balances sum = actor_runs_sum(sheet->runs, sheet->count);
    const struct actor_findings *first = &sheet->runs[0].findings;
    const double correlation = actor_runs_correlation(sheet->runs, sheet->count);
    char correlate[96] = "";
    if (!isnan(correlation))
        snprintf(correlate, sizeof correlate, "; those sent and wall time correlate by %s", text_number(correlation).s);
    look_printf(file, look, INDENT, "%s traces; %s messages sent, %s received%s", text_count(sheet->count).s,
                text_count(balances_sent(&sum)).s, text_count(sum.received).s, correlate);
    for (size_t path = 0; sheet->count == 2 && !first->latencies_found && path < first->latency_count; path++)
        say_latency(sheet, path, file, look);
    putc('\n', file);
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void set_columns(const struct sheet *sheet, struct table_column *columns) {
    size_t c = 0;
    columns[c++] = (struct table_column){"", TABLE_LEFT};
    for (size_t r = 0; r < sheet->count; r++)
        columns[c++] = (struct table_column){file_name(sheet->runs[r].trace), TABLE_RIGHT};
    if (sheet->count == 2) columns[c++] = (struct table_column){"change", TABLE_RIGHT};
    columns[c] = (struct table_column){"sum", TABLE_RIGHT};
}

static void fill(struct sheet *sheet, double *values) {
    const struct actor_findings *first = &sheet->runs[0].findings;
    add_figures(sheet, figures, sizeof figures / sizeof *figures, values);
    if (first->trigger) add_figures(sheet, trigger_figures, first->update ? 3 : 2, values);
    for (size_t path = 0; !first->latencies_found && path < first->latency_count; path++)
        add_latency(sheet, path, values);
}

bool actor_runs_text_write(const struct actor_run *runs, size_t count, FILE *file, unsigned look, struct error *error) {
    struct table_column *columns = malloc((count + 3) * sizeof *columns);
    double *values = malloc(count * sizeof *values);
    struct sheet sheet = {.runs = runs, .count = count};
    bool ok = columns && values;
    if (ok) {
        set_columns(&sheet, columns);
        sheet.table = (struct table){.columns = columns, .column_count = count + (count == 2 ? 3 : 2)};
        fill(&sheet, values);
        say(&sheet, file, look);
        ok = table_write(&sheet.table, file, look, error);
        table_destroy(&sheet.table);
    } else {
        error_set(error, STATUS_FAILED, "no memory for %zu traces", count);
    }
    free(columns);
    free(values);
    return ok;
}
