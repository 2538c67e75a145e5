// SPDX-License-Identifier: GPL-3.0-or-later
// Every step of the simulation is one event at its thread's present time, and the thread that is furthest behind makes
// the next step: so events come in order of time over all threads, and what has happened is known when it matters.
#include "random_trace.h"

#include <stdlib.h>

enum {
    TASKS_MAX = 40,
    OPS_MAX = 24,
    THREADS_MAX = 80,
    FRAMES_MAX = TASKS_MAX + 2,
    POOLS_MAX = 2,
    METHODS = 4,
    SITES = 5,
    PROMISES_MAX = 8,
    LOCKS = 2,
    MAIN_ID = 1000,
    PROMISE_ID = 2000,
    MADE_THREAD_ID = 3000, // run() of workers and carriers
    LOCK_ID = 4000,
    ACTOR_ID = 5000,
    MESSAGE_ID = 6000,
};

enum op_kind {
    OP_ENTER,
    OP_EXIT,
    OP_SPAWN,
    OP_WAIT,
    OP_COMPLETE,
    OP_NESTED,
    OP_SHUTDOWN,
    OP_AWAIT_POOL,
    OP_SLEEP,
    OP_LOCK,
    OP_UNLOCK,
    OP_SEND,
    OP_HANDLE,
    OP_HANDLED
};

struct op {
    enum op_kind kind;
    uint32_t what; // method, task or promise, pool, site, or lock
};

enum manner { BY_POOL, BY_THREAD, BY_CARRIER, BY_CALLER };

struct program_task {
    struct op ops[OPS_MAX];
    uint32_t op_count, pool; // pool: 0-based
    enum manner manner;
    bool early_result, created_event;
};

struct program {
    struct program_task tasks[TASKS_MAX]; // [0] is main
    uint32_t task_count, promise_count, pool_count;
};

// Where a thread is in what it does. A frame is a body; steps within it are counted by phase.
enum phase {
    IN_BODY,
    CREATED_IT,
    IN_BRACKET,
    MAKING_THREAD,
    LEAVING_BRACKET,
    IN_WAIT,
    SLEEPING,
    BLOCKED,
    RESULT_GIVEN
};

struct frame {
    uint32_t task, op, message; // message: handled in it now, 0 none
    enum phase phase;
    bool nested; // never submitted
};

enum thread_state { READY, ASLEEP, GONE };
enum role { MAIN_THREAD, RUN_THREAD, WORKER, CARRIER };
enum worker_phase { STARTING, BEGINNING, TAKING, RUNNING, ASKING, IDLING, WOKEN, RETIRING, ENDING };

struct sim_thread {
    uint64_t now;
    enum thread_state state;
    enum role role;
    enum worker_phase phase;
    uint32_t pool, first_task; // of a worker or carrier; first_task of a run thread, too
    uint64_t run_id, cpu;
    struct frame frames[FRAMES_MAX];
    uint32_t depth;
};

struct sim_pool {
    uint32_t id, workers, maximum, queue[TASKS_MAX], head, tail;
    bool helps, asks_directly, shut_down; // asks_directly: no IDLE and BUSY between tasks that queue
};

struct sim {
    struct trace_builder *tb;
    struct random_source random;
    struct program program;
    struct sim_thread threads[THREADS_MAX];
    uint32_t thread_count;
    struct sim_pool pools[POOLS_MAX];
    uint32_t methods[METHODS], sites[SITES], task_class;
    bool done[TASKS_MAX], promise_done[PROMISES_MAX], held[LOCKS];
    bool has_actors;
    uint32_t sent, handled; // messages
};

uint64_t random_below(struct random_source *source, uint64_t limit) { // splitmix64
    uint64_t z = source->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % limit;
}

static uint32_t roll(struct sim *sim, uint32_t limit) {
    return (uint32_t)random_below(&sim->random, limit);
}

// ---- the program

