// SPDX-License-Identifier: GPL-3.0-or-later
// Plans are hand-written, or from anywhere: whatever they hold, reading one ends in a plan that can be applied and
// written, or in an error of the input.
#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct steps steps;
static struct dag_edit edit;

// Of sites Main.run:12 and Main.sub:20 and pool-1, in a function and outside; 1 awaits 4.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    struct error error = ERROR_INIT;
    steps_begin(&steps);
    const uint32_t sub = tb_site(steps.tb, "Main", "sub", 20), handle = tb_method(steps.tb, "Main", "handle");
    step_spawn(&steps, STEP_MAIN, 1);
    step(&steps, STEP_MAIN, EVENT_ENTER, handle);
    step_spawn(&steps, STEP_MAIN, 2);
    step_spawn(&steps, STEP_MAIN, 3);
    step(&steps, STEP_MAIN, EVENT_EXIT, handle);
    step_start(&steps, 1);
    steps.site = sub;
    step_spawn(&steps, STEP_WORKER, 4);
    step_body(&steps, 4);
    step_await(&steps, STEP_WORKER, 4);
    step_finish(&steps, 1);
    step_body(&steps, 2);
    step_start(&steps, 3);
    step(&steps, STEP_WORKER, EVENT_ENTER, handle);
    step(&steps, STEP_WORKER, EVENT_EXIT, handle);
    step_finish(&steps, 3);
    steps_build(&steps);
    if (!dag_edit_init(&edit, steps.dag, &error)) abort();
    return 0;
}

static bool judge(void *context, const struct plan *plan, bool wall, double *value, struct error *error) {
    *value = plan->count ? (double)plan->improvements[plan->count - 1].factor : 0;
    return true;
}

static void use(struct plan *plan, struct arena *arena) {
    struct error error = ERROR_INIT;
    char text[64];
    for (size_t i = 0; i < plan->count; i++) improvement_text(&plan->improvements[i], text, sizeof text);
    if (!plan_write("/dev/null", NULL, plan, &error)) abort();
    dag_edit_clear(&edit, steps.dag);
    if (plan_resolve(plan, judge, NULL, arena, &error)) plan_apply(plan, MODEL_CPU, &edit, &error);
    if (error.status != STATUS_OK && error.status != STATUS_FAILED) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = ERROR_INIT;
    struct arena arena = ARENA_INIT;
    struct plan plan;
    char path[64];
    int file = memfd_create("plan", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (plan_read(path, steps.dag, &arena, &plan, &error))
        use(&plan, &arena);
    else if (error.status != STATUS_BAD_INPUT)
        abort();
    close(file);
    arena_destroy(&arena);
    return 0;
}
