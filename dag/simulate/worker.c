// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/worker.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/recorded_workers.h"
#include "dag/simulate/service.h"

// ---- workers that idle, in the order in which they began to

static void idle_add(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    struct process *process = &sim->processes[worker];
    process->worker.before = pool->idle_last;
    process->worker.next = DAG_NONE;
    if (pool->idle_last != DAG_NONE)
        sim->processes[pool->idle_last].worker.next = worker;
    else
        pool->idle_first = worker;
    pool->idle_last = worker;
    pool->idle++;
}

static void idle_remove(struct simulation *sim, struct pool_state *pool, uint32_t worker) {
    const struct process *process = &sim->processes[worker];
    if (process->worker.before != DAG_NONE)
        sim->processes[process->worker.before].worker.next = process->worker.next;
    else
        pool->idle_first = process->worker.next;
    if (process->worker.next != DAG_NONE)
        sim->processes[process->worker.next].worker.before = process->worker.before;
    else
        pool->idle_last = process->worker.before;
    pool->idle--;
    event_remove(&sim->events, SUBJECT_PROCESS, worker);
}

// ---- what a worker goes through between tasks

int64_t worker_pass_idle(struct simulation *sim, uint32_t worker, uint32_t idle, uint32_t task, int64_t latest_ns) {
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    int64_t idle_ns = sim->processes[worker].now_ns;
    if (idle != DAG_NONE) idle_ns = min_ns(idle_ns + time_ns[idle] - time_ns[idle - 1], latest_ns);
    if (idle != DAG_NONE)
        process_pass(sim, worker, idle, idle_ns);
    else if (sim->pools[sim->processes[worker].worker.pool].tells_idle)
        process_pass_new(sim, worker, VERTEX_IDLE, task, idle_ns);
    return idle_ns;
}

// A worker is born as long before its first task as the thread that it stands for, or is like.
void worker_pass_birth(struct simulation *sim, uint32_t worker, uint32_t task, int64_t from_ns, int64_t start_ns) {
    const struct dag *dag = sim->dag;
    uint32_t model = sim->processes[worker].worker.model;
    if (model == DAG_NONE) return;
    uint32_t first = dag->threads[model].first;
    if (dag->vertices.kind[first] != VERTEX_THREAD_START || dag->threads[model].count < 2) return;
    int64_t until_task_ns = dag->vertices.time_ns[first + 1] - dag->vertices.time_ns[first];
    int64_t birth_ns = max_ns(from_ns, start_ns - until_task_ns);
    if (model == worker)
        process_pass(sim, worker, first, birth_ns);
    else
        process_pass_new(sim, worker, VERTEX_THREAD_START, task, birth_ns);
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
            process_pass(sim, worker, v, then_ns);
            continue;
        }
        int64_t busy_ns = max_ns(from_ns, start_ns - (time_ns[task->start] - time_ns[v + 1]));
        worker_pass_idle(sim, worker, v, index, busy_ns);
    }
}

// What was computed of a pick-up is known where it is as recorded; who was made or woken computes nothing in it.
static void lead_through_pickup(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch,
                                int64_t lead_ns) {
    struct process *process = &sim->processes[worker];
    bool queued = dispatch == DISPATCH_QUEUED || dispatch == DISPATCH_NEXT || dispatch == DISPATCH_NONE;
    bool known = sim->shares && job < sim->dag->task_count && is_as_recorded(sim, job, dispatch);
    process_lead(sim, worker, lead_ns, queued && !known);
    if (!known) return;
    struct pickup_service pickup = service_of_pickup(sim, job);
    process->lead.residual = pickup.residual;
    if (queued) process->lead.compute_ns += min_ns(pickup.compute_ns, lead_ns);
}

