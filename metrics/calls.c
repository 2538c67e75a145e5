// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/calls.h"

#include "dag/build/perturbation.h"
#include "metrics/call_sequences.h"
#include "metrics/request_log.h"
#include "metrics/work.h"

#include <stdlib.h>
#include <string.h>

// Of a call that counts as one that sleeps.
#define LEAST_ASLEEP_NS   1e6
#define LEAST_PART_ASLEEP 0.5

// Of an endpoint's latency, that a sequence would save which is worth a word.
#define LEAST_PART_ADVISED 0.05

enum { STEPS_OF_NEWTON = 64, NO_FIGURE = UINT32_MAX };

struct figure { // of one function in one endpoint's requests
    uint32_t endpoint, method;
    uint64_t calls;
    double called_ns, asleep_ns, together_ns;
    uint32_t open; // calls under way of the request in hand: what recursive ones sleep counts once
};

struct frame { // a call under way; or a request, below the calls that it makes
    uint32_t method, figure;
    int64_t since_ns;
    double asleep_ns; // with what it called
    uint32_t first;   // vertex
    size_t sleeping;  // where the calls that it makes begin in walk.sleeping
};

enum step_kind { STEP_SPAN_END, STEP_SPAN_BEGIN, STEP_EXIT, STEP_ENTER };

struct step {
    int64_t time_ns;
    uint32_t of; // trace method id, or index into the log's spans
    enum step_kind kind;
};

struct walk {
    const struct dag *dag;
    const struct window *window;
    struct request_log log;
    struct call_sequences sequences;
    struct figure *figures;
    size_t figure_count, figure_capacity;
    struct idmap figure_of; // by endpoint and method
    int64_t first_ns;       // when the first function was entered, by a thread that is at requests
    // The thread in hand:
    struct frame *frames; // outermost first; those below the request were called before it began
    size_t depth, frame_capacity;
    size_t request; // its frame and 1; 0: the thread is at none
    uint32_t span;
    struct step *steps; // of the edge in hand
    size_t step_count, step_capacity;
    struct sleeping_call *sleeping; // of the calls under way, those of inner ones behind those of outer ones
    size_t sleeping_count, sleeping_capacity;
    uint32_t vertex; // that the edge in hand ends at
};

static bool make_room(void **items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return true;
    const size_t more = *capacity ? *capacity * 2 : 64;
    void *grown = realloc(*items, more * size);
    if (!grown) return false;
    *items = grown;
    *capacity = more;
    return true;
}

#define ROOM(items, count, capacity) make_room((void **)&(items), (count), &(capacity), sizeof *(items))

// How long an edge sleeps ---------------------------------------------------------------------------------------------

static double asleep_ns(const struct dag *dag, uint32_t vertex) {
    const struct dag_vertices *vertices = &dag->vertices;
    if (vertices->kind[vertex] != VERTEX_WAIT_END) return (double)work_slept_ns(dag, vertex);
    int64_t waited_ns = vertices->time_ns[vertex] - vertices->time_ns[vertex - 1];
    if (vertices->queued_ns) waited_ns -= vertices->compute_ns[vertex] + vertices->queued_ns[vertex];
    return waited_ns > 0 ? (double)waited_ns : 0;
}

static double awake_of(double length_ns, double level_ns) {
    return length_ns < level_ns ? length_ns : level_ns;
}

// So much of each stretch between two steps of the edge is awake that `slept_ns` are left of all (Newton's method, as
// in dag/build/compute.c).
static double level_of(const struct walk *walk, int64_t from_ns, int64_t to_ns, double slept_ns) {
    double level_ns = 0;
    for (int turn = 0; turn < STEPS_OF_NEWTON; turn++) {
        double excess_ns = -slept_ns, above = 0;
        int64_t since_ns = from_ns;
        for (size_t i = 0; i <= walk->step_count; i++) {
            const int64_t until_ns = i < walk->step_count ? walk->steps[i].time_ns : to_ns;
            const double over_ns = (double)(until_ns - since_ns) - level_ns;
            above += over_ns > 0;
            excess_ns += over_ns > 0 ? over_ns : 0;
            since_ns = until_ns;
        }
        if (excess_ns < 1 || above == 0) break;
        level_ns += excess_ns / above;
    }
    return level_ns;
}

// Calls ---------------------------------------------------------------------------------------------------------------

