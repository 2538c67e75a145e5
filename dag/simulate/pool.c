// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/pool.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/delays.h"
#include "dag/simulate/event_loops.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/mailbox.h"
#include "dag/simulate/queue.h"
#include "dag/simulate/recorded_workers.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/transitions.h"
#include "dag/simulate/unmade.h"
#include "dag/simulate/worker.h"

// A resized pool that had no queue gets one: it would reject what it was made to take.
static void begin_recorded_pool(struct simulation *sim, uint32_t index) {
    const struct dag_pool *rules = &sim->dag->pools[index];
    struct pool_state *pool = &sim->pools[index];
    int32_t threads = sim->edit->pool_threads[index];
    pool->rules = rules;
    pool->governs = pool->governed && sim->model != MODEL_DAG;
    pool->discipline = rules->discipline;
    pool->core = threads ? dag_resized_core(rules, threads) : rules->core;
    pool->maximum = threads ? threads : rules->maximum;
    pool->capacity = rules->capacity;
    if (threads && rules->discipline == DISCIPLINE_HAND_OFF) {
        pool->discipline = DISCIPLINE_FIFO;
        pool->capacity = INT64_MAX;
    }
}

// As Executors.newFixedThreadPool has it. Its workers come, sleep and go as those of the pool that it is like.
static void begin_own_pool(struct simulation *sim, uint32_t index) {
    static const struct dag_pool fixed = {.discipline = DISCIPLINE_FIFO, .capacity = INT64_MAX, .keep_alive_ns = -1};
    const struct own_pool *own = &sim->edit->own_pools[index - sim->dag->pool_count];
    struct pool_state *pool = &sim->pools[index];
    *pool = sim->pools[own->like];
    pool->rules = &fixed;
    pool->recorded = NULL;
    pool->recorded_count = 0;
    pool->barriers = DAG_NONE;
    pool->discipline = fixed.discipline;
    pool->core = pool->maximum = own->threads;
    pool->capacity = fixed.capacity;
}

static void begin_pool(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    if (index < sim->dag->pool_count)
        begin_recorded_pool(sim, index);
    else
        begin_own_pool(sim, index);
    pool->made = pool->alive = pool->queue_length = 0;
    pool->coming = pool->idle = pool->delayed = 0;
    pool->coming_first = DAG_NONE;
    pool->idle_first = pool->idle_last = pool->heap = pool->shutdown = DAG_NONE;
    pool->gone_ns = DAG_ABSENT;
    pool->puts_left = pool->puts;
    pool->to_begin = pool->rules->is_stage ? pool->starts : 0;
    pool->shared = (struct deque){DAG_NONE, DAG_NONE, 0};
    pool->workers = DAG_NONE;
    pool->blocked = pool->asking = 0;
    event_loops_begin_run(sim, index);
}

void pools_begin_run(struct simulation *sim) {
    sim->steals = false;
    sim->slept_ns = 0;
    sim->pool_count = sim->dag->pool_count + sim->edit->own_pool_count;
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        begin_pool(sim, p);
        sim->steals |= stealing_governs(sim, p);
    }
    queues_begin_run(sim);
}

static void coming_remove(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    uint32_t *link = &pool->coming_first;
    while (*link != worker) link = &sim->processes[*link].worker.next;
    *link = sim->processes[worker].worker.next;
    pool->coming--;
}

static bool make_worker(struct simulation *sim, uint32_t index, uint32_t task, int64_t now_ns) {
    uint32_t worker = worker_make(sim, index, sim->dag->tasks[job_task(sim, task)].spawn_begin, now_ns);
    if (worker == DAG_NONE) return false;
    worker_begin_at_once(sim, worker, task, DISPATCH_NEW, now_ns);
    return true;
}