// BUSY is as long before the start as it was, or as that is on the mean.
static void note_busy(struct simulation *sim, uint32_t worker, uint32_t job, bool as_recorded) {
    const struct passages *log = &sim->log[worker];
    const struct passage *busy = log->count ? &log->items[log->count - 1] : NULL;
    struct process *process = &sim->processes[worker];
    const int64_t *time_ns = sim->dag->vertices.time_ns;
    if (!busy || busy->kind != VERTEX_BUSY) return;
    process->worker.busy_item = log->count;
    process->worker.awake_ns = (int64_t)(sim->costs->pools[pool_model(sim, process->worker.pool)].awake_ns + 0.5);
    if (as_recorded) process->worker.awake_ns = time_ns[sim->dag->tasks[job].start] - time_ns[busy->source];
}

void worker_begin_task(struct simulation *sim, uint32_t worker, uint32_t job, enum dispatch dispatch, int64_t from_ns,
                       int64_t start_ns) {
    sim->dispatch[job] = (uint8_t)dispatch;
    if (dispatch == DISPATCH_NEW) {
        worker_pass_birth(sim, worker, job, from_ns, start_ns);
        sim->processes[worker].now_ns = from_ns;
    }
    bool as_recorded = job < sim->dag->task_count && dispatch == sim->dag->tasks[job].dispatch;
    if (as_recorded) {
        pass_recorded_pickup(sim, worker, job, from_ns, start_ns);
    } else if (dispatch == DISPATCH_WOKEN) {
        worker_pass_idle(sim, worker, DAG_NONE, job, from_ns);
        if (sim->pools[sim->processes[worker].worker.pool].tells_idle)
            process_pass_new(sim, worker, VERTEX_BUSY, job, from_ns);
    }
    if (dispatch == DISPATCH_WOKEN) note_busy(sim, worker, job, as_recorded);
    struct process *process = &sim->processes[worker];
    bool arrived = process->life == LIFE_COMING; // and so the pick-up has passed
    process->life = LIFE_RUNS;
    process->worker.task = job;
    process->now_ns = arrived ? start_ns : from_ns;
    process->lead.ns = 0;
    lead_through_pickup(sim, worker, job, dispatch, start_ns - process->now_ns);
    if (frame_push(sim, worker, frame_of_job(sim, job, FRAME_TASK))) process_make_ready(sim, worker);
}

void worker_begin_at_once(struct simulation *sim, uint32_t worker, uint32_t task, enum dispatch dispatch,
                          int64_t from_ns) {
    worker_begin_task(sim, worker, task, dispatch, from_ns, from_ns + cost_of_pickup(sim, task, dispatch));
}

uint32_t worker_make(struct simulation *sim, uint32_t index, uint32_t maker, int64_t now_ns) {
    return worker_make_at(sim, index, sim->pools[index].made, maker, now_ns);
}

uint32_t worker_make_at(struct simulation *sim, uint32_t index, uint32_t slot, uint32_t maker, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    bool recorded = slot < pool->recorded_count;
    uint32_t worker = recorded ? pool->recorded[slot] : process_add(sim);
    if (worker == DAG_NONE) return DAG_NONE;
    const struct pool_state *model = &sim->pools[pool_model(sim, index)];
    uint32_t like = model->recorded_count ? model->recorded[0] : DAG_NONE;
    sim->processes[worker] = process_at(now_ns);
    struct process_worker *of = &sim->processes[worker].worker;
    of->pool = index;
    of->slot = slot;
    of->model = recorded ? worker : like;
    of->maker = maker;
    of->next_of_pool = pool->workers;
    pool->workers = worker;
    pool->made++;
    pool->alive++;
    sim->running++;
    return worker;
}

int64_t worker_time_to_begin(const struct simulation *sim, uint32_t worker, uint32_t job) {
    const struct dag *dag = sim->dag;
    const struct dag_task *task = &dag->tasks[job_task(sim, job)];
    int64_t mean_ns = pool_mean_pickup(sim, sim->processes[worker].worker.pool, DISPATCH_NEW);
    if (worker >= dag->thread_count || dag->threads[worker].count < 2) return mean_ns;
    uint32_t first = dag->threads[worker].first, maker = dag->vertices.cause[first];
    if (maker == DAG_NONE || dag->vertices.kind[first] != VERTEX_THREAD_START) return mean_ns;
    bool for_it = task->spawn_begin < maker && maker < task->spawn_end;
    return dag->vertices.time_ns[first + 1] - dag->vertices.time_ns[for_it ? task->spawn_begin : maker];
}

