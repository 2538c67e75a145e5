// SPDX-License-Identifier: GPL-3.0-or-later
// Actors are threads. Each is given something to do for a time (compute, sleep, a latency), and what comes next is
// played when that time is over; the next to be over is found by looking at all. Computing is shared by stepping from
// one end to the next, in 2^-20 ns.
#include "random_pool.h"

#include <stdlib.h>

enum {
    TASKS_MAX = PROGRAM_TASKS_MAX,
    ACTORS_MAX = 2 * TASKS_MAX,
    SITES = 5,
    RUN_ID = 3000, // run() of workers
    RESOURCE_ID = 4000,
    LOCK_ID = 5000,
    WHOLE = 1000, // what a writer has of a read-write lock
};
#define FRACTION 20
#define NO_TASK  UINT32_MAX

// What a frame's delay leads to.
enum phase {
    TO_START,       // latency of the pick-up
    TO_ACTION,      // a step's work
    TO_SPAWN_END,   // the rest of a bracket
    TO_WAIT_END,    // the wake-up
    TO_BODY_END,    // from RESULT to END
    TO_LATE_RESULT, // from END to RESULT
    TO_TIME_UP,     // of a wait for a resource
    TO_LOOK,        // a waiter that was called comes
    TO_HAVE,        // one to which it was handed over does
    TO_GIVEN_UP,
};

struct frame {
    uint32_t task, step;
    enum phase phase;
    enum dispatch dispatch; // of the task that is being spawned
    bool helps;             // waits, and does others' work meanwhile
};

enum actor_state { COMPUTING, SLEEPING, AWAITING, ASKING, IDLE, GONE };

struct actor {
    enum actor_state state;
    uint64_t left;                    // of computing, 2^-20 ns
    uint64_t until;                   // of sleeping; of asking and idle: when its time is up, UINT64_MAX: never
    uint64_t deadline;                // likewise, of one that was called
    bool called;                      // it asks, and comes to look
    uint64_t computed;                // so far
    uint64_t queued;                  // ready without a core, so far
    uint64_t next_ns, queued_told_ns; // next_ns: least time of its next event
    uint64_t run_id;
    struct frame frames[TASKS_MAX];
    uint32_t depth, pool;               // pool_count: no worker
    uint32_t own[TASKS_MAX], own_count; // POOL_STEALING: spawned here, oldest first
    bool is_main;
};

struct pool_state {
    uint32_t id, workers, unfinished;
    uint32_t queue[TASKS_MAX], queued; // oldest first
    uint32_t idle[ACTORS_MAX], idle_count;
    bool shut_down;
};

struct resource_state {
    uint32_t available, promised;              // to waiters that were called and have not come
    uint32_t asking[ACTORS_MAX], asking_count; // longest first
};

struct play {
    const struct random_pool *options;
    struct random_source random;
    struct trace_builder *tb;
    const struct program *program;
    bool done[TASKS_MAX], rejected[TASKS_MAX];
    struct pool_state pools[RANDOM_POOLS_MAX];
    struct resource_state resources[RANDOM_RESOURCES_MAX];
    struct actor actors[ACTORS_MAX];
    uint32_t actor_count, sites[SITES], lock_class;
    uint64_t now, locks;
};

static uint64_t roll(struct play *play, uint64_t limit) {
    return random_below(&play->random, limit);
}

// ---- the program

struct making {
    const struct random_pool *options;
    struct random_source random;
    struct program *program;
};

static uint64_t pick(struct making *making, uint64_t limit) {
    return random_below(&making->random, limit);
}

static void add_step(struct making *making, uint32_t task, enum program_action action, uint32_t what) {
    struct program_task *t = &making->program->tasks[task];
    uint64_t work_ns = 50 + pick(making, making->options->work_ns);
    bool sleeps = making->options->sleeps && pick(making, 4) == 0;
    enum program_sleep sleep = !sleeps ? SLEEPS_NOT : work_ns % 2 ? SLEEPS_FOR_UNKNOWN : SLEEPS_UNSEEN;
    t->steps[t->step_count++] =
        (struct program_step){.work_ns = work_ns, .sleeps = sleep, .action = action, .what = what};
}

// Whose results may be awaited by tasks of `waiter`: those that are sure to come whatever waits. Pools are in the order
// in which they call upon each other; main and threads of their own come before all. Where workers steal, waiters run
// what they spawned themselves.
static bool is_safe(const struct random_pool *options, uint32_t waiter, uint32_t target) {
    if (waiter == options->pool_count || target == options->pool_count) return true;
    if (waiter == target && options->pools[waiter].rules == POOL_STEALING) return true;
    return waiter < target || options->pools[waiter].rules == POOL_CACHED;
}

// false: there is none that tasks of `spawner` may call upon.
static bool random_pool_for(struct making *making, uint32_t spawner, uint32_t *pool) {
    const struct random_pool *options = making->options;
    bool by_main = spawner == options->pool_count;
    uint32_t from = by_main ? 0 : spawner;
    if (options->shuts_down && !by_main && !is_safe(options, spawner, from)) from++;
    if (from == options->pool_count) return false;
    *pool = options->threads && pick(making, 8) == 0 ? options->pool_count
                                                     : from + (uint32_t)pick(making, options->pool_count - from);
    return true;
}

static uint32_t children_wanted(struct making *making, uint32_t depth, uint32_t pool) {
    if (depth == 0) return 3 + (uint32_t)pick(making, 4);
    bool forks = pool < making->options->pool_count && making->options->pools[pool].rules == POOL_STEALING;
    if (forks && depth < 7) return pick(making, 4) ? 1 + (uint32_t)pick(making, 2) : 0;
    bool leaf = depth == 3 || pool == making->options->pool_count;
    return leaf || pick(making, 2) ? 0 : (uint32_t)pick(making, 4);
}