static void add_op(struct program_task *task, enum op_kind kind, uint32_t what) {
    if (task->op_count < OPS_MAX) task->ops[task->op_count++] = (struct op){kind, what};
}

static uint32_t make_task(struct sim *sim, uint32_t depth);

// Nothing is spawned or awaited with a lock held, so that locks alone stop no program.
static void add_locked(struct sim *sim, struct program_task *task) {
    if (task->op_count + 3 > OPS_MAX) return;
    uint32_t lock = roll(sim, LOCKS);
    add_op(task, OP_LOCK, lock);
    add_op(task, OP_ENTER, roll(sim, METHODS));
    add_op(task, OP_UNLOCK, lock);
}

static enum manner random_manner(struct sim *sim) {
    uint32_t die = roll(sim, 20);
    return die < 14 ? BY_POOL : die < 16 ? BY_THREAD : die < 18 ? BY_CARRIER : BY_CALLER;
}

// Spawns a few, waits for some. With luck one child waits for what its parent or a later child brings.
static void add_family(struct sim *sim, struct program_task *task, uint32_t depth) {
    uint32_t children[3], count = 1 + roll(sim, 3), promise = PROMISES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (sim->program.task_count >= TASKS_MAX - 5) return; // the depth can take four more
        children[i] = make_task(sim, depth + 1);
        if (roll(sim, 10) == 0 && sim->program.promise_count < PROMISES_MAX) {
            promise = sim->program.promise_count++;
            add_op(&sim->program.tasks[children[i]], OP_WAIT, TASKS_MAX + promise);
        }
        if (i > 0 && roll(sim, 8) == 0) add_op(&sim->program.tasks[children[i - 1]], OP_WAIT, children[i]);
        add_op(task, OP_SPAWN, children[i]);
        if (roll(sim, 3) == 0) add_op(task, OP_ENTER, roll(sim, METHODS));
        if (roll(sim, 3) == 0) add_op(task, OP_WAIT, children[i]);
        if (promise < PROMISES_MAX && (roll(sim, 2) || i + 1 == count)) add_op(task, OP_COMPLETE, promise);
    }
    for (uint32_t i = count; i-- > 0;) {
        if (roll(sim, 3)) add_op(task, OP_WAIT, children[i]);
        if (roll(sim, 6) == 0) add_op(task, OP_SLEEP, roll(sim, SITES));
    }
}

static uint32_t make_task(struct sim *sim, uint32_t depth) {
    uint32_t index = sim->program.task_count++;
    struct program_task *task = &sim->program.tasks[index];
    task->manner = random_manner(sim);
    task->pool = roll(sim, sim->program.pool_count);
    task->early_result = roll(sim, 2);
    task->created_event = roll(sim, 2);
    for (uint32_t i = roll(sim, 3); i > 0; i--) add_op(task, OP_ENTER, roll(sim, METHODS));
    for (uint32_t i = roll(sim, 3); i > 0; i--) add_locked(sim, task);
    const bool handles = sim->has_actors && roll(sim, 2);
    if (handles) add_op(task, OP_HANDLE, 0);
    for (uint32_t i = sim->has_actors ? roll(sim, 3) : 0; i > 0; i--) add_op(task, OP_SEND, 0);
    bool full = sim->program.task_count >= TASKS_MAX - 6;
    if (!full && depth < 4 && roll(sim, depth + 1) < 2) add_family(sim, task, depth);
    if (!full && roll(sim, 8) == 0) {
        uint32_t nested = make_task(sim, depth + 3);
        add_op(task, OP_NESTED, nested);
        if (roll(sim, 2)) add_op(task, OP_WAIT, nested);
        if (roll(sim, 2) && index > 0) add_op(&sim->program.tasks[roll(sim, index)], OP_WAIT, nested);
    }
    if (handles) add_op(task, OP_HANDLED, 0);
    for (uint32_t i = roll(sim, 3); i > 0; i--) add_op(task, OP_EXIT, roll(sim, METHODS));
    return index;
}

