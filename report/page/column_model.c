// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/column_model.h"

#include <stdlib.h>
#include <string.h>

enum {
    KNOWN_MOST = 1 << 24, // ids beyond are not kept
    STEPS = 64            // that are gone at one event to find the oldest message
};

void column_model_begin_thread(struct column_model *model) {
    memset(model->last, 0, sizeof model->last);
    for (int kind = 0; kind < OPEN_KINDS; kind++) model->open[kind].depth = 0;
    model->new_id = model->foreign = model->actor = model->oldest = model->before = 0;
}

void column_model_destroy(struct column_model *model) {
    free(model->known);
    free(model->actors);
}

// Of a message its actor tells which one it is, and its sort to whom it goes.
unsigned column_model_operand(unsigned kind, unsigned at) {
    static const unsigned of_begin[EVENT_OPERANDS] = {2, 0, 1}, of_sent[EVENT_OPERANDS] = {0, 2, 1};
    if (kind == EVENT_MESSAGE_SENT) return of_sent[at];
    return kind == EVENT_MESSAGE_BEGIN ? of_begin[at] : at;
}

// ---- what is open

static const uint8_t begins[EVENT_KINDS] = {
    [EVENT_ENTER] = OPEN_FUNCTION,      [EVENT_TASK_START] = OPEN_TASK,       [EVENT_THREAD_START] = OPEN_TASK,
    [EVENT_MAIN_BEGIN] = OPEN_TASK,     [EVENT_SPAWN_BEGIN] = OPEN_SPAWN,     [EVENT_WAIT_BEGIN] = OPEN_WAIT,
    [EVENT_BLOCK_BEGIN] = OPEN_ASK,     [EVENT_ACQUIRE_BEGIN] = OPEN_ASK,     [EVENT_HELD] = OPEN_HOLD,
    [EVENT_MOUNT] = OPEN_MOUNT,         [EVENT_MESSAGE_BEGIN] = OPEN_MESSAGE, [EVENT_INIT_BEGIN] = OPEN_INIT,
    [EVENT_UPKEEP_BEGIN] = OPEN_UPKEEP,
};

static const uint8_t ends[EVENT_KINDS] = {
    [EVENT_EXIT] = OPEN_FUNCTION,   [EVENT_EXIT_THROW] = OPEN_FUNCTION, [EVENT_TASK_END] = OPEN_TASK,
    [EVENT_THREAD_END] = OPEN_TASK, [EVENT_SPAWN_END] = OPEN_SPAWN,     [EVENT_WAIT_END] = OPEN_WAIT,
    [EVENT_BLOCK_END] = OPEN_ASK,   [EVENT_ACQUIRED] = OPEN_ASK,        [EVENT_GIVEN_UP] = OPEN_ASK,
    [EVENT_RELEASED] = OPEN_HOLD,   [EVENT_UNMOUNT] = OPEN_MOUNT,       [EVENT_MESSAGE_END] = OPEN_MESSAGE,
    [EVENT_INIT_END] = OPEN_INIT,   [EVENT_UPKEEP_END] = OPEN_UPKEEP,
};

static const uint8_t names[EVENT_KINDS] = {[EVENT_RESULT] = OPEN_TASK, [EVENT_TIMED_OUT] = OPEN_WAIT};

static void push(struct column_model *model, enum open_kind kind, uint64_t id) {
    struct open_ids *open = &model->open[kind];
    open->ids[open->depth++ % OPEN_DEPTH] = id;
}

static void pop(struct column_model *model, enum open_kind kind) {
    if (model->open[kind].depth) model->open[kind].depth--;
}

static uint64_t top(const struct column_model *model, enum open_kind kind) {
    const struct open_ids *open = &model->open[kind];
    return open->depth ? open->ids[(open->depth - 1) % OPEN_DEPTH] : 0;
}

// ---- what is known of messages and actors

static const struct known *known_of(const struct column_model *model, uint64_t id) {
    static const struct known nothing;
    return id < model->known_count ? &model->known[id] : &nothing;
}

// Makes room for what is known of an id. false: it has none.
static bool keeps(struct column_model *model, uint64_t id) {
    if (id < model->known_count) return true;
    if (id == 0 || id >= KNOWN_MOST) return false;
    uint32_t count = model->known_count ? model->known_count : 1024;
    while (count <= id) count *= 2;
    struct known *known = realloc(model->known, count * sizeof *known);
    model->no_memory |= !known;
    if (!known) return false;
    memset(known + model->known_count, 0, (count - model->known_count) * sizeof *known);
    model->known = known;
    model->known_count = count;
    return true;
}

