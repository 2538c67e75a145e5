// SPDX-License-Identifier: Apache-2.0
#include "tracefile/ongoing.h"

#include <stdlib.h>
#include <string.h>

struct ongoing_thread {
    uint32_t id;
    uint32_t flags;
    char *name;                  // NULL: not known
    struct event *open;          // those that began what is open, the outermost first
    size_t count, capacity;      // of them
    uint64_t cpu, delay_ns;      // so far
    uint64_t bytecodes;          // ... executed; 0: not counted
    uint64_t carrier;            // of a virtual thread, 0 before its first
    bool named, mounted;         // has a thread block; is on its carrier
    struct ongoing_thread *next; // of its bucket
};

enum { FIRST_ROOM = 64, FIRST_OPEN = 8, AROUND_OPEN = 4 }; // a delay, bytecodes, a mount and an unmount

// Threads by id -------------------------------------------------------------------------------------------------------

// Ids are given in turn, so they spread evenly.
static struct ongoing_thread **bucket_of(const struct ongoing *ongoing, uint32_t id) {
    return &ongoing->buckets[id & (ongoing->room - 1)];
}

static bool grow(struct ongoing *ongoing) {
    struct ongoing grown = {.room = ongoing->room ? ongoing->room * 2 : FIRST_ROOM, .count = ongoing->count};
    grown.buckets = calloc(grown.room, sizeof(struct ongoing_thread *));
    if (!grown.buckets) return false;
    for (size_t i = 0; i < ongoing->room; i++) {
        for (struct ongoing_thread *at = ongoing->buckets[i], *next; at; at = next) {
            struct ongoing_thread **bucket = bucket_of(&grown, at->id);
            next = at->next;
            at->next = *bucket;
            *bucket = at;
        }
    }
    free(ongoing->buckets);
    *ongoing = grown;
    return true;
}

static struct ongoing_thread *find(const struct ongoing *ongoing, uint32_t id) {
    struct ongoing_thread *at = ongoing->room ? *bucket_of(ongoing, id) : NULL;
    while (at && at->id != id) at = at->next;
    return at;
}

static struct ongoing_thread *find_or_add(struct ongoing *ongoing, uint32_t id) {
    struct ongoing_thread *thread = find(ongoing, id);
    if (thread) return thread;
    if (ongoing->count == ongoing->room && !grow(ongoing)) return NULL;
    if (!(thread = calloc(1, sizeof *thread))) return NULL;
    struct ongoing_thread **bucket = bucket_of(ongoing, id);
    thread->id = id;
    thread->next = *bucket;
    *bucket = thread;
    ongoing->count++;
    return thread;
}

static void release(struct ongoing_thread *thread) {
    free(thread->name);
    free(thread->open);
    free(thread);
}

static void forget(struct ongoing *ongoing, struct ongoing_thread *thread) {
    struct ongoing_thread **link = bucket_of(ongoing, thread->id);
    while (*link != thread) link = &(*link)->next;
    *link = thread->next;
    ongoing->count--;
    release(thread);
}

bool ongoing_name(struct ongoing *ongoing, uint32_t id, const struct trace_thread *named) {
    struct ongoing_thread *thread = find_or_add(ongoing, id);
    if (!thread) return false;
    free(thread->name);
    thread->name = named->name ? strdup(named->name) : NULL;
    thread->flags = named->flags;
    thread->named = true;
    return thread->name || !named->name;
}

// What is open --------------------------------------------------------------------------------------------------------

static bool open_add(struct ongoing_thread *thread, const struct event *event) {
    if (thread->count == thread->capacity) {
        size_t capacity = thread->capacity ? thread->capacity * 2 : FIRST_OPEN;
        struct event *grown = realloc(thread->open, capacity * sizeof *grown);
        if (!grown) return false;
        thread->open = grown;
        thread->capacity = capacity;
    }
    thread->open[thread->count++] = *event;
    return true;
}

// Takes off the innermost that is of the kind and names the same, and what was begun within it.
static void open_end(struct ongoing_thread *thread, unsigned kind, uint64_t operand) {
    for (size_t i = thread->count; i-- > 0;) {
        if (thread->open[i].kind != kind || thread->open[i].operand[0] != operand) continue;
        thread->count = i;
        return;
    }
}

static void forget_functions(struct ongoing_thread *thread) {
    while (thread->count > 0 && thread->open[thread->count - 1].kind == EVENT_ENTER) thread->count--;
}

static bool is_of_work(unsigned kind) {
    return kind == EVENT_TASK_START || kind == EVENT_WAIT_BEGIN || kind == EVENT_BLOCK_BEGIN || kind == EVENT_IDLE ||
           kind == EVENT_ACQUIRE_BEGIN;
}

// A worker that asks for a task has none.
static void forget_work(struct ongoing_thread *thread) {
    for (size_t i = 0; i < thread->count; i++) {
        if (is_of_work(thread->open[i].kind)) thread->count = i;
    }
}

static void note_figures(struct ongoing_thread *thread, const struct event *event) {
    if (event_has_cpu(event->kind)) thread->cpu = event->operand[1];
    if (event->kind == EVENT_RUN_DELAY) thread->delay_ns = event->operand[0];
    if (event->kind == EVENT_BYTECODES) thread->bytecodes = event->operand[0];
    if (event->kind == EVENT_MOUNT) thread->carrier = event->operand[0];
    if (event->kind == EVENT_MOUNT || event->kind == EVENT_UNMOUNT) thread->mounted = event->kind == EVENT_MOUNT;
}

