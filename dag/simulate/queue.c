// SPDX-License-Identifier: GPL-3.0-or-later
// Pools' queues: jobs in the order in which they came, which may be taken out anywhere; of pools that go by priority a
// skew heap (Sleator, Tarjan), least key first.
#include "dag/simulate/queue.h"

void queues_begin_run(struct simulation *sim) {
    for (uint32_t t = 0; t < sim->dag->task_count; t++) sim->queue.holder[t] = QUEUE_NOWHERE;
}

static struct pool_state *pool_of(struct simulation *sim, uint32_t job) {
    return &sim->pools[job_pool(sim, job)];
}

static bool has_heap(const struct pool_state *pool) {
    return pool->discipline == DISCIPLINE_PRIORITY || pool->discipline == DISCIPLINE_DELAY;
}

bool pool_has_reserved(const struct simulation *sim, uint32_t pool, uint32_t job) {
    for (uint32_t i = sim->pools[pool].coming_first; i != DAG_NONE; i = sim->processes[i].worker.next) {
        if (sim->processes[i].worker.reserved == job) return true;
    }
    return false;
}

// ---- the heap

static bool comes_before(const struct task_queue *queue, uint32_t a, uint32_t b) {
    return queue->key[a] != queue->key[b] ? queue->key[a] < queue->key[b] : a < b;
}

static uint32_t merge(struct task_queue *queue, uint32_t a, uint32_t b) {
    uint32_t root = DAG_NONE, *link = &root;
    while (a != DAG_NONE && b != DAG_NONE) {
        uint32_t first = comes_before(queue, a, b) ? a : b, other = first == a ? b : a;
        *link = first;
        link = &queue->left[first];
        a = queue->right[first];
        queue->right[first] = queue->left[first];
        b = other;
    }
    *link = a != DAG_NONE ? a : b;
    return root;
}

static uint32_t heap_put(struct task_queue *queue, uint32_t heap, uint32_t job) {
    queue->left[job] = queue->right[job] = DAG_NONE;
    return merge(queue, heap, job);
}

// Who is taken out of turn stays in the heap until its turn comes.
static uint32_t heap_take_first(struct simulation *sim, struct pool_state *pool) {
    uint32_t job;
    do {
        job = pool->heap;
        pool->heap = merge(&sim->queue, sim->queue.left[job], sim->queue.right[job]);
    } while (sim->queue.holder[job] == QUEUE_NOWHERE);
    return queue_take(sim, job);
}

static uint32_t heap_take_unclaimed(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    uint32_t claimed = DAG_NONE, job = DAG_NONE;
    for (uint32_t left = pool->queue_length; left-- > 0;) {
        job = heap_take_first(sim, pool);
        if (!pool_has_reserved(sim, index, job)) break;
        sim->queue.holder[job] = QUEUE_SHARED;
        pool->queue_length++;
        claimed = heap_put(&sim->queue, claimed, job);
        job = DAG_NONE;
    }
    pool->heap = merge(&sim->queue, pool->heap, claimed);
    return job;
}

// ---- deques

static struct deque *deque_of(struct simulation *sim, struct pool_state *pool, uint32_t holder) {
    return holder == QUEUE_SHARED ? &pool->shared : &sim->processes[holder].steal.own;
}

static void deque_put(struct task_queue *queue, struct deque *deque, uint32_t job, uint32_t after) {
    uint32_t before = after != DAG_NONE ? queue->right[after] : deque->oldest;
    queue->left[job] = after;
    queue->right[job] = before;
    *(after != DAG_NONE ? &queue->right[after] : &deque->oldest) = job;
    *(before != DAG_NONE ? &queue->left[before] : &deque->newest) = job;
    deque->count++;
}

static void deque_take(struct task_queue *queue, struct deque *deque, uint32_t job) {
    uint32_t before = queue->left[job], after = queue->right[job];
    *(before != DAG_NONE ? &queue->right[before] : &deque->oldest) = after;
    *(after != DAG_NONE ? &queue->left[after] : &deque->newest) = before;
    deque->count--;
}

