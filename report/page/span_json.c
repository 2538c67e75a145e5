// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/span_json.h"

#include "dag/names.h"
#include "report/cause.h"
#include "report/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writing {
    FILE *file;
    const struct laid_run *laid;
    const struct lanes *lanes;
    const struct dag *run;
    const struct lane_span *span;
};

// ---- values

static void write_text(const struct writing *writing, const char *key, const char *text) {
    fprintf(writing->file, ",\"%s\":", key);
    if (text)
        escape_json(writing->file, text);
    else
        fputs("null", writing->file);
}

// -1: not known.
static void write_ns(const struct writing *writing, const char *key, int64_t ns) {
    if (ns < 0)
        fprintf(writing->file, ",\"%s\":null", key);
    else
        fprintf(writing->file, ",\"%s\":%" PRId64, key, ns);
}

static void write_id(FILE *file, double span) {
    fprintf(file, "%.2f", span);
}

// ---- what is known

// The task that it is, hands over or waits for; DAG_NONE.
static uint32_t task_of(const struct lane_span *span) {
    return span->idle || span->of.kind == SPAN_SLEEP || span->of.kind == SPAN_BLOCKED ? DAG_NONE : span->of.of;
}

static uint32_t resource_of(const struct writing *writing) {
    const struct lane_span *span = writing->span;
    const bool asks = !span->idle && span->of.kind == SPAN_BLOCKED && span->of.of != DAG_NONE;
    return asks ? writing->run->asks[span->of.of].resource : DAG_NONE;
}

static uint32_t pool_of(const struct writing *writing) {
    const struct lane_span *span = writing->span;
    const uint32_t task = task_of(span);
    if (span->idle) return writing->run->threads[span->thread].pool;
    if (span->of.kind == SPAN_WAIT && span->of.pool) return span->of.pool;
    return task == DAG_NONE ? 0 : writing->run->tasks[task].pool;
}

static const char *site_of(const struct writing *writing, char *text, size_t size) {
    const struct span *of = &writing->span->of;
    const uint32_t ask = resource_of(writing) == DAG_NONE ? DAG_NONE : of->of;
    if (writing->span->idle || of->kind == SPAN_SLEEP) return NULL;
    if (of->kind == SPAN_TASK || of->kind == SPAN_SPAWN) {
        const uint32_t site = writing->run->tasks[of->of].site;
        return site == DAG_NONE ? NULL : dag_site_text(writing->run, site, text, size);
    }
    const uint32_t site = ask == DAG_NONE ? of->site : writing->run->asks[ask].site;
    return site ? dag_place_text(writing->run, site, text, size) : NULL;
}

static int64_t queued_ns(const struct writing *writing) {
    const struct lane_span *span = writing->span;
    if (span->idle || span->of.kind != SPAN_TASK) return -1;
    const uint32_t spawned = writing->run->tasks[span->of.of].spawn_begin;
    return spawned == DAG_NONE ? -1 : span->from_ns - lanes_ns(writing->lanes, spawned);
}

// On the thread between its ends, with what lies in it.
static int64_t computed_ns(const struct writing *writing) {
    const struct lane_span *span = writing->span;
    const struct dag_thread *thread = &writing->run->threads[span->thread];
    const uint32_t end = span->end == DAG_NONE ? thread->first + thread->count - 1 : span->end;
    if (!writing->run->vertices.compute_ns || span->idle) return -1;
    if (span->of.kind == SPAN_SLEEP) return 0;
    int64_t sum_ns = 0;
    for (uint32_t v = span->vertex + 1; v <= end; v++) sum_ns += writing->run->vertices.compute_ns[v];
    return sum_ns;
}

// ---- what was waited for

// The body of the thread that had it, as that gave it back.
static const char *holder_of(const struct writing *writing, char *text, size_t size) {
    const struct lanes *lanes = writing->lanes;
    const uint32_t end = writing->span->end;
    const uint32_t cause = end == DAG_NONE ? DAG_NONE : cause_last(&writing->run->vertices, end);
    const double body = cause == DAG_NONE ? LANE_NO_SPAN : lanes_body_before(lanes, cause);
    const uint32_t start = body == LANE_NO_SPAN ? DAG_NONE : (uint32_t)body;
    if (start == DAG_NONE || lanes->work->scratch->action[start] != ACTION_OPEN) return NULL;
    return dag_task_text(writing->run, writing->run->vertices.task[start], text, size);
}

static const char *sentence(const struct writing *writing, char *text, size_t size) {
    char what[SPAN_NAME_BYTES], holder[SPAN_NAME_BYTES];
    if (writing->span->holds) return NULL;
    const struct lane_span *span = writing->span;
    const struct dag *run = writing->run;
    const uint32_t resource = resource_of(writing);
    if (span->idle) return "its pool has no task for it";
    if (span->of.kind == SPAN_SLEEP) return "something that no event tells of (a sleep, or input and output)";
    if (span->of.kind == SPAN_WAIT) {
        if (span->of.of != DAG_NONE)
            snprintf(text, size, "the result of %s",
                     dag_task_text(run, span_awaited(run, &span->of), what, sizeof what));
        else if (span->of.pool)
            snprintf(text, size, "the end of %s", dag_pool_text(run, span->of.pool, what, sizeof what));
        else
            return "another thread";
        return text;
    }
    if (span->of.kind != SPAN_BLOCKED) return NULL;
    const char *held = holder_of(writing, holder, sizeof holder);
    if (resource == DAG_NONE)
        snprintf(text, size, "%s%s", held ? "what was ended in " : "something that is not known", held ? held : "");
    else
        snprintf(text, size, "%s%s%s", dag_resource_text(run, resource, run->asks[span->of.of].site, what, sizeof what),
                 held ? ", which came free in " : "", held ? held : "");
    return text;
}

