// SPDX-License-Identifier: GPL-3.0-or-later
// What an edit leaves of a thread, and in which order. The hop from vertex to vertex is inline: dag_propagate makes one
// or two for each vertex of each plan.
#ifndef REHYPE_DAG_CHAIN_H
#define REHYPE_DAG_CHAIN_H

#include "dag/edit/edit.h"
#include "dag/edit/move.h"

// The chain of a thread under an edit: its vertices in the order in which they would happen, bodies that moved in
// included, bodies that moved out left out. Plain data (it may be copied) without a stack: the end of a body that moved
// in says by its task where to go on.
struct dag_chain {
    const struct dag *dag;
    const struct dag_edit *edit;
    uint32_t next, end; // next vertex, unless it is moved; one past the thread's last
    uint32_t vertex;    // last one passed
    int64_t since_ns;   // recorded time of what `vertex` follows
    int64_t lead_ns;    // own time before that: T(vertex) = T(vertex before) + lead + t(vertex) - since
    bool entered;       // `vertex` is the start of a body that moved here: no rule but RULE_RUN holds, no cause
    bool visited;       // false: `vertex` was only passed (the end of a dropped bracket, or of a body that moved out)
};

// How a chain goes on; dag_chain_next shows the visits only.
enum dag_hop {
    HOP_VISIT, // to `vertex`
    HOP_LEAVE, // from the end of a body that moved in to behind the bracket that it replaced
    HOP_SKIP,  // over a pick-up and body that moved out
    HOP_DONE,
};

// The first of a worker's own tasks that the edit leaves on it (bodies that lie in other bodies go where those go), or
// DAG_NONE. Cost: up to that task.
uint32_t dag_edit_first_task(const struct dag *dag, const struct dag_edit *edit, uint32_t thread);

// Whether the edit took a worker all tasks that it had: then it is gone, and its chain is empty.
bool dag_edit_removes_thread(const struct dag *dag, const struct dag_edit *edit, uint32_t thread);

void dag_chain_init(struct dag_chain *chain, const struct dag *dag, const struct dag_edit *edit); // once
void dag_chain_start(struct dag_chain *chain, uint32_t thread);                                   // then per thread
void dag_chain_resume(struct dag_chain *chain, uint32_t thread, uint32_t vertex);                 // or from a visit on
uint32_t dag_chain_next(struct dag_chain *chain); // vertex, or DAG_NONE at the end

// ---- the hop

static inline bool chain_moves(const struct dag_edit *edit, uint32_t task) {
    return task != DAG_NONE && edit->inlined[task];
}

// Whether an edit, be it one that only the simulation knows, takes a task's body and pick-up off its worker.
static inline bool chain_moves_out(const struct dag_edit *edit, uint32_t task) {
    uint32_t next = edit->merged_next[task];
    return edit->inlined[task] || edit->staged[task] == FIRST_STAGE_ON_SPAWNER || (next != DAG_NONE && next != task);
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

static inline void chain_move(struct dag_chain *chain, struct edit_move move) {
    chain->lead_ns += move.from_ns - chain->since_ns;
    chain->since_ns = move.to_ns;
    chain->vertex = move.to - 1;
    chain->next = move.to;
    chain->visited = false;
}

static inline enum dag_hop chain_hop(struct dag_chain *chain) {
    const struct dag_vertices *vertices = &chain->dag->vertices;
    bool edited = chain->edit->inlined_count;
    if (chain->visited) {
        uint32_t at = chain->vertex;
        chain->since_ns = vertices->time_ns[at];
        chain->lead_ns = 0;
        // Bodies nest in brackets and bodies, so the task of the end just passed knows the way back: there is no stack
        // to keep. Nor can a step inside a body that moved in meet `end`, which is the first vertex of another thread.
        if (edited && vertices->kind[at] == VERTEX_END && chain_moves(chain->edit, vertices->task[at])) {
            chain_move(chain, move_leave(chain->dag, &chain->dag->tasks[vertices->task[at]]));
            return HOP_LEAVE;
        }
    }
    uint32_t next = chain->next;
    if (next == chain->end) return HOP_DONE;
    if (!edited || !chain_may_move(vertices->kind[next]) || !chain_moves(chain->edit, vertices->task[next])) {
        return chain_visit(chain, next, false);
    }
    const struct dag_task *task = &chain->dag->tasks[vertices->task[next]];
    bool skips = vertices->kind[next] != VERTEX_SPAWN_BEGIN;
    chain_move(chain, skips ? move_skip(chain->dag, task, task->end, chain->since_ns) : move_enter(chain->dag, task));
    return skips ? HOP_SKIP : chain_visit(chain, task->start, true);
}

#endif
