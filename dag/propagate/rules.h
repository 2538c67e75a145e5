// SPDX-License-Identifier: GPL-3.0-or-later
// The time of a vertex by its rule (enum vertex_rule): what dag_propagate and the simulation share.
#ifndef REHYPE_DAG_RULES_H
#define REHYPE_DAG_RULES_H

#include "dag/dag.h"
#include "dag/ns.h"

// Times of vertices that have none.
#define DAG_ABSENT  INT64_MIN // the edit removed it
#define DAG_PENDING INT64_MAX // not known yet

// How a vertex is come upon on its thread.
struct reach {
    int64_t before_ns; // T of the vertex before
    int64_t lead_ns;   // own time between that and what the vertex follows
    int64_t since_ns;  // recorded time of what it follows
};

// Of a vertex with a cause (recorded_ns: when that was); RULE_BEGIN apart. An absent cause is at the beginning of time:
// DAG_ABSENT is the least number. What a vertex takes beyond the later of what it follows and its cause is as recorded,
// but for waits that sleep now and did not, or the reverse. Written without branches, in masks that are
// all ones or zero, since what depends on data no processor foresees.
//
// A result can be seen before the probe that says so reads the clock. By so much a wait may end before its cause, as it
// did when recorded. What has no cause is as if its cause had always been absent: DAG_ABSENT for both times.
static inline int64_t rule_apply(unsigned rule, int64_t t, struct reach reach, int64_t cause_ns, int64_t recorded_ns,
                                 int64_t wakeup_ns) {
    int64_t lag_ns = recorded_ns > t ? recorded_ns - t : 0;
    int64_t reached_ns = reach.before_ns + reach.lead_ns;
    recorded_ns -= lag_ns;
    cause_ns -= lag_ns & -(int64_t)(cause_ns != DAG_ABSENT);
    bool slept = recorded_ns > reach.since_ns, sleeps = cause_ns > reached_ns;
    int64_t kept_ns = t - max_ns(reach.since_ns, recorded_ns), other_ns = wakeup_ns & -(int64_t)sleeps;
    int64_t keeps = -(int64_t)((rule != RULE_WAIT) | (slept == sleeps));
    int64_t residual_ns = ((kept_ns & keeps) | (other_ns & ~keeps)) & -(int64_t)(rule != RULE_MAX);
    return max_ns(reached_ns, cause_ns) + residual_ns;
}

static inline int64_t rule_time(const struct dag *dag, uint32_t v, struct reach reach, int64_t cause_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    return rule_apply(vertices->rule[v], vertices->time_ns[v], reach, cause_ns, vertices->time_ns[vertices->cause[v]],
                      dag->wakeup_ns);
}

#endif
