// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/series.h"

#include "cli/recorded.h"
#include "metrics/runs.h"
#include "report/table.h"
#include "report/text.h"
#include "tracefile/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *series_path(const char *path, unsigned run, struct arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const size_t stem = dot ? (size_t)(dot - path) : strlen(path), size = strlen(path) + sizeof "-run" + 10;
    char *text = ARENA_NEW(arena, char, size);
    if (text) snprintf(text, size, "%.*s-run%u%s", (int)stem, path, run, path + stem);
    return text;
}

// ---- What was recorded

// Of a run's trace.
struct row {
    char *path;
    uint64_t events, lost;
    double wall_ns; // NAN: unknown
};

// When the stream's last event was, which lies in its last block.
static int64_t stream_end_ns(const struct trace *trace, const struct trace_stream *stream, struct error *error) {
    struct trace_cursor cursor;
    struct event event = {0};
    trace_cursor_init(&cursor, trace, stream);
    if (stream->event_count) trace_cursor_seek(&cursor, stream->event_count - 1);
    while (trace_cursor_next(&cursor, &event, error)) {
    }
    return (int64_t)event.time;
}

// Times are from the trace's first event on.
static double wall_of(const struct trace *trace) {
    struct error error = ERROR_INIT;
    int64_t end_ns = 0;
    if (trace->event_count == 0 || trace->part.number > 0) return NAN;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        const int64_t stream_ns = stream_end_ns(trace, &trace->streams[s], &error);
        if (stream_ns > end_ns) end_ns = stream_ns;
    }
    return error.status == STATUS_OK ? (double)end_ns : NAN;
}

static void take_file(void *context, const char *path, size_t index) {
    struct row *row = context;
    struct error error = ERROR_INIT; // its summary has said it
    struct trace *trace = trace_open(path, false, &error);
    const double wall_ns = trace ? wall_of(trace) : NAN;
    if (index == 0 || wall_ns > row->wall_ns) {
        free(row->path);
        *row = (struct row){.path = strdup(path), .wall_ns = wall_ns};
        if (trace) row->events = trace->event_count;
        if (trace) row->lost = trace->lost_events;
    }
    trace_close(trace);
}

static void add_row(struct table *table, size_t run, const struct row *row) {
    const char *slash = row->path ? strrchr(row->path, '/') : NULL;
    table_add(table, text_count(run).s);
    table_add(table, text_duration(row->wall_ns).s);
    table_add(table, text_count(row->events).s);
    table_add(table, text_count(row->lost).s);
    table_add(table, slash ? slash + 1 : "-");
}

static void write_median(double *walls, size_t count, FILE *file, unsigned look) {
    const struct noise noise = noise_of(walls, count); // which sorts
    if (noise.runs < 2) return;
    look_printf(file, look, 8,
                "rehype: wall time of %s runs: median %s, from %s to %s; the median is known within %s (%s)",
                text_count(noise.runs).s, text_duration(noise.median).s, text_duration(walls[0]).s,
                text_duration(walls[noise.runs - 1]).s, text_duration(noise.half_width).s,
                text_percent(noise.half_width / noise.median).s);
}

bool series_write(const struct series_run *runs, size_t count, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"run", TABLE_RIGHT},
                                                  {"wall", TABLE_RIGHT},
                                                  {"events", TABLE_RIGHT},
                                                  {"lost events", TABLE_RIGHT},
                                                  {"trace", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    double *walls = malloc((count + 1) * sizeof *walls);
    for (size_t i = 0; walls && i < count; i++) {
        struct row row = {.wall_ns = NAN};
        recorded_visit(runs[i].path, runs[i].start, take_file, &row);
        add_row(&table, i + 1, &row);
        walls[i] = row.wall_ns;
        free(row.path);
    }
    putc('\n', file);
    const bool ok = (walls || error_set(error, STATUS_FAILED, "no memory for %zu runs", count)) &&
                    table_write(&table, file, look, error);
    if (ok) write_median(walls, count, file, look);
    table_destroy(&table);
    free(walls);
    return ok;
}
