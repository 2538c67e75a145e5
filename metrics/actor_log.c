// SPDX-License-Identifier: GPL-3.0-or-later
// Threads are read one after the other, so that of a message the end may come before the beginning: what each event
// tells is noted where it belongs, and what follows from several is worked out at the end.
#include "metrics/actor_log.h"

#include "dag/build/perturbation.h"
#include "dag/idmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 256, PARENTS_MOST = 64 };

enum frame_kind { FRAME_MESSAGE, FRAME_INIT, FRAME_UPKEEP };

// What a thread is in. Costs of what lay in it, at its end.
struct frame {
    uint64_t id; // of the event
    enum frame_kind kind;
    uint32_t actor, message;
    double begin;    // what the thread had computed
    double messages; // of messages in it
    double inits;    // of initialisations and upkeep in it, but in messages
    bool part;       // of an initialisation of the same actor around it
};

enum source { SOURCE_BYTECODES, SOURCE_CPU, SOURCE_TIME };

struct reading {
    struct actor_log *log;
    struct idpages actor_of, message_of;
    enum source source;
    struct dag_remap remap;
    bool remaps;
    struct frame frames[FRAMES_MOST];
    uint32_t depth;
    double bytecodes; // of the thread so far
    double tracer_ns; // that recording took of it so far, where that is taken out
    int64_t time_ns;  // of the event
    uint8_t *knows;   // a message each: by how much its receiver is known (enum knowledge)
    uint32_t knows_capacity;
    bool no_memory;
};

// The better word on a message's receiver: to whom it was sent, where it was queued, who handled it.
enum knowledge { KNOWN_SENT = 1, KNOWN_QUEUED, KNOWN_HANDLED };

const char *const log_unit_names[] = {"bytecodes", "cycles", "ns"};

static bool is_of_actors(unsigned kind) {
    return kind >= EVENT_MESSAGE_SENT && kind <= EVENT_UPKEEP_END;
}

bool actor_log_is_empty(const struct trace *trace) {
    for (unsigned kind = EVENT_MESSAGE_SENT; kind <= EVENT_UPKEEP_END; kind++) {
        if (trace->events_of_kind[kind]) return false;
    }
    return true;
}

// ---- what was mentioned

static bool grow(void *array, uint32_t count, uint32_t *capacity, size_t size) {
    void **items = array;
    if (count < *capacity) return true;
    uint32_t larger = *capacity ? *capacity * 2 : 256;
    void *moved = realloc(*items, larger * size);
    if (!moved) return false;
    *items = moved;
    *capacity = larger;
    return true;
}

static uint32_t actor_at(struct reading *reading, uint64_t id) {
    struct actor_log *log = reading->log;
    if (id == 0) return LOG_NONE;
    uint32_t *index = idpages_at(&reading->actor_of, id);
    if (index && *index != IDMAP_NONE) return *index;
    if (!index || !grow(&log->actors, log->actor_count, &log->actor_capacity, sizeof *log->actors)) {
        reading->no_memory = true;
        return LOG_NONE;
    }
    log->actors[log->actor_count] = (struct logged_actor){.id = id,
                                                          .parent = LOG_NONE,
                                                          .name = trace_actor_name(log->dag->trace, id),
                                                          .created_ns = LOG_NEVER,
                                                          .stopped_ns = LOG_NEVER,
                                                          .restarted_ns = LOG_NEVER,
                                                          .init_ns = LOG_NEVER,
                                                          .failed_ns = LOG_NEVER};
    return *index = log->actor_count++;
}

static const struct logged_message unknown_message = {.sender = LOG_NONE,
                                                      .receiver = LOG_NONE,
                                                      .cause = LOG_NONE,
                                                      .before = LOG_NONE,
                                                      .next = LOG_NONE,
                                                      .sent_ns = LOG_NEVER,
                                                      .queued_ns = LOG_NEVER,
                                                      .begin_ns = LOG_NEVER,
                                                      .end_ns = LOG_NEVER,
                                                      .cost = NAN,
                                                      .cost_once = NAN};