static void number_actor(struct column_model *model, uint64_t actor) {
    if (!keeps(model, actor) || model->known[actor].number) return;
    if (model->actor_count == model->actor_room) {
        const uint32_t room = model->actor_room ? 2 * model->actor_room : 64;
        uint64_t *actors = realloc(model->actors, room * sizeof *actors);
        model->no_memory |= !actors;
        if (!actors) return;
        model->actors = actors;
        model->actor_room = room;
    }
    model->actors[model->actor_count++] = actor;
    model->known[actor].number = model->actor_count;
}

uint32_t column_model_number(const struct column_model *model, uint64_t actor) {
    return known_of(model, actor)->number;
}

// What was handled already, on a thread that was taken before, is in no mailbox.
static void into_mailbox(struct column_model *model, uint64_t message, uint64_t actor, uint64_t what) {
    number_actor(model, actor);
    if (!keeps(model, message) || !keeps(model, actor)) return;
    struct known *box = &model->known[actor], *sent = &model->known[message];
    const bool handled = sent->of != 0;
    sent->of = (uint32_t)actor;
    sent->from = (uint32_t)(model->actor < KNOWN_MOST ? model->actor : 0);
    sent->what = (uint32_t)what;
    if (handled) return;
    if (box->head)
        model->known[box->tail].next = (uint32_t)message;
    else
        box->head = (uint32_t)message;
    box->tail = (uint32_t)message;
}

// Those before it in its mailbox are handled on threads that are taken later.
static void out_of_mailbox(struct column_model *model, uint64_t message, uint64_t actor) {
    number_actor(model, actor);
    if (!keeps(model, message) || !keeps(model, actor)) return;
    struct known *sent = &model->known[message];
    if (sent->of == actor)
        model->known[actor].head = sent->next;
    else if (sent->of == 0)
        model->foreign = message;
    sent->of = (uint32_t)actor;
}

// Of the messages from there on, the first that is the next of its actor.
static void find_oldest(struct column_model *model) {
    for (int i = 0; i < STEPS && model->oldest <= model->new_id && model->oldest < model->known_count; i++) {
        const uint32_t actor = model->known[model->oldest].of;
        if (actor && model->known[actor].head == model->oldest) return;
        model->oldest++;
    }
}

// ---- what came behind what

// What an operand hangs on: another that is told before it, or the same of the event of that kind before.
static uint64_t context_of(const struct column_model *model, const struct event *event, unsigned operand) {
    switch (event->kind) {
    case EVENT_HELD:
    case EVENT_RELEASED:
    case EVENT_ACQUIRE_BEGIN:
        return operand ? event->operand[0] : model->last[event->kind][0];
    case EVENT_MESSAGE_SENT:
        return operand ? known_of(model, top(model, OPEN_MESSAGE))->what : 0;
    case EVENT_SPAWN_BEGIN:
        return operand == 2 ? event->operand[1] : model->last[event->kind][operand];
    default:
        return model->last[event->kind][operand];
    }
}

enum { BY_LAST = EVENT_OPERANDS, FOLLOWED = 2 * EVENT_OPERANDS }; // operands by their context, and by the one before

static uint32_t follower(unsigned kind, unsigned operand, uint64_t context) {
    const uint64_t key = (context * EVENT_KINDS + kind) * FOLLOWED + operand;
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FOLLOWERS_BITS));
}

static void note_followers(struct column_model *model, const struct event *event) {
    const unsigned kind = event->kind, count = event_kinds[kind].operands;
    for (unsigned o = 0; o < count; o++) {
        model->followers[follower(kind, o, context_of(model, event, o))] = event->operand[o];
        model->followers[follower(kind, o + BY_LAST, model->last[kind][o])] = event->operand[o];
    }
    for (unsigned o = 0; o < count; o++) model->last[kind][o] = event->operand[o];
}

// ---- guesses

static void add(struct guesses *guesses, uint64_t value) {
    guesses->value[guesses->count++] = value;
}

static void guess_by_events_before(const struct column_model *model, const struct event *event, unsigned operand,
                                   struct guesses *guesses) {
    const unsigned kind = event->kind;
    const uint64_t last = model->last[kind][operand];
    if (operand) add(guesses, model->followers[follower(kind, operand, context_of(model, event, operand))]);
    add(guesses, last);
    add(guesses, model->followers[follower(kind, operand + BY_LAST, last)]);
}

