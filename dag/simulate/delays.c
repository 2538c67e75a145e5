// SPDX-License-Identifier: GPL-3.0-or-later
// Executors that delay: ScheduledThreadPoolExecutor, java.util.Timer, and what ForkJoinPool schedules. What is handed
// over waits, by nobody's doing, until it is due; then a worker that idles takes it, or else it queues by its due time.
// The start comes as late after the later of due time and free worker as it did.
#include "dag/simulate/delays.h"

#include "dag/ns.h"
#include "dag/simulate/event_loops.h"
#include "dag/simulate/queue.h"
#include "dag/simulate/stealing.h"
#include "dag/simulate/worker.h"

// A shutdown cancels what repeats, and all that a java.util.Timer has.
static bool ends_at_shutdown(const struct simulation *sim, uint32_t index, uint32_t job) {
    return sim->dag->period_ns[job_task(sim, job)] != 0 || sim->dag->pools[index].drops_delayed;
}

// What repeats at a fixed rate is due a period after it was before; all else so long after it is handed over.
static int64_t due_of(const struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    const struct dag *dag = sim->dag;
    const bool by_worker = process != DAG_NONE && sim->processes[process].worker.pool;
    const uint32_t task = job_task(sim, job), before = by_worker ? sim->processes[process].worker.task : DAG_NONE;
    const uint32_t spawn = dag->tasks[task].spawn_begin;
    if (dag->due_ns[task] == INT64_MIN || spawn == DAG_NONE) return dag->due_ns[task];
    bool repeats = dag->period_ns[task] > 0 && before < dag->task_count &&
                   dag->tasks[before].pool == dag->tasks[task].pool && dag->period_ns[before] == dag->period_ns[task] &&
                   dag->tasks[before].site == dag->tasks[task].site;
    if (repeats) return sim->due_ns[before] + dag->due_ns[task] - dag->due_ns[before];
    return now_ns + dag->due_ns[task] - dag->vertices.time_ns[spawn];
}

// At least one worker is there to wait for what is due, and as many as the pool may have, as it is given something.
static void make_one_that_waits(struct simulation *sim, uint32_t index, uint32_t job, int64_t now_ns) {
    const struct pool_state *pool = &sim->pools[index];
    if ((int64_t)pool->alive >= max_ns(pool->core, 1)) return;
    uint32_t worker = worker_make(sim, index, sim->dag->tasks[job_task(sim, job)].spawn_begin, now_ns);
    if (worker != DAG_NONE) worker_send(sim, worker, DISPATCH_NEW, now_ns, worker_time_to_begin(sim, worker, job));
}

static void run_due(struct simulation *sim, uint32_t index, uint32_t job, int64_t now_ns) {
    uint32_t worker = worker_wake(sim, index, now_ns);
    if (worker == DAG_NONE)
        queue_put(sim, job, QUEUE_SHARED);
    else
        worker_begin_at_once(sim, worker, job, DISPATCH_WOKEN, max_ns(now_ns, sim->processes[worker].now_ns));
}

// A due time in a pool that runs what it is given at once is the trace's mistake, and that of a message: those that are
// due later come from a timer's thread.
bool delays_job(struct simulation *sim, uint32_t process, uint32_t job, int64_t now_ns) {
    const struct dag_task *task = &sim->dag->tasks[job_task(sim, job)];
    const uint32_t index = task->pool;
    if (!sim->due_ns || task->flags & TASK_OF_ACTOR) return false;
    const enum discipline discipline = sim->pools[index].discipline;
    if (discipline != DISCIPLINE_DELAY && discipline != DISCIPLINE_LOOPS && !stealing_governs(sim, index)) return false;
    sim->due_ns[job] = due_of(sim, process, job, now_ns);
    return sim->due_ns[job] != INT64_MIN;
}

// Shutting down lets come due what it does not cancel.
enum dispatch delay_job(struct simulation *sim, uint32_t index, uint32_t job, int64_t now_ns) {
    struct pool_state *pool = &sim->pools[index];
    if (pool->shutdown != DAG_NONE && ends_at_shutdown(sim, index, job)) return DISPATCH_NONE;
    if (pool->discipline == DISCIPLINE_DELAY) make_one_that_waits(sim, index, job, now_ns);
    pool->delayed += !ends_at_shutdown(sim, index, job);
    event_put(&sim->events, NOTICE_DUE, job, max_ns(sim->due_ns[job], now_ns));
    return (enum dispatch)sim->dag->tasks[job_task(sim, job)].dispatch; // so that its bracket is as recorded
}

void delays_leave_when_drained(struct simulation *sim, uint32_t index) {
    struct pool_state *pool = &sim->pools[index];
    if (pool->shutdown != DAG_NONE && pool->delayed == 0 && pool->queue_length == 0) pool_retire_idle(sim, index);
}

void delays_run(struct simulation *sim, uint32_t job, int64_t now_ns) {
    const uint32_t index = sim->dag->tasks[job_task(sim, job)].pool;
    const struct pool_state *pool = &sim->pools[index];
    if (pool->shutdown != DAG_NONE && ends_at_shutdown(sim, index, job))
        sim->dispatch[job] = DISPATCH_NONE;
    else if (pool->discipline == DISCIPLINE_DELAY)
        run_due(sim, index, job, now_ns);
    else if (pool->discipline == DISCIPLINE_LOOPS)
        event_loops_offer(sim, DAG_NONE, job, now_ns);
    else
        stealing_offer(sim, DAG_NONE, job, now_ns);
}

void delays_end(struct simulation *sim, uint32_t job, int64_t now_ns) {
    const uint32_t index = sim->dag->tasks[job_task(sim, job)].pool;
    sim->pools[index].delayed -= !ends_at_shutdown(sim, index, job);
    delays_run(sim, job, now_ns);
    delays_leave_when_drained(sim, index);
}
