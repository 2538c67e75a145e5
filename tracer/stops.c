// SPDX-License-Identifier: Apache-2.0
#include "tracer/stops.h"

#include "tracer/clock.h"
#include "tracer/jvm_counters.h"
#include "tracer/registry.h"

#include <pthread.h>

static const volatile int64_t *safepoints, *at_safepoint, *reaching_it;
static double ns_a_tick;

// Some stops are asked for by threads of the program's.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stops_sum sum;

bool stops_init(void) {
    size_t size;
    const uint8_t *map = jvm_counters_map(&size);
    const volatile int64_t *rate = jvm_counters_find(map, size, "sun.os.hrt.frequency");
    safepoints = jvm_counters_find(map, size, "sun.rt.safepoints");
    at_safepoint = jvm_counters_find(map, size, "sun.rt.safepointTime");
    reaching_it = jvm_counters_find(map, size, "sun.rt.safepointSyncTime");
    if (!rate || *rate <= 0 || !at_safepoint || !reaching_it) safepoints = NULL;
    if (safepoints) ns_a_tick = 1e9 / (double)*rate;
    return safepoints != NULL;
}

static uint64_t stopped_ns(void) {
    return (uint64_t)((double)(*at_safepoint + *reaching_it) * ns_a_tick);
}

void stop_begin(struct stop_mark *mark) {
    *mark = (struct stop_mark){.ticks = clock_ticks()};
    if (!safepoints) return;
    mark->safepoints = (uint64_t)*safepoints;
    mark->ns = stopped_ns();
}

void stop_end(const struct stop_mark *mark, enum trace_stop_kind kind) {
    if (!safepoints || (uint64_t)*safepoints == mark->safepoints) return;
    const uint64_t now_ns = stopped_ns();
    const struct trace_stop stop = {.kind = kind, .time = mark->ticks, .ns = now_ns > mark->ns ? now_ns - mark->ns : 0};
    registry_stop(&stop);
    pthread_mutex_lock(&lock);
    sum.count++;
    sum.total_ns += stop.ns;
    if (stop.ns > sum.largest_ns) sum.largest_ns = stop.ns;
    pthread_mutex_unlock(&lock);
}

bool stops_take(struct stops_sum *taken) {
    pthread_mutex_lock(&lock);
    *taken = sum;
    sum = (struct stops_sum){0};
    pthread_mutex_unlock(&lock);
    return safepoints != NULL;
}
