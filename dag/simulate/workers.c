// SPDX-License-Identifier: GPL-3.0-or-later
// Pools: who takes up which task, and when workers come and go (java.util.concurrent.ThreadPoolExecutor's rules).
#include "dag/propagate/rules.h"
#include "dag/simulate/strand.h"

#include <stdlib.h>

// ---- what does not change from run to run

static uint32_t last_vertex(const struct dag *dag, uint32_t thread) {
    return dag->threads[thread].first + dag->threads[thread].count - 1;
}

// The RETIRE that ends a thread's life as a worker, or DAG_NONE.
static uint32_t find_retirement(const struct dag *dag, uint32_t thread) {
    uint32_t last = last_vertex(dag, thread);
    for (uint32_t v = last; v > dag->threads[thread].first && dag->vertices.kind[v] != VERTEX_END; v--) {
        if (dag->vertices.kind[v] == VERTEX_RETIRE) return v;
    }
    return DAG_NONE;
}

// The last vertex at which a worker had not begun to leave: it may have to wait for the pool's lock first.
static uint32_t last_before_leaving(const struct dag *dag, uint32_t retirement) {
    uint32_t v = retirement - 1;
    while (v > 0 && vertex_is_of_resource(dag->vertices.kind[v])) v--;
    return v;
}

// When a worker that retired was free to, and had its cause; *slept says whether that woke it.
static int64_t recorded_leaving_ns(const struct dag *dag, uint32_t retirement, bool *slept) {
    const int64_t *time_ns = dag->vertices.time_ns;
    uint32_t cause = dag->vertices.cause[retirement], before = last_before_leaving(dag, retirement);
    *slept = cause != DAG_NONE && time_ns[before] < time_ns[cause];
    return *slept ? time_ns[cause] : time_ns[before];
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
    bool x_stands = standing_worker(dag, of_x), y_stands = standing_worker(dag, of_y);
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
        if (dag->threads[i].worker && dag->threads[i].pool < sim->pool_count) sim->recorded_workers[count++] = i;
    }
    qsort_r(sim->recorded_workers, count, sizeof *sim->recorded_workers, by_making, (void *)dag);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = sim->recorded_workers[i], retirement = find_retirement(dag, thread);
        struct pool_state *pool = &sim->pools[dag->threads[thread].pool];
        if (pool->recorded_count++ == 0) pool->recorded = &sim->recorded_workers[i];
        pool->tells_idle |= tells_idle(dag, &dag->threads[thread]);
        pool->all_retire &= retirement != DAG_NONE;
        if (retirement == DAG_NONE) continue;
        if (pool->retirement == DAG_NONE) pool->retirement = retirement;
        if (dag->vertices.cause[retirement] == DAG_NONE) continue;
        note_leaving(dag, pool, retirement);
        sim->pool_of_shutdown[dag->vertices.cause[retirement]] = dag->threads[thread].pool;
    }
}

// A barrier awaits workers of one pool, and its shutdown.
static void find_barrier(struct simulation *sim, uint32_t thread) {
    const struct dag *dag = sim->dag;
    uint32_t shutdown = DAG_NONE;
    for (uint32_t v = dag->threads[thread].first; v <= last_vertex(dag, thread); v++) {
        uint32_t cause = dag->vertices.cause[v];
        if (dag->vertices.kind[v] != VERTEX_BARRIER || cause == DAG_NONE) continue;
        if (dag->vertices.kind[cause] == VERTEX_SHUTDOWN)
            shutdown = cause;
        else if (dag->threads[dag_thread_of(dag, cause)].worker)
            sim->pool_of_barrier[thread] = dag->threads[dag_thread_of(dag, cause)].pool;
    }
    struct pool_state *pool = &sim->pools[sim->pool_of_barrier[thread]];
    sim->next_barrier[thread] = pool->barriers;
    if (sim->pool_of_barrier[thread]) pool->barriers = thread;
    if (shutdown != DAG_NONE && sim->pool_of_barrier[thread]) {
        sim->pool_of_shutdown[shutdown] = sim->pool_of_barrier[thread];
    }
}

