// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/edit/chain.h"

uint32_t dag_edit_first_task(const struct dag *dag, const struct dag_edit *edit, uint32_t index) {
    const struct dag_thread *thread = &dag->threads[index];
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        if (dag->vertices.kind[v] != VERTEX_START) continue;
        uint32_t task = dag->vertices.task[v];
        if (!chain_moves_out(edit, task)) return task;
        v = dag->tasks[task].end;
    }
    return DAG_NONE;
}

bool dag_edit_removes_thread(const struct dag *dag, const struct dag_edit *edit, uint32_t index) {
    const struct dag_thread *thread = &dag->threads[index];
    return edit->inlined_count + edit->staged_count + edit->merged_count && thread->worker && thread->bodies &&
           !thread->pinned && dag_edit_first_task(dag, edit, index) == DAG_NONE;
}

void dag_chain_init(struct dag_chain *chain, const struct dag *dag, const struct dag_edit *edit) {
    *chain = (struct dag_chain){.dag = dag, .edit = edit};
}

void dag_chain_start(struct dag_chain *chain, uint32_t index) {
    const struct dag_thread *thread = &chain->dag->threads[index];
    chain->next = thread->first;
    chain->end = thread->first + thread->count;
    chain->vertex = DAG_NONE;
    chain->since_ns = chain->dag->vertices.time_ns[thread->first];
    chain->lead_ns = 0;
    chain->entered = chain->visited = false;
    if (dag_edit_removes_thread(chain->dag, chain->edit, index)) chain->next = chain->end;
}

void dag_chain_resume(struct dag_chain *chain, uint32_t index, uint32_t vertex) {
    dag_chain_start(chain, index);
    chain_visit(chain, vertex, false);
}

uint32_t dag_chain_next(struct dag_chain *chain) {
    enum dag_hop hop;
    do {
        hop = chain_hop(chain);
    } while (hop == HOP_LEAVE || hop == HOP_SKIP);
    return hop == HOP_VISIT ? chain->vertex : DAG_NONE;
}