static void make_program(struct sim *sim) {
    sim->program.pool_count = 1 + roll(sim, POOLS_MAX);
    make_task(sim, 0);
    add_family(sim, &sim->program.tasks[0], 0);
    for (uint32_t p = 0; p < sim->program.pool_count; p++) {
        if (roll(sim, 2)) add_op(&sim->program.tasks[0], OP_SHUTDOWN, p);
        if (roll(sim, 3) == 0) add_op(&sim->program.tasks[0], OP_AWAIT_POOL, p);
    }
}

// ---- its run

#define EMIT(sim, thread, ...)                                                                                         \
    tb_event((sim)->tb, (uint32_t)((thread) - (sim)->threads) + 1, (thread)->now, __VA_ARGS__)

static uint64_t id_of(uint32_t task) {
    return MAIN_ID + task;
}

static uint64_t target_id(uint32_t target) {
    return target < TASKS_MAX ? id_of(target) : PROMISE_ID + (target - TASKS_MAX);
}

static bool target_done(const struct sim *sim, uint32_t target) {
    return target < TASKS_MAX ? sim->done[target] : sim->promise_done[target - TASKS_MAX];
}

static uint64_t cpu_after(struct sim *sim, struct sim_thread *thread) {
    return thread->cpu += 1 + roll(sim, 50);
}

static struct frame *top(struct sim_thread *thread) {
    return &thread->frames[thread->depth - 1];
}

static void push(struct sim_thread *thread, uint32_t task, bool nested) {
    thread->frames[thread->depth++] = (struct frame){.task = task, .nested = nested};
}

static struct sim_thread *make_thread(struct sim *sim, uint64_t now, enum role role, uint64_t run_id) {
    struct sim_thread *thread = &sim->threads[sim->thread_count++];
    *thread = (struct sim_thread){.now = now + 1 + roll(sim, 500), .role = role, .run_id = run_id, .cpu = 1};
    tb_thread(sim->tb, sim->thread_count, "thread", 0);
    return thread;
}

static void wake(struct sim *sim, struct sim_thread *thread, uint64_t now) {
    if (thread->state != ASLEEP) return;
    thread->state = READY;
    uint64_t at = now + roll(sim, 200);
    thread->now = at > thread->now ? at : thread->now;
}

static bool pool_over(const struct sim *sim, uint32_t pool) {
    if (!sim->pools[pool].shut_down) return false;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        const struct sim_thread *thread = &sim->threads[i];
        if (thread->role == WORKER && thread->pool == pool && thread->state != GONE && thread->phase != ENDING) {
            return false;
        }
    }
    return true;
}

// Wakes whoever can go on now that something has happened.
static void wake_waiters(struct sim *sim, uint64_t now) {
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        if (thread->state != ASLEEP || thread->depth == 0 || top(thread)->phase != IN_WAIT) continue;
        const struct op *op = &sim->program.tasks[top(thread)->task].ops[top(thread)->op];
        bool over = op->kind == OP_WAIT ? target_done(sim, op->what) : pool_over(sim, op->what);
        if (over) wake(sim, thread, now);
    }
}

static void enqueue(struct sim *sim, uint32_t task, uint64_t now) {
    struct sim_pool *pool = &sim->pools[sim->program.tasks[task].pool];
    pool->queue[pool->tail++] = task;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        bool idle = thread->role == WORKER && &sim->pools[thread->pool] == pool && thread->phase == IDLING;
        if (idle && thread->state == ASLEEP) {
            wake(sim, thread, now);
            return;
        }
    }
}

static void give_result(struct sim *sim, struct sim_thread *thread, uint32_t task) {
    sim->done[task] = true;
    wake_waiters(sim, thread->now);
}

