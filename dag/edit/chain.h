// SPDX-License-Identifier: GPL-3.0-or-later
// The hop of dag/edit/edit.h's chains, inline: dag_propagate makes one or two for each vertex of each plan.
#ifndef REHYPE_DAG_CHAIN_H
#define REHYPE_DAG_CHAIN_H

#include "dag/edit/edit.h"

static inline bool chain_moves(const struct dag_edit *edit, uint32_t task) {
    return task != DAG_NONE && edit->inlined[task];
}

// Whether an edit, be it one that only the simulation knows, takes a task's body and pick-up off its worker.
static inline bool chain_moves_out(const struct dag_edit *edit, uint32_t task) {
    uint32_t next = edit->merged_next[task];
    return edit->inlined[task] || edit->staged[task] == FIRST_STAGE_ON_SPAWNER || (next != DAG_NONE && next != task);
}

// Whether the task's body lies in its own spawn bracket (caller-runs), so that inlining it moves nothing.
static inline bool chain_runs_in_place(const struct dag_task *task) {
    return task->spawn_begin < task->start && task->start < task->spawn_end;
}

// Kinds at which a task that is inlined comes in or drops out. Only the first vertex of a pick-up is ever looked at.
static inline bool chain_may_move(unsigned kind) {
    return 1u << kind & (1u << VERTEX_SPAWN_BEGIN | 1u << VERTEX_START | 1u << VERTEX_IDLE | 1u << VERTEX_BUSY);
}

static inline enum dag_hop chain_visit(struct dag_chain *chain, uint32_t vertex, bool entered) {
    chain->vertex = vertex;
    chain->next = vertex + 1;
    chain->entered = entered;
    chain->visited = true;
    return HOP_VISIT;
}

// Bodies nest in brackets and bodies, so the task of the end just passed knows the way back: there is no stack to keep.
// Nor can a step inside a body that moved in meet `end`, which is the first vertex of another thread.
static inline enum dag_hop chain_leave(struct dag_chain *chain, const struct dag_task *task) {
    chain->vertex = task->spawn_end;
    chain->next = task->spawn_end + 1;
    chain->since_ns = chain->dag->vertices.time_ns[task->spawn_end];
    chain->visited = false;
    return HOP_LEAVE;
}

static inline enum dag_hop chain_skip(struct dag_chain *chain, const struct dag_task *task) {
    const int64_t *time_ns = chain->dag->vertices.time_ns;
    if (task->enclosing != DAG_NONE) chain->lead_ns += time_ns[task->pickup] - chain->since_ns;
    chain->since_ns = time_ns[task->end];
    chain->vertex = task->end;
    chain->next = task->end + 1;
    chain->visited = false;
    return HOP_SKIP;
}

static inline enum dag_hop chain_hop(struct dag_chain *chain) {
    const struct dag_vertices *vertices = &chain->dag->vertices;
    bool edited = chain->edit->inlined_count;
    if (chain->visited) {
        uint32_t at = chain->vertex;
        chain->since_ns = vertices->time_ns[at];
        chain->lead_ns = 0;
        if (edited && vertices->kind[at] == VERTEX_END && chain_moves(chain->edit, vertices->task[at])) {
            return chain_leave(chain, &chain->dag->tasks[vertices->task[at]]);
        }
    }
    uint32_t next = chain->next;
    if (next == chain->end) return HOP_DONE;
    if (!edited || !chain_may_move(vertices->kind[next]) || !chain_moves(chain->edit, vertices->task[next])) {
        return chain_visit(chain, next, false);
    }
    const struct dag_task *task = &chain->dag->tasks[vertices->task[next]];
    if (vertices->kind[next] != VERTEX_SPAWN_BEGIN) return chain_skip(chain, task);
    chain->lead_ns += vertices->time_ns[next] - chain->since_ns;
    chain->since_ns = vertices->time_ns[task->start];
    return chain_visit(chain, task->start, true);
}

#endif
