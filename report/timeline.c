// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/timeline.h"

#include "metrics/metrics.h"
#include "report/cause.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const mark_names[] = {
    [MARK_SENT] = "sent", [MARK_RESULT] = "result", [MARK_RELEASE] = "release", [MARK_WOKEN] = "woken"};

// ---- what led to what

static bool is_shown(const struct timeline *timeline, uint32_t vertex) {
    return timeline_is_within(timeline, timeline_ns(timeline, timeline->dag->vertices.time_ns[vertex])) &&
           timeline_has_thread(timeline, dag_thread_of(timeline->dag, vertex));
}

uint32_t timeline_cause(const struct timeline *timeline, uint32_t vertex) {
    const struct dag_vertices *vertices = &timeline->dag->vertices;
    const uint32_t cause = cause_ends_sleep(vertices, vertex) ? cause_last(vertices, vertex) : DAG_NONE;
    if (cause == DAG_NONE || vertices->time_ns[cause] > vertices->time_ns[vertex]) return DAG_NONE;
    return is_shown(timeline, vertex) && is_shown(timeline, cause) ? cause : DAG_NONE;
}

static void link_effects(struct timeline *timeline) {
    for (uint32_t v = 0; v < timeline->dag->vertex_count; v++) timeline->first_effect[v] = DAG_NONE;
    for (uint32_t v = timeline->dag->vertex_count; v-- > 0;) {
        const uint32_t cause = timeline_cause(timeline, v);
        timeline->next_effect[v] = cause == DAG_NONE ? DAG_NONE : timeline->first_effect[cause];
        if (cause != DAG_NONE) timeline->first_effect[cause] = v;
    }
}

bool timeline_init(struct timeline *timeline, const struct dag *dag, const struct window *window, struct error *error) {
    struct metrics figures;
    const size_t bytes = ((size_t)dag->vertex_count + 1) * sizeof(uint32_t);
    *timeline = (struct timeline){.dag = dag, .first_effect = malloc(bytes), .next_effect = malloc(bytes)};
    if (!timeline->first_effect || !timeline->next_effect)
        return error_set(error, STATUS_FAILED, "no memory for the arrows of %u vertices", dag->vertex_count);
    if (!metrics_of_run(dag, false, window, NULL, &timeline->work, &figures, error)) return false;
    timeline->from_ns = timeline_ns(timeline, timeline->work.series.from_ns);
    timeline->to_ns = timeline_ns(timeline, timeline->work.series.to_ns);
    link_effects(timeline);
    return true;
}

void timeline_destroy(struct timeline *timeline) {
    metrics_work_destroy(&timeline->work);
    free(timeline->first_effect);
    free(timeline->next_effect);
    *timeline = (struct timeline){0};
}

// ---- levels, machine, pauses

void timeline_visit_levels(const struct timeline *timeline, levels_visitor *visit, void *context) {
    const struct state_series *series = &timeline->work.series;
    int32_t levels[STATE_COUNT] = {0};
    for (size_t i = 0; i < series->count;) {
        const int64_t time_ns = series->changes[i].time_ns;
        for (; i < series->count && series->changes[i].time_ns == time_ns; i++) {
            for (int s = 0; s < STATE_COUNT; s++) levels[s] += series->changes[i].delta[s];
        }
        visit(context, timeline_ns(timeline, time_ns), levels);
    }
}

void timeline_visit_machine(const struct timeline *timeline, machine_visitor *visit, void *context) {
    const struct dag *dag = timeline->dag;
    const bool tells_compilers = dag->trace->events_of_kind[EVENT_COMPILING] > 0;
    for (uint32_t s = 1; s < dag->sample_count && work_is_recorded(dag->trace); s++) {
        const struct dag_sample *from = &dag->samples[s - 1], *to = &dag->samples[s];
        const double lasted_ns = (double)(to->time_ns - from->time_ns);
        struct machine_use use = {.from_ns = timeline_ns(timeline, from->time_ns),
                                  .to_ns = timeline_ns(timeline, to->time_ns)};
        if (lasted_ns <= 0 || !timeline_is_within(timeline, use.from_ns)) continue;
        use.process_cores = (double)(to->process_cpu_ns - from->process_cpu_ns) / lasted_ns;
        use.machine_cores = (double)(to->machine_cpu_ns - from->machine_cpu_ns) / lasted_ns;
        use.compiler_cores = tells_compilers ? (double)(to->compiled_ns - from->compiled_ns) / lasted_ns : NAN;
        use.switches_per_s = (double)(to->context_switches - from->context_switches) / lasted_ns * 1e9;
        visit(context, &use);
    }
}

static int64_t cut(const struct timeline *timeline, int64_t dag_ns) {
    const int64_t time_ns = timeline_ns(timeline, dag_ns);
    if (time_ns < timeline->from_ns) return timeline->from_ns;
    return time_ns > timeline->to_ns ? timeline->to_ns : time_ns;
}

void timeline_visit_pauses(const struct timeline *timeline, pause_visitor *visit, void *context) {
    for (uint32_t p = 0; p < timeline->dag->pause_count; p++) {
        const struct dag_pause *pause = &timeline->dag->pauses[p];
        const int64_t from_ns = cut(timeline, pause->begin_ns), to_ns = cut(timeline, pause->end_ns);
        if (from_ns < to_ns) visit(context, from_ns, to_ns);
    }
}

const char *timeline_thread_name(const struct timeline *timeline, uint32_t thread, char *text, size_t size) {
    const struct trace_stream *stream = &timeline->dag->trace->streams[timeline->dag->threads[thread].stream];
    if (stream->thread.name && *stream->thread.name)
        snprintf(text, size, "%s", stream->thread.name);
    else
        snprintf(text, size, "thread %u", stream->id);
    return text;
}

const char *moment_name(const struct dag *dag, const struct moment *moment, char *text, size_t size) {
    char name[SPAN_NAME_BYTES];
    if (moment->kind != MOMENT_MARK) return span_name(dag, &moment->span, text, size);
    const bool named = moment->span.of != DAG_NONE && moment->mark == MARK_SENT;
    snprintf(text, size, "%s%s%s", mark_names[moment->mark], named ? " " : "",
             named ? span_name(dag, &moment->span, name, sizeof name) : "");
    return text;
}