static bool take(struct ongoing_thread *thread, const struct event *event) {
    static const uint8_t begun_by[EVENT_KINDS] = {[EVENT_EXIT] = EVENT_ENTER,
                                                  [EVENT_EXIT_THROW] = EVENT_ENTER,
                                                  [EVENT_TASK_END] = EVENT_TASK_START,
                                                  [EVENT_WAIT_END] = EVENT_WAIT_BEGIN,
                                                  [EVENT_BLOCK_END] = EVENT_BLOCK_BEGIN,
                                                  [EVENT_BUSY] = EVENT_IDLE,
                                                  [EVENT_RETIRE] = EVENT_IDLE,
                                                  [EVENT_GC_END] = EVENT_GC_BEGIN,
                                                  [EVENT_ACQUIRED] = EVENT_ACQUIRE_BEGIN,
                                                  [EVENT_GIVEN_UP] = EVENT_ACQUIRE_BEGIN};
    switch (event->kind) {
    case EVENT_IDLE:
        forget_work(thread);
        return open_add(thread, event);
    case EVENT_ENTER:
    case EVENT_TASK_START:
    case EVENT_WAIT_BEGIN:
    case EVENT_WORKER_BEGIN:
    case EVENT_THREAD_START:
    case EVENT_MAIN_BEGIN:
    case EVENT_GC_BEGIN:
    case EVENT_BLOCK_BEGIN:
    case EVENT_ACQUIRE_BEGIN:
        return open_add(thread, event);
    case EVENT_LOST:
        forget_functions(thread);
        return true;
    default:
        if (begun_by[event->kind]) open_end(thread, begun_by[event->kind], event->operand[0]);
        return true;
    }
}

bool ongoing_take(struct ongoing *ongoing, uint32_t id, const struct event *events, size_t count) {
    struct ongoing_thread *thread = find(ongoing, id);
    if (!thread && events[0].kind == EVENT_LOST) return true; // at the end of one that is forgotten
    if (!thread && !(thread = find_or_add(ongoing, id))) return false;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == EVENT_THREAD_END) {
            forget(ongoing, thread);
            return true; // nothing comes after it
        }
        note_figures(thread, &events[i]);
        if (!take(thread, &events[i])) return false;
    }
    return true;
}

// Another file --------------------------------------------------------------------------------------------------------

// What a thread has to tell in another file; room for thread->count + AROUND_OPEN. It is on its carrier for as long as
// it takes to say so.
static size_t repeat(const struct ongoing_thread *thread, uint64_t ticks, struct event *events) {
    size_t count = 0;
    if (thread->count == 0) return 0;
    if (thread->delay_ns) events[count++] = (struct event){.kind = EVENT_RUN_DELAY, .operand = {thread->delay_ns}};
    if (thread->bytecodes) events[count++] = (struct event){.kind = EVENT_BYTECODES, .operand = {thread->bytecodes}};
    for (size_t i = 0; i < thread->count; i++) {
        events[count++] = thread->open[i];
        if (i > 0 || !thread->carrier) continue;
        events[count++] = (struct event){.kind = EVENT_MOUNT, .operand = {thread->carrier}};
    }
    if (thread->carrier && !thread->mounted)
        events[count++] = (struct event){.kind = EVENT_UNMOUNT, .operand = {thread->carrier}};
    for (size_t i = 0; i < count; i++) {
        events[i].time = ticks + i;
        if (event_has_cpu(events[i].kind)) events[i].operand[1] = thread->cpu;
    }
    return count;
}

uint64_t ongoing_events(const struct ongoing *ongoing) {
    uint64_t count = 0;
    for (size_t i = 0; i < ongoing->room; i++) {
        for (const struct ongoing_thread *at = ongoing->buckets[i]; at; at = at->next) {
            if (at->count)
                count += at->count + (at->delay_ns != 0) + (at->bytecodes != 0) + (at->carrier ? 2 - at->mounted : 0);
        }
    }
    return count;
}

static bool write_running(const struct ongoing_thread *thread, struct trace_writer *writer) {
    bool good = true;
    for (size_t i = 0; i < thread->count && good; i++) {
        unsigned kind = thread->open[i].kind;
        if (kind == EVENT_TASK_START || kind == EVENT_THREAD_START)
            good = trace_write_running(writer, &thread->open[i].operand[0], 1);
    }
    return good;
}

static bool write_thread(const struct ongoing_thread *thread, struct trace_writer *writer, uint64_t ticks) {
    if (thread->named && !trace_write_thread(writer, thread->id, &(struct trace_thread){thread->name, thread->flags}))
        return false;
    if (!write_running(thread, writer)) return false;
    struct event *events = malloc((thread->count + AROUND_OPEN) * sizeof *events);
    size_t count = events ? repeat(thread, ticks, events) : 0;
    bool written = events && (count == 0 || trace_write_events(writer, thread->id, events, count));
    free(events);
    return written;
}

bool ongoing_write(const struct ongoing *ongoing, struct trace_writer *writer, uint64_t ticks) {
    for (size_t i = 0; i < ongoing->room; i++) {
        for (const struct ongoing_thread *at = ongoing->buckets[i]; at; at = at->next) {
            if (!write_thread(at, writer, ticks)) return false;
        }
    }
    return true;
}

void ongoing_destroy(struct ongoing *ongoing) {
    for (size_t i = 0; i < ongoing->room; i++) {
        for (struct ongoing_thread *at = ongoing->buckets[i], *next; at; at = next) {
            next = at->next;
            release(at);
        }
    }
    free(ongoing->buckets);
    *ongoing = (struct ongoing){0};
}
