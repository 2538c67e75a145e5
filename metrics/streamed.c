// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of metrics_usage, of a simulated run that is not made a DAG: each process's vertices are read off what
// the simulation noted, what opens and closes is kept and paired as a DAG's is, and its changes of state go to the same
// sweep as those that usage.c gathers. What hand-overs cost is noted by job, and summed up in the jobs'
// order.
//
// What a DAG alone tells is left to it: virtual threads, windows, and of waits of no known task and of sleeps that no
// event says whether what they had to await is part of the run.
#include "metrics/streamed.h"

#include "dag/simulate/stretches.h"
#include "metrics/stretch.h"

#include <stdlib.h>
#include <string.h>

enum { FETCHED_AHEAD = 16 }; // stretches

struct happening { // a vertex that opens or closes, or that a process slept before
    int64_t time_ns;
    int64_t slept_ns; // if it was in a body; 0: it did not
    bool caused;
    bool had_cause; // when recorded, or as it is dispatched: whether it slept for that only the DAG tells
};

struct handover { // of a job; vertices by their order in the run, DAG_NONE: none
    int64_t spawn_begin_ns, spawn_end_ns, start_ns, end_ns;
    int64_t free_ns;   // when its worker was free, INT64_MIN: no sooner than the start
    int64_t waited_ns; // so long its own thread had waited for a core then; 0: it had none
    uint32_t spawn_begin, spawn_end, start, end;
};

struct streamed {
    struct happening *happenings; // of one process
    uint8_t *kind, *action;       // a happening each, like
    uint32_t *task;
    struct handover *handovers;
    uint32_t *open; // stack, of happenings
    uint8_t *nesting;
    uint32_t happening_capacity, job_capacity;
};

struct stream {
    const struct simulation *simulation;
    struct simulated_run run;
    struct metrics_work *work;
    struct streamed *own;
    uint32_t vertex;           // the next, in order of the run
    uint32_t first;            // the process's first
    int64_t delayed_ns;        // so long the process had waited for a core when it began
    uint32_t count;            // happenings
    uint32_t ends;             // ENDs at the process's end so far
    uint32_t unfinished;       // those of unfinished tasks at the very end
    int64_t time_ns, fetch_ns; // of the vertex before; of the first of the IDLE and BUSY right before
    uint32_t fetched;          // task that these name, DAG_NONE: there are none
    uint32_t last_task;
    uint8_t last_kind;
    bool unknown; // a DAG has to tell
    int64_t first_ns, last_ns;
};

void streamed_free(struct streamed *streamed) {
    if (!streamed) return;
    free(streamed->happenings);
    free(streamed->kind);
    free(streamed->action);
    free(streamed->task);
    free(streamed->handovers);
    free(streamed->open);
    free(streamed->nesting);
    free(streamed);
}

// ---- memory

static bool resize(void *array, size_t count, size_t size) {
    void **items = array, *moved = realloc(*items, (count + 1) * size);
    if (moved) *items = moved;
    return moved != NULL;
}

static bool make_room(struct streamed *own, const struct simulated_run *run) {
    if (!own->happenings || run->vertex_count > own->happening_capacity) {
        own->happening_capacity = run->vertex_count + run->vertex_count / 8;
        if (!resize(&own->happenings, own->happening_capacity, sizeof *own->happenings) ||
            !resize(&own->kind, own->happening_capacity, sizeof *own->kind) ||
            !resize(&own->action, own->happening_capacity, sizeof *own->action) ||
            !resize(&own->task, own->happening_capacity, sizeof *own->task) ||
            !resize(&own->open, own->happening_capacity, sizeof *own->open) ||
            !resize(&own->nesting, own->happening_capacity, sizeof *own->nesting))
            return false;
    }
    if (own->handovers && run->job_count <= own->job_capacity) return true;
    own->job_capacity = run->job_count + run->job_count / 8;
    return resize(&own->handovers, own->job_capacity, sizeof *own->handovers);
}

