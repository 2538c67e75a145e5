// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/costs.h"

#include "dag/edge.h"
#include "dag/ns.h"

#include <stdlib.h>
#include <string.h>

const char *const correction_names[CORRECTION_COUNT] = {
    [CORRECTION_SERVICE] = "service-residuals",
    [CORRECTION_OTHER_LOAD] = "other-load",
    [CORRECTION_FIRST_USE] = "first-use",
    [CORRECTION_AMORTISED] = "amortised-costs",
    [CORRECTION_WAKEUPS] = "wake-transitions",
    [CORRECTION_QUEUE_ORDER] = "queue-order",
    [CORRECTION_WAKING] = "waking-costs",
    [CORRECTION_FULL_QUEUE] = "full-queue-slack",
    [CORRECTION_PACE] = "pace",
    [CORRECTION_GARBAGE] = "garbage",
};

enum cost_kind { COST_BRACKET, COST_PICKUP };

// For what was never recorded, which kind of the same pool tells most about it, best first.
static const uint8_t nearest[DISPATCH_KINDS][DISPATCH_KINDS] = {
    [DISPATCH_NONE] = {DISPATCH_QUEUED, DISPATCH_WOKEN, DISPATCH_NEW, DISPATCH_THREAD, DISPATCH_HELPED,
                       DISPATCH_CALLER},
    [DISPATCH_THREAD] = {DISPATCH_NEW, DISPATCH_WOKEN, DISPATCH_QUEUED, DISPATCH_HELPED, DISPATCH_CALLER},
    [DISPATCH_NEW] = {DISPATCH_THREAD, DISPATCH_WOKEN, DISPATCH_QUEUED, DISPATCH_HELPED, DISPATCH_CALLER},
    [DISPATCH_WOKEN] = {DISPATCH_QUEUED, DISPATCH_NEW, DISPATCH_THREAD, DISPATCH_HELPED, DISPATCH_CALLER},
    [DISPATCH_QUEUED] = {DISPATCH_HELPED, DISPATCH_WOKEN, DISPATCH_CALLER, DISPATCH_NEW, DISPATCH_THREAD},
    [DISPATCH_NEXT] = {DISPATCH_QUEUED, DISPATCH_HELPED, DISPATCH_CALLER, DISPATCH_WOKEN, DISPATCH_NEW,
                       DISPATCH_THREAD},
    [DISPATCH_CALLER] = {DISPATCH_HELPED, DISPATCH_QUEUED, DISPATCH_WOKEN, DISPATCH_NEW, DISPATCH_THREAD},
    [DISPATCH_HELPED] = {DISPATCH_QUEUED, DISPATCH_CALLER, DISPATCH_WOKEN, DISPATCH_NEW, DISPATCH_THREAD},
};

// What of the edges to vertices in (from, to] was spent ready without a core after `since_ns`.
static int64_t queued_between(const struct dag *dag, uint32_t from, uint32_t to, int64_t since_ns) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t queued_ns = 0;
    for (uint32_t v = from + 1; vertices->queued_ns && v <= to; v++) {
        int64_t after_ns = vertices->time_ns[v] - max_ns(vertices->time_ns[v - 1], since_ns);
        int64_t edge_ns = vertices->queued_ns[v];
        if (after_ns > 0) queued_ns += edge_ns < after_ns ? edge_ns : after_ns;
    }
    return queued_ns;
}

static bool was_picked_up(const struct dag_task *task) {
    return task->start != DAG_NONE && (task->spawn_begin != DAG_NONE || dag_task_stands(task));
}

static uint32_t pickup_begins(const struct dag *dag, const struct dag_task *task) {
    uint32_t first = dag->threads[task->thread].first;
    return task->pickup > first ? task->pickup - 1 : first;
}

// What a virtual thread waited for a carrier before its first vertex, or a task's own for a core, if that is part of
// the pick-up.
static int64_t ready_before(const struct dag *dag, const struct dag_task *task, int64_t since_ns) {
    const struct dag_thread *thread = &dag->threads[task->thread];
    if (since_ns == INT64_MIN || (!thread->is_virtual && task->dispatch != DISPATCH_THREAD)) return 0;
    return min_ns(dag_waited_before_ns(dag, task->thread), max_ns(dag->vertices.time_ns[thread->first] - since_ns, 0));
}

