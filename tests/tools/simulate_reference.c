// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 200, PARTS_MAX = 64 };

#define FRACTION 24 // time is in 2^-24 ns
typedef __int128 ticks;

// What a pool is offered: a task, the group that ends with it, or a part of it.
struct job {
    uint32_t task;
    int part; // -1: whole
};

enum after {
    AFTER_NOTHING,     // goes on with what lies below
    AFTER_BRACKET,     // behind the bracket that the body replaced
    AFTER_CALLER,      // in the bracket as recorded
    AFTER_CALLER_MEAN, // in a bracket of mean cost
    AFTER_HELP,        // in the wait in which it helped
};

struct frame {
    uint32_t task;     // whose vertices; DAG_NONE: a thread's that is no task
    uint32_t at, last; // vertex passed, DAG_NONE at the beginning; the frame's last
    int64_t since_ns;  // recorded time of what the next vertex follows
    int64_t lead_ns, lead_compute_ns;
    uint32_t bracket; // task that is being spawned in AFTER_..., or at a mean cost
    uint32_t resumes; // WAIT_END at which a stage goes on, DAG_NONE
    int part;         // -1: none
    bool staged, ends_job;
    struct job job;
    enum after after;
    uint32_t stolen_from; // AFTER_HELP: what the process's was before
};

enum then {
    THEN_NOTHING,
    THEN_VERTEX,
    THEN_SPAWN,
    THEN_BEGIN,
    THEN_BRACKET_END,
    THEN_CALLER,
    THEN_PART_END,
    THEN_HELP,
    THEN_ARRIVE,
    // Of a wait for a resource:
    THEN_HAVE,
    THEN_LOOK,    // it was called, and comes to look
    THEN_TIME_UP, // unless it is called before
    THEN_GIVE_UP,
    THEN_KNOWN, // what is not known has given it up
};

struct process {
    struct frame frames[DEPTH_MAX];
    uint32_t depth, pool;
    ticks nap, compute, sleep; // left, in this order
    ticks computes, awake;     // what it computes, and for how long it has, or would have
    uint32_t edge;             // whose residual it has yet to meet, DAG_NONE
    int64_t more_ns;           // that residual
    uint32_t held_up;          // edge that may turn out to sleep less (costs.h), DAG_NONE
    int64_t since_ns;          // when it began
    enum then then;            // when both are over
    uint32_t vertex;           // of THEN_VERTEX, THEN_SPAWN; or awaited: WAIT_END
    bool waits, idle, made, gone;
    struct job job; // of THEN_BEGIN, THEN_CALLER, THEN_HELP
    bool as_recorded;
    ticks idle_since, leaves; // leaves: unless it is called before, -1: never
    uint64_t idle_order;
    // Of a stealing pool's workers:
    struct job *own; // oldest first
    uint32_t own_count;
    uint32_t stolen_from; // process whose task it ran last that it had to steal, DAG_NONE
    uint32_t blocked;     // waits, and found nothing to help with: the pool
    ticks blocked_since;
    uint32_t ask;                    // that it waits for, or waited
    bool asks, called;               // it stands in the list of those that ask; it comes to look
    ticks called_since, woken_since; // woken_since: by a call that was in vain; -1: none was
    bool for_ever;                   // and will not give up
    bool in_vain;                    // or will, whatever comes
    int64_t place;                   // in the list, the least first
    ticks time_up;                   // -1: never
    bool comes_new;                  // of THEN_ARRIVE: it was made
    uint32_t reserved; // of THEN_ARRIVE in a pool with a queue: the task that it leaves to nobody, DAG_NONE
};

struct stage { // a coordinator that has left its process
    struct frame frame;
    uint32_t awaits; // task
    bool gone;
};

struct pool {
    int64_t core, maximum, capacity;
    uint32_t workers, unfinished;
    bool shut_down;
    struct job *queue; // oldest first
    uint32_t queued;
    ticks touched, left; // when it was last offered something or a worker came free, and when one last idled out; -1
};

struct resource {
    int64_t available, promised; // to those that were called
    uint32_t *list, listed;      // processes that ask
    int64_t unknown;             // units that something unknown has
};

struct holding {
    uint32_t process, ask;
};

// What an edge got of its fair share, when recorded, beyond what it computed; and what part of a core it had to do
// without then, by fair shares.
struct residual {
    int64_t more_ns;
    double slowdown;
};

struct reference {
    const struct dag *dag;
    const struct dag_edit *edit;
    const struct costs *costs;
    int64_t slept_ns; // how long the worker had that was woken last, or may have been
    const struct model *model;
    struct reference_run *run;
    struct process *processes;
    uint32_t process_count, process_capacity;
    struct pool *pools;
    struct resource *resources;
    struct holding *holdings;
    uint32_t holding_count;
    const bool *has_donor;
    struct stage *stages; // in the order in which they left
    uint32_t stage_count;
    bool *known;          // results, a task each
    bool *left;           // a task each: a coordinator that its worker has left
    bool *unmade;         // a task each: it was handed over before it was made
    int64_t *known_ns;    // since when
    uint32_t *parts_left; // a task each
    uint32_t *pool_of;    // a vertex each: pool that a SHUTDOWN or a WAIT_END names, 0
    int64_t *over_ns;     // by pool: when it was shut down and had no task left, as recorded
    ticks now;
    uint64_t idle_orders;
    struct residual *residual; // a vertex each
    ticks *stretch_ends;       // a sample each: what had been computed in all until then
    double *taken;             // cores, by others, in the stretch that ends there
    double *threads;           // that these are; INFINITY: not known
    double *awake_ns;          // while the recording's own threads were awake, of each of them
    ticks work;                // computed in all
    ticks *pause_comes;        // a pause each: what had been computed in all when it came
    uint32_t next_pause;
    ticks pause_left, paused; // of the one at hand, 0: there is none; in all so far
    bool calibrating;
};

static void *must(void *allocated) {
    if (!allocated) abort();
    return allocated;
}

static int64_t now_ns(const struct reference *r) {
    return (int64_t)((r->now + ((ticks)1 << (FRACTION - 1))) >> FRACTION);
}

static const struct dag_task *task_of(const struct reference *r, uint32_t task) {
    return &r->dag->tasks[task];
}

static int64_t recorded(const struct reference *r, uint32_t vertex) {
    return r->dag->vertices.time_ns[vertex];
}

static int64_t computed(const struct reference *r, uint32_t vertex) {
    return r->dag->vertices.compute_ns ? r->dag->vertices.compute_ns[vertex] : 0;
}

static int64_t queued(const struct reference *r, uint32_t vertex) {
    return r->dag->vertices.queued_ns ? r->dag->vertices.queued_ns[vertex] : 0;
}

// How long the JVM stood still in pauses that came from one time to the other.
static int64_t paused_ns(const struct reference *r, int64_t from_ns, int64_t to_ns) {
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < r->dag->pause_count; i++) {
        const struct dag_pause *pause = &r->dag->pauses[i];
        int64_t end_ns = pause->end_ns < to_ns ? pause->end_ns : to_ns;
        if (pause->begin_ns >= from_ns && pause->begin_ns < to_ns) sum_ns += end_ns - pause->begin_ns;
    }
    return sum_ns;
}

// Of an edge from since_ns on, but for its wait for a core: what of the pauses was in its way as it computed.
static int64_t paused_on_edge(const struct reference *r, uint32_t vertex, int64_t since_ns) {
    int64_t length_ns = recorded(r, vertex) - since_ns - queued(r, vertex), compute_ns = computed(r, vertex);
    int64_t paused = paused_ns(r, since_ns, recorded(r, vertex));
    if (length_ns < 0) length_ns = 0;
    if (paused == 0 || compute_ns == 0) return 0;
    int64_t moving_ns = length_ns - paused > compute_ns ? length_ns - paused : compute_ns;
    if (paused > length_ns - compute_ns) paused = length_ns - compute_ns;
    return (int64_t)((double)paused * (double)compute_ns / (double)moving_ns);
}

static struct frame *top(struct process *process) {
    return &process->frames[process->depth - 1];
}

static bool is_merged(const struct reference *r, uint32_t task) {
    return r->edit->merged_next[task] != DAG_NONE;
}

static bool ends_group(const struct reference *r, uint32_t task) {
    return r->edit->merged_next[task] == task;
}

// ---- doing something for a time

static bool shares(const struct reference *r) {
    return r->model->kind == MODEL_CPU && r->dag->vertices.compute_ns;
}

static void delay(struct reference *r, struct process *process, int64_t compute_ns, int64_t sleep_ns, enum then then) {
    process->nap = 0;
    process->compute = (ticks)(shares(r) ? compute_ns : 0) << FRACTION;
    process->sleep = (ticks)(shares(r) ? sleep_ns : compute_ns + sleep_ns) << FRACTION;
    process->then = then;
    process->edge = process->held_up = DAG_NONE;
    process->awake = 0;
    process->computes = process->compute;
}

// Who was lucky computes for less, to begin with.
static void delay_by_residual(struct reference *r, struct process *process, uint32_t vertex, int64_t more_ns) {
    if (!shares(r) || more_ns == 0) return;
    ticks more = (ticks)more_ns * ((ticks)1 << FRACTION);
    process->edge = vertex;
    process->more_ns = more_ns;
    if (more < 0) process->compute = -more < process->compute ? process->compute + more : 0;
}

// ---- what merging and inlining save beside hand-overs

// Whether the vertex before names a member, and this one the member after it.
static bool leads_on(const struct reference *r, uint32_t v, enum vertex_kind from, enum vertex_kind to) {
    const struct dag_vertices *vertices = &r->dag->vertices;
    if (v == 0 || vertices->kind[v - 1] != from || vertices->kind[v] != to) return false;
    uint32_t member = vertices->task[v - 1], next = vertices->task[v];
    if (member == DAG_NONE || next == DAG_NONE || ends_group(r, member)) return false;
    return r->edit->merged_next[member] == next;
}

static uint32_t last_of_group(const struct reference *r, uint32_t task) {
    while (!ends_group(r, task)) task = r->edit->merged_next[task];
    return task;
}

static int64_t whole_or_computed(const struct reference *r, uint32_t v) {
    return r->dag->vertices.compute_ns ? computed(r, v) : recorded(r, v) - recorded(r, v - 1);
}

static double hand_over_ns(const struct reference *r, uint32_t member) {
    const struct pool_costs *costs = &r->costs->pools[task_of(r, member)->pool];
    const struct dag_task *task = task_of(r, member);
    int64_t mean_ns = (int64_t)(costs->bracket[DISPATCH_QUEUED].mean_ns + 0.5) +
                      (int64_t)(costs->pickup[DISPATCH_QUEUED].mean_ns + 0.5);
    int64_t own_ns = r->costs->pickup_ns[member];
    if (task->dispatch != DISPATCH_QUEUED || task->spawn_begin == DAG_NONE) return (double)mean_ns;
    for (uint32_t v = task->spawn_end; v > task->spawn_begin; v--) own_ns += whole_or_computed(r, v);
    return (double)(own_ns > mean_ns ? own_ns : mean_ns);
}

// Of all edges in the group from one member to the next: at most what it costs to hand over as many queued tasks.
static double part_of_group(const struct reference *r, uint32_t member, enum vertex_kind from, enum vertex_kind to) {
    double total_ns = 0, most_ns = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        bool inner = is_merged(r, t) && !ends_group(r, t) && last_of_group(r, t) == last_of_group(r, member);
        if (inner) most_ns += hand_over_ns(r, r->edit->merged_next[t]);
    }
    for (uint32_t v = 1; v < r->dag->vertex_count; v++) {
        if (!leads_on(r, v, from, to)) continue;
        bool same = last_of_group(r, r->dag->vertices.task[v]) == last_of_group(r, member);
        if (same) total_ns += (double)whole_or_computed(r, v);
    }
    return total_ns > most_ns ? most_ns / total_ns : 1;
}

static bool is_inlined(const struct reference *r, uint32_t task) {
    return shares(r) && task != DAG_NONE && r->edit->inlined[task];
}

// Likewise between two that are inlined.
static bool leads_on_inlined(const struct reference *r, uint32_t v, enum vertex_kind from, enum vertex_kind to) {
    const struct dag_vertices *vertices = &r->dag->vertices;
    if (v == 0 || vertices->kind[v - 1] != from || vertices->kind[v] != to) return false;
    return vertices->task[v - 1] != vertices->task[v] && is_inlined(r, vertices->task[v - 1]) &&
           is_inlined(r, vertices->task[v]);
}

// Of all such edges of a site.
static double part_of_site(const struct reference *r, uint32_t of, enum vertex_kind from, enum vertex_kind to) {
    double total_ns = 0, most_ns = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        double own_ns = 0;
        if (task_of(r, t)->site != task_of(r, of)->site) continue;
        for (uint32_t v = 1; v < r->dag->vertex_count; v++) {
            if (r->dag->vertices.task[v] == t && leads_on_inlined(r, v, from, to))
                own_ns += (double)whole_or_computed(r, v);
        }
        total_ns += own_ns;
        if (own_ns > 0) most_ns += hand_over_ns(r, t);
    }
    return total_ns > most_ns ? most_ns / total_ns : 1;
}

static double saved_part(const struct reference *r, uint32_t v) {
    uint32_t task = r->dag->vertices.task[v];
    if (leads_on_inlined(r, v, VERTEX_SPAWN_END, VERTEX_SPAWN_BEGIN))
        return part_of_site(r, task, VERTEX_SPAWN_END, VERTEX_SPAWN_BEGIN);
    if (leads_on_inlined(r, v, VERTEX_WAIT_END, VERTEX_WAIT_BEGIN))
        return part_of_site(r, task, VERTEX_WAIT_END, VERTEX_WAIT_BEGIN);
    if (leads_on(r, v, VERTEX_SPAWN_END, VERTEX_SPAWN_BEGIN))
        return part_of_group(r, task, VERTEX_SPAWN_END, VERTEX_SPAWN_BEGIN);
    if (leads_on(r, v, VERTEX_WAIT_END, VERTEX_WAIT_BEGIN))
        return part_of_group(r, task, VERTEX_WAIT_END, VERTEX_WAIT_BEGIN);
    bool ends = r->dag->vertices.kind[v] == VERTEX_END && task != DAG_NONE &&
                (is_inlined(r, task) || (is_merged(r, task) && !ends_group(r, task)));
    return ends && task_of(r, task)->result == v - 1;
}

// The edge to `vertex`: computes, then sleeps. What it waited for a core is left out when cores are shared.
static void delay_edge(struct reference *r, struct process *process, uint32_t vertex, enum then then) {
    const struct frame *frame = top(process);
    int64_t total_ns = frame->lead_ns + recorded(r, vertex) - frame->since_ns;
    int64_t compute_ns = frame->lead_compute_ns + computed(r, vertex), queued_ns = queued(r, vertex);
    double saved = saved_part(r, vertex);
    int64_t saved_ns = saved > 0 ? (int64_t)(saved * (double)whole_or_computed(r, vertex)) : 0;
    process->vertex = vertex;
    total_ns -= saved_ns + (int64_t)(saved * (double)queued_ns);
    compute_ns -= r->dag->vertices.compute_ns ? saved_ns : 0;
    if (r->model->kind == MODEL_CPU) total_ns -= queued_ns - (int64_t)(saved * (double)queued_ns);
    if (shares(r)) total_ns -= paused_on_edge(r, vertex, frame->since_ns);
    if (total_ns < 0) total_ns = 0;
    if (compute_ns > total_ns) compute_ns = total_ns;
    delay(r, process, compute_ns, total_ns - compute_ns, then);
    delay_by_residual(r, process, vertex, (int64_t)((1 - saved) * (double)r->residual[vertex].more_ns));
    process->held_up = shares(r) ? vertex : DAG_NONE;
    process->since_ns = now_ns(r);
}

