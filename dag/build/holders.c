// SPDX-License-Identifier: GPL-3.0-or-later
// Of how long threads waited for a resource whose holder is not known, or whose release is not told, the holder stood
// ready without a core for a part. Where more threads compute than there are cores a lock that is held for a moment is
// waited for for long, since its holder lost its core meanwhile; with fewer threads it hardly is. What part that is,
// the known holders of the same class of resource tell, each by the edge behind its acquisition: one that reads a file
// while it holds a lock sleeps there, and stands ready for less.
#include "dag/build/builder.h"
#include "dag/edge.h"

#include <stdlib.h>

struct fare { // of holders
    double ready_ns, length_ns;
};

static bool is_known_holder(const struct dag_ask *ask) {
    return ask->got != DAG_NONE && !ask->given_up && ask->units > 0;
}

// Behind an acquisition; nothing where the holder sleeps by then for something that is told.
static struct fare fare_of(const struct dag *dag, const struct dag_ask *ask) {
    const uint32_t v = ask->got + 1;
    if (v >= dag_thread_end(dag, &dag->threads[dag_thread_of(dag, ask->got)]) || edge_sleeps(dag, v))
        return (struct fare){0, 0};
    return (struct fare){(double)dag->vertices.queued_ns[v],
                         (double)(dag->vertices.time_ns[v] - dag->vertices.time_ns[v - 1])};
}

static double part_ready(struct fare fare) {
    return fare.length_ns > 0 ? fare.ready_ns / fare.length_ns : 0;
}

static struct fare *fare_by_class(const struct dag *dag, struct fare *fares, const struct dag_ask *ask) {
    const uint32_t class = dag->resources[ask->resource].resource_class;
    return &fares[class < dag->trace->class_count ? class : 0];
}

static void learn(const struct dag *dag, struct fare *fares) {
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        if (!is_known_holder(&dag->asks[i])) continue;
        const struct fare fare = fare_of(dag, &dag->asks[i]);
        struct fare *sum = fare_by_class(dag, fares, &dag->asks[i]);
        sum->ready_ns += fare.ready_ns;
        sum->length_ns += fare.length_ns;
    }
}

static void settle(struct dag *dag, const struct fare *mean, struct dag_ask *ask) {
    ask->unknown_ready_ns = (int64_t)(part_ready(*mean) * (double)ask->unknown_ns);
    if (!is_known_holder(ask) || ask->held_ns == 0) return;
    const struct fare own = fare_of(dag, ask);
    ask->held_ready_ns = (int64_t)(part_ready(own.length_ns > 0 ? own : *mean) * (double)ask->held_ns);
}

bool settle_holders(struct builder *builder) {
    struct dag *dag = builder->dag;
    if (!dag->vertices.queued_ns || dag->ask_count == 0) return true;
    struct fare *fares = calloc((size_t)dag->trace->class_count + 1, sizeof *fares);
    if (!fares) return no_memory(builder);
    learn(dag, fares);
    for (uint32_t i = 0; i < dag->ask_count; i++) settle(dag, fare_by_class(dag, fares, &dag->asks[i]), &dag->asks[i]);
    free(fares);
    return true;
}
