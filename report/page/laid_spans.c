// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/laid_spans.h"

// ---- places

static uint32_t resource_of(const struct dag *run, const struct lane_span *span) {
    const bool asks = !span->idle && span->of.kind == SPAN_BLOCKED && span->of.of != DAG_NONE;
    return asks ? run->asks[span->of.of].resource : DAG_NONE;
}

static uint32_t actor_of(const struct dag *run, const struct lane_span *span) {
    return run->actor_of && !span->idle && span->of.kind == SPAN_TASK ? run->actor_of[span->of.of] : 0;
}

static const struct laid_piece *resource_piece(const struct laid_run *run, uint32_t vertex) {
    const struct dag *dag = run->lanes->run;
    return laid_lanes_find(&run->resources, dag->asks[dag->vertices.task[vertex]].resource, vertex);
}

bool laid_place_find(const struct laid_run *run, const struct lane_span *span, struct laid_place *place) {
    const struct dag *dag = run->lanes->run;
    const uint32_t resource = resource_of(dag, span), actor = actor_of(dag, span);
    const struct laid_piece *piece = NULL;
    uint32_t first = run->lanes->count;
    if (resource != DAG_NONE) {
        piece = laid_lanes_find(&run->resources, resource, span->vertex);
    } else if (actor) {
        piece = laid_lanes_find(&run->actors, actor, span->vertex);
        first += run->resources.count;
    }
    if (piece) *place = (struct laid_place){first + piece->lane, piece->begin_ns, piece->end_ns};
    return piece;
}

// ---- which span frees a resource for which

static struct arrow resource_arrow(const struct laid_run *run, const char *what, double span, uint32_t at,
                                   uint32_t at_lane, uint32_t here, uint32_t here_lane) {
    return (struct arrow){.what = what,
                          .span = span,
                          .lane = run->lanes->count + at_lane,
                          .here_lane = run->lanes->count + here_lane,
                          .time_ns = lanes_ns(run->lanes, at),
                          .here_ns = lanes_ns(run->lanes, here)};
}

// What gave back, at a vertex of another thread, what was got at this one after a wait; DAG_NONE.
static uint32_t freed_at(const struct laid_run *run, uint32_t got) {
    const struct dag *dag = run->lanes->run;
    const uint32_t cause = lanes_waker(run->lanes, got);
    if (cause == DAG_NONE || dag->vertices.kind[cause] != VERTEX_RELEASED) return DAG_NONE;
    const uint32_t resource = dag->asks[dag->vertices.task[got]].resource;
    return dag->asks[dag->vertices.task[cause]].resource == resource ? cause : DAG_NONE;
}

static void add_freed(const struct laid_run *run, const struct lane_span *wait, const struct laid_piece *piece,
                      struct arrows *arrows) {
    const struct dag *dag = run->lanes->run;
    const uint32_t got = wait->end;
    if (got == DAG_NONE || dag->vertices.kind[got] != VERTEX_ACQUIRED) return;
    const uint32_t released = freed_at(run, got), holder = released == DAG_NONE ? DAG_NONE : hold_begin(dag, released);
    const struct laid_piece *hold = holder == DAG_NONE ? NULL : resource_piece(run, holder);
    if (hold)
        arrows_add(arrows, true,
                   resource_arrow(run, "freed by", holder + HOLD_SPAN, released, hold->lane, got, piece->lane));
    if (hold_begins(dag, got) && (hold = resource_piece(run, got)))
        arrows_add(arrows, false,
                   resource_arrow(run, "then held in", got + HOLD_SPAN, got, hold->lane, got, piece->lane));
}

// Waits that ended as this thread gave the resource back.
static void add_freed_for(const struct laid_run *run, uint32_t released, const struct laid_piece *piece,
                          struct arrows *arrows) {
    const struct dag *dag = run->lanes->run;
    for (uint32_t v = 1; v < dag->vertex_count; v++) {
        if (dag->vertices.kind[v] != VERTEX_ACQUIRED || dag->vertices.cause[v] == DAG_NONE) continue;
        const struct laid_piece *wait = freed_at(run, v) == released ? resource_piece(run, v - 1) : NULL;
        if (wait)
            arrows_add(arrows, false, resource_arrow(run, "frees it for", v - 1, v, wait->lane, released, piece->lane));
    }
}

static void add_of_hold(const struct laid_run *run, const struct lane_span *hold, const struct laid_piece *piece,
                        struct arrows *arrows) {
    const struct dag *dag = run->lanes->run;
    const uint32_t got = hold->vertex;
    const struct laid_piece *wait = dag->vertices.kind[got] == VERTEX_ACQUIRED ? resource_piece(run, got - 1) : NULL;
    if (wait)
        arrows_add(arrows, true, resource_arrow(run, "waited for in", got - 1, got, wait->lane, got, piece->lane));
    if (hold->end != DAG_NONE) add_freed_for(run, hold->end, piece, arrows);
}

// ---- which span sends a message to which

static struct arrow message_arrow(const struct laid_run *run, const char *what, uint32_t task, uint32_t at, uint32_t of,
                                  uint32_t here) {
    const struct dag *dag = run->lanes->run;
    const uint32_t first = run->lanes->count + run->resources.count;
    return (struct arrow){.what = what,
                          .span = dag->tasks[task].start,
                          .lane = first + run->actors.lane_of[dag->actor_of[task]],
                          .here_lane = first + run->actors.lane_of[dag->actor_of[of]],
                          .time_ns = lanes_ns(run->lanes, at),
                          .here_ns = lanes_ns(run->lanes, here)};
}

static bool is_laid(const struct laid_run *run, uint32_t task) {
    const struct dag *dag = run->lanes->run;
    return task != DAG_NONE && dag->actor_of[task] && lanes_shows_task(run->lanes, task);
}

static void add_messages(const struct laid_run *run, uint32_t of, struct arrows *arrows) {
    const struct dag *dag = run->lanes->run;
    const struct dag_task *task = &dag->tasks[of];
    if (task->spawn_begin != DAG_NONE && is_laid(run, task->spawner))
        arrows_add(arrows, true, message_arrow(run, "sent by", task->spawner, task->spawn_begin, of, task->start));
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *sent = &dag->tasks[t];
        if (sent->spawner == of && sent->spawn_begin != DAG_NONE && is_laid(run, t))
            arrows_add(arrows, false, message_arrow(run, "sends", t, sent->start, of, sent->spawn_begin));
    }
}

void laid_arrows_find(const struct laid_run *run, const struct lane_span *span, struct arrows *arrows) {
    const struct dag *dag = run->lanes->run;
    const struct laid_piece *piece = resource_of(dag, span) == DAG_NONE ? NULL : resource_piece(run, span->vertex);
    arrows->in_count = arrows->out_count = 0;
    if (piece && span->holds)
        add_of_hold(run, span, piece, arrows);
    else if (piece)
        add_freed(run, span, piece, arrows);
    else if (actor_of(dag, span) && lanes_shows_task(run->lanes, span->of.of))
        add_messages(run, span->of.of, arrows);
}
