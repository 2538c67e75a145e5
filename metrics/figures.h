// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a run (SPEC sections 2 and 6), as types; and those that need no more than each other. Unknown is NAN
// (null in JSON).
#ifndef REHYPE_METRICS_FIGURES_H
#define REHYPE_METRICS_FIGURES_H

#include "dag/edit/chain.h"
#include "dag/propagate/propagate.h"

#include <math.h>

enum thread_state { STATE_OCCUPIED, STATE_ACTIVE, STATE_WAITING, STATE_BLOCKED, STATE_UNOCCUPIED, STATE_COUNT };
extern const char *const thread_state_names[STATE_COUNT];

// Of counted threads only: not the JVM's own, not the DAG's barriers. occupied: in a body; waiting: in a body, the
// innermost of which awaits a task or pool that is known; active: occupied and not waiting, be it asleep; blocked:
// active and asleep for a contended lock, for something that is not known, or, where computing and waits for a core are
// measured, unseen (work_slept_ns); unoccupied: a worker between its first and
// last vertex, outside bodies. Traces of the format's version 1 don't tell of locks: blocked is unknown in them.
struct usage {   // of threads in one state, over the window
    double peak; // mean over the busiest 1 % of wall
    double max;
    double mean; // weighted by time
};

struct quantiles {
    double mean, p20, p50, p80, p95, p99, max;
};

struct grain_count {
    double sites, tasks;
};

// Messages and initialisations of actors are no tasks here: they are not counted, and their queueing and size are in
// metrics/actors.h. What they compute is part of work and span, and of the task that they lie in (a dispatcher runs a
// mailbox as a task). Threads are occupied and active while an actor handles a message or is initialised.
struct task_metrics {
    uint64_t count;        // tasks that started in the window, nested and inlined ones not counted
    double overhead_share; // (spawn brackets + pick-up residuals) / thread-time in bodies, those on virtual threads
                           // included
    double idle_share;     // cores left without an active thread that isn't blocked while there is any / (cores x wall)
    double work_ns;        // running time in bodies
    double span_ns;        // longest chain of running times by spawns and results: no less with any number of cores
    const char *granularity_unit;    // "cycles", or "ns": of CPU time, or where none was measured of running time
    struct quantiles granularity;    // of a body with what is inlined into it, less its waits
    struct quantiles queue_wait_ns;  // spawn to start
    struct grain_count fine, coarse; // of the whole recorded run (metrics/grain.h); NAN of an estimate
};

// Requests are the tasks of one site (metrics/requests.h). All but the site is NAN when the edit left none of them.
struct request_metrics {
    const struct dag *dag; // of the site; NULL: there is no such site
    uint32_t site;
    double count;
    struct quantiles
        latency_ns;          // spawn to result, or to the end of what it put into stages; of those whose result came
    double throughput_per_s; // answers a second, where the trace tells requests (metrics/service.h); else NAN
    double peak_threads;     // most threads that one request and all that it spawned occupy at one instant
    double concurrent; // how many requests fit before a pool is full (R Sec. 5): pool's maximum / threads of it that
                       // one request peaks at, rounded down; the least over pools. Unbounded pools never fill; NAN
                       // where nothing else does, or where a pool's maximum is unknown
    double sustainable_per_s;     // requests a second at saturation, and what saturates first: a trace pool id, 0 the
    uint32_t bottleneck;          // cores; DAG_NONE where that is unknown
    uint32_t bottleneck_resource; // index into dag->resources: it is this one instead; DAG_NONE
};

// How the machine was used, by the tracer's samples (Rosa, Sec. 3.3; ten a second). NAN: no two samples lie within.
struct cpu_metrics {
    double utilisation; // CPU time of the process / (cores x wall). Without samples, what counted threads computed; of
                        // a simulated run, what it computes and, as recorded, what else the process needed (GC, JIT)
    double machine;     // CPU time of all processes / (cores x wall)
    double others;      // of the other processes
    double context_switches; // in 100 ms outside of GC pauses
    double context_switches_total;
};

