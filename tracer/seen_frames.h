// SPDX-License-Identifier: Apache-2.0
// What is known of frames that were seen in stacks, by method and bytecode index. Methods of collected class loaders
// are never seen again, and nobody says which those are: so what was not asked for since the last time that the map was
// full is forgotten the next time, and the map grows with what is in use, or while many are asked for in vain, not with
// what a program loads and lets go. Not thread-safe.
#ifndef REHYPE_TRACER_SEEN_FRAMES_H
#define REHYPE_TRACER_SEEN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen_frame {
    const void *method; // a jmethodID; never NULL
    int64_t bci;
    uint32_t id;
    bool is_fallback; // it counts where no frame further out does
    bool used;        // the map's own
};

struct seen_frames {
    struct seen_frame *slots; // open addressing
    size_t count, capacity;   // a power of two
    uint64_t asked, added;    // how often, since the map was last full
};

// NULL, or what is known; valid until the next call. Cost: a cache line or two.
const struct seen_frame *seen_frames_find(struct seen_frames *map, const void *method, int64_t bci);

// Of a frame that is known, nothing changes. Without memory it is not kept.
void seen_frames_add(struct seen_frames *map, const struct seen_frame *frame);

void seen_frames_clear(struct seen_frames *map);

#endif