bool pools_new(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->pool_count = dag->pool_count;
    sim->pools = calloc((size_t)dag->pool_count + 1, sizeof *sim->pools);
    sim->recorded_workers = malloc(((size_t)dag->thread_count + 1) * sizeof *sim->recorded_workers);
    sim->pool_of_barrier = calloc((size_t)dag->thread_count + 1, sizeof *sim->pool_of_barrier);
    sim->next_barrier = calloc((size_t)dag->thread_count + 1, sizeof *sim->next_barrier);
    sim->pool_of_shutdown = calloc((size_t)dag->vertex_count + 1, sizeof *sim->pool_of_shutdown);
    if (!sim->pools || !sim->recorded_workers || !sim->pool_of_barrier || !sim->next_barrier ||
        !sim->pool_of_shutdown) {
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
    return shifts_new(sim) && stealing_new(sim);
}

void pools_free(struct simulation *sim) {
    free(sim->pools);
    free(sim->recorded_workers);
    free(sim->pool_of_barrier);
    free(sim->next_barrier);
    free(sim->pool_of_shutdown);
    shifts_free(sim);
    stealing_free(sim);
}

// A resized pool that had no queue gets one: it would reject what it was made to take.
static void begin_pool(struct simulation *sim, uint32_t index) {
    const struct dag_pool *rules = &sim->dag->pools[index];
    struct pool_state *pool = &sim->pools[index];
    int32_t threads = sim->edit->pool_threads[index];
    pool->governs = pool->governed && sim->model != MODEL_DAG;
    pool->discipline = rules->discipline;
    pool->core = threads ? threads : rules->core;
    pool->maximum = threads ? threads : rules->maximum;
    pool->capacity = rules->capacity;
    if (threads && rules->discipline == DISCIPLINE_HAND_OFF) {
        pool->discipline = DISCIPLINE_FIFO;
        pool->capacity = INT64_MAX;
    }
    pool->made = pool->alive = pool->queue_length = 0;
    pool->coming = pool->idle = pool->delayed = 0;
    pool->coming_first = DAG_NONE;
    pool->idle_first = pool->idle_last = pool->heap = pool->shutdown = DAG_NONE;
    pool->gone_ns = DAG_ABSENT;
    pool->shared = (struct deque){DAG_NONE, DAG_NONE, 0};
    pool->workers = DAG_NONE;
    pool->blocked = pool->asking = 0;
}

void pools_begin_run(struct simulation *sim) {
    sim->steals = false;
    sim->slept_ns = 0;
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        begin_pool(sim, p);
        sim->steals |= stealing_governs(sim, p);
    }
    queues_begin_run(sim);
}

// ---- who comes

bool pool_is_come_for(const struct simulation *sim, uint32_t pool, uint32_t job) {
    for (uint32_t i = sim->pools[pool].coming_first; i != DAG_NONE; i = sim->strands[i].idle_next) {
        if (sim->strands[i].comes_for == job) return true;
    }
    return false;
}

static void coming_remove(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    uint32_t *link = &pool->coming_first;
    while (*link != worker) link = &sim->strands[*link].idle_next;
    *link = sim->strands[worker].idle_next;
    pool->coming--;
}

// ---- who idles, in the order in which they began to

static void idle_add(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    struct strand *strand = &sim->strands[worker];
    strand->idle_before = pool->idle_last;
    strand->idle_next = DAG_NONE;
    if (pool->idle_last != DAG_NONE)
        sim->strands[pool->idle_last].idle_next = worker;
    else
        pool->idle_first = worker;
    pool->idle_last = worker;
    pool->idle++;
}

static void idle_remove(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    const struct strand *strand = &sim->strands[worker];
    if (strand->idle_before != DAG_NONE)
        sim->strands[strand->idle_before].idle_next = strand->idle_next;
    else
        pool->idle_first = strand->idle_next;
    if (strand->idle_next != DAG_NONE)
        sim->strands[strand->idle_next].idle_before = strand->idle_before;
    else
        pool->idle_last = strand->idle_before;
    pool->idle--;
    agenda_remove(&sim->agenda, worker);
}

// ---- what a worker goes through between tasks