uint32_t worker_wake(struct simulation *sim, uint32_t index, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    uint32_t worker = pool->rules->lifo_wakeups ? pool->idle_last : pool->idle_first;
    if (worker != DAG_NONE) worker_rouse(sim, worker, now_ns);
    return worker;
}

void worker_rouse(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    idle_remove(sim, &sim->pools[sim->processes[worker].worker.pool], worker);
    sim->running++;
    sim->slept_ns = now_ns - sim->processes[worker].now_ns;
}

void worker_send(struct simulation *sim, uint32_t worker, enum dispatch dispatch, int64_t woken_ns, int64_t takes_ns) {
    struct process *process = &sim->processes[worker];
    process->life = LIFE_COMING;
    process->worker.comes_as = (uint8_t)dispatch;
    process->worker.woken_ns = max_ns(woken_ns, process->now_ns);
    event_put(&sim->events, NOTICE_ARRIVAL, worker, process->worker.woken_ns + takes_ns);
}

// ---- how workers go

// What the last worker brought about once it had left (ThreadPoolExecutor.terminated), comes as long after the pool's
// end, whichever worker is the last now. Where none is left at the shutdown, as long after that.
static void pass_last_results(struct simulation *sim, const struct pool_state *pool, int64_t end_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    for (uint32_t i = 0; i < pool->recorded_count; i++) {
        const uint32_t thread = pool->recorded[i], left = find_retirement(sim->dag, thread);
        const uint32_t since = pool->gone_ns == DAG_ABSENT ? pool->shutdown : left;
        for (uint32_t v = left; left != DAG_NONE && v <= last_vertex(sim->dag, thread); v++) {
            if (vertices->kind[v] != VERTEX_RESULT || sim->time_ns[v] != DAG_PENDING) continue;
            const struct passages *log = &sim->log[thread];
            const int64_t least_ns = log->count ? log->items[log->count - 1].time_ns : INT64_MIN;
            process_pass(sim, thread, v, max_ns(end_ns + vertices->time_ns[v] - vertices->time_ns[since], least_ns));
        }
    }
}

// What a worker that was not made in this run started as it went, another starts.
static void pass_threads_started(struct simulation *sim, uint32_t thread, uint32_t retirement, int64_t end_ns) {
    const int64_t *recorded_ns = sim->dag->vertices.time_ns;
    for (uint32_t v = retirement; v <= last_vertex(sim->dag, thread); v++) {
        if (dag_starts_thread(sim->dag, v))
            process_pass(sim, thread, v, end_ns + recorded_ns[v] - recorded_ns[retirement]);
    }
}

// Who was to await the end of a worker that was not made in this run, awaits nothing.
static void pass_unmade(struct simulation *sim, const struct pool_state *pool, int64_t end_ns) {
    for (uint32_t i = 0; i < pool->recorded_count; i++) {
        const uint32_t thread = pool->recorded[i], last = last_vertex(sim->dag, thread);
        if (sim->processes[thread].worker.pool) continue;
        const uint32_t left = find_retirement(sim->dag, thread);
        if (left != DAG_NONE) pass_threads_started(sim, thread, left, end_ns);
        const uint32_t leaving = left == DAG_NONE ? DAG_NONE : dag_unseen_leaving(sim->dag, left);
        for (uint32_t v = leaving == DAG_NONE ? left : sim->dag->tasks[leaving].start; v < left; v++) {
            if (sim->dag->vertices.kind[v] == VERTEX_RESULT) process_pass(sim, thread, v, DAG_ABSENT);
        }
        if (sim->dag->vertices.kind[last] == VERTEX_THREAD_END) process_pass(sim, thread, last, DAG_ABSENT);
    }
}