static uint32_t endpoint_of(const struct walk *walk) {
    const uint32_t endpoint = walk->log.requests[walk->log.spans[walk->span].request].endpoint;
    return endpoint < walk->dag->trace->endpoint_count ? endpoint : 0;
}

// Its index; NO_FIGURE: no memory.
static uint32_t figure_of(struct walk *walk, uint32_t method) {
    const uint64_t key = (uint64_t)endpoint_of(walk) << 32 | method;
    const uint32_t known = idmap_get(&walk->figure_of, key), index = (uint32_t)walk->figure_count;
    if (known != IDMAP_NONE) return known;
    if (!ROOM(walk->figures, walk->figure_count, walk->figure_capacity) || !idmap_add(&walk->figure_of, key, index))
        return NO_FIGURE;
    walk->figures[walk->figure_count++] = (struct figure){.endpoint = endpoint_of(walk), .method = method};
    return index;
}

static bool push(struct walk *walk, uint32_t method, uint32_t figure, int64_t time_ns) {
    if (!ROOM(walk->frames, walk->depth, walk->frame_capacity)) return false;
    walk->frames[walk->depth++] = (struct frame){.method = method,
                                                 .figure = figure,
                                                 .since_ns = time_ns,
                                                 .first = walk->vertex,
                                                 .sleeping = walk->sleeping_count};
    return true;
}

static bool enter(struct walk *walk, uint32_t method, int64_t time_ns) {
    if (!walk->request) return push(walk, method, NO_FIGURE, time_ns);
    const uint32_t figure = figure_of(walk, method);
    if (figure == NO_FIGURE) return false;
    walk->figures[figure].open++;
    return push(walk, method, figure, time_ns);
}

static bool note_sequence(struct walk *walk, const struct frame *caller) {
    const struct sequence_place place = {.endpoint = endpoint_of(walk),
                                         .request = walk->log.spans[walk->span].request,
                                         .caller = caller->method,
                                         .since = walk->frames[walk->request - 1].first};
    const size_t count = walk->sleeping_count - caller->sleeping;
    const bool good =
        count == 0 || call_sequences_note(&walk->sequences, &place, walk->sleeping + caller->sleeping, count);
    walk->sleeping_count = caller->sleeping;
    return good;
}

static bool note_sleeping(struct walk *walk, const struct frame *call, int64_t time_ns) {
    const double length_ns = (double)(time_ns - call->since_ns);
    if (call->asleep_ns < LEAST_ASLEEP_NS || call->asleep_ns <= LEAST_PART_ASLEEP * length_ns) return true;
    if (!ROOM(walk->sleeping, walk->sleeping_count, walk->sleeping_capacity)) return false;
    walk->sleeping[walk->sleeping_count++] = (struct sleeping_call){.method = call->method,
                                                                    .since_ns = call->since_ns,
                                                                    .length_ns = length_ns,
                                                                    .first = call->first,
                                                                    .last = walk->vertex};
    return true;
}

// A call of the request, the innermost that has not ended; the frame stays.
static bool end_call(struct walk *walk, size_t index, int64_t time_ns) {
    const struct frame *call = &walk->frames[index];
    struct figure *figure = &walk->figures[call->figure];
    figure->calls++;
    figure->called_ns += (double)(time_ns - call->since_ns);
    if (--figure->open == 0) figure->together_ns += call->asleep_ns;
    walk->frames[index - 1].asleep_ns += call->asleep_ns;
    return note_sequence(walk, call) && note_sleeping(walk, call, time_ns);
}

static void remove_frame(struct walk *walk, size_t index) {
    memmove(&walk->frames[index], &walk->frames[index + 1], (walk->depth - index - 1) * sizeof *walk->frames);
    walk->depth--;
    if (walk->request > index) walk->request--;
}

// What lies above it in the request ends as well, since its own exit was lost. What was called before the request is
// left while that goes on.
static bool leave(struct walk *walk, uint32_t method, int64_t time_ns) {
    size_t index = walk->depth;
    while (index > 0 && (index == walk->request || walk->frames[index - 1].method != method)) index--;
    if (index-- == 0) return true;
    if (walk->request && index < walk->request) {
        remove_frame(walk, index);
        return true;
    }
    while (walk->depth > index) {
        if (walk->request && !end_call(walk, walk->depth - 1, time_ns)) return false;
        walk->depth--;
    }
    return true;
}