// It sleeps until it is awake for `vertex`, as long as it was; or who did not sleep then, as others were.
static void delay_waking(struct reference *r, struct process *process, uint32_t vertex, int64_t total_ns, bool slept) {
    int64_t queued_ns = queued(r, vertex), compute_ns = computed(r, vertex), more_ns = r->residual[vertex].more_ns;
    int64_t mean_ns = (int64_t)(r->costs->waking.mean_ns + 0.5);
    if (!slept && compute_ns < mean_ns) compute_ns = mean_ns;
    delay(r, process, 0, total_ns, THEN_VERTEX);
    if (!shares(r)) return;
    if (queued_ns > total_ns) queued_ns = total_ns;
    if (compute_ns > total_ns - queued_ns) compute_ns = total_ns - queued_ns;
    delay(r, process, compute_ns, 0, THEN_VERTEX);
    process->nap = (ticks)(total_ns - queued_ns - compute_ns) << FRACTION;
    delay_by_residual(r, process, vertex, queued_ns == 0 && more_ns > 0 ? 0 : more_ns);
}

// ---- pools

static bool steals(const struct reference *r, uint32_t pool) {
    return pool && pool < r->dag->pool_count && r->dag->pools[pool].discipline == DISCIPLINE_STEALING;
}

static bool is_governed(const struct reference *r, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    bool known =
        task->pool && task->pool < r->dag->pool_count && r->dag->pools[task->pool].discipline != DISCIPLINE_UNKNOWN;
    if (steals(r, task->pool) && task->dispatch == DISPATCH_HELPED) return true;
    if (steals(r, task->pool) && task->dispatch == DISPATCH_CALLER) return false;
    switch (task->dispatch) {
    case DISPATCH_NEW:
    case DISPATCH_WOKEN:
    case DISPATCH_QUEUED:
    case DISPATCH_CALLER:
        return known;
    default:
        return false;
    }
}

static int64_t own_pickup_ns(const struct reference *r, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    if (r->model->kind == MODEL_CPU) return r->costs->pickup_ns[index]; // without what it waited for a core
    int64_t from_ns = recorded(r, task->spawn_begin);
    int64_t free_ns = task->dispatch == DISPATCH_CALLER ? INT64_MIN : dag_free_ns(r->dag, task);
    return recorded(r, task->start) - (free_ns > from_ns ? free_ns : from_ns);
}

static int64_t pool_pickup_ns(const struct reference *r, uint32_t pool, enum dispatch dispatch) {
    const struct pool_costs *costs = &r->costs->pools[pool];
    return (int64_t)(costs->pickup[dispatch].mean_ns + 0.5);
}

static int64_t mean_pickup_ns(const struct reference *r, uint32_t task, enum dispatch dispatch) {
    return pool_pickup_ns(r, task_of(r, task)->pool, dispatch);
}

static int64_t mean_bracket_ns(const struct reference *r, uint32_t task, enum dispatch dispatch) {
    const struct pool_costs *costs = &r->costs->pools[task_of(r, task)->pool];
    return (int64_t)(costs->bracket[dispatch].mean_ns + 0.5);
}

static int64_t new_pickup_ns(const struct reference *r, struct job job, enum dispatch dispatch) {
    return mean_pickup_ns(r, job.task, dispatch);
}

static int64_t new_bracket_ns(const struct reference *r, struct job job, enum dispatch dispatch) {
    return mean_bracket_ns(r, job.task, dispatch);
}

static bool as_recorded(const struct reference *r, struct job job, enum dispatch dispatch) {
    return job.part <= 0 && task_of(r, job.task)->dispatch == dispatch;
}

// Of its edges after the task was there and its worker free. Who was made or woken for it then only waited for a core.
static int64_t residual_of_pickup_ns(const struct reference *r, uint32_t index, int64_t *compute_ns) {
    const struct dag_task *task = task_of(r, index);
    int64_t free_ns = dag_free_ns(r->dag, task), ready_ns = recorded(r, task->spawn_begin), more_ns = 0;
    if (free_ns > ready_ns) ready_ns = free_ns;
    int64_t waited_ns = recorded(r, task->start) - ready_ns - own_pickup_ns(r, index);
    uint32_t first = r->dag->threads[task->thread].first;
    *compute_ns = 0;
    for (uint32_t v = task->start; v > first && v >= task->pickup; v--) {
        if (recorded(r, v) <= ready_ns) continue;
        more_ns += r->residual[v].more_ns;
        *compute_ns += computed(r, v);
    }
    if (task->dispatch == DISPATCH_QUEUED) return more_ns;
    if (more_ns > waited_ns) more_ns = waited_ns;
    return more_ns > 0 ? more_ns : 0;
}

static void pick_up(struct reference *r, struct process *worker, struct job job, enum dispatch dispatch) {
    bool own = as_recorded(r, job, dispatch);
    worker->idle = false;
    worker->job = job;
    int64_t pickup_ns = own ? own_pickup_ns(r, job.task) : new_pickup_ns(r, job, dispatch);
    bool computes = dispatch == DISPATCH_QUEUED; // the others are woken or made meanwhile
    int64_t compute_ns = computes ? pickup_ns : 0, luck_ns = 0;
    if (own && job.part < 0 && shares(r)) {
        luck_ns = residual_of_pickup_ns(r, job.task, &compute_ns);
        if (!computes) compute_ns = 0;
        if (compute_ns > pickup_ns) compute_ns = pickup_ns;
    }
    delay(r, worker, compute_ns, pickup_ns - compute_ns, THEN_BEGIN);
    if (compute_ns == 0 && shares(r) && !steals(r, worker->pool)) { // and then may get no core
        worker->nap = worker->sleep;
        worker->sleep = 0;
    }
    delay_by_residual(r, worker, task_of(r, job.task)->start, luck_ns);
}

static struct process *make_worker(struct reference *r, uint32_t pool) {
    struct process *worker = NULL;
    for (uint32_t i = 0; i < r->dag->thread_count && !worker; i++) {
        const struct dag_thread *thread = &r->dag->threads[i];
        if (thread->worker && thread->pool == pool && !r->processes[i].made) worker = &r->processes[i];
    }
    if (!worker) {
        if (r->process_count == r->process_capacity) abort();
        worker = &r->processes[r->process_count++];
    }
    worker->made = true;
    worker->pool = pool;
    worker->own = must(malloc(((size_t)r->dag->task_count * PARTS_MAX + 1) * sizeof(struct job)));
    r->pools[pool].workers++;
    return worker;
}

static struct process *idle_worker(struct reference *r, uint32_t pool) {
    struct process *found = NULL;
    bool newest = r->dag->pools[pool].lifo_wakeups;
    for (uint32_t i = 0; i < r->process_count; i++) {
        struct process *process = &r->processes[i];
        if (!process->idle || process->pool != pool) continue;
        if (!found || (process->idle_order > found->idle_order) == newest) found = process;
    }
    if (found) r->slept_ns = (int64_t)((r->now - found->idle_since) >> FRACTION);
    return found;
}

// Nobody falls asleep in an instant.
static enum dispatch dispatch_to_idle(const struct reference *r, struct job job, const struct process *worker) {
    int64_t waking_ns = mean_pickup_ns(r, job.task, DISPATCH_WOKEN) + mean_bracket_ns(r, job.task, DISPATCH_WOKEN);
    ticks asleep = (ticks)waking_ns << FRACTION;
    bool awake = r->now - worker->idle_since < asleep;
    return awake && !as_recorded(r, job, DISPATCH_WOKEN) ? DISPATCH_QUEUED : DISPATCH_WOKEN;
}

// ---- pools whose workers steal

static uint32_t index_of(const struct reference *r, const struct process *process) {
    return (uint32_t)(process - r->processes);
}

static uint32_t count_workers(const struct reference *r, uint32_t pool, bool idle, bool blocked) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->process_count; i++) {
        const struct process *process = &r->processes[i];
        if (!process->made || process->pool != pool) continue;
        count += (idle && process->idle) || (blocked && process->blocked == pool);
    }
    return count;
}

static int64_t running(const struct reference *r, uint32_t pool) {
    return (int64_t)r->pools[pool].workers - count_workers(r, pool, true, true);
}

static uint32_t tasks_queued(const struct reference *r, uint32_t pool) {
    uint32_t count = r->pools[pool].queued;
    for (uint32_t i = 0; i < r->process_count; i++)
        count += r->processes[i].pool == pool ? r->processes[i].own_count : 0;
    return count;
}

static struct job take_from(struct job *jobs, uint32_t *count, uint32_t place) {
    struct job job = jobs[place];
    for (uint32_t i = place + 1; i < *count; i++) jobs[i - 1] = jobs[i];
    --*count;
    return job;
}

// Whether a worker runs what it took from another, or from one who did, three steps at most.
static bool works_for(const struct reference *r, uint32_t worker, uint32_t waiter) {
    for (int steps = 0; steps < 3 && worker != DAG_NONE; steps++) {
        worker = r->processes[worker].stolen_from;
        if (worker == waiter) return true;
    }
    return false;
}

// Who has the most, of equals whoever was made first: of all, or of those that work for a waiter.
static uint32_t victim(const struct reference *r, uint32_t pool, uint32_t waiter) {
    uint32_t found = DAG_NONE, most = 0;
    for (uint32_t i = 0; i < r->process_count; i++) {
        const struct process *process = &r->processes[i];
        if (!process->made || process->pool != pool || process->own_count <= most) continue;
        if (waiter != DAG_NONE && !works_for(r, i, waiter)) continue;
        found = i;
        most = process->own_count;
    }
    return found;
}

// What a free worker takes. false: nothing.
static bool take_any(struct reference *r, struct process *worker, struct job *job) {
    struct pool *pool = &r->pools[worker->pool];
    uint32_t from = victim(r, worker->pool, DAG_NONE);
    if (worker->own_count) {
        *job = take_from(worker->own, &worker->own_count, worker->own_count - 1);
    } else if (pool->queued) {
        worker->stolen_from = DAG_NONE;
        *job = take_from(pool->queue, &pool->queued, 0);
    } else if (from != DAG_NONE) {
        worker->stolen_from = from;
        *job = take_from(r->processes[from].own, &r->processes[from].own_count, 0);
    } else {
        return false;
    }
    return true;
}

static void send_for(struct reference *r, struct process *worker, bool is_new, int64_t takes_ns) {
    worker->idle = false;
    worker->comes_new = is_new;
    delay(r, worker, 0, takes_ns, THEN_ARRIVE);
}

// From what made a recorded worker, or the spawn in which that lay if that is the one now, to its first vertex.
static int64_t time_to_begin(const struct reference *r, uint32_t worker, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    int64_t mean_ns = pool_pickup_ns(r, r->processes[worker].pool, DISPATCH_NEW);
    if (worker >= r->dag->thread_count || r->dag->threads[worker].count < 2) return mean_ns;
    uint32_t first = r->dag->threads[worker].first, maker = r->dag->vertices.cause[first];
    if (maker == DAG_NONE || r->dag->vertices.kind[first] != VERTEX_THREAD_START) return mean_ns;
    bool in_bracket = maker > task->spawn_begin && maker < task->spawn_end;
    return recorded(r, first + 1) - recorded(r, in_bracket ? task->spawn_begin : maker);
}

// How a recorded worker went: whether it was alive, and idle, at a time, and when it next woke up after that.
struct state_then {
    bool alive, idle;
    int64_t wakes_ns; // INT64_MAX: never
    uint32_t woken;   // vertex at which it did
};

// When a worker that woke up at a vertex had what it woke up for, if anything.
static int64_t took_ns(const struct reference *r, uint32_t woken) {
    uint32_t task = r->dag->vertices.task[woken], start = task == DAG_NONE ? DAG_NONE : task_of(r, task)->start;
    if (start == DAG_NONE || recorded(r, start) < recorded(r, woken)) return recorded(r, woken);
    return recorded(r, start) - (r->model->kind == MODEL_CPU ? queued(r, start) : 0);
}

static struct state_then state_at(const struct reference *r, uint32_t thread, int64_t time_ns) {
    const struct dag_thread *of = &r->dag->threads[thread];
    struct state_then then = {.wakes_ns = INT64_MAX};
    bool idle = false;
    for (uint32_t v = of->first; v < of->first + of->count; v++) {
        unsigned kind = r->dag->vertices.kind[v];
        bool was_idle = idle, past = recorded(r, v) <= time_ns;
        if (kind == VERTEX_IDLE) idle = true;
        if (kind == VERTEX_BUSY || kind == VERTEX_RETIRE) idle = false;
        if (kind == VERTEX_BUSY && was_idle && !past && then.wakes_ns == INT64_MAX)
            then.woken = v, then.wakes_ns = recorded(r, v);
        if (!past) continue;
        then.alive = kind != VERTEX_RETIRE && (then.alive || v == of->first);
        then.idle = idle;
    }
    return then;
}

// How long after a spawn that found a worker asleep the next one woke up in the recording; -1: nobody had to.
static int64_t recorded_waking_ns(const struct reference *r, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    int64_t spawn_ns = recorded(r, task->spawn_begin), wakes_ns = INT64_MAX;
    uint32_t woken = DAG_NONE;
    int32_t idle = 0, busy = 0;
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        if (!r->dag->threads[i].worker || r->dag->threads[i].pool != task->pool) continue;
        struct state_then then = state_at(r, i, spawn_ns);
        idle += then.alive && then.idle;
        busy += then.alive && !then.idle;
        if (then.wakes_ns < wakes_ns) woken = then.woken, wakes_ns = then.wakes_ns;
    }
    if (idle == 0 || busy >= r->dag->pools[task->pool].core || woken == DAG_NONE) return -1;
    return took_ns(r, woken) - spawn_ns;
}

// A spawn calls for a worker: an idle one, or a new one. Returns whether it made one.
static bool call_for(struct reference *r, struct job job) {
    uint32_t index = task_of(r, job.task)->pool;
    struct pool *pool = &r->pools[index];
    int64_t parallelism = pool->core > 0 ? pool->core : 1, run = running(r, index);
    struct process *idle = idle_worker(r, index);
    if (run >= parallelism) return false;
    if (!idle) {
        if (run > 0 && pool->workers >= parallelism) return false;
        struct process *made = make_worker(r, index);
        send_for(r, made, true, time_to_begin(r, index_of(r, made), job.task));
        return true;
    }
    bool looks = r->now - idle->idle_since < (ticks)(int64_t)r->costs->pools[index].looking.mean_ns << FRACTION;
    enum dispatch dispatch = looks ? DISPATCH_QUEUED : DISPATCH_WOKEN;
    int64_t waking_ns = dispatch == DISPATCH_WOKEN ? recorded_waking_ns(r, job.task) : -1;
    if (as_recorded(r, job, dispatch))
        send_for(r, idle, false, own_pickup_ns(r, job.task));
    else
        send_for(r, idle, false, waking_ns >= 0 ? waking_ns : mean_pickup_ns(r, job.task, dispatch));
    return false;
}