void pool_end(struct simulation *sim, uint32_t index) {
    const struct pool_state *pool = &sim->pools[index];
    if (pool->to_begin > 0) return;
    int64_t end_ns = max_ns(pool->gone_ns, pool->shutdown_ns);
    pass_unmade(sim, pool, end_ns);
    pass_last_results(sim, pool, end_ns);
    for (uint32_t i = pool->barriers; i != DAG_NONE; i = sim->recorded.next_barrier[i]) {
        uint32_t barrier = last_vertex(sim->dag, i);
        if (sim->time_ns[barrier] == DAG_PENDING) process_pass(sim, i, barrier, end_ns);
    }
}

// Whether it comes of the worker's end: a worker that leaves may have to wait for the pool's lock; the last of its pool
// may bring about what the pool's end does; and it may start a thread that tells so.
static bool is_death(const struct dag *dag, uint32_t vertex) {
    const enum vertex_kind kind = dag->vertices.kind[vertex];
    return vertex_is_of_resource(kind) || kind == VERTEX_THREAD_END || kind == VERTEX_RESULT ||
           dag_starts_thread(dag, vertex);
}

// What a thread still does once it is no worker any more.
static void pass_death(struct simulation *sim, uint32_t worker, uint32_t retirement, int64_t retired_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t model = sim->processes[worker].worker.model,
             last = last_vertex(sim->dag, dag_thread_of(sim->dag, retirement));
    bool own = model == worker && find_retirement(sim->dag, worker) == retirement;
    for (uint32_t v = retirement; v <= last && (v == retirement || is_death(sim->dag, v)); v++) {
        int64_t then_ns = retired_ns + vertices->time_ns[v] - vertices->time_ns[retirement];
        bool not_yet = vertices->kind[v] == VERTEX_RESULT && sim->pools[sim->processes[worker].worker.pool].alive > 1;
        if (not_yet) continue;
        if (own)
            process_pass(sim, worker, v, then_ns);
        else if (vertices->kind[v] == VERTEX_RETIRE || vertices->kind[v] == VERTEX_THREAD_END)
            process_pass_new(sim, worker, vertices->kind[v], DAG_NONE, then_ns);
    }
}

// How long a worker took to leave, or one of its pool that slept until the shutdown as it does now (`sleeps`), or like
// it was busy until later.
static int64_t time_to_leave(const struct simulation *sim, uint32_t worker, uint32_t retirement, bool sleeps) {
    const struct pool_state *pool = &sim->pools[sim->processes[worker].worker.pool];
    if (pool->discipline == DISCIPLINE_LOOPS && !pool->rules->is_dealt)
        return recorded_retiring_ns(sim->dag, retirement);
    if (sim->dag->vertices.cause[retirement] == DAG_NONE) return 0;
    bool slept;
    int64_t since_ns = recorded_leaving_ns(sim->dag, retirement, &slept);
    if (slept != sleeps && pool->leaves_ns[sleeps] >= 0) return pool->leaves_ns[sleeps];
    return sim->dag->vertices.time_ns[retirement] - since_ns;
}

// One whose first vertex that is slept when recording began: nothing tells for how long it had been free.
static int64_t pass_last_idle(struct simulation *sim, uint32_t worker, uint32_t idle) {
    const int64_t now_ns = sim->processes[worker].now_ns;
    if (idle == DAG_NONE || idle != sim->dag->threads[worker].first)
        return worker_pass_idle(sim, worker, idle, DAG_NONE, INT64_MAX);
    process_pass(sim, worker, idle, now_ns);
    return now_ns;
}

