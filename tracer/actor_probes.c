// SPDX-License-Identifier: Apache-2.0
// The natives of java.lang.Rehype that tell of actors (actor_hooks.c says where each is called).
#include "tracer/actor_hooks.h"
#include "tracer/actors.h"
#include "tracer/identity.h"

#include <java_lang_Rehype.h>

#include <string.h>

#define PROBE(result, name) JNIEXPORT result JNICALL Java_java_lang_Rehype_##name

PROBE(jlong, actorMade)
(JNIEnv *jni, jclass helper, jobject ref, jlong actor, jobject parent, jobject path, jobject name) {
    PROBED struct thread_state *state = actor ? NULL : probe_begin();
    return state ? (jlong)actors_made(jni, state, ref, parent, path, name) : actor;
}

PROBE(void, actorStopped)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = actor ? probe_begin() : NULL;
    if (state) record1(state, EVENT_ACTOR_STOPPED, (uint64_t)actor);
}

PROBE(void, actorRestarted)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = actor ? probe_begin() : NULL;
    if (state) record1(state, EVENT_ACTOR_RESTARTED, (uint64_t)actor);
}

PROBE(void, initBegins)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_init_begins(state, (uint64_t)actor);
}

PROBE(void, setupBegins)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_setup_begins(state);
}

// A typed actor, by its ActorRef.
PROBE(void, restarts)(JNIEnv *jni, jclass helper, jobject typed_ref) {
    PROBED struct thread_state *state = probe_begin();
    uint64_t actor = state ? actors_of_typed(jni, typed_ref) : 0;
    if (actor) record1(state, EVENT_ACTOR_RESTARTED, actor);
}

PROBE(void, upkeepBegins)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = probe_begin();
    if (state) record_boundary(state, EVENT_UPKEEP_BEGIN, (uint64_t)actor, 0);
}

// `actor` 0: that which was made last.
PROBE(void, upkeepEnds)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = probe_begin();
    if (!state) return;
    record_boundary(state, EVENT_UPKEEP_END, actor ? (uint64_t)actor : state->sending.made, 0);
    state->sending.made = 0;
}

PROBE(void, initEnds)(JNIEnv *jni, jclass helper, jobject instance) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_init_ends(jni, state, instance);
}

// Of what a typed system's guardian is sent first.
static bool is_start(jclass class) {
    static const char START[] = ".actor.typed.internal.adapter.GuardianStartupBehavior$Start$";
    char name[1024];
    identity_class_name(class, name, sizeof name);
    size_t length = strlen(name);
    return length >= sizeof START && strcmp(name + length - (sizeof START - 1), START) == 0;
}

// Less than 0 of messages that the library handles by itself (a PoisonPill, a Terminated): these are none of the
// program's.
PROBE(jint, classNumber)(JNIEnv *jni, jclass helper, jclass class) {
    bool automatic =
        identity_implements(jni, class, actor_hooks_packages, "/actor/AutoReceivedMessage;") || is_start(class);
    jint number = (jint)identity_class_number(class);
    return automatic ? -number : number;
}

PROBE(jlong, messageSent)(JNIEnv *jni, jclass helper, jlong message, jlong actor, jint class) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)actors_send(state, (uint64_t)message, (uint64_t)actor, (uint32_t) class) : message;
}

// A system message, of which an actor handles those first that came first.
PROBE(void, sendsInternal)(JNIEnv *jni, jclass helper, jobject receiver, jobject message) {
    PROBED struct thread_state *state = receiver && message ? probe_begin() : NULL;
    if (state) actors_send_internal(jni, state, receiver, message);
}

PROBE(void, dropsInternal)(JNIEnv *jni, jclass helper, jobject receiver) {
    PROBED struct thread_state *state = receiver ? probe_begin() : NULL;
    if (state) actors_drop_internal(jni, receiver);
}

