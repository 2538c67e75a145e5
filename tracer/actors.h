// SPDX-License-Identifier: Apache-2.0
// Actors and their messages, as Akka and Apache Pekko have them (actor_hooks.h says where they tell). An actor is known
// by a number that its ActorRef and its cell carry, a message by one that its Envelope carries from its sending to its
// handling. A message's handling, and an actor's initialisation, is a body on its thread (bodies.h); so whoever sends
// is known by what the thread runs.
#ifndef REHYPE_TRACER_ACTORS_H
#define REHYPE_TRACER_ACTORS_H

#include "tracer/tracer.h"

// An actor's cell was made. `ref` is its ActorRef, `parent` that of its parent or NULL, `path` and `name` its own.
// Gives its number. Cold: some 500 ns.
uint64_t actors_made(JNIEnv *jni, struct thread_state *state, jobject ref, jobject parent, jobject path, jobject name);

// Number of the actor that a typed ActorRef stands for; 0 where it is not known. Cold.
uint64_t actors_of_typed(JNIEnv *jni, jobject typed_ref);

// A message comes to an actor's mailbox, or to where it waits until there is one; `message` is what its Envelope
// carries so far, `class` the message's. Gives what it is to carry.
uint64_t actors_send(struct thread_state *state, uint64_t message, uint64_t actor, uint32_t class);

// What the library handles by itself (a PoisonPill) is none; nor is what a router got and passes on so.
void actors_send_none(struct thread_state *state);

// A message that goes to no actor: an answer that a future takes, or one for nobody.
void actors_send_elsewhere(struct thread_state *state, enum message_way way, uint32_t class);

// An actor handles a message; `message` 0: it is none of the program's.
void actors_handle(struct thread_state *state, uint64_t message, uint64_t actor);

// ... and is done with it. Gives what the Envelope is to carry: another number where it was put aside, since it comes
// again.
uint64_t actors_handled(struct thread_state *state, uint64_t message, bool threw);

// How the library makes, stops, watches and supervises actors: a message to the ActorRef `receiver`, which handles them
// in the order in which they came, but for what came too late. A handling is closed by actors_handled.
void actors_send_internal(JNIEnv *jni, struct thread_state *state, jobject receiver, jobject message);
void actors_drop_internal(JNIEnv *jni, jobject receiver);
void actors_handle_internal(struct thread_state *state, uint64_t actor);

// What becomes of the message that the thread handles.
void actors_note(struct thread_state *state, enum message_outcome outcome);

// An actor's constructor; and what makes a behaviour of a typed one, whose message the thread handles. Where one is
// within the other they are one. `instance` is what it made; NULL: it threw.
void actors_init_begins(struct thread_state *state, uint64_t actor);
void actors_setup_begins(struct thread_state *state);
void actors_init_ends(JNIEnv *jni, struct thread_state *state, jobject instance);

// Of a library that the config names: `message` is sent to `receiver`, is handled by it, `actor` is initialised. What
// handles within its own handling (a method that calls that of the class above) only nests.
void actors_mail(JNIEnv *jni, struct thread_state *state, jobject message, jobject receiver);
void actors_open(JNIEnv *jni, struct thread_state *state, jobject message, jobject receiver);
void actors_make(JNIEnv *jni, struct thread_state *state, jobject actor);

#endif
