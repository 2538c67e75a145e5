// SPDX-License-Identifier: GPL-3.0-or-later
// In which task others were made that are handed over elsewhere, as a future's continuation is: registered in one task,
// handed over where the future is completed, if that comes later. Where it comes sooner in another run, the hand-over
// has to wait.
#include "dag/build/builder.h"

bool note_made(struct builder *builder, uint32_t task, uint32_t around) {
    struct dag *dag = builder->dag;
    if (around == DAG_NONE || around == task) return true;
    if (!dag->made_in) {
        dag->made_in = ARENA_NEW(&dag->arena, uint32_t, (size_t)dag->task_count + 1);
        if (!dag->made_in) return no_memory(builder);
        for (uint32_t t = 0; t <= dag->task_count; t++) dag->made_in[t] = DAG_NONE;
    }
    if (dag->made_in[task] == DAG_NONE) dag->made_in[task] = around;
    return true;
}

void note_made_at_once(struct dag *dag, uint32_t task) {
    if (dag->made_in && dag->made_in[task] == dag->tasks[task].spawner) dag->made_in[task] = DAG_NONE;
}

// The first that began for it is what its executor was given: a continuation lies in the body of what carries it there.
static uint32_t carrier_of(const struct dag *dag, uint32_t index) {
    for (;;) {
        const struct dag_task *task = &dag->tasks[index];
        const struct dag_task *around = task->enclosing == DAG_NONE ? NULL : &dag->tasks[task->enclosing];
        const bool carries = around && task->spawn_begin != DAG_NONE && around->spawn_begin != DAG_NONE &&
                             around->spawn_begin > task->spawn_begin && around->spawn_begin < task->spawn_end;
        if (!carries) return index;
        index = task->enclosing;
    }
}

// Whether one in whose body another was made began before that was handed over, and is none of those that handed it
// over, one behind the other.
static bool tells_something(const struct dag *dag, uint32_t index, uint32_t maker) {
    enum { STEPS = 16 };
    const struct dag_task *task = &dag->tasks[index], *of = &dag->tasks[maker];
    if (task->spawn_begin == DAG_NONE || of->start == DAG_NONE) return false;
    uint32_t spawner = task->spawner;
    for (unsigned i = 0; i < STEPS && spawner != DAG_NONE; i++) {
        if (spawner == maker) return false;
        spawner = dag->tasks[spawner].spawner;
    }
    return dag->vertices.time_ns[of->start] <= dag->vertices.time_ns[task->spawn_begin];
}

void settle_making(struct dag *dag) {
    for (uint32_t t = 0; dag->made_in && t < dag->task_count; t++) {
        const uint32_t maker = dag->made_in[t], carrier = carrier_of(dag, t);
        if (maker == DAG_NONE) continue;
        dag->made_in[t] = DAG_NONE;
        if (tells_something(dag, carrier, maker)) dag->made_in[carrier] = maker;
    }
}