static uint32_t take_resource(struct making *making, uint32_t task, uint32_t resource, bool may_limit) {
    struct program_task *t = &making->program->tasks[task];
    const struct random_pool *options = making->options;
    add_step(making, task, ACT_ACQUIRE, resource);
    struct program_step *step = &t->steps[t->step_count - 1];
    step->shared = options->resources[resource].kind == RESOURCE_READ_WRITE_LOCK && pick(making, 3);
    bool limited = may_limit && options->limits && pick(making, 2);
    if (limited) step->limit_ns = 50 + pick(making, options->work_ns);
    return t->step_count - 1;
}

static void give_back(struct making *making, uint32_t task, uint32_t taken) {
    struct program_task *t = &making->program->tasks[task];
    add_step(making, task, ACT_RELEASE, t->steps[taken].what);
    t->steps[t->step_count - 1].shared = t->steps[taken].shared;
    t->steps[taken].otherwise = t->step_count;
}

// Something is done with a resource, and maybe with another one meanwhile.
static void use_resource(struct making *making, uint32_t task, uint32_t least) {
    uint32_t count = making->options->resource_count;
    if (least >= count || making->program->tasks[task].step_count > PROGRAM_STEPS_MAX / 2) return;
    uint32_t resource = least + (uint32_t)pick(making, count - least),
             taken = take_resource(making, task, resource, true);
    if (pick(making, 3) == 0) add_step(making, task, ACT_NOTHING, 0);
    if (pick(making, 3) == 0) use_resource(making, task, resource + 1);
    give_back(making, task, taken);
}

static bool any_caller_runs(const struct random_pool *options) {
    for (uint32_t p = 0; p < options->pool_count; p++) {
        if (options->pools[p].caller_runs) return true;
    }
    return false;
}

// A caller would run the task while it has the resource.
static void add_spawn(struct making *making, uint32_t task, uint32_t child) {
    const struct random_pool *options = making->options;
    bool holds = options->resource_count && pick(making, 4) == 0 && !any_caller_runs(options);
    uint32_t taken = 0;
    if (options->resource_count) use_resource(making, task, 0);
    if (holds) taken = take_resource(making, task, (uint32_t)pick(making, options->resource_count), false);
    add_step(making, task, ACT_SPAWN, child);
    if (holds) give_back(making, task, taken);
}

static void make_task(struct making *making, uint32_t depth, uint32_t pool) {
    const struct random_pool *options = making->options;
    uint32_t index = making->program->task_count++, awaited[PROGRAM_STEPS_MAX / 2], count = 0, childs_pool;
    making->program->tasks[index].pool = pool;
    making->program->tasks[index].priority = (uint32_t)pick(making, 1000);
    making->program->tasks[index].result_event = (enum result_event)pick(making, 3);
    for (uint32_t i = children_wanted(making, depth, pool); i > 0 && making->program->task_count < options->tasks;
         i--) {
        uint32_t child = making->program->task_count;
        if (!random_pool_for(making, pool, &childs_pool)) break;
        make_task(making, depth + 1, childs_pool);
        add_spawn(making, index, child);
        bool awaits = options->shuts_down || (options->waits && pick(making, 4));
        if (awaits && is_safe(options, pool, childs_pool)) awaited[count++] = child;
    }
    for (uint32_t i = 0; options->resource_count && i < 3; i++) use_resource(making, index, 0);
    while (count-- > 0) add_step(making, index, ACT_WAIT, awaited[count]);
    for (uint32_t p = 0; depth == 0 && options->shuts_down && p < 2 * options->pool_count; p++) {
        add_step(making, index, p < options->pool_count ? ACT_SHUTDOWN : ACT_AWAIT_POOL, p % options->pool_count);
    }
    add_step(making, index, ACT_END, 0);
}

void random_pool_program(const struct random_pool *options, struct program *program) {
    struct making making = {.options = options, .random = {options->seed}, .program = program};
    *program = (struct program){0};
    make_task(&making, 0, options->pool_count);
}

// ---- actors

static struct frame *top(struct actor *actor) {
    return &actor->frames[actor->depth - 1];
}

static uint64_t now_ns(const struct play *play) {
    return (play->now + ((UINT64_C(1) << FRACTION) - 1)) >> FRACTION;
}

// At time_ns, or as soon after the thread's last event as can be.
static void emit_at(struct play *play, struct actor *actor, uint64_t time_ns, const uint64_t event[]) {
    if (time_ns < actor->next_ns) time_ns = actor->next_ns;
    tb_add(play->tb, (uint32_t)(actor - play->actors) + 1, time_ns, event);
    actor->next_ns = time_ns + 1;
}
#define EMIT(play, actor, ...) emit_at((play), (actor), now_ns(play), (const uint64_t[1 + EVENT_OPERANDS]){__VA_ARGS__})

static uint64_t cpu_of(const struct actor *actor) {
    return 1 + (actor->computed >> FRACTION);
}

// A boundary has what the thread waited for a core before it, where that grew.
static void tell_queued(struct play *play, struct actor *actor) {
    uint64_t queued_ns = actor->queued >> FRACTION;
    if (queued_ns == actor->queued_told_ns) return;
    actor->queued_told_ns = queued_ns;
    uint64_t time_ns = now_ns(play);
    emit_at(play, actor, time_ns ? time_ns - 1 : 0, (const uint64_t[4]){EVENT_RUN_DELAY, queued_ns});
}

// An uncontended lock, asleep for it for 1 ns: what has been computed so far is known here.
static void mark_boundary(struct play *play, struct actor *actor) {
    if (!play->options->measured) return;
    tell_queued(play, actor);
    uint64_t lock = LOCK_ID + play->locks++;
    EMIT(play, actor, EVENT_BLOCK_BEGIN, lock, cpu_of(actor), play->lock_class);
    EMIT(play, actor, EVENT_BLOCK_END, lock, cpu_of(actor));
}