// Of a process, which changes state at most three times a happening, and at its ends.
static bool make_room_for_changes(struct metrics_work *work, size_t more) {
    struct state_series *series = &work->series;
    size_t most = series->count + more + 3;
    if (series->changes && most <= series->capacity) return true;
    most += most / 2;
    if (!resize(&series->changes, most, sizeof *series->changes) ||
        !resize(&work->scratch->spare, most, sizeof *work->scratch->spare))
        return false;
    series->capacity = most;
    return true;
}

static bool make_room_for_levels(struct metrics_scratch *scratch, uint32_t processes) {
    scratch->levels = processes + 1;
    if (processes <= scratch->thread_capacity && scratch->time_at[0]) return true;
    scratch->thread_capacity = 0; // its other arrays are as long as they were
    for (int l = 0; l < LEVEL_COUNT; l++) {
        if (!resize(&scratch->time_at[l], processes, sizeof *scratch->time_at[l])) return false;
    }
    return true;
}

static bool bind(struct metrics_work *work, const struct simulated_run *run) {
    if (!work->scratch && !(work->scratch = calloc(1, sizeof *work->scratch))) return false;
    struct metrics_scratch *scratch = work->scratch;
    scratch->dag = NULL; // what it has of any DAG holds no more
    if (!scratch->streamed && !(scratch->streamed = calloc(1, sizeof *scratch->streamed))) return false;
    if (!make_room(scratch->streamed, run) || !make_room_for_levels(scratch, run->process_count)) return false;
    memset(scratch->streamed->handovers, 0xff, run->job_count * sizeof *scratch->streamed->handovers); // DAG_NONE
    work->series.count = 0;
    work->series.from_ns = INT64_MIN;
    work->series.to_ns = INT64_MAX;
    return make_room_for_changes(work, run->process_count);
}

// ---- a process's vertices

static uint16_t flags_of(const struct stream *stream, uint32_t job) {
    return stream->run.dag->tasks[simulation_task(stream->simulation, job)].flags;
}

static void note_start(struct stream *stream, struct handover *of, uint32_t job, int64_t time_ns) {
    of->start = stream->vertex;
    of->start_ns = time_ns;
    of->free_ns = INT64_MIN;
    of->waited_ns = stream->vertex == stream->first ? stream->delayed_ns : 0;
    if (stream->fetched == job)
        of->free_ns = stream->fetch_ns;
    else if (stream->vertex > stream->first)
        of->free_ns = stream->time_ns;
}

static void note_handover(struct stream *stream, unsigned kind, uint32_t job, int64_t time_ns) {
    struct handover *of = &stream->own->handovers[job];
    switch (kind) {
    case VERTEX_SPAWN_BEGIN:
        of->spawn_begin = of->spawn_end = stream->vertex;
        of->spawn_begin_ns = of->spawn_end_ns = time_ns;
        break;
    case VERTEX_SPAWN_END:
        of->spawn_end = stream->vertex;
        of->spawn_end_ns = time_ns;
        break;
    case VERTEX_START:
        note_start(stream, of, job, time_ns);
        break;
    default:
        of->end = stream->vertex;
        of->end_ns = time_ns;
    }
}

static void note_fetching(struct stream *stream, unsigned kind, uint32_t task, int64_t time_ns) {
    if (kind != VERTEX_IDLE && kind != VERTEX_BUSY) {
        stream->fetched = DAG_NONE;
        return;
    }
    if (stream->fetched == task && task != DAG_NONE) return;
    stream->fetched = task;
    stream->fetch_ns = time_ns;
}

// What was slept before a vertex, as work_slept_ns says, if it had to await nothing.
static int64_t slept_ns(const struct stream *stream, unsigned kind, int64_t time_ns, struct run_effort effort) {
    if (!stream->run.dag->vertices.queued_ns || stream->vertex == stream->first) return 0;
    const uint32_t after = 1u << VERTEX_IDLE | 1u << VERTEX_WAIT_BEGIN | 1u << VERTEX_ACQUIRE;
    const uint32_t before = 1u << VERTEX_BUSY | 1u << VERTEX_RETIRE;
    if ((after >> stream->last_kind | before >> kind) & 1) return 0;
    const int64_t length_ns = time_ns - stream->time_ns, slept = length_ns - effort.compute_ns - effort.queued_ns;
    return slept < work_least_slept_ns(stream->run.dag, length_ns) ? 0 : slept;
}