// The worker began to idle once it was free, after as long as that took when IDLE (if it has a recorded one) was
// recorded, at the latest at `latest_ns`.
static int64_t pass_idle(struct simulation *sim, uint32_t worker, uint32_t idle, uint32_t task, int64_t latest_ns) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t idle_ns = sim->strands[worker].now_ns;
    if (idle != DAG_NONE) idle_ns = min_ns(idle_ns + time_ns[idle] - time_ns[idle - 1], latest_ns);
    if (idle != DAG_NONE)
        strand_pass(sim, worker, idle, idle_ns);
    else if (sim->pools[sim->strands[worker].pool].tells_idle)
        strand_pass_new(sim, worker, VERTEX_IDLE, task, idle_ns);
    return idle_ns;
}

// A worker is born as long before its first task as the thread that it stands for, or is like.
void worker_pass_birth(struct simulation *sim, uint32_t worker, uint32_t task, int64_t from_ns, int64_t start_ns) {
    const struct dag *dag = sim->dag;
    uint32_t model = sim->strands[worker].model;
    if (model == DAG_NONE) return;
    uint32_t first = dag->threads[model].first;
    if (dag->vertices.kind[first] != VERTEX_THREAD_START || dag->threads[model].count < 2) return;
    int64_t until_task_ns = dag->vertices.time_ns[first + 1] - dag->vertices.time_ns[first];
    int64_t birth_ns = max_ns(from_ns, start_ns - until_task_ns);
    if (model == worker)
        strand_pass(sim, worker, first, birth_ns);
    else
        strand_pass_new(sim, worker, VERTEX_THREAD_START, task, birth_ns);
}

// What was recorded before the task's start as part of its pick-up comes as long before it, now that it is dispatched
// the same way.
static void pass_recorded_pickup(struct simulation *sim, uint32_t worker, uint32_t index, int64_t from_ns,
                                 int64_t start_ns) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[index];
    const int64_t *time_ns = dag->vertices.time_ns;
    for (uint32_t v = task->pickup; v < task->start; v++) {
        int64_t then_ns = max_ns(from_ns, start_ns - (time_ns[task->start] - time_ns[v]));
        if (dag->vertices.kind[v] != VERTEX_IDLE || v == dag->threads[task->thread].first) {
            strand_pass(sim, worker, v, then_ns);
            continue;
        }
        int64_t busy_ns = max_ns(from_ns, start_ns - (time_ns[task->start] - time_ns[v + 1]));
        pass_idle(sim, worker, v, index, busy_ns);
    }
}

// What was computed of a pick-up is known where it is as recorded; who was made or woken computes nothing in it.
static void lead_through_pickup(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch,
                                int64_t lead_ns) {
    struct strand *strand = &sim->strands[worker];
    bool queued = dispatch == DISPATCH_QUEUED || dispatch == DISPATCH_NONE;
    bool known = sim->shares && job < sim->dag->task_count && is_as_recorded(sim, job, dispatch);
    strand_lead(sim, worker, lead_ns, queued && !known);
    if (!known) return;
    struct pickup_service pickup = service_of_pickup(sim, job);
    strand->luck = pickup.luck;
    if (queued) strand->compute_ns += min_ns(pickup.compute_ns, lead_ns);
}

// BUSY is as long before the start as it was, or as that is on the mean.
static void note_busy(struct simulation *sim, uint32_t worker, uint32_t job, bool as_recorded) {
    const struct passages *log = &sim->log[worker];
    const struct passage *busy = log->count ? &log->items[log->count - 1] : NULL;
    struct strand *strand = &sim->strands[worker];
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    if (!busy || busy->kind != VERTEX_BUSY) return;
    strand->busy_item = log->count;
    strand->awake_ns = (int64_t)(sim->costs->pools[strand->pool].awake_ns + 0.5);
    if (as_recorded) strand->awake_ns = time_ns[sim->dag->tasks[job].start] - time_ns[busy->source];
}