static void work(struct play *play, struct actor *actor, uint64_t ns, enum phase phase, bool computes) {
    actor->state = computes ? COMPUTING : SLEEPING;
    actor->left = ns << FRACTION;
    actor->until = play->now + (ns << FRACTION);
    top(actor)->phase = phase;
}

static uint64_t cost(struct play *play, uint64_t base_ns) {
    return base_ns + (play->options->jitter_ns ? roll(play, play->options->jitter_ns) : 0);
}

static struct actor *make_actor(struct play *play, uint32_t pool) {
    struct actor *actor = &play->actors[play->actor_count++];
    *actor = (struct actor){.state = IDLE, .until = UINT64_MAX, .pool = pool, .run_id = RUN_ID + play->actor_count};
    tb_thread(play->tb, play->actor_count, "thread", 0);
    return actor;
}

// Who is awake computes while he takes the task up; others are woken or made meanwhile.
static void begin_task(struct play *play, struct actor *actor, uint32_t task, uint64_t pickup_ns,
                       enum dispatch dispatch) {
    actor->frames[actor->depth++] = (struct frame){.task = task};
    work(play, actor, pickup_ns, TO_START, dispatch == DISPATCH_QUEUED || dispatch == DISPATCH_CALLER);
}

static void next_step(struct play *play, struct actor *actor) {
    const struct program_step *step = &play->program->tasks[top(actor)->task].steps[top(actor)->step];
    if (step->sleeps == SLEEPS_FOR_UNKNOWN) {
        tell_queued(play, actor);
        EMIT(play, actor, EVENT_WAIT_BEGIN, 0, cpu_of(actor),
             tb_wait(WAIT_FOR_UNKNOWN, play->sites[step->work_ns % SITES]));
    }
    work(play, actor, step->work_ns, TO_ACTION, !step->sleeps);
}

// ---- pools

static uint32_t take_at(uint32_t *list, uint32_t *count, uint32_t index) {
    uint32_t taken = list[index];
    for (uint32_t i = index + 1; i < *count; i++) list[i - 1] = list[i];
    --*count;
    return taken;
}

static uint32_t first_in_priority(const struct play *play, const struct pool_state *pool) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < pool->queued; i++) {
        if (play->program->tasks[pool->queue[i]].priority < play->program->tasks[pool->queue[first]].priority)
            first = i;
    }
    return first;
}

static uint32_t steal(struct play *play, const struct actor *thief) {
    struct actor *victim = NULL;
    for (uint32_t i = 0; i < play->actor_count; i++) {
        struct actor *actor = &play->actors[i];
        if (actor->pool != thief->pool || !actor->own_count) continue;
        if (!victim || actor->own_count > victim->own_count) victim = actor;
    }
    return victim ? take_at(victim->own, &victim->own_count, 0) : NO_TASK;
}

static uint32_t next_task(struct play *play, struct actor *actor) {
    struct pool_state *pool = &play->pools[actor->pool];
    enum pool_rules rules = play->options->pools[actor->pool].rules;
    if (actor->own_count) return take_at(actor->own, &actor->own_count, actor->own_count - 1);
    if (pool->queued) {
        return take_at(pool->queue, &pool->queued, rules == POOL_PRIORITY ? first_in_priority(play, pool) : 0);
    }
    return rules == POOL_STEALING ? steal(play, actor) : NO_TASK;
}

// Later than the shutdown that it follows.
static void retire(struct play *play, struct actor *actor, const struct actor *by) {
    play->pools[actor->pool].workers--;
    emit_at(play, actor, by->next_ns, (const uint64_t[4]){EVENT_RETIRE, play->pools[actor->pool].id});
    EMIT(play, actor, EVENT_THREAD_END, actor->run_id, cpu_of(actor));
    actor->state = GONE;
}

static void pick_up(struct play *play, struct actor *actor, uint32_t task, enum dispatch dispatch) {
    uint64_t latency_ns = cost(play, play->options->pickup_ns[dispatch]);
    emit_at(play, actor, now_ns(play) + latency_ns - 2, (const uint64_t[4]){EVENT_BUSY, play->pools[actor->pool].id});
    begin_task(play, actor, task, latency_ns, dispatch);
}

static bool may_retire(const struct play *play, uint32_t pool) {
    uint32_t core = play->options->pools[pool].rules == POOL_CACHED ? 0 : play->options->pools[pool].threads;
    if (!play->options->pools[pool].keep_alive_ns) return false;
    return play->options->pools[pool].core_times_out || play->pools[pool].workers > core;
}

static void fall_asleep(struct play *play, struct actor *actor) {
    struct pool_state *pool = &play->pools[actor->pool];
    actor->state = IDLE;
    actor->until = UINT64_MAX;
    if (may_retire(play, actor->pool))
        actor->until = play->now + (play->options->pools[actor->pool].keep_alive_ns << FRACTION);
    pool->idle[pool->idle_count++] = (uint32_t)(actor - play->actors);
}

// Who finds that there are not more than core by now stays for good.
static void idle_out(struct play *play, struct actor *actor) {
    struct pool_state *pool = &play->pools[actor->pool];
    uint32_t place = 0;
    actor->until = UINT64_MAX;
    if (!may_retire(play, actor->pool)) return;
    while (pool->idle[place] != (uint32_t)(actor - play->actors)) place++;
    take_at(pool->idle, &pool->idle_count, place);
    pool->workers--;
    EMIT(play, actor, EVENT_RETIRE, pool->id);
    EMIT(play, actor, EVENT_THREAD_END, actor->run_id, cpu_of(actor));
    actor->state = GONE;
}

