// SPDX-License-Identifier: GPL-3.0-or-later
// Pools whose workers have deques of their own (java.util.concurrent.ForkJoinPool's rules): who takes up which task,
// who helps while he waits, and when workers are woken, made, and replaced by spares.
#include "dag/simulate/stealing.h"

#include "dag/propagate/rules.h"
#include "dag/simulate/frame.h"
#include "dag/simulate/hand_over.h"
#include "dag/simulate/passage.h"
#include "dag/simulate/queue.h"
#include "dag/simulate/transitions.h"
#include "dag/simulate/worker.h"

#include <stdlib.h>

enum { HELPERS_CHAIN = 3 }; // how far a waiter looks for who took what he spawned

// ---- what does not change from run to run

// Tasks that ran in waits; what else ran inside others stays there.
static void find_helped(struct simulation *sim, const struct dag_thread *thread, bool *waits) {
    const struct dag *dag = sim->dag;
    uint32_t body = dag->task_count; // the innermost that is open; of none the last place in `waits`
    waits[body] = false;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        uint32_t task = dag_task_of(&dag->vertices, v);
        switch (dag->vertices.kind[v]) {
        case VERTEX_WAIT_BEGIN:
            waits[body] = true;
            break;
        case VERTEX_WAIT_END:
            waits[body] = false;
            break;
        case VERTEX_START:
            sim->recorded.helped[task] = waits[body] && dag->tasks[task].dispatch == DISPATCH_HELPED;
            body = task;
            waits[body] = false;
            break;
        case VERTEX_END:
            body = dag->tasks[task].enclosing == DAG_NONE ? dag->task_count : dag->tasks[task].enclosing;
            break;
        default:
            break;
        }
    }
}

// How long before its start a woken worker had a task for sure: it was busy, or who had spawned it came to await it and
// found it gone.
static void find_taken(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = 0; v + 1 < dag->vertex_count; v++) {
        uint32_t index = dag_task_of(vertices, v);
        unsigned kind = vertices->kind[v];
        if (index == DAG_NONE || (kind != VERTEX_BUSY && kind != VERTEX_WAIT_BEGIN)) continue;
        const struct dag_task *task = &dag->tasks[index];
        bool steals = task->pool < dag->pool_count && dag->pools[task->pool].discipline == DISCIPLINE_STEALING;
        if (!steals || task->dispatch != DISPATCH_WOKEN || task->spawn_begin == DAG_NONE) continue;
        bool waits = kind == VERTEX_WAIT_BEGIN;
        if (waits && dag_thread_of(dag, v) != dag_thread_of(dag, task->spawn_begin)) continue;
        int64_t before_ns = vertices->time_ns[task->start] - vertices->time_ns[v] + waits; // it was gone by then
        sim->recorded.taken_before_ns[index] = max_ns(sim->recorded.taken_before_ns[index], before_ns);
    }
}

bool stealing_new(struct simulation *sim) {
    sim->recorded.helped = calloc((size_t)sim->dag->task_count + 1, sizeof *sim->recorded.helped);
    sim->recorded.taken_before_ns = calloc((size_t)sim->dag->task_count + 1, sizeof *sim->recorded.taken_before_ns);
    bool *waits = calloc((size_t)sim->dag->task_count + 1, sizeof *waits);
    for (uint32_t i = 0; sim->recorded.helped && waits && i < sim->dag->thread_count; i++) {
        find_helped(sim, &sim->dag->threads[i], waits);
    }
    bool ok = sim->recorded.helped && sim->recorded.taken_before_ns && waits;
    if (ok) find_taken(sim);
    free(waits);
    return ok;
}

void stealing_free(struct simulation *sim) {
    free(sim->recorded.helped);
    free(sim->recorded.taken_before_ns);
}

