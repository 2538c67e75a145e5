// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/reader.h"

FETCHES_AHEAD prefetch_tasks(const struct builder *builder, const struct event_batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->sightings[i] == IDMAP_NONE) continue;
        uint32_t task = builder->sightings[batch->sightings[i]].task;
        if (task == DAG_NONE) continue;
        __builtin_prefetch(&builder->dag->tasks[task].site, 1); // a task takes two lines
        __builtin_prefetch(&builder->dag->tasks[task].awaited, 1);
    }
}

// Whether an event's first operand may be a task.
static inline bool may_name_task(unsigned kind) {
    const uint64_t others = UINT64_C(1) << EVENT_ENTER | UINT64_C(1) << EVENT_EXIT | UINT64_C(1) << EVENT_EXIT_THROW |
                            UINT64_C(1) << EVENT_WORKER_BEGIN | UINT64_C(1) << EVENT_IDLE | UINT64_C(1) << EVENT_BUSY |
                            UINT64_C(1) << EVENT_RETIRE | UINT64_C(1) << EVENT_RUN_DELAY | UINT64_C(1) << EVENT_TURNS;
    return !(others >> kind & 1);
}

FETCHES_AHEAD prefetch_sighting(const struct builder *builder, uint32_t sighting) {
    if (sighting == IDMAP_NONE) return;
    __builtin_prefetch(&builder->sightings[sighting].id, 1); // most take two lines
    __builtin_prefetch(&builder->sightings[sighting].seen, 1);
}

// A thread's events often name one task several times in a row.
static void find_sightings(struct builder *builder, struct event_batch *batch) {
    uint64_t ids[IDS_AT_ONCE] = {0};
    uint32_t numbers[IDS_AT_ONCE + 1] = {IDMAP_NONE}, count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        bool names = may_name_task(event->kind) && event->operand[0] != 0;
        if (names && (count == 0 || ids[count - 1] != event->operand[0])) ids[count++] = event->operand[0];
        batch->sightings[i] = names ? count : 0;
    }
    idpages_get_all(&builder->sighting_of_id, ids, count, &numbers[1]);
    for (uint32_t i = 1; i <= count; i++) prefetch_sighting(builder, numbers[i]);
    for (uint32_t i = 0; i < batch->count; i++) batch->sightings[i] = numbers[batch->sightings[i]];
}

static void decode_batch(struct builder *builder, struct trace_cursor *cursor, struct event_batch *batch) {
    enum { ROOM = sizeof batch->events / sizeof *batch->events };
    _Static_assert(ROOM <= IDS_AT_ONCE, "a batch may name as many tasks as it has events");
    batch->count = trace_cursor_read(cursor, batch->events, ROOM, builder->error);
    find_sightings(builder, batch);
}

void reader_begin(struct builder *builder, struct event_reader *reader, uint32_t stream) {
    trace_cursor_init(&reader->cursor, builder->trace, &builder->trace->streams[stream]);
    reader->second = false;
    decode_batch(builder, &reader->cursor, &reader->batches[1]);
}

// Sightings that the batch names were fetched when it was decoded, their tasks are as it comes up.
const struct event_batch *reader_next(struct builder *builder, struct event_reader *reader) {
    reader->second = !reader->second;
    const struct event_batch *batch = &reader->batches[reader->second];
    if (batch->count == 0) return NULL;
    if (builder->dag->tasks) prefetch_tasks(builder, batch);
    decode_batch(builder, &reader->cursor, &reader->batches[!reader->second]);
    return batch;
}