static void come_free(struct play *play, struct actor *actor) {
    struct pool_state *pool = &play->pools[actor->pool];
    EMIT(play, actor, EVENT_IDLE, pool->id);
    uint32_t task = next_task(play, actor);
    if (task != NO_TASK) {
        pick_up(play, actor, task, DISPATCH_QUEUED);
    } else if (pool->shut_down) {
        retire(play, actor, actor);
    } else {
        fall_asleep(play, actor);
    }
}

static void wake_idle(struct play *play, struct pool_state *pool, bool newest, uint32_t task) {
    uint32_t which = newest ? pool->idle_count - 1 : 0;
    pick_up(play, &play->actors[take_at(pool->idle, &pool->idle_count, which)], task, DISPATCH_WOKEN);
}

// The thread's making lies in its maker's bracket.
static void make_worker(struct play *play, struct actor *maker, uint32_t pool, uint32_t task) {
    struct actor *worker = make_actor(play, pool);
    play->pools[pool].workers++;
    EMIT(play, maker, EVENT_SPAWN_BEGIN, worker->run_id, 0, 0);
    EMIT(play, maker, EVENT_SPAWN_END, worker->run_id, SPAWN_ACCEPTED);
    uint64_t latency_ns = cost(play, play->options->pickup_ns[DISPATCH_NEW]), start_ns = now_ns(play) + latency_ns;
    emit_at(play, worker, start_ns - 4, (const uint64_t[4]){EVENT_THREAD_START, worker->run_id, cpu_of(worker)});
    emit_at(play, worker, start_ns - 2, (const uint64_t[4]){EVENT_WORKER_BEGIN, play->pools[pool].id});
    begin_task(play, worker, task, latency_ns, DISPATCH_NEW);
}

static enum dispatch refuse(struct play *play, uint32_t pool, uint32_t task) {
    if (play->options->pools[pool].caller_runs) return DISPATCH_CALLER;
    play->rejected[task] = true;
    return DISPATCH_NONE;
}

static enum dispatch offer_stealing(struct play *play, struct actor *spawner, uint32_t index, uint32_t task) {
    struct pool_state *pool = &play->pools[index];
    if (pool->idle_count) {
        wake_idle(play, pool, true, task);
        return DISPATCH_WOKEN;
    }
    if (pool->workers < play->options->pools[index].threads) {
        make_worker(play, spawner, index, task);
        return DISPATCH_NEW;
    }
    if (spawner->pool == index)
        spawner->own[spawner->own_count++] = task;
    else
        pool->queue[pool->queued++] = task;
    return DISPATCH_QUEUED;
}

static enum dispatch offer(struct play *play, struct actor *spawner, uint32_t index, uint32_t task) {
    struct pool_state *pool = &play->pools[index];
    enum pool_rules rules = play->options->pools[index].rules;
    uint32_t core = rules == POOL_CACHED ? 0 : play->options->pools[index].threads;
    uint32_t maximum = play->options->pools[index].maximum;
    uint32_t capacity = rules == POOL_GROWING ? play->options->pools[index].capacity : UINT32_MAX;
    if (rules == POOL_STEALING) return offer_stealing(play, spawner, index, task);
    bool full = rules == POOL_CACHED ? pool->idle_count == 0 : pool->queued >= capacity;
    bool grows = play->options->pools[index].grows_first && !pool->idle_count;
    bool wakes = play->options->pools[index].wakes_first && pool->idle_count;
    if ((pool->workers < core && !wakes) || ((full || grows) && pool->workers < maximum)) {
        make_worker(play, spawner, index, task);
        return DISPATCH_NEW;
    }
    if (full) return refuse(play, index, task);
    if (pool->idle_count) {
        wake_idle(play, pool, rules == POOL_CACHED, task);
        return DISPATCH_WOKEN;
    }
    pool->queue[pool->queued++] = task;
    return DISPATCH_QUEUED;
}

// ---- what happens in bodies

static bool pool_over(const struct play *play, uint32_t pool) {
    return play->pools[pool].shut_down && play->pools[pool].unfinished == 0;
}

static void wake_waiters(struct play *play) {
    for (uint32_t i = 0; i < play->actor_count; i++) {
        struct actor *actor = &play->actors[i];
        if (actor->state != AWAITING) continue;
        const struct program_step *step = &play->program->tasks[top(actor)->task].steps[top(actor)->step];
        bool over = step->action == ACT_WAIT ? play->done[step->what] : pool_over(play, step->what);
        if (over) work(play, actor, cost(play, play->options->wakeup_ns), TO_WAIT_END, false);
    }
}

static void give_result(struct play *play, uint32_t task) {
    play->done[task] = true;
    wake_waiters(play);
}

static void start_thread(struct play *play, uint32_t task) {
    struct actor *thread = make_actor(play, play->options->pool_count);
    thread->run_id = PROGRAM_TASK_ID + task;
    begin_task(play, thread, task, cost(play, play->options->pickup_ns[DISPATCH_THREAD]), DISPATCH_THREAD);
}

static void spawn(struct play *play, struct actor *actor, uint32_t task) {
    uint32_t pool = play->program->tasks[task].pool;
    bool own_thread = pool == play->options->pool_count;
    mark_boundary(play, actor);
    EMIT(play, actor, EVENT_SPAWN_BEGIN, PROGRAM_TASK_ID + task, play->sites[task % SITES],
         own_thread ? 0 : play->pools[pool].id);
    enum dispatch dispatch = DISPATCH_THREAD;
    if (own_thread)
        start_thread(play, task);
    else
        dispatch = offer(play, actor, pool, task);
    if (!own_thread && dispatch != DISPATCH_NONE) play->pools[pool].unfinished++;
    top(actor)->dispatch = dispatch;
    if (dispatch == DISPATCH_CALLER)
        begin_task(play, actor, task, cost(play, play->options->pickup_ns[dispatch]), dispatch);
    else
        work(play, actor, cost(play, play->options->bracket_ns[dispatch]), TO_SPAWN_END, true);
}

