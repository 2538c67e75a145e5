// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/awake.h"

#include "dag/edge.h"
#include "dag/propagate/rules.h"

#include <stdlib.h>
#include <string.h>

static bool takes_from_queue(const struct dag *dag, const struct dag_thread *thread) {
    if (!thread->worker || thread->pool >= dag->pool_count) return false;
    enum discipline discipline = dag->pools[thread->pool].discipline;
    return discipline != DISCIPLINE_UNKNOWN && discipline != DISCIPLINE_STEALING;
}

// Before that nothing was for the task.
static int64_t picked_up_from_ns(const struct dag *dag, const struct dag_task *task) {
    bool known = task->spawn_begin != DAG_NONE || dag_task_stands(task);
    return known ? dag_pickup_from_ns(dag, task) : INT64_MIN;
}

// From vertex `from`, behind a task or the thread's first, to the start of the next. Returns that; `end`: there is
// none.
static uint32_t play_gap(const struct dag *dag, uint8_t *played, uint32_t from, uint32_t end) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t start = from;
    while (start < end && vertices->kind[start] != VERTEX_START) start++;
    memset(played + from, PLAYED_NOT, start - from);
    if (start == end) return end;
    const struct dag_task *task = &dag->tasks[vertices->task[start]];
    bool comes = task->dispatch == DISPATCH_NEW || task->dispatch == DISPATCH_WOKEN;
    int64_t since_ns = picked_up_from_ns(dag, task);
    for (uint32_t v = from; v <= start; v++) {
        if (vertices->time_ns[v] > since_ns) played[v] = comes ? PLAYED_AS_WAIT : PLAYED_WHOLE;
    }
    return start;
}

uint8_t *awake_played_new(const struct dag *dag) {
    uint8_t *played = calloc((size_t)dag->vertex_count + 1, sizeof *played); // PLAYED_WHOLE
    for (uint32_t i = 0; played && i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        if (!takes_from_queue(dag, thread)) continue;
        uint32_t end = thread->first + thread->count;
        for (uint32_t v = thread->first; v < end;) {
            uint32_t start = play_gap(dag, played, v, end);
            uint32_t tail = start < end ? dag->tasks[dag->vertices.task[start]].tail : DAG_NONE;
            v = start <= tail && tail < end ? tail + 1 : end;
        }
    }
    return played;
}

bool awake_is_wakeup(const struct dag *dag, uint32_t v) {
    unsigned before = dag->vertices.kind[v - 1], kind = dag->vertices.kind[v];
    return before == VERTEX_IDLE || before == VERTEX_WAIT_BEGIN || kind == VERTEX_BUSY ||
           dag->vertices.rule[v] == RULE_GRANT;
}

// When a wait that slept had its result, or whoever had the lock last had got it; DAG_ABSENT where that is not known.
// Who was kept from a core before that was kept from falling asleep.
static int64_t woken_ns(const struct dag *dag, uint32_t v) {
    const struct dag_vertices *vertices = &dag->vertices;
    uint32_t cause = vertices->cause[v], rule = vertices->rule[v];
    if (cause == DAG_NONE || (rule != RULE_WAIT && rule != RULE_GRANT)) return DAG_ABSENT;
    bool slept = vertices->time_ns[cause] > vertices->time_ns[v - 1];
    return slept ? min_ns(vertices->time_ns[cause], vertices->time_ns[v]) : DAG_ABSENT;
}

struct awake awake_part(const struct dag *dag, uint32_t v, enum played played) {
    const struct dag_vertices *vertices = &dag->vertices;
    int64_t from_ns = vertices->time_ns[v - 1], to_ns = vertices->time_ns[v];
    if (awake_is_wakeup(dag, v) || played == PLAYED_AS_WAIT) {
        int64_t queued_ns = vertices->queued_ns ? vertices->queued_ns[v] : 0;
        int64_t compute_ns = played == PLAYED_WHOLE ? vertices->compute_ns[v] : 0;
        from_ns = max_ns(max_ns(from_ns, woken_ns(dag, v)), to_ns - compute_ns - queued_ns);
        return (struct awake){from_ns, to_ns, min_ns(compute_ns, max_ns(to_ns - from_ns - queued_ns, 0))};
    }
    return (struct awake){from_ns, to_ns - edge_asleep_ns(dag, v, from_ns), vertices->compute_ns[v]};
}

bool awake_is_needed(const struct dag *dag, uint32_t v, enum played played) {
    if (played == PLAYED_NOT) return false;
    bool queued = dag->vertices.queued_ns && dag->vertices.queued_ns[v] > 0;
    return queued || (played == PLAYED_WHOLE && dag->vertices.compute_ns[v] > 0);
}
