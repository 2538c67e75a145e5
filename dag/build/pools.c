// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of each pool: what the trace's table says of it, and what its workers were seen to do.
#include "dag/build/builder.h"
#include "dag/order.h"

#include <stdlib.h>
#include <string.h>

// Tasks that queued and were taken newest first, or oldest first: of two that were taken one after the other and could
// both have been the first.
struct order_votes {
    uint32_t newest, oldest;
};

static bool has(const char *text, const char *part) {
    return text && strstr(text, part);
}

// Whether the pool runs tasks at times of their own.
static bool delays(const struct trace_pool *pool) {
    if (pool->flags & POOL_STAGE) return false;
    return has(pool->kind, "Scheduled") || has(pool->queue, "Delay") || has(pool->kind, "java.util.Timer");
}

// Exact for what java.util.concurrent has; a queue of the program's own is known by its name, or in order of arrival.
static enum discipline discipline_by_name(const struct trace_pool *pool, bool tells_due) {
    bool steals = has(pool->kind, "ForkJoinPool") || has(pool->queue, "ForkJoinPool$WorkQueue");
    if (steals) return has(pool->queue, " async") ? DISCIPLINE_FIFO : DISCIPLINE_STEALING;
    if (pool->flags & POOL_EVENT_LOOPS) return DISCIPLINE_LOOPS;
    if (delays(pool)) return tells_due ? DISCIPLINE_DELAY : DISCIPLINE_UNKNOWN;
    const bool told = pool->flags & POOL_STAGE || (pool->queue && pool->core >= 0 && pool->maximum >= 0);
    if (!told) return DISCIPLINE_UNKNOWN;
    if (has(pool->queue, "SynchronousQueue")) return DISCIPLINE_HAND_OFF;
    if (has(pool->queue, "Priority")) return DISCIPLINE_PRIORITY;
    return has(pool->queue, "LIFO") || has(pool->queue, "Lifo") || has(pool->queue, "Stack") ? DISCIPLINE_LIFO
                                                                                             : DISCIPLINE_FIFO;
}

static bool has_queue(enum discipline discipline) {
    return discipline == DISCIPLINE_FIFO || discipline == DISCIPLINE_LIFO || discipline == DISCIPLINE_PRIORITY;
}

// A put into a full queue waits, and nothing is rejected.
static void describe_stage(const struct trace_pool *known, struct dag_pool *pool) {
    *pool = (struct dag_pool){.discipline = discipline_by_name(known, false),
                              .core = known->core,
                              .maximum = known->maximum,
                              .capacity = INT64_MAX,
                              .keep_alive_ns = -1,
                              .is_stage = true};
}

static void describe(const struct trace_pool *known, bool tells_due, struct dag_pool *pool) {
    if (known->flags & POOL_STAGE) {
        describe_stage(known, pool);
        return;
    }
    bool steals = has(known->kind, "ForkJoinPool");
    pool->discipline = discipline_by_name(known, tells_due);
    pool->core = known->core;
    pool->maximum = steals ? INT32_MAX : known->maximum; // spares for those that wait
    pool->capacity = known->capacity >= 0 && !steals ? known->capacity : INT64_MAX;
    if (pool->discipline == DISCIPLINE_HAND_OFF) pool->capacity = 0;
    pool->lifo_wakeups = steals || pool->discipline == DISCIPLINE_HAND_OFF; // idle workers are a stack
    pool->wakes_first = steals || known->flags & POOL_WAKES_FIRST;
    pool->grows_first = has_queue(pool->discipline) && known->flags & POOL_GROWS_FIRST;
    pool->caller_runs = has(known->rejection, "ThreadPoolExecutor$CallerRunsPolicy");
    pool->discards_oldest = has(known->rejection, "ThreadPoolExecutor$DiscardOldestPolicy");
    pool->keep_alive_ns = known->keep_alive_ns;
    pool->core_times_out = known->flags & POOL_CORE_TIMES_OUT;
    pool->is_dealt = known->flags & POOL_DEALT;
    if (pool->discipline != DISCIPLINE_DELAY) return;
    pool->drops_delayed = has(known->kind, "java.util.Timer");
    pool->capacity = INT64_MAX;
    pool->maximum = pool->core; // its queue is never full
}

static struct dag_pool *pool_at(const struct dag *dag, uint32_t pool) {
    return pool && pool < dag->pool_count ? &dag->pools[pool] : NULL;
}

static void distrust(const struct dag *dag, uint32_t pool) {
    if (pool_at(dag, pool)) pool_at(dag, pool)->discipline = DISCIPLINE_UNKNOWN;
}