static bool begin_span(struct walk *walk, uint32_t span, int64_t time_ns) {
    const struct logged_request *request = &walk->log.requests[walk->log.spans[span].request];
    if (!work_is_within(walk->window, request->begin_ns)) return true;
    walk->span = span;
    if (!push(walk, 0, NO_FIGURE, time_ns)) return false;
    walk->request = walk->depth;
    return true;
}

// Calls that outlast it end with it, as far as it goes.
static bool end_span(struct walk *walk, int64_t time_ns) {
    if (!walk->request) return true;
    bool good = true;
    for (size_t i = walk->depth; i > walk->request; i--) good = good && end_call(walk, i - 1, time_ns);
    good = good && note_sequence(walk, &walk->frames[walk->request - 1]);
    for (size_t i = walk->request; i < walk->depth; i++) walk->frames[i].figure = NO_FIGURE;
    remove_frame(walk, walk->request - 1);
    walk->request = 0;
    return good;
}

static bool take(struct walk *walk, const struct step *step) {
    switch (step->kind) {
    case STEP_SPAN_BEGIN:
        return begin_span(walk, step->of, step->time_ns);
    case STEP_SPAN_END:
        return end_span(walk, step->time_ns);
    case STEP_ENTER:
        return enter(walk, step->of, step->time_ns);
    default:
        return leave(walk, step->of, step->time_ns);
    }
}

static void sleep_for(struct walk *walk, double slept_ns) {
    if (!walk->request || slept_ns <= 0) return;
    struct frame *innermost = &walk->frames[walk->depth - 1];
    innermost->asleep_ns += slept_ns;
    if (innermost->figure != NO_FIGURE) walk->figures[innermost->figure].asleep_ns += slept_ns;
}

// The walk ------------------------------------------------------------------------------------------------------------

static bool pass_edge(struct walk *walk, int64_t from_ns, int64_t to_ns, double slept_ns) {
    const double level_ns = slept_ns > 0 ? level_of(walk, from_ns, to_ns, slept_ns) : 0;
    int64_t since_ns = from_ns;
    for (size_t i = 0; i <= walk->step_count; i++) {
        const int64_t until_ns = i < walk->step_count ? walk->steps[i].time_ns : to_ns;
        const double length_ns = (double)(until_ns - since_ns);
        if (slept_ns > 0) sleep_for(walk, length_ns - awake_of(length_ns, level_ns));
        if (i < walk->step_count && !take(walk, &walk->steps[i])) return false;
        since_ns = until_ns;
    }
    walk->step_count = 0;
    return true;
}

struct thread_reader {
    struct trace_cursor cursor;
    struct dag_remap remap;
    uint32_t span, span_end; // indices into the log's spans
    bool begun;              // the span in hand
    struct step call;        // the next; STEP_SPAN_END: there is none
};

static bool is_call(unsigned kind) {
    return kind == EVENT_ENTER || kind == EVENT_EXIT || kind == EVENT_EXIT_THROW;
}

static bool read_call(struct walk *walk, struct thread_reader *reader, struct error *error) {
    struct event event;
    reader->call = (struct step){.time_ns = INT64_MAX, .kind = STEP_SPAN_END};
    while (trace_cursor_next(&reader->cursor, &event, error)) {
        if (!is_call(event.kind)) continue;
        reader->call = (struct step){.time_ns = dag_remap(&reader->remap, (int64_t)event.time),
                                     .of = (uint32_t)event.operand[0],
                                     .kind = event.kind == EVENT_ENTER ? STEP_ENTER : STEP_EXIT};
        if (reader->call.time_ns < walk->first_ns) walk->first_ns = reader->call.time_ns;
        return true;
    }
    return error->status == STATUS_OK;
}

// The next of the thread's spans' bounds; those come before calls at the same instant.
static struct step next_bound(const struct walk *walk, const struct thread_reader *reader) {
    const struct request_span *span = &walk->log.spans[reader->span];
    if (reader->span == reader->span_end) return (struct step){.time_ns = INT64_MAX, .kind = STEP_SPAN_END};
    return (struct step){.time_ns = reader->begun ? span->to_ns : span->from_ns,
                         .of = reader->span,
                         .kind = reader->begun ? STEP_SPAN_END : STEP_SPAN_BEGIN};
}

