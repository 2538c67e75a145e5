// SPDX-License-Identifier: GPL-3.0-or-later
// What happens next in a simulation: strands by the time at which each has something to do. A strand stands in it once
// at most. At one time the strand with the lower number comes first, so that the order depends on nothing else.
#ifndef REHYPE_DAG_AGENDA_H
#define REHYPE_DAG_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENDA_NONE UINT32_MAX

// A time in the upper half, a strand in the lower one: who comes first is one comparison.
__extension__ typedef __int128 agenda_entry;

static inline agenda_entry agenda_entry_of(uint32_t strand, int64_t time_ns) {
    return (agenda_entry)time_ns * ((agenda_entry)1 << 64) + strand;
}

struct agenda { // a binary heap that knows where everyone stands
    agenda_entry *heap;
    uint32_t *place; // a strand each: index into heap, or AGENDA_NONE
    uint32_t count, capacity;
};

// Zero-initialise. Room for `strands`; growing keeps what stands in it. false: no memory.
bool agenda_reserve(struct agenda *agenda, uint32_t strands);
void agenda_clear(struct agenda *agenda);
void agenda_destroy(struct agenda *agenda);

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns); // the strand must not stand in it
uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns);            // the next; AGENDA_NONE: nobody is left
void agenda_remove(struct agenda *agenda, uint32_t strand);               // nothing where it doesn't stand in it

static inline int64_t agenda_next_ns(const struct agenda *agenda) { // INT64_MAX: nobody is left
    return agenda->count ? (int64_t)(agenda->heap[0] >> 64) : INT64_MAX;
}

// Whether (time, strand) would be the next.
static inline bool agenda_precedes(const struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    return agenda->count == 0 || agenda_entry_of(strand, time_ns) < agenda->heap[0];
}

#endif