static bool made_worker(const struct reference *r, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    for (uint32_t v = task->spawn_begin + 1; v < task->spawn_end; v++) {
        if (r->dag->vertices.kind[v] == VERTEX_SPAWN_BEGIN && r->dag->vertices.task[v] == DAG_NONE) return true;
    }
    return false;
}

// How the bracket goes: as recorded unless a worker is made now or was made then, and not both.
static enum dispatch offer_stealing(struct reference *r, struct process *spawner, struct job job) {
    uint32_t index = task_of(r, job.task)->pool;
    if (spawner && spawner->pool == index)
        spawner->own[spawner->own_count++] = job;
    else
        r->pools[index].queue[r->pools[index].queued++] = job;
    r->pools[index].unfinished++;
    bool makes = call_for(r, job);
    if (job.part < 0 && makes == made_worker(r, job.task)) return (enum dispatch)task_of(r, job.task)->dispatch;
    return makes ? DISPATCH_NEW : DISPATCH_QUEUED;
}

static bool outlasts_idling(const struct reference *r, uint32_t pool) {
    return !r->dag->pools[pool].core_times_out && r->pools[pool].workers <= r->pools[pool].core;
}

// How close what idles out and what else a pool does come to each other: which of them is first, hangs on rounding.
static void note_closeness(struct reference *r, ticks other) {
    int64_t apart_ns = (int64_t)((r->now - other) >> FRACTION);
    if (other >= 0 && apart_ns < r->run->closest_ns) r->run->closest_ns = apart_ns;
}

static void touch(struct reference *r, uint32_t index) {
    struct pool *pool = &r->pools[index];
    note_closeness(r, pool->left);
    pool->touched = r->now;
}

static void go_idle(struct reference *r, struct process *worker) {
    int64_t keep_alive_ns = r->dag->pools[worker->pool].keep_alive_ns;
    bool leaves = keep_alive_ns >= 0 && !outlasts_idling(r, worker->pool) && !r->pools[worker->pool].shut_down;
    touch(r, worker->pool);
    worker->leaves = leaves ? worker->idle_since + ((ticks)keep_alive_ns << FRACTION) : -1;
    worker->idle = true;
    worker->idle_order = ++r->idle_orders;
}

// A worker that waits and found nothing to help with is replaced.
static void replace_waiter(struct reference *r, uint32_t index, uint32_t awaited) {
    struct pool *pool = &r->pools[index];
    uint32_t recorded_workers = 0, made = 0;
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        recorded_workers += r->dag->threads[i].worker && r->dag->threads[i].pool == index;
    }
    for (uint32_t i = 0; i < r->process_count; i++) made += r->processes[i].made && r->processes[i].pool == index;
    bool full = pool->workers >= pool->core, wanted = made < recorded_workers || tasks_queued(r, index) > 0;
    struct process *idle = full ? idle_worker(r, index) : NULL;
    if (idle) {
        send_for(r, idle, false, pool_pickup_ns(r, index, DISPATCH_WOKEN));
    } else if (wanted && (!full || running(r, index) == 0)) {
        struct process *worker = make_worker(r, index);
        send_for(r, worker, true, time_to_begin(r, index_of(r, worker), awaited));
    }
}

static bool was_helped(const struct reference *r, uint32_t task) {
    return task_of(r, task)->dispatch == DISPATCH_HELPED && steals(r, task_of(r, task)->pool);
}

// The pool whose tasks a process may run until what it waits for is there, 0.
static uint32_t pool_to_help(const struct reference *r, const struct process *process, uint32_t wait_end) {
    uint32_t awaited = r->dag->vertices.task[wait_end];
    if (awaited == DAG_NONE) return 0;
    uint32_t pool = task_of(r, awaited)->pool;
    bool moved = r->edit->inlined[awaited] || r->edit->staged[awaited] == FIRST_STAGE_ON_SPAWNER || r->left[awaited] ||
                 r->edit->parts[awaited] || (is_merged(r, awaited) && !ends_group(r, awaited));
    if (!steals(r, pool) || moved || !is_governed(r, awaited)) return 0;
    return process->pool == pool || was_helped(r, awaited) ? pool : 0;
}

static void help_with(struct reference *r, struct process *process, struct job job, uint32_t stolen_from) {
    const struct dag_task *task = task_of(r, job.task);
    bool stolen = stolen_from != DAG_NONE;
    bool was_stolen = was_helped(r, job.task) && dag_thread_of(r->dag, task->spawn_begin) != task->thread;
    const struct pool_costs *costs = &r->costs->pools[task->pool];
    int64_t pickup_ns = (int64_t)((stolen ? costs->stolen : costs->pickup[DISPATCH_HELPED]).mean_ns + 0.5);
    if (stolen == was_stolen) {
        pickup_ns = as_recorded(r, job, DISPATCH_HELPED) ? own_pickup_ns(r, job.task)
                                                         : mean_pickup_ns(r, job.task, DISPATCH_HELPED);
    }
    process->job = job;
    process->vertex = process->stolen_from; // until the body's frame keeps it
    if (stolen) process->stolen_from = stolen_from;
    delay(r, process, pickup_ns, 0, THEN_HELP);
}

// At a wait that is not over: it helps, and true, or can't.
static bool help(struct reference *r, struct process *process, uint32_t wait_end, uint32_t pool) {
    uint32_t awaited = r->dag->vertices.task[wait_end];
    struct pool *shared = &r->pools[pool];
    for (uint32_t i = 0; i < process->own_count; i++) {
        if (process->own[i].task != awaited || process->own[i].part >= 0) continue;
        help_with(r, process, take_from(process->own, &process->own_count, i), DAG_NONE);
        return true;
    }
    for (uint32_t i = 0; i < shared->queued && was_helped(r, awaited); i++) {
        if (shared->queue[i].task != awaited || shared->queue[i].part >= 0) continue;
        help_with(r, process, take_from(shared->queue, &shared->queued, i), DAG_NONE);
        return true;
    }
    uint32_t from = process->pool == pool ? victim(r, pool, index_of(r, process)) : DAG_NONE;
    if (from == DAG_NONE) return false;
    help_with(r, process, take_from(r->processes[from].own, &r->processes[from].own_count, 0), from);
    return true;
}

static void block(struct reference *r, struct process *process, uint32_t wait_end, uint32_t pool) {
    process->blocked = pool;
    process->blocked_since = r->now;
    if (process->pool == pool) replace_waiter(r, pool, r->dag->vertices.task[wait_end]);
}

// ---- other pools

static bool has_queue(const struct reference *r, uint32_t pool) {
    if (!pool || pool >= r->dag->pool_count) return false;
    enum discipline discipline = r->dag->pools[pool].discipline;
    return discipline == DISCIPLINE_FIFO || discipline == DISCIPLINE_LIFO || discipline == DISCIPLINE_PRIORITY;
}

static bool lay_in_queue(const struct reference *r, uint32_t index, uint32_t pool) {
    const struct dag_task *task = task_of(r, index);
    return task->pool == pool && has_queue(r, pool) &&
           (task->dispatch == DISPATCH_WOKEN || task->dispatch == DISPATCH_QUEUED);
}

// How many of a pool's workers slept then, of those that woke up for a task later or never.
static uint32_t asleep_at(const struct reference *r, uint32_t pool, int64_t time_ns) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        const struct dag_task *task = task_of(r, t);
        if (task->pool != pool || task->dispatch != DISPATCH_WOKEN) continue;
        count += recorded(r, task->pickup) <= time_ns && time_ns < recorded(r, task->start);
    }
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        const struct dag_thread *thread = &r->dag->threads[i];
        uint32_t idle = DAG_NONE;
        if (!thread->worker || thread->pool != pool) continue;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
            if (r->dag->vertices.kind[v] == VERTEX_IDLE) idle = v;
            if (r->dag->vertices.kind[v] == VERTEX_END) idle = DAG_NONE;
        }
        count += idle != DAG_NONE && recorded(r, idle) <= time_ns;
    }
    return count;
}

// When the worker came that took a woken task: where cores are shared, what it then waited for one is told apart.
static int64_t came_at(const struct reference *r, uint32_t index) {
    const struct dag_task *task = task_of(r, index);
    int64_t free_ns = dag_free_ns(r->dag, task), since_ns = recorded(r, task->spawn_begin);
    return (free_ns > since_ns ? free_ns : since_ns) + own_pickup_ns(r, index);
}

// When the queue had run empty in which the task lay.
static int64_t busy_until(const struct reference *r, uint32_t index) {
    uint32_t pool = task_of(r, index)->pool;
    int64_t until_ns = recorded(r, task_of(r, index)->start);
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        const struct dag_task *task = task_of(r, t);
        if (!lay_in_queue(r, t, pool) || recorded(r, task->start) <= until_ns) continue;
        if (recorded(r, task->spawn_begin) > until_ns) continue;
        until_ns = recorded(r, task->start);
        t = UINT32_MAX; // from the beginning: others may have lain there by then
    }
    return until_ns;
}

// Whether a worker is on its way that took this task when recorded.
static bool is_reserved(const struct reference *r, uint32_t task) {
    for (uint32_t i = 0; i < r->process_count; i++) {
        if (r->processes[i].then == THEN_ARRIVE && r->processes[i].reserved == task) return true;
    }
    return false;
}

// Whether somebody woke up for a task after another's spawn and before the queue had run empty that it lay in.
static bool woke_for_queue(const struct reference *r, uint32_t task, uint32_t index) {
    const struct dag_task *of = task_of(r, task);
    if (of->pool != task_of(r, index)->pool || of->dispatch != DISPATCH_WOKEN) return false;
    int64_t start_ns = recorded(r, of->start);
    return start_ns > recorded(r, task_of(r, index)->spawn_begin) && start_ns <= busy_until(r, index);
}

// And had not come by that spawn.
static bool came_for_queue(const struct reference *r, uint32_t task, uint32_t index) {
    return woke_for_queue(r, task, index) && came_at(r, task) >= recorded(r, task_of(r, index)->spawn_begin);
}

// For how many tasks that holds and they started earlier than this one.
static uint32_t count_before(const struct reference *r, uint32_t task, uint32_t index,
                             bool holds(const struct reference *, uint32_t, uint32_t)) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        bool earlier = task_of(r, t)->start != DAG_NONE &&
                       recorded(r, task_of(r, t)->start) < recorded(r, task_of(r, task)->start);
        count += earlier && holds(r, t, index);
    }
    return count;
}

// Of as many of those as slept at the spawn, and for which nobody is on his way, the one who came first. DAG_NONE:
// none.
static uint32_t first_to_come(const struct reference *r, uint32_t index) {
    uint32_t first = DAG_NONE;
    uint32_t asleep = asleep_at(r, task_of(r, index)->pool, recorded(r, task_of(r, index)->spawn_begin));
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        if (!came_for_queue(r, t, index) || is_reserved(r, t) || count_before(r, t, index, came_for_queue) >= asleep)
            continue;
        int64_t than_ns = first == DAG_NONE ? INT64_MAX : came_at(r, first);
        bool tied = came_at(r, t) == than_ns;
        bool earlier = tied && recorded(r, task_of(r, t)->start) < recorded(r, task_of(r, first)->start);
        if (came_at(r, t) < than_ns || earlier) first = t;
    }
    return first;
}

// Whether more than so many workers slept when the task was spawned, which then lay in the queue. Of as many as had not
// begun yet, those that had come but had no core did not sleep.
static bool slept(const struct reference *r, uint32_t index, uint32_t coming) {
    const struct dag_task *task = task_of(r, index);
    if (!lay_in_queue(r, index, task->pool)) return false;
    uint32_t asleep = asleep_at(r, task->pool, recorded(r, task->spawn_begin)), come = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        come += woke_for_queue(r, t, index) && !came_for_queue(r, t, index) &&
                count_before(r, t, index, woke_for_queue) < asleep;
    }
    return asleep > come + coming;
}

// How long a worker needs that a spawn calls while so many are on their way, and for which task one came then.
static int64_t coming_ns(const struct reference *r, uint32_t index, uint32_t coming, uint32_t *came_for) {
    int64_t mean_ns = mean_pickup_ns(r, index, DISPATCH_WOKEN), spawn_ns = recorded(r, task_of(r, index)->spawn_begin);
    *came_for = DAG_NONE;
    if (!slept(r, index, coming)) return mean_ns;
    uint32_t woken = *came_for = first_to_come(r, index);
    if (woken == DAG_NONE) return busy_until(r, index) + mean_ns - spawn_ns;
    bool gone = r->edit->inlined[woken] || r->edit->staged[woken] == FIRST_STAGE_ON_SPAWNER ||
                (is_merged(r, woken) && !ends_group(r, woken));
    return gone ? mean_ns : came_at(r, woken) - spawn_ns;
}

static uint32_t count_coming(const struct reference *r, uint32_t pool) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->process_count; i++) {
        count += r->processes[i].then == THEN_ARRIVE && r->processes[i].pool == pool;
    }
    return count;
}

// Of the pool's queue the one that comes first, or of those that nobody comes for; its length: none.
static uint32_t next_in_queue(const struct reference *r, uint32_t index, bool unclaimed) {
    const struct pool *pool = &r->pools[index];
    enum discipline discipline = r->dag->pools[index].discipline;
    uint32_t next = pool->queued;
    for (uint32_t i = 0; i < pool->queued; i++) {
        if (unclaimed && pool->queue[i].part < 0 && is_reserved(r, pool->queue[i].task)) continue;
        bool first = next == pool->queued || discipline == DISCIPLINE_LIFO;
        if (!first && discipline == DISCIPLINE_PRIORITY) {
            int64_t start_ns = recorded(r, task_of(r, pool->queue[i].task)->start);
            first = start_ns < recorded(r, task_of(r, pool->queue[next].task)->start);
        }
        if (first) next = i;
    }
    return next;
}

// Whether no more jobs come before it than other workers are on their way.
static bool comes_soon(const struct reference *r, uint32_t index, uint32_t place) {
    enum discipline discipline = r->dag->pools[index].discipline;
    uint32_t before = discipline == DISCIPLINE_LIFO ? r->pools[index].queued - 1 - place : place;
    return discipline == DISCIPLINE_PRIORITY || before <= count_coming(r, index);
}

// What a worker takes that was called.
static bool take_for(struct reference *r, struct process *worker, struct job *job) {
    struct pool *pool = &r->pools[worker->pool];
    if (!pool->queued) return false;
    uint32_t place = next_in_queue(r, worker->pool, false);
    for (uint32_t i = 0; i < pool->queued; i++) {
        bool own = pool->queue[i].part < 0 && pool->queue[i].task == worker->reserved;
        if (own && comes_soon(r, worker->pool, i)) place = i;
    }
    *job = take_from(pool->queue, &pool->queued, place);
    return true;
}