// The bracket's inside: a worker or a carrier may have to be made, or the task is run here and now.
static void begin_spawn(struct sim *sim, struct sim_thread *thread, uint32_t task) {
    struct program_task *spawned = &sim->program.tasks[task];
    struct sim_pool *pool = &sim->pools[spawned->pool];
    bool new_thread = sim->thread_count < THREADS_MAX;
    if (spawned->manner != BY_POOL && spawned->manner != BY_CALLER && !new_thread) spawned->manner = BY_CALLER;
    uint64_t pool_id = spawned->manner == BY_POOL ? pool->id : 0;
    EMIT(sim, thread, EVENT_SPAWN_BEGIN, id_of(task), sim->sites[task % SITES], pool_id);
    top(thread)->phase = LEAVING_BRACKET;
    if (spawned->manner == BY_THREAD) {
        make_thread(sim, thread->now, RUN_THREAD, id_of(task))->first_task = task;
    } else if (spawned->manner == BY_CALLER) {
        push(thread, task, false);
        top(thread)->phase = IN_BRACKET;
    } else if (spawned->manner == BY_CARRIER || (pool->workers < pool->maximum && new_thread && !pool->shut_down)) {
        top(thread)->phase = MAKING_THREAD;
    } else if (pool->shut_down) { // runs as a caller's, as CallerRunsPolicy does not; good enough to end the program
        push(thread, task, false);
        top(thread)->phase = IN_BRACKET;
    } else {
        enqueue(sim, task, thread->now);
    }
}

static void make_worker(struct sim *sim, struct sim_thread *thread, uint32_t task) {
    struct program_task *spawned = &sim->program.tasks[task];
    uint64_t run_id = MADE_THREAD_ID + sim->thread_count;
    EMIT(sim, thread, EVENT_SPAWN_BEGIN, run_id, 0, 0);
    struct sim_thread *made = make_thread(sim, thread->now, spawned->manner == BY_CARRIER ? CARRIER : WORKER, run_id);
    made->pool = spawned->pool;
    made->first_task = task;
    if (made->role == WORKER) sim->pools[made->pool].workers++;
    thread->now += 1 + roll(sim, 20);
    EMIT(sim, thread, EVENT_SPAWN_END, run_id);
    top(thread)->phase = LEAVING_BRACKET;
}

static void begin_wait(struct sim *sim, struct sim_thread *thread, const struct op *op) {
    bool for_task = op->kind == OP_WAIT;
    if (for_task && target_done(sim, op->what)) {
        EMIT(sim, thread, EVENT_TAKEN, target_id(op->what));
        top(thread)->op++;
        return;
    }
    uint64_t target = for_task ? target_id(op->what) : sim->pools[op->what].id;
    EMIT(sim, thread, EVENT_WAIT_BEGIN, target, cpu_after(sim, thread),
         tb_wait(for_task ? WAIT_FOR_TASK : WAIT_FOR_POOL, sim->sites[op->what % SITES]));
    top(thread)->phase = IN_WAIT;
}

// In a wait: over, helping with what is queued, or asleep.
static void go_on_waiting(struct sim *sim, struct sim_thread *thread, const struct op *op) {
    bool over = op->kind == OP_WAIT ? target_done(sim, op->what) : pool_over(sim, op->what);
    struct sim_pool *pool = &sim->pools[thread->pool];
    if (over) {
        uint64_t target = op->kind == OP_WAIT ? target_id(op->what) : sim->pools[op->what].id;
        EMIT(sim, thread, EVENT_WAIT_END, target, cpu_after(sim, thread));
        top(thread)->phase = IN_BODY;
        top(thread)->op++;
    } else if (thread->role == WORKER && pool->helps && pool->head < pool->tail && thread->depth < FRAMES_MAX - 2) {
        push(thread, pool->queue[--pool->tail], false);
        top(thread)->phase = IN_BRACKET;
    } else {
        thread->state = ASLEEP;
    }
}

// For nobody knows what.
static void begin_sleep(struct sim *sim, struct sim_thread *thread, uint32_t site) {
    EMIT(sim, thread, EVENT_WAIT_BEGIN, 0, cpu_after(sim, thread), tb_wait(WAIT_FOR_UNKNOWN, sim->sites[site]));
    top(thread)->phase = SLEEPING;
}

