// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/recorded_workers.h"

#include <stdlib.h>

uint32_t find_retirement(const struct dag *dag, uint32_t thread) {
    uint32_t last = last_vertex(dag, thread);
    for (uint32_t v = last; v > dag->threads[thread].first && dag->vertices.kind[v] != VERTEX_END; v--) {
        if (dag->vertices.kind[v] == VERTEX_RETIRE) return v;
    }
    return DAG_NONE;
}

uint32_t last_before_leaving(const struct dag *dag, uint32_t retirement) {
    const uint32_t leaving = dag_unseen_leaving(dag, retirement);
    if (leaving != DAG_NONE) return dag->tasks[leaving].pickup;
    uint32_t v = retirement - 1;
    while (v > 0 && vertex_is_of_resource(dag->vertices.kind[v])) v--;
    return v;
}

int64_t recorded_leaving_ns(const struct dag *dag, uint32_t retirement, bool *slept) {
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t cause = dag->vertices.cause[retirement], before = last_before_leaving(dag, retirement);
    *slept = cause != DAG_NONE && time_ns[before] < time_ns[cause];
    return *slept ? time_ns[cause] : time_ns[before];
}

int64_t recorded_retiring_ns(const struct dag *dag, uint32_t retirement) {
    const uint32_t first = dag->threads[dag_thread_of(dag, retirement)].first;
    uint32_t v = retirement;
    while (v > first && dag->vertices.kind[v] != VERTEX_END) v--;
    return v > first ? dag->vertices.time_ns[retirement] - dag->vertices.time_ns[v] : 0;
}

uint32_t first_work(const struct dag *dag, const struct dag_thread *thread) {
    const unsigned works = 1u << VERTEX_START | 1u << VERTEX_IDLE | 1u << VERTEX_BUSY;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (1u << dag->vertices.kind[v] & works) return v;
    }
    return DAG_NONE;
}

uint32_t first_initial_job(const struct dag *dag, const struct dag_thread *thread) {
    uint32_t v = first_work(dag, thread), task = v == DAG_NONE ? DAG_NONE : dag->vertices.task[v];
    return task != DAG_NONE && dag_task_stands(&dag->tasks[task]) ? task : DAG_NONE;
}

// One that idled is known by what came before, its birth at least: who has nothing before that was not seen to be
// there.
bool is_initial_worker(const struct dag *dag, const struct dag_thread *thread) {
    if (!dag_ran_before(dag->trace) || dag->vertices.cause[thread->first] != DAG_NONE) return false;
    uint32_t v = first_work(dag, thread);
    bool idles = v != DAG_NONE && v > thread->first && dag->vertices.kind[v] == VERTEX_IDLE;
    return idles || first_initial_job(dag, thread) != DAG_NONE;
}

static bool tells_idle(const struct dag *dag, const struct dag_thread *thread) {
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (dag->vertices.kind[v] == VERTEX_IDLE) return true;
    }
    return false;
}

// When the thread was made, which need not be the order in which such threads began.
static int64_t made_ns(const struct dag *dag, uint32_t thread) {
    uint32_t first = dag->threads[thread].first, maker = dag->vertices.cause[first];
    return dag->vertices.time_ns[maker == DAG_NONE ? first : maker];
}

static int by_making(const void *a, const void *b, void *context) {
    const struct dag *dag = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct dag_thread *of_x = &dag->threads[x], *of_y = &dag->threads[y];
    int64_t x_ns = made_ns(dag, x), y_ns = made_ns(dag, y);
    if (of_x->pool != of_y->pool) return of_x->pool < of_y->pool ? -1 : 1;
    bool x_stands = is_initial_worker(dag, of_x), y_stands = is_initial_worker(dag, of_y);
    if (x_stands != y_stands) return x_stands ? -1 : 1;
    if (x_ns != y_ns) return x_ns < y_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static void note_leaving(const struct dag *dag, struct pool_state *pool, uint32_t retirement) {
    bool slept;
    int64_t since_ns = recorded_leaving_ns(dag, retirement, &slept);
    if (pool->leaves_ns[slept] < 0) pool->leaves_ns[slept] = dag->vertices.time_ns[retirement] - since_ns;
}

static void find_workers(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    uint32_t count = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag->threads[i].worker && dag->threads[i].pool < sim->pool_count) sim->recorded.workers[count++] = i;
    }
    qsort_r(sim->recorded.workers, count, sizeof *sim->recorded.workers, by_making, (void *)dag);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = sim->recorded.workers[i], retirement = find_retirement(dag, thread);
        struct pool_state *pool = &sim->pools[dag->threads[thread].pool];
        if (pool->recorded_count++ == 0) pool->recorded = &sim->recorded.workers[i];
        pool->tells_idle |= tells_idle(dag, &dag->threads[thread]);
        pool->all_retire &= retirement != DAG_NONE;
        if (retirement == DAG_NONE) continue;
        if (pool->retirement == DAG_NONE) pool->retirement = retirement;
        if (dag->vertices.cause[retirement] == DAG_NONE) continue;
        note_leaving(dag, pool, retirement);
        sim->recorded.pool_of_shutdown[dag->vertices.cause[retirement]] = dag->threads[thread].pool;
    }
}