bool stealing_looks_before(const struct simulation *sim, uint32_t v) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t before = v > 0 ? dag_task_of(vertices, v - 1) : DAG_NONE;
    if (before == DAG_NONE || !sim->recorded.helped[before] || sim->dag->tasks[before].tail != v - 1) return false;
    return vertices->kind[v] != VERTEX_WAIT_END && vertices->kind[v] != VERTEX_START;
}

bool stealing_dispatches(const struct simulation *sim, uint32_t index) {
    const struct dag_task *task = &sim->dag->tasks[index];
    switch (task->dispatch) {
    case DISPATCH_NEW:
    case DISPATCH_WOKEN:
    case DISPATCH_QUEUED:
    case DISPATCH_NEXT:
        return true;
    default:
        return sim->recorded.helped[index] && !(task->flags & TASK_UNFINISHED);
    }
}

// ---- deques

// Whether a worker took what it runs from the waiter, or from one who did.
static bool works_for(const struct simulation *sim, uint32_t worker, uint32_t waiter) {
    for (int i = 0; i < HELPERS_CHAIN && worker != DAG_NONE; i++) {
        worker = sim->processes[worker].steal.stolen_from;
        if (worker == waiter) return true;
    }
    return false;
}

// The worker with the most tasks, of equals the one made first; with a waiter only of those that work for it.
static uint32_t fullest(const struct simulation *sim, const struct pool_state *pool, uint32_t waiter) {
    uint32_t best = DAG_NONE;
    if (pool->queue_length == pool->shared.count) return DAG_NONE;
    for (uint32_t i = pool->workers; i != DAG_NONE; i = sim->processes[i].worker.next_of_pool) {
        uint32_t count = sim->processes[i].steal.own.count;
        if (!count || (best != DAG_NONE && count < sim->processes[best].steal.own.count)) continue;
        if (waiter == DAG_NONE || works_for(sim, i, waiter)) best = i;
    }
    return best;
}

uint32_t stealing_take(struct simulation *sim, uint32_t worker) {
    struct process *process = &sim->processes[worker];
    struct pool_state *pool = &sim->pools[process->worker.pool];
    if (process->steal.own.count) return queue_take(sim, process->steal.own.newest);
    if (pool->queue_length == 0) return DAG_NONE;
    process->steal.stolen_from = DAG_NONE;
    if (pool->shared.count) return queue_take(sim, pool->shared.oldest);
    process->steal.stolen_from = fullest(sim, pool, DAG_NONE);
    return queue_take(sim, sim->processes[process->steal.stolen_from].steal.own.oldest);
}

// ---- who comes

static int64_t running(const struct pool_state *pool) {
    return (int64_t)pool->alive - pool->blocked - pool->idle;
}

// How long an idle worker needs that a task's spawn calls: if another than the recorded one finds it, as long as then
// somebody needed to wake up.
static int64_t time_to_come(const struct simulation *sim, uint32_t task, enum dispatch dispatch) {
    if (dispatch != DISPATCH_WOKEN || is_as_recorded(sim, task, DISPATCH_WOKEN))
        return cost_of_pickup(sim, task, dispatch);
    int64_t waking_ns = transitions_waking_ns(sim, task);
    return waking_ns < 0 ? mean_pickup(sim, task, dispatch) : waking_ns;
}

// Who found nothing still looks around for a while before he goes idle, and finds what comes then as if it had queued.
static enum dispatch dispatch_to_idle(const struct simulation *sim, uint32_t index, uint32_t worker, int64_t now_ns) {
    bool looks = now_ns - sim->processes[worker].now_ns < (int64_t)sim->costs->pools[index].looking.mean_ns;
    return looks ? DISPATCH_QUEUED : DISPATCH_WOKEN;
}

