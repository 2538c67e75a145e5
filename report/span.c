// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/span.h"

#include "dag/names.h"
#include "report/text.h"

#include <stdio.h>

const char *const span_kind_names[] = {
    [SPAN_TASK] = "task",       [SPAN_FUNCTION] = "function", [SPAN_SPAWN] = "spawn", [SPAN_WAIT] = "waiting",
    [SPAN_BLOCKED] = "blocked", [SPAN_SLEEP] = "blocked",     [SPAN_PAUSE] = "pause",
};

static const char *class_name(const struct dag *dag, uint32_t class) {
    return class && class < dag->trace->class_count ? dag->trace->classes[class].name : NULL;
}

// ---- names

static const char *task_name(const struct dag *dag, uint32_t index, char *text, size_t size) {
    const struct dag_task *task = &dag->tasks[index];
    if (!(task->flags & TASK_OF_ACTOR)) return dag_task_text(dag, index, text, size);
    const char *class = class_name(dag, task->task_class);
    if (task->flags & TASK_INIT)
        snprintf(text, size, "initialisation of %s", class ? class : "an actor");
    else
        snprintf(text, size, "message %s", class ? class : "of an unknown class");
    return text;
}

// Of a release it is the task in which that was made.
uint32_t span_awaited(const struct dag *dag, const struct span *span) {
    const uint32_t task = span->of;
    const bool released =
        task != DAG_NONE && dag->tasks[task].flags & TASK_NESTED && dag->tasks[task].enclosing != DAG_NONE;
    return released ? dag->tasks[task].enclosing : task;
}

static const char *wait_name(const struct dag *dag, const struct span *span, char *text, size_t size) {
    char what[SPAN_NAME_BYTES];
    const uint32_t task = span_awaited(dag, span);
    if (task != DAG_NONE)
        snprintf(text, size, "wait for %s", task_name(dag, task, what, sizeof what));
    else if (span->pool)
        snprintf(text, size, "wait for the end of %s", dag_pool_text(dag, span->pool, what, sizeof what));
    else
        snprintf(text, size, "wait");
    return text;
}

static const char *blocked_name(const struct dag *dag, const struct span *span, char *text, size_t size) {
    char what[SPAN_NAME_BYTES];
    const struct dag_ask *ask = span->of != DAG_NONE ? &dag->asks[span->of] : NULL;
    const char *class = class_name(dag, span->class);
    if (ask)
        snprintf(text, size, "blocked: %s", dag_resource_text(dag, ask->resource, ask->site, what, sizeof what));
    else
        snprintf(text, size, "blocked%s%s", class ? " on " : "", class ? class : "");
    return text;
}

const char *span_name(const struct dag *dag, const struct span *span, char *text, size_t size) {
    char what[SPAN_NAME_BYTES];
    switch (span->kind) {
    case SPAN_TASK:
        return task_name(dag, span->of, text, size);
    case SPAN_FUNCTION:
        snprintf(text, size, "%s",
                 text_method(dag->trace->methods[span->of].class_name, dag->trace->methods[span->of].name).s);
        break;
    case SPAN_SPAWN:
        snprintf(text, size, "spawn %s", task_name(dag, span->of, what, sizeof what));
        break;
    case SPAN_WAIT:
        return wait_name(dag, span, text, size);
    case SPAN_BLOCKED:
        return blocked_name(dag, span, text, size);
    case SPAN_SLEEP:
        snprintf(text, size, "asleep");
        break;
    case SPAN_PAUSE:
        snprintf(text, size, "GC pause");
        break;
    }
    return text;
}

// ---- places

static struct span_place place_of(const struct trace_site *site) {
    return site->file ? (struct span_place){site->file, site->line} : (struct span_place){0};
}

static struct span_place trace_place(const struct dag *dag, uint32_t site) {
    return site && site < dag->trace->site_count ? place_of(&dag->trace->sites[site]) : (struct span_place){0};
}