// ---- either

// A task comes into the queue somewhere in its bracket: of two whose brackets overlap, who started first was there
// first. An actor comes when its mailbox has something for it, whenever that was sent.
static bool overtakes(const struct simulation *sim, uint32_t job, uint32_t other) {
    if (job_is_part(sim, job) || job_is_part(sim, other)) return false;
    const struct dag_task *task = &sim->dag->tasks[job], *than = &sim->dag->tasks[other];
    if (task->start == DAG_NONE || than->start == DAG_NONE || task->flags & TASK_OF_ACTOR) return false;
    if (task->spawn_begin == DAG_NONE || than->spawn_begin == DAG_NONE) return false;
    const int64_t *recorded_ns = sim->dag->vertices.time_ns;
    int64_t bracket_ns = recorded_ns[than->spawn_end] - recorded_ns[than->spawn_begin];
    bool open = sim->time_ns[task->spawn_begin] < sim->time_ns[than->spawn_begin] + bracket_ns;
    return open && recorded_ns[task->start] < recorded_ns[than->start];
}

// Behind which job of the deque another comes.
static uint32_t place_of(const struct simulation *sim, const struct pool_state *pool, const struct deque *deque,
                         uint32_t job) {
    uint32_t after = deque->newest;
    if (pool->discipline != DISCIPLINE_FIFO || !corrects(sim, CORRECTION_QUEUE_ORDER)) return after;
    while (after != DAG_NONE && overtakes(sim, job, after)) after = sim->queue.left[after];
    return after;
}

void queue_put(struct simulation *sim, uint32_t job, uint32_t holder) {
    struct pool_state *pool = pool_of(sim, job);
    struct task_queue *queue = &sim->queue;
    queue->holder[job] = holder;
    pool->queue_length++;
    if (has_heap(pool)) {
        bool delays = pool->discipline == DISCIPLINE_DELAY;
        queue->key[job] =
            delays ? sim->due_ns[job] : sim->dag->vertices.time_ns[sim->dag->tasks[job_task(sim, job)].start];
        pool->heap = heap_put(queue, pool->heap, job);
    } else {
        struct deque *deque = deque_of(sim, pool, holder);
        deque_put(queue, deque, job, place_of(sim, pool, deque, job));
    }
}

uint32_t queue_take(struct simulation *sim, uint32_t job) {
    struct pool_state *pool = pool_of(sim, job);
    struct task_queue *queue = &sim->queue;
    if (!has_heap(pool)) deque_take(queue, deque_of(sim, pool, queue->holder[job]), job);
    queue->holder[job] = QUEUE_NOWHERE;
    pool->queue_length--;
    return job;
}

uint32_t queue_take_first(struct simulation *sim, struct pool_state *pool) {
    if (has_heap(pool)) return heap_take_first(sim, pool);
    return queue_take(sim, pool->discipline == DISCIPLINE_LIFO ? pool->shared.newest : pool->shared.oldest);
}

bool queue_comes_within(const struct simulation *sim, const struct pool_state *pool, uint32_t job, uint32_t most) {
    const uint32_t *before = pool->discipline == DISCIPLINE_LIFO ? sim->queue.right : sim->queue.left;
    uint32_t count = 1;
    if (has_heap(pool)) return true;
    while (count <= most && (job = before[job]) != DAG_NONE) count++;
    return count <= most;
}

uint32_t queue_take_unclaimed(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    if (pool->queue_length == 0) return DAG_NONE;
    if (!pool->coming) return queue_take_first(sim, pool);
    if (has_heap(pool)) return heap_take_unclaimed(sim, index);
    bool newest = pool->discipline == DISCIPLINE_LIFO;
    uint32_t job = newest ? pool->shared.newest : pool->shared.oldest;
    while (job != DAG_NONE && pool_has_reserved(sim, index, job))
        job = newest ? sim->queue.left[job] : sim->queue.right[job];
    return job == DAG_NONE ? DAG_NONE : queue_take(sim, job);
}
