// SPDX-License-Identifier: GPL-3.0-or-later
// Events of a stream, decoded a batch ahead of the one in hand: what is known of the tasks that they name is then there
// from memory when they come up. What becomes known of a task meanwhile, its batch does not know.
#ifndef REHYPE_DAG_READER_H
#define REHYPE_DAG_READER_H

#include "dag/build/builder.h"

struct event_batch {
    struct event events[32];
    uint32_t sightings[32]; // what is known of the task that each names, or IDMAP_NONE; of function events nothing
    uint32_t count;
};

struct event_reader {
    struct trace_cursor cursor;
    struct event_batch batches[2];
    bool second; // which of them is in hand
};

void reader_begin(struct builder *builder, struct event_reader *reader, uint32_t stream);
// Valid until the next call; NULL: none is left, or it is damaged, as builder->error says.
const struct event_batch *reader_next(struct builder *builder, struct event_reader *reader);

#endif
