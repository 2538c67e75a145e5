// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/throughput.h"

#include "dag/order.h"

#include <stdlib.h>

// What happens at one time: what leaves the queue first, so that what is left is queued before and after.
enum happening { LEAVES_QUEUE, GOES_ON, QUEUES };

struct sweep {
    struct simulation *sim;
    struct order_key *keys;
    uint32_t count;
    uint32_t *queued;       // a pool each
    uint32_t *in_a_row;     // a thread each: jobs since the worker last went on without need
    int64_t *actor_free_ns; // an actor each: when its last job ended
};

static bool is_job(const struct dag *dag, uint32_t task) {
    const struct dag_task *of = &dag->tasks[task];
    return dag->actor_of[task] && of->start != DAG_NONE && of->end != DAG_NONE && of->spawn_begin != DAG_NONE &&
           of->enclosing == DAG_NONE;
}

static void add(struct sweep *sweep, int64_t time_ns, enum happening what, uint32_t task) {
    sweep->keys[sweep->count++] = (struct order_key){time_ns, what, task};
}

static int64_t start_ns(const struct dag *dag, uint32_t task) {
    return dag->vertices.time_ns[dag->tasks[task].start];
}

// When the worker was done with the job before: it went on at once.
static int64_t before_ns(const struct dag *dag, const struct dag_task *task) {
    const uint32_t first = dag->threads[task->thread].first;
    uint32_t v = task->start;
    while (v > first && dag->vertices.kind[v - 1] != VERTEX_END) v--;
    return dag->vertices.time_ns[v > first ? v - 1 : task->start];
}

// In the order in which jobs begin: an actor queues when a message comes, or when it has done what it may in a row.
static void list_job(struct sweep *sweep, uint32_t task) {
    const struct dag *dag = sweep->sim->dag;
    const struct dag_task *of = &dag->tasks[task];
    int64_t *free_ns = &sweep->actor_free_ns[dag->actor_of[task]];
    if (of->dispatch == DISPATCH_NEXT) {
        add(sweep, before_ns(dag, of), GOES_ON, task);
    } else {
        add(sweep, max_ns(dag->vertices.time_ns[of->spawn_begin], *free_ns), QUEUES, task);
        add(sweep, start_ns(dag, task), LEAVES_QUEUE, task);
    }
    *free_ns = dag->vertices.time_ns[of->end];
}

static bool list_jobs(struct sweep *sweep) {
    const struct dag *dag = sweep->sim->dag;
    struct order_key *jobs = malloc(((size_t)dag->task_count + 1) * sizeof *jobs);
    uint32_t count = 0;
    for (uint32_t t = 0; jobs && t < dag->task_count; t++) {
        if (is_job(dag, t)) jobs[count++] = (struct order_key){start_ns(dag, t), t, t};
    }
    const bool ok = jobs && order_sort(jobs, count);
    for (uint32_t i = 0; ok && i < count; i++) list_job(sweep, jobs[i].item);
    free(jobs);
    return ok;
}

static void happen(struct sweep *sweep, enum happening what, uint32_t task) {
    const struct dag_task *of = &sweep->sim->dag->tasks[task];
    struct pool_state *pool = &sweep->sim->pools[of->pool];
    if (what == QUEUES) {
        sweep->queued[of->pool]++;
        return;
    }
    uint32_t *in_a_row = &sweep->in_a_row[of->thread];
    if (what == LEAVES_QUEUE) {
        sweep->queued[of->pool] -= sweep->queued[of->pool] > 0;
        *in_a_row = 1;
        return;
    }
    *in_a_row = sweep->queued[of->pool] ? *in_a_row + 1 : 1;
    if (*in_a_row > pool->throughput) pool->throughput = *in_a_row;
}

static void end(struct sweep *sweep) {
    free(sweep->keys);
    free(sweep->queued);
    free(sweep->in_a_row);
    free(sweep->actor_free_ns);
}

bool find_throughputs(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    struct sweep sweep = {.sim = sim,
                          .keys = malloc((2 * (size_t)dag->task_count + 1) * sizeof *sweep.keys),
                          .queued = calloc((size_t)dag->pool_count + 1, sizeof *sweep.queued),
                          .in_a_row = calloc((size_t)dag->thread_count + 1, sizeof *sweep.in_a_row),
                          .actor_free_ns = malloc(((size_t)dag->actor_count + 1) * sizeof *sweep.actor_free_ns)};
    bool ok = sweep.keys && sweep.queued && sweep.in_a_row && sweep.actor_free_ns;
    for (uint32_t p = 0; p < dag->pool_count; p++) sim->pools[p].throughput = LEAST_THROUGHPUT;
    for (uint32_t a = 0; ok && a <= dag->actor_count; a++) sweep.actor_free_ns[a] = INT64_MIN;
    ok = ok && list_jobs(&sweep) && order_sort(sweep.keys, sweep.count);
    for (uint32_t i = 0; ok && i < sweep.count; i++)
        happen(&sweep, (enum happening)sweep.keys[i].tie, sweep.keys[i].item);
    end(&sweep);
    return ok;
}