// Of the JVM's pauses, which come by themselves. A worker that is woken or made sleeps through them.
static int64_t paused_in_pickup(const struct dag *dag, const struct dag_task *task, int64_t since_ns) {
    const bool busy = task->dispatch == DISPATCH_QUEUED || task->dispatch == DISPATCH_NEXT;
    const bool computes = busy && dag->vertices.compute_ns && since_ns != INT64_MIN;
    return computes ? edge_pauses_ns(dag, since_ns, dag->vertices.time_ns[task->start]) : 0;
}

static int64_t pickup_of(const struct dag *dag, const struct dag_task *task) {
    if (!was_picked_up(task)) return 0;
    int64_t since_ns = dag_pickup_from_ns(dag, task), pickup_ns = dag->vertices.time_ns[task->start] - since_ns;
    pickup_ns -= ready_before(dag, task, since_ns) + paused_in_pickup(dag, task, since_ns);
    return max_ns(pickup_ns - queued_between(dag, pickup_begins(dag, task), task->start, since_ns), 0);
}

// Whether the worker waited for a core for longer than the pick-up took: some of it before it slept, and nobody knows
// how much.
static bool is_hidden(const struct dag *dag, const struct dag_task *task) {
    if (task->dispatch != DISPATCH_WOKEN || !was_picked_up(task)) return false;
    int64_t pickup_ns = dag->vertices.time_ns[task->start] - dag_pickup_from_ns(dag, task);
    return queued_between(dag, pickup_begins(dag, task), task->start, INT64_MIN) > pickup_ns;
}

// Bodies that lie in the bracket are left out, and the pick-up of its own.
static int64_t bracket_of(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    const struct dag_vertices *vertices = &dag->vertices;
    if (task->spawn_begin == DAG_NONE) return 0;
    int64_t bracket_ns = vertices->time_ns[task->spawn_end] - vertices->time_ns[task->spawn_begin];
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (vertices->kind[v] != VERTEX_START) continue;
        uint32_t body = vertices->task[v], end = dag->tasks[body].end;
        bracket_ns -= vertices->time_ns[end] - vertices->time_ns[v];
        if (body == index) bracket_ns -= pickup_of(dag, task);
        v = end;
    }
    return max_ns(bracket_ns, 0);
}

// What its thread waited for a core in the bracket, bodies in it left out: a bracket that a plan makes has such waits
// of its own.
static int64_t queued_in_bracket(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    uint32_t from = task->spawn_begin;
    int64_t queued_ns = 0;
    if (task->spawn_begin == DAG_NONE) return 0;
    for (uint32_t v = from + 1; v < task->spawn_end; v++) {
        if (dag->vertices.kind[v] != VERTEX_START) continue;
        queued_ns += queued_between(dag, from, v, INT64_MIN);
        from = v = dag->tasks[dag->vertices.task[v]].end;
    }
    return queued_ns + queued_between(dag, from, task->spawn_end, INT64_MIN);
}

// ---- means

// Puts the `count` least of `values` first (Hoare's selection).
static void select_least(int64_t *values, size_t size, size_t count) {
    size_t from = 0, to = size;
    while (to - from > 1) {
        int64_t pivot = values[from + (to - from) / 2];
        size_t i = from, j = to - 1;
        for (;; i++, j--) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i >= j) break;
            int64_t swapped = values[i];
            values[i] = values[j];
            values[j] = swapped;
        }
        size_t middle = j + 1 > from && j + 1 < to ? j + 1 : from + 1;
        if (count <= from || count >= to) return;
        if (count < middle)
            to = middle;
        else
            from = middle;
    }
}

// Of the values without a tenth at each end, whose order it changes.
static struct cost trimmed_mean(int64_t *values, size_t size) {
    if (!size) return (struct cost){0, 0};
    size_t cut = size / 10;
    if (cut) {
        select_least(values, size, cut);
        select_least(values + cut, size - cut, size - 2 * cut);
    }
    double sum_ns = 0;
    for (size_t i = cut; i < size - cut; i++) sum_ns += (double)values[i];
    return (struct cost){size, sum_ns / (double)(size - 2 * cut)};
}

// Tasks' values, sorted by kind, and for each by pool: so a pool's of one kind stand together, and so do all pools' of
// it.
struct samples {
    int64_t *values;
    uint8_t *kind; // a task each: its dispatch, or class of sleep
    size_t *begin; // KINDS * pools + 1
    uint32_t pools;
};

enum { NO_SLEEP = SLEEP_CLASSES, KINDS = DISPATCH_KINDS };
_Static_assert(NO_SLEEP < KINDS, "a table by dispatch has room for one by sleep");