// Behind all that lies there, but for what is still being spawned and started later when recorded.
static void put(struct reference *r, uint32_t index, struct job job) {
    struct pool *pool = &r->pools[index];
    uint32_t place = pool->queued++;
    bool fifo = r->dag->pools[index].discipline == DISCIPLINE_FIFO ||
                (r->dag->pools[index].discipline == DISCIPLINE_HAND_OFF && r->edit->pool_threads[index]);
    for (; fifo && place > 0; place--) {
        struct job before = pool->queue[place - 1];
        const struct dag_task *of = task_of(r, before.task), *task = task_of(r, job.task);
        if (before.part >= 0 || job.part >= 0 || of->start == DAG_NONE || task->start == DAG_NONE) break;
        if (of->spawn_begin == DAG_NONE || task->spawn_begin == DAG_NONE) break;
        int64_t bracket_ns = recorded(r, of->spawn_end) - recorded(r, of->spawn_begin);
        if (r->run->time_ns[task->spawn_begin] >= r->run->time_ns[of->spawn_begin] + bracket_ns) break;
        if (recorded(r, of->start) <= recorded(r, task->start)) break;
        pool->queue[place] = before;
    }
    pool->queue[place] = job;
}

static enum dispatch call(struct reference *r, struct process *worker, struct job job) {
    uint32_t came_for;
    int64_t takes_ns = coming_ns(r, job.task, count_coming(r, worker->pool), &came_for);
    send_for(r, worker, false, takes_ns);
    worker->reserved = came_for;
    put(r, worker->pool, job);
    return as_recorded(r, job, DISPATCH_QUEUED) ? DISPATCH_QUEUED : DISPATCH_WOKEN;
}

// Whether the queue takes one more, or took it when recorded, and may be no longer full since who is on his way may
// have taken a task by now.
static bool has_room(const struct reference *r, const struct pool *pool, uint32_t index, struct job job) {
    if (pool->queued < pool->capacity) return true;
    bool taken = as_recorded(r, job, DISPATCH_WOKEN) || as_recorded(r, job, DISPATCH_QUEUED);
    return taken && (int64_t)pool->queued - count_coming(r, index) < pool->capacity;
}

// How many workers run nothing, or are on their way to whatever the queue then has.
static uint32_t count_without_task(const struct reference *r, uint32_t pool) {
    uint32_t count = count_coming(r, pool);
    for (uint32_t i = 0; i < r->process_count; i++) count += r->processes[i].pool == pool && r->processes[i].idle;
    return count;
}

// Whether a new worker is to run a job that the queue has room for.
static bool makes_another(const struct reference *r, uint32_t index) {
    const struct dag_pool *rules = &r->dag->pools[index];
    const struct pool *pool = &r->pools[index];
    bool one_idles = count_without_task(r, index) > count_coming(r, index);
    bool all_have_one = count_without_task(r, index) <= pool->queued;
    if (pool->workers < pool->core && !(rules->wakes_first && one_idles)) return true;
    return rules->grows_first && all_have_one && pool->workers < pool->maximum;
}

// Whether the task in whose body it is made has not begun.
static bool is_unmade(const struct reference *r, struct job job) {
    const uint32_t maker = r->dag->made_in && job.part < 0 ? r->dag->made_in[job.task] : DAG_NONE;
    if (maker == DAG_NONE || r->dag->pools[task_of(r, job.task)->pool].caller_runs) return false;
    return r->run->time_ns[task_of(r, maker)->start] == DAG_ABSENT;
}

static enum dispatch offer(struct reference *r, struct process *spawner, struct job job) {
    if (is_unmade(r, job)) {
        r->unmade[job.task] = true;
        return (enum dispatch)task_of(r, job.task)->dispatch;
    }
    uint32_t index = task_of(r, job.task)->pool;
    if (steals(r, index)) return offer_stealing(r, spawner, job);
    struct pool *pool = &r->pools[index];
    touch(r, index);
    bool hand_off = r->dag->pools[index].discipline == DISCIPLINE_HAND_OFF && !r->edit->pool_threads[index];
    struct process *idle = idle_worker(r, index);
    bool room = hand_off ? idle != NULL : has_room(r, pool, index, job);
    if (makes_another(r, index) || (!room && pool->workers < pool->maximum)) {
        pick_up(r, make_worker(r, index), job, DISPATCH_NEW);
        pool->unfinished++;
        return DISPATCH_NEW;
    }
    if (!room && !r->dag->pools[index].caller_runs) return DISPATCH_NONE;
    pool->unfinished++;
    if (!room) return DISPATCH_CALLER;
    if (idle) {
        enum dispatch dispatch = dispatch_to_idle(r, job, idle);
        bool calls = dispatch == DISPATCH_WOKEN || slept(r, job.task, count_coming(r, index));
        if (calls && !hand_off) return call(r, idle, job);
        pick_up(r, idle, job, dispatch);
        return dispatch;
    }
    if (!pool->workers) {
        pick_up(r, make_worker(r, index), job, DISPATCH_NEW);
        return DISPATCH_NEW;
    }
    put(r, index, job);
    return count_coming(r, index) && as_recorded(r, job, DISPATCH_WOKEN) ? DISPATCH_WOKEN : DISPATCH_QUEUED;
}

static void come_free(struct reference *r, struct process *worker) {
    struct pool *pool = &r->pools[worker->pool];
    struct job taken;
    worker->then = THEN_NOTHING;
    if (steals(r, worker->pool) && take_any(r, worker, &taken)) {
        pick_up(r, worker, taken, DISPATCH_QUEUED);
        return;
    }
    uint32_t next = next_in_queue(r, worker->pool, true);
    if (next == pool->queued) {
        worker->idle_since = r->now;
        go_idle(r, worker);
        return;
    }
    pick_up(r, worker, take_from(pool->queue, &pool->queued, next), DISPATCH_QUEUED);
}

// ---- waits

// A worker that is on its way has to come first.
static bool pool_over(const struct reference *r, uint32_t pool) {
    for (uint32_t i = 0; i < r->process_count; i++) {
        if (r->processes[i].then == THEN_ARRIVE && r->processes[i].pool == pool) return false;
    }
    return r->pools[pool].shut_down && !r->pools[pool].unfinished;
}

static bool is_barrier(const struct reference *r, uint32_t vertex) {
    return r->dag->vertices.kind[vertex] == VERTEX_BARRIER;
}

static bool wait_is_over(const struct reference *r, uint32_t wait_end) {
    uint32_t cause = r->dag->vertices.cause[wait_end];
    return is_barrier(r, cause) ? pool_over(r, r->pool_of[wait_end]) : r->known[r->dag->vertices.task[wait_end]];
}

static int64_t recorded_cause_ns(const struct reference *r, uint32_t wait_end) {
    uint32_t cause = r->dag->vertices.cause[wait_end];
    int64_t cause_ns = is_barrier(r, cause) ? r->over_ns[r->pool_of[wait_end]] : recorded(r, cause);
    return cause_ns < recorded(r, wait_end) ? cause_ns : recorded(r, wait_end);
}

// Whose waiting is over, and wakes up.
static void wake_waiters(struct reference *r) {
    for (uint32_t i = 0; i < r->process_count; i++) {
        struct process *process = &r->processes[i];
        if (!process->waits || !wait_is_over(r, process->vertex)) continue;
        int64_t cause_ns = recorded_cause_ns(r, process->vertex);
        bool slept = cause_ns > top(process)->since_ns;
        int64_t wakeup_ns = r->dag->wakeup_ns;
        if (process->blocked && process->blocked == process->pool) { // who looks around does not wake up late
            wakeup_ns = (int64_t)r->costs->wakeup.mean_ns;
            if (r->now - process->blocked_since < (ticks)wakeup_ns << FRACTION) wakeup_ns = 0;
        }
        process->waits = false;
        delay_waking(r, process, process->vertex, slept ? recorded(r, process->vertex) - cause_ns : wakeup_ns, slept);
    }
}

static void push(struct process *process, struct frame frame) {
    if (process->depth == DEPTH_MAX) abort();
    process->frames[process->depth++] = frame;
}

// Stages that awaited it go on here, those that left first before those that left later.
static void give_result(struct reference *r, struct process *process, uint32_t task) {
    if (r->known[task]) return;
    r->known[task] = true;
    r->known_ns[task] = now_ns(r);
    wake_waiters(r);
    for (uint32_t i = r->stage_count; i-- > 0;) {
        struct stage *stage = &r->stages[i];
        if (stage->gone || stage->awaits != task) continue;
        stage->gone = true;
        push(process, stage->frame);
    }
}

// ---- bodies

static struct frame body(const struct reference *r, uint32_t task, enum after after) {
    const struct dag_task *t = task_of(r, task);
    return (struct frame){.task = task,
                          .at = DAG_NONE,
                          .last = t->tail,
                          .bracket = task,
                          .resumes = DAG_NONE,
                          .part = -1,
                          .after = after};
}

// A job's frames: a group's members one below the other, the first on top.
static void push_job(struct reference *r, struct process *process, struct job job, enum after after) {
    struct frame last = body(r, job.task, after);
    last.ends_job = true;
    last.staged = r->edit->staged[job.task];
    last.job = job;
    last.part = job.part;
    push(process, last);
    if (!is_merged(r, job.task)) return;
    for (uint32_t of = job.task; of != DAG_NONE;) {
        uint32_t before = DAG_NONE;
        for (uint32_t t = 0; t < r->dag->task_count; t++) {
            if (t != of && r->edit->merged_next[t] == of) before = t;
        }
        if (before != DAG_NONE) push(process, body(r, before, AFTER_NOTHING));
        of = before;
    }
}

static void finish_job(struct reference *r, struct process *process, struct job job) {
    if (job.part >= 0) {
        if (--r->parts_left[job.task] == 0) give_result(r, process, job.task);
    } else if (is_merged(r, job.task)) {
        for (uint32_t t = r->dag->task_count; t-- > 0;) { // stages of the first member are to end up on top
            uint32_t end = t;
            while (is_merged(r, t) && !ends_group(r, end)) end = r->edit->merged_next[end];
            if (is_merged(r, t) && end == job.task) give_result(r, process, t);
        }
    }
    r->pools[task_of(r, job.task)->pool].unfinished--;
    wake_waiters(r);
}

static void jump(struct reference *r, struct frame *frame, uint32_t vertex) {
    frame->at = vertex;
    frame->since_ns = recorded(r, vertex);
    frame->lead_ns = frame->lead_compute_ns = 0;
}

static void begin_thread(struct reference *r, uint32_t task) {
    uint32_t index = task_of(r, task)->thread;
    struct process *process = &r->processes[index];
    const struct dag_thread *thread = &r->dag->threads[index];
    struct frame chain = body(r, task, AFTER_NOTHING);
    chain.last = thread->first + thread->count - 1;
    push(process, chain);
    int64_t lag_ns = recorded(r, thread->first) - recorded(r, task_of(r, task)->spawn_begin);
    process->vertex = thread->first;
    delay(r, process, 0, lag_ns, THEN_VERTEX);
}

// Who is idle leaves at once.
static void shut_down(struct reference *r, uint32_t pool) {
    touch(r, pool);
    r->pools[pool].shut_down = true;
    for (uint32_t i = 0; i < r->process_count; i++) {
        if (r->processes[i].idle && r->processes[i].pool == pool) r->processes[i].leaves = -1;
    }
}

// A vertex happens.
// What was handed over before, and is made in the task that begins.
static void offer_made(struct reference *r, uint32_t maker) {
    for (uint32_t t = 0; r->dag->made_in && t < r->dag->task_count; t++) {
        if (!r->unmade[t] || r->dag->made_in[t] != maker) continue;
        r->unmade[t] = false;
        offer(r, NULL, (struct job){t, -1});
    }
}

static void happen(struct reference *r, struct process *process, uint32_t v) {
    uint32_t task = r->dag->vertices.task[v];
    unsigned kind = r->dag->vertices.kind[v];
    r->run->time_ns[v] = now_ns(r);
    jump(r, top(process), v);
    process->blocked = 0;
    if (kind == VERTEX_START) offer_made(r, task);
    if (kind == VERTEX_SHUTDOWN) {
        shut_down(r, r->pool_of[v]);
        wake_waiters(r);
    }
    bool names_task = kind == VERTEX_RESULT || kind == VERTEX_END;
    if (names_task && task != DAG_NONE && task_of(r, task)->result == v && !is_merged(r, task)) {
        give_result(r, process, task);
    }
}

// ---- resources

static const struct dag_ask *ask_of(const struct reference *r, uint32_t ask) {
    return &r->dag->asks[ask];
}

static struct resource *of_ask(const struct reference *r, uint32_t ask) {
    return &r->resources[ask_of(r, ask)->resource];
}

// Others are asked for by no other process, and take what they took.
static bool is_told(const struct reference *r, uint32_t v) {
    unsigned kind = r->dag->vertices.kind[v];
    bool of_resource = kind >= VERTEX_ACQUIRE && kind <= VERTEX_RELEASED;
    return of_resource && r->dag->resources[ask_of(r, r->dag->vertices.task[v])->resource].tells_holds;
}

static bool is_fair(const struct reference *r, uint32_t ask) {
    return r->dag->resources[ask_of(r, ask)->resource].fair;
}

// It costs nothing: no process contends for it, or the process has that lock already.
static bool is_free(const struct reference *r, const struct process *process, uint32_t ask) {
    uint32_t resource = ask_of(r, ask)->resource;
    unsigned kind = r->dag->resources[resource].kind;
    if (ask_of(r, ask)->units == 0 || r->edit->unlocked[resource]) return true;
    if (kind != RESOURCE_LOCK && kind != RESOURCE_MONITOR && kind != RESOURCE_READ_WRITE_LOCK) return false;
    for (uint32_t i = 0; i < r->holding_count; i++) {
        bool own = r->holdings[i].process == index_of(r, process);
        if (own && ask_of(r, r->holdings[i].ask)->resource == resource) return true;
    }
    return false;
}

static bool is_enough(const struct reference *r, const struct process *process, uint32_t ask) {
    const struct resource *resource = of_ask(r, ask);
    return is_free(r, process, ask) || resource->available - resource->unknown >= ask_of(r, ask)->units;
}

// A process that comes has it, but behind those that wait for what is fair, and a reader behind a writer.
static bool has_at_once(const struct reference *r, const struct process *process, uint32_t ask) {
    const struct resource *resource = of_ask(r, ask);
    if (is_free(r, process, ask)) return true;
    if (!is_enough(r, process, ask)) return false;
    for (uint32_t i = 0; i < resource->listed; i++) {
        const struct process *first = &r->processes[resource->list[i]];
        if (first->in_vain && is_enough(r, first, first->ask)) continue;
        if (is_fair(r, ask)) return false;
        return r->dag->resources[ask_of(r, ask)->resource].readers_pass || !ask_of(r, ask)->shared ||
               ask_of(r, first->ask)->shared;
    }
    return true;
}

static void sleep_in_list(struct reference *r, struct process *process) {
    delay(r, process, 0, 0, process->time_up < 0 ? THEN_HAVE : THEN_TIME_UP);
    process->for_ever = process->time_up < 0;
    if (process->time_up > r->now) process->sleep = process->time_up - r->now;
}