// A task was spawned: returns whether that made a worker.
static bool call_for(struct simulation *sim, uint32_t index, uint32_t task, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    int64_t parallelism = pool->core > 0 ? pool->core : 1, run = running(pool);
    if (run >= parallelism) return false;
    enum dispatch dispatch = DISPATCH_NEW;
    uint32_t worker = worker_wake(sim, index, now_ns);
    bool makes = worker == DAG_NONE && (run == 0 || (int64_t)pool->alive < parallelism);
    if (makes)
        worker = worker_make(sim, index, sim->dag->tasks[job_task(sim, task)].spawn_begin, now_ns);
    else if (worker != DAG_NONE)
        dispatch = dispatch_to_idle(sim, index, worker, now_ns);
    if (worker == DAG_NONE) return false;
    int64_t takes_ns = makes ? worker_time_to_begin(sim, worker, task) : time_to_come(sim, task, dispatch);
    bool as_recorded = dispatch == DISPATCH_WOKEN && is_as_recorded(sim, task, dispatch);
    int64_t before_ns = as_recorded ? min_ns(sim->recorded.taken_before_ns[job_task(sim, task)], takes_ns) : 0;
    worker_send(sim, worker, dispatch, now_ns, takes_ns - before_ns);
    sim->processes[worker].worker.takes_before_ns = before_ns;
    return makes;
}

// A worker waits from now on: an idle one comes in its place, or a new one if nobody else runs or the pool isn't full.
// Whether it was asleep by then is a matter of microseconds, so none beyond the recorded ones is made in vain.
static void replace_waiter(struct simulation *sim, uint32_t index, uint32_t awaited, uint32_t vertex, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    bool full = (int64_t)pool->alive >= pool->core;
    bool wanted = pool->made < pool->recorded_count || pool->queue_length > 0;
    uint32_t worker = full ? worker_wake(sim, index, now_ns) : DAG_NONE;
    if (worker != DAG_NONE) {
        worker_send(sim, worker, DISPATCH_WOKEN, now_ns, pool_mean_pickup(sim, index, DISPATCH_WOKEN));
        sim->processes[worker].worker.takes_before_ns = 0;
    } else if (wanted && (!full || running(pool) == 0)) {
        worker = worker_make(sim, index, vertex, now_ns);
        if (worker != DAG_NONE)
            worker_send(sim, worker, DISPATCH_NEW, now_ns, worker_time_to_begin(sim, worker, awaited));
    }
}

// Whether the making of a worker lies in the task's recorded bracket.
static bool made_worker(const struct dag *dag, const struct dag_task *task) {
    if (task->spawn_begin == DAG_NONE || task->spawn_end == DAG_NONE) return false; // a message that comes unsent
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN && dag->vertices.task[v] == DAG_NONE) return true;
    }
    return false;
}

enum dispatch stealing_offer(struct simulation *sim, uint32_t process, uint32_t index, int64_t now_ns) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, index)];
    bool own = process != DAG_NONE && sim->processes[process].worker.pool == task->pool;
    queue_put(sim, index, own ? process : QUEUE_SHARED);
    bool makes = call_for(sim, task->pool, index, now_ns);
    bool whole = index < sim->dag->task_count;
    if (whole && makes == made_worker(sim->dag, task)) return (enum dispatch)task->dispatch;
    return makes ? DISPATCH_NEW : DISPATCH_QUEUED;
}

void stealing_arrive(struct simulation *sim, uint32_t worker, int64_t now_ns) {
    struct process *process = &sim->processes[worker];
    uint32_t task = stealing_take(sim, worker);
    int64_t woken_ns =
        process->worker.comes_as == DISPATCH_QUEUED ? now_ns : process->worker.woken_ns; // it looked around meanwhile
    if (task != DAG_NONE) {
        int64_t spawn_ns = job_spawned_ns(sim, task);
        worker_begin_task(sim, worker, task, process->worker.comes_as, max_ns(spawn_ns, woken_ns),
                          now_ns + process->worker.takes_before_ns);
        return;
    }
    if (process->worker.comes_as == DISPATCH_NEW) {
        worker_pass_birth(sim, worker, DAG_NONE, woken_ns, now_ns);
        sim->processes[worker].now_ns = now_ns;
    }
    worker_go_idle(sim, worker);
}