void worker_begin_task(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch, int64_t from_ns,
                       int64_t start_ns) {
    sim->dispatch[job] = (uint8_t)dispatch;
    if (dispatch == DISPATCH_NEW) {
        worker_pass_birth(sim, worker, job, from_ns, start_ns);
        sim->strands[worker].now_ns = from_ns;
    }
    bool as_recorded = job < sim->dag->task_count && dispatch == sim->dag->tasks[job].dispatch;
    if (as_recorded) {
        pass_recorded_pickup(sim, worker, job, from_ns, start_ns);
    } else if (dispatch == DISPATCH_WOKEN) {
        pass_idle(sim, worker, DAG_NONE, job, from_ns);
        if (sim->pools[sim->strands[worker].pool].tells_idle) strand_pass_new(sim, worker, VERTEX_BUSY, job, from_ns);
    }
    if (dispatch == DISPATCH_WOKEN) note_busy(sim, worker, job, as_recorded);
    struct strand *strand = &sim->strands[worker];
    bool arrived = strand->life == LIFE_COMING; // and so the pick-up has passed
    strand->life = LIFE_RUNS;
    strand->task = job;
    strand->now_ns = arrived ? start_ns : from_ns;
    strand->lead_ns = 0;
    lead_through_pickup(sim, worker, job, dispatch, start_ns - strand->now_ns);
    if (frame_push(sim, worker, frame_of_job(sim, job, FRAME_TASK))) strand_make_ready(sim, worker);
}

void worker_begin_at_once(struct simulation *sim, uint32_t worker, uint32_t task, enum dispatch dispatch,
                          int64_t from_ns) {
    worker_begin_task(sim, worker, task, dispatch, from_ns, from_ns + cost_of_pickup(sim, task, dispatch));
}

uint32_t worker_make(struct simulation *sim, uint32_t index, uint32_t maker, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    bool recorded = pool->made < pool->recorded_count;
    uint32_t worker = recorded ? pool->recorded[pool->made] : strand_add(sim);
    if (worker == DAG_NONE) return DAG_NONE;
    uint32_t like = pool->recorded_count ? pool->recorded[0] : DAG_NONE;
    sim->strands[worker] = (struct strand){.now_ns = now_ns,
                                           .frame = DAG_NONE,
                                           .vertex = DAG_NONE,
                                           .awaits = DAG_NONE,
                                           .stages = DAG_NONE,
                                           .looked = DAG_NONE,
                                           .kept_from = DAG_NONE,
                                           .holds = DAG_NONE,
                                           .pool = index,
                                           .model = recorded ? worker : like,
                                           .maker = maker,
                                           .own = {DAG_NONE, DAG_NONE, 0},
                                           .next_of_pool = pool->workers,
                                           .stolen_from = DAG_NONE};
    pool->workers = worker;
    pool->made++;
    pool->alive++;
    sim->running++;
    return worker;
}

int64_t worker_time_to_begin(const struct simulation *sim, uint32_t worker, uint32_t job) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[job_task(sim, job)];
    int64_t mean_ns = pool_mean_pickup(sim, sim->strands[worker].pool, DISPATCH_NEW);
    if (worker >= dag->thread_count || dag->threads[worker].count < 2) return mean_ns;
    uint32_t first = dag->threads[worker].first, maker = dag->vertices.cause[first];
    if (maker == DAG_NONE || dag->vertices.kind[first] != VERTEX_THREAD_START) return mean_ns;
    bool for_it = task->spawn_begin < maker && maker < task->spawn_end;
    return dag->vertices.time_ns[first + 1] - dag->vertices.time_ns[for_it ? task->spawn_begin : maker];
}

static bool make_worker(struct simulation *sim, uint32_t index, uint32_t task, int64_t now_ns) {
    uint32_t worker = worker_make(sim, index, sim->dag->tasks[job_task(sim, task)].spawn_begin, now_ns);
    if (worker == DAG_NONE) return false;
    worker_begin_at_once(sim, worker, task, DISPATCH_NEW, now_ns);
    return true;
}

// A worker does not fall asleep in an instant: as long as it has been idle for less than waking it would take, of its
// own time and of the spawner's, it finds the next task like one that queued. (Whether a spawn or a worker was first by
// less than that says little, and what the task itself cost says more. With less, spawns of tiny tasks would be held up
// by waking workers, who so would find nothing and fall asleep again, for ever.)
static enum dispatch dispatch_to_woken(const struct simulation *sim, uint32_t job) {
    if (is_as_recorded(sim, job, DISPATCH_WOKEN)) return DISPATCH_WOKEN;
    int64_t waking_ns = mean_pickup(sim, job, DISPATCH_WOKEN) + mean_bracket(sim, job, DISPATCH_WOKEN);
    return sim->slept_ns >= waking_ns ? DISPATCH_WOKEN : DISPATCH_QUEUED;
}