// ---- switches

static bool changes_task(const struct improvement *improvement, uint32_t task) {
    uint32_t least = 0, most = improvement->task_count;
    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;
        if (improvement->tasks[middle] < task)
            least = middle + 1;
        else
            most = middle;
    }
    return least < improvement->task_count && improvement->tasks[least] == task;
}

// A part of a task that a plan split is of that.
static uint32_t recorded_task(const struct dag *run, uint32_t task) {
    if (task == DAG_NONE || !run->origin || task < run->origin->task_count) return task;
    return run->part_of[task - run->origin->task_count];
}

static bool concerns(const struct writing *writing, const struct improvement *improvement) {
    const uint32_t task = recorded_task(writing->run, task_of(writing->span)), resource = resource_of(writing);
    if (improvement_is_of_resource(improvement)) return resource != DAG_NONE && improvement->resource == resource;
    if (improvement->kind == KIND_RESIZE_POOL)
        return pool_of(writing) && improvement_is_of_pool(improvement, pool_of(writing));
    return task != DAG_NONE && changes_task(improvement, task);
}

static void write_switches(const struct writing *writing, const struct span_switches *switches) {
    bool any = false;
    fputs(",\"switches\":[", writing->file);
    for (uint32_t i = 0; i < switches->count; i++) {
        if (!concerns(writing, &switches->items[i])) continue;
        fprintf(writing->file, "%s%" PRIu32, any ? "," : "", i);
        any = true;
    }
    putc(']', writing->file);
}

// ---- the whole

static void write_arrow(const struct writing *writing, const struct arrow *arrow, bool first) {
    fprintf(writing->file, "%s{\"what\":\"%s\",\"vertex\":", first ? "" : ",", arrow->what);
    write_id(writing->file, arrow->span);
    fprintf(writing->file, ",\"lane\":%" PRIu32 ",\"here_lane\":%" PRIu32, arrow->lane, arrow->here_lane);
    fprintf(writing->file, ",\"time_ns\":%" PRId64 ",\"here_ns\":%" PRId64 "}", arrow->time_ns, arrow->here_ns);
}

static bool write_list(const struct writing *writing, const struct arrows *arrows, bool first) {
    for (uint32_t i = 0; i < arrows->in_count; i++, first = false) write_arrow(writing, &arrows->in[i], first);
    for (uint32_t i = 0; i < arrows->out_count; i++, first = false) write_arrow(writing, &arrows->out[i], first);
    return first;
}

static void write_arrows(const struct writing *writing) {
    struct arrows arrows;
    fputs(",\"arrows\":[", writing->file);
    arrows.in_count = arrows.out_count = 0;
    if (!writing->span->holds) lane_span_arrows(writing->lanes, writing->span, &arrows);
    const bool first = write_list(writing, &arrows, true);
    laid_arrows_find(writing->laid, writing->span, &arrows);
    write_list(writing, &arrows, first);
    putc(']', writing->file);
}

static void write_place(const struct writing *writing) {
    struct laid_place place;
    if (!laid_place_find(writing->laid, writing->span, &place)) {
        fputs(",\"also\":null", writing->file);
        return;
    }
    fprintf(writing->file, ",\"also\":{\"lane\":%" PRIu32 ",\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64 "}", place.lane,
            place.from_ns, place.to_ns);
}

static void write_names(const struct writing *writing) {
    char text[SPAN_NAME_BYTES];
    const struct lane_span *span = writing->span;
    const uint32_t pool = pool_of(writing), resource = resource_of(writing);
    write_text(writing, "thread", lane_name(writing->lanes, writing->lanes->lane_of[span->thread], text, sizeof text));
    const char *kind = span->idle ? "idle" : span->holds ? "held" : span_kind_names[span->of.kind];
    write_text(writing, "kind", kind);
    write_text(writing, "name",
               span->idle || span->holds ? kind : span_name(writing->run, &span->of, text, sizeof text));
    write_text(writing, "site", site_of(writing, text, sizeof text));
    write_text(writing, "pool", pool ? dag_pool_text(writing->run, pool, text, sizeof text) : NULL);
    write_text(writing, "resource",
               resource == DAG_NONE ? NULL : dag_resource_text(writing->run, resource, 0, text, sizeof text));
}

char *span_json(const struct laid_run *laid, const struct lane_span *span, const struct span_switches *switches) {
    char *json = NULL, text[2 * SPAN_NAME_BYTES];
    size_t length;
    const struct lanes *lanes = laid->lanes;
    const struct writing writing = {
        .file = open_memstream(&json, &length), .laid = laid, .lanes = lanes, .run = lanes->run, .span = span};
    if (!writing.file) return NULL;
    fputs("{\"vertex\":", writing.file);
    write_id(writing.file, span->id);
    fprintf(writing.file, ",\"lane\":%" PRIu32, lanes->lane_of[span->thread]);
    write_names(&writing);
    write_ns(&writing, "from_ns", span->from_ns);
    write_ns(&writing, "to_ns", span->to_ns);
    write_ns(&writing, "queued_ns", queued_ns(&writing));
    write_ns(&writing, "computed_ns", computed_ns(&writing));
    write_text(&writing, "for", sentence(&writing, text, sizeof text));
    write_place(&writing);
    write_arrows(&writing);
    write_switches(&writing, switches);
    putc('}', writing.file);
    if (fclose(writing.file) == 0) return json;
    free(json);
    return NULL;
}
