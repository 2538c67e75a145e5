// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/request_log.h"

#include "dag/build/perturbation.h"

#include <stdlib.h>

struct note {
    uint64_t id;
    int64_t time_ns;
    uint32_t thread, operand; // connection, endpoint, or outcome
    uint8_t kind;
};

struct notes {
    struct note *items;
    size_t count, capacity;
};

static bool is_noted(unsigned kind) {
    return kind >= EVENT_REQUEST_BEGIN && kind <= EVENT_REQUEST_RESUMED;
}

static bool note(struct notes *notes, struct note item) {
    if (notes->count == notes->capacity) {
        size_t capacity = notes->capacity ? notes->capacity * 2 : 1024;
        struct note *items = realloc(notes->items, capacity * sizeof *items);
        if (!items) return false;
        notes->items = items;
        notes->capacity = capacity;
    }
    notes->items[notes->count++] = item;
    return true;
}

static uint32_t told(const struct event *event) {
    return (uint32_t)event->operand[event->kind == EVENT_REQUEST_NAMED ? 1 : 2];
}

static void see_waits(struct request_log *log, const struct dag *dag, uint32_t *vertex, uint32_t end, uint64_t ordinal,
                      const struct event *event) {
    for (; *vertex < end && dag->vertices.event[*vertex] == ordinal; ++*vertex) {
        if (dag->vertices.kind[*vertex] == VERTEX_WAIT_BEGIN && event->kind == EVENT_WAIT_BEGIN)
            log->wait_site[*vertex] = (uint32_t)event->operand[2];
    }
}

static bool read_thread(struct request_log *log, const struct dag *dag, uint32_t t, struct notes *notes,
                        struct error *error) {
    const struct dag_thread *thread = &dag->threads[t];
    struct trace_cursor cursor;
    struct event event;
    struct dag_remap remap;
    uint32_t vertex = thread->first;
    uint64_t ordinal = 0;
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[thread->stream]);
    dag_remap_init(&remap, dag, t);
    for (error->status = STATUS_OK; trace_cursor_next(&cursor, &event, error); ordinal++) {
        see_waits(log, dag, &vertex, thread->first + thread->count, ordinal, &event);
        if (!is_noted(event.kind)) continue;
        const struct note item = {.id = event.operand[0],
                                  .time_ns = dag_remap(&remap, (int64_t)event.time),
                                  .thread = t,
                                  .operand = told(&event),
                                  .kind = (uint8_t)event.kind};
        if (!note(notes, item)) return error_set(error, STATUS_FAILED, "no memory for requests");
    }
    return error->status == STATUS_OK;
}

// Requests ------------------------------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
    const struct note *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->kind - y->kind;
}

// false: its begin or its end is not told.
static bool describe(const struct note *notes, size_t count, struct logged_request *request) {
    bool begun = false, ended = false;
    *request = (struct logged_request){.id = notes[0].id};
    for (size_t i = 0; i < count; i++) {
        if (notes[i].kind == EVENT_REQUEST_BEGIN && !begun) {
            request->begin_ns = notes[i].time_ns;
            request->connection = notes[i].operand;
            begun = true;
        } else if (notes[i].kind == EVENT_REQUEST_NAMED) {
            request->endpoint = notes[i].operand;
        } else if (notes[i].kind == EVENT_REQUEST_END && !ended) {
            request->end_ns = notes[i].time_ns;
            request->failed = notes[i].operand == REQUEST_FAILED;
            ended = true;
        }
    }
    return begun && ended && request->end_ns >= request->begin_ns;
}

static bool gather_requests(struct request_log *log, const struct notes *notes) {
    struct note *sorted = malloc((notes->count + 1) * sizeof *sorted);
    log->requests = malloc((notes->count + 1) * sizeof *log->requests);
    if (!sorted || !log->requests) {
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < notes->count; i++) sorted[i] = notes->items[i];
    qsort(sorted, notes->count, sizeof *sorted, by_id);
    for (size_t first = 0, next; first < notes->count; first = next) {
        for (next = first + 1; next < notes->count && sorted[next].id == sorted[first].id;) next++;
        log->request_count += describe(sorted + first, next - first, &log->requests[log->request_count]);
    }
    free(sorted);
    return true;
}

// Spans ---------------------------------------------------------------------------------------------------------------

static int compare_id(const void *key, const void *item) {
    const uint64_t id = *(const uint64_t *)key;
    const struct logged_request *request = item;
    return (id > request->id) - (id < request->id);
}

static void close_span(struct request_log *log, const struct note *open, int64_t to_ns) {
    const struct logged_request *request =
        bsearch(&open->id, log->requests, log->request_count, sizeof *log->requests, compare_id);
    if (!request || to_ns <= open->time_ns) return;
    if (to_ns > request->end_ns) to_ns = request->end_ns;
    log->spans[log->span_count++] = (struct request_span){.request = (uint32_t)(request - log->requests),
                                                          .thread = open->thread,
                                                          .from_ns = open->time_ns,
                                                          .to_ns = to_ns};
}

static int64_t last_of(const struct dag *dag, uint32_t thread) {
    const struct dag_thread *of = &dag->threads[thread];
    return dag->vertices.time_ns[of->first + of->count - 1];
}

// A thread is at one request from where it begins or resumes it to where it leaves or ends it, or comes to another.
static bool gather_spans(struct request_log *log, const struct dag *dag, const struct notes *notes) {
    const struct note *open = NULL;
    log->spans = malloc((notes->count + 1) * sizeof *log->spans);
    if (!log->spans) return false;
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *item = &notes->items[i];
        if (item->kind == EVENT_REQUEST_NAMED) continue;
        const bool other_thread = open && open->thread != item->thread;
        const bool opens = item->kind == EVENT_REQUEST_BEGIN || item->kind == EVENT_REQUEST_RESUMED;
        if (open && (opens || other_thread || open->id == item->id)) {
            close_span(log, open, other_thread ? last_of(dag, open->thread) : item->time_ns);
            open = NULL;
        }
        if (opens) open = item;
    }
    if (open) close_span(log, open, last_of(dag, open->thread));
    return true;
}

const struct request_span *request_log_at(const struct request_log *log, uint32_t thread, int64_t time_ns) {
    size_t low = 0, high = log->span_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct request_span *span = &log->spans[middle];
        const bool before = span->thread < thread || (span->thread == thread && span->from_ns <= time_ns);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    const struct request_span *span = low ? &log->spans[low - 1] : NULL;
    return span && span->thread == thread && time_ns < span->to_ns ? span : NULL;
}

bool request_log_read(struct request_log *log, const struct dag *dag, struct error *error) {
    struct notes notes = {0};
    bool good = true;
    *log = (struct request_log){0};
    if (!dag->trace->events_of_kind[EVENT_REQUEST_BEGIN] || !dag->vertices.event) return true;
    log->wait_site = calloc((size_t)dag->vertex_count + 1, sizeof *log->wait_site);
    if (!log->wait_site) return error_set(error, STATUS_FAILED, "no memory for requests");
    for (uint32_t t = 0; t < dag->thread_count && good; t++) {
        if (dag->threads[t].stream != DAG_NONE) good = read_thread(log, dag, t, &notes, error);
    }
    if (good && !(gather_requests(log, &notes) && gather_spans(log, dag, &notes)))
        good = error_set(error, STATUS_FAILED, "no memory for requests");
    free(notes.items);
    return good;
}

void request_log_destroy(struct request_log *log) {
    free(log->requests);
    free(log->spans);
    free(log->wait_site);
    *log = (struct request_log){0};
}