// The steps of the edge that ends then.
static bool gather_steps(struct walk *walk, struct thread_reader *reader, int64_t until_ns, struct error *error) {
    for (;;) {
        const struct step bound = next_bound(walk, reader);
        const bool bounds = bound.time_ns <= reader->call.time_ns;
        const struct step next = bounds ? bound : reader->call;
        if (next.time_ns == INT64_MAX || next.time_ns > until_ns) return true;
        if (!ROOM(walk->steps, walk->step_count, walk->step_capacity))
            return error_set(error, STATUS_FAILED, "no memory for calls");
        walk->steps[walk->step_count++] = next;
        if (!bounds) {
            if (!read_call(walk, reader, error)) return false;
            continue;
        }
        reader->span += reader->begun;
        reader->begun = !reader->begun;
    }
}

static bool walk_thread(struct walk *walk, uint32_t t, uint32_t span, uint32_t span_end, struct error *error) {
    const struct dag_thread *thread = &walk->dag->threads[t];
    const int64_t *time_ns = walk->dag->vertices.time_ns;
    struct thread_reader reader = {.span = span, .span_end = span_end};
    trace_cursor_init(&reader.cursor, walk->dag->trace, &walk->dag->trace->streams[thread->stream]);
    dag_remap_init(&reader.remap, walk->dag, t);
    walk->depth = walk->request = walk->sleeping_count = 0;
    error->status = STATUS_OK;
    if (!read_call(walk, &reader, error)) return false;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        const int64_t from_ns = v > thread->first ? time_ns[v - 1] : time_ns[v];
        walk->vertex = v;
        if (!gather_steps(walk, &reader, time_ns[v], error)) return false;
        if (!walk->step_count && !walk->request) continue;
        if (!pass_edge(walk, from_ns, time_ns[v], v > thread->first ? asleep_ns(walk->dag, v) : 0))
            return error_set(error, STATUS_FAILED, "no memory for calls");
    }
    return end_span(walk, time_ns[walk->vertex]) || error_set(error, STATUS_FAILED, "no memory for calls");
}

static bool walk_threads(struct walk *walk, struct error *error) {
    const struct request_log *log = &walk->log;
    for (size_t from = 0, to; from < log->span_count; from = to) {
        const uint32_t thread = log->spans[from].thread;
        for (to = from + 1; to < log->span_count && log->spans[to].thread == thread;) to++;
        if (!walk_thread(walk, thread, (uint32_t)from, (uint32_t)to, error)) return false;
    }
    return true;
}

// Figures -------------------------------------------------------------------------------------------------------------

static int by_endpoint(const void *a, const void *b) {
    const struct figure *x = a, *y = b;
    if (x->endpoint != y->endpoint) return x->endpoint < y->endpoint ? -1 : 1;
    if (x->asleep_ns != y->asleep_ns) return x->asleep_ns < y->asleep_ns ? 1 : -1;
    if (x->together_ns != y->together_ns) return x->together_ns < y->together_ns ? 1 : -1;
    return (x->method > y->method) - (x->method < y->method);
}

static const struct called_function *tell_functions(const struct figure *figures, size_t count, uint64_t requests,
                                                    struct arena *arena) {
    struct called_function *functions = ARENA_NEW(arena, struct called_function, count);
    const double each = (double)requests;
    for (size_t i = 0; functions && i < count; i++) {
        const double calls = (double)figures[i].calls;
        functions[i] = (struct called_function){.method = figures[i].method,
                                                .calls = calls / each,
                                                .call_ns = calls > 0 ? figures[i].called_ns / calls : 0,
                                                .asleep_ns = figures[i].asleep_ns / each,
                                                .together_ns = figures[i].together_ns / each};
    }
    return functions;
}

struct asked { // all requests that count, and by endpoint
    int64_t first_ns, last_ns;
    uint64_t *count;
};