// Whether the worker handed over a task outside of any task, or, where `any`, did anything there that others see: a
// simulation would not know when. What it did when recording began, before it was seen to work, comes when it did; a
// thread that it starts once it has retired, as long after that as it did.
static bool acts_outside_tasks(const struct dag *dag, const struct dag_thread *thread, bool any) {
    const unsigned acts = 1u << VERTEX_RESULT | 1u << VERTEX_WAIT_BEGIN | 1u << VERTEX_SHUTDOWN | 1u << VERTEX_REQUEST;
    const struct dag_vertices *vertices = &dag->vertices;
    bool works = vertices->cause[thread->first] != DAG_NONE || !dag_ran_before(dag->trace), retired = false;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        const unsigned kind = vertices->kind[v];
        works |= kind == VERTEX_IDLE || kind == VERTEX_BUSY;
        retired |= kind == VERTEX_RETIRE;
        if (retired && dag_starts_thread(dag, v)) continue;
        if (kind == VERTEX_START)
            v = dag->tasks[vertices->task[v]].tail;
        else if (kind == VERTEX_SPAWN_BEGIN && (any || vertices->task[v] != DAG_NONE))
            return true;
        else if (any && works && 1u << kind & acts)
            return true;
    }
    return false;
}

// Whether the pool had the task, though it was not seen to be given it: when recording began, or where that was lost.
static bool may_have_had(const struct dag *dag, const struct dag_task *task) {
    if (task->spawn_begin != DAG_NONE) return false;
    return dag_ran_before(dag->trace) || dag_lacks_spawn(dag->trace, task);
}

static bool spawns_within(const struct dag *dag, const struct dag_task *task) {
    for (uint32_t v = task->start; v <= task->tail; v++) {
        if (dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN) return true;
    }
    return false;
}

// It is the only one that it took since it idled, and it handed nothing over in it.
uint32_t dag_unseen_leaving(const struct dag *dag, uint32_t retirement) {
    const struct dag_vertices *vertices = &dag->vertices;
    const struct dag_thread *thread = &dag->threads[dag_thread_of(dag, retirement)];
    if (thread->pool >= dag->pool_count || !dag->pools[thread->pool].is_stage) return DAG_NONE;
    uint32_t v = retirement;
    while (v > thread->first && vertices->kind[v] != VERTEX_START) v--;
    const uint32_t index = vertices->kind[v] == VERTEX_START ? vertices->task[v] : DAG_NONE;
    const struct dag_task *task = index == DAG_NONE ? NULL : &dag->tasks[index];
    if (!task || task->spawn_begin != DAG_NONE || task->enclosing != DAG_NONE || dag_task_stands(task)) return DAG_NONE;
    bool idled = vertices->kind[task->pickup] == VERTEX_IDLE;
    return idled && task->tail + 1 == retirement && !spawns_within(dag, task) ? index : DAG_NONE;
}

// A worker that also served another pool, or an unknown one, is not its pool's to dispatch. What runs in other tasks'
// bodies is theirs.
static void look_at_task(struct dag *dag, struct dag_task *task) {
    if (task->start == DAG_NONE || task->enclosing != DAG_NONE || dag_comes_unsent(dag->trace, task) ||
        dag_comes_behind(task))
        return;
    const struct dag_thread *thread = &dag->threads[task->thread];
    if (!thread->worker) return;
    if (may_have_had(dag, task)) task->pool = thread->pool;
    const uint32_t behind = task->tail + 1;
    bool leaves = behind < thread->first + thread->count && dag->vertices.kind[behind] == VERTEX_RETIRE;
    if (leaves && dag_unseen_leaving(dag, behind) != DAG_NONE) return;
    if (task->pool == thread->pool && (task->spawn_begin != DAG_NONE || dag_task_stands(task))) return;
    distrust(dag, thread->pool);
    distrust(dag, task->pool);
}

// Whether the worker asked for the task after others that it had, and so not at the beginning.
static bool was_asked_for(const struct dag *dag, const struct dag_task *task) {
    if (dag->vertices.kind[task->pickup] != VERTEX_IDLE) return false;
    for (uint32_t v = dag->threads[task->thread].first; v < task->pickup; v++) {
        if (dag->vertices.kind[v] == VERTEX_START) return true;
    }
    return false;
}