static void guess_first(const struct column_model *model, const struct event *event, struct guesses *guesses) {
    const unsigned kind = event->kind, open = ends[kind] ? ends[kind] : names[kind];
    const uint64_t next = model->last[kind][0] + 1, made = top(model, OPEN_MADE);
    if (open) add(guesses, top(model, open));
    switch (kind) {
    case EVENT_TASK_CREATED:
    case EVENT_MESSAGE_SENT:
    case EVENT_ACTOR_CREATED:
        add(guesses, model->new_id + 1);
        return;
    case EVENT_SPAWN_BEGIN:
    case EVENT_MESSAGE_QUEUED:
        add(guesses, model->new_id);
        add(guesses, model->new_id + 1);
        add(guesses, next);
        return;
    case EVENT_TASK_START:
        add(guesses, next);
        add(guesses, model->before);
        add(guesses, made);
        return;
    case EVENT_WAIT_BEGIN:
        add(guesses, made);
        add(guesses, model->new_id + 1);
        add(guesses, next);
        return;
    case EVENT_RESULT:
    case EVENT_TAKEN:
        add(guesses, next);
        add(guesses, made);
        return;
    case EVENT_MESSAGE_BEGIN:
        add(guesses, known_of(model, event->operand[2])->head);
        add(guesses, model->foreign + 1);
        return;
    case EVENT_INIT_BEGIN:
    case EVENT_UPKEEP_BEGIN:
    case EVENT_UPKEEP_END:
    case EVENT_ACTOR_STOPPED:
        add(guesses, model->actor);
        add(guesses, 0);
        add(guesses, model->last[EVENT_ACTOR_CREATED][0]);
        return;
    default:
        guess_by_events_before(model, event, 0, guesses);
    }
}

void column_model_guess(const struct column_model *model, const struct event *event, unsigned operand,
                        struct guesses *guesses) {
    const unsigned kind = event->kind;
    const bool to = kind == EVENT_MESSAGE_SENT && operand == 1, by = kind == EVENT_MESSAGE_BEGIN && operand == 2;
    guesses->count = 0;
    guesses->of_actor = to || by;
    if (operand == 0) {
        guess_first(model, event, guesses);
    } else if (by) {
        add(guesses, model->last[kind][operand]);
        add(guesses, known_of(model, model->oldest)->of);
    } else {
        if (to) add(guesses, known_of(model, event->operand[0])->of);
        if (to) add(guesses, known_of(model, top(model, OPEN_MESSAGE))->from);
        if (kind == EVENT_MESSAGE_QUEUED && operand == 2) add(guesses, event->operand[0]);
        guess_by_events_before(model, event, operand, guesses);
    }
}

// ---- what is noted

static bool gives_id(const struct event *event) {
    switch (event->kind) {
    case EVENT_TASK_CREATED:
    case EVENT_SPAWN_BEGIN:
    case EVENT_MESSAGE_SENT:
    case EVENT_MESSAGE_QUEUED:
    case EVENT_ACTOR_CREATED:
        return true;
    case EVENT_WAIT_BEGIN:
        return wait_for_of(event->operand[2]) == WAIT_FOR_RELEASE;
    default:
        return false;
    }
}

static void note_open(struct column_model *model, const struct event *event) {
    const unsigned kind = event->kind;
    const uint64_t id = event->operand[0];
    if (ends[kind]) pop(model, ends[kind]);
    if (begins[kind]) push(model, begins[kind], id);
    if (kind == EVENT_ACQUIRED) push(model, OPEN_HOLD, id);
    if (kind == EVENT_SPAWN_BEGIN) push(model, OPEN_MADE, id);
    if ((kind == EVENT_WAIT_BEGIN || kind == EVENT_TAKEN) && id == top(model, OPEN_MADE)) pop(model, OPEN_MADE);
}

static void note_begun(struct column_model *model, uint64_t message, uint64_t actor) {
    out_of_mailbox(model, message, actor);
    if (actor != model->actor && message >= model->oldest) model->oldest = message + 1;
    model->actor = actor;
}

void column_model_note(struct column_model *model, const struct event *event) {
    const unsigned kind = event->kind;
    note_followers(model, event);
    if (gives_id(event) && event->operand[0] > model->new_id) model->new_id = event->operand[0];
    if (kind == EVENT_MESSAGE_SENT) into_mailbox(model, event->operand[0], event->operand[1], event->operand[2]);
    if (kind == EVENT_MESSAGE_QUEUED) into_mailbox(model, event->operand[0], event->operand[1], 0);
    if (kind == EVENT_MESSAGE_BEGIN) note_begun(model, event->operand[0], event->operand[2]);
    note_open(model, event);
    find_oldest(model);
    model->before = event->operand[0];
}
