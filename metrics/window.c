// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/window.h"

#include "dag/build/perturbation.h"
#include "dag/names.h"
#include "metrics/steady.h"
#include "metrics/warm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side { SIDE_FROM, SIDE_TO };

struct bound {
    const char *text;
    size_t length;
    enum side side;
};

static bool bad_bound(const struct bound *bound, const char *why, struct error *error) {
    return error_set(error, STATUS_USAGE, "window bound \"%.*s\" %s", (int)bound->length, bound->text, why);
}

static bool parse_number(const struct bound *bound, const struct dag *dag, int64_t *time_ns, struct error *error) {
    char digits[64], *end;
    if (bound->length >= sizeof digits) return bad_bound(bound, "is too long for a number", error);
    memcpy(digits, bound->text, bound->length);
    digits[bound->length] = '\0';
    double value = strtod(digits, &end);
    bool per_cent = *end == '%';
    if (end == digits || end[per_cent] != '\0')
        return bad_bound(bound, "is neither seconds, n% nor Class.method#n", error);
    double length = (double)(dag->last_ns - dag->first_ns);
    double offset = per_cent ? value / 100 * length : value * 1e9;
    if (!(offset >= 0) || offset > 9e18) return bad_bound(bound, "is out of range", error);
    *time_ns = offset > (double)(INT64_MAX - dag->first_ns) ? INT64_MAX : dag->first_ns + llrint(offset);
    return true;
}

struct call {
    int64_t enter_ns, exit_ns;
};

struct call_list {
    struct call *calls;
    size_t count, capacity;
    bool *wanted;    // by method
    size_t open[64]; // calls of the thread being read; deeper recursion is one call
    uint32_t depth;
};

static bool call_enter(struct call_list *list, int64_t time_ns, struct error *error) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 256;
        struct call *calls = realloc(list->calls, capacity * sizeof *calls);
        if (!calls) return error_set(error, STATUS_FAILED, "no memory for calls");
        list->calls = calls;
        list->capacity = capacity;
    }
    if (list->depth < sizeof list->open / sizeof list->open[0]) list->open[list->depth] = list->count;
    list->depth++;
    list->calls[list->count++] = (struct call){time_ns, INT64_MAX};
    return true;
}

static void call_exit(struct call_list *list, int64_t time_ns) {
    if (list->depth == 0) return;
    if (--list->depth < sizeof list->open / sizeof list->open[0])
        list->calls[list->open[list->depth]].exit_ns = time_ns;
}

static uint32_t thread_of_stream(const struct dag *dag, uint32_t stream) {
    uint32_t thread = 0;
    while (thread < dag->thread_count && dag->threads[thread].stream != stream) thread++;
    return thread < dag->thread_count ? thread : DAG_NONE;
}

static bool read_calls(const struct dag *dag, uint32_t stream, struct call_list *list, struct error *error) {
    struct trace_cursor cursor;
    struct event event;
    struct dag_remap remap;
    uint32_t thread = thread_of_stream(dag, stream);
    if (thread != DAG_NONE) dag_remap_init(&remap, dag, thread);
    list->depth = 0;
    error->status = STATUS_OK;
    for (trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[stream]);
         trace_cursor_next(&cursor, &event, error);) {
        bool exits = event.kind == EVENT_EXIT || event.kind == EVENT_EXIT_THROW;
        if ((event.kind != EVENT_ENTER && !exits) || !list->wanted[event.operand[0]]) continue;
        int64_t time_ns = thread == DAG_NONE ? (int64_t)event.time : dag_remap(&remap, (int64_t)event.time);
        if (exits)
            call_exit(list, time_ns);
        else if (!call_enter(list, time_ns, error))
            return false;
    }
    return error->status == STATUS_OK;
}

static int compare_calls(const void *a, const void *b) {
    const struct call *left = a, *right = b;
    return (left->enter_ns > right->enter_ns) - (left->enter_ns < right->enter_ns);
}

static bool collect_calls(const struct dag *dag, const char *name, size_t length, struct call_list *list,
                          struct error *error) {
    const struct trace *trace = dag->trace;
    list->wanted = calloc((size_t)trace->method_count + 1, 1);
    if (!list->wanted) return error_set(error, STATUS_FAILED, "no memory for calls");
    for (uint32_t m = 1; m < trace->method_count; m++)
        list->wanted[m] = dag_is_named(trace->methods[m].class_name, trace->methods[m].name, name, length);
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (!read_calls(dag, s, list, error)) return false;
    }
    if (list->count) qsort(list->calls, list->count, sizeof *list->calls, compare_calls);
    return true;
}

