// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/dag.h"

#include <stdlib.h>

void dag_free(struct dag *dag) {
    if (!dag) return;
    free(dag->vertices.time_ns);
    free(dag->vertices.cause);
    free(dag->vertices.task);
    free(dag->vertices.event);
    free(dag->vertices.kind);
    free(dag->vertices.rule);
    free(dag->vertices.compute_ns);
    free(dag->vertices.queued_ns);
    free(dag->tracer.edge_ns);
    free(dag->tracer.event_kind);
    free(dag->tracer.recorded_ns);
    free(dag->threads);
    free(dag->upkeep_of);
    free(dag->upkeeps);
    free(dag->contexts);
    free(dag->paths);
    free(dag->resources);
    free(dag->asks);
    free(dag->awaits);
    free(dag->pauses);
    free(dag->samples);
    arena_destroy(&dag->arena);
    trace_close(dag->told_anew);
    free(dag->told.bytes);
    free(dag);
}

uint32_t dag_thread_of(const struct dag *dag, uint32_t vertex) {
    uint32_t low = 0, high = dag->thread_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->threads[middle].first <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t dag_await_at(const struct dag *dag, uint32_t vertex) {
    uint32_t low = 0, high = dag->await_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dag->awaits[middle].end < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < dag->await_count && dag->awaits[low].end == vertex ? low : DAG_NONE;
}

uint32_t dag_thread_end(const struct dag *dag, const struct dag_thread *thread) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t end = thread->first + thread->count;
    while (end > thread->first && vertices->kind[end - 1] == VERTEX_END &&
           dag->tasks[vertices->task[end - 1]].flags & TASK_UNFINISHED)
        end--;
    return end;
}

bool dag_starts_thread(const struct dag *dag, uint32_t vertex) {
    const unsigned kind = dag->vertices.kind[vertex];
    const uint32_t task = dag->vertices.task[vertex];
    const bool hands_over = kind == VERTEX_SPAWN_BEGIN || kind == VERTEX_SPAWN_END;
    return hands_over && (task == DAG_NONE || dag->tasks[task].pool == 0);
}

bool dag_task_outlasts(const struct dag *dag, const struct dag_task *task) {
    if (!(task->flags & TASK_UNFINISHED) || task->result != DAG_NONE || dag->trace->lost_events) return false;
    return task->start == DAG_NONE || task->end >= dag_thread_end(dag, &dag->threads[task->thread]);
}

uint32_t dag_claim_from(const struct dag *dag, uint32_t vertex) {
    uint32_t low = 0, high = dag->claim_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (dag->claims[middle].vertex < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
