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

// A tournament: who stands in it has a leaf, and each inner node holds the earlier of the two below it. To change a
// leaf takes as many comparisons as there are levels, none of which hangs on how another came out.
struct agenda {
    agenda_entry *nodes; // [1] comes first of all; below node n are 2 n and 2 n + 1; [leaves ..] the leaves
    uint32_t *place;     // a strand each: its leaf, or AGENDA_NONE
    uint32_t *unused;    // leaves; from `count` on those that nobody stands on
    uint32_t count, capacity, leaves; // leaves: a power of two that at one time was no more than twice `count`, or 0
};

// Zero-initialise. Room for `strands`; growing keeps what stands in it. false: no memory.
bool agenda_reserve(struct agenda *agenda, uint32_t strands);
void agenda_clear(struct agenda *agenda);
void agenda_destroy(struct agenda *agenda);

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns); // the strand must not stand in it
uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns);            // the next; AGENDA_NONE: nobody is left
void agenda_remove(struct agenda *agenda, uint32_t strand);               // nothing where it doesn't stand in it

static inline int64_t agenda_next_ns(const struct agenda *agenda) { // INT64_MAX: nobody is left
    return agenda->count ? (int64_t)(agenda->nodes[1] >> 64) : INT64_MAX;
}

// Whether (time, strand) would be the next.
static inline bool agenda_precedes(const struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    return agenda->count == 0 || agenda_entry_of(strand, time_ns) < agenda->nodes[1];
}

#endif