// What was handed over unseen while recording went on did not lie there from the beginning. It shows where a queue's
// oldest comes first: whole tasks that came later ran before it; or where a worker that found nothing found it then.
static bool look_at_standing(struct builder *builder) {
    struct dag *dag = builder->dag;
    const int64_t *time_ns = dag->vertices.time_ns;
    int64_t *first_end_ns = malloc(dag->pool_count * sizeof *first_end_ns);
    if (!first_end_ns) return no_memory(builder);
    for (uint32_t p = 0; p < dag->pool_count; p++) first_end_ns[p] = INT64_MAX;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool came_later = task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_QUEUED;
        if (!came_later || !pool_at(dag, task->pool) || time_ns[task->end] >= first_end_ns[task->pool]) continue;
        first_end_ns[task->pool] = time_ns[task->end];
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!dag_task_stands(task) || task->flags & TASK_BEGUN_BEFORE || !pool_at(dag, task->pool)) continue;
        if (dag_comes_unsent(dag->trace, task) || dag_lacks_spawn(dag->trace, task)) continue;
        enum discipline discipline = dag->pools[task->pool].discipline;
        bool in_turn = discipline == DISCIPLINE_FIFO || discipline == DISCIPLINE_HAND_OFF;
        bool late = in_turn && time_ns[task->pickup] > first_end_ns[task->pool];
        if (late || (discipline == DISCIPLINE_STEALING && was_asked_for(dag, task))) distrust(dag, task->pool);
    }
    free(first_end_ns);
    return true;
}

// ---- facades: executors without workers that hand on to a pool, such as Executors.newSingleThreadExecutor's, or a
// lambda that calls execute. What is given one tells it, not the pool, and its tasks are the pool's.

// Longer than a worker takes to wake up: a worker that takes so long was not told at once.
#define HANDED_ON_LATE_NS 5000000

struct facade {
    bool works;           // it has workers, or a queue of its own: none
    uint32_t tasks, late; // of those idle workers took so late that it may have kept them back
};

// The pool that the task was handed on to, or 0.
static uint32_t handed_on_to(const struct dag *dag, const struct dag_task *task, const struct facade *facades) {
    bool by_worker = task->dispatch >= DISPATCH_NEW && task->dispatch <= DISPATCH_QUEUED;
    if (!by_worker || !pool_at(dag, task->pool) || facades[task->pool].works) return 0;
    const struct dag_thread *thread = &dag->threads[task->thread];
    return thread->worker && pool_at(dag, thread->pool) ? thread->pool : 0;
}

static bool came_late(const struct dag *dag, const struct dag_task *task) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t spawned = task->spawn_end != DAG_NONE ? task->spawn_end : task->spawn_begin;
    int64_t late_ns = vertices->time_ns[task->start] - vertices->time_ns[spawned];
    for (uint32_t v = task->pickup; vertices->queued_ns && v <= task->start; v++) late_ns -= vertices->queued_ns[v];
    return late_ns > HANDED_ON_LATE_NS;
}

static bool look_behind_facades(struct builder *builder) {
    struct dag *dag = builder->dag;
    struct facade *facades = calloc(dag->pool_count, sizeof *facades);
    if (!facades) return no_memory(builder);
    for (uint32_t p = 0; p < dag->pool_count; p++) {
        const struct trace_pool *known = &builder->trace->pools[p];
        facades[p].works = p == 0 || known->queue || known->core >= 0;
    }
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag->threads[i].worker && pool_at(dag, dag->threads[i].pool)) facades[dag->threads[i].pool].works = true;
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (!handed_on_to(dag, task, facades)) continue;
        facades[task->pool].tasks++;
        facades[task->pool].late += task->dispatch == DISPATCH_WOKEN && came_late(dag, task);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        struct dag_task *task = &dag->tasks[t];
        uint32_t pool = handed_on_to(dag, task, facades);
        if (pool && 4 * facades[task->pool].late <= facades[task->pool].tasks) task->pool = pool;
    }
    free(facades);
    return true;
}

// How long the worker was idle before it retired of itself, where the trace does not say how long it has to be: workers
// wake up late, never early.
static void look_at_retirement(struct dag *dag, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &dag->vertices;
    struct dag_pool *pool = pool_at(dag, thread->pool);
    if (!pool || pool->is_stage || dag->trace->pools[thread->pool].keep_alive_ns >= 0) return;
    for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
        bool of_itself = vertices->kind[v] == VERTEX_RETIRE && vertices->cause[v] == DAG_NONE;
        if (!of_itself || vertices->kind[v - 1] != VERTEX_IDLE) continue;
        int64_t idle_ns = vertices->time_ns[v] - vertices->time_ns[v - 1];
        if (pool->keep_alive_ns < 0 || idle_ns < pool->keep_alive_ns) pool->keep_alive_ns = idle_ns;
    }
}

static void vote(const struct dag *dag, const struct dag_task *first, const struct dag_task *then,
                 struct order_votes *votes) {
    const int64_t *time_ns = dag->vertices.time_ns;
    if (time_ns[then->spawn_begin] >= time_ns[first->pickup]) return; // it was not there yet
    if (time_ns[then->spawn_begin] > time_ns[first->spawn_begin])
        votes->oldest++;
    else
        votes->newest++;
}