static void note_happening(struct stream *stream, unsigned kind, uint32_t task, int64_t time_ns, bool caused,
                           struct run_effort effort) {
    const unsigned noted = 1u << VERTEX_START | 1u << VERTEX_END | 1u << VERTEX_WAIT_BEGIN | 1u << VERTEX_WAIT_END |
                           1u << VERTEX_ACQUIRE | 1u << VERTEX_ACQUIRED | 1u << VERTEX_GIVEN_UP;
    stream->ends = kind == VERTEX_END ? stream->ends + 1 : 0;
    const int64_t slept = slept_ns(stream, kind, time_ns, effort);
    if (!(noted >> kind & 1) && slept == 0) return;
    struct streamed *own = stream->own;
    own->kind[stream->count] = (uint8_t)kind;
    own->action[stream->count] = ACTION_NONE;
    own->task[stream->count] = task;
    own->happenings[stream->count++] =
        (struct happening){.time_ns = time_ns,
                           .slept_ns = slept,
                           .caused = caused,
                           .had_cause = caused || kind == VERTEX_START || kind == VERTEX_BARRIER};
}

static inline void read_vertex(struct stream *stream, unsigned kind, uint32_t task, int64_t time_ns, bool caused,
                               struct run_effort effort) {
    if (kind <= VERTEX_END && task != DAG_NONE) note_handover(stream, kind, task, time_ns);
    note_fetching(stream, kind, task, time_ns);
    note_happening(stream, kind, task, time_ns, caused, effort);
    stream->time_ns = time_ns;
    stream->last_kind = (uint8_t)kind;
    stream->last_task = task;
    stream->vertex++;
}

static void read_stretch(struct stream *stream, const struct run_stretch *stretch) {
    const struct dag_vertices *recorded = &stream->run.dag->vertices;
    const uint32_t source = stretch->source;
    bool caused = source != DAG_NONE && recorded->cause[source] != DAG_NONE && recorded->rule[source] != RULE_WOKEN;
    read_vertex(stream, stretch->kind, stretch->task, stretch->time_ns, caused, stretch->effort);
    for (uint32_t i = 1; i < stretch->count; i++) {
        uint32_t v = stretch->source + i;
        int64_t time_ns = stretch->time_ns + recorded->time_ns[v] - recorded->time_ns[stretch->source];
        struct run_effort effort = {0, 0};
        if (recorded->queued_ns) effort = simulation_effort_behind(stream->simulation, v);
        read_vertex(stream, recorded->kind[v], recorded->task[v], time_ns, false, effort);
    }
}

// What is under way is open.
static void cut_unfinished(struct stream *stream) {
    const uint32_t *task = stream->own->task, count = stream->count;
    while (count - stream->count < stream->ends && flags_of(stream, task[stream->count - 1]) & TASK_UNFINISHED)
        stream->count--;
    stream->unfinished = count - stream->count;
}

static void read_process(struct stream *stream, uint32_t process) {
    stream->first = stream->vertex;
    stream->count = stream->ends = 0;
    stream->fetched = DAG_NONE;
    struct run_stretch stretch = {0};
    for (uint32_t i = 0, count = simulation_stretches(stream->simulation, process); i < count; i++) {
        uint32_t ahead = simulation_job_at(stream->simulation, process, i + FETCHED_AHEAD);
        if (ahead < stream->run.job_count) __builtin_prefetch(&stream->own->handovers[ahead], 1);
        if (!simulation_stretch(stream->simulation, process, i, &stretch)) continue;
        if (stream->vertex == stream->first && stretch.time_ns < stream->first_ns) stream->first_ns = stretch.time_ns;
        read_stretch(stream, &stretch);
    }
    if (stream->vertex > stream->first && stream->time_ns > stream->last_ns) stream->last_ns = stream->time_ns;
    cut_unfinished(stream);
}