static void enter_list(struct reference *r, struct process *process) {
    struct resource *resource = of_ask(r, process->ask);
    const struct dag_ask *ask = ask_of(r, process->ask);
    uint32_t place = resource->listed++;
    process->asks = true;
    process->place = is_fair(r, process->ask) || ask->got == DAG_NONE ? now_ns(r) : recorded(r, ask->got);
    if (ask->given_up && place > 0 && r->processes[resource->list[place - 1]].place > process->place)
        process->place = r->processes[resource->list[place - 1]].place;
    for (; place > 0 && r->processes[resource->list[place - 1]].place > process->place; place--)
        resource->list[place] = resource->list[place - 1];
    resource->list[place] = index_of(r, process);
    sleep_in_list(r, process);
}

static void leave_list(struct reference *r, struct process *process) {
    struct resource *resource = of_ask(r, process->ask);
    uint32_t place = 0;
    while (resource->list[place] != index_of(r, process)) place++;
    for (resource->listed--; place < resource->listed; place++) resource->list[place] = resource->list[place + 1];
    process->asks = process->for_ever = process->in_vain = false;
}

// Whether a call that was in vain had woken it when it was called last, and it was not awake by then.
static bool is_waking(const struct reference *r, const struct process *process) {
    return process->woken_since >= 0 &&
           process->woken_since + ((ticks)ask_of(r, process->ask)->waking_ns << FRACTION) > process->called_since;
}

// Of those that are on their way, but do not compute yet, the last in the list have been called for nothing.
static void call_off(struct reference *r, struct resource *resource) {
    for (uint32_t i = resource->listed; i-- > 0 && resource->promised > resource->available;) {
        struct process *process = &r->processes[resource->list[i]];
        if (!process->called || (process->nap == 0 && process->compute > 0)) continue;
        process->called = false;
        if (!is_waking(r, process)) process->woken_since = process->called_since;
        resource->promised -= ask_of(r, process->ask)->units;
        sleep_in_list(r, process);
    }
}

static void take_resource(struct reference *r, struct process *process, uint32_t ask) {
    if (is_free(r, process, ask)) return;
    of_ask(r, ask)->available -= ask_of(r, ask)->units;
    r->holdings = must(realloc(r->holdings, (r->holding_count + 1) * sizeof *r->holdings));
    r->holdings[r->holding_count++] = (struct holding){index_of(r, process), ask};
    call_off(r, of_ask(r, ask));
}

static void wake_up_for(struct reference *r, struct process *process, int64_t total_ns, enum then then) {
    int64_t mean_ns = (int64_t)(r->costs->waking.mean_ns + 0.5);
    if (total_ns < 0) total_ns = 0;
    if (r->dag->vertices.kind[process->vertex] != VERTEX_HELD) {
        delay_waking(r, process, process->vertex, total_ns, true);
    } else {
        int64_t compute_ns = mean_ns < total_ns ? mean_ns : total_ns;
        delay(r, process, shares(r) ? compute_ns : total_ns, 0, then);
        if (shares(r)) process->nap = (ticks)(total_ns - compute_ns) << FRACTION;
    }
    process->then = then;
}

static void call_waiter(struct reference *r, struct process *process) {
    const struct dag_ask *ask = ask_of(r, process->ask);
    bool fair = is_fair(r, process->ask), waited = ask->asked != DAG_NONE && !ask->given_up;
    process->for_ever = false;
    if (fair) {
        leave_list(r, process);
        take_resource(r, process, process->ask);
    } else {
        process->called = true;
        process->called_since = r->now;
        of_ask(r, process->ask)->promised += ask->units;
    }
    int64_t waking_ns = ask->waking_ns;
    if (!fair && !ask->called_off && is_waking(r, process))
        waking_ns -= (int64_t)((process->called_since - process->woken_since) >> FRACTION);
    wake_up_for(r, process, waited ? waking_ns : r->costs->granted_ns[ask->resource], fair ? THEN_HAVE : THEN_LOOK);
}

static void serve(struct reference *r, struct resource *resource) {
    for (uint32_t i = 0; i < resource->listed;) {
        struct process *process = &r->processes[resource->list[i]];
        bool enough = resource->available - resource->unknown - resource->promised >= ask_of(r, process->ask)->units;
        if (!process->called && !enough) return;
        if (!process->called && !process->in_vain) call_waiter(r, process);
        if (i < resource->listed && resource->list[i] == index_of(r, process)) i++;
    }
}

static void release(struct reference *r, const struct process *process, uint32_t ask) {
    bool gives = ask_of(r, ask)->got == DAG_NONE && ask_of(r, ask)->had_at == DAG_NONE;
    if (ask_of(r, ask)->units == 0 || r->edit->unlocked[ask_of(r, ask)->resource]) return;
    for (uint32_t i = 0; i < r->holding_count && !gives; i++) {
        gives = r->holdings[i].process == index_of(r, process) && r->holdings[i].ask == ask;
        if (gives) r->holdings[i] = r->holdings[--r->holding_count];
    }
    if (!gives) return;
    of_ask(r, ask)->available += ask_of(r, ask)->units;
    serve(r, of_ask(r, ask));
}

static void time_is_up(struct reference *r, struct process *process) {
    const struct dag_ask *ask = ask_of(r, process->ask);
    if (process->asks) leave_list(r, process);
    int64_t takes_ns = r->dag->wakeup_ns;
    if (ask->given_up) takes_ns = recorded(r, ask->got) - recorded(r, ask->asked) - ask->limit_ns;
    wake_up_for(r, process, takes_ns, THEN_GIVE_UP);
    serve(r, of_ask(r, process->ask));
}

static void have(struct reference *r, struct process *process) {
    r->run->changed |= ask_of(r, process->ask)->given_up;
    happen(r, process, process->vertex);
}

static void look(struct reference *r, struct process *process) {
    process->called = false;
    of_ask(r, process->ask)->promised -= ask_of(r, process->ask)->units;
    leave_list(r, process);
    if (is_enough(r, process, process->ask)) {
        take_resource(r, process, process->ask);
        have(r, process);
        return;
    }
    enter_list(r, process);
    if (process->time_up >= 0 && process->time_up <= r->now) time_is_up(r, process);
}

static int64_t kept_by_unknown(const struct reference *r, uint32_t ask) {
    const struct dag_resource *of = &r->dag->resources[ask_of(r, ask)->resource];
    bool lock = of->kind == RESOURCE_LOCK || of->kind == RESOURCE_MONITOR || of->kind == RESOURCE_READ_WRITE_LOCK;
    return lock || of->capacity == 1 ? ask_of(r, ask)->units : 0;
}

// Something unknown has given it up, or the process gives up before that.
static void learn(struct reference *r, struct process *process) {
    struct resource *resource = of_ask(r, process->ask);
    bool late = ask_of(r, process->ask)->given_up && process->time_up <= r->now;
    int64_t place = is_fair(r, process->ask) ? now_ns(r) : recorded(r, ask_of(r, process->ask)->got);
    resource->unknown -= kept_by_unknown(r, process->ask);
    bool first = !resource->listed || place <= r->processes[resource->list[0]].place;
    const struct dag_ask *ask = ask_of(r, process->ask);
    bool whole = ask->unknown_ns == recorded(r, ask->got) - recorded(r, ask->asked);
    bool enough = whole ? resource->available >= ask->units : has_at_once(r, process, process->ask);
    bool gets = !late && first && enough;
    if (gets) take_resource(r, process, process->ask);
    if (!gets && !late) enter_list(r, process);
    if (late) time_is_up(r, process);
    serve(r, resource);
    if (gets) have(r, process);
}

// Comes to have it at a vertex.
static void ask_for(struct reference *r, struct process *process, uint32_t index, uint32_t vertex) {
    const struct dag_ask *ask = ask_of(r, index);
    bool has_donor = r->has_donor && r->has_donor[index], limited = ask->given_up || has_donor;
    process->ask = index;
    process->woken_since = -1;
    process->vertex = vertex;
    process->time_up = -1;
    if (limited && ask->limit_ns != INT64_MAX) process->time_up = r->now + ((ticks)ask->limit_ns << FRACTION);
    if (ask->given_up && !has_donor) {
        enter_list(r, process);
        process->in_vain = true;
    } else if (ask->asked != DAG_NONE && ask->unknown_ns > 0 && !is_free(r, process, index)) {
        int64_t takes_ns = ask->unknown_ns - (shares(r) ? ask->unknown_ready_ns : 0);
        if (ask->given_up && ask->limit_ns < takes_ns) takes_ns = ask->limit_ns;
        of_ask(r, index)->unknown += kept_by_unknown(r, index);
        delay(r, process, 0, takes_ns, THEN_KNOWN);
    } else if (has_at_once(r, process, index)) {
        take_resource(r, process, index);
        if (ask->asked != DAG_NONE)
            delay(r, process, 0, 0, THEN_HAVE);
        else
            have(r, process);
    } else {
        enter_list(r, process);
    }
}

// What its thread had there already, though its taking is not told.
static void have_before(struct reference *r, struct process *process, uint32_t v) {
    for (uint32_t i = 0; i < r->dag->ask_count; i++) {
        if (ask_of(r, i)->had_at == v && is_enough(r, process, i)) take_resource(r, process, i);
    }
}

// Comes to a vertex.
static void come_to(struct reference *r, struct process *process, uint32_t v) {
    uint32_t index = r->dag->vertices.task[v];
    have_before(r, process, v);
    if (!is_told(r, v)) {
        happen(r, process, v);
        return;
    }
    switch (r->dag->vertices.kind[v]) {
    case VERTEX_HELD:
        ask_for(r, process, index, v);
        break;
    case VERTEX_ACQUIRE:
        happen(r, process, v);
        if (ask_of(r, index)->got != DAG_NONE) ask_for(r, process, index, ask_of(r, index)->got);
        break;
    default:
        happen(r, process, v);
        if (r->dag->vertices.kind[v] == VERTEX_RELEASED) release(r, process, index);
    }
}

// ---- spawns

static void begin_caller(struct reference *r, struct process *process) {
    struct frame *frame = top(process);
    frame->bracket = process->job.task;
    push_job(r, process, process->job, process->as_recorded ? AFTER_CALLER : AFTER_CALLER_MEAN);
}

// What would be a stage of its pool's, but has no place there, is the spawner's.
static void begin_staged_caller(struct reference *r, struct process *process, uint32_t task) {
    struct frame inner = body(r, task, AFTER_BRACKET);
    inner.staged = true;
    r->pools[task_of(r, task)->pool].unfinished--;
    r->run->time_ns[task_of(r, task)->spawn_begin] = DAG_ABSENT;
    r->left[task] = true;
    process->then = THEN_NOTHING;
    push(process, inner);
}

static void hand_over(struct reference *r, struct process *process, struct job job) {
    enum dispatch dispatch = offer(r, process, job);
    if (dispatch == DISPATCH_CALLER && r->edit->staged[job.task]) {
        begin_staged_caller(r, process, job.task);
        return;
    }
    bool own = as_recorded(r, job, dispatch);
    struct frame *frame = top(process);
    frame->bracket = job.task;
    process->job = job;
    process->as_recorded = own && r->edit->parts[job.task] == 0;
    if (dispatch == DISPATCH_CALLER) {
        int64_t pickup_ns = own ? own_pickup_ns(r, job.task) : new_pickup_ns(r, job, dispatch);
        delay(r, process, pickup_ns, 0, THEN_CALLER);
        uint32_t start = task_of(r, job.task)->start;
        if (process->as_recorded) delay_by_residual(r, process, start, r->residual[start].more_ns);
    } else if (!process->as_recorded) {
        const struct dag_task *task = task_of(r, job.task);
        int64_t own_ns = recorded(r, task->spawn_end) - recorded(r, task->spawn_begin), compute_ns = 0;
        for (uint32_t v = task->spawn_begin + 1; v <= task->spawn_end; v++) compute_ns += computed(r, v);
        if (own)
            delay(r, process, compute_ns, own_ns - compute_ns, THEN_BRACKET_END);
        else
            delay(r, process, new_bracket_ns(r, job, dispatch), 0, THEN_BRACKET_END);
    } else {
        process->then = THEN_NOTHING; // on through the bracket as recorded
    }
}

static void spawn(struct reference *r, struct process *process, uint32_t v) {
    uint32_t index = r->dag->vertices.task[v];
    const struct dag_task *task = task_of(r, index);
    process->then = THEN_NOTHING;
    if (r->edit->inlined[index] || r->edit->staged[index] == FIRST_STAGE_ON_SPAWNER) {
        struct frame inner = body(r, index, AFTER_BRACKET);
        inner.staged = r->edit->staged[index];
        push(process, inner);
    } else if (is_merged(r, index) && !ends_group(r, index)) {
        jump(r, top(process), task->spawn_end);
    } else {
        happen(r, process, v);
        if (task->dispatch == DISPATCH_THREAD) begin_thread(r, index);
        r->parts_left[index] = r->edit->parts[index];
        if (is_governed(r, index)) hand_over(r, process, (struct job){index, r->edit->parts[index] ? 0 : -1});
    }
}

// The end of a bracket that costs a mean: of the last part, or the next part's begins.
static void end_bracket(struct reference *r, struct process *process) {
    struct job job = process->job;
    process->then = THEN_NOTHING;
    if (job.part >= 0 && (uint32_t)job.part + 1 < r->edit->parts[job.task]) {
        hand_over(r, process, (struct job){job.task, job.part + 1});
        return;
    }
    happen(r, process, task_of(r, job.task)->spawn_end);
}

// ---- going on

static void leave_stage(struct reference *r, struct process *process, uint32_t wait_end) {
    struct stage *stage = &r->stages[r->stage_count++];
    const struct frame frame = *top(process);
    *stage = (struct stage){.frame = frame, .awaits = r->dag->vertices.task[wait_end]};
    stage->frame.resumes = wait_end;
    stage->frame.after = AFTER_NOTHING;
    stage->frame.ends_job = false;
    process->depth--;
    if (frame.after == AFTER_BRACKET) jump(r, top(process), task_of(r, frame.task)->spawn_end);
    if (frame.after == AFTER_HELP) process->stolen_from = frame.stolen_from;
    if (!frame.ends_job) return;
    r->left[frame.task] = true;
    finish_job(r, process, frame.job);
}

static void leave_frame(struct reference *r, struct process *process) {
    struct frame frame = *top(process);
    process->depth--;
    switch (frame.after) {
    case AFTER_NOTHING:
        break;
    case AFTER_HELP:
        process->stolen_from = frame.stolen_from;
        break;
    case AFTER_BRACKET:
        jump(r, top(process), task_of(r, frame.task)->spawn_end);
        break;
    case AFTER_CALLER:
        jump(r, top(process), task_of(r, frame.task)->tail);
        break;
    case AFTER_CALLER_MEAN:
        process->job = frame.job;
        delay(r, process,
              as_recorded(r, frame.job, DISPATCH_CALLER) ? r->costs->bracket_ns[frame.task]
                                                         : mean_bracket_ns(r, frame.task, DISPATCH_CALLER),
              0, THEN_BRACKET_END);
    }
    if (frame.ends_job) finish_job(r, process, frame.job);
}