struct metrics {
    int64_t wall_ns;
    double thread_time_ns;
    struct usage threads[STATE_COUNT], virtual_threads[STATE_COUNT];
    double virtual_ready; // mean of virtual threads that are ready to run and have no carrier: active, but not running
    double composite, balanced; // against a base; NAN without one
    struct task_metrics tasks;
    struct request_metrics requests;
    struct cpu_metrics cpu;
    double initialisation_share; // of actors, under the edit (metrics/actor_shares.h); NAN without any
    uint64_t gc_pauses;
    int64_t gc_ns;
    uint64_t lost_events;
    double warm_from_ns; // of the whole recorded run (metrics/warm.h); NAN of an estimate
};

// The part of a run that counts. Bounds are recorded times; in an edited run each lies where as many events have come
// as had been at it (of those that the edit leaves).
struct window {
    int64_t from_ns, to_ns;
};

// A thread's life in states. Rising times; the state holds until the next change. Segments of zero length are left out.
struct state_change {
    int64_t time_ns;
    int8_t delta[STATE_COUNT];
};
struct state_series {
    struct state_change *changes; // of all counted threads, sorted by time
    size_t count, capacity;
    int64_t from_ns, to_ns; // the window, as times of this run
};

// Workspace, reused from plan to plan of one DAG (another DAG rebinds it); zero-initialise, metrics_work_destroy at the
// end. Not shared between threads.
struct metrics_scratch;
struct metrics_work {
    struct state_series series; // of the last run, platform threads
    struct dag_chain chain;
    struct metrics_scratch *scratch;
};

// All unknown: NAN, counts 0.
void metrics_unknown(struct metrics *metrics);

// CPU time that the process needed beside its counted threads (GC, compilers), by a recording's samples, or as an
// estimate's file tells; 0 unknown.
double metrics_besides_ns(const struct dag *dag);

// composite and balanced of m against base (SPEC section 2); 1 for the base itself.
// How much longer the same work takes: of a service, whose load may begin and end in the midst of a run, by its
// throughput; else by wall time.
double metrics_wall_ratio(const struct metrics *m, const struct metrics *base);

// Whether a service's run lasts longer than the base by more than start-up and shutdown explain, whatever it serves a
// second: something else of it does not get done. false where neither serves requests.
bool metrics_drags_on(const struct metrics *m, const struct metrics *base);
double metrics_composite(const struct metrics *m, const struct metrics *base);
double metrics_balanced(const struct metrics *m, const struct metrics *base);
double metrics_granularity(const struct metrics *m, const struct metrics *base); // balanced's second family
double metrics_utilisation(const struct metrics *m, const struct metrics *base); // its third; NAN without actors

// Concurrency profile (R Fig. 4): mean number of threads in `state` in each of `bins` equal parts of normalised time.
// The series must be of the run in question (metrics_usage leaves it in work).
void metrics_profile(const struct state_series *series, enum thread_state state, double *profile, size_t bins);

// The same of a part of the run, as times of the series; no threads are in any state beyond its ends.
void metrics_profile_within(const struct state_series *series, enum thread_state state, int64_t from_ns, int64_t to_ns,
                            double *profile, size_t bins);

// Area between two runs' occupied profiles over normalised time / area under the actual one; exact, not binned.
double metrics_profile_distance(const struct state_series *estimated, const struct state_series *actual);

// Where threads wait, by site, and what blocks them, by class and site: sorted by total time, descending. In the arena.
struct wait_site {
    struct trace_site site;    // class_name NULL when unknown
    struct trace_site spawned; // where most of what it waits for, or is released by, is spawned
    uint64_t waits, taken;     // slept; found ready
    uint64_t timed_out;        // of those that slept: ended without, since their time was up
    int64_t total_ns, longest_ns;
};
struct blocker {               // resources, and sleeps that no known thread ended
    const char *resource;      // name of what is waited for (dag/names.h); NULL: nothing that threads hold
    const char *class_name;    // of what the thread slept on; NULL when unknown
    struct trace_site site;    // class_name NULL when unknown, as that of locks is
    bool unseen;               // slept though no event says so: neither is known, but
    struct trace_site spawned; // where the tasks are spawned that did; class_name NULL when unknown, as that of main is
    uint64_t times;
    int64_t total_ns, longest_ns;
};
struct wait_findings {
    struct wait_site *sites;
    struct blocker *blockers;
    size_t site_count, blocker_count;
};
bool metrics_waits(const struct dag *dag, const struct window *window, struct arena *arena, struct wait_findings *found,
                   struct error *error);

#endif
