// SPDX-License-Identifier: GPL-3.0-or-later
// What the JVM's own stream says of the whole process: its pauses, and samples of its computing and compiling.
#include "dag/build/builder.h"

struct machine {
    struct builder *builder;
    uint32_t pause_capacity, sample_capacity;
    int64_t pause_begin_ns;   // of the one that goes on; -1: none does
    uint64_t allocated_bytes; // until then
};

static bool end_pause(struct machine *machine, int64_t time_ns) {
    struct dag *dag = machine->builder->dag;
    if (machine->pause_begin_ns < 0) return true; // its begin was lost
    if (!GROW(dag->pauses, dag->pause_count, machine->pause_capacity)) return no_memory(machine->builder);
    dag->pauses[dag->pause_count++] = (struct dag_pause){machine->pause_begin_ns, time_ns, machine->allocated_bytes};
    machine->pause_begin_ns = -1;
    return true;
}

static bool add_sample(struct machine *machine, const struct event *event) {
    struct dag *dag = machine->builder->dag;
    if (!GROW(dag->samples, dag->sample_count, machine->sample_capacity)) return no_memory(machine->builder);
    dag->samples[dag->sample_count++] = (struct dag_sample){.time_ns = (int64_t)event->time,
                                                            .process_cpu_ns = (int64_t)(event->operand[0] & INT64_MAX),
                                                            .machine_cpu_ns = (int64_t)(event->operand[1] & INT64_MAX),
                                                            .context_switches = event->operand[2]};
    return true;
}

// It stands behind the sample that it belongs to.
static void add_compiling(struct machine *machine, const struct event *event) {
    struct dag *dag = machine->builder->dag;
    if (dag->sample_count == 0) return;
    struct dag_sample *sample = &dag->samples[dag->sample_count - 1];
    sample->compiled_ns = (int64_t)(event->operand[0] & INT64_MAX);
    sample->compilers_waited_ns = (int64_t)(event->operand[1] & INT64_MAX);
}

static bool take_event(struct machine *machine, const struct event *event) {
    if (event->kind == EVENT_GC_BEGIN) {
        machine->pause_begin_ns = (int64_t)event->time;
        machine->allocated_bytes = 0;
    }
    if (event->kind == EVENT_ALLOCATED) machine->allocated_bytes = event->operand[0];
    if (event->kind == EVENT_COMPILING) add_compiling(machine, event);
    if (event->kind == EVENT_GC_END) return end_pause(machine, (int64_t)event->time);
    return event->kind != EVENT_SAMPLE || add_sample(machine, event);
}

bool read_machine(struct builder *builder) {
    const struct trace *trace = builder->trace;
    struct machine machine = {.builder = builder, .pause_begin_ns = -1};
    if (!trace->stream_count || trace->streams[0].id != 0) return true;
    struct trace_cursor cursor;
    struct event event;
    trace_cursor_init(&cursor, trace, &trace->streams[0]);
    while (trace_cursor_next(&cursor, &event, builder->error)) {
        if (!take_event(&machine, &event)) return false;
    }
    return builder->error->status == STATUS_OK;
}

static bool has_task_under_way(const struct dag *dag) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        const uint32_t end = dag_thread_end(dag, thread);
        if (!thread->system && end > thread->first && end < thread->first + thread->count) return true;
    }
    return false;
}

void find_standstill(struct dag *dag) {
    enum { LEAST_NS = 1000000000, LEAST_SHARE = 10 }; // of the recording, its tenth
    if (dag->sample_count == 0) return;
    const int64_t end_ns = dag->samples[dag->sample_count - 1].time_ns, still_ns = end_ns - dag->last_ns;
    if (still_ns < LEAST_NS || still_ns < (end_ns - dag->first_ns) / LEAST_SHARE) return;
    if (has_task_under_way(dag)) dag->still_ns = still_ns;
}