static int64_t slept_in(const struct reference *r, const struct dag_task *task) {
    int64_t slept_ns = 0;
    for (uint32_t v = task->start + 1; r->dag->vertices.compute_ns && v <= task->end; v++) {
        const int64_t before_ns = recorded(r, v - 1), own_ns = recorded(r, v) - before_ns - queued(r, v);
        const int64_t rest_ns = own_ns - paused_on_edge(r, v, before_ns) - computed(r, v);
        slept_ns += rest_ns > 0 ? rest_ns : 0;
    }
    return slept_ns;
}

static bool tells_of_site(const struct dag_task *task, uint32_t site) {
    return task->site == site && task->start != DAG_NONE && !(task->flags & (TASK_UNFINISHED | TASK_NESTED));
}

// No part spares what its task slept, as far as a quarter of its site's tasks slept as long; the rest was luck.
static int64_t sleep_of_each_part(const struct reference *r, const struct dag_task *task) {
    const int64_t own_ns = slept_in(r, task);
    int64_t most_ns = 0;
    uint32_t all = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) all += tells_of_site(task_of(r, t), task->site);
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        if (!tells_of_site(task_of(r, t), task->site)) continue;
        const int64_t ns = slept_in(r, task_of(r, t));
        uint32_t less = 0;
        for (uint32_t other = 0; other < r->dag->task_count; other++)
            less += tells_of_site(task_of(r, other), task->site) && slept_in(r, task_of(r, other)) < ns;
        if (less <= 3 * all / 4 && ns > most_ns) most_ns = ns;
    }
    return own_ns < most_ns ? own_ns : most_ns;
}

static int64_t equal_share(int64_t total_ns, int64_t part, int64_t parts) {
    return total_ns * (part + 1) / parts - total_ns * part / parts;
}

static void do_part(struct reference *r, struct process *process) {
    const struct frame *frame = top(process);
    const struct dag_task *task = task_of(r, frame->task);
    const int64_t parts = r->edit->parts[frame->task], part = frame->part, slept_ns = slept_in(r, task);
    const int64_t each_ns = sleep_of_each_part(r, task);
    int64_t compute_ns = 0;
    for (uint32_t v = task->start + 1; v <= task->end; v++) compute_ns += computed(r, v);
    const int64_t moves_ns = shares(r) ? compute_ns : recorded(r, task->end) - recorded(r, task->start) - slept_ns;
    const int64_t share_ns =
        each_ns + equal_share(moves_ns, part, parts) + equal_share(slept_ns - each_ns, part, parts);
    const int64_t computes_ns = equal_share(compute_ns, part, parts);
    r->run->parts = must(realloc(r->run->parts, (r->run->part_count + 1) * sizeof *r->run->parts));
    r->run->parts[r->run->part_count] = (struct reference_part){frame->task, now_ns(r), 0};
    process->vertex = r->run->part_count++;
    delay(r, process, computes_ns, share_ns - computes_ns, THEN_PART_END);
}

// The next vertex of a frame. Bodies of other tasks are passed over.
static uint32_t next_vertex(struct reference *r, struct frame *frame) {
    uint32_t v = frame->at + 1;
    while (v <= frame->last && r->dag->vertices.kind[v] == VERTEX_START) {
        const struct dag_task *other = task_of(r, r->dag->vertices.task[v]);
        if (!was_helped(r, r->dag->vertices.task[v])) { // what looking for it took, is not the waiter's
            frame->lead_ns += recorded(r, v) - frame->since_ns;
            frame->lead_compute_ns += computed(r, v);
        }
        frame->since_ns = recorded(r, other->tail);
        v = other->tail + 1;
    }
    return v;
}

// Whether a task's result was there before a wait for it began, by more than the wait took beside what it was then.
static bool finds_result(const struct reference *r, uint32_t wait_end) {
    uint32_t task = r->dag->vertices.task[wait_end], cause = r->dag->vertices.cause[wait_end];
    if (task == DAG_NONE || r->dag->vertices.kind[wait_end - 1] != VERTEX_WAIT_BEGIN) return false;
    int64_t before_ns = now_ns(r) - r->known_ns[task];
    int64_t then_ns = recorded(r, wait_end - 1) - recorded(r, cause);
    return before_ns >= 0 && before_ns - then_ns > recorded(r, wait_end) - recorded(r, wait_end - 1);
}

static void plan_wait_end(struct reference *r, struct process *process, uint32_t v) {
    struct frame *frame = top(process);
    if (!wait_is_over(r, v)) {
        if (frame->staged) {
            leave_stage(r, process, v);
        } else {
            uint32_t pool = pool_to_help(r, process, v);
            if (pool && help(r, process, v, pool)) return;
            if (pool) block(r, process, v, pool);
            process->waits = true;
            process->vertex = v;
            process->then = THEN_VERTEX; // once it is woken
        }
    } else if (frame->staged) {
        happen(r, process, v);
    } else if (finds_result(r, v)) {
        process->vertex = v;
        delay(r, process, 0, 0, THEN_VERTEX);
    } else if (recorded_cause_ns(r, v) > frame->since_ns) { // slept when recorded, and no longer has to
        process->vertex = v;
        delay(r, process, frame->lead_compute_ns, frame->lead_ns - frame->lead_compute_ns, THEN_VERTEX);
    } else {
        delay_edge(r, process, v, THEN_VERTEX);
    }
}

static bool ends_helped_body(const struct reference *r, uint32_t v) {
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        if (was_helped(r, t) && task_of(r, t)->start != DAG_NONE && task_of(r, t)->tail == v) return true;
    }
    return false;
}

// What a waiter did behind tasks that it helped with, but in its wait, it does when it finds no more to help with.
static bool helps_before(struct reference *r, struct process *process, uint32_t v) {
    const struct dag_vertices *vertices = &r->dag->vertices;
    uint32_t end = v, last = top(process)->last;
    if (vertices->kind[v] == VERTEX_WAIT_END || !ends_helped_body(r, v - 1)) return false;
    while (end < last && vertices->kind[end] != VERTEX_WAIT_END) {
        end = vertices->kind[end] == VERTEX_START ? task_of(r, vertices->task[end])->tail + 1 : end + 1;
    }
    if (end > last || vertices->kind[end] != VERTEX_WAIT_END || vertices->cause[end] == DAG_NONE) return false;
    uint32_t pool = wait_is_over(r, end) ? 0 : pool_to_help(r, process, end);
    return pool && help(r, process, end, pool);
}

// What the process does next, until that takes time.
static void plan(struct reference *r, struct process *process) {
    while (process->then == THEN_NOTHING && process->depth) {
        struct frame *frame = top(process);
        if (frame->part >= 0) {
            do_part(r, process);
        } else if (frame->resumes != DAG_NONE) {
            uint32_t v = frame->resumes;
            frame->resumes = DAG_NONE;
            happen(r, process, v);
        } else if (frame->at == DAG_NONE) {
            happen(r, process, task_of(r, frame->task)->start);
        } else if (frame->at == frame->last) {
            leave_frame(r, process);
        } else {
            uint32_t v = next_vertex(r, frame), kind = r->dag->vertices.kind[v];
            if (helps_before(r, process, v)) continue;
            if (kind == VERTEX_SPAWN_BEGIN && r->dag->vertices.task[v] != DAG_NONE)
                delay_edge(r, process, v, THEN_SPAWN);
            else if (kind == VERTEX_WAIT_END && r->dag->vertices.cause[v] != DAG_NONE)
                plan_wait_end(r, process, v);
            else
                delay_edge(r, process, v, THEN_VERTEX);
        }
    }
    if (process->then == THEN_NOTHING && process->made && !process->idle && !process->gone) come_free(r, process);
}

// A worker that was called for takes what it finds.
static void arrive(struct reference *r, struct process *worker) {
    struct job job;
    if (!steals(r, worker->pool) && take_for(r, worker, &job)) {
        worker->job = job;
        delay(r, worker, 0, 0, THEN_BEGIN);
        int64_t compute_ns;
        if (as_recorded(r, job, DISPATCH_WOKEN) && job.part < 0)
            delay_by_residual(r, worker, task_of(r, job.task)->start, residual_of_pickup_ns(r, job.task, &compute_ns));
        return;
    }
    if (steals(r, worker->pool) && take_any(r, worker, &job)) {
        push_job(r, worker, job, AFTER_NOTHING);
        return;
    }
    if (worker->comes_new) worker->idle_since = r->now;
    go_idle(r, worker);
    wake_waiters(r); // of the pool's end
}

static bool leaves_now(const struct reference *r, const struct process *process) {
    return process->idle && process->leaves >= 0 && process->leaves <= r->now;
}

// Whether anything but idling goes on, or will.
static bool goes_on(const struct reference *r) {
    for (uint32_t i = 0; i < r->process_count; i++) {
        const struct process *process = &r->processes[i];
        if (process->then != THEN_NOTHING || process->waits || process->for_ever) return true;
    }
    return false;
}

static bool did_all_retire(const struct reference *r, uint32_t pool) {
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        const struct dag_thread *thread = &r->dag->threads[i];
        bool retired = false;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++)
            retired |= r->dag->vertices.kind[v] == VERTEX_RETIRE;
        if (thread->worker && thread->pool == pool && !retired) return false;
    }
    return true;
}

// A worker that has idled for as long as it may, leaves, or else stays for good.
static void idle_out(struct reference *r, struct process *worker) {
    struct pool *pool = &r->pools[worker->pool];
    worker->leaves = -1;
    note_closeness(r, pool->touched);
    touch(r, worker->pool);
    bool over = !goes_on(r) && !did_all_retire(r, worker->pool);
    if (over || outlasts_idling(r, worker->pool)) return;
    pool->left = r->now;
    worker->idle = false;
    worker->gone = true;
    pool->workers--;
    r->run->idled_out++;
}

static void end_delay(struct reference *r, struct process *process) {
    enum then then = process->then;
    process->then = THEN_NOTHING;
    switch (then) {
    case THEN_VERTEX:
        come_to(r, process, process->vertex);
        break;
    case THEN_SPAWN:
        spawn(r, process, process->vertex);
        break;
    case THEN_BEGIN:
        push_job(r, process, process->job, AFTER_NOTHING);
        break;
    case THEN_BRACKET_END:
        end_bracket(r, process);
        break;
    case THEN_CALLER:
        begin_caller(r, process);
        break;
    case THEN_HELP: {
        uint32_t stolen_from = process->vertex, below = process->depth;
        push_job(r, process, process->job, AFTER_HELP);
        process->frames[below].stolen_from = stolen_from;
        break;
    }
    case THEN_ARRIVE:
        arrive(r, process);
        break;
    case THEN_PART_END:
        r->run->parts[process->vertex].end_ns = now_ns(r);
        leave_frame(r, process);
        break;
    case THEN_HAVE:
        have(r, process);
        break;
    case THEN_LOOK:
        look(r, process);
        break;
    case THEN_TIME_UP:
        time_is_up(r, process);
        break;
    case THEN_GIVE_UP:
        r->run->changed |= !ask_of(r, process->ask)->given_up;
        happen(r, process, process->vertex);
        break;
    case THEN_KNOWN:
        learn(r, process);
        break;
    case THEN_NOTHING:
        break;
    }
    plan(r, process);
}

// ---- time

static bool is_busy(const struct process *process) {
    return process->then != THEN_NOTHING && !process->waits && !process->for_ever;
}

// Whether it has yet to meet its residual, which no process does in a pause.
static bool is_held(const struct reference *r, const struct process *process) {
    return r->pause_left > 0 && process->edge != DAG_NONE && (process->computes > 0 || process->more_ns > 0);
}

static bool is_due(const struct reference *r, const struct process *process) {
    return is_busy(process) && !is_held(r, process) && process->nap == 0 && process->compute == 0 &&
           process->sleep == 0;
}

static bool is_computing(const struct process *process) {
    return is_busy(process) && process->nap == 0 && process->compute > 0;
}

// When the stretch up to a sample is over, whatever has been computed.
static ticks stretch_over(const struct reference *r, uint32_t s) {
    double cores = r->dag->trace->header.cores, over_ns = (double)r->dag->samples[s].time_ns;
    for (uint32_t i = 0; i < r->dag->pause_count; i++) {
        const struct dag_pause *pause = &r->dag->pauses[i];
        if (pause->end_ns < r->dag->samples[s].time_ns) over_ns -= (double)(pause->end_ns - pause->begin_ns);
    }
    if (r->model->cores > 0 && r->model->cores < cores) over_ns *= cores / r->model->cores;
    return (ticks)(over_ns * (1 << FRACTION));
}

// The sample that ends the stretch at hand, DAG_NONE behind the last.
static uint32_t stretch(const struct reference *r) {
    for (uint32_t s = 0; s < r->dag->sample_count; s++) {
        if (r->stretch_ends[s] > r->work && stretch_over(r, s) > r->now - r->paused) return s;
    }
    return DAG_NONE;
}

// Cores that others leave, in units of 1 / 2^20 core: as many as there were then, or the same part of fewer.
static int64_t room(const struct reference *r) {
    double recorded_cores = r->dag->trace->header.cores, cores = r->model->cores > 0 ? r->model->cores : recorded_cores;
    double taken = stretch(r) == DAG_NONE ? 0 : r->taken[stretch(r)];
    if (cores < recorded_cores) taken *= cores / recorded_cores;
    return (int64_t)((cores - taken) * (1 << 20) + 0.5);
}

// All cores, and those that compute and others' threads, among which none gets more than another, in the same units.
static int64_t fair_of(const struct reference *r, uint32_t computing, int64_t *of) {
    const double cores = r->model->cores > 0 ? r->model->cores : r->dag->trace->header.cores;
    const double threads = stretch(r) == DAG_NONE ? 0 : r->threads[stretch(r)];
    *of = threads < 1 << 20 ? (int64_t)((computing + threads) * (1 << 20) + 0.5) : INT64_MAX >> 20;
    return threads < 1 << 20 ? (int64_t)(cores * (1 << 20) + 0.5) : 0;
}

// Of n that compute each gets min(1, room / n), or what is fair if that is more.
static int64_t share_of(const struct reference *r, uint32_t computing, int64_t *of) {
    int64_t parts = room(r), fair_parts_of, fair = fair_of(r, computing, &fair_parts_of);
    *of = (int64_t)computing << 20;
    if (parts > *of || (parts == 0 && fair == 0)) return *of;
    if ((double)fair / (double)fair_parts_of <= (double)parts / (double)*of) return parts;
    *of = fair_parts_of;
    return fair > *of ? *of : fair;
}

static ticks up(ticks numerator, ticks denominator) {
    return (numerator + denominator - 1) / denominator;
}

static uint32_t count_computing(const struct reference *r) {
    uint32_t computing = 0;
    for (uint32_t i = 0; i < r->process_count; i++) computing += is_computing(&r->processes[i]);
    return computing;
}