static size_t group_of(const struct samples *samples, const struct dag *dag, uint32_t t) {
    uint32_t pool = dag->tasks[t].pool;
    return (size_t)samples->kind[t] * samples->pools + (pool < samples->pools ? pool : 0);
}

static void sort_samples(const struct dag *dag, const int64_t *value_of_task, struct samples *samples) {
    size_t groups = (size_t)KINDS * samples->pools;
    memset(samples->begin, 0, (groups + 1) * sizeof *samples->begin);
    for (uint32_t t = 0; t < dag->task_count; t++) samples->begin[group_of(samples, dag, t) + 1]++;
    for (size_t g = 0; g < groups; g++) samples->begin[g + 1] += samples->begin[g];
    for (uint32_t t = dag->task_count; t-- > 0;) {
        size_t *end = &samples->begin[group_of(samples, dag, t) + 1];
        samples->values[--*end] = value_of_task[t];
    }
    // each group's end has moved down to its beginning: one place to the right of where it belongs
    memmove(samples->begin, samples->begin + 1, groups * sizeof *samples->begin);
    samples->begin[groups] = dag->task_count;
}

static struct cost *costs_of(struct pool_costs *pool, enum cost_kind kind) {
    return kind == COST_BRACKET ? pool->bracket : pool->pickup;
}

// What was never recorded takes the mean of the nearest kind that was. false: none was.
static bool borrow(struct cost *costs, enum dispatch dispatch) {
    for (int i = 0; i < DISPATCH_KINDS && nearest[dispatch][i] != DISPATCH_NONE; i++) {
        const struct cost *near = &costs[nearest[dispatch][i]];
        if (!near->count) continue;
        costs[dispatch].mean_ns = near->mean_ns;
        return true;
    }
    return false;
}

static void measure_means(struct costs *costs, enum cost_kind kind, struct samples *samples) {
    struct cost all[DISPATCH_KINDS];
    for (uint32_t d = 0; d < DISPATCH_KINDS; d++) {
        size_t *begin = &samples->begin[(size_t)d * samples->pools];
        for (uint32_t p = 0; p < samples->pools; p++) {
            struct cost *cost = &costs_of(&costs->pools[p], kind)[d];
            if (d != DISPATCH_NONE) *cost = trimmed_mean(samples->values + begin[p], begin[p + 1] - begin[p]);
        }
        all[d] = trimmed_mean(samples->values + begin[0], begin[samples->pools] - begin[0]);
    }
    all[DISPATCH_NONE] = (struct cost){0, 0};
    for (uint32_t d = 0; d < DISPATCH_KINDS; d++) {
        if (!all[d].count) borrow(all, d);
    }
    for (uint32_t p = 0; p < samples->pools; p++) {
        struct cost *of_pool = costs_of(&costs->pools[p], kind);
        for (uint32_t d = 0; d < DISPATCH_KINDS; d++) {
            if (!of_pool[d].count && !borrow(of_pool, d)) of_pool[d].mean_ns = all[d].mean_ns;
        }
    }
}

static struct cost *woken_of(struct pool_costs *pool, enum cost_kind kind) {
    return kind == COST_BRACKET ? pool->woken_bracket : pool->woken_pickup;
}

static void measure_woken(struct costs *costs, enum cost_kind kind, struct samples *samples) {
    enum { FEWEST = 5 };
    for (uint32_t c = 0; c < SLEEP_CLASSES; c++) {
        size_t *begin = &samples->begin[(size_t)c * samples->pools];
        for (uint32_t p = 0; p < samples->pools; p++) {
            struct cost *cost = &woken_of(&costs->pools[p], kind)[c];
            *cost = trimmed_mean(samples->values + begin[p], begin[p + 1] - begin[p]);
            if (cost->count < FEWEST) cost->mean_ns = costs_of(&costs->pools[p], kind)[DISPATCH_WOKEN].mean_ns;
        }
    }
}

static const int64_t least_sleep_ns[SLEEP_CLASSES] = {0, 10000, 100000, 1000000, 10000000};

int64_t costs_least_sleep_ns(unsigned sleep) {
    return least_sleep_ns[sleep];
}

unsigned costs_sleep_class(int64_t slept_ns) {
    unsigned sleep = SLEEP_CLASSES - 1;
    while (sleep > 0 && slept_ns < least_sleep_ns[sleep]) sleep--;
    return sleep;
}

// Of a worker of whom nothing was seen before, nobody knows how long it had slept.
static unsigned sleep_class_of(const struct dag *dag, const struct dag_task *task) {
    int64_t free_ns = task->dispatch == DISPATCH_WOKEN ? dag_free_ns(dag, task) : INT64_MIN;
    return free_ns == INT64_MIN ? NO_SLEEP : costs_sleep_class(dag->vertices.time_ns[task->spawn_begin] - free_ns);
}

