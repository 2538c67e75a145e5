// SPDX-License-Identifier: GPL-3.0-or-later
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>

void steps_begin(struct steps *steps) {
    *steps = (struct steps){.tb = tb_new()};
    steps->pool = tb_pool(steps->tb, "pool-1", 2);
    steps->site = tb_site(steps->tb, "Main", "run", 12);
    tb_thread(steps->tb, STEP_MAIN, "main", 0);
    tb_thread(steps->tb, STEP_WORKER, "pool-1-thread-1", 0);
    tb_thread(steps->tb, STEP_OTHER, "other", 0);
    tb_event(steps->tb, STEP_MAIN, 0, EVENT_MAIN_BEGIN, STEP_M);
}

void steps_build(struct steps *steps) {
    struct error error = ERROR_INIT;
    char text[1024];
    step(steps, STEP_MAIN, EVENT_THREAD_END, STEP_M);
    steps->trace = tb_open(steps->tb);
    steps->dag = dag_build(steps->trace, &error);
    if (steps->dag) return;
    fprintf(stderr, "%s\n", error_text(&error, text, sizeof text));
    abort();
}

void steps_end(struct steps *steps) {
    dag_free(steps->dag);
    trace_close(steps->trace);
    tb_free(steps->tb);
}

void step_spawn(struct steps *steps, uint32_t thread, uint64_t task) {
    step(steps, thread, EVENT_SPAWN_BEGIN, task, steps->site, steps->pool);
    step(steps, thread, EVENT_SPAWN_END, task);
}

void step_start(struct steps *steps, uint64_t task) {
    step(steps, STEP_WORKER, EVENT_TASK_START, task);
}

void step_finish(struct steps *steps, uint64_t task) {
    step(steps, STEP_WORKER, EVENT_TASK_END, task);
}

void step_body(struct steps *steps, uint64_t task) {
    step_start(steps, task);
    step_finish(steps, task);
}

void step_await(struct steps *steps, uint32_t thread, uint64_t task) {
    step(steps, thread, EVENT_WAIT_BEGIN, task, 0, tb_wait(WAIT_FOR_TASK, steps->site));
    step(steps, thread, EVENT_WAIT_END, task);
}

uint32_t steps_task(const struct steps *steps, uint64_t id) {
    for (uint32_t t = 0; t < steps->dag->task_count; t++) {
        if (steps->dag->tasks[t].id == id) return t;
    }
    fprintf(stderr, "no task %d\n", (int)id);
    abort();
}