static void end_sleep(struct sim *sim, struct sim_thread *thread) {
    EMIT(sim, thread, EVENT_WAIT_END, 0, cpu_after(sim, thread));
    top(thread)->phase = IN_BODY;
    top(thread)->op++;
}

// Without a contender nothing is recorded.
static void begin_lock(struct sim *sim, struct sim_thread *thread, uint32_t lock) {
    if (sim->held[lock]) {
        EMIT(sim, thread, EVENT_BLOCK_BEGIN, LOCK_ID + lock, cpu_after(sim, thread), sim->task_class);
        top(thread)->phase = BLOCKED;
    } else {
        sim->held[lock] = true;
        top(thread)->op++;
    }
}

static void go_on_blocked(struct sim *sim, struct sim_thread *thread, uint32_t lock) {
    if (sim->held[lock]) {
        thread->state = ASLEEP;
        return;
    }
    EMIT(sim, thread, EVENT_BLOCK_END, LOCK_ID + lock, cpu_after(sim, thread));
    sim->held[lock] = true;
    top(thread)->phase = IN_BODY;
    top(thread)->op++;
}

static void unlock(struct sim *sim, uint32_t lock, uint64_t now) {
    sim->held[lock] = false;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        if (thread->state != ASLEEP || thread->depth == 0 || top(thread)->phase != BLOCKED) continue;
        if (sim->program.tasks[top(thread)->task].ops[top(thread)->op].what == lock) wake(sim, thread, now);
    }
}

