// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/trace_summary.h"

#include "report/look.h"
#include "report/table.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool finish(struct table *table, FILE *file, unsigned look, struct error *error) {
    bool ok = table->cell_count == 0 || table_write(table, file, look, error);
    table_destroy(table);
    return ok;
}

static bool write_kinds(const struct trace *trace, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"event", TABLE_LEFT}, {"count", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        if (trace->events_of_kind[kind] == 0) continue;
        table_add(&table, event_kind_info(kind)->name);
        table_add(&table, text_count(trace->events_of_kind[kind]).s);
    }
    return finish(&table, file, look, error);
}

static bool write_lost(const struct trace *trace, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"thread", TABLE_LEFT}, {"lost events", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct trace_stream *stream = &trace->streams[i];
        if (stream->lost_events == 0) continue;
        table_add(&table, stream->thread.name ? stream->thread.name : "-");
        table_add(&table, text_count(stream->lost_events).s);
    }
    return finish(&table, file, look, error);
}

static int compare_why(const void *left, const void *right) {
    const struct trace_skip *const *a = left, *const *b = right;
    return strcmp((*a)->why ? (*a)->why : "", (*b)->why ? (*b)->why : "");
}

static void add_reason(struct table *table, const struct trace_skip *skip, size_t count) {
    char cell[32];
    snprintf(cell, sizeof cell, "%zu", count);
    table_add(table, skip->why ? skip->why : "-");
    table_add(table, cell);
    table_add(table, skip->method ? skip->method : "-");
}

static bool write_skips(const struct trace *trace, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"not woven because", TABLE_LEFT}, {"methods", TABLE_RIGHT}, {"one of them", TABLE_LEFT}};
    size_t count = trace->end.skip_count;
    const struct trace_skip **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted) return error_set(error, STATUS_FAILED, "no memory for a table");
    for (size_t i = 0; i < count; i++) sorted[i] = &trace->end.skips[i];
    qsort(sorted, count, sizeof *sorted, compare_why);
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0, first = 0; i < count; i++) {
        if (i + 1 < count && compare_why(&sorted[first], &sorted[i + 1]) == 0) continue;
        add_reason(&table, sorted[first], i + 1 - first);
        first = i + 1;
    }
    free(sorted);
    return finish(&table, file, look, error);
}

static void write_weaving(const struct trace *trace, FILE *file) {
    if (!trace->has_end) return;
    fprintf(file, "\n  %s methods of %s classes woven, %s skipped\n", text_count(trace->end.methods_woven).s,
            text_count(trace->end.classes_woven).s, text_count(trace->end.skip_count).s);
}

void trace_summary_write_stop(const struct trace *trace, FILE *file, unsigned look) {
    char why[512];
    if (!trace->end.stopped_because) return;
    snprintf(why, sizeof why, "the tracer stopped before the program did: %s", trace->end.stopped_because);
    putc('\n', file);
    look_lead(file, look, TONE_WARNING, "  WARNING: ", 4, why);
}

bool trace_summary_write(const struct trace *trace, FILE *file, unsigned look, struct error *error) {
    if (!write_kinds(trace, file, look, error)) return false;
    fprintf(file, "\n  lost events: %s\n", trace->lost_events ? text_count(trace->lost_events).s : "none");
    if (!write_lost(trace, file, look, error)) return false;
    write_weaving(trace, file);
    if (!write_skips(trace, file, look, error)) return false;
    trace_summary_write_stop(trace, file, look);
    return true;
}
