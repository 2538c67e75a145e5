// SPDX-License-Identifier: GPL-3.0-or-later
// When workers slept in the recording, and how long those needed to come who were called.
//
// Who is called is settled before it is known who takes what. A spawn calls a worker that sleeps; while that wakes up,
// others may come free and take the task. So in a replay, too, a worker comes as late as one came then, and takes what
// is left: each stands for one of those that came after that spawn. Who did not come as long as something lay in the
// queue would have taken it, so he was not awake before the queue had run empty.
#include "dag/simulate/transitions.h"

#include "dag/ns.h"
#include "dag/order.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/queue.h"

#include <stdlib.h>

static void add_transition(struct simulation *sim, uint32_t pool, uint32_t vertex, int idle, int running) {
    const struct dag *dag = sim->dag;
    uint32_t task = dag_task_of(&dag->vertices, vertex);
    sim->recorded.transitions[sim->recorded.transition_count++] =
        (struct transition){.time_ns = dag->vertices.time_ns[vertex],
                            .pool = pool,
                            .idle = idle,
                            .running = running,
                            .comes = idle < 0 && running > 0,
                            .task = task};
}

static bool transitions(const struct dag *dag, uint32_t vertex) {
    return 1u << dag->vertices.kind[vertex] & (1u << VERTEX_IDLE | 1u << VERTEX_BUSY | 1u << VERTEX_RETIRE);
}

static void add_transitions(struct simulation *sim, const struct dag_thread *thread) {
    const uint8_t *kind = sim->dag->vertices.kind;
    bool idle = false;
    add_transition(sim, thread->pool, thread->first, 0, 1);
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (!transitions(sim->dag, v)) continue;
        if (kind[v] == VERTEX_RETIRE)
            add_transition(sim, thread->pool, v, idle ? -1 : 0, idle ? 0 : -1);
        else if (idle != (kind[v] == VERTEX_IDLE))
            add_transition(sim, thread->pool, v, idle ? -1 : 1, idle ? 1 : -1);
        idle = kind[v] == VERTEX_IDLE;
    }
}

static int by_pool_and_time(const void *a, const void *b) {
    const struct transition *x = a, *y = b;
    if (x->pool != y->pool) return x->pool < y->pool ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

// ---- pools with a queue

static bool has_queue(const struct dag *dag, uint32_t pool) {
    if (pool == 0 || pool >= dag->pool_count) return false;
    enum discipline discipline = dag->pools[pool].discipline;
    return discipline == DISCIPLINE_FIFO || discipline == DISCIPLINE_LIFO || discipline == DISCIPLINE_PRIORITY;
}

static bool was_queued(const struct dag *dag, const struct dag_task *task) {
    return has_queue(dag, task->pool) && (task->dispatch == DISPATCH_WOKEN || task->dispatch == DISPATCH_QUEUED);
}

// A worker sleeps until it takes a task for which it had to wake up.
static void add_sleep(struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    const int64_t waited_ns = sim->dag->vertices.time_ns[task->start] - dag_pickup_from_ns(sim->dag, task);
    add_transition(sim, task->pool, task->pickup, 1, 0);
    add_transition(sim, task->pool, task->start, -1, 1);
    sim->recorded.transitions[sim->recorded.transition_count - 1].kept_ns = waited_ns - sim->costs->pickup_ns[index];
}

// And to the end, if nothing wakes it up any more.
static void add_last_sleep(struct simulation *sim, const struct dag_thread *thread) {
    uint32_t last = thread->first + thread->count - 1;
    const struct dag_vertices *vertices = &sim->dag->vertices;
    while (last > thread->first && vertices->kind[last] != VERTEX_IDLE && vertices->kind[last] != VERTEX_END) last--;
    if (vertices->kind[last] == VERTEX_IDLE) add_transition(sim, thread->pool, last, 1, 0);
}

// Tasks that lay in queues, in order of their spawns.
static struct order_key *sort_queued(const struct dag *dag, uint32_t *count) {
    struct order_key *order = malloc(((size_t)dag->task_count + 1) * sizeof *order);
    *count = 0;
    for (uint32_t t = 0; order && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!was_queued(dag, task)) continue;
        order[(*count)++] = (struct order_key){dag->vertices.time_ns[task->spawn_begin], task->spawn_begin, t};
    }
    if (order && order_sort(order, *count)) return order;
    free(order);
    return NULL;
}