// How long a worker needs to come that is called for a job, and in `reserved` what it then takes if that is there.
static int64_t time_to_come(const struct simulation *sim, uint32_t index, uint32_t job, uint32_t *reserved) {
    *reserved = DAG_NONE;
    if (index >= sim->dag->pool_count) return mean_pickup(sim, job, DISPATCH_WOKEN);
    return transitions_coming_ns(sim, job, sim->pools[index].coming, reserved);
}

// Who is woken to take from a queue, takes what he finds there once he is awake.
static void call_idle(struct simulation *sim, uint32_t index, uint32_t worker, uint32_t job, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    int64_t takes_ns = time_to_come(sim, index, job, &sim->processes[worker].worker.reserved);
    pool->coming++;
    sim->processes[worker].worker.next = pool->coming_first;
    pool->coming_first = worker;
    queue_put(sim, job, QUEUE_SHARED);
    worker_send(sim, worker, DISPATCH_WOKEN, now_ns, takes_ns);
}

// How the bracket is dispatched of a task whose pool has a worker on its way: whether that spawn called it, or who then
// takes the task, makes no difference to the spawner.
static enum dispatch bracket_while_coming(const struct simulation *sim, uint32_t job) {
    return is_as_recorded(sim, job, DISPATCH_QUEUED) ? DISPATCH_QUEUED : DISPATCH_WOKEN;
}

// DISPATCH_NONE: nobody idles.
static enum dispatch give_to_idle(struct simulation *sim, uint32_t index, uint32_t job, int64_t now_ns) {
    uint32_t worker = worker_wake(sim, index, now_ns);
    if (worker == DAG_NONE) return DISPATCH_NONE;
    enum dispatch dispatch = hand_over_to_woken(sim, job);
    bool slept = index < sim->dag->pool_count && transitions_slept(sim, job, sim->pools[index].coming);
    bool calls = dispatch == DISPATCH_WOKEN || slept;
    if (calls && sim->pools[index].discipline != DISCIPLINE_HAND_OFF) {
        call_idle(sim, index, worker, job, now_ns);
        return bracket_while_coming(sim, job);
    }
    worker_begin_at_once(sim, worker, job, dispatch, max_ns(now_ns, sim->processes[worker].now_ns));
    return dispatch;
}

// It was made when something was handed over that is not due, as like as not.
static void arrive_made(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    worker_pass_birth(sim, worker, DAG_NONE, sim->processes[worker].worker.woken_ns, now_ns);
    sim->processes[worker].now_ns = now_ns;
    pool_take_back(sim, worker);
}

// Of workers that wake up at once, the first to tell that it has a task need not be the first that took one. But as
// many as they are take no more than the first so many jobs.
static uint32_t take_called(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    uint32_t own = sim->processes[worker].worker.reserved;
    bool is_there = own != DAG_NONE && sim->queue.holder[own] == QUEUE_SHARED;
    bool takes_own = is_there && queue_comes_within(sim, pool, own, pool->coming + 1);
    return takes_own ? queue_take(sim, own) : queue_take_first(sim, pool);
}

static void arrive_called(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    struct process *process = &sim->processes[worker];
    struct pool_state *pool = &sim->pools[process->worker.pool];
    coming_remove(sim, pool, worker);
    if (pool->queue_length > 0) {
        uint32_t job = take_called(sim, pool, worker);
        int64_t spawn_ns = job_is_part(sim, job) ? now_ns : job_spawned_ns(sim, job);
        worker_begin_task(sim, worker, job, DISPATCH_WOKEN, max_ns(process->worker.woken_ns, spawn_ns), now_ns);
        return;
    }
    if (pool->shutdown != DAG_NONE) process->now_ns = now_ns;
    worker_go_idle(sim, worker);
}

// One that was made comes for whatever there is: what is due finds its worker at once. One that was called comes for
// what has no due time.
static void arrive(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    if (sim->processes[worker].worker.comes_as == DISPATCH_WOKEN)
        arrive_called(sim, worker, now_ns);
    else
        arrive_made(sim, worker, now_ns);
}