// Message 1 is the actor's initialisation.
static void send(struct sim *sim, struct sim_thread *thread) {
    const uint64_t operand = message_operand(sim->task_class, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    if (++sim->sent == 1)
        EMIT(sim, thread, EVENT_ACTOR_CREATED, ACTOR_ID, 0, sim->task_class);
    else
        EMIT(sim, thread, EVENT_MESSAGE_SENT, MESSAGE_ID + sim->sent, ACTOR_ID, operand);
}

static void handle(struct sim *sim, struct sim_thread *thread, struct frame *frame) {
    if (sim->handled == sim->sent) return;
    frame->message = ++sim->handled;
    if (frame->message == 1)
        EMIT(sim, thread, EVENT_INIT_BEGIN, ACTOR_ID, cpu_after(sim, thread));
    else
        EMIT(sim, thread, EVENT_MESSAGE_BEGIN, MESSAGE_ID + frame->message, cpu_after(sim, thread), ACTOR_ID);
}

static void end_handling(struct sim *sim, struct sim_thread *thread, struct frame *frame) {
    if (frame->message == 1)
        EMIT(sim, thread, EVENT_INIT_END, ACTOR_ID, cpu_after(sim, thread));
    else if (frame->message)
        EMIT(sim, thread, EVENT_MESSAGE_END, MESSAGE_ID + frame->message, cpu_after(sim, thread));
    frame->message = 0;
}

static void run_op(struct sim *sim, struct sim_thread *thread) {
    struct frame *frame = top(thread);
    const struct op *op = &sim->program.tasks[frame->task].ops[frame->op];
    switch (op->kind) {
    case OP_ENTER:
    case OP_EXIT:
        EMIT(sim, thread, op->kind == OP_ENTER ? EVENT_ENTER : EVENT_EXIT, sim->methods[op->what]);
        break;
    case OP_SPAWN:
        if (sim->program.tasks[op->what].created_event && frame->phase == IN_BODY) {
            EMIT(sim, thread, EVENT_TASK_CREATED, id_of(op->what), sim->task_class);
            frame->phase = CREATED_IT;
            return;
        }
        begin_spawn(sim, thread, op->what);
        return;
    case OP_COMPLETE:
        EMIT(sim, thread, EVENT_RESULT, PROMISE_ID + op->what);
        sim->promise_done[op->what] = true;
        wake_waiters(sim, thread->now);
        break;
    case OP_NESTED:
        frame->op++;
        push(thread, op->what, true);
        top(thread)->phase = IN_BRACKET;
        EMIT(sim, thread, EVENT_TASK_CREATED, id_of(op->what), sim->task_class);
        return;
    case OP_SHUTDOWN:
        EMIT(sim, thread, EVENT_POOL_SHUTDOWN, sim->pools[op->what].id);
        sim->pools[op->what].shut_down = true;
        for (uint32_t i = 0; i < sim->thread_count; i++) {
            struct sim_thread *other = &sim->threads[i];
            if (other->role == WORKER && other->pool == op->what && other->phase == IDLING) {
                wake(sim, other, thread->now);
            }
        }
        wake_waiters(sim, thread->now);
        break;
    case OP_LOCK:
        begin_lock(sim, thread, op->what);
        return;
    case OP_UNLOCK:
        unlock(sim, op->what, thread->now);
        break;
    case OP_WAIT:
    case OP_AWAIT_POOL:
        begin_wait(sim, thread, op);
        return;
    case OP_SLEEP:
        begin_sleep(sim, thread, op->what);
        return;
    case OP_SEND:
        send(sim, thread);
        break;
    case OP_HANDLE:
        handle(sim, thread, frame);
        break;
    case OP_HANDLED:
        end_handling(sim, thread, frame);
        break;
    }
    frame->op++;
}

// The end of the body on top; a thread's own run() ends with its thread.
static void end_body(struct sim *sim, struct sim_thread *thread) {
    struct frame *frame = top(thread);
    uint32_t task = frame->task;
    bool own_run = thread->depth == 1 && (thread->role == MAIN_THREAD || thread->role == RUN_THREAD);
    if (frame->phase == IN_BODY && sim->program.tasks[task].early_result && !own_run) {
        EMIT(sim, thread, EVENT_RESULT, id_of(task));
        frame->phase = RESULT_GIVEN;
        give_result(sim, thread, task);
        return;
    }
    if (own_run)
        EMIT(sim, thread, EVENT_THREAD_END, thread->run_id, cpu_after(sim, thread));
    else
        EMIT(sim, thread, EVENT_TASK_END, id_of(task), cpu_after(sim, thread), TASK_RETURNED);
    if (frame->phase != RESULT_GIVEN) give_result(sim, thread, task);
    thread->depth--;
    if (own_run) thread->state = GONE;
}

static void step_body(struct sim *sim, struct sim_thread *thread) {
    struct frame *frame = top(thread);
    const struct program_task *task = &sim->program.tasks[frame->task];
    const struct op *op = &task->ops[frame->op];
    switch (frame->phase) {
    case IN_BRACKET: // not begun yet
        EMIT(sim, thread, EVENT_TASK_START, id_of(frame->task), cpu_after(sim, thread));
        frame->phase = IN_BODY;
        break;
    case MAKING_THREAD:
        make_worker(sim, thread, op->what);
        break;
    case LEAVING_BRACKET:
        EMIT(sim, thread, EVENT_SPAWN_END, id_of(op->what), SPAWN_ACCEPTED);
        frame->phase = IN_BODY;
        frame->op++;
        break;
    case IN_WAIT:
        go_on_waiting(sim, thread, op);
        break;
    case SLEEPING:
        end_sleep(sim, thread);
        break;
    case BLOCKED:
        go_on_blocked(sim, thread, op->what);
        break;
    default:
        if (frame->op < task->op_count && frame->phase != RESULT_GIVEN)
            run_op(sim, thread);
        else
            end_body(sim, thread);
    }
}

static void take_task(struct sim_thread *thread, uint32_t task) {
    push(thread, task, false);
    top(thread)->phase = IN_BRACKET;
    thread->phase = RUNNING;
}

static void step_worker(struct sim *sim, struct sim_thread *thread) {
    struct sim_pool *pool = &sim->pools[thread->pool];
    bool queued = pool->head < pool->tail;
    switch (thread->phase) {
    case STARTING:
        EMIT(sim, thread, EVENT_THREAD_START, thread->run_id, cpu_after(sim, thread));
        thread->phase = BEGINNING;
        break;
    case BEGINNING:
        EMIT(sim, thread, EVENT_WORKER_BEGIN, thread->role == WORKER ? pool->id : 0);
        take_task(thread, thread->first_task);
        break;
    case RUNNING: // between tasks
        if (thread->role == CARRIER) {
            thread->phase = ENDING;
        } else if (pool->asks_directly && queued) {
            take_task(thread, pool->queue[pool->head++]);
        } else {
            EMIT(sim, thread, EVENT_IDLE, pool->id);
            thread->phase = IDLING;
        }
        break;
    case IDLING:
        if (queued) {
            EMIT(sim, thread, EVENT_BUSY, pool->id);
            take_task(thread, pool->queue[pool->head++]);
        } else if (pool->shut_down) {
            EMIT(sim, thread, EVENT_RETIRE, pool->id);
            thread->phase = ENDING;
            wake_waiters(sim, thread->now);
        } else {
            thread->state = ASLEEP;
        }
        break;
    default:
        EMIT(sim, thread, EVENT_THREAD_END, thread->run_id, cpu_after(sim, thread));
        thread->state = GONE;
    }
}

static void step(struct sim *sim, struct sim_thread *thread) {
    if (thread->depth) {
        step_body(sim, thread);
    } else if (thread->role == WORKER || thread->role == CARRIER) {
        step_worker(sim, thread);
    } else {
        bool is_main = thread->role == MAIN_THREAD;
        EMIT(sim, thread, is_main ? EVENT_MAIN_BEGIN : EVENT_THREAD_START, thread->run_id, cpu_after(sim, thread));
        push(thread, is_main ? 0 : thread->first_task, false);
    }
    thread->now += 1 + (roll(sim, 4) ? roll(sim, 30) : roll(sim, 2000));
}

static struct sim_thread *furthest_behind(struct sim *sim) {
    struct sim_thread *found = NULL;
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct sim_thread *thread = &sim->threads[i];
        if (thread->state == READY && (!found || thread->now < found->now)) found = thread;
    }
    return found;
}