// A stage ends with what is put last where all of its threads were seen to leave, and none since it was shut down.
static void find_puts(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        struct pool_state *pool = &sim->pools[p];
        pool->ends_with_puts = dag->pools[p].is_stage && pool->all_retire;
        for (uint32_t i = 0; i < pool->recorded_count && pool->ends_with_puts; i++) {
            const uint32_t retirement = find_retirement(dag, pool->recorded[i]),
                           cause = dag->vertices.cause[retirement];
            pool->ends_with_puts = cause == DAG_NONE || dag->vertices.kind[cause] != VERTEX_SHUTDOWN;
        }
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool < dag->pool_count && task->spawn_begin != DAG_NONE) sim->pools[task->pool].puts++;
    }
}

static bool has_stages(const struct dag *dag) {
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        if (dag->pools[p].is_stage) return true;
    }
    return false;
}

static bool find_stages(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    if (!has_stages(dag)) return true;
    sim->recorded.begun_by = malloc(((size_t)dag->vertex_count + 1) * sizeof *sim->recorded.begun_by);
    if (!sim->recorded.begun_by) return false;
    for (uint32_t v = 0; v < dag->vertex_count; v++) sim->recorded.begun_by[v] = DAG_NONE;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        const uint32_t maker = dag->vertices.cause[thread->first];
        bool of_stage = thread->worker && thread->pool < dag->pool_count && dag->pools[thread->pool].is_stage;
        if (of_stage && maker != DAG_NONE) sim->recorded.begun_by[maker] = i;
        if (of_stage && !is_initial_worker(dag, thread)) sim->pools[thread->pool].starts++;
    }
    find_puts(sim);
    return true;
}

// Of a signal the vertex is where it was given.
static bool ends_work(const struct dag *dag, uint32_t vertex) {
    const uint32_t kind = dag->vertices.kind[vertex], task = dag->vertices.task[vertex];
    if (kind == VERTEX_REQUEST || kind == VERTEX_END) return true;
    return kind == VERTEX_RESULT && task != DAG_NONE && dag->tasks[task].flags & TASK_SIGNAL;
}

// A barrier awaits workers of one pool, and its shutdown; or, of no pool, the end of the load, or of tasks.
static void find_barrier(struct simulation *sim, uint32_t thread) {
    const struct dag *dag = sim->dag;
    uint32_t shutdown = DAG_NONE;
    for (uint32_t v = dag->threads[thread].first; v <= last_vertex(dag, thread); v++) {
        uint32_t cause = dag->vertices.cause[v];
        if (dag->vertices.kind[v] != VERTEX_BARRIER || cause == DAG_NONE) continue;
        if (ends_work(dag, cause)) continue;
        if (dag->vertices.kind[cause] == VERTEX_SHUTDOWN)
            shutdown = cause;
        else if (dag->threads[dag_thread_of(dag, cause)].worker)
            sim->recorded.pool_of_barrier[thread] = dag->threads[dag_thread_of(dag, cause)].pool;
    }
    struct pool_state *pool = &sim->pools[sim->recorded.pool_of_barrier[thread]];
    sim->recorded.next_barrier[thread] = pool->barriers;
    if (sim->recorded.pool_of_barrier[thread]) pool->barriers = thread;
    if (shutdown != DAG_NONE && sim->recorded.pool_of_barrier[thread]) {
        sim->recorded.pool_of_shutdown[shutdown] = sim->recorded.pool_of_barrier[thread];
    }
}

bool recorded_workers_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->pool_count = dag->pool_count;
    sim->pools = calloc((size_t)dag->pool_count + OWN_POOLS_MOST + 1, sizeof *sim->pools);
    sim->recorded.workers = malloc(((size_t)dag->thread_count + 1) * sizeof *sim->recorded.workers);
    sim->recorded.pool_of_barrier = calloc((size_t)dag->thread_count + 1, sizeof *sim->recorded.pool_of_barrier);
    sim->recorded.next_barrier = calloc((size_t)dag->thread_count + 1, sizeof *sim->recorded.next_barrier);
    sim->recorded.pool_of_shutdown = calloc((size_t)dag->vertex_count + 1, sizeof *sim->recorded.pool_of_shutdown);
    if (!sim->pools || !sim->recorded.workers || !sim->recorded.pool_of_barrier || !sim->recorded.next_barrier ||
        !sim->recorded.pool_of_shutdown) {
        return false;
    }
    for (uint32_t p = 0; p < sim->pool_count; p++) sim->pools[p].barriers = DAG_NONE;
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        enum discipline discipline = dag->pools[p].discipline;
        sim->pools[p].governed = discipline != DISCIPLINE_UNKNOWN;
        sim->pools[p].retirement = DAG_NONE;
        sim->pools[p].leaves_ns[false] = sim->pools[p].leaves_ns[true] = -1;
        sim->pools[p].all_retire = true;
    }
    find_workers(sim);
    for (uint32_t i = 0; i < dag->thread_count; i++) find_barrier(sim, i);
    return find_stages(sim);
}

void recorded_workers_free(struct simulation *sim) {
    free(sim->pools);
    free(sim->recorded.workers);
    free(sim->recorded.pool_of_barrier);
    free(sim->recorded.next_barrier);
    free(sim->recorded.pool_of_shutdown);
    free(sim->recorded.begun_by);
}