// Whether the queue takes one more. Who is on his way to a full one may have taken his task by now, since he tells so
// only later: then what was taken when recorded is, and nothing else.
static bool has_room(const struct simulation *sim, const struct pool_state *pool, uint32_t job) {
    if (pool->queue_length < pool->capacity) return true;
    bool may =
        corrects(sim, CORRECTION_FULL_QUEUE) && (int64_t)pool->queue_length - (int64_t)pool->coming < pool->capacity;
    return may && (is_as_recorded(sim, job, DISPATCH_WOKEN) || is_as_recorded(sim, job, DISPATCH_QUEUED));
}

// Whether a worker is made though the queue has room: of a pool that grows first, where no worker is free for the job.
static bool grows(const struct pool_state *pool) {
    const int64_t left = (int64_t)pool->idle + pool->coming - pool->queue_length;
    return pool->rules->grows_first && left <= 0 && (int64_t)pool->alive < pool->maximum;
}

static enum dispatch offer_to_queue(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    uint32_t index = job_pool(sim, job);
    struct pool_state *pool = &sim->pools[index];
    const struct dag_pool *rules = pool->rules;
    bool must_make = (int64_t)pool->alive < pool->core && !(rules->wakes_first && pool->idle > 0);
    if ((must_make || grows(pool)) && make_worker(sim, index, job, now_ns)) return DISPATCH_NEW;
    bool hands_off = pool->discipline == DISCIPLINE_HAND_OFF, room = has_room(sim, pool, job);
    if (hands_off || room) {
        enum dispatch to_idle = give_to_idle(sim, index, job, now_ns);
        if (to_idle != DISPATCH_NONE) return to_idle;
    }
    if (!hands_off && room) {
        if (pool->alive == 0 && make_worker(sim, index, job, now_ns)) return DISPATCH_NEW;
        queue_put(sim, job, QUEUE_SHARED);
        return pool->coming && is_as_recorded(sim, job, DISPATCH_WOKEN) ? DISPATCH_WOKEN : DISPATCH_QUEUED;
    }
    if ((int64_t)pool->alive < pool->maximum && make_worker(sim, index, job, now_ns)) return DISPATCH_NEW;
    if (rules->caller_runs) return DISPATCH_CALLER;
    if (!rules->discards_oldest || pool->queue_length == 0) return DISPATCH_NONE;
    sim->dispatch[queue_take_first(sim, pool)] = DISPATCH_NONE;
    queue_put(sim, job, QUEUE_SHARED);
    return DISPATCH_QUEUED;
}

static enum dispatch offer_to_stage(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    const uint32_t index = job_pool(sim, job);
    (void)process;
    enum dispatch to_idle = give_to_idle(sim, index, job, now_ns);
    if (to_idle != DISPATCH_NONE) return to_idle;
    queue_put(sim, job, QUEUE_SHARED);
    return sim->pools[index].coming && is_as_recorded(sim, job, DISPATCH_WOKEN) ? DISPATCH_WOKEN : DISPATCH_QUEUED;
}

static uint32_t take_from_queue(struct simulation *sim, uint32_t worker) {
    return queue_take_unclaimed(sim, sim->processes[worker].worker.pool);
}

// ---- disciplines

struct rules {
    enum dispatch (*offer)(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns); // as pool_offer
    uint32_t (*take)(struct simulation *sim, uint32_t worker); // the job that a free worker takes, DAG_NONE
    void (*arrive)(struct simulation *sim, uint32_t worker, int64_t now_ns);
};

static const struct rules *rules_of(const struct simulation *sim, uint32_t pool) {
    static const struct rules queue = {offer_to_queue, take_from_queue, arrive},
                              stage = {offer_to_stage, take_from_queue, arrive},
                              steals = {stealing_offer, stealing_take, stealing_arrive},
                              loops = {event_loops_offer, event_loops_take, arrive};
    if (sim->pools[pool].rules->is_stage) return &stage;
    if (sim->pools[pool].discipline == DISCIPLINE_LOOPS) return &loops;
    return stealing_governs(sim, pool) ? &steals : &queue;
}