// A task each that lay in a queue: when that had run empty, tasks having lain there one after the other without a gap.
// First until when any of those spawned by then lay there, then, from the last one back, as long as there is no gap.
static bool find_busy_periods(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t count;
    struct order_key *order = sort_queued(dag, &count);
    int64_t *until_ns = malloc(((size_t)dag->pool_count + 1) * sizeof *until_ns); // a pool each
    int64_t *spawn_ns = malloc(((size_t)dag->pool_count + 1) * sizeof *spawn_ns); // the next one's, likewise
    bool ok = order && until_ns && spawn_ns;
    for (uint32_t p = 0; ok && p < dag->pool_count; p++) {
        until_ns[p] = INT64_MIN;
        spawn_ns[p] = INT64_MAX;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct dag_task *task = &dag->tasks[order[i].item];
        until_ns[task->pool] = max_ns(until_ns[task->pool], time_ns[task->start]);
        sim->recorded.busy_until_ns[order[i].item] = until_ns[task->pool];
    }
    for (uint32_t i = ok ? count : 0; i-- > 0;) {
        uint32_t t = order[i].item, pool = dag->tasks[t].pool;
        if (sim->recorded.busy_until_ns[t] < spawn_ns[pool]) until_ns[pool] = sim->recorded.busy_until_ns[t];
        sim->recorded.busy_until_ns[t] = until_ns[pool];
        spawn_ns[pool] = order[i].time_ns;
    }
    free(order);
    free(until_ns);
    free(spawn_ns);
    return ok;
}

// ---- all pools

static bool is_worker_of(const struct dag *dag, const struct dag_thread *thread, bool steals) {
    if (!thread->worker || thread->pool >= dag->pool_count) return false;
    return steals ? dag->pools[thread->pool].discipline == DISCIPLINE_STEALING : has_queue(dag, thread->pool);
}

static size_t most_transitions(const struct dag *dag) {
    size_t most = 1 + (size_t)dag->thread_count;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!is_worker_of(dag, thread, true)) continue;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) most += transitions(dag, v);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) most += dag->tasks[t].dispatch == DISPATCH_WOKEN ? 2 : 0;
    return most;
}

// Index of the first transition later than that.
static uint32_t first_after(const struct simulation *sim, uint32_t pool, int64_t time_ns) {
    const struct transition key = {.time_ns = time_ns, .pool = pool};
    uint32_t low = 0, high = sim->recorded.transition_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_pool_and_time(&sim->recorded.transitions[middle], &key) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_transitions_after(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t t = 0; sim->recorded.transition_count && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->pool == 0 || task->spawn_begin == DAG_NONE) continue;
        sim->recorded.transition_after[t] = first_after(sim, task->pool, dag->vertices.time_ns[task->spawn_begin]);
    }
}

bool transitions_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->recorded.transitions = malloc(most_transitions(dag) * sizeof *sim->recorded.transitions);
    sim->recorded.transition_after = calloc((size_t)dag->task_count + 1, sizeof *sim->recorded.transition_after);
    sim->recorded.busy_until_ns = calloc((size_t)dag->task_count + 1, sizeof *sim->recorded.busy_until_ns);
    if (!sim->recorded.transitions || !sim->recorded.transition_after || !sim->recorded.busy_until_ns) return false;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (is_worker_of(dag, &dag->threads[i], true)) add_transitions(sim, &dag->threads[i]);
        if (is_worker_of(dag, &dag->threads[i], false)) add_last_sleep(sim, &dag->threads[i]);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (has_queue(dag, task->pool) && task->dispatch == DISPATCH_WOKEN) add_sleep(sim, t);
    }
    if (sim->recorded.transition_count)
        qsort(sim->recorded.transitions, sim->recorded.transition_count, sizeof *sim->recorded.transitions,
              by_pool_and_time);
    for (uint32_t i = 1; i < sim->recorded.transition_count; i++) {
        if (sim->recorded.transitions[i].pool != sim->recorded.transitions[i - 1].pool) continue;
        sim->recorded.transitions[i].idle += sim->recorded.transitions[i - 1].idle;
        sim->recorded.transitions[i].running += sim->recorded.transitions[i - 1].running;
    }
    find_transitions_after(sim);
    return find_busy_periods(sim);
}

void transitions_free(struct simulation *sim) {
    free(sim->recorded.transitions);
    free(sim->recorded.transition_after);
    free(sim->recorded.busy_until_ns);
}

// When a worker that woke up took what it woke up for; where it found nothing, when it was awake.
static int64_t looked_ns(const struct simulation *sim, const struct transition *transition) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t start = transition->task != DAG_NONE ? sim->dag->tasks[transition->task].start : DAG_NONE;
    if (start == DAG_NONE || vertices->time_ns[start] < transition->time_ns) return transition->time_ns;
    int64_t queued_ns = sim->model == MODEL_CPU && vertices->queued_ns ? vertices->queued_ns[start] : 0;
    return vertices->time_ns[start] - queued_ns;
}