static uint32_t message_at(struct reading *reading, uint64_t id) {
    struct actor_log *log = reading->log;
    uint32_t *index = idpages_at(&reading->message_of, id);
    if (index && *index != IDMAP_NONE) return *index;
    if (!index || !grow(&log->messages, log->message_count, &log->message_capacity, sizeof *log->messages) ||
        !grow(&reading->knows, log->message_count, &reading->knows_capacity, sizeof *reading->knows)) {
        reading->no_memory = true;
        return LOG_NONE;
    }
    reading->knows[log->message_count] = 0;
    log->messages[log->message_count] = unknown_message;
    log->messages[log->message_count].id = id;
    return *index = log->message_count++;
}

static void note_receiver(struct reading *reading, uint32_t message, uint64_t actor, enum knowledge knowledge) {
    if (message == LOG_NONE || actor == 0 || reading->knows[message] > knowledge) return;
    reading->knows[message] = (uint8_t)knowledge;
    reading->log->messages[message].receiver = actor_at(reading, actor);
}

// ---- frames

static double cost_so_far(const struct reading *reading, const struct event *event) {
    if (reading->source == SOURCE_BYTECODES) return reading->bytecodes;
    if (reading->source == SOURCE_TIME) return (double)reading->time_ns;
    if (event->operand[1] == 0) return NAN; // it was not measured
    return (double)event->operand[1] - reading->tracer_ns * reading->log->dag->cycles_per_ns;
}

static void open_frame(struct reading *reading, const struct event *event, enum frame_kind kind, uint32_t message,
                       uint32_t actor) {
    if (reading->depth == FRAMES_MOST) return;
    struct frame *frame = &reading->frames[reading->depth++];
    *frame = (struct frame){.id = event->operand[0], .kind = kind, .actor = actor, .message = message};
    frame->begin = cost_so_far(reading, event);
    for (uint32_t i = 0; kind == FRAME_INIT && i + 1 < reading->depth; i++)
        frame->part |= reading->frames[i].kind == FRAME_INIT && reading->frames[i].actor == actor;
}

// What an event closes, or NULL: what lies above it was lost. An upkeep that made an actor ends under its number.
static struct frame *close_frame(struct reading *reading, enum frame_kind kind, uint64_t id) {
    for (uint32_t i = reading->depth; i-- > 0;) {
        struct frame *frame = &reading->frames[i];
        bool same = frame->id == id || (kind == FRAME_UPKEEP && (frame->id == 0 || id == 0));
        if (frame->kind != kind || !same) continue;
        reading->depth = i;
        return frame;
    }
    return NULL;
}

static void hand_up(struct reading *reading, const struct frame *frame, double cost) {
    if (reading->depth == 0) return;
    struct frame *outer = &reading->frames[reading->depth - 1];
    const bool message = frame->kind == FRAME_MESSAGE;
    outer->messages += message ? cost : frame->messages;
    outer->inits += message ? 0 : frame->part ? frame->inits : cost - frame->messages;
}

// Where as much as recording takes on average is taken out, less than nothing may be left.
static double at_least_0(double cost) {
    return cost < 0 ? 0 : cost; // NAN stays
}

static void add_cost(double *sum, double cost) {
    if (!isnan(cost)) *sum += at_least_0(cost);
}

static uint32_t innermost(const struct reading *reading, bool of_actor) {
    for (uint32_t i = reading->depth; i-- > 0;) {
        const struct frame *frame = &reading->frames[i];
        if (frame->kind == FRAME_MESSAGE) return of_actor ? frame->actor : frame->message;
        if (frame->kind == FRAME_INIT) return of_actor ? frame->actor : LOG_NONE;
    }
    return LOG_NONE;
}

// ---- events

static void read_sent(struct reading *reading, const struct event *event) {
    uint32_t index = message_at(reading, event->operand[0]);
    note_receiver(reading, index, event->operand[1], KNOWN_SENT);
    if (index == LOG_NONE) return;
    struct logged_message *message = &reading->log->messages[index];
    message->sent_ns = reading->time_ns;
    if (message->queued_ns == LOG_NEVER) message->queued_ns = reading->time_ns;
    message->sender = innermost(reading, true);
    message->cause = innermost(reading, false);
    message->class = message_class(event->operand[2]);
    message->origin = (uint8_t)message_origin(event->operand[2]);
    message->way = (uint8_t)message_way(event->operand[2]);
    message->asks = message_asks(event->operand[2]);
}

