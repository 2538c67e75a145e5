// SPDX-License-Identifier: Apache-2.0
#include "tracer/actors.h"

#include "tracer/actor_hooks.h"
#include "tracer/bodies.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/mail.h"
#include "tracer/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

// Actors -------------------------------------------------------------------------------------------------------------

static uint64_t number_of(JNIEnv *jni, jobject ref) {
    if (!ref) return 0;
    jclass class = (*jni)->GetObjectClass(jni, ref);
    jfieldID field = identity_field(jni, class, TASK_FIELD, "J");
    (*jni)->DeleteLocalRef(jni, class);
    return field ? (uint64_t)(*jni)->GetLongField(jni, ref, field) : 0;
}

uint64_t actors_of_typed(JNIEnv *jni, jobject typed_ref) {
    if (!typed_ref) return 0;
    jclass class = (*jni)->GetObjectClass(jni, typed_ref);
    jfieldID field = NULL;
    for (const char *const *package = actor_hooks_packages; *package && !field; package++) {
        char descriptor[64];
        snprintf(descriptor, sizeof descriptor, "L%s/actor/InternalActorRef;", *package);
        field = identity_field(jni, class, "classicRef", descriptor);
    }
    (*jni)->DeleteLocalRef(jni, class);
    return field ? number_of(jni, (*jni)->GetObjectField(jni, typed_ref, field)) : 0;
}

static void tell_name(JNIEnv *jni, uint64_t actor, jstring text) {
    enum { NAME_CHARS = 200 };
    char name[4 * NAME_CHARS + 1];
    jsize length = text ? (*jni)->GetStringLength(jni, text) : 0;
    if (length == 0) return;
    memset(name, 0, sizeof name);
    (*jni)->GetStringUTFRegion(jni, text, 0, length < NAME_CHARS ? length : NAME_CHARS, name);
    if (!(*jni)->ExceptionCheck(jni)) registry_actor(&(struct trace_actor){actor, name});
    (*jni)->ExceptionClear(jni);
}

static jstring text_of(JNIEnv *jni, jobject path) {
    jclass class = (*jni)->GetObjectClass(jni, path);
    jmethodID to_string = (*jni)->GetMethodID(jni, class, "toString", "()Ljava/lang/String;");
    jstring text = to_string ? (*jni)->CallObjectMethod(jni, path, to_string) : NULL;
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    return text;
}

uint64_t actors_made(JNIEnv *jni, struct thread_state *state, jobject ref, jobject parent, jobject path, jobject name) {
    uint64_t actor = task_id_new(state), of = number_of(jni, parent);
    tell_name(jni, actor, of || !path ? name : text_of(jni, path));
    record3(state, EVENT_ACTOR_CREATED, actor, of, 0);
    return state->sending.made = actor;
}

// Messages -----------------------------------------------------------------------------------------------------------

static uint64_t sending_operand(struct thread_state *state, enum message_way way, uint32_t class) {
    struct sending *sending = &state->sending;
    enum message_origin origin = sending->copying && !sending->first ? MESSAGE_COPY : sending->origin;
    uint64_t operand = message_operand(class, origin, way, sending->asks);
    sending->first = sending->asks = false;
    return operand;
}

// What a router got goes on to one of its actors, as the message that it is.
static uint64_t pass_on(struct thread_state *state) {
    uint64_t message = state->sending.passed_on;
    state->sending.passed_on = 0;
    state->sending.first = false;
    return message;
}

uint64_t actors_send(struct thread_state *state, uint64_t message, uint64_t actor, uint32_t class) {
    if (!message && state->sending.passed_on) message = pass_on(state);
    if (message) {
        record3(state, EVENT_MESSAGE_QUEUED, message, actor, message);
        return message;
    }
    message = task_id_new(state);
    record3(state, EVENT_MESSAGE_SENT, message, actor, sending_operand(state, MESSAGE_TO_ACTOR, class));
    return message;
}

void actors_send_none(struct thread_state *state) {
    state->sending.asks = false;
    if (!state->sending.passed_on) return;
    uint64_t message = pass_on(state);
    record3(state, EVENT_MESSAGE_QUEUED, message, 0, message);
}

void actors_send_elsewhere(struct thread_state *state, enum message_way way, uint32_t class) {
    if (way == MESSAGE_TO_NOBODY && state->sending.passed_on)
        record1(state, EVENT_DEAD_LETTER, pass_on(state));
    else
        record3(state, EVENT_MESSAGE_SENT, task_id_new(state), 0, sending_operand(state, way, class));
}

static uint64_t message_of_library(struct thread_state *state) {
    uint64_t message = task_id_new(state);
    record3(state, EVENT_MESSAGE_QUEUED, message, 0, message);
    return message;
}

void actors_handle(struct thread_state *state, uint64_t message, uint64_t actor) {
    bodies_begin_of_actor(state, message ? message : message_of_library(state), actor);
}

static bool is_body(const struct task_frame *frame, bool init, uint64_t message) {
    bool is_init = frame->actor == frame->task;
    return frame->actor && is_init == init && (!message || message == frame->task);
}

// The innermost body that is an initialisation of an actor, or the handling of a message (0: whichever); what is above
// it was left by exceptions. NULL if there is none.
static struct task_frame *unwind_to(struct thread_state *state, bool init, uint64_t message) {
    uint32_t depth = state->tasks < state->task_capacity ? state->tasks : state->task_capacity;
    while (depth > 0 && !is_body(&state->task[depth - 1], init, message)) depth--;
    if (depth == 0) return NULL;
    while (state->tasks > depth) {
        struct task_frame *above = bodies_top(state);
        if (above) above->nested = 0;
        bodies_end_by_exception(state);
    }
    return &state->task[depth - 1];
}

