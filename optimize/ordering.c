// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/ordering.h"

#include "dag/simulate/stuck.h"

enum { FORGOTTEN_MOST = 32 };

struct forgotten {
    uint32_t vertex, cause;
    uint8_t rule;
};

// What an estimator has found out of the graph holds no more.
static bool begin_anew(struct dag *dag, struct estimator *estimator, struct error *error) {
    const struct estimator before = *estimator;
    const unsigned without = estimator->costs->without;
    estimator_destroy(estimator);
    if (!estimator_init(estimator, dag, before.window, error)) return false;
    estimator->costs->without = without;
    estimator->model = before.model;
    estimator->keeps = before.keeps;
    estimator->request_site = before.request_site;
    estimator->progress = before.progress;
    estimator->progress_context = before.progress_context;
    return true;
}

static struct forgotten forget(struct dag *dag, uint32_t vertex) {
    const struct forgotten forgotten = {vertex, dag->vertices.cause[vertex], dag->vertices.rule[vertex]};
    dag->vertices.cause[vertex] = DAG_NONE;
    dag->vertices.rule[vertex] = RULE_RUN;
    return forgotten;
}

static void remember(struct dag *dag, const struct forgotten *forgotten) {
    dag->vertices.cause[forgotten->vertex] = forgotten->cause;
    dag->vertices.rule[forgotten->vertex] = forgotten->rule;
}

bool ordering_settle(struct dag *dag, struct estimator *estimator, bool *stuck, uint32_t *forgotten,
                     struct error *error) {
    struct forgotten all[FORGOTTEN_MOST];
    uint32_t count = 0;
    if (!estimator_run(estimator, stuck, error)) return false;
    while (*stuck && count < FORGOTTEN_MOST) {
        const uint32_t taken = estimator_stuck_at_taken(estimator);
        if (taken == DAG_NONE) break;
        all[count++] = forget(dag, taken);
        if (!begin_anew(dag, estimator, error) || !estimator_run(estimator, stuck, error)) return false;
    }
    *forgotten = *stuck ? 0 : count;
    if (!*stuck || count == 0) return true;
    while (count > 0) remember(dag, &all[--count]);
    return begin_anew(dag, estimator, error) && estimator_run(estimator, stuck, error);
}