// What a waiter of a stealing pool can do meanwhile: what it waits for itself, if it still has it, or the oldest of
// whoever has the most. Tasks wait for what they spawned and for nothing else, so that this buries nothing.
static uint32_t find_help(struct play *play, struct actor *actor, uint32_t awaited) {
    bool worker = actor->pool < play->options->pool_count;
    if (!worker || play->options->pools[actor->pool].rules != POOL_STEALING) return NO_TASK;
    for (uint32_t i = 0; i < actor->own_count; i++) {
        if (actor->own[i] == awaited) return take_at(actor->own, &actor->own_count, i);
    }
    return play->options->helps && actor->depth < TASKS_MAX / 2 ? steal(play, actor) : NO_TASK;
}

// In a wait: over, helping, or asleep.
static void go_on_waiting(struct play *play, struct actor *actor) {
    struct frame *frame = top(actor);
    uint32_t awaited = play->program->tasks[frame->task].steps[frame->step].what;
    frame->helps = !play->done[awaited];
    uint32_t task = frame->helps ? find_help(play, actor, awaited) : NO_TASK;
    if (!frame->helps) {
        work(play, actor, 20 + roll(play, 30), TO_WAIT_END, true);
    } else if (task != NO_TASK) {
        begin_task(play, actor, task, cost(play, play->options->pickup_ns[DISPATCH_HELPED]), DISPATCH_CALLER);
    } else {
        frame->helps = false;
        actor->state = AWAITING;
    }
}

static void wait_for(struct play *play, struct actor *actor, const struct program_step *step) {
    bool for_task = step->action == ACT_WAIT;
    uint64_t target = for_task ? PROGRAM_TASK_ID + step->what : play->pools[step->what].id;
    if (for_task && (play->done[step->what] || play->rejected[step->what])) {
        mark_boundary(play, actor);
        if (play->done[step->what]) EMIT(play, actor, EVENT_TAKEN, target);
        top(actor)->step++;
        next_step(play, actor);
        return;
    }
    uint64_t wait = tb_wait(for_task ? WAIT_FOR_TASK : WAIT_FOR_POOL, play->sites[step->what % SITES]);
    const uint64_t limit_ns = for_task ? play->options->wait_limit_ns : 0;
    if (limit_ns) emit_at(play, actor, now_ns(play) - 2, (const uint64_t[4]){EVENT_LIMIT, limit_ns});
    tell_queued(play, actor);
    EMIT(play, actor, EVENT_WAIT_BEGIN, target, cpu_of(actor), wait);
    actor->state = AWAITING;
    if (for_task) go_on_waiting(play, actor);
    if (!for_task && pool_over(play, step->what)) wake_waiters(play);
}

static void shut_down(struct play *play, struct actor *actor, uint32_t index) {
    struct pool_state *pool = &play->pools[index];
    mark_boundary(play, actor);
    EMIT(play, actor, EVENT_POOL_SHUTDOWN, pool->id);
    pool->shut_down = true;
    while (pool->idle_count) {
        retire(play, &play->actors[take_at(pool->idle, &pool->idle_count, 0)], actor);
    }
    top(actor)->step++;
    next_step(play, actor);
    wake_waiters(play);
}

// ---- resources

static const struct program_step *step_of(const struct play *play, struct actor *actor) {
    return &play->program->tasks[top(actor)->task].steps[top(actor)->step];
}

static uint32_t units_of(const struct play *play, const struct program_step *step) {
    return play->options->resources[step->what].kind == RESOURCE_READ_WRITE_LOCK && !step->shared ? WHOLE : 1;
}

static uint64_t want_of(const struct play *play, const struct program_step *step) {
    return want_operand(1, step->shared, play->sites[step->what % SITES]);
}

static void leave_queue(struct play *play, struct actor *actor, uint32_t resource) {
    struct resource_state *of = &play->resources[resource];
    uint32_t place = 0;
    while (of->asking[place] != (uint32_t)(actor - play->actors)) place++;
    take_at(of->asking, &of->asking_count, place);
}

// What is fair goes over to those that have waited longest, else they come to look.
static void call_waiters(struct play *play, uint32_t resource) {
    struct resource_state *of = &play->resources[resource];
    for (uint32_t i = 0; i < of->asking_count; i++) {
        struct actor *actor = &play->actors[of->asking[i]];
        uint32_t units = units_of(play, step_of(play, actor));
        if (actor->called) continue;
        if (of->available < of->promised + units) return;
        bool fair = play->options->resources[resource].fair;
        actor->called = !fair;
        work(play, actor, cost(play, play->options->wakeup_ns), fair ? TO_HAVE : TO_LOOK, false);
        if (!fair) {
            of->promised += units;
        } else {
            of->available -= units;
            take_at(of->asking, &of->asking_count, i--);
        }
    }
}

static bool can_have(struct play *play, const struct program_step *step) {
    const struct resource_state *of = &play->resources[step->what];
    if (of->available < units_of(play, step)) return false;
    if (!of->asking_count) return true;
    const struct program_step *first = step_of(play, &play->actors[of->asking[0]]);
    if (play->options->resources[step->what].fair) return false;
    return play->options->resources[step->what].readers_pass || !step->shared || first->shared;
}