// ---- who waits

static int64_t reached_ns(const struct process *process) {
    return process->now_ns + process->lead.ns;
}

// The end of the wait that a process's next vertex ends or lies in.
static uint32_t end_of_wait(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t v = process->vertex, last = sim->frames[process->frame].end - 1;
    if (!(sim->recorded.traits[v] & TRAIT_LOOKS)) return v;
    while (v < last && vertices->kind[v] != VERTEX_WAIT_END) {
        v = vertices->kind[v] == VERTEX_START ? frame_last_of_body(sim, vertices->task[v]) + 1 : v + 1;
    }
    return v;
}

// The stealing pool whose tasks a process may run while it waits for its next vertex, 0 if none. Several tasks together
// may bring about what is no task itself (CountedCompleter); who waited for that helped if it did in the recording.
static uint32_t pool_to_help(const struct simulation *sim, const struct process *process) {
    const struct dag *dag = sim->dag;
    if (process->vertex >= STEP_LEAST || process->vertex == 0 || process->steal.looked == process->vertex) return 0;
    uint32_t v = end_of_wait(sim, process);
    if (dag->vertices.kind[v] != VERTEX_WAIT_END || dag->vertices.cause[v] == DAG_NONE) return 0;
    uint32_t awaited = dag->vertices.task[v];
    if (awaited == DAG_NONE) return 0;
    uint32_t before = dag_task_of(&dag->vertices, process->vertex - 1);
    bool together = dag->tasks[awaited].flags & TASK_NESTED;
    bool helped_last = before != DAG_NONE && dag->vertices.kind[process->vertex - 1] != VERTEX_WAIT_BEGIN &&
                       sim->recorded.helped[before];
    uint32_t task = !together ? awaited : helped_last ? before : DAG_NONE;
    if (task == DAG_NONE || sim->placement[task] != PLACEMENT_DISPATCHED ||
        !stealing_governs(sim, dag->tasks[task].pool))
        return 0;
    return process->worker.pool == dag->tasks[task].pool || sim->recorded.helped[task] ? dag->tasks[task].pool : 0;
}

bool stealing_may_help(const struct simulation *sim, uint32_t index) {
    const struct process *process = &sim->processes[index];
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (process->steal.blocked || pool_to_help(sim, process) == 0) return false;
    uint32_t v = end_of_wait(sim, process);
    int64_t result_ns = sim->time_ns[vertices->cause[v]];
    if (result_ns == DAG_PENDING || result_ns == DAG_ABSENT) return result_ns == DAG_PENDING;
    int64_t lead_ns =
        vertices->time_ns[vertices->cause[v]] - vertices->time_ns[v]; // it saw the result before the probe
    return result_ns - (lead_ns > 0 ? lead_ns : 0) > reached_ns(process);
}

// A worker that looks around does not fall asleep in an instant, nor does it wake up late before it has.
int64_t stealing_wakeup_ns(const struct simulation *sim, uint32_t index, int64_t result_ns) {
    const struct process *process = &sim->processes[index];
    if (!process->worker.pool || process->steal.blocked != process->worker.pool) return sim->dag->wakeup_ns;
    int64_t wakeup_ns = (int64_t)sim->costs->wakeup.mean_ns;
    return result_ns < reached_ns(process) + wakeup_ns ? 0 : wakeup_ns;
}

// What the waiter took from somebody else costs what that did, unless it did so when recorded.
static int64_t cost_of_help(const struct simulation *sim, uint32_t job, uint32_t stolen_from) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    bool stolen = stolen_from != DAG_NONE;
    bool was_stolen = sim->recorded.helped[job_task(sim, job)] && task->spawn_begin != DAG_NONE &&
                      dag_thread_of(sim->dag, task->spawn_begin) != task->thread;
    if (stolen == was_stolen) return cost_of_pickup(sim, job, DISPATCH_HELPED);
    const struct pool_costs *costs = &sim->costs->pools[task->pool];
    return (int64_t)((stolen ? costs->stolen : costs->pickup[DISPATCH_HELPED]).mean_ns + 0.5);
}