PROBE(void, handlesInternal)(JNIEnv *jni, jclass helper, jlong actor) {
    PROBED struct thread_state *state = actor ? probe_begin() : NULL;
    if (state) actors_handle_internal(state, (uint64_t)actor);
}

PROBE(void, routes)(JNIEnv *jni, jclass helper, jlong message) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->sending.passed_on = (uint64_t)message;
}

PROBE(void, sendsNone)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_send_none(state);
}

PROBE(void, sendsFor)(JNIEnv *jni, jclass helper, jint origin) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->sending.origin = (uint8_t)origin;
}

PROBE(void, sendsToSeveral)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state && state->sending.copying++ == 0) state->sending.first = true;
}

PROBE(void, sentToSeveral)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state && state->sending.copying > 0) state->sending.copying--;
}

PROBE(void, asks)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->sending.asks = true;
}

PROBE(void, answers)(JNIEnv *jni, jclass helper, jboolean completes, jobject content, jboolean automatic) {
    PROBED struct thread_state *state = completes && content && !automatic ? probe_begin() : NULL;
    if (state) actors_send_elsewhere(state, MESSAGE_TO_FUTURE, identity_class(jni, state, content));
}

PROBE(void, drops)(JNIEnv *jni, jclass helper, jlong message) {
    PROBED struct thread_state *state = probe_begin();
    if (state) state->sending.dropped = (uint64_t)message;
}

// A dead letter is made: of the message that is being dropped, if one is, else of one that has just been sent.
PROBE(void, tellsNobody)(JNIEnv *jni, jclass helper, jobject content, jboolean automatic, jboolean internal) {
    PROBED struct thread_state *state = content && !automatic && !internal ? probe_begin() : NULL;
    if (!state) return;
    if (state->sending.dropped)
        record1(state, EVENT_DEAD_LETTER, state->sending.dropped);
    else
        actors_send_elsewhere(state, MESSAGE_TO_NOBODY, identity_class(jni, state, content));
    state->sending.dropped = 0;
}

// Of a library that the config names (mail.h).

PROBE(void, mailed)(JNIEnv *jni, jclass helper, jobject message, jobject receiver) {
    PROBED struct thread_state *state = message && receiver ? probe_begin() : NULL;
    if (state) actors_mail(jni, state, message, receiver);
}

PROBE(void, opens)(JNIEnv *jni, jclass helper, jobject message, jobject receiver) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_open(jni, state, message, receiver);
}

PROBE(void, closes)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_handled(state, 0, false);
}

PROBE(void, closesThrowing)(JNIEnv *jni, jclass helper) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_handled(state, 0, true);
}

PROBE(void, makes)(JNIEnv *jni, jclass helper, jobject actor) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_make(jni, state, actor);
}

PROBE(void, handles)(JNIEnv *jni, jclass helper, jlong message, jlong actor) {
    PROBED struct thread_state *state = actor ? probe_begin() : NULL;
    if (state) actors_handle(state, (uint64_t)message, (uint64_t)actor);
}

PROBE(jlong, handled)(JNIEnv *jni, jclass helper, jlong message) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)actors_handled(state, (uint64_t)message, false) : message;
}

PROBE(jlong, handlingThrew)(JNIEnv *jni, jclass helper, jlong message) {
    PROBED struct thread_state *state = probe_begin();
    return state ? (jlong)actors_handled(state, (uint64_t)message, true) : message;
}

PROBE(void, becomes)(JNIEnv *jni, jclass helper, jint outcome) {
    PROBED struct thread_state *state = probe_begin();
    if (state) actors_note(state, (enum message_outcome)outcome);
}

// A mailbox is handed over to run again and again: the library's scheduling, and no task.
PROBE(void, schedules)(JNIEnv *jni, jclass helper, jobject mailbox) {
    PROBED struct thread_state *state = probe_begin();
    if (state && identity_is_fork(jni, mailbox)) identity_set_carried(jni, mailbox, CARRIED_SCHEDULING);
}