struct span_place span_place(const struct dag *dag, const struct span *span) {
    const struct trace_method *method;
    switch (span->kind) {
    case SPAN_TASK:
    case SPAN_SPAWN:
        if (dag->tasks[span->of].site == DAG_NONE) break;
        return place_of(&dag->sites[dag->tasks[span->of].site].site);
    case SPAN_FUNCTION:
        method = &dag->trace->methods[span->of];
        return method->file ? (struct span_place){method->file, method->line} : (struct span_place){0};
    case SPAN_BLOCKED:
        return trace_place(dag, span->of != DAG_NONE ? dag->asks[span->of].site : span->site);
    case SPAN_WAIT:
        return trace_place(dag, span->site);
    case SPAN_SLEEP:
    case SPAN_PAUSE:
        break;
    }
    return (struct span_place){0};
}

// ---- details

static void tell_text(const struct detail_taker *taker, const char *key, const char *text) {
    if (text) taker->text(taker->context, key, text);
}

static void tell_place(const struct dag *dag, const struct span *span, const struct detail_taker *taker) {
    char text[SPAN_NAME_BYTES];
    const struct span_place place = span_place(dag, span);
    if (!place.file) return;
    if (place.line)
        snprintf(text, sizeof text, "%s:%u", place.file, place.line);
    else
        snprintf(text, sizeof text, "%s", place.file);
    tell_text(taker, "place", text);
}

static void tell_pool(const struct dag *dag, uint32_t pool, const struct detail_taker *taker) {
    char text[SPAN_NAME_BYTES];
    if (pool) tell_text(taker, "pool", dag_pool_text(dag, pool, text, sizeof text));
}

static void tell_actor(const struct dag *dag, const struct span *span, const struct detail_taker *taker) {
    if (span->actor == 0) return;
    taker->number(taker->context, "actor", span->actor);
    tell_text(taker, "actor_name", trace_actor_name(dag->trace, span->actor));
}

static void tell_outcome(const struct dag_task *task, const struct detail_taker *taker) {
    static const char *const names[] = {
        [TASK_RETURNED] = "returned", [TASK_THREW] = "threw", [TASK_CANCELLED] = "cancelled"};
    const bool ended = !(task->flags & TASK_UNFINISHED) && task->outcome < sizeof names / sizeof *names;
    tell_text(taker, "outcome", ended ? names[task->outcome] : "unfinished");
}

static void tell_task(const struct dag *dag, const struct span *span, const struct detail_taker *taker) {
    const struct dag_task *task = &dag->tasks[span->of];
    const int64_t *time_ns = dag->vertices.time_ns;
    taker->number(taker->context, "task", task->id);
    tell_text(taker, "class", class_name(dag, task->task_class));
    tell_pool(dag, task->pool, taker);
    if (task->spawner != DAG_NONE) taker->number(taker->context, "spawned_by", dag->tasks[task->spawner].id);
    if (span->kind != SPAN_TASK) return;
    const int64_t queue_wait_ns =
        task->spawn_begin == DAG_NONE ? -1 : time_ns[task->start] - time_ns[task->spawn_begin];
    if (queue_wait_ns >= 0) taker->number(taker->context, "queue_wait_ns", (uint64_t)queue_wait_ns);
    tell_outcome(task, taker);
    tell_actor(dag, span, taker);
}

static void tell_sleep(const struct dag *dag, const struct span *span, const struct detail_taker *taker) {
    const bool awaits = span->kind == SPAN_WAIT && span->of != DAG_NONE;
    const uint32_t resource =
        span->kind == SPAN_BLOCKED && span->of != DAG_NONE ? dag->asks[span->of].resource : DAG_NONE;
    if (awaits) taker->number(taker->context, "awaited_task", dag->tasks[span_awaited(dag, span)].id);
    if (resource != DAG_NONE) taker->number(taker->context, "resource", dag->resources[resource].id);
    tell_text(taker, "class",
              class_name(dag, resource != DAG_NONE ? dag->resources[resource].resource_class : span->class));
    tell_pool(dag, span->pool, taker);
}

void span_details(const struct dag *dag, const struct span *span, const struct detail_taker *taker) {
    if (span->kind == SPAN_TASK || span->kind == SPAN_SPAWN) tell_task(dag, span, taker);
    if (span->kind == SPAN_WAIT || span->kind == SPAN_BLOCKED) tell_sleep(dag, span, taker);
    tell_place(dag, span, taker);
}
