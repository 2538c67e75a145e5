// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/mailbox.h"

#include "dag/order.h"
#include "dag/simulate/throughput.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct simulation *sim, uint32_t count) {
    if (count <= sim->mailbox_capacity) return true;
    struct mailbox *moved = realloc(sim->mailboxes, count * sizeof *moved);
    if (!moved) return false;
    sim->mailboxes = moved;
    sim->mailbox_capacity = count;
    return true;
}

// Whether pools dispatch it, and not the body that it lies in.
static bool is_job(const struct dag_task *task) {
    return task->start != DAG_NONE && task->spawn_begin != DAG_NONE && task->enclosing == DAG_NONE;
}

static uint32_t collect_jobs(const struct dag *dag, struct order_key *jobs) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (!dag->actor_of[t] || !is_job(&dag->tasks[t])) continue;
        jobs[count++] = (struct order_key){dag->vertices.time_ns[dag->tasks[t].start], dag->tasks[t].start, t};
    }
    return count;
}

// Whether one of the program's messages had been there when that of the library was sent which was handled before it.
static bool waited(const struct dag *dag, uint32_t before, uint32_t index) {
    const struct dag_task *upkeep = &dag->tasks[before], *task = &dag->tasks[index];
    if (!(upkeep->flags & TASK_UPKEEP) || task->flags & (TASK_UPKEEP | TASK_INIT)) return false;
    return dag->vertices.time_ns[upkeep->spawn_begin] > dag->vertices.time_ns[task->spawn_begin];
}

// In the order in which each actor's jobs were recorded to start.
static bool find_waits(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    struct order_key *jobs = malloc(((size_t)dag->task_count + 1) * sizeof *jobs);
    uint32_t *before = malloc(((size_t)dag->actor_count + 1) * sizeof *before);
    sim->waits_for = malloc(((size_t)dag->task_count + 1) * sizeof *sim->waits_for);
    uint32_t count = jobs && before && sim->waits_for ? collect_jobs(dag, jobs) : 0;
    bool ok = jobs && before && sim->waits_for && order_sort(jobs, count);
    for (uint32_t t = 0; ok && t < dag->task_count; t++) sim->waits_for[t] = DAG_NONE;
    for (uint32_t a = 0; ok && a <= dag->actor_count; a++) before[a] = DAG_NONE;
    for (uint32_t i = 0; ok && i < count; i++) {
        const uint32_t job = jobs[i].item, actor = dag->actor_of[job];
        if (before[actor] != DAG_NONE && waited(dag, before[actor], job)) sim->waits_for[job] = before[actor];
        before[actor] = job;
    }
    free(jobs);
    free(before);
    return ok;
}

bool mailboxes_new(struct simulation *sim) {
    if (!sim->dag->actor_of) return true;
    return find_throughputs(sim) && reserve(sim, sim->dag->actor_count + 1) && find_waits(sim);
}

void mailboxes_free(struct simulation *sim) {
    free(sim->saved_ns);
    free(sim->drops);
    free(sim->droppable);
    free(sim->mailboxes);
    free(sim->next_mail);
    free(sim->mailbox_of);
    free(sim->waits_for);
}

// Whether all that a body hands over, makes or brings about goes as well.
static bool leads_to_nothing(const struct simulation *sim, const struct dag_task *task) {
    const struct dag_vertices *vertices = &sim->dag->vertices;
    if (task->start == DAG_NONE || task->end == DAG_NONE) return false;
    for (uint32_t v = task->start + 1; v < task->end; v++) {
        const unsigned kind = vertices->kind[v];
        if (kind == VERTEX_RESULT || kind == VERTEX_SHUTDOWN) return false;
        if (kind != VERTEX_SPAWN_BEGIN && kind != VERTEX_START) continue;
        if (vertices->task[v] == DAG_NONE || !sim->drops[vertices->task[v]]) return false;
    }
    return true;
}

// The actor without which it is not needed; 0: none.
static uint32_t made_for(const struct dag *dag, uint32_t index) {
    const unsigned flags = dag->tasks[index].flags;
    if (flags & TASK_INIT) return dag->actor_of[index];
    return flags & TASK_UPKEEP ? dag->upkeep_of[index] : 0;
}

static bool find_droppable(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    sim->drops = calloc((size_t)dag->task_count + 1, sizeof *sim->drops);
    sim->droppable = malloc(((size_t)dag->task_count + 1) * sizeof *sim->droppable);
    if (!sim->drops || !sim->droppable) return false;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const uint32_t start = dag->tasks[t].start;
        if (start == DAG_NONE || !made_for(dag, t)) continue;
        sim->droppable[sim->droppable_count++] = (struct order_key){dag->vertices.time_ns[start], start, t};
    }
    return order_sort(sim->droppable, sim->droppable_count);
}