static void read_queued(struct reading *reading, const struct event *event) {
    uint32_t index = message_at(reading, event->operand[0]);
    note_receiver(reading, index, event->operand[1], KNOWN_QUEUED);
    uint32_t before = event->operand[2] == event->operand[0] ? LOG_NONE : message_at(reading, event->operand[2]);
    if (index == LOG_NONE) return;
    reading->log->messages[index].withdrawn |= event->operand[1] == 0;
    reading->log->messages[index].queued_ns = reading->time_ns;
    if (before != LOG_NONE) reading->log->messages[index].before = before;
}

static void read_message_begin(struct reading *reading, const struct event *event) {
    uint32_t index = message_at(reading, event->operand[0]);
    note_receiver(reading, index, event->operand[2], KNOWN_HANDLED);
    if (index == LOG_NONE) return;
    reading->log->messages[index].begin_ns = reading->time_ns;
    open_frame(reading, event, FRAME_MESSAGE, index, actor_at(reading, event->operand[2]));
}

static void read_message_end(struct reading *reading, const struct event *event) {
    struct frame *frame = close_frame(reading, FRAME_MESSAGE, event->operand[0]);
    if (!frame) return;
    struct logged_message *message = &reading->log->messages[frame->message];
    const double cost = cost_so_far(reading, event) - frame->begin - frame->messages;
    message->end_ns = reading->time_ns;
    message->outcome = (uint8_t)event->operand[2];
    message->cost = at_least_0(cost);
    message->cost_once = at_least_0(cost - frame->inits);
    hand_up(reading, frame, cost + frame->messages);
}

static void read_created(struct reading *reading, const struct event *event) {
    uint32_t parent = actor_at(reading, event->operand[1]), index = actor_at(reading, event->operand[0]);
    if (index == LOG_NONE) return;
    struct logged_actor *actor = &reading->log->actors[index];
    actor->created_ns = reading->time_ns;
    actor->parent = parent;
    if (!actor->type) actor->type = (uint32_t)event->operand[2];
}

static void read_init_begin(struct reading *reading, const struct event *event) {
    uint32_t index = actor_at(reading, event->operand[0]);
    if (index == LOG_NONE) return;
    struct logged_actor *actor = &reading->log->actors[index];
    if (actor->init_ns == LOG_NEVER || reading->time_ns < actor->init_ns) actor->init_ns = reading->time_ns;
    open_frame(reading, event, FRAME_INIT, LOG_NONE, index);
}

static void read_init_end(struct reading *reading, const struct event *event) {
    struct frame *frame = close_frame(reading, FRAME_INIT, event->operand[0]);
    if (!frame) return;
    struct logged_actor *actor = &reading->log->actors[frame->actor];
    const double cost = cost_so_far(reading, event) - frame->begin;
    const bool failed = init_outcome(event->operand[2]) == INIT_FAILED;
    if (init_class(event->operand[2])) actor->type = init_class(event->operand[2]);
    if (failed && (actor->failed_ns == LOG_NEVER || reading->time_ns < actor->failed_ns))
        actor->failed_ns = reading->time_ns;
    actor->initialisations += !frame->part;
    if (!frame->part) add_cost(&actor->initialisation, cost - frame->inits - frame->messages);
    hand_up(reading, frame, cost);
}

static void read_upkeep_end(struct reading *reading, const struct event *event) {
    struct frame *frame = close_frame(reading, FRAME_UPKEEP, event->operand[0]);
    if (!frame) return;
    const double cost = cost_so_far(reading, event) - frame->begin;
    uint32_t index = actor_at(reading, event->operand[0] ? event->operand[0] : frame->id);
    if (index != LOG_NONE) add_cost(&reading->log->actors[index].creation, cost - frame->inits - frame->messages);
    hand_up(reading, frame, cost);
}