static struct trace_builder *make_trace(uint64_t seed, bool has_actors) {
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim) abort();
    sim->has_actors = has_actors;
    sim->random.state = seed;
    sim->tb = tb_new();
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (uint32_t i = 0; i < METHODS; i++) sim->methods[i] = tb_method(sim->tb, "Program", names[i]);
    for (uint32_t i = 0; i < SITES; i++) sim->sites[i] = tb_site(sim->tb, "Program", names[i], 10 + i);
    sim->task_class = tb_class(sim->tb, "Program.lambda$main$0");
    for (uint32_t i = 0; i < POOLS_MAX; i++) {
        uint32_t maximum = 1 + roll(sim, 3);
        sim->pools[i] = (struct sim_pool){
            tb_pool(sim->tb, "pool", (int32_t)maximum), 0, maximum, {0}, 0, 0, roll(sim, 2), roll(sim, 2), false};
    }
    make_program(sim);
    make_thread(sim, 0, MAIN_THREAD, id_of(0))->now = 0;
    for (struct sim_thread *thread; (thread = furthest_behind(sim));) step(sim, thread);
    struct trace_builder *tb = sim->tb;
    free(sim);
    return tb;
}

struct trace_builder *random_trace(uint64_t seed) {
    return make_trace(seed, false);
}

struct trace_builder *random_actors(uint64_t seed) {
    return make_trace(seed, true);
}

// Without numbers that the file may not have.
static uint64_t random_actor_operand(struct random_source *random, uint64_t kind, uint32_t class) {
    if (kind == EVENT_REQUEST_END) return random_below(random, REQUEST_FAILED + 1);
    if (kind == EVENT_MESSAGE_SENT) return message_operand(class, MESSAGE_OF_PROGRAM, MESSAGE_TO_ACTOR, false);
    if (kind == EVENT_ACTOR_CREATED) return class;
    return random_below(random, kind == EVENT_INIT_END ? INIT_OUTCOMES : MESSAGE_OUTCOMES);
}