// What a body hands over, or what runs in it, starts after it, and is looked at first.
static void find_drops(struct simulation *sim) {
    if (sim->edit->actors_count == 0) return;
    if (!sim->drops && !find_droppable(sim)) {
        sim->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < sim->droppable_count; i++) sim->drops[sim->droppable[i].item] = 0;
    for (uint32_t i = sim->droppable_count; i-- > 0;) {
        const uint32_t task = sim->droppable[i].item;
        const bool gone = sim->edit->actors[made_for(sim->dag, task)].gone;
        sim->drops[task] = gone && leads_to_nothing(sim, &sim->dag->tasks[task]);
    }
}

// What the edges need not do: make and stop actors that are none in this run.
static void find_savings(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    const size_t vertices = (size_t)dag->vertex_count + 1;
    if (sim->saves) memset(sim->saved_ns, 0, vertices * sizeof *sim->saved_ns);
    sim->saves = false;
    if (sim->edit->actors_count == 0) return;
    if (!sim->saved_ns) sim->saved_ns = calloc(vertices, sizeof *sim->saved_ns);
    if (!sim->saved_ns) {
        sim->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < dag->upkeep_count; i++) {
        if (!sim->edit->actors[dag->upkeeps[i].actor].gone) continue;
        sim->saved_ns[dag->upkeeps[i].vertex] += dag->upkeeps[i].ns;
        sim->saves = true;
    }
}

void mailboxes_begin_run(struct simulation *sim) {
    if (!sim->mailboxes) return;
    find_drops(sim);
    find_savings(sim);
    const uint32_t actors = sim->dag->actor_count + 1;
    uint32_t count = actors;
    for (uint32_t a = 1; sim->edit->actors_count && a < actors; a++) {
        const uint32_t copies = sim->edit->actors[a].copies;
        count += copies ? copies - 1 : 0;
    }
    if (!reserve(sim, count)) {
        sim->no_memory = true;
        return;
    }
    sim->mailbox_count = count;
    for (uint32_t m = 0; m < count; m++)
        sim->mailboxes[m] = (struct mailbox){.first = DAG_NONE,
                                             .last = DAG_NONE,
                                             .last_upkeep = DAG_NONE,
                                             .running = DAG_NONE,
                                             .next_held = DAG_NONE,
                                             .copies_at = actors};
    for (uint32_t a = 1; a < actors; a++) {
        const uint32_t copies = sim->edit->actors[a].copies, at = sim->mailboxes[a].copies_at;
        if (a + 1 < actors) sim->mailboxes[a + 1].copies_at = at + (copies ? copies - 1 : 0);
    }
    memset(sim->mailbox_of, 0, sim->job_capacity * sizeof *sim->mailbox_of);
}

// Of the copies of an actor: initialised is each, and the program's messages come to one after the other.
static uint32_t copy_for(struct simulation *sim, uint32_t job, struct mailbox *box, uint32_t copies) {
    if (job_is_part(sim, job)) return sim->regroup.part_number[job - sim->dag->task_count];
    return sim->dag->tasks[job].flags & (TASK_INIT | TASK_UPKEEP) ? 0 : box->turn++ % copies;
}

// The mailbox that a job comes to; 0: it is of no actor.
static uint32_t mailbox_for(struct simulation *sim, uint32_t job) {
    const uint32_t actor = sim->dag->actor_of[job_task(sim, job)];
    if (!actor) return 0;
    const struct actor_edit *edit = &sim->edit->actors[actor];
    if (edit->joins) return edit->joins;
    if (!edit->copies) return actor;
    const uint32_t copy = copy_for(sim, job, &sim->mailboxes[actor], edit->copies);
    return copy ? sim->mailboxes[actor].copies_at + copy - 1 : actor;
}

static void put_last(struct simulation *sim, struct mailbox *box, uint32_t job) {
    sim->next_mail[job] = DAG_NONE;
    if (box->last == DAG_NONE)
        box->first = job;
    else
        sim->next_mail[box->last] = job;
    box->last = job;
}

static void put_first(struct simulation *sim, struct mailbox *box, uint32_t job) {
    sim->next_mail[job] = box->first;
    if (box->last == DAG_NONE) box->last = job;
    box->first = job;
}

// Behind the library's others, and before all of the program's.
static void put_upkeep(struct simulation *sim, struct mailbox *box, uint32_t job) {
    if (box->last_upkeep == DAG_NONE) {
        put_first(sim, box, job);
    } else {
        sim->next_mail[job] = sim->next_mail[box->last_upkeep];
        sim->next_mail[box->last_upkeep] = job;
        if (box->last == box->last_upkeep) box->last = job;
    }
    box->last_upkeep = job;
}

static bool is_upkeep(const struct simulation *sim, uint32_t job) {
    return sim->dag->tasks[job_task(sim, job)].flags & (TASK_UPKEEP | TASK_INIT);
}