// What of a pick-up comes after the sleep.
static int64_t woken_pickup_of(const struct dag *dag, const struct dag_task *task) {
    if (task->start == DAG_NONE || task->start == 0 || task->pickup == task->start) return 0;
    return dag->vertices.time_ns[task->start] - dag->vertices.time_ns[task->start - 1];
}

static void measure_awake(struct costs *costs, struct samples *samples) {
    const size_t *begin = &samples->begin[(size_t)DISPATCH_WOKEN * samples->pools];
    for (uint32_t p = 0; p < samples->pools; p++) {
        costs->pools[p].awake_ns = trimmed_mean(samples->values + begin[p], begin[p + 1] - begin[p]).mean_ns;
    }
}

static void measure_brackets(const struct dag *dag, struct costs *costs, struct samples *samples) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        costs->bracket_ns[t] = max_ns(bracket_of(dag, t) - queued_in_bracket(dag, t), 0);
        samples->kind[t] = dag->tasks[t].dispatch;
    }
    sort_samples(dag, costs->bracket_ns, samples);
    measure_means(costs, COST_BRACKET, samples);
    for (uint32_t t = 0; t < dag->task_count; t++) samples->kind[t] = (uint8_t)sleep_class_of(dag, &dag->tasks[t]);
    sort_samples(dag, costs->bracket_ns, samples);
    measure_woken(costs, COST_BRACKET, samples);
    for (uint32_t t = 0; t < dag->task_count; t++) costs->bracket_ns[t] = bracket_of(dag, t);
}

static void measure_pickups(const struct dag *dag, struct costs *costs, struct samples *samples) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        costs->pickup_ns[t] = pickup_of(dag, task);
        samples->kind[t] = is_hidden(dag, task) ? DISPATCH_NONE : task->dispatch;
    }
    sort_samples(dag, costs->pickup_ns, samples);
    measure_means(costs, COST_PICKUP, samples);
    for (uint32_t t = 0; t < dag->task_count; t++) costs->pickup_ns[t] = woken_pickup_of(dag, &dag->tasks[t]);
    sort_samples(dag, costs->pickup_ns, samples);
    measure_awake(costs, samples);
    for (uint32_t t = 0; t < dag->task_count; t++) costs->pickup_ns[t] = pickup_of(dag, &dag->tasks[t]);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        samples->kind[t] = is_hidden(dag, task) ? NO_SLEEP : (uint8_t)sleep_class_of(dag, task);
    }
    sort_samples(dag, costs->pickup_ns, samples);
    measure_woken(costs, COST_PICKUP, samples);
}

// From a result to the going on of whoever slept for it; or what that computed.
static struct cost measure_wakeup(const struct dag *dag, bool computing, int64_t *values) {
    const struct dag_vertices *vertices = &dag->vertices;
    size_t count = 0;
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        uint32_t cause = vertices->cause[v];
        if (vertices->kind[v] != VERTEX_WAIT_END || cause == DAG_NONE) continue;
        int64_t result_ns = vertices->time_ns[cause];
        if (result_ns <= vertices->time_ns[v - 1] || result_ns > vertices->time_ns[v]) continue;
        values[count++] = computing ? vertices->compute_ns[v]
                                    : vertices->time_ns[v] - result_ns - queued_between(dag, v - 1, v, result_ns);
    }
    return trimmed_mean(values, count);
}

static bool is_stolen(const struct dag *dag, const struct dag_task *task) {
    return task->dispatch == DISPATCH_HELPED && dag_thread_of(dag, task->spawn_begin) != task->thread;
}

// Waiters' pick-ups of what they had to take from others. Where they never had to, any of theirs.
static struct cost measure_stolen(const struct dag *dag, const struct costs *costs, uint32_t pool, int64_t *values) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool == pool && is_stolen(dag, task)) values[count++] = costs->pickup_ns[t];
    }
    struct cost stolen = trimmed_mean(values, count);
    if (!count) stolen.mean_ns = costs->pools[pool].pickup[DISPATCH_HELPED].mean_ns;
    return stolen;
}

static struct cost measure_looking(const struct dag *dag, uint32_t pool, int64_t *values) {
    const struct dag_vertices *vertices = &dag->vertices;
    size_t count = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!thread->worker || thread->pool != pool) continue;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            if (vertices->kind[v] != VERTEX_IDLE) continue;
            int64_t since_ns = vertices->time_ns[v - 1];
            values[count++] = vertices->time_ns[v] - since_ns - queued_between(dag, v - 1, v, since_ns);
        }
    }
    return trimmed_mean(values, count);
}