struct trace_builder *random_actor_events(uint64_t seed) {
    enum { THREADS = 3, IDS = 9, EVENTS = 70, ENDPOINTS = 3 };
    static const uint8_t others[] = {EVENT_TASK_START, EVENT_TASK_END, EVENT_THREAD_START, EVENT_THREAD_END,
                                     EVENT_RESULT,     EVENT_TAKEN,    EVENT_LOST,         EVENT_RUN_DELAY,
                                     EVENT_TURNS,      EVENT_ALLOCATED};
    struct random_source random = {seed};
    struct trace_builder *tb = tb_new();
    const uint32_t class = tb_class(tb, "Noise");
    for (unsigned i = 1; i < ENDPOINTS; i++) tb_endpoint(tb, "GET /noise");
    uint64_t now[THREADS + 1] = {0};
    for (uint32_t t = 1; t <= THREADS; t++) tb_thread(tb, t, "thread", 0);
    tb_event(tb, 1, 0, EVENT_LOST, 0);
    for (unsigned i = 0; i < EVENTS; i++) {
        const uint32_t thread = 1 + (uint32_t)random_below(&random, THREADS);
        const uint64_t any = random_below(&random, EVENT_COMPILING - EVENT_MESSAGE_SENT + sizeof others);
        const bool other = any < sizeof others;
        const uint64_t kind = other ? others[any] : EVENT_MESSAGE_SENT + any - sizeof others;
        const uint64_t id = random_below(&random, IDS);
        const uint64_t b = random_below(&random, kind == EVENT_REQUEST_NAMED ? ENDPOINTS : IDS);
        now[thread] += 1 + random_below(&random, 100);
        tb_event(tb, thread, now[thread], kind, id, b, other ? 0 : random_actor_operand(&random, kind, class));
    }
    return tb;
}

struct trace_builder *random_events(uint64_t seed) {
    enum { THREADS = 3, IDS = 9, EVENTS = 70 };
    struct random_source random = {seed};
    struct trace_builder *tb = tb_new();
    uint32_t method = tb_method(tb, "Noise", "make"), site = tb_site(tb, "Noise", "make", 1);
    uint32_t task_class = tb_class(tb, "Noise"), pool = tb_pool(tb, "pool", 1);
    uint64_t now[THREADS + 1] = {0};
    for (uint32_t t = 1; t <= THREADS; t++) tb_thread(tb, t, "thread", 0);
    tb_event(tb, 1, 0, EVENT_ENTER, method);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint32_t thread = 1 + (uint32_t)random_below(&random, THREADS);
        uint64_t kind = 1 + random_below(&random, EVENT_SAMPLE - 4), id = random_below(&random, IDS), b = 0, c = 0;
        now[thread] += 1 + random_below(&random, 100);
        if (kind >= EVENT_GC_BEGIN) kind += EVENT_RUN_DELAY - EVENT_GC_BEGIN; // no events of thread 0
        if (kind <= EVENT_EXIT_THROW) id = method;
        if (kind == EVENT_BLOCK_BEGIN) c = task_class;
        if (kind == EVENT_TASK_CREATED) b = task_class;
        if (kind == EVENT_SPAWN_BEGIN) b = site, c = random_below(&random, 2) ? pool : 0;
        if (kind == EVENT_SPAWN_END) b = random_below(&random, 2);
        if (kind >= EVENT_WORKER_BEGIN && kind <= EVENT_POOL_SHUTDOWN) id = pool;
        if (kind == EVENT_WAIT_BEGIN) {
            c = tb_wait((enum wait_for)random_below(&random, 3), site);
            if (c >> 32 == WAIT_FOR_POOL) id = pool;
        }
        tb_event(tb, thread, now[thread], kind, id, b, c);
    }
    return tb;
}