// Whether it is to wait for one of the library's messages, which has not been handled. Copies do not wait.
static bool has_to_wait(const struct simulation *sim, uint32_t job) {
    const uint32_t upkeep = job_is_part(sim, job) ? DAG_NONE : sim->waits_for[job];
    if (upkeep == DAG_NONE || task_is_dropped(sim, upkeep)) return false;
    if (sim->edit->actors[sim->dag->actor_of[job]].copies) return false;
    return sim->time_ns[sim->dag->tasks[upkeep].end] == DAG_PENDING;
}

// The first that need not wait, which runs then; DAG_NONE.
static uint32_t take_first(struct simulation *sim, struct mailbox *box) {
    uint32_t job = box->first;
    if (job == DAG_NONE || has_to_wait(sim, job)) return DAG_NONE;
    box->first = sim->next_mail[job];
    if (box->first == DAG_NONE) box->last = DAG_NONE;
    if (box->last_upkeep == job) box->last_upkeep = DAG_NONE;
    return box->running = job;
}

bool mailbox_keeps(struct simulation *sim, uint32_t job) {
    const uint32_t index = mailbox_for(sim, job);
    struct mailbox *box = &sim->mailboxes[index];
    const bool upkeep = is_upkeep(sim, job);
    if (!index) return false;
    sim->mailbox_of[job] = index;
    if (box->running == DAG_NONE && (upkeep || (box->first == DAG_NONE && !has_to_wait(sim, job)))) {
        box->running = job;
        box->in_a_row = 1;
        return false;
    }
    if (upkeep)
        put_upkeep(sim, box, job);
    else
        put_last(sim, box, job);
    return true;
}

bool mailbox_follows(struct simulation *sim, uint32_t index, uint32_t message) {
    struct process_worker *worker = &sim->processes[index].worker;
    if (!sim->edit->follows[message] || !worker->pool || sim->mailbox_of[worker->task] == 0) return false;
    sim->next_mail[message] = DAG_NONE;
    if (worker->sent == DAG_NONE)
        worker->sent = message;
    else
        sim->next_mail[worker->sent_last] = message;
    worker->sent_last = message;
    return true;
}

// What the job behind which the worker is free had sent comes before what was to follow already.
static void take_over_sent(struct simulation *sim, struct process_worker *worker) {
    if (worker->sent == DAG_NONE) return;
    sim->next_mail[worker->sent_last] = worker->follows;
    worker->follows = worker->sent;
    worker->sent = worker->sent_last = DAG_NONE;
}

// Behind a job that no other was before.
static void begin_chain(struct simulation *sim, struct process_worker *worker) {
    const uint32_t box = worker->task == DAG_NONE ? 0 : sim->mailbox_of[worker->task];
    if (worker->chain != DAG_NONE || !box || sim->mailboxes[box].running != worker->task) return;
    worker->chain = worker->task;
    worker->held = box;
    sim->mailboxes[box].next_held = DAG_NONE;
}

// The next to follow whose mailbox the worker has, or can have; DAG_NONE.
static uint32_t next_follower(struct simulation *sim, struct process_worker *worker) {
    while (worker->follows != DAG_NONE) {
        const uint32_t job = worker->follows, index = mailbox_for(sim, job);
        struct mailbox *box = &sim->mailboxes[index];
        worker->follows = sim->next_mail[job];
        sim->mailbox_of[job] = index;
        if (box->running == worker->chain) return job;
        if (box->running != DAG_NONE || box->first != DAG_NONE || has_to_wait(sim, job)) {
            put_first(sim, box, job);
            continue;
        }
        box->running = worker->chain;
        box->in_a_row = 1;
        box->next_held = worker->held;
        worker->held = index;
        return job;
    }
    return DAG_NONE;
}

enum mailbox_turn mailbox_next(struct simulation *sim, uint32_t index, uint32_t *next) {
    struct process_worker *worker = &sim->processes[index].worker;
    take_over_sent(sim, worker);
    begin_chain(sim, worker);
    *next = next_follower(sim, worker);
    if (*next != DAG_NONE) return MAILBOX_FOLLOWS;
    while (worker->held != DAG_NONE) {
        struct mailbox *box = &sim->mailboxes[worker->held];
        const bool is_first = box->next_held == DAG_NONE; // by which the chain began
        worker->held = box->next_held;
        box->running = DAG_NONE;
        *next = take_first(sim, box);
        if (*next == DAG_NONE) continue;
        const struct pool_state *pool = &sim->pools[worker->pool];
        const bool gives_way = !is_first || box->in_a_row >= pool->throughput;
        box->in_a_row = gives_way ? 1 : box->in_a_row + 1;
        if (is_first && (!gives_way || pool->queue_length == 0)) { // none to give way to: it takes it up again itself
            worker->chain = DAG_NONE;
            return MAILBOX_NEXT;
        }
        return MAILBOX_OFFERS;
    }
    worker->chain = DAG_NONE;
    return MAILBOX_DONE;
}

bool mailboxes_have_mail(const struct simulation *sim) {
    bool any = false;
    for (uint32_t m = 1; sim->mailboxes && m < sim->mailbox_count && !any; m++)
        any = sim->mailboxes[m].first != DAG_NONE;
    return any;
}