// Takes the order in which queued tasks were taken for the discipline where it clearly is newest first.
static bool look_at_order(struct builder *builder) {
    struct dag *dag = builder->dag;
    _Static_assert(2 * sizeof(struct order_key) <= sizeof(struct sighting), "there is room for keys, and to sort them");
    struct order_key *queued = (struct order_key *)builder->sightings; // as many as tasks, and no longer needed
    uint32_t count = 0;
    struct order_votes *votes = calloc(dag->pool_count, sizeof *votes);
    uint32_t *before = malloc(dag->pool_count * sizeof *before); // task of the pool that was taken last
    bool ok = votes && before;
    for (uint32_t t = 0; ok && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->dispatch != DISPATCH_QUEUED || !pool_at(dag, task->pool)) continue;
        queued[count++] = (struct order_key){dag->vertices.time_ns[task->start], task->start, t};
    }
    for (uint32_t p = 0; ok && p < dag->pool_count; p++) before[p] = DAG_NONE;
    if (ok) order_sort_in(queued, queued + count, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct dag_task *task = &dag->tasks[queued[i].item];
        if (before[task->pool] != DAG_NONE) vote(dag, &dag->tasks[before[task->pool]], task, &votes[task->pool]);
        before[task->pool] = queued[i].item;
    }
    for (uint32_t p = 1; ok && p < dag->pool_count; p++) {
        bool newest_first = votes[p].newest >= 3 && votes[p].newest > 4 * votes[p].oldest;
        if (newest_first && dag->pools[p].discipline == DISCIPLINE_FIFO) dag->pools[p].discipline = DISCIPLINE_LIFO;
    }
    free(votes);
    free(before);
    return ok || no_memory(builder);
}

// Where the trace does not say how many workers a pool may have, and of a stage: as many as were seen.
static bool count_workers(struct builder *builder) {
    struct dag *dag = builder->dag;
    int32_t *workers = calloc(dag->pool_count, sizeof *workers);
    if (!workers) return no_memory(builder);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag->threads[i].worker && pool_at(dag, dag->threads[i].pool)) workers[dag->threads[i].pool]++;
    }
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        if (dag->pools[p].core < 0 || dag->pools[p].is_stage) dag->pools[p].core = workers[p];
        if (dag->pools[p].maximum < 0 || dag->pools[p].is_stage) dag->pools[p].maximum = workers[p];
    }
    free(workers);
    return true;
}

// A task handed over for now has a due time computed just before; the JVM's clock and the trace's differ by less.
#define LEAST_DELAY_NS 100000

// Where the trace does not tell when a task is due, each of a pool that delays may have been to run later.
static bool is_delayed(const struct dag *dag, uint32_t index) {
    const struct dag_task *task = &dag->tasks[index];
    if (dag->due_ns && dag->due_ns[index] != INT64_MIN) {
        uint32_t set = dag->due_set[index];
        return dag->period_ns[index] != 0 || set == DAG_NONE ||
               dag->due_ns[index] > dag->vertices.time_ns[set] + LEAST_DELAY_NS;
    }
    return task->pool && task->pool < dag->pool_count && delays(&dag->trace->pools[task->pool]);
}

static void mark_delayed(struct dag *dag) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (is_delayed(dag, t)) dag->tasks[t].flags |= TASK_DELAYED;
    }
}

bool describe_pools(struct builder *builder) {
    struct dag *dag = builder->dag;
    dag->pool_count = builder->trace->pool_count ? builder->trace->pool_count : 1;
    dag->pools = ARENA_NEW(&dag->arena, struct dag_pool, dag->pool_count);
    if (!dag->pools) return no_memory(builder);
    for (uint32_t p = 1; p < dag->pool_count; p++) describe(&builder->trace->pools[p], dag->due_ns, &dag->pools[p]);
    if (!look_behind_facades(builder)) return false;
    mark_delayed(dag);
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!thread->worker) continue;
        const bool of_stage = pool_at(dag, thread->pool) && pool_at(dag, thread->pool)->is_stage;
        if ((thread->pinned || of_stage) && acts_outside_tasks(dag, thread, of_stage)) distrust(dag, thread->pool);
        look_at_retirement(dag, thread);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        struct dag_pool *pool = pool_at(dag, dag->tasks[t].pool);
        if (pool && dag->tasks[t].dispatch == DISPATCH_CALLER) pool->caller_runs = true;
        look_at_task(dag, &dag->tasks[t]);
    }
    return look_at_order(builder) && look_at_standing(builder) && count_workers(builder);
}