static void acquire(struct play *play, struct actor *actor, const struct program_step *step) {
    struct resource_state *of = &play->resources[step->what];
    if (can_have(play, step)) {
        of->available -= units_of(play, step);
        EMIT(play, actor, EVENT_HELD, RESOURCE_ID + step->what, want_of(play, step));
        mark_boundary(play, actor);
        top(actor)->step++;
        next_step(play, actor);
        return;
    }
    uint64_t time_ns = now_ns(play);
    if (step->limit_ns) emit_at(play, actor, time_ns - 2, (const uint64_t[4]){EVENT_LIMIT, step->limit_ns});
    tell_queued(play, actor);
    EMIT(play, actor, EVENT_ACQUIRE_BEGIN, RESOURCE_ID + step->what, cpu_of(actor), want_of(play, step));
    of->asking[of->asking_count++] = (uint32_t)(actor - play->actors);
    actor->called = false;
    actor->deadline = step->limit_ns ? (time_ns + step->limit_ns) << FRACTION : UINT64_MAX;
    actor->state = ASKING;
    actor->until = actor->deadline;
    top(actor)->phase = TO_TIME_UP;
}

static void release(struct play *play, struct actor *actor, const struct program_step *step) {
    play->resources[step->what].available += units_of(play, step);
    EMIT(play, actor, EVENT_RELEASED, RESOURCE_ID + step->what, want_of(play, step));
    call_waiters(play, step->what);
    mark_boundary(play, actor);
    top(actor)->step++;
    next_step(play, actor);
}

static void have(struct play *play, struct actor *actor, const struct program_step *step) {
    EMIT(play, actor, EVENT_ACQUIRED, RESOURCE_ID + step->what, cpu_of(actor));
    top(actor)->step++;
    next_step(play, actor);
}

static void give_up(struct play *play, struct actor *actor, const struct program_step *step) {
    EMIT(play, actor, EVENT_GIVEN_UP, RESOURCE_ID + step->what, cpu_of(actor), GIVEN_UP_TIME);
    top(actor)->step = step->otherwise;
    next_step(play, actor);
}

static void time_is_up(struct play *play, struct actor *actor, const struct program_step *step) {
    leave_queue(play, actor, step->what);
    work(play, actor, cost(play, play->options->wakeup_ns), TO_GIVEN_UP, false);
    call_waiters(play, step->what);
}

// Another may have come first.
static void look(struct play *play, struct actor *actor, const struct program_step *step) {
    struct resource_state *of = &play->resources[step->what];
    uint32_t units = units_of(play, step);
    actor->called = false;
    of->promised -= units;
    if (of->available >= units) {
        leave_queue(play, actor, step->what);
        of->available -= units;
        have(play, actor, step);
    } else if (actor->deadline <= play->now) {
        leave_queue(play, actor, step->what);
        give_up(play, actor, step);
        call_waiters(play, step->what);
    } else {
        actor->state = ASKING;
        actor->until = actor->deadline;
        top(actor)->phase = TO_TIME_UP;
    }
}

static void leave_body(struct play *play, struct actor *actor, uint32_t task) {
    uint32_t pool = play->program->tasks[task].pool;
    if (pool < play->options->pool_count) {
        play->pools[pool].unfinished--;
        wake_waiters(play);
    }
    actor->depth--;
    if (actor->depth && top(actor)->helps)
        go_on_waiting(play, actor);
    else if (actor->depth)
        work(play, actor, cost(play, play->options->bracket_ns[DISPATCH_CALLER]), TO_SPAWN_END, true);
    else if (actor->pool < play->options->pool_count)
        come_free(play, actor);
    else
        actor->state = GONE;
}

static void end_body(struct play *play, struct actor *actor, uint32_t task) {
    enum result_event result_event = play->program->tasks[task].result_event;
    tell_queued(play, actor);
    if (actor->pool == play->options->pool_count && actor->depth == 1) {
        EMIT(play, actor, EVENT_THREAD_END, actor->run_id, cpu_of(actor));
        give_result(play, task);
        leave_body(play, actor, task);
        return;
    }
    EMIT(play, actor, EVENT_TASK_END, PROGRAM_TASK_ID + task, cpu_of(actor), TASK_RETURNED);
    if (result_event == RESULT_AFTER_END && actor->depth == 1) {
        work(play, actor, 30 + roll(play, 30), TO_LATE_RESULT, true);
        return;
    }
    if (!play->done[task]) give_result(play, task);
    leave_body(play, actor, task);
}

static void act(struct play *play, struct actor *actor) {
    uint32_t task = top(actor)->task;
    const struct program_step *step = &play->program->tasks[task].steps[top(actor)->step];
    bool own_run = actor->pool == play->options->pool_count && actor->depth == 1;
    switch (step->action) {
    case ACT_NOTHING:
        top(actor)->step++;
        next_step(play, actor);
        break;
    case ACT_SPAWN:
        spawn(play, actor, step->what);
        break;
    case ACT_WAIT:
    case ACT_AWAIT_POOL:
        wait_for(play, actor, step);
        break;
    case ACT_SHUTDOWN:
        shut_down(play, actor, step->what);
        break;
    case ACT_ACQUIRE:
        acquire(play, actor, step);
        break;
    case ACT_RELEASE:
        release(play, actor, step);
        break;
    case ACT_END:
        if (play->program->tasks[task].result_event == RESULT_BEFORE_END && !own_run) {
            EMIT(play, actor, EVENT_RESULT, PROGRAM_TASK_ID + task);
            give_result(play, task);
            work(play, actor, 30 + roll(play, 30), TO_BODY_END, true);
        } else {
            end_body(play, actor, task);
        }
    }
}

static void start_body(struct play *play, struct actor *actor, uint32_t task) {
    tell_queued(play, actor);
    if (actor->is_main)
        EMIT(play, actor, EVENT_MAIN_BEGIN, PROGRAM_TASK_ID, cpu_of(actor));
    else if (actor->pool == play->options->pool_count && actor->depth == 1)
        EMIT(play, actor, EVENT_THREAD_START, actor->run_id, cpu_of(actor));
    else
        EMIT(play, actor, EVENT_TASK_START, PROGRAM_TASK_ID + task, cpu_of(actor));
    next_step(play, actor);
}