static void read_life(struct reading *reading, const struct event *event) {
    uint32_t index = actor_at(reading, event->operand[0]);
    if (index == LOG_NONE) return;
    struct logged_actor *actor = &reading->log->actors[index];
    if (event->kind == EVENT_ACTOR_STOPPED) {
        actor->stopped_ns = reading->time_ns;
        return;
    }
    actor->restarts++;
    if (actor->restarted_ns == LOG_NEVER || reading->time_ns < actor->restarted_ns)
        actor->restarted_ns = reading->time_ns;
}

// What is open then is no longer known to its end.
static void read_lost(struct reading *reading) {
    for (uint32_t i = 0; i < reading->depth; i++) reading->frames[i].begin = NAN;
}

static void read_event(struct reading *reading, const struct event *event) {
    switch (event->kind) {
    case EVENT_MESSAGE_SENT:
        read_sent(reading, event);
        break;
    case EVENT_MESSAGE_QUEUED:
        read_queued(reading, event);
        break;
    case EVENT_MESSAGE_BEGIN:
        read_message_begin(reading, event);
        break;
    case EVENT_MESSAGE_END:
        read_message_end(reading, event);
        break;
    case EVENT_ACTOR_CREATED:
        read_created(reading, event);
        break;
    case EVENT_INIT_BEGIN:
        read_init_begin(reading, event);
        break;
    case EVENT_INIT_END:
        read_init_end(reading, event);
        break;
    case EVENT_UPKEEP_BEGIN:
        open_frame(reading, event, FRAME_UPKEEP, LOG_NONE, LOG_NONE);
        break;
    case EVENT_UPKEEP_END:
        read_upkeep_end(reading, event);
        break;
    case EVENT_DEAD_LETTER: {
        uint32_t index = message_at(reading, event->operand[0]);
        if (index != LOG_NONE) reading->log->messages[index].dead = true;
        break;
    }
    default:
        read_life(reading, event);
    }
}

// ---- threads

static uint32_t thread_of_stream(const struct dag *dag, uint32_t stream) {
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (dag->threads[t].stream == stream) return t;
    }
    return DAG_NONE;
}

static void read_any(struct reading *reading, const struct event *event) {
    if (event->kind == EVENT_BYTECODES) reading->bytecodes = (double)event->operand[0];
    if (event->kind == EVENT_LOST) read_lost(reading);
    if (!is_of_actors(event->kind)) return;
    reading->time_ns = (int64_t)event->time;
    if (reading->remaps) reading->time_ns = dag_remap(&reading->remap, reading->time_ns);
    read_event(reading, event);
}

static bool read_stream(struct reading *reading, uint32_t stream, struct error *error) {
    const struct dag *dag = reading->log->dag;
    struct trace_cursor cursor;
    struct event event;
    uint32_t thread = dag->tracer.recorded_ns ? thread_of_stream(dag, stream) : DAG_NONE;
    reading->remaps = thread != DAG_NONE;
    if (reading->remaps) dag_remap_init(&reading->remap, dag, thread);
    reading->depth = 0;
    reading->bytecodes = reading->tracer_ns = 0;
    trace_cursor_init(&cursor, dag->trace, &dag->trace->streams[stream]);
    while (!reading->no_memory && trace_cursor_next(&cursor, &event, error)) {
        const struct event_cost *cost = &dag->trace->costs[event.kind];
        if (reading->remaps) reading->tracer_ns += (double)cost->before_ps / 1000;
        read_any(reading, &event);
        if (reading->remaps) reading->tracer_ns += (double)cost->after_ps / 1000;
    }
    return error->status == STATUS_OK;
}

static bool measures_cpu(const struct event *event) {
    return is_of_actors(event->kind) && event_has_cpu(event->kind) && event->operand[1] != 0;
}

// Whether what threads computed was measured where actors begin and end; as a rule the first such event says so.
static bool find_cpu(const struct trace *trace, bool *measured, struct error *error) {
    *measured = false;
    for (uint32_t s = 0; s < trace->stream_count && !*measured; s++) {
        struct trace_cursor cursor;
        struct event event;
        trace_cursor_init(&cursor, trace, &trace->streams[s]);
        while (!*measured && trace_cursor_next(&cursor, &event, error)) *measured = measures_cpu(&event);
    }
    return error->status == STATUS_OK;
}