// Processes that compute, or would if they had not been lucky: after a pause several may meet their residuals at once.
static uint32_t count_sharing(const struct reference *r, const struct process *but) {
    uint32_t sharing = 0;
    for (uint32_t i = 0; i < r->process_count; i++) {
        const struct process *process = &r->processes[i];
        bool meets = is_busy(process) && process->nap == 0 && process->awake == 0 && process->edge != DAG_NONE &&
                     (process->computes > 0 || process->more_ns > 0);
        sharing += process != but && (is_computing(process) || meets);
    }
    return sharing;
}

// Until the next stretch begins, -1 if there is none, where each of so many gets share / of of a core.
static ticks until_stretch(const struct reference *r, uint32_t computing, int64_t share, int64_t of) {
    uint32_t s = stretch(r);
    if (s == DAG_NONE || computing == 0) return -1;
    ticks by_work = up((r->stretch_ends[s] - r->work) * of, (ticks)share * computing);
    ticks by_time = stretch_over(r, s) - (r->now - r->paused);
    return by_work < by_time ? by_work : by_time;
}

// Until the next pause comes, or the one at hand is over; -1: never. It does not come before what was computed just
// before it is over (8 ns of rounding), and while no process computes at once, as then.
static ticks until_pause(const struct reference *r, uint32_t computing, int64_t share, int64_t of) {
    const ticks slack = (ticks)8 << FRACTION;
    if (r->pause_left > 0) return r->pause_left;
    if (r->next_pause == r->dag->pause_count) return -1;
    ticks left = r->pause_comes[r->next_pause] - r->work;
    if (computing == 0) return left <= slack ? 0 : -1;
    left += slack;
    return left > 0 ? up(left * of, (ticks)share * computing) : 0;
}

// Whether it is not handed over any more, though it was, and then it was between a pause and the one before.
static bool goes_from(const struct reference *r, uint32_t t, uint32_t pause) {
    const struct dag_task *task = &r->dag->tasks[t];
    const bool handed_over = task->spawn_begin != DAG_NONE && task->spawn_end != task->spawn_begin &&
                             task->start != DAG_NONE && !(task->flags & (TASK_NESTED | TASK_OF_ACTOR));
    if (!handed_over || !(r->edit->inlined[t] || (is_merged(r, t) && r->edit->merged_next[t] != t))) return false;
    const int64_t spawned_ns = recorded(r, task->spawn_begin);
    const bool earlier = pause > 0 && spawned_ns < r->dag->pauses[pause - 1].begin_ns;
    return !earlier && spawned_ns < r->dag->pauses[pause].begin_ns;
}

// What of all that was allocated since the pause before is still allocated.
static double garbage_left_of(const struct reference *r, uint32_t pause) {
    const double allocated_bytes = (double)r->dag->pauses[pause].allocated_bytes;
    double gone_bytes = 0;
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        if (!goes_from(r, t, pause)) continue;
        const struct dag_task *task = &r->dag->tasks[t];
        const bool future = task->result != DAG_NONE && r->dag->vertices.kind[task->result] == VERTEX_RESULT;
        const bool fork_join = r->dag->pools[task->pool].discipline == DISCIPLINE_STEALING;
        gone_bytes += future && !fork_join ? 96 : 48;
    }
    if (allocated_bytes == 0) return 1;
    return gone_bytes < allocated_bytes ? 1 - gone_bytes / allocated_bytes : 0;
}

static void begin_pause(struct reference *r) {
    const struct dag_pause *pause = &r->dag->pauses[r->next_pause];
    const double length_ns = (double)(pause->end_ns - pause->begin_ns);
    r->pause_left = (ticks)(garbage_left_of(r, r->next_pause++) * length_ns + 0.5) << FRACTION;
}

// false: nothing will ever happen again.
static bool pass_time(struct reference *r) {
    uint32_t computing = count_computing(r);
    int64_t of, share = share_of(r, computing, &of);
    ticks step = until_pause(r, computing, share, of), stretch_step = until_stretch(r, computing, share, of);
    const bool paused = r->pause_left > 0, comes = !paused && step >= 0;
    if (comes && step == 0) {
        begin_pause(r);
        return true;
    }
    if (!paused && stretch_step >= 0 && (step < 0 || stretch_step < step)) step = stretch_step;
    for (uint32_t i = 0; i < r->process_count; i++) {
        const struct process *process = &r->processes[i];
        if (process->idle && process->leaves >= 0 && (step < 0 || process->leaves - r->now < step))
            step = process->leaves > r->now ? process->leaves - r->now : 0;
        if (!is_busy(process)) continue;
        ticks needs = process->nap > 0 ? process->nap : process->sleep;
        if (process->nap == 0 && (is_computing(process) || is_held(r, process)) && paused) continue;
        if (is_computing(process)) needs = up(process->compute * of, share);
        if (step < 0 || needs < step) step = needs;
    }
    if (step < 0) return false;
    r->now += step;
    if (computing && !paused) r->work += step * share * computing / of;
    for (uint32_t i = 0; i < r->process_count; i++) {
        struct process *process = &r->processes[i];
        if (!is_busy(process)) continue;
        if (process->nap > 0) {
            process->nap -= step;
        } else if (process->compute > 0 && !paused) {
            ticks done = step * share / of;
            // An end that is nearer than a tick of rounding is at hand.
            process->compute = done + 1 >= process->compute ? 0 : process->compute - done;
            process->awake += step;
        } else if (process->compute == 0 && !is_held(r, process)) {
            process->sleep -= step;
        }
    }
    if (paused) {
        r->pause_left -= step;
        r->paused += step;
    }
    return true;
}

// The process has computed for as long as it does whether its residual was good or bad. It comes back as far as it had
// to do without as much of a core as it had to when the recording was replayed; but nobody computes in no time.
static void meet_residual(struct reference *r, struct process *process) {
    struct residual *residual = &r->residual[process->edge];
    ticks least = process->computes + (ticks)process->more_ns * ((ticks)1 << FRACTION);
    if (process->more_ns > 0) least = process->computes;
    if (least < 0) least = 0;
    int64_t of, share = share_of(r, count_sharing(r, process) + 1, &of);
    double slowdown = 1 - (double)share / (double)of;
    if (process->awake > 0) slowdown = 1 - (double)least / (double)process->awake;
    if (slowdown < 0) slowdown = 0;
    if (r->calibrating) residual->slowdown = slowdown;
    double part = residual->slowdown > slowdown ? slowdown / residual->slowdown : 1;
    ticks more = (ticks)process->more_ns * ((ticks)1 << FRACTION);
    ticks left = more > 0 ? (ticks)(part * (double)more) : (ticks)((1 - part) * (double)(process->computes - least));
    process->edge = DAG_NONE;
    process->compute = left >> FRACTION ? left : 0;
}

// Who slept until something was done for the first time, sleeps until it is, if that began before.
static void end_first_use(const struct reference *r, struct process *process) {
    for (uint32_t i = 0; process->held_up != DAG_NONE && i < r->costs->first_uses.count; i++) {
        const struct first_use *first_use = &r->costs->first_uses.items[i];
        int64_t first_ns = r->run->time_ns[task_of(r, first_use->first)->start];
        if (first_use->vertex != process->held_up || first_ns == DAG_ABSENT || first_ns > now_ns(r)) continue;
        int64_t held_ns = first_ns + first_use->until_ns - process->since_ns, spared_ns = first_use->held_ns;
        if (held_ns > 0) spared_ns -= held_ns;
        ticks spared = spared_ns > 0 ? (ticks)spared_ns << FRACTION : 0;
        process->sleep = spared < process->sleep ? process->sleep - spared : 0;
    }
    process->held_up = DAG_NONE;
}

// What is done that would take no time.
static void settle(struct reference *r) {
    for (uint32_t i = 0; i < r->process_count; i++) {
        struct process *process = &r->processes[i];
        if (!is_busy(process) || is_held(r, process) || process->nap > 0 || process->compute > 0) continue;
        if (process->edge != DAG_NONE) meet_residual(r, process);
        if (process->compute == 0 && process->held_up != DAG_NONE) end_first_use(r, process);
        if (process->compute > 0 || process->awake >= process->computes) continue;
        process->sleep += process->computes - process->awake;
        process->awake = process->computes;
    }
}

static void play(struct reference *r) {
    do {
        settle(r);
        for (uint32_t i = 0; i < r->process_count; i++) {
            if (leaves_now(r, &r->processes[i])) {
                idle_out(r, &r->processes[i]);
                continue;
            }
            if (!is_due(r, &r->processes[i])) continue;
            while (is_due(r, &r->processes[i])) {
                end_delay(r, &r->processes[i]);
                settle(r); // what it does next may have residual to meet
            }
            i = UINT32_MAX; // what it did may have made an earlier one due
        }
    } while (!r->run->changed && pass_time(r));
}

// ---- the beginning and the end

static void find_pools(struct reference *r) {
    const struct dag *dag = r->dag;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        if (dag->threads[i].stream == DAG_NONE) continue;
        struct trace_cursor cursor;
        struct event event;
        struct error error = ERROR_INIT;
        uint32_t v = dag->threads[i].first, end = v + dag->threads[i].count;
        trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[dag->threads[i].stream]);
        for (uint64_t ordinal = 0; trace_cursor_next(&cursor, &event, &error); ordinal++) {
            for (; v < end && dag->vertices.event[v] == ordinal; v++) {
                if (event.kind == EVENT_POOL_SHUTDOWN || event.kind == EVENT_WAIT_END) {
                    r->pool_of[v] = (uint32_t)event.operand[0];
                }
            }
        }
    }
}

static void find_ends_of_pools(struct reference *r) {
    const struct dag *dag = r->dag;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        if (dag->vertices.kind[v] == VERTEX_SHUTDOWN) r->over_ns[r->pool_of[v]] = recorded(r, v);
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!is_governed(r, t)) continue;
        int64_t tail_ns = recorded(r, dag->tasks[t].tail), *over_ns = &r->over_ns[dag->tasks[t].pool];
        if (tail_ns > *over_ns) *over_ns = tail_ns;
    }
}

static void open_pools(struct reference *r) {
    for (uint32_t p = 1; p < r->dag->pool_count; p++) {
        const struct dag_pool *rules = &r->dag->pools[p];
        int64_t size = r->edit->pool_threads[p];
        r->pools[p].core = size ? size : rules->core;
        if (rules->grows_first && rules->core < size) r->pools[p].core = rules->core;
        r->pools[p].maximum = size ? size : rules->maximum;
        bool gets_queue = size && rules->discipline == DISCIPLINE_HAND_OFF;
        r->pools[p].touched = r->pools[p].left = -1;
        r->pools[p].capacity = gets_queue ? INT64_MAX : rules->capacity;
        r->pools[p].queue = must(malloc(((size_t)r->dag->task_count * PARTS_MAX + 1) * sizeof(struct job)));
    }
}

static void open_resources(struct reference *r) {
    for (uint32_t i = 0; i < r->dag->resource_count; i++) {
        const struct dag_resource *resource = &r->dag->resources[i];
        int64_t units = r->edit->resource_units[i];
        r->resources[i].available = resource->initial + (units ? units - resource->capacity : 0);
        r->resources[i].list = must(malloc(((size_t)r->process_capacity + 1) * sizeof(uint32_t)));
    }
}

static void begin_unspawned(struct reference *r) {
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        const struct dag_thread *thread = &r->dag->threads[i];
        bool spawned = thread->run_task != DAG_NONE && task_of(r, thread->run_task)->spawn_begin != DAG_NONE;
        if (thread->worker || thread->stream == DAG_NONE || spawned) continue;
        push(&r->processes[i], (struct frame){.task = thread->run_task,
                                              .at = DAG_NONE,
                                              .last = thread->first + thread->count - 1,
                                              .resumes = DAG_NONE,
                                              .part = -1});
        r->processes[i].vertex = thread->first;
        delay(r, &r->processes[i], 0, recorded(r, thread->first), THEN_VERTEX);
    }
}

// A thread whose spawn never came: who would have spawned it was rejected.
static bool never_began(const struct reference *r, uint32_t task) {
    const struct dag_task *t = task_of(r, task);
    bool own_thread = t->dispatch == DISPATCH_THREAD && t->start != DAG_NONE && !r->edit->inlined[task];
    own_thread &= !r->edit->staged[task] && !is_merged(r, task);
    return own_thread && r->run->time_ns[t->start] == DAG_ABSENT;
}

static bool is_stuck(const struct reference *r) {
    for (uint32_t t = 0; t < r->dag->task_count; t++) {
        if (never_began(r, t)) return true;
    }
    for (uint32_t i = 0; i < r->process_count; i++) {
        if (r->processes[i].waits || r->processes[i].for_ever) return true;
    }
    for (uint32_t p = 1; p < r->dag->pool_count; p++) {
        if (tasks_queued(r, p)) return true;
    }
    for (uint32_t i = 0; i < r->stage_count; i++) {
        if (!r->stages[i].gone) return true;
    }
    return false;
}

// ---- what the recording says of the machine

struct awake { // when an edge was
    int64_t from_ns, to_ns;
};

static const struct dag_thread *thread_of(const struct reference *r, uint32_t v) {
    uint32_t i = 0;
    while (v - r->dag->threads[i].first >= r->dag->threads[i].count) i++;
    return &r->dag->threads[i];
}

// What a worker does in no task is played as far as it is the pick-up of one that had been spawned; and of that only
// the wait for a core where the worker was made or woken.
enum played { PLAYED, PLAYED_AS_WAIT, NOT_PLAYED };

static enum played how_played(const struct reference *r, uint32_t v) {
    const struct dag_vertices *vertices = &r->dag->vertices;
    const struct dag_thread *thread = thread_of(r, v);
    uint32_t end = thread->first + thread->count, next = v;
    if (!thread->worker || thread->pool >= r->dag->pool_count) return PLAYED;
    enum discipline discipline = r->dag->pools[thread->pool].discipline;
    if (discipline == DISCIPLINE_UNKNOWN || discipline == DISCIPLINE_STEALING) return PLAYED;
    for (uint32_t s = thread->first; s < v; s++) {
        if (vertices->kind[s] == VERTEX_START && v <= task_of(r, vertices->task[s])->tail) return PLAYED;
    }
    while (next < end && vertices->kind[next] != VERTEX_START) next++;
    if (next == end) return NOT_PLAYED;
    const struct dag_task *task = task_of(r, vertices->task[next]);
    bool known = task->spawn_begin != DAG_NONE || dag_task_stands(task);
    if (known && recorded(r, v) <= dag_pickup_from_ns(r->dag, task)) return NOT_PLAYED;
    return task->dispatch == DISPATCH_NEW || task->dispatch == DISPATCH_WOKEN ? PLAYED_AS_WAIT : PLAYED;
}

static int64_t played_compute_ns(const struct reference *r, uint32_t v) {
    return how_played(r, v) == PLAYED ? computed(r, v) : 0;
}