static bool count_requests(const struct walk *walk, struct arena *scratch, struct asked *asked) {
    const uint32_t endpoints = walk->dag->trace->endpoint_count + 1;
    *asked = (struct asked){INT64_MAX, INT64_MIN, ARENA_NEW(scratch, uint64_t, endpoints)};
    for (size_t i = 0; asked->count && i < walk->log.request_count; i++) {
        const struct logged_request *request = &walk->log.requests[i];
        if (!work_is_within(walk->window, request->begin_ns) || request->end_ns < walk->first_ns) continue;
        asked->count[request->endpoint < walk->dag->trace->endpoint_count ? request->endpoint : 0]++;
        if (request->begin_ns < asked->first_ns) asked->first_ns = request->begin_ns;
        if (request->end_ns > asked->last_ns) asked->last_ns = request->end_ns;
    }
    return asked->count != NULL;
}

static bool tell(struct walk *walk, struct arena *scratch, struct arena *arena, struct calls *calls) {
    struct asked asked;
    struct endpoint_calls *endpoints =
        ARENA_NEW(arena, struct endpoint_calls, (size_t)walk->dag->trace->endpoint_count + 1);
    if (!endpoints || !count_requests(walk, scratch, &asked)) return false;
    if (walk->figure_count) qsort(walk->figures, walk->figure_count, sizeof *walk->figures, by_endpoint);
    for (size_t from = 0, to; from < walk->figure_count; from = to) {
        const uint32_t endpoint = walk->figures[from].endpoint;
        for (to = from + 1; to < walk->figure_count && walk->figures[to].endpoint == endpoint;) to++;
        struct endpoint_calls *told = &endpoints[calls->count++];
        *told = (struct endpoint_calls){
            .endpoint = endpoint, .requests = asked.count[endpoint], .function_count = to - from};
        told->functions = tell_functions(walk->figures + from, to - from, told->requests, arena);
        told->sequences = call_sequences_tell(&walk->sequences, endpoint, told->requests,
                                              asked.last_ns - asked.first_ns, arena, &told->sequence_count);
        if (!told->functions || !told->sequences) return false;
    }
    calls->endpoints = endpoints;
    return true;
}

static bool tells_calls(const struct trace *trace) {
    return trace->events_of_kind[EVENT_REQUEST_BEGIN] && trace->events_of_kind[EVENT_ENTER];
}

static void walk_destroy(struct walk *walk) {
    request_log_destroy(&walk->log);
    call_sequences_destroy(&walk->sequences);
    idmap_destroy(&walk->figure_of);
    free(walk->figures);
    free(walk->frames);
    free(walk->steps);
    free(walk->sleeping);
}

bool metrics_calls(const struct dag *dag, const struct window *window, struct arena *arena, struct calls *calls,
                   struct error *error) {
    struct walk walk = {.dag = dag, .window = window, .first_ns = INT64_MAX};
    struct arena scratch = ARENA_INIT;
    *calls = (struct calls){0};
    if (!tells_calls(dag->trace)) return true;
    bool good = request_log_read(&walk.log, dag, error);
    if (good && !call_sequences_init(&walk.sequences, dag))
        good = error_set(error, STATUS_FAILED, "no memory for calls");
    good = good && walk_threads(&walk, error);
    if (good && !tell(&walk, &scratch, arena, calls)) good = error_set(error, STATUS_FAILED, "no memory for calls");
    walk_destroy(&walk);
    arena_destroy(&scratch);
    return good;
}

const struct endpoint_calls *calls_of(const struct calls *calls, uint32_t endpoint) {
    size_t low = 0, high = calls->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (calls->endpoints[middle].endpoint < endpoint)
            low = middle + 1;
        else
            high = middle;
    }
    return low < calls->count && calls->endpoints[low].endpoint == endpoint ? &calls->endpoints[low] : NULL;
}

bool calls_advise(const struct endpoints *endpoints, const struct calls *calls, struct call_advice *advice) {
    double best_ns = 0;
    for (size_t i = 0; i < endpoints->count; i++) {
        const struct endpoint *endpoint = &endpoints->endpoints[i];
        const struct endpoint_calls *of = calls_of(calls, endpoint->endpoint);
        for (size_t s = 0; of && s < of->sequence_count; s++) {
            const struct call_sequence *sequence = &of->sequences[s];
            const double all_ns = sequence->saved_ns * (double)endpoint->count;
            if (sequence->held != DAG_NONE || sequence->saved_ns <= LEAST_PART_ADVISED * endpoint->mean_ns) continue;
            if (all_ns <= best_ns) continue;
            best_ns = all_ns;
            *advice = (struct call_advice){endpoint, sequence};
        }
    }
    return best_ns > 0;
}