static bool pick_call(const struct bound *bound, const struct call_list *list, const char *ordinal, int64_t *time_ns,
                      struct error *error) {
    char *end;
    unsigned long long number = strtoull(ordinal, &end, 10);
    if (end != bound->text + bound->length || !isdigit((unsigned char)*ordinal) || number == 0) {
        return bad_bound(bound, "must end in the number of a call, from 1", error);
    }
    if (number > list->count) {
        return error_set(error, STATUS_USAGE, "window bound \"%.*s\": the trace has %zu calls of that method%s",
                         (int)bound->length, bound->text, list->count,
                         list->count ? "" : " (was it recorded with --include?)");
    }
    const struct call *call = &list->calls[number - 1];
    *time_ns = bound->side == SIDE_FROM ? call->enter_ns : call->exit_ns;
    return true;
}

static bool parse_bound(const struct bound *bound, const struct dag *dag, int64_t *time_ns, struct error *error) {
    if (bound->length == 0) return true;
    const char *hash = memchr(bound->text, '#', bound->length);
    if (!hash) return parse_number(bound, dag, time_ns, error);
    struct call_list list = {0};
    bool done = collect_calls(dag, bound->text, (size_t)(hash - bound->text), &list, error) &&
                pick_call(bound, &list, hash + 1, time_ns, error);
    free(list.calls);
    free(list.wanted);
    return done;
}

// "FROM..TO".
static bool parse_bounds(const char *text, const struct dag *dag, struct window *window, struct error *error) {
    const char *dots = strstr(text, "..");
    if (!dots) return error_set(error, STATUS_USAGE, "window \"%s\" is neither FROM..TO nor steady or warm", text);
    const struct bound from = {text, (size_t)(dots - text), SIDE_FROM}, to = {dots + 2, strlen(dots + 2), SIDE_TO};
    if (!parse_bound(&from, dag, &window->from_ns, error) || !parse_bound(&to, dag, &window->to_ns, error))
        return false;
    if (window->from_ns < window->to_ns) return true;
    return error_set(error, STATUS_USAGE, "window \"%s\" ends before it begins", text);
}

static const struct window whole = {INT64_MIN, INT64_MAX};

void window_choose_all(struct window *window, struct window_choice *choice, const char *why) {
    *window = whole;
    choice->found = false;
    snprintf(choice->why, sizeof choice->why, "%s", why);
}

static bool choose_steady(const struct dag *dag, struct window *window, struct window_choice *choice,
                          struct error *error) {
    struct steady steady;
    char few[100];
    if (!steady_of_run(dag, &steady, error)) return false;
    switch (steady.verdict) {
    case STEADY_FOUND:
        *window = (struct window){steady.from_ns, steady.to_ns};
        snprintf(choice->why, sizeof choice->why, "steady: what is asked and what it costs do not drift");
        break;
    case STEADY_FEW:
        snprintf(few, sizeof few, "%zu request%s too few to find a steady part", steady.requests,
                 steady.requests == 1 ? " is" : "s are");
        window_choose_all(window, choice, few);
        break;
    case STEADY_NONE:
        window_choose_all(window, choice, "no part is steady: what is asked or what it costs drifts");
    }
    return true;
}

static bool choose_warm(const struct dag *dag, struct window *window, struct window_choice *choice,
                        struct error *error) {
    struct warm warm;
    if (!warm_of_run(dag, &warm, error)) return false;
    switch (warm.verdict) {
    case WARM_FOUND:
        *window = (struct window){warm.from_ns, INT64_MAX};
        snprintf(choice->why, sizeof choice->why, "warm: tasks cost no more than at the end of the run");
        break;
    case WARM_FEW:
        window_choose_all(window, choice, "too few tasks of a site tell when it is warm");
        break;
    case WARM_NEVER:
        window_choose_all(window, choice, "it does not become warm: tasks cost less and less until its end");
    }
    return true;
}

bool window_choose(const char *text, const struct dag *dag, struct window *window, struct window_choice *choice,
                   struct error *error) {
    *window = whole;
    *choice = (struct window_choice){.kind = WINDOW_WHOLE, .found = true, .why = "all of the run"};
    if (!text && dag->request_count == 0) return true;
    choice->kind = !text || strcmp(text, "steady") == 0 ? WINDOW_STEADY
                   : strcmp(text, "warm") == 0          ? WINDOW_WARM
                                                        : WINDOW_GIVEN;
    if (choice->kind == WINDOW_STEADY) return choose_steady(dag, window, choice, error);
    if (choice->kind == WINDOW_WARM) return choose_warm(dag, window, choice, error);
    snprintf(choice->why, sizeof choice->why, "%s, as given", text);
    return parse_bounds(text, dag, window, error);
}
