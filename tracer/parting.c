// SPDX-License-Identifier: Apache-2.0
#include "tracer/parting.h"

#include "tracer/ring.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(void *array, size_t count, size_t *capacity, size_t size) {
    if (count <= *capacity) return true;
    size_t larger = *capacity ? *capacity : 256;
    while (larger < count) larger *= 2;
    void **pointer = array, *grown = realloc(*pointer, larger * size);
    if (!grown) return false;
    *pointer = grown;
    *capacity = larger;
    return true;
}

static bool keep(struct parting *parting, uint64_t owner, const struct event *event) {
    struct parting_segment *last = parting->segment_count ? &parting->segments[parting->segment_count - 1] : NULL;
    if (!last || last->owner != owner || parting->segment_count == parting->awaiting) {
        if (!reserve(&parting->segments, parting->segment_count + 1, &parting->segment_capacity, sizeof *last))
            return false;
        last = &parting->segments[parting->segment_count];
        *last = (struct parting_segment){owner, parting->event_count, 0, parting->segment_count};
        parting->segment_count++;
    }
    if (!reserve(&parting->events, parting->event_count + 1, &parting->event_capacity, sizeof *event)) return false;
    parting->events[parting->event_count++] = *event;
    last->count++;
    return true;
}

// How many events come before the first switch: all, but of carriers.
static size_t before_switches(const struct event *events, size_t count) {
    size_t i = 0;
    while (i < count && events[i].kind != RING_SWITCH) i++;
    return i;
}

bool parting_take(struct parting *parting, uint64_t *owner, struct event *events, size_t *count) {
    size_t own = *owner ? 0 : before_switches(events, *count);
    for (size_t i = own; i < *count; i++) {
        if (events[i].kind == RING_SWITCH) {
            *owner = events[i].operand[0];
        } else if (*owner == 0) {
            events[own++] = events[i];
        } else if (!keep(parting, *owner, &events[i])) {
            return false;
        }
    }
    *count = own;
    return true;
}

static uint32_t thread_of(const struct parting_segment *segment) {
    return (uint32_t)segment->owner;
}

// By thread; of a thread by turn, the few that are at hand at a time being less than half a cycle apart; of a turn, all
// on one carrier, as they came.
static int compare(const void *left_, const void *right_) {
    const struct parting_segment *left = left_, *right = right_;
    if (thread_of(left) != thread_of(right)) return thread_of(left) < thread_of(right) ? -1 : 1;
    int32_t turns = (int32_t)((uint32_t)((left->owner >> 32) - (right->owner >> 32)) << 8);
    if (turns) return turns < 0 ? -1 : 1;
    return left->arrival < right->arrival ? -1 : 1;
}

static int compare_arrivals(const void *left_, const void *right_) {
    const struct parting_segment *left = left_, *right = right_;
    return left->arrival < right->arrival ? -1 : 1;
}

// Where events go.
struct outlet {
    parting_sink *sink;
    void *context;
};

static bool write_segments(struct parting *parting, const struct outlet *outlet, const struct parting_segment *segments,
                           size_t count) {
    size_t events = 0;
    for (size_t i = 0; i < count; i++) events += segments[i].count;
    if (!reserve(&parting->sorted, events, &parting->sorted_capacity, sizeof *parting->sorted)) return false;
    struct event *at = parting->sorted;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, parting->events + segments[i].first, segments[i].count * sizeof *at);
        at += segments[i].count;
    }
    return count == 0 || outlet->sink(outlet->context, thread_of(segments), parting->sorted, events);
}

// Writes one thread's segments up to the last that is settled, and keeps the rest. Returns how many are left, moved to
// `kept`, or SIZE_MAX.
static size_t write_thread(struct parting *parting, const struct outlet *outlet, struct parting_segment *segments,
                           size_t count, bool all, struct parting_segment *kept) {
    size_t ready = all ? count : 0;
    for (size_t i = 0; i < count && !all; i++) {
        if (segments[i].arrival < parting->settled) ready = i + 1;
    }
    if (!write_segments(parting, outlet, segments, ready)) return SIZE_MAX;
    memmove(kept, segments + ready, (count - ready) * sizeof *kept);
    return count - ready;
}

static void close_ranks(struct parting *parting, size_t kept) {
    qsort(parting->segments, kept, sizeof *parting->segments, compare_arrivals);
    size_t awaiting = parting->awaiting;
    parting->event_count = parting->awaiting = 0;
    for (size_t i = 0; i < kept; i++) {
        struct parting_segment *segment = &parting->segments[i];
        if (segment->arrival < awaiting) parting->awaiting = i + 1;
        memmove(parting->events + parting->event_count, parting->events + segment->first,
                segment->count * sizeof *parting->events);
        segment->first = parting->event_count;
        segment->arrival = i;
        parting->event_count += segment->count;
    }
    parting->segment_count = kept;
    parting->settled = 0;
}

void parting_round(struct parting *parting) {
    parting->settled = parting->awaiting;
    parting->awaiting = parting->segment_count;
}

bool parting_write(struct parting *parting, parting_sink *sink, void *context, bool all) {
    const struct outlet outlet = {sink, context};
    struct parting_segment *segments = parting->segments;
    size_t kept = 0;
    if (parting->segment_count == 0) return true;
    qsort(segments, parting->segment_count, sizeof *segments, compare);
    for (size_t first = 0, end = 0; first < parting->segment_count; first = end) {
        while (end < parting->segment_count && thread_of(&segments[end]) == thread_of(&segments[first])) end++;
        size_t left = write_thread(parting, &outlet, segments + first, end - first, all, segments + kept);
        if (left == SIZE_MAX) return false;
        kept += left;
    }
    close_ranks(parting, kept);
    return true;
}

void parting_destroy(struct parting *parting) {
    free(parting->events);
    free(parting->sorted);
    free(parting->segments);
    *parting = (struct parting){0};
}
