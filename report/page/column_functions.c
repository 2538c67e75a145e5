// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/column_functions.h"

#include <stdlib.h>

struct entered {      // a function
    uint64_t ordinal; // of its event
    uint32_t method;
    bool stays;
};

struct body { // of a task or the like: what is entered before it is none of its context
    uint64_t id;
    uint32_t floor;
};

struct choosing {
    uint8_t *stays;
    struct entered *stack;
    struct body *bodies;
    uint32_t depth, room, body_count, body_room;
};

static bool grow(void **array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return true;
    const uint32_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*array, more * size);
    if (!grown) return false;
    *array = grown;
    *room = more;
    return true;
}

static void stay(struct choosing *choosing, uint64_t ordinal) {
    choosing->stays[ordinal / 8] |= (uint8_t)(1u << ordinal % 8);
}

// Those that stay lie below the others, since whatever has one stay has all below stay.
static void stack_stays(struct choosing *choosing) {
    for (uint32_t i = choosing->depth; i > 0 && !choosing->stack[i - 1].stays; i--) {
        choosing->stack[i - 1].stays = true;
        stay(choosing, choosing->stack[i - 1].ordinal);
    }
}

static bool enter(struct choosing *choosing, const struct event *event, uint64_t ordinal) {
    if (!grow((void **)&choosing->stack, choosing->depth, &choosing->room, sizeof *choosing->stack)) return false;
    choosing->stack[choosing->depth++] = (struct entered){ordinal, (uint32_t)event->operand[0], false};
    if (ordinal == 0) stack_stays(choosing);
    return true;
}

static uint32_t innermost(const struct choosing *choosing, uint64_t method) {
    uint32_t at = choosing->depth;
    while (at > 0 && choosing->stack[at - 1].method != method) at--;
    return at;
}

// What ends the topmost function of its body, and nothing else, goes with that. Whatever else it may end stays, and so
// does it.
static void leave(struct choosing *choosing, const struct event *event, uint64_t ordinal) {
    const uint32_t floor = choosing->body_count ? choosing->bodies[choosing->body_count - 1].floor : 0;
    const uint32_t at = innermost(choosing, event->operand[0]);
    if (at == 0) return;
    if (at < choosing->depth || at <= floor) stack_stays(choosing);
    if (choosing->stack[at - 1].stays) stay(choosing, ordinal);
    if (at > floor) choosing->depth = at - 1;
}

static bool begin_body(struct choosing *choosing, uint64_t id) {
    if (!grow((void **)&choosing->bodies, choosing->body_count, &choosing->body_room, sizeof *choosing->bodies))
        return false;
    choosing->bodies[choosing->body_count++] = (struct body){id, choosing->depth};
    return true;
}

static void end_body(struct choosing *choosing, uint64_t id) {
    uint32_t at = choosing->body_count;
    while (at > 0 && choosing->bodies[at - 1].id != id) at--;
    if (at == 0) return;
    if (choosing->depth > choosing->bodies[at - 1].floor) stack_stays(choosing); // functions whose ends were lost
    choosing->body_count = at - 1;
}

static bool choose(struct choosing *choosing, const struct event *event, uint64_t ordinal) {
    if (event->kind > EVENT_EXIT_THROW) stay(choosing, ordinal);
    switch (event->kind) {
    case EVENT_ENTER:
        return enter(choosing, event, ordinal);
    case EVENT_EXIT:
    case EVENT_EXIT_THROW:
        leave(choosing, event, ordinal);
        return true;
    case EVENT_SPAWN_BEGIN:
        stack_stays(choosing);
        return true;
    case EVENT_TASK_START:
    case EVENT_THREAD_START:
    case EVENT_MAIN_BEGIN:
    case EVENT_MESSAGE_BEGIN:
    case EVENT_INIT_BEGIN:
        return begin_body(choosing, event->operand[0]);
    case EVENT_TASK_END:
    case EVENT_THREAD_END:
    case EVENT_MESSAGE_END:
    case EVENT_INIT_END:
        end_body(choosing, event->operand[0]);
        return true;
    default:
        return true;
    }
}

uint8_t *functions_that_stay(const struct trace *trace, const struct trace_stream *stream, struct error *error) {
    struct choosing choosing = {.stays = calloc(1, stream->event_count / 8 + 1)};
    struct trace_cursor cursor;
    struct event event;
    uint64_t ordinal = 0;
    bool ok = choosing.stays;
    trace_cursor_init(&cursor, trace, stream);
    for (; ok && trace_cursor_next(&cursor, &event, error); ordinal++) ok = choose(&choosing, &event, ordinal);
    if (!ok) error_set(error, STATUS_FAILED, "no memory for the functions of a thread");
    if (ok && ordinal > 0) stay(&choosing, 0);
    if (ok && ordinal > 0) stay(&choosing, ordinal - 1);
    free(choosing.stack);
    free(choosing.bodies);
    if (error->status == STATUS_OK) return choosing.stays;
    free(choosing.stays);
    return NULL;
}
