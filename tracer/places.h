// SPDX-License-Identifier: Apache-2.0
// Places in the program that one thread comes to thousands of times: their sites are at hand, and the stack, whose walk
// costs a microsecond or more, is walked ever more rarely. No JVM type in it.
//
// A place is known by the stack pointer: frames of the same size in the same order have the same one, so most likely it
// is the same place. Where two were seen to look alike, the stack is walked each time from then on.
#ifndef REHYPE_TRACER_PLACES_H
#define REHYPE_TRACER_PLACES_H

#include <stdbool.h>
#include <stdint.h>

enum { PLACES_AT_HAND = 16 };

struct place_at_hand {
    const void *stack_pointer;
    uint32_t class; // of the object there
    uint32_t site;
    uint32_t seen, next_walk; // times; when it was seen so many times, the stack is walked again
    bool ambiguous;
};

// One thread's. Zeroed.
struct places_at_hand {
    struct place_at_hand place[PLACES_AT_HAND];
    uint32_t next; // the one to be replaced
};

// The place with that stack pointer and class, or a new one in the place of the oldest.
struct place_at_hand *places_take(struct places_at_hand *places, const void *stack_pointer, uint32_t class);

// The thread is there once more: whether the stack is to be walked. It is the first four times, then each time that
// half as many have come again, at last one time in 61 (a prime: places that take turns don't fall in with it). If not,
// `site` is the site.
bool place_needs_walk(struct place_at_hand *place);

// What the walk found, which it gives back.
uint32_t place_walked(struct place_at_hand *place, uint32_t site);

#endif
