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

enum { AGENDA_NEAR = 64, AGENDA_STEP = 4 };

// Two lists (Blackstone, Hogg, Phillips, A Two-List Synchronization Procedure for Discrete Event Simulation, CACM 24,
// 1981): the few that come first lie in order, so that to take one is to shorten a list, and to put one moves those
// that come before it, 16 bytes each, AGENDA_STEP at a time. Those that come later than all of these, where there are
// any, stand in a tournament: each has a leaf, and each inner node holds the earlier of the two below it, so that to
// change a leaf takes as many comparisons as there are levels, none of which hangs on how another came out.
struct agenda {
    agenda_entry near[AGENDA_STEP + AGENDA_NEAR]; // AGENDA_STEP that come after everybody, then near_count in order,
                                                  // the next one last
    uint32_t near_count;                          // 0 only where nobody is left
    agenda_entry *far;                    // [1] comes first; below node n are 2 n and 2 n + 1; [leaves ..] the leaves
    uint32_t *place;                      // a strand each: its leaf, AGENDA_IS_NEAR, or AGENDA_NONE
    uint32_t *unused;                     // leaves; from `far_count` on those that nobody stands on
    uint32_t far_count, capacity, leaves; // leaves: a power of two that at one time was no more than twice `far_count`,
                                          // or 0
};
#define AGENDA_IS_NEAR (AGENDA_NONE - 1)

// Zero-initialise, and reserve before anything else. Room for `strands`; growing keeps what stands in it. false: no
// memory.
bool agenda_reserve(struct agenda *agenda, uint32_t strands);
void agenda_clear(struct agenda *agenda);
void agenda_destroy(struct agenda *agenda);

void agenda_put(struct agenda *agenda, uint32_t strand, int64_t time_ns); // the strand must not stand in it
uint32_t agenda_take(struct agenda *agenda, int64_t *time_ns);            // the next; AGENDA_NONE: nobody is left
void agenda_remove(struct agenda *agenda, uint32_t strand);               // nothing where it doesn't stand in it

static inline uint32_t agenda_count(const struct agenda *agenda) {
    return agenda->near_count + agenda->far_count;
}

static inline int64_t agenda_next_ns(const struct agenda *agenda) { // INT64_MAX: nobody is left
    return (int64_t)(agenda->near[AGENDA_STEP - 1 + agenda->near_count] >> 64);
}

// Whether (time, strand) would be the next.
static inline bool agenda_precedes(const struct agenda *agenda, uint32_t strand, int64_t time_ns) {
    return agenda_entry_of(strand, time_ns) < agenda->near[AGENDA_STEP - 1 + agenda->near_count];
}

#endif
