// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/carry_part.h"

#include "report/page/room.h"
#include "tracefile/slice.h"

#include <stdlib.h>

enum { TRIES = 6 };
#define MARGIN 0.9 // events are not spread evenly over the time

static bool event_at(const struct trace *trace, const struct trace_stream *stream, uint64_t ordinal,
                     struct event *event, struct error *error) {
    struct trace_cursor cursor;
    trace_cursor_init(&cursor, trace, stream);
    for (uint64_t at = trace_cursor_seek(&cursor, ordinal); at <= ordinal; at++)
        if (!trace_cursor_next(&cursor, event, error)) return error->status == STATUS_OK;
    return true;
}

bool carry_whole_range(const struct trace *trace, struct carry_range *range, struct error *error) {
    *range = (struct carry_range){UINT64_MAX, 0};
    error->status = STATUS_OK;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        const struct trace_stream *stream = &trace->streams[s];
        struct event first = {0}, last = {0};
        if (stream->event_count == 0) continue;
        if (!event_at(trace, stream, 0, &first, error) ||
            !event_at(trace, stream, stream->event_count - 1, &last, error))
            return false;
        if (first.time < range->from_ns) range->from_ns = first.time;
        if (last.time >= range->to_ns) range->to_ns = last.time + 1;
    }
    return true;
}

// How much of what was tried may fit, as a share of its time; 1: all of it.
static double share_that_fits(const struct trace *trace, const struct carried *tried, size_t most) {
    const double vertices = (double)vertices_of(trace), bytes = (double)tried->bytes;
    double share = vertices > VERTICES_MOST ? VERTICES_MOST / vertices : 1;
    if (bytes > (double)most && (double)most / bytes < share) share = (double)most / bytes;
    return share;
}

static struct carry_range middle_of(const struct carry_range *within, double length_ns) {
    const double whole_ns = (double)(within->to_ns - within->from_ns);
    if (length_ns >= whole_ns) return *within;
    const uint64_t from_ns = within->from_ns + (uint64_t)((whole_ns - length_ns) / 2);
    return (struct carry_range){from_ns, from_ns + (uint64_t)length_ns + 1};
}

static bool try(const struct trace *trace, size_t most, struct carried_part *part, struct error *error) {
    part->trace = trace_slice(trace, part->range.from_ns, part->range.to_ns, &part->memory, error);
    return part->trace && carry_trace(part->trace, most, &part->carried, error);
}

bool carry_part(const struct trace *trace, const struct carry_range *within, const struct carried *whole, size_t most,
                struct carried_part *part, struct error *error) {
    struct carry_range all;
    *part = (struct carried_part){0};
    if (!carry_whole_range(trace, &all, error)) return false;
    double length_ns = MARGIN * share_that_fits(trace, whole, most) * (double)(all.to_ns - all.from_ns);
    for (int i = 0; i < TRIES && length_ns >= 1; i++) {
        part->range = middle_of(within, length_ns);
        if (!try(trace, most, part, error)) return false;
        if (part->carried.text) return true;
        const double share = MARGIN * share_that_fits(part->trace, &part->carried, most);
        length_ns = share * (double)(part->range.to_ns - part->range.from_ns);
        carried_part_destroy(part);
    }
    return true;
}

void carried_part_destroy(struct carried_part *part) {
    trace_close(part->trace);
    free(part->memory.bytes);
    free(part->carried.text);
    *part = (struct carried_part){0};
}