uint32_t worker_wake(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    uint32_t worker = sim->dag->pools[index].lifo_wakeups ? pool->idle_last : pool->idle_first;
    if (worker == DAG_NONE) return DAG_NONE;
    idle_remove(sim, pool, worker);
    sim->running++;
    sim->slept_ns = now_ns - sim->strands[worker].now_ns;
    return worker;
}

void worker_send(struct simulation *sim, uint32_t worker, enum dispatch dispatch, int64_t woken_ns, int64_t takes_ns) {
    struct strand *strand = &sim->strands[worker];
    strand->life = LIFE_COMING;
    strand->comes_as = (uint8_t)dispatch;
    strand->woken_ns = max_ns(woken_ns, strand->now_ns);
    agenda_put(&sim->agenda, worker, strand->woken_ns + takes_ns);
}

// Who is woken to take from a queue, takes what he finds there once he is awake.
static void call_idle(struct simulation *sim, uint32_t index, uint32_t worker, uint32_t job, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    int64_t takes_ns = shifts_coming_ns(sim, job, pool->coming, &sim->strands[worker].comes_for);
    pool->coming++;
    sim->strands[worker].idle_next = pool->coming_first;
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
    enum dispatch dispatch = dispatch_to_woken(sim, job);
    bool calls = dispatch == DISPATCH_WOKEN || shifts_slept(sim, job, sim->pools[index].coming);
    if (calls && sim->pools[index].discipline != DISCIPLINE_HAND_OFF) {
        call_idle(sim, index, worker, job, now_ns);
        return bracket_while_coming(sim, job);
    }
    worker_begin_at_once(sim, worker, job, dispatch, max_ns(now_ns, sim->strands[worker].now_ns));
    return dispatch;
}

// It was made when something was handed over that is not due, as like as not.
static void arrive_made(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    worker_pass_birth(sim, worker, DAG_NONE, sim->strands[worker].woken_ns, now_ns);
    sim->strands[worker].now_ns = now_ns;
    pool_take_back(sim, worker);
}

void pool_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    struct strand *strand = &sim->strands[worker];
    struct pool_state *pool = &sim->pools[strand->pool];
    if (pool->discipline == DISCIPLINE_DELAY) {
        arrive_made(sim, worker, now_ns);
        return;
    }
    coming_remove(sim, pool, worker);
    if (pool->queue_length > 0) {
        uint32_t own = strand->comes_for;
        bool is_there = own != DAG_NONE && sim->queue.holder[own] == QUEUE_SHARED;
        uint32_t job = is_there ? queue_take(sim, own) : queue_take_first(sim, pool);
        int64_t spawn_ns = job_is_part(sim, job) ? now_ns : job_spawned_ns(sim, job);
        worker_begin_task(sim, worker, job, DISPATCH_WOKEN, max_ns(strand->woken_ns, spawn_ns), now_ns);
        return;
    }
    if (pool->shutdown != DAG_NONE) strand->now_ns = now_ns;
    worker_go_idle(sim, worker);
}

// Whether the queue takes one more. Who is on his way to a full one may have taken his task by now, since he tells so
// only later: then what was taken when recorded is, and nothing else.
static bool has_room(const struct simulation *sim, const struct pool_state *pool, uint32_t job) {
    if (pool->queue_length < pool->capacity) return true;
    bool may =
        corrects(sim, CORRECTION_FULL_QUEUE) && (int64_t)pool->queue_length - (int64_t)pool->coming < pool->capacity;
    return may && (is_as_recorded(sim, job, DISPATCH_WOKEN) || is_as_recorded(sim, job, DISPATCH_QUEUED));
}