// How long after a spawn that found a worker asleep the next one woke up in the recording; -1 where nobody had to.
int64_t transitions_waking_ns(const struct simulation *sim, uint32_t job) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    if (task->spawn_begin == DAG_NONE) return -1; // that was lost
    int64_t spawn_ns = sim->dag->vertices.time_ns[task->spawn_begin];
    uint32_t low = sim->recorded.transition_after[job_task(sim, job)];
    if (low == 0 || sim->recorded.transitions[low - 1].pool != task->pool || !corrects(sim, CORRECTION_WAKEUPS))
        return -1;
    const struct transition *then = &sim->recorded.transitions[low - 1];
    if (then->idle <= 0 || then->running >= sim->dag->pools[task->pool].core) return -1;
    for (uint32_t i = low; i < sim->recorded.transition_count && sim->recorded.transitions[i].pool == task->pool; i++) {
        if (sim->recorded.transitions[i].comes) return looked_ns(sim, &sim->recorded.transitions[i]) - spawn_ns;
    }
    return -1;
}

// How many of a pool's workers slept then.
static int32_t asleep_before(const struct simulation *sim, uint32_t pool, uint32_t transition) {
    return transition > 0 && sim->recorded.transitions[transition - 1].pool == pool
               ? sim->recorded.transitions[transition - 1].idle
               : 0;
}

// When the worker came that woke up so: where cores are shared, what it was kept from one arises anew.
static int64_t came_ns(const struct simulation *sim, const struct transition *transition) {
    return transition->time_ns - (sim->model == MODEL_CPU ? transition->kept_ns : 0);
}

// How many of the workers slept at a task's spawn: those that had come by then, but without a core, did not.
static int32_t asleep_at(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    const int64_t spawn_ns = sim->dag->vertices.time_ns[task->spawn_begin];
    const struct transition *end = sim->recorded.transitions + sim->recorded.transition_count;
    const struct transition *transition = sim->recorded.transitions + sim->recorded.transition_after[index];
    int32_t left = asleep_before(sim, task->pool, sim->recorded.transition_after[index]), asleep = left;
    if (sim->model != MODEL_CPU) return asleep;
    for (; left > 0 && transition < end && transition->pool == task->pool &&
           transition->time_ns <= sim->recorded.busy_until_ns[index];
         transition++) {
        left -= transition->comes;
        asleep -= transition->comes && came_ns(sim, transition) < spawn_ns;
    }
    return asleep;
}

bool transitions_slept(const struct simulation *sim, uint32_t job, uint32_t coming) {
    uint32_t index = job_task(sim, job);
    return corrects(sim, CORRECTION_WAKEUPS) && was_queued(sim->dag, &sim->dag->tasks[index]) &&
           asleep_at(sim, index) > (int32_t)coming;
}

// Of the workers that came after a task's spawn, as long as something lay in the queue, the first one that nobody
// stands for who is on his way now: of as many as slept at that spawn, since those behind had slept again. NULL: there
// is none.
static const struct transition *first_to_come(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    const int64_t spawn_ns = sim->dag->vertices.time_ns[task->spawn_begin];
    const struct transition *first = NULL, *end = sim->recorded.transitions + sim->recorded.transition_count;
    const struct transition *transition = sim->recorded.transitions + sim->recorded.transition_after[index];
    int32_t left = asleep_before(sim, task->pool, sim->recorded.transition_after[index]);
    for (; left > 0 && transition < end && transition->pool == task->pool &&
           transition->time_ns <= sim->recorded.busy_until_ns[index];
         transition++) {
        if (!transition->comes || came_ns(sim, transition) < spawn_ns)
            continue; // it had come before, but without a core
        left--;
        if (first && came_ns(sim, transition) >= came_ns(sim, first)) continue;
        if (pool_has_reserved(sim, task->pool, transition->task)) continue;
        first = transition;
        if (sim->model != MODEL_CPU) break; // they came in the order in which they stand
    }
    return first;
}

// Whether the spawn that had called the worker is gone with an edit: the one that calls it now may come long after.
static bool called_by_gone(const struct simulation *sim, const struct transition *transition) {
    return transition->task != DAG_NONE && job_has_moved(sim, transition->task) &&
           sim->placement[transition->task] != PLACEMENT_SPLIT;
}

int64_t transitions_coming_ns(const struct simulation *sim, uint32_t job, uint32_t coming, uint32_t *took) {
    uint32_t index = job_task(sim, job);
    *took = DAG_NONE;
    if (!transitions_slept(sim, job, coming)) return mean_pickup(sim, job, DISPATCH_WOKEN);
    int64_t spawn_ns = sim->dag->vertices.time_ns[sim->dag->tasks[index].spawn_begin];
    const struct transition *transition = first_to_come(sim, index);
    if (!transition) return sim->recorded.busy_until_ns[index] - spawn_ns + mean_pickup(sim, job, DISPATCH_WOKEN);
    *took = transition->task;
    return called_by_gone(sim, transition) ? mean_pickup(sim, job, DISPATCH_WOKEN)
                                           : came_ns(sim, transition) - spawn_ns;
}
