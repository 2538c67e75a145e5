// SPDX-License-Identifier: GPL-3.0-or-later
// What threads slept for around collections of garbage, beyond these. A collection stops all threads, and then they
// need one another: the one that asked for it keeps the heap's lock until it gets a core, and all that want memory wait
// for that (OpenJDK 17, gc/shared/gcVMOperations.cpp: doit_prologue, doit_epilogue). The more threads share the cores,
// the longer that takes, and no event tells of it: a thread seems to sleep in the midst of what it computes.
//
// So what an edge of a task's with a collection in it slept beyond what those without one sleep at the same site, it
// stood ready without a core. An edited run waits for as long as its own threads make it wait. It may as well have
// slept for something else: so no more counts than a few turns of the scheduler beside each collection; and than the
// collections themselves where a site's edges don't tell, as where all are so long that each has one.
#include "dag/build/builder.h"
#include "dag/edge.h"
#include "dag/ns.h"

#include <math.h>
#include <stdlib.h>

enum { TELLING = 5 };               // edges of a site
static const double TURNS_NS = 1e7; // of threads that share a core: each has some 3 ms (Linux, kernel/sched/fair.c)

struct habit { // what edges without a collection do
    double slept_ns, computed_ns;
    uint32_t count;
};

struct stops {
    struct dag *dag;
    struct habit *of_site, of_all;
    double pause_ns; // of a collection, on the mean
};

typedef void edge_visitor(struct stops *stops, uint32_t site, uint32_t vertex, int64_t collected_ns);

static int64_t slept_ns(const struct dag *dag, uint32_t v, int64_t collected_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    const int64_t length_ns = vertices->time_ns[v] - vertices->time_ns[v - 1];
    return max_ns(length_ns - vertices->compute_ns[v] - vertices->queued_ns[v] - collected_ns, 0);
}

static void add(struct habit *habit, double slept_ns, double computed_ns) {
    habit->slept_ns += slept_ns;
    habit->computed_ns += computed_ns;
    habit->count++;
}

static void learn(struct stops *stops, uint32_t site, uint32_t v, int64_t collected_ns) {
    if (collected_ns > 0) return;
    const double asleep_ns = (double)slept_ns(stops->dag, v, 0),
                 computed_ns = (double)stops->dag->vertices.compute_ns[v];
    add(&stops->of_site[site], asleep_ns, computed_ns);
    add(&stops->of_all, asleep_ns, computed_ns);
}

static double part_asleep(const struct habit *habit) {
    return habit->computed_ns > 0 ? habit->slept_ns / habit->computed_ns : 0;
}

// An edge sleeps as long as others, as behind a request; or as long for what it computes, as where it does much of
// that.
static double expected_ns(const struct stops *stops, uint32_t site, double computed_ns) {
    const struct habit *habit = &stops->of_site[site];
    if (habit->count < TELLING) return part_asleep(&stops->of_all) * computed_ns;
    return fmax(habit->slept_ns / habit->count, part_asleep(habit) * computed_ns);
}

static double most_ns(const struct stops *stops, uint32_t site, double collected_ns) {
    if (stops->of_site[site].count < TELLING) return collected_ns;
    return collected_ns + TURNS_NS * collected_ns / stops->pause_ns;
}

static void correct(struct stops *stops, uint32_t site, uint32_t v, int64_t collected_ns) {
    if (collected_ns == 0) return;
    const double expected = expected_ns(stops, site, (double)stops->dag->vertices.compute_ns[v]);
    const double beyond_ns = (double)slept_ns(stops->dag, v, collected_ns) - expected;
    const double ready_ns = fmin(beyond_ns, most_ns(stops, site, (double)collected_ns));
    if (ready_ns > 0) stops->dag->vertices.queued_ns[v] += (int64_t)ready_ns;
}

static bool may_compute_throughout(const struct dag *dag, uint32_t v) {
    return dag->vertices.rule[v] == RULE_RUN && dag->vertices.compute_ns[v] > 0 && !edge_sleeps(dag, v);
}

static void visit(struct stops *stops, const struct dag_thread *thread, edge_visitor *see) {
    const struct dag *dag = stops->dag;
    uint32_t body = DAG_NONE;
    for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
        body = dag_body_after(dag, v - 1, body);
        if (body == DAG_NONE || !may_compute_throughout(dag, v)) continue;
        const uint32_t site = dag->tasks[body].site; // DAG_NONE: all of no known one are alike
        see(stops, site < dag->site_count ? site : dag->site_count, v,
            edge_pauses_ns(dag, dag->vertices.time_ns[v - 1], dag->vertices.time_ns[v]));
    }
}

static double mean_pause_ns(const struct dag *dag) {
    return (double)edge_pauses_ns(dag, INT64_MIN, INT64_MAX) / dag->pause_count;
}

static void visit_all(struct stops *stops, edge_visitor *see) {
    for (uint32_t i = 0; i < stops->dag->thread_count; i++) {
        const struct dag_thread *thread = &stops->dag->threads[i];
        if (!thread->system && !thread->is_virtual && thread->stream != DAG_NONE) visit(stops, thread, see);
    }
}

bool settle_stops(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!dag->vertices.queued_ns || dag->pause_count == 0) return true;
    struct stops stops = {.dag = dag,
                          .of_site = calloc((size_t)dag->site_count + 1, sizeof *stops.of_site),
                          .pause_ns = mean_pause_ns(dag)};
    if (!stops.of_site) return no_memory(builder);
    visit_all(&stops, learn);
    visit_all(&stops, correct);
    free(stops.of_site);
    return true;
}