enum dispatch pool_offer(struct simulation *sim, uint32_t strand, uint32_t job, int64_t now_ns) {
    uint32_t index = sim->dag->tasks[job_task(sim, job)].pool;
    if (delays_job(sim, strand, job, now_ns)) return delay_job(sim, index, job, now_ns);
    if (stealing_governs(sim, index)) return stealing_offer(sim, strand, job, now_ns);
    const struct dag_pool *rules = &sim->dag->pools[index];
    struct pool_state *pool = &sim->pools[index];
    bool must_make = (int64_t)pool->alive < pool->core;
    if (must_make && make_worker(sim, index, job, now_ns)) return DISPATCH_NEW;
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

// ---- how workers go

// Whoever awaits the pool's end can go on when it is shut down and its last worker has retired.
static void end_pool(struct simulation *sim, uint32_t index) {
    const struct pool_state *pool = &sim->pools[index];
    int64_t end_ns = max_ns(pool->gone_ns, sim->time_ns[pool->shutdown]);
    for (uint32_t i = pool->barriers; i != DAG_NONE; i = sim->next_barrier[i]) {
        uint32_t barrier = last_vertex(sim->dag, i);
        if (sim->time_ns[barrier] == DAG_PENDING) strand_pass(sim, i, barrier, end_ns);
    }
}

// Whether it comes of the worker's end, as who leaves may have to wait for the pool's lock.
static bool is_death(enum vertex_kind kind) {
    return vertex_is_of_resource(kind) || kind == VERTEX_THREAD_END;
}

// What a thread still does once it is no worker any more.
static void pass_death(struct simulation *sim, uint32_t worker, uint32_t retirement, int64_t retired_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t model = sim->strands[worker].model, last = last_vertex(sim->dag, dag_thread_of(sim->dag, retirement));
    bool own = model == worker && find_retirement(sim->dag, worker) == retirement;
    for (uint32_t v = retirement; v <= last && (v == retirement || is_death(vertices->kind[v])); v++) {
        int64_t then_ns = retired_ns + vertices->time_ns[v] - vertices->time_ns[retirement];
        if (own)
            strand_pass(sim, worker, v, then_ns);
        else if (vertices->kind[v] == VERTEX_RETIRE || vertices->kind[v] == VERTEX_THREAD_END)
            strand_pass_new(sim, worker, vertices->kind[v], DAG_NONE, then_ns);
    }
}

// How long a worker took to leave, or one of its pool that slept until the shutdown as it does now (`sleeps`), or like
// it was busy until later.
static int64_t time_to_leave(const struct simulation *sim, uint32_t worker, uint32_t retirement, bool sleeps) {
    const struct pool_state *pool = &sim->pools[sim->strands[worker].pool];
    if (sim->dag->vertices.cause[retirement] == DAG_NONE) return 0;
    bool slept;
    int64_t since_ns = recorded_leaving_ns(sim->dag, retirement, &slept);
    if (slept != sleeps && pool->leaves_ns[sleeps] >= 0) return pool->leaves_ns[sleeps];
    return sim->dag->vertices.time_ns[retirement] - since_ns;
}

// When a worker that is free has retired, as its recorded self (if `own`) or one like it did.
static int64_t pass_retirement(struct simulation *sim, uint32_t worker, uint32_t retirement, bool own,
                               int64_t because_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t before = last_before_leaving(sim->dag, retirement);
    bool idles = own && vertices->kind[before] == VERTEX_IDLE;
    int64_t free_ns = pass_idle(sim, worker, idles ? before : DAG_NONE, DAG_NONE, INT64_MAX);
    int64_t leaves_ns = max_ns(free_ns, because_ns);
    int64_t retired_ns = leaves_ns + time_to_leave(sim, worker, retirement, free_ns < because_ns);
    for (uint32_t v = before + 1; own && v < retirement; v++) {
        int64_t then_ns = retired_ns - (vertices->time_ns[retirement] - vertices->time_ns[v]);
        strand_pass(sim, worker, v, max_ns(then_ns, leaves_ns));
    }
    pass_death(sim, worker, retirement, retired_ns);
    return retired_ns;
}

// A worker without a task leaves, once it is free and `because_ns` has come.
static void retire(struct simulation *sim, uint32_t worker, int64_t because_ns) {
    struct strand *strand = &sim->strands[worker];
    struct pool_state *pool = &sim->pools[strand->pool];
    uint32_t own = strand->model == worker ? find_retirement(sim->dag, worker) : DAG_NONE;
    uint32_t retirement = own != DAG_NONE ? own : pool->retirement;
    int64_t gone_ns = max_ns(strand->now_ns, because_ns);
    if (retirement != DAG_NONE) gone_ns = pass_retirement(sim, worker, retirement, own != DAG_NONE, because_ns);
    strand = &sim->strands[worker];
    strand->life = LIFE_OVER;
    pool->alive--;
    pool->gone_ns = max_ns(pool->gone_ns, gone_ns);
    if (pool->alive == 0 && pool->shutdown != DAG_NONE) end_pool(sim, strand->pool);
}

void pool_retire_idle(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    for (uint32_t worker; (worker = pool->idle_first) != DAG_NONE;) {
        idle_remove(sim, pool, worker);
        retire(sim, worker, sim->time_ns[pool->shutdown]);
    }
}

// How many workers never retire for being idle.
static int64_t staying(const struct dag_pool *rules, const struct pool_state *pool) {
    return rules->core_times_out ? 0 : pool->core;
}

// Whether a worker that falls asleep now leaves at some time if nothing comes. Programs say "never" by the largest
// number.
static bool may_idle_out(const struct dag_pool *rules, const struct pool_state *pool, int64_t now_ns) {
    if (rules->keep_alive_ns < 0 || (int64_t)pool->alive <= staying(rules, pool)) return false;
    return rules->keep_alive_ns <= INT64_MAX - max_ns(now_ns, 0);
}

void worker_go_idle(struct simulation *sim, uint32_t worker) {
    struct strand *strand = &sim->strands[worker];
    struct pool_state *pool = &sim->pools[strand->pool];
    const struct dag_pool *rules = &sim->dag->pools[strand->pool];
    sim->running--;
    if (pool->shutdown != DAG_NONE && pool->delayed == 0) {
        retire(sim, worker, sim->time_ns[pool->shutdown]);
        return;
    }
    strand->life = LIFE_IDLE;
    idle_add(sim, pool, worker);
    if (may_idle_out(rules, pool, strand->now_ns))
        agenda_put(&sim->agenda, worker, strand->now_ns + rules->keep_alive_ns);
}

void pool_take_back(struct simulation *sim, uint32_t worker) {
    const struct strand *strand = &sim->strands[worker];
    uint32_t task = DAG_NONE;
    if (stealing_governs(sim, strand->pool))
        task = stealing_take(sim, worker);
    else
        task = queue_take_unclaimed(sim, strand->pool);
    bool stands = task != DAG_NONE && dag_task_stands(&sim->dag->tasks[job_task(sim, task)]);
    if (task != DAG_NONE)
        worker_begin_at_once(sim, worker, task, stands ? DISPATCH_NONE : DISPATCH_QUEUED, strand->now_ns);
    else
        worker_go_idle(sim, worker);
}

// When nothing else goes on, a program whose pools were not seen to die out has ended.
void pool_idled_out(struct simulation *sim, uint32_t worker) {
    const struct strand *strand = &sim->strands[worker];
    const struct dag_pool *rules = &sim->dag->pools[strand->pool];
    struct pool_state *pool = &sim->pools[strand->pool];
    bool over = sim->running == 0 && !pool->all_retire;
    if (over || (int64_t)pool->alive <= staying(rules, pool)) return;
    idle_remove(sim, pool, worker);
    retire(sim, worker, strand->now_ns + rules->keep_alive_ns);
}

void pool_shut_down(struct simulation *sim, uint32_t index, uint32_t vertex) {
    struct pool_state *pool = &sim->pools[index];
    if (pool->shutdown != DAG_NONE) return;
    pool->shutdown = vertex;
    if (pool->delayed == 0) pool_retire_idle(sim, index);
    if (pool->alive == 0) end_pool(sim, index);
}

void pools_end_run(struct simulation *sim) {
    for (uint32_t p = 1; p < sim->pool_count; p++) {
        if (!pool_governs(sim, p)) continue;
        for (uint32_t i = sim->pools[p].idle_first; i != DAG_NONE; i = sim->strands[i].idle_next) {
            uint32_t model = sim->strands[i].model, last = model == i ? last_vertex(sim->dag, i) : DAG_NONE;
            bool idles = last != DAG_NONE && sim->dag->vertices.kind[last] == VERTEX_IDLE;
            pass_idle(sim, i, idles ? last : DAG_NONE, DAG_NONE, INT64_MAX);
        }
    }
}