// When a worker that is free has retired, as its recorded self (if `own`) or one like it did.
static int64_t pass_retirement(struct simulation *sim, uint32_t worker, uint32_t retirement, bool own,
                               int64_t because_ns) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t before = last_before_leaving(sim->dag, retirement);
    bool idles = own && vertices->kind[before] == VERTEX_IDLE;
    // A thread that took what told it to leave did not idle.
    bool leaves_at_once = own && !idles && sim->processes[worker].now_ns >= because_ns;
    int64_t free_ns =
        leaves_at_once ? sim->processes[worker].now_ns : pass_last_idle(sim, worker, idles ? before : DAG_NONE);
    int64_t leaves_ns = max_ns(free_ns, because_ns);
    int64_t retired_ns = leaves_ns + time_to_leave(sim, worker, retirement, free_ns < because_ns);
    for (uint32_t v = before + 1; own && v < retirement; v++) {
        int64_t then_ns = retired_ns - (vertices->time_ns[retirement] - vertices->time_ns[v]);
        process_pass(sim, worker, v, max_ns(then_ns, leaves_ns));
    }
    pass_death(sim, worker, retirement, retired_ns);
    return retired_ns;
}

// A worker without a task leaves, once it is free and `because_ns` has come.
static void retire(struct simulation *sim, uint32_t worker, int64_t because_ns) {
    struct process *process = &sim->processes[worker];
    struct pool_state *pool = &sim->pools[process->worker.pool];
    uint32_t own = process->worker.model == worker ? find_retirement(sim->dag, worker) : DAG_NONE;
    uint32_t retirement = own != DAG_NONE ? own : pool->retirement;
    int64_t gone_ns = max_ns(process->now_ns, because_ns);
    if (retirement != DAG_NONE) gone_ns = pass_retirement(sim, worker, retirement, own != DAG_NONE, because_ns);
    process = &sim->processes[worker];
    process->life = LIFE_OVER;
    pool->alive--;
    pool->gone_ns = max_ns(pool->gone_ns, gone_ns);
    if (pool->alive == 0 && pool->shutdown != DAG_NONE) pool_end(sim, process->worker.pool);
}

bool worker_is_told_to_leave(const struct simulation *sim, uint32_t worker) {
    const struct dag *dag = sim->dag;
    const struct process_worker *of = &sim->processes[worker].worker;
    const struct pool_state *pool = &sim->pools[of->pool];
    if (!pool->rules->is_stage || of->task == DAG_NONE || (pool->alive <= 1 && pool->to_begin == 0)) return false;
    const struct dag_task *task = &dag->tasks[job_task(sim, of->task)];
    const uint32_t behind = task->tail + 1;
    return task->start != DAG_NONE && behind <= last_vertex(dag, task->thread) &&
           dag->vertices.kind[behind] == VERTEX_RETIRE;
}

void worker_leave(struct simulation *sim, uint32_t worker) {
    sim->running--;
    retire(sim, worker, sim->processes[worker].now_ns);
}

void pool_retire_idle(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    for (uint32_t worker; (worker = pool->idle_first) != DAG_NONE;) {
        idle_remove(sim, pool, worker);
        retire(sim, worker, pool->shutdown_ns);
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
    struct process *process = &sim->processes[worker];
    struct pool_state *pool = &sim->pools[process->worker.pool];
    const struct dag_pool *rules = pool->rules;
    sim->running--;
    if (pool->shutdown != DAG_NONE && pool->delayed == 0) {
        retire(sim, worker, pool->shutdown_ns);
        return;
    }
    process->life = LIFE_IDLE;
    idle_add(sim, pool, worker);
    if (may_idle_out(rules, pool, process->now_ns))
        event_put(&sim->events, NOTICE_IDLE, worker, process->now_ns + rules->keep_alive_ns);
}

// When nothing else goes on, a program whose pools were not seen to die out has ended.
void worker_idled_out(struct simulation *sim, uint32_t worker) {
    const struct process *process = &sim->processes[worker];
    struct pool_state *pool = &sim->pools[process->worker.pool];
    const struct dag_pool *rules = pool->rules;
    bool over = sim->running == 0 && !pool->all_retire;
    if (over || (int64_t)pool->alive <= staying(rules, pool)) return;
    idle_remove(sim, pool, worker);
    retire(sim, worker, process->now_ns + rules->keep_alive_ns);
}