static bool choose_unit(struct reading *reading, struct error *error) {
    const struct trace *trace = reading->log->dag->trace;
    bool measured = false;
    if (trace->events_of_kind[EVENT_BYTECODES]) {
        reading->source = SOURCE_BYTECODES;
        reading->log->unit = LOG_BYTECODES;
        return true;
    }
    if (trace->header.cycle_unit && !find_cpu(trace, &measured, error)) return false;
    reading->source = measured ? SOURCE_CPU : SOURCE_TIME;
    const bool cycles = measured && strcmp(trace->header.cycle_unit, "cycles") == 0;
    reading->log->unit = cycles ? LOG_CYCLES : LOG_NS;
    return true;
}

// ---- what follows from several events

static void take_over(struct logged_message *message, const struct logged_message *first) {
    message->class = first->class;
    message->sender = first->sender;
    message->cause = first->cause;
    message->sent_ns = first->sent_ns;
    message->origin = first->origin;
    message->way = first->way;
    message->asks = first->asks;
}

// Numbers rise, so that what a message was before has a lower one; whatever else a damaged trace says is no chain.
static void link_stashed(struct actor_log *log) {
    for (uint32_t i = 0; i < log->message_count; i++) {
        uint32_t before = log->messages[i].before;
        if (before == LOG_NONE) continue;
        if (log->messages[before].id >= log->messages[i].id)
            log->messages[i].before = LOG_NONE;
        else
            log->messages[before].next = i;
    }
    for (uint32_t i = 0; i < log->message_count; i++) {
        uint32_t first = i;
        while (log->messages[first].before != LOG_NONE) first = log->messages[first].before;
        if (first != i) take_over(&log->messages[i], &log->messages[first]);
    }
}

static bool has_authority(const char *name) {
    return name && strstr(name, "://");
}

// "akka://shop/user/cart", of an actor whose parents were not seen.
static bool path_is_of_user(const char *name) {
    const char *below = strchr(strstr(name, "://") + 3, '/');
    return below && strncmp(below, "/user/", 6) == 0 && below[6] != '\0';
}

static bool is_user_guardian(const struct actor_log *log, const struct logged_actor *actor) {
    if (!actor->name) return false;
    if (actor->parent == LOG_NONE) {
        const char *below = has_authority(actor->name) ? strchr(strstr(actor->name, "://") + 3, '/') : NULL;
        return below && strcmp(below, "/user") == 0;
    }
    const struct logged_actor *root = &log->actors[actor->parent];
    return strcmp(actor->name, "user") == 0 && root->parent == LOG_NONE && has_authority(root->name);
}

static bool is_of_library(const char *type) {
    return strncmp(type, "akka.", 5) == 0 || strncmp(type, "org.apache.pekko.", 17) == 0;
}

// Below the user's guardian, or below nothing that calls itself a system. The guardian of typed actors is itself the
// program's.
static bool is_of_program(const struct actor_log *log, uint32_t index) {
    const struct logged_actor *actor = &log->actors[index];
    if (is_user_guardian(log, actor)) return actor->type && !is_of_library(actor_log_class(log, actor->type));
    for (uint32_t steps = 0; actor->parent != LOG_NONE && steps < PARENTS_MOST; steps++) {
        actor = &log->actors[actor->parent];
        if (is_user_guardian(log, actor)) return true;
    }
    return !has_authority(actor->name) || path_is_of_user(actor->name);
}

// akka.routing.RouterActor, org.apache.pekko.actor.typed.internal.routing.PoolRouterImpl.
static bool is_router(const char *type) {
    return is_of_library(type) && strstr(type, ".routing.");
}

static bool concerns_program(const struct actor_log *log, const struct logged_message *message) {
    uint32_t of = message->receiver != LOG_NONE ? message->receiver : message->sender;
    bool counts = !message->withdrawn && message->origin != MESSAGE_INTERNAL;
    return counts && (of == LOG_NONE || log->actors[of].of_program);
}

