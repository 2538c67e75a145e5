// SPDX-License-Identifier: GPL-3.0-or-later
// What threads wait for beside results, workers and cores, and its holders meanwhile: locks, permits, connections,
// places of queues. Of any run, by its vertices.
#ifndef REHYPE_METRICS_RESOURCES_H
#define REHYPE_METRICS_RESOURCES_H

#include "metrics/figures.h"

struct resource_place {
    struct trace_site site;
    uint64_t times;
    int64_t total_ns;
};

struct resource_use {
    uint32_t resource;   // index into dag->resources
    const char *name;    // as a user would call it (dag/names.h)
    int64_t capacity;    // -1 unknown
    double holders_mean; // units that are held, of a lock for readers and writers holders; by time, over the window.
                         // NAN unknown, as of a queue through which messages go
    uint64_t waits;      // that slept in the window
    uint64_t timed_out;  // of these, that ended within it without: their time was up, or they were interrupted
    int64_t wait_ns;     // threads' time asleep for it
    double held_ns;      // holders' time; NAN as holders_mean
    // Longest first; places that are known. Of what is held, where it was taken and where that thread gave it back:
    // where many take it by the same method, the latter tells them apart.
    struct resource_place *waits_at, *held_at, *returned_at;
    size_t waits_at_count, held_at_count, returned_at_count;
};

// How long virtual threads waited for carriers, each time before the vertex.
struct carrier_waits {
    uint64_t waits;
    int64_t wait_ns;
};

struct carrier_waits metrics_carrier_waits(const struct dag *dag); // in all of the run that the DAG is
// How long a virtual thread held a carrier on the edge to a vertex, of such a length; only where waits are measured.
int64_t metrics_carrier_held_ns(const struct dag *dag, uint32_t vertex, int64_t length_ns);
extern const char *const resource_kind_names[RESOURCE_KINDS]; // in JSON

// Sorted by time waited, descending, then by time held. `time_ns`: a vertex of the DAG each, DAG_ABSENT for those that
// are not in the run. The window is in that run's times; NULL: all of it. In the arena. Errors: no memory. Cost: a pass
// over the vertices, and a sort of those that acquire.
bool metrics_resources(const struct dag *dag, const int64_t *time_ns, const struct window *window, struct arena *arena,
                       struct resource_use **uses, size_t *count, struct error *error);

#endif