// What the actor was busy with is over.
static void go_on(struct play *play, struct actor *actor) {
    if (actor->state == IDLE) {
        idle_out(play, actor);
        return;
    }
    struct frame *frame = top(actor);
    const struct program_step *step = &play->program->tasks[frame->task].steps[frame->step];
    switch (frame->phase) {
    case TO_START:
        start_body(play, actor, frame->task);
        break;
    case TO_ACTION:
        if (step->sleeps == SLEEPS_FOR_UNKNOWN) EMIT(play, actor, EVENT_WAIT_END, 0, cpu_of(actor));
        act(play, actor);
        break;
    case TO_SPAWN_END:
        EMIT(play, actor, EVENT_SPAWN_END, PROGRAM_TASK_ID + step->what,
             frame->dispatch == DISPATCH_NONE ? SPAWN_REJECTED : SPAWN_ACCEPTED);
        mark_boundary(play, actor);
        frame->step++;
        next_step(play, actor);
        break;
    case TO_WAIT_END:
        EMIT(play, actor, EVENT_WAIT_END,
             step->action == ACT_WAIT ? PROGRAM_TASK_ID + step->what : play->pools[step->what].id, cpu_of(actor));
        frame->step++;
        next_step(play, actor);
        break;
    case TO_BODY_END:
        end_body(play, actor, frame->task);
        break;
    case TO_LATE_RESULT:
        EMIT(play, actor, EVENT_RESULT, PROGRAM_TASK_ID + frame->task);
        give_result(play, frame->task);
        leave_body(play, actor, frame->task);
        break;
    case TO_TIME_UP:
        time_is_up(play, actor, step);
        break;
    case TO_LOOK:
        look(play, actor, step);
        break;
    case TO_HAVE:
        have(play, actor, step);
        break;
    case TO_GIVEN_UP:
        give_up(play, actor, step);
    }
}

// ---- time

static uint64_t computing(const struct play *play) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < play->actor_count; i++) count += play->actors[i].state == COMPUTING;
    return count;
}

// How many times as long as alone computing takes: sharers / cores.
static uint64_t stretched(const struct play *play, uint64_t left, uint64_t sharers) {
    uint64_t cores = play->options->cores;
    return cores == 0 || sharers <= cores ? left : (left * sharers + cores - 1) / cores;
}

static uint64_t over_at(const struct play *play, const struct actor *actor, uint64_t sharers) {
    return actor->state == COMPUTING ? play->now + stretched(play, actor->left, sharers) : actor->until;
}

// At one instant things happen thread by thread.
static struct actor *first_over(struct play *play) {
    uint64_t sharers = computing(play), earliest = UINT64_MAX;
    struct actor *found = NULL;
    for (uint32_t i = 0; i < play->actor_count; i++) {
        struct actor *actor = &play->actors[i];
        bool ends = (actor->state == ASKING || actor->state == IDLE) && actor->until != UINT64_MAX;
        if (actor->state != COMPUTING && actor->state != SLEEPING && !ends) continue;
        uint64_t at = over_at(play, actor, sharers);
        if (!found || at < earliest) {
            earliest = at;
            found = actor;
        }
    }
    return found;
}

// Nobody does anything any more, nor will, but workers that idle.
static bool is_over(const struct play *play) {
    for (uint32_t i = 0; i < play->actor_count; i++) {
        enum actor_state state = play->actors[i].state;
        if (state != IDLE && state != GONE) return false;
    }
    return true;
}

static void pass_time(struct play *play, uint64_t until) {
    uint64_t sharers = computing(play), cores = play->options->cores, elapsed = until - play->now;
    uint64_t done = cores == 0 || sharers <= cores ? elapsed : elapsed * cores / sharers;
    for (uint32_t i = 0; i < play->actor_count; i++) {
        struct actor *actor = &play->actors[i];
        if (actor->state != COMPUTING) continue;
        uint64_t got = done < actor->left ? done : actor->left;
        actor->left -= got;
        actor->computed += got;
        actor->queued += elapsed - got;
    }
    play->now = until;
}

static uint32_t flags_of(const struct random_pool *options, uint32_t p) {
    return (options->pools[p].core_times_out ? POOL_CORE_TIMES_OUT : 0) |
           (options->pools[p].grows_first ? POOL_GROWS_FIRST : 0) |
           (options->pools[p].wakes_first ? POOL_WAKES_FIRST : 0);
}