// ---- what opens and closes

static void pair(struct stream *stream) {
    struct streamed *own = stream->own;
    struct pairing pairing = {.kind = own->kind, .task = own->task, .action = own->action, .open = own->open};
    for (uint32_t i = 0; i < stream->count; i++) {
        struct happening *it = &own->happenings[i];
        if (it->slept_ns && !pairing_is_active(&pairing)) it->slept_ns = 0;
        stream->unknown |= it->slept_ns && it->had_cause;
        pairing_pass(&pairing, i, it->caused);
        // Whether the cause of a wait for no known task is part of the run.
        bool woken = own->kind[i] == VERTEX_WAIT_END && own->action[i] == ACTION_WAKE && it->caused;
        stream->unknown |= woken && own->task[own->open[pairing.depth]] == DAG_NONE;
    }
}

// ---- changes of state

static bool outlasts_run(const struct stream *stream, const struct dag_thread *thread) {
    const uint32_t end = stream->vertex - stream->unfinished;
    const uint32_t run_task = thread->run_task;
    if (run_task != DAG_NONE && end == stream->first + 1 &&
        (flags_of(stream, run_task) & (TASK_BEGUN_BEFORE | TASK_MAIN)) == TASK_BEGUN_BEFORE)
        return false;
    if (stream->last_kind == VERTEX_THREAD_END || stream->last_kind == VERTEX_RETIRE) return false;
    if (stream->last_kind != VERTEX_END) return true;
    return stream->last_task != run_task || flags_of(stream, stream->last_task) & TASK_UNFINISHED;
}

static void follow(const struct stream *stream, struct stretch *stretch) {
    struct streamed *own = stream->own;
    uint32_t depth = 0, bodies = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        const struct happening *it = &own->happenings[i];
        if (it->slept_ns) {
            stretch_to(&stream->work->series, stretch, MODE_BLOCKED, it->time_ns - it->slept_ns);
            stretch_to(&stream->work->series, stretch, MODE_ACTIVE, it->time_ns);
        }
        const enum action action = own->action[i];
        if (action == ACTION_NONE) continue;
        if (action == ACTION_CLOSE || action == ACTION_WAKE)
            depth--;
        else
            own->nesting[depth++] = action == ACTION_OPEN   ? MODE_ACTIVE
                                    : action == ACTION_WAIT ? MODE_WAITING
                                                            : MODE_BLOCKED;
        bodies += (uint32_t)(action == ACTION_OPEN) - (uint32_t)(action == ACTION_CLOSE);
        enum mode mode = bodies == 0 ? stretch->outside : own->nesting[depth - 1];
        stretch_to(&stream->work->series, stretch, mode, it->time_ns);
    }
}

static void change_states(const struct stream *stream, const struct dag_thread *thread, int64_t begin_ns) {
    struct state_series *series = &stream->work->series;
    struct stretch stretch = stretch_from(series, MODE_NONE, true);
    stretch.outside = thread->worker ? MODE_UNOCCUPIED : MODE_NONE;
    stretch_to(series, &stretch, stretch.outside, begin_ns);
    follow(stream, &stretch);
    if (!outlasts_run(stream, thread)) stretch_to(series, &stretch, MODE_NONE, stream->time_ns);
    stretch_last(series, &stretch);
}

// ---- hand-overs

static int64_t handover_ns(const struct handover *of) {
    int64_t bracket_ns = of->spawn_end_ns - of->spawn_begin_ns, ready_ns = of->spawn_begin_ns;
    bool within = of->start > of->spawn_begin && of->start < of->spawn_end && of->end != DAG_NONE;
    if (within) bracket_ns -= of->end_ns - of->start_ns;
    if (of->free_ns > ready_ns) ready_ns = of->free_ns;
    ready_ns += of->waited_ns;
    return bracket_ns + (of->start_ns > ready_ns ? of->start_ns - ready_ns : 0);
}