static struct awake awake_of(const struct reference *r, uint32_t v) {
    unsigned kind = r->dag->vertices.kind[v], before = r->dag->vertices.kind[v - 1];
    int64_t length_ns = played_compute_ns(r, v) + queued(r, v);
    int64_t paused = paused_on_edge(r, v, recorded(r, v - 1));
    bool wakes = before == VERTEX_IDLE || before == VERTEX_WAIT_BEGIN || kind == VERTEX_BUSY ||
                 how_played(r, v) == PLAYED_AS_WAIT;
    struct awake awake = {recorded(r, v - 1), recorded(r, v)};
    if (!wakes && length_ns + paused < awake.to_ns - awake.from_ns) awake.to_ns = awake.from_ns + length_ns + paused;
    if (!wakes) return awake;
    if (length_ns < awake.to_ns - awake.from_ns) awake.from_ns = awake.to_ns - length_ns;
    uint32_t result = r->dag->vertices.cause[v];
    if (r->dag->vertices.rule[v] != RULE_WAIT || result == DAG_NONE || recorded(r, result) <= recorded(r, v - 1))
        return awake;
    int64_t woken_ns = recorded(r, result);
    if (woken_ns > awake.from_ns) awake.from_ns = woken_ns < awake.to_ns ? woken_ns : awake.to_ns;
    return awake;
}

// What a waiter computed, or waited for a core, before there was what it slept for, it did as it fell asleep.
static int64_t computed_awake(const struct reference *r, uint32_t v) {
    int64_t compute_ns = played_compute_ns(r, v);
    int64_t most_ns = awake_of(r, v).to_ns - awake_of(r, v).from_ns - queued(r, v);
    if (r->dag->vertices.rule[v] != RULE_WAIT || compute_ns < most_ns) return compute_ns;
    return most_ns > 0 ? most_ns : 0;
}

static bool is_edge(const struct reference *r, uint32_t v) {
    for (uint32_t i = 0; i < r->dag->thread_count; i++) {
        if (r->dag->threads[i].first == v) return false;
    }
    struct awake awake = awake_of(r, v);
    return how_played(r, v) != NOT_PLAYED && awake.to_ns > awake.from_ns && played_compute_ns(r, v) + queued(r, v) > 0;
}

static int64_t overlap_ns(struct awake a, int64_t from_ns, int64_t to_ns) {
    if (a.from_ns > from_ns) from_ns = a.from_ns;
    if (a.to_ns < to_ns) to_ns = a.to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// All times at which anything changes. Returns how many.
static size_t find_instants(const struct reference *r, const bool *edges, int64_t *instants) {
    size_t count = 0;
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        if (!edges[v]) continue;
        instants[count++] = awake_of(r, v).from_ns;
        instants[count++] = awake_of(r, v).to_ns;
    }
    for (uint32_t s = 0; s < r->dag->sample_count; s++) instants[count++] = r->dag->samples[s].time_ns;
    for (uint32_t i = 0; i < r->dag->pause_count; i++) {
        instants[count++] = r->dag->pauses[i].begin_ns;
        instants[count++] = r->dag->pauses[i].end_ns;
    }
    qsort(instants, count, sizeof *instants, by_time);
    return count;
}

static bool is_paused(const struct reference *r, int64_t from_ns, int64_t to_ns) {
    bool paused = false;
    for (uint32_t i = 0; i < r->dag->pause_count && !paused; i++)
        paused = r->dag->pauses[i].begin_ns <= from_ns && to_ns <= r->dag->pauses[i].end_ns;
    return paused;
}

// What edges could have computed between two samples with so many cores.
static double could_compute_ns(const struct reference *r, const bool *edges, const int64_t *instants, size_t count,
                               uint32_t s, double cores) {
    double sum_ns = 0;
    for (size_t i = 1; i < count; i++) {
        uint32_t awake = 0;
        if (instants[i - 1] < r->dag->samples[s - 1].time_ns || instants[i] > r->dag->samples[s].time_ns) continue;
        if (is_paused(r, instants[i - 1], instants[i])) continue;
        for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
            awake += edges[v] && overlap_ns(awake_of(r, v), instants[i - 1], instants[i]) > 0;
        }
        sum_ns += (double)(instants[i] - instants[i - 1]) * (awake < cores ? awake : cores);
    }
    return sum_ns;
}

static double awake_between_ns(const struct reference *r, const bool *edges, const int64_t *instants, size_t count,
                               uint32_t s) {
    double sum_ns = 0;
    for (size_t i = 1; i < count; i++) {
        if (instants[i - 1] < r->dag->samples[s - 1].time_ns || instants[i] > r->dag->samples[s].time_ns) continue;
        if (is_paused(r, instants[i - 1], instants[i])) continue;
        for (uint32_t v = 0; v < r->dag->vertex_count; v++)
            sum_ns += edges[v] ? (double)overlap_ns(awake_of(r, v), instants[i - 1], instants[i]) : 0;
    }
    return sum_ns;
}

// Cores that others had from the sample before until then, of those that edges can have done without while awake.
static void find_taken(struct reference *r, const bool *edges, const int64_t *instants, size_t count, uint32_t s) {
    const struct dag_sample *from = &r->dag->samples[s - 1], *to = &r->dag->samples[s];
    double length_ns = (double)(to->time_ns - from->time_ns), own_ns = 0;
    double process_ns = (double)(to->process_cpu_ns - from->process_cpu_ns);
    double busy_ns = (double)(to->machine_cpu_ns - from->machine_cpu_ns);
    if (process_ns > busy_ns) busy_ns = process_ns;
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        if (!edges[v]) continue;
        struct awake awake = awake_of(r, v);
        double share = (double)overlap_ns(awake, from->time_ns, to->time_ns) / (double)(awake.to_ns - awake.from_ns);
        own_ns += share * (double)played_compute_ns(r, v);
    }
    double cores = r->dag->trace->header.cores, few = 0, enough = 0;
    while (enough < cores && could_compute_ns(r, edges, instants, count, s, enough + 1) >
                                 could_compute_ns(r, edges, instants, count, s, enough)) {
        enough++;
    }
    for (int halving = 0; halving < 60; halving++) {
        double middle = (few + enough) / 2;
        if (could_compute_ns(r, edges, instants, count, s, middle) < 0.99 * own_ns)
            few = middle;
        else
            enough = middle;
    }
    double others = length_ns > 0 ? (busy_ns - own_ns) / length_ns : 0;
    if (others > cores - enough) others = cores - enough;
    r->taken[s] = others > 0 ? others : 0;
    r->awake_ns[s] = awake_between_ns(r, edges, instants, count, s);
    const double each = r->awake_ns[s] > 0 ? own_ns / r->awake_ns[s] : 1;
    const double machine_ns = (double)(to->machine_cpu_ns - from->machine_cpu_ns);
    const bool full = machine_ns >= 0.95 * cores * length_ns;
    r->threads[s] = full && each > 0 && each < 0.75 ? r->taken[s] / each : INFINITY;
}

// Where that was not told they are as many as elsewhere.
static void find_threads(struct reference *r) {
    double sum = 0, weight = 0;
    for (uint32_t s = 1; s < r->dag->sample_count; s++) {
        if (isinf(r->threads[s]) || r->taken[s] <= 0) continue;
        sum += r->threads[s] * r->awake_ns[s];
        weight += r->awake_ns[s];
    }
    for (uint32_t s = 1; s < r->dag->sample_count && weight > 0; s++) {
        if (isinf(r->threads[s])) r->threads[s] = sum / weight > r->taken[s] ? sum / weight : r->taken[s];
    }
}

// Between two instants nothing changes: all that are awake have an equal share.
static void share_between(struct reference *r, const bool *edges, int64_t from_ns, int64_t to_ns, ticks *service) {
    double cores = r->dag->trace->header.cores, threads = 0;
    uint32_t awake = 0;
    for (uint32_t s = r->dag->sample_count; s-- > 1;) {
        bool within = r->dag->samples[s - 1].time_ns <= from_ns && to_ns <= r->dag->samples[s].time_ns;
        if (within) cores -= r->taken[s];
        if (within) threads = r->threads[s];
    }
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        awake += edges[v] && overlap_ns(awake_of(r, v), from_ns, to_ns) > 0;
    }
    bool slowed_down = r->dag->trace->header.cores && awake > cores;
    double each = slowed_down ? cores / awake : 1, fair = r->dag->trace->header.cores / (awake + threads);
    if (slowed_down && fair > each) each = fair < 1 ? fair : 1;
    ticks got = (ticks)((double)(to_ns - from_ns) * each * (double)(1 << FRACTION));
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        if (edges[v] && overlap_ns(awake_of(r, v), from_ns, to_ns) > 0) service[v] += got;
    }
    r->work += got * awake;
}

static void find_residuals(struct reference *r) {
    size_t vertices = (size_t)r->dag->vertex_count + 1,
           most = 2 * vertices + r->dag->sample_count + 2 * r->dag->pause_count;
    bool *edges = must(calloc(vertices, sizeof *edges));
    ticks *service = must(calloc(vertices, sizeof *service));
    int64_t *instants = must(malloc(most * sizeof *instants));
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) edges[v] = is_edge(r, v);
    size_t count = find_instants(r, edges, instants);
    for (uint32_t s = 1; s < r->dag->sample_count; s++) find_taken(r, edges, instants, count, s);
    find_threads(r);
    for (size_t i = 0; i < count; i++) {
        bool passes = i > 0 && instants[i] > instants[i - 1] && !is_paused(r, instants[i - 1], instants[i]);
        if (passes) share_between(r, edges, instants[i - 1], instants[i], service);
        for (uint32_t s = 0; s < r->dag->sample_count; s++) {
            if (r->dag->samples[s].time_ns == instants[i]) r->stretch_ends[s] = r->work;
        }
        for (uint32_t p = 0; p < r->dag->pause_count; p++) {
            if (r->dag->pauses[p].begin_ns == instants[i]) r->pause_comes[p] = r->work;
        }
    }
    for (uint32_t v = 0; v < r->dag->vertex_count; v++) {
        int64_t service_ns = (int64_t)((service[v] + ((ticks)1 << (FRACTION - 1))) >> FRACTION);
        if (edges[v]) r->residual[v].more_ns = service_ns - computed_awake(r, v);
    }
    free(edges);
    free(service);
    free(instants);
}

static void simulate(const struct reference *given, const struct dag_edit *edit, const struct model *model,
                     bool calibrating, struct reference_run *run) {
    const struct dag *dag = given->dag;
    struct reference r = *given;
    *run = (struct reference_run){.time_ns = must(malloc(((size_t)dag->vertex_count + 1) * sizeof(int64_t)))};
    for (uint32_t v = 0; v < dag->vertex_count; v++) run->time_ns[v] = DAG_ABSENT;
    run->closest_ns = INT64_MAX;
    r.edit = edit;
    r.model = model;
    r.run = run;
    r.calibrating = calibrating;
    r.work = r.pause_left = r.paused = 0;
    r.next_pause = 0;
    r.process_count = dag->thread_count;
    r.process_capacity = dag->thread_count + dag->task_count * PARTS_MAX + 1;
    r.processes = must(calloc(r.process_capacity, sizeof(struct process)));
    r.pools = must(calloc(dag->pool_count, sizeof(struct pool)));
    r.resources = must(calloc((size_t)dag->resource_count + 1, sizeof(struct resource)));
    r.holdings = NULL;
    r.holding_count = 0;
    r.stages = must(calloc((size_t)dag->vertex_count + 1, sizeof(struct stage)));
    r.known = must(calloc((size_t)dag->task_count + 1, sizeof(bool)));
    r.left = must(calloc((size_t)dag->task_count + 1, sizeof(bool)));
    r.unmade = must(calloc((size_t)dag->task_count + 1, sizeof(bool)));
    r.known_ns = must(calloc((size_t)dag->task_count + 1, sizeof(int64_t)));
    r.parts_left = must(calloc((size_t)dag->task_count + 1, sizeof(uint32_t)));
    for (uint32_t i = 0; i < r.process_capacity; i++) r.processes[i].edge = r.processes[i].stolen_from = DAG_NONE;
    open_pools(&r);
    open_resources(&r);
    begin_unspawned(&r);
    play(&r);
    run->stuck = is_stuck(&r);
    for (uint32_t p = 0; p < dag->pool_count; p++) free(r.pools[p].queue);
    for (uint32_t i = 0; i < r.process_capacity; i++) free(r.processes[i].own);
    free(r.processes);
    free(r.pools);
    for (uint32_t i = 0; i < dag->resource_count; i++) free(r.resources[i].list);
    free(r.resources);
    free(r.holdings);
    free(r.stages);
    free(r.known);
    free(r.left);
    free(r.unmade);
    free(r.known_ns);
    free(r.parts_left);
}

// By how much cores are short for each edge when nothing is edited.
static void calibrate(const struct reference *given) {
    const struct model model = {.kind = MODEL_CPU};
    struct dag_edit none;
    struct reference_run run;
    struct error error = ERROR_INIT;
    if (!dag_edit_init(&none, given->dag, &error)) abort();
    simulate(given, &none, &model, true, &run);
    reference_destroy(&run);
    dag_edit_destroy(&none);
}

void reference_simulate(const struct dag *dag, const struct dag_edit *edit, const struct costs *costs,
                        const struct model *model, const bool *has_donor, struct reference_run *run) {
    struct reference r = {.dag = dag,
                          .costs = costs,
                          .has_donor = has_donor,
                          .pool_of = must(calloc((size_t)dag->vertex_count + 1, sizeof(uint32_t))),
                          .over_ns = must(calloc(dag->pool_count, sizeof(int64_t))),
                          .residual = must(calloc((size_t)dag->vertex_count + 1, sizeof(struct residual))),
                          .stretch_ends = must(calloc((size_t)dag->sample_count + 1, sizeof(ticks))),
                          .pause_comes = must(calloc((size_t)dag->pause_count + 1, sizeof(ticks))),
                          .taken = must(calloc((size_t)dag->sample_count + 1, sizeof(double))),
                          .threads = must(calloc((size_t)dag->sample_count + 1, sizeof(double))),
                          .awake_ns = must(calloc((size_t)dag->sample_count + 1, sizeof(double)))};
    find_pools(&r);
    find_ends_of_pools(&r);
    if (model->kind == MODEL_CPU && dag->vertices.compute_ns) {
        find_residuals(&r);
        calibrate(&r);
    }
    simulate(&r, edit, model, false, run);
    free(r.pool_of);
    free(r.over_ns);
    free(r.residual);
    free(r.stretch_ends);
    free(r.pause_comes);
    free(r.taken);
    free(r.threads);
    free(r.awake_ns);
}

void reference_destroy(struct reference_run *run) {
    free(run->time_ns);
    free(run->parts);
}

bool reference_knows(const struct dag *dag) {
    if (dag->carriers || dag->batch_count) return false;
    for (uint32_t p = 1; p < dag->pool_count; p++) {
        enum discipline discipline = dag->pools[p].discipline;
        if (discipline == DISCIPLINE_UNKNOWN) return false;
        if (discipline == DISCIPLINE_STEALING && dag->pools[p].keep_alive_ns >= 0) return false;
    }
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->flags & TASK_MAIN || task->dispatch == DISPATCH_NONE) continue;
        bool stealing = task->pool && dag->pools[task->pool].discipline == DISCIPLINE_STEALING;
        if (task->dispatch == DISPATCH_HELPED && !stealing) return false;
        if (task->dispatch == DISPATCH_THREAD && !(task->flags & TASK_THREAD_RUN)) return false;
    }
    return true;
}
