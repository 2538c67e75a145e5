// SPDX-License-Identifier: Apache-2.0
// A number for an object, in place of a field: the JVM refuses to add fields to a class that it has loaded already, so
// in a JVM that the tracer comes to while it runs, FutureTask, ForkJoinTask, CompletableFuture and the pools have none.
// Actors and messages of libraries that the config names have their numbers so in any JVM.
//
// The numbers are tags of a JVMTI environment of their own, so that no object's other tags (identity.h, locks.h) are in
// the way. 50 to 90 ns each, and the JVM forgets the number with the object.
#ifndef REHYPE_TRACER_KEPT_H
#define REHYPE_TRACER_KEPT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Once. false when the JVM refuses.
bool kept_init(JavaVM *vm);

// Any thread; 0 for an object that has none, and for all before kept_init.
uint64_t kept_get(jobject object);
void kept_set(jobject object, uint64_t number);

#endif
