// SPDX-License-Identifier: Apache-2.0
#include "tracer/collections.h"

#include "tracer/clock.h"
#include "tracer/drainer.h"
#include "tracer/jvm_counters.h"

enum { WORD_BYTES = sizeof(void *) };

// The JVM's own stream. It has one producer at a time, because collections don't overlap.
static struct channel *channel;
static const volatile int64_t *allocated_words; // since the collection before

void collections_tell(void) {
    size_t size;
    const uint8_t *map = jvm_counters_map(&size);
    allocated_words = jvm_counters_find(map, size, "sun.gc.tlab.alloc");
    channel = drainer_open(0, 0);
}

void collections_end(void) {
    if (channel) drainer_close(channel);
    channel = NULL;
}

void JNICALL collections_begun(jvmtiEnv *jvmti) {
    if (channel) ring_put1(&channel->ring, clock_ticks(), EVENT_GC_BEGIN, 0);
}

static void tell_allocated(struct ring *ring) {
    const int64_t words = allocated_words ? *allocated_words : 0;
    if (words > 0) ring_put1(ring, clock_ticks(), EVENT_ALLOCATED, (uint64_t)words * WORD_BYTES);
}

void JNICALL collections_finished(jvmtiEnv *jvmti) {
    if (!channel) return;
    tell_allocated(&channel->ring);
    ring_put1(&channel->ring, clock_ticks(), EVENT_GC_END, 0);
}