static enum dispatch dispatch_job(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    uint32_t pool = job_pool(sim, job);
    if (delays_job(sim, process, job, now_ns)) return delay_job(sim, pool, job, now_ns);
    return rules_of(sim, pool)->offer(sim, process, job, now_ns);
}

enum dispatch pool_offer(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    if (unmade_holds(sim, job, now_ns)) return sim->dag->tasks[job].dispatch;
    if (sim->mailboxes && mailbox_keeps(sim, job)) return sim->dag->tasks[job_task(sim, job)].dispatch;
    return dispatch_job(sim, process, job, now_ns);
}

void pool_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    rules_of(sim, sim->processes[worker].worker.pool)->arrive(sim, worker, now_ns);
}

// Whether the worker has something of the mailboxes that it holds to go on with. What has not is offered.
static bool goes_on_with_mail(struct simulation *sim, uint32_t worker) {
    int64_t now_ns = sim->processes[worker].now_ns;
    for (uint32_t next;;) {
        switch (mailbox_next(sim, worker, &next)) {
        case MAILBOX_FOLLOWS:
            worker_begin_task(sim, worker, next, DISPATCH_NONE, now_ns, now_ns);
            return true;
        case MAILBOX_NEXT:
            worker_begin_at_once(sim, worker, next, DISPATCH_NEXT, now_ns);
            return true;
        case MAILBOX_OFFERS:
            sim->dispatch[next] = (uint8_t)dispatch_job(sim, worker, next, now_ns);
            break;
        default: // MAILBOX_DONE
            return false;
        }
    }
}

void pool_take_back(struct simulation *sim, uint32_t worker) {
    if (sim->mailboxes && goes_on_with_mail(sim, worker)) return;
    if (worker_is_told_to_leave(sim, worker)) {
        worker_leave(sim, worker);
        return;
    }
    const struct process *process = &sim->processes[worker];
    if (sim->recorded.lanes && event_loops_end(sim, worker))
        pool_shut_down(sim, process->worker.pool, sim->dag->tasks[process->worker.task].tail, process->now_ns);
    uint32_t job = rules_of(sim, process->worker.pool)->take(sim, worker);
    bool initial = job != DAG_NONE && dag_task_stands(&sim->dag->tasks[job_task(sim, job)]);
    if (job != DAG_NONE)
        worker_begin_at_once(sim, worker, job, initial ? DISPATCH_NONE : DISPATCH_QUEUED, process->now_ns);
    else
        worker_go_idle(sim, worker);
}

void pool_shut_down(struct simulation *sim, uint32_t index, uint32_t vertex, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    if (pool->shutdown != DAG_NONE) return;
    pool->shutdown = vertex;
    pool->shutdown_ns = now_ns;
    if (pool->delayed == 0) pool_retire_idle(sim, index);
    if (pool->alive == 0) pool_end(sim, index);
    for (uint32_t own = sim->dag->pool_count; own < sim->pool_count; own++) {
        if (pool_model(sim, own) == index && own != index) pool_shut_down(sim, own, vertex, now_ns);
    }
}

void pools_end_run(struct simulation *sim) {
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (!pool_governs(sim, p)) continue;
        for (uint32_t i = sim->pools[p].idle_first; i != DAG_NONE; i = sim->processes[i].worker.next) {
            uint32_t model = sim->processes[i].worker.model, last = model == i ? last_vertex(sim->dag, i) : DAG_NONE;
            bool idles =
                last != DAG_NONE && last > sim->dag->threads[i].first && sim->dag->vertices.kind[last] == VERTEX_IDLE;
            worker_pass_idle(sim, i, idles ? last : DAG_NONE, DAG_NONE, INT64_MAX);
        }
    }
}