uint64_t actors_handled(struct thread_state *state, uint64_t message, bool threw) {
    struct task_frame *frame = unwind_to(state, false, message);
    if (!frame) return message;
    const uint64_t was = frame->task, actor = frame->actor;
    bool put_aside = frame->outcome == MESSAGE_PUT_ASIDE;
    if (threw && !put_aside) frame->outcome = MESSAGE_THREW;
    bodies_end(state);
    if (!put_aside) return message;
    message = task_id_new(state);
    record3(state, EVENT_MESSAGE_QUEUED, message, actor, was);
    return message;
}

// In mail.h such a message has no object, since their order is known.
void actors_send_internal(JNIEnv *jni, struct thread_state *state, jobject receiver, jobject message) {
    uint64_t actor = number_of(jni, receiver), sent = actor ? task_id_new(state) : 0;
    if (!actor) return;
    uint64_t operand = message_operand(identity_class(jni, state, message), MESSAGE_INTERNAL, MESSAGE_TO_ACTOR, false);
    record3(state, EVENT_MESSAGE_SENT, sent, actor, operand);
    mail_put(0, actor, sent);
}

void actors_drop_internal(JNIEnv *jni, jobject receiver) {
    uint64_t actor = number_of(jni, receiver);
    if (actor) mail_take(0, actor);
}

void actors_handle_internal(struct thread_state *state, uint64_t actor) {
    actors_handle(state, mail_take(0, actor), actor);
}

void actors_note(struct thread_state *state, enum message_outcome outcome) {
    struct task_frame *frame = bodies_top(state);
    if (frame && frame->actor && frame->actor != frame->task) frame->outcome = outcome;
}

// Initialisation -----------------------------------------------------------------------------------------------------

void actors_init_begins(struct thread_state *state, uint64_t actor) {
    if (actor) bodies_begin_of_actor(state, actor, actor);
}

// Whose message, or initialisation, the thread runs; 0: no actor's.
static uint64_t current(struct thread_state *state) {
    uint32_t depth = state->tasks < state->task_capacity ? state->tasks : state->task_capacity;
    while (depth > 0 && !state->task[depth - 1].actor) depth--;
    return depth ? state->task[depth - 1].actor : 0;
}

void actors_setup_begins(struct thread_state *state) {
    struct task_frame *frame = bodies_top(state);
    if (frame && frame->actor && frame->actor == frame->task)
        frame->nested++;
    else
        actors_init_begins(state, current(state));
}

void actors_init_ends(JNIEnv *jni, struct thread_state *state, jobject instance) {
    struct task_frame *frame = unwind_to(state, true, 0);
    if (!frame) return;
    if (frame->nested) {
        frame->nested--;
        return;
    }
    uint32_t class = instance ? identity_innermost_class(jni, state, instance) : 0;
    frame->outcome = (uint32_t)init_operand(class, instance ? INIT_DONE : INIT_FAILED);
    bodies_end(state);
}

// Of libraries that the config names
// -----------------------------------------------------------------------------------

static const uint64_t IS_ACTOR = (uint64_t)1 << 63; // of the number that an object keeps

static pthread_mutex_t numbering = PTHREAD_MUTEX_INITIALIZER;

// An object's number; one that is first met gets it, once.
static uint64_t number_kept(struct thread_state *state, jobject object, uint64_t flag, bool *is_new) {
    uint64_t kept = kept_get(object);
    *is_new = !kept;
    if (kept) return kept & ~IS_ACTOR;
    pthread_mutex_lock(&numbering);
    kept = kept_get(object);
    *is_new = !kept;
    if (!kept) kept_set(object, kept = task_id_new(state) | flag);
    pthread_mutex_unlock(&numbering);
    return kept & ~IS_ACTOR;
}

static uint64_t actor_kept(JNIEnv *jni, struct thread_state *state, jobject actor) {
    bool is_new;
    uint64_t number = number_kept(state, actor, IS_ACTOR, &is_new);
    if (is_new) record3(state, EVENT_ACTOR_CREATED, number, 0, identity_class(jni, state, actor));
    return number;
}

void actors_mail(JNIEnv *jni, struct thread_state *state, jobject message, jobject receiver) {
    bool is_new;
    uint64_t actor = actor_kept(jni, state, receiver), object = number_kept(state, message, 0, &is_new);
    uint64_t sent = actors_send(state, 0, actor, identity_class(jni, state, message));
    mail_put(object, actor, sent);
}

void actors_open(JNIEnv *jni, struct thread_state *state, jobject message, jobject receiver) {
    struct task_frame *frame = bodies_top(state);
    uint64_t actor = receiver ? actor_kept(jni, state, receiver) : 0;
    uint64_t sent = message ? mail_take(kept_get(message) & ~IS_ACTOR, actor) : 0;
    if (!sent && frame && frame->actor == actor && frame->task != actor)
        frame->nested++;
    else
        actors_handle(state, sent, actor);
}

void actors_make(JNIEnv *jni, struct thread_state *state, jobject actor) {
    struct task_frame *frame = bodies_top(state);
    uint64_t number = actor_kept(jni, state, actor);
    if (frame && frame->actor == number && frame->task == number)
        frame->nested++;
    else
        actors_init_begins(state, number);
}
