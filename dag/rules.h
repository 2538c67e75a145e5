// SPDX-License-Identifier: GPL-3.0-or-later
// The time of a vertex by its rule (enum vertex_rule): what dag_propagate and the simulation share.
#ifndef REHYPE_DAG_RULES_H
#define REHYPE_DAG_RULES_H

#include "dag/propagate.h"

// How a vertex is come upon on its thread.
struct reach {
    int64_t before_ns; // T of the vertex before
    int64_t lead_ns;   // own time between that and what the vertex follows
    int64_t since_ns;  // recorded time of what it follows
};

static inline int64_t rule_later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// A result can be seen before the probe that says so reads the clock. By so much a wait may end before its cause, as it
// did when recorded.
static inline int64_t rule_result_lag_ns(const struct dag *dag, uint32_t vertex) {
    int64_t lag_ns = dag->vertices.time_ns[dag->vertices.cause[vertex]] - dag->vertices.time_ns[vertex];
    return lag_ns > 0 ? lag_ns : 0;
}

static inline int64_t rule_time_of_wait(const struct dag *dag, uint32_t v, struct reach reach, int64_t result_ns) {
    int64_t lag_ns = rule_result_lag_ns(dag, v), t = dag->vertices.time_ns[v];
    int64_t recorded_result_ns = dag->vertices.time_ns[dag->vertices.cause[v]] - lag_ns;
    if (result_ns != DAG_ABSENT) result_ns -= lag_ns;
    int64_t reached_ns = reach.before_ns + reach.lead_ns;
    bool slept = recorded_result_ns > reach.since_ns;
    if (result_ns <= reached_ns) return slept ? reached_ns : reached_ns + t - reach.since_ns;
    return slept ? result_ns + t - recorded_result_ns : result_ns + dag->wakeup_ns;
}

// Of a vertex with a cause; RULE_BEGIN apart. An absent cause is at the beginning of time: DAG_ABSENT is the least
// number.
static inline int64_t rule_time(const struct dag *dag, uint32_t v, struct reach reach, int64_t cause_ns) {
    const int64_t *t = dag->vertices.time_ns;
    switch (dag->vertices.rule[v]) {
    case RULE_WAKE:
        return rule_later(reach.before_ns + reach.lead_ns, cause_ns) + t[v] -
               rule_later(reach.since_ns, t[dag->vertices.cause[v]]);
    case RULE_WAIT:
        return rule_time_of_wait(dag, v, reach, cause_ns);
    case RULE_MAX:
        return rule_later(reach.before_ns, cause_ns);
    default:
        return reach.before_ns + reach.lead_ns + t[v] - reach.since_ns;
    }
}

#endif
