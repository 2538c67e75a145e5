// SPDX-License-Identifier: Apache-2.0
// Objects that methods on threads' stacks hold in local variables: of which future a thread awaits the result, and
// which task a worker is at. A JVM that runs already grants no access to local variables by frame, but tells of each
// object that a stack refers to while it looks for what is alive.
#ifndef REHYPE_TRACER_LOCALS_H
#define REHYPE_TRACER_LOCALS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

// What is asked for: variables of methods, and, of some threads, whatever their innermost frames hold.
struct local_wanted {
    jmethodID method;
    jint slot;
};
struct locals_wanted {
    const struct local_wanted *of_methods;
    size_t method_count;
    const jlong *threads; // numbers, in rising order
    size_t thread_count;
};

// One that was found. `object` is a local reference.
struct local_found {
    jlong thread;     // its number
    jint depth;       // of its frame, 0 the innermost
    jmethodID method; // NULL: asked for by its thread
    jint slot;
    jint place; // index of its object
};

struct locals {
    struct local_found *found; // in no order
    size_t count;
    jobject *objects;
};

// All there are at one moment, for which the JVM stands still: some 100 ns for each reference on a stack; the heap is
// not walked. At most 8,192 are found. *locals is empty where the JVM refuses. The caller has local references for as
// many objects.
void locals_take(JNIEnv *jni, const struct locals_wanted *wanted, struct locals *locals);

// NULL: there is none.
jobject locals_find(const struct locals *locals, jlong thread, jint depth, jmethodID method, jint slot);

// The outermost, wherever its thread's stack ends by now. NULL: there is none.
jobject locals_outermost(const struct locals *locals, jlong thread, jmethodID method, jint slot);

// What a thread's innermost frames hold, one after the other: from *next on, which begins with 0. NULL: that was all.
jobject locals_next(const struct locals *locals, jlong thread, size_t *next);

void locals_release(JNIEnv *jni, struct locals *locals);

#endif
