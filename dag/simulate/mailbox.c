// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/mailbox.h"

#include <stdlib.h>

enum { LEAST_THROUGHPUT = 5 }; // the default of Akka and Pekko

static uint32_t actor_of(const struct simulation *sim, uint32_t job) {
    return sim->dag->actors && job < sim->dag->task_count ? sim->dag->actors[job] : 0;
}

// The most jobs of one actor that a worker of the pool ran in a row.
static void find_throughput(struct simulation *sim) {
    const struct dag *dag = sim->dag;
    for (uint32_t p = 0; p < sim->pool_count; p++) sim->pools[p].throughput = LEAST_THROUGHPUT;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        struct pool_state *pool = &sim->pools[dag->threads[i].pool < sim->pool_count ? dag->threads[i].pool : 0];
        uint32_t in_a_row = 0;
        for (uint32_t v = dag->threads[i].first; v < dag->threads[i].first + dag->threads[i].count; v++) {
            if (dag->vertices.kind[v] != VERTEX_START) continue;
            in_a_row = dag->tasks[dag->vertices.task[v]].dispatch == DISPATCH_NEXT ? in_a_row + 1 : 1;
            if (in_a_row > pool->throughput) pool->throughput = in_a_row;
        }
    }
}

bool mailboxes_new(struct simulation *sim) {
    if (!sim->dag->actors) return true;
    sim->mailboxes = calloc((size_t)sim->dag->actor_count + 1, sizeof *sim->mailboxes);
    sim->next_mail = malloc(((size_t)sim->dag->task_count + 1) * sizeof *sim->next_mail);
    if (sim->mailboxes && sim->next_mail) find_throughput(sim);
    return sim->mailboxes && sim->next_mail;
}

void mailboxes_free(struct simulation *sim) {
    free(sim->mailboxes);
    free(sim->next_mail);
}

void mailboxes_begin_run(struct simulation *sim) {
    for (uint32_t a = 0; sim->mailboxes && a <= sim->dag->actor_count; a++)
        sim->mailboxes[a] = (struct mailbox){.first = DAG_NONE, .last = DAG_NONE, .running = DAG_NONE};
}

bool mailbox_keeps(struct simulation *sim, uint32_t job) {
    uint32_t actor = actor_of(sim, job);
    struct mailbox *box = &sim->mailboxes[actor];
    if (!actor) return false;
    if (box->running == DAG_NONE) {
        box->running = job;
        box->in_a_row = 1;
        return false;
    }
    sim->next_mail[job] = DAG_NONE;
    if (box->last == DAG_NONE)
        box->first = job;
    else
        sim->next_mail[box->last] = job;
    box->last = job;
    return true;
}

static uint32_t take_first(struct simulation *sim, struct mailbox *box) {
    uint32_t job = box->first;
    box->first = sim->next_mail[job];
    if (box->first == DAG_NONE) box->last = DAG_NONE;
    return box->running = job;
}

bool mailbox_next(struct simulation *sim, uint32_t worker, uint32_t *next) {
    const struct process *process = &sim->processes[worker];
    uint32_t actor = process->worker.task == DAG_NONE ? 0 : actor_of(sim, process->worker.task);
    struct mailbox *box = &sim->mailboxes[actor];
    *next = DAG_NONE;
    if (!actor || box->running != process->worker.task) return false;
    box->running = DAG_NONE;
    if (box->first == DAG_NONE) return false;
    *next = take_first(sim, box);
    if (++box->in_a_row <= sim->pools[process->worker.pool].throughput) return true;
    box->in_a_row = 1;
    return false;
}