static bool tells_wakeup(const struct dag *dag, const struct dag_ask *ask) {
    bool waited = ask->asked != DAG_NONE && ask->got != DAG_NONE && !ask->given_up;
    return waited && dag->resources[ask->resource].tells_holds;
}

static int64_t granted_after_ns(const struct dag *dag, const struct dag_ask *ask) {
    int64_t queued_ns = dag->vertices.queued_ns ? dag->vertices.queued_ns[ask->got] : 0;
    return max_ns(ask->waking_ns - queued_ns, 0);
}

// false: no memory.
static bool measure_grants(const struct dag *dag, struct costs *costs) {
    enum { FEWEST = 5 };
    const size_t resources = (size_t)dag->resource_count + 1;
    int64_t *values = malloc(((size_t)dag->ask_count + 1) * sizeof *values);
    uint32_t *end = calloc(resources + 1, sizeof *end); // of the resource before
    costs->granted_ns = malloc(resources * sizeof *costs->granted_ns);
    bool ok = values && end && costs->granted_ns;
    for (uint32_t i = 0; ok && i < dag->ask_count; i++)
        end[dag->asks[i].resource + 1] += tells_wakeup(dag, &dag->asks[i]);
    for (uint32_t r = 0; ok && r < dag->resource_count; r++) end[r + 1] += end[r];
    for (uint32_t i = 0; ok && i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (tells_wakeup(dag, ask)) values[end[ask->resource]++] = granted_after_ns(dag, ask);
    }
    for (uint32_t r = 0, begin = 0; ok && r < dag->resource_count; begin = end[r++]) {
        const struct cost cost = trimmed_mean(values + begin, end[r] - begin);
        costs->granted_ns[r] = cost.count < FEWEST ? dag->wakeup_ns : (int64_t)(cost.mean_ns + 0.5);
    }
    free(values);
    free(end);
    return ok;
}

static bool measure(const struct dag *dag, struct costs *costs, struct samples *samples) {
    size_t most = dag->vertex_count > dag->task_count ? dag->vertex_count : dag->task_count;
    samples->values = malloc((most + 1) * sizeof *samples->values);
    samples->kind = malloc((size_t)dag->task_count + 1);
    samples->begin = malloc(((size_t)KINDS * samples->pools + 1) * sizeof *samples->begin);
    costs->pools = calloc(samples->pools, sizeof *costs->pools);
    costs->bracket_ns = malloc(((size_t)dag->task_count + 1) * sizeof *costs->bracket_ns);
    costs->pickup_ns = malloc(((size_t)dag->task_count + 1) * sizeof *costs->pickup_ns);
    bool ok = samples->values && samples->kind && samples->begin;
    if (!ok || !costs->pools || !costs->bracket_ns || !costs->pickup_ns) return false;
    if (!measure_grants(dag, costs)) return false;
    measure_brackets(dag, costs, samples);
    measure_pickups(dag, costs, samples);
    costs->wakeup = measure_wakeup(dag, false, samples->values);
    if (dag->vertices.compute_ns) costs->waking = measure_wakeup(dag, true, samples->values);
    for (uint32_t p = 1; p < costs->pool_count; p++) {
        if (dag->pools[p].discipline != DISCIPLINE_STEALING) continue;
        costs->pools[p].stolen = measure_stolen(dag, costs, p, samples->values);
        costs->pools[p].looking = measure_looking(dag, p, samples->values);
    }
    return true;
}

struct costs *costs_measure(const struct dag *dag, struct error *error) {
    struct costs *costs = calloc(1, sizeof *costs);
    if (costs) costs->pool_count = dag->pool_count;
    struct samples samples = {.pools = dag->pool_count};
    bool ok = costs && measure(dag, costs, &samples) && first_use_measure(dag, &costs->first_uses);
    free(samples.values);
    free(samples.kind);
    free(samples.begin);
    if (ok) return costs;
    costs_free(costs);
    error_set(error, STATUS_FAILED, "no memory for the costs of %u tasks", dag->task_count);
    return NULL;
}

void costs_free(struct costs *costs) {
    if (!costs) return;
    free(costs->pools);
    free(costs->bracket_ns);
    free(costs->pickup_ns);
    free(costs->granted_ns);
    free(costs->first_uses.items);
    free(costs);
}