static void help_with(struct simulation *sim, uint32_t index, uint32_t task, uint32_t stolen_from) {
    struct process *process = &sim->processes[index];
    struct frame frame = frame_of_job(sim, task, FRAME_HELPED);
    frame.stolen = stolen_from != DAG_NONE;
    frame.stolen_from = process->steal.stolen_from;
    process->now_ns = reached_ns(process);
    process->lead.ns = 0;
    process_lead(sim, index, cost_of_help(sim, task, stolen_from), true);
    process->vertex = process->awaits = DAG_NONE;
    if (stolen_from != DAG_NONE) process->steal.stolen_from = stolen_from;
    sim->dispatch[task] = DISPATCH_HELPED;
    frame_push(sim, index, frame);
}

// A task of the pool that a waiter can run at once whoever waits for it, DAG_NONE.
static uint32_t at_hand(const struct simulation *sim, uint32_t index, uint32_t awaited, uint32_t pool) {
    const struct process *process = &sim->processes[index];
    uint32_t newest = process->worker.pool == pool ? process->steal.own.newest : sim->pools[pool].shared.newest;
    if (sim->dag->tasks[awaited].flags & TASK_NESTED)
        return newest != DAG_NONE && sim->recorded.helped[job_task(sim, newest)] ? newest : DAG_NONE;
    uint32_t holder = sim->queue.holder[awaited];
    return holder == index || (holder == QUEUE_SHARED && sim->recorded.helped[awaited]) ? awaited : DAG_NONE;
}

// What it waits for, or else what those have left who work for it.
static bool find_help(struct simulation *sim, uint32_t index, uint32_t pool) {
    const struct process *process = &sim->processes[index];
    uint32_t awaited = sim->dag->vertices.task[end_of_wait(sim, process)];
    uint32_t task = at_hand(sim, index, awaited, pool), victim = DAG_NONE;
    if (task == DAG_NONE) {
        victim = process->worker.pool == pool ? fullest(sim, &sim->pools[pool], index) : DAG_NONE;
        if (victim == DAG_NONE) return false;
        task = sim->processes[victim].steal.own.oldest;
    }
    help_with(sim, index, queue_take(sim, task), victim);
    return true;
}

// Where the wait begins that a worker's next vertex ends; if that was lost, where the body does.
static uint32_t begin_of_wait(const struct simulation *sim, const struct process *process) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    uint32_t first = sim->dag->tasks[sim->frames[process->frame].task].start, v = process->vertex - 1;
    while (v > first &&
           (vertices->kind[v] != VERTEX_WAIT_BEGIN || vertices->task[v] != vertices->task[process->vertex])) {
        v = vertices->kind[v] == VERTEX_END ? sim->dag->tasks[vertices->task[v]].start - 1 : v - 1;
    }
    return v;
}

void stealing_help(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    uint32_t pool = pool_to_help(sim, process), v = process->vertex;
    if (find_help(sim, index, pool)) return;
    if (sim->recorded.traits[v] & TRAIT_LOOKS) {
        process->steal.looked = v;
        return;
    }
    process->steal.blocked = pool;
    if (process->worker.pool != pool) return;
    sim->pools[pool].blocked++;
    replace_waiter(sim, pool, sim->dag->vertices.task[v], begin_of_wait(sim, process), reached_ns(process));
}

void stealing_unblock(struct simulation *sim, uint32_t index) {
    struct process *process = &sim->processes[index];
    if (process->worker.pool == process->steal.blocked) sim->pools[process->worker.pool].blocked--;
    process->steal.blocked = 0;
}