// Cores' clocks differ a little, and a probe may come behind what it tells of: nothing is handled before it is sent.
static void put_in_order(struct logged_message *message) {
    if (message->begin_ns == LOG_NEVER) return;
    if (message->sent_ns > message->begin_ns) message->sent_ns = message->begin_ns;
    if (message->queued_ns > message->begin_ns) message->queued_ns = message->begin_ns;
}

static void finish(struct actor_log *log) {
    for (uint32_t i = 0; i < log->actor_count; i++) {
        log->actors[i].of_program = is_of_program(log, i);
        log->actors[i].router = is_router(actor_log_class(log, log->actors[i].type));
    }
    link_stashed(log);
    for (uint32_t i = 0; i < log->message_count; i++) put_in_order(&log->messages[i]);
    for (uint32_t i = 0; i < log->message_count; i++) {
        struct logged_message *message = &log->messages[i];
        message->of_program = concerns_program(log, message);
        if (message->of_program && message->receiver != LOG_NONE)
            add_cost(&log->actors[message->receiver].computed_once, message->cost_once);
    }
}

// "Shop.lambda$pricer$0" (Java), "Shop$.$anonfun$pricer$1" (Scala) -> "Shop.pricer"; NULL: it is no lambda.
static const char *maker_of(struct arena *arena, const char *name) {
    static const char *const marks[] = {".lambda$", ".$anonfun$"};
    for (size_t i = 0; name && i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(name, marks[i]);
        if (!mark) continue;
        const char *method = mark + strlen(marks[i]);
        const char *class_end = mark > name && mark[-1] == '$' ? mark - 1 : mark;
        size_t class_length = (size_t)(class_end - name), method_length = strcspn(method, "$");
        char *made = arena_alloc(arena, class_length + 1 + method_length + 1, 1);
        if (made) sprintf(made, "%.*s.%.*s", (int)class_length, name, (int)method_length, method);
        return made;
    }
    return NULL;
}

static void name_classes(struct actor_log *log) {
    const struct trace *trace = log->dag->trace;
    log->class_names = ARENA_NEW(&log->names, const char *, trace->class_count);
    for (uint32_t c = 1; log->class_names && c < trace->class_count; c++)
        log->class_names[c] = maker_of(&log->names, trace->classes[c].name);
}

bool actor_log_read(const struct dag *dag, struct actor_log *log, struct error *error) {
    *log = (struct actor_log){.dag = dag};
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading) return error_set(error, STATUS_FAILED, "no memory for actors");
    reading->log = log;
    name_classes(log);
    bool ok = choose_unit(reading, error);
    for (uint32_t s = 0; ok && s < dag->trace->stream_count; s++) ok = read_stream(reading, s, error);
    if (ok && reading->no_memory) ok = error_set(error, STATUS_FAILED, "no memory for messages");
    if (ok) finish(log);
    idpages_destroy(&reading->actor_of);
    idpages_destroy(&reading->message_of);
    free(reading->knows);
    free(reading);
    return ok;
}

void actor_log_destroy(struct actor_log *log) {
    free(log->actors);
    free(log->messages);
    arena_destroy(&log->names);
    *log = (struct actor_log){0};
}

// ---- names

const char *actor_log_class(const struct actor_log *log, uint32_t class) {
    const char *name = class ? log->dag->trace->classes[class].name : NULL;
    if (class && log->class_names && log->class_names[class]) return log->class_names[class];
    return name ? name : "?";
}

const char *actor_log_path(const struct actor_log *log, uint32_t actor, char *text, size_t size) {
    uint32_t line[PARENTS_MOST], depth = 0;
    size_t length = 0;
    for (; actor != LOG_NONE && depth < PARENTS_MOST; actor = log->actors[actor].parent) line[depth++] = actor;
    text[0] = '\0';
    while (depth-- > 0 && length < size) {
        const char *name = log->actors[line[depth]].name;
        const bool slash = length > 0 && text[length - 1] != '/';
        int more = snprintf(text + length, size - length, "%s%s", slash ? "/" : "", name ? name : "?");
        length += more > 0 ? (size_t)more : 0;
        if (length >= size) length = size - 1;
        if (length == size - 1) break;
    }
    return text;
}
