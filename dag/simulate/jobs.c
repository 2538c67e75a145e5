// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/jobs.h"

#include <stdlib.h>

static bool resize(void *array, size_t count, size_t size) {
    void **pointer = array;
    void *moved = realloc(*pointer, count * size);
    if (moved) *pointer = moved;
    return moved != NULL;
}

// Whether there are jobs that come at a time of their own.
static bool any_is_timed(const struct dag *dag) {
    return dag->due_ns || dag->actor_of || dag->made_in || dag->trace->lost_events > 0;
}

bool jobs_reserve(struct simulation *sim, uint32_t count) {
    if (count <= sim->job_capacity) return true;
    size_t larger = (size_t)count + count / 2 + 1, parts = larger - sim->dag->task_count;
    if (!resize(&sim->dispatch, larger, sizeof *sim->dispatch) ||
        !resize(&sim->queue.key, larger, sizeof *sim->queue.key) ||
        !resize(&sim->queue.left, larger, sizeof *sim->queue.left) ||
        !resize(&sim->queue.right, larger, sizeof *sim->queue.right) ||
        !resize(&sim->queue.holder, larger, sizeof *sim->queue.holder) ||
        !(sim->dag->due_ns == NULL || resize(&sim->due_ns, larger, sizeof *sim->due_ns)) ||
        !(!any_is_timed(sim->dag) || events_reserve(&sim->events, SUBJECT_JOB, (uint32_t)larger)) ||
        !(sim->dag->actor_of == NULL || (resize(&sim->next_mail, larger, sizeof *sim->next_mail) &&
                                         resize(&sim->mailbox_of, larger, sizeof *sim->mailbox_of))) ||
        !resize(&sim->regroup.part_of, parts, sizeof *sim->regroup.part_of) ||
        !resize(&sim->regroup.part_number, parts, sizeof *sim->regroup.part_number)) {
        return false;
    }
    sim->job_capacity = (uint32_t)larger;
    return true;
}

void jobs_free(struct simulation *sim) {
    free(sim->dispatch);
    free(sim->due_ns);
    free(sim->queue.key);
    free(sim->queue.left);
    free(sim->queue.right);
    free(sim->queue.holder);
    free(sim->regroup.part_of);
    free(sim->regroup.part_number);
}

uint32_t job_add(struct simulation *sim, uint32_t task, uint32_t part) {
    if (!jobs_reserve(sim, sim->job_count + 1)) {
        sim->no_memory = true;
        return DAG_NONE;
    }
    sim->queue.holder[sim->job_count] = QUEUE_NOWHERE;
    if (sim->mailbox_of) sim->mailbox_of[sim->job_count] = 0;
    sim->regroup.part_of[sim->job_count - sim->dag->task_count] = task;
    sim->regroup.part_number[sim->job_count - sim->dag->task_count] = part;
    return sim->job_count++;
}