struct trace_builder *program_trace(const struct program *program, const struct random_pool *options) {
    static const char *const queues[POOL_RULES] = {
        "java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.ArrayBlockingQueue",
        "java.util.concurrent.SynchronousQueue", "java.util.concurrent.PriorityBlockingQueue", NULL};
    struct play *play = calloc(1, sizeof *play);
    if (!play) abort();
    play->options = options;
    play->program = program;
    play->random.state = ~options->seed;
    play->tb = tb_new();
    tb_cores(play->tb, options->cores ? options->cores : ACTORS_MAX);
    for (uint32_t i = 0; i < SITES; i++) play->sites[i] = tb_site(play->tb, "Program", "run", 10 + i);
    play->lock_class = tb_class(play->tb, "Program$Lock");
    for (uint32_t p = 0; p < options->pool_count; p++) {
        enum pool_rules rules = options->pools[p].rules;
        bool stealing = rules == POOL_STEALING;
        play->pools[p].id = tb_pool_like(
            play->tb,
            (struct trace_pool){
                .kind = stealing ? "java.util.concurrent.ForkJoinPool" : "java.util.concurrent.ThreadPoolExecutor",
                .queue = queues[rules],
                .name = "pool",
                .core = rules == POOL_CACHED ? 0 : (int32_t)options->pools[p].threads,
                .maximum = rules == POOL_CACHED ? INT32_MAX : (int32_t)options->pools[p].maximum,
                .capacity = rules == POOL_GROWING ? (int32_t)options->pools[p].capacity : -1,
                .keep_alive_ns = options->pools[p].keep_alive_ns ? (int64_t)options->pools[p].keep_alive_ns : -1,
                .flags = flags_of(options, p),
                .rejection = options->pools[p].caller_runs ? "java.util.concurrent.ThreadPoolExecutor$CallerRunsPolicy"
                                                           : "java.util.concurrent.ThreadPoolExecutor$AbortPolicy"});
    }
    for (uint32_t i = 0; i < options->resource_count; i++) {
        bool permits = options->resources[i].kind == RESOURCE_PERMITS;
        play->resources[i].available = options->resources[i].capacity;
        if (options->resources[i].kind == RESOURCE_READ_WRITE_LOCK) play->resources[i].available = WHOLE;
        tb_resource(play->tb, RESOURCE_ID + i, options->resources[i].kind, permits ? options->resources[i].capacity : 1,
                    (options->resources[i].fair ? RESOURCE_FAIR : 0) |
                        (options->resources[i].readers_pass ? RESOURCE_READERS_PASS : 0));
    }
    struct actor *first = make_actor(play, options->pool_count);
    first->is_main = true;
    first->run_id = PROGRAM_TASK_ID;
    begin_task(play, first, 0, 0, DISPATCH_NONE);
    for (struct actor *actor; (options->dies_out || !is_over(play)) && (actor = first_over(play));) {
        pass_time(play, over_at(play, actor, computing(play)));
        go_on(play, actor);
    }
    struct trace_builder *tb = play->tb;
    free(play);
    return tb;
}

struct random_pool random_pool_options(uint64_t seed, uint32_t cores) {
    struct random_source random = {seed ^ UINT64_C(0x9E37)};
    struct random_pool options = {.seed = seed,
                                  .cores = cores,
                                  .pool_count = 1 + (uint32_t)random_below(&random, RANDOM_POOLS_MAX),
                                  .tasks = 4 + (uint32_t)random_below(&random, TASKS_MAX - 8),
                                  .work_ns = 1000 + random_below(&random, 1000000),
                                  .sleeps = random_below(&random, 2),
                                  .threads = random_below(&random, 3) == 0,
                                  .waits = random_below(&random, 4),
                                  .shuts_down = random_below(&random, 2),
                                  .measured = cores > 0,
                                  .wakeup_ns = 300,
                                  .jitter_ns = random_below(&random, 2) * 400};
    for (uint32_t p = 0; p < options.pool_count; p++) {
        options.pools[p].rules = (enum pool_rules)random_below(&random, POOL_STEALING);
        options.pools[p].threads = options.pools[p].maximum = 1 + (uint32_t)random_below(&random, 4);
        // A trace tells a priority by the order of starts: that is the order of pick-ups where these take equally long.
        if (options.pools[p].rules == POOL_PRIORITY) options.jitter_ns = 0;
        if (options.pools[p].rules == POOL_CACHED) options.pools[p].maximum = INT32_MAX;
        if (options.pools[p].rules != POOL_GROWING) continue;
        options.pools[p].maximum += (uint32_t)random_below(&random, 3);
        options.pools[p].capacity = 1 + (uint32_t)random_below(&random, 4);
        options.pools[p].caller_runs = random_below(&random, 2);
    }
    for (unsigned d = 0; d < DISPATCH_KINDS; d++) {
        options.bracket_ns[d] = 40 + 100 * d + random_below(&random, 500);
        options.pickup_ns[d] = 60 + 200 * d + random_below(&random, 1000);
    }
    return options;
}

void random_pool_add_keep_alive(struct random_pool *options) {
    struct random_source random = {options->seed ^ UINT64_C(0xA11E)};
    options->dies_out = random_below(&random, 2);
    for (uint32_t p = 0; p < options->pool_count; p++) {
        if (options->pools[p].rules == POOL_STEALING || random_below(&random, 4) == 0) continue;
        options->pools[p].keep_alive_ns = 1 + random_below(&random, options->work_ns * (1 + random_below(&random, 3)));
        options->pools[p].core_times_out = random_below(&random, 2);
    }
}

void random_pool_add_growth(struct random_pool *options) {
    struct random_source random = {options->seed ^ UINT64_C(0x6120)};
    for (uint32_t p = 0; p < options->pool_count; p++) {
        if (options->pools[p].rules == POOL_STEALING || options->pools[p].rules == POOL_CACHED) continue;
        options->pools[p].grows_first = p == 0 || random_below(&random, 2);
        options->pools[p].wakes_first = random_below(&random, 2);
        options->pools[p].maximum += (uint32_t)random_below(&random, 4);
        if (options->pools[p].grows_first) continue;
        if (options->pools[p].rules != POOL_GROWING) options->pools[p].maximum = options->pools[p].threads;
    }
}

void random_pool_add_resources(struct random_pool *options, bool limits) {
    static const enum resource_kind kinds[] = {RESOURCE_LOCK, RESOURCE_PERMITS, RESOURCE_PERMITS,
                                               RESOURCE_READ_WRITE_LOCK};
    struct random_source random = {options->seed ^ UINT64_C(0x1057)};
    options->limits = limits;
    options->resource_count = 1 + (uint32_t)random_below(&random, RANDOM_RESOURCES_MAX);
    for (uint32_t i = 0; i < options->resource_count; i++) {
        options->resources[i].kind = kinds[random_below(&random, sizeof kinds / sizeof *kinds)];
        bool permits = options->resources[i].kind == RESOURCE_PERMITS;
        options->resources[i].capacity = permits ? 1 + (uint32_t)random_below(&random, 3) : 1;
        options->resources[i].fair = random_below(&random, 2);
        options->resources[i].readers_pass = random_below(&random, 2);
    }
}