static bool is_uncounted(const struct stream *stream, uint32_t job) {
    return flags_of(stream, job) & (TASK_NESTED | TASK_OF_ACTOR);
}

static double overhead_ns(const struct stream *stream) {
    const struct state_series *series = &stream->work->series;
    double overhead = 0;
    for (uint32_t job = 0; job < stream->run.job_count; job++) {
        const struct handover *of = &stream->own->handovers[job];
        if (of->start == DAG_NONE || of->spawn_begin == DAG_NONE || is_uncounted(stream, job)) continue;
        if (of->start_ns < series->from_ns || of->start_ns > series->to_ns) continue;
        overhead += (double)handover_ns(of);
    }
    return overhead;
}

// ---- all of it

static bool is_whole(const struct dag *dag, const struct window *window) {
    const struct dag *origin = work_origin(dag);
    return !window || (window->from_ns <= origin->first_ns && window->to_ns >= origin->last_ns);
}

static bool is_counted(const struct stream *stream, const struct dag_thread *thread) {
    return !thread->system && (thread->stream != DAG_NONE || thread->worker);
}

static bool is_virtual(const struct stream *stream, const struct dag_thread *thread) {
    if (thread->system || thread->stream == DAG_NONE) return false;
    return stream->run.dag->trace->streams[thread->stream].thread.flags & THREAD_VIRTUAL;
}

// false: no memory.
static bool stream_process(struct stream *stream, uint32_t process) {
    const struct dag_thread thread = simulation_thread(stream->simulation, process);
    const bool counted = is_counted(stream, &thread);
    const int64_t first_ns = stream->first_ns, last_ns = stream->last_ns;
    stream->first_ns = INT64_MAX;
    stream->delayed_ns = process < stream->run.dag->thread_count ? thread.delayed_ns : 0;
    read_process(stream, process);
    const int64_t begin_ns = stream->first_ns;
    stream->first_ns = counted && begin_ns < first_ns ? begin_ns : first_ns;
    if (!counted) stream->last_ns = last_ns;
    stream->unknown |= is_virtual(stream, &thread);
    if (!counted || stream->vertex == stream->first) return true;
    if (!make_room_for_changes(stream->work, 3 * (size_t)stream->count)) return false;
    pair(stream);
    change_states(stream, &thread, begin_ns);
    return true;
}

bool metrics_of_simulation(const struct simulation *simulation, const struct window *window, const struct metrics *base,
                           struct metrics_work *work, struct metrics *metrics, bool *known, struct error *error) {
    struct stream stream = {.simulation = simulation,
                            .run = simulation_as_run(simulation),
                            .work = work,
                            .first_ns = INT64_MAX,
                            .last_ns = INT64_MIN};
    const struct dag *dag = stream.run.dag;
    *known = is_whole(dag, window);
    if (!*known) return true;
    bool memory = bind(work, &stream.run);
    if (memory) stream.own = work->scratch->streamed;
    for (uint32_t p = 0; memory && p < stream.run.process_count && !stream.unknown; p++)
        memory = stream_process(&stream, p);
    if (!memory) return error_set(error, STATUS_FAILED, "no memory for the metrics of %u events", dag->vertex_count);
    *known = !stream.unknown;
    if (!*known) return true;
    metrics_unknown(metrics);
    if (stream.first_ns > stream.last_ns)
        return error_set(error, STATUS_USAGE, "no event of a counted thread lies within the window");
    work->series.from_ns = stream.first_ns;
    work->series.to_ns = stream.last_ns + work_origin(dag)->still_ns;
    series_sort(&work->series, &work->scratch->spare);
    const bool tells_ready = dag->trace->events_of_kind[EVENT_READY] && dag->vertices.queued_ns;
    if (tells_ready && stream.first_ns < work->series.to_ns) metrics->virtual_ready = 0; // there are no virtual threads
    const double cores = stream.run.cores > 0 ? stream.run.cores : dag->trace->header.cores;
    usage_figures(work, dag->trace, cores, overhead_ns(&stream), base, metrics);
    return true;
}
