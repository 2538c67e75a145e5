// SPDX-License-Identifier: Apache-2.0
// Loops of workers on the stacks of threads that ran before the tracer came: what a ThreadPoolExecutor's, or those that
// executors.conf names, are at (running.h). Found by methods, since code that was on a stack then tells nothing.
//
// By the thread that begins the recording, but for loops_parts.
#ifndef REHYPE_TRACER_LOOPS_H
#define REHYPE_TRACER_LOOPS_H

#include "tracer/locals.h"

#include <jvmti.h>

// Bits.
enum loop_part {
    LOOP_WORKS = 1, // the loop itself
    LOOP_ASKS = 2,  // asks for the next task, or stands by for it
    LOOP_RUNS = 4,  // runs a task; some loops do that themselves
    LOOP_TAKES = 8  // takes from the stage that it is a method of, in a loop of the program's own
};

enum { LOOPS_MOST = 64 }; // methods of loops

// Before a recording begins. Goes over all classes that are loaded: about 1 us each.
void loops_restart(JNIEnv *jni);

// A method that was made obsolete by an earlier recording, and may stand on a stack still.
void loops_know_obsolete(JNIEnv *jni, jmethodID method);

// Bits of what the method is; 0: nothing of a loop. Any thread.
unsigned loops_parts(JNIEnv *jni, jmethodID method);

// Variables of stacks that tell which object's loop it is, to be asked for with others: at most LOOPS_MOST. Returns how
// many.
size_t loops_wanted(struct local_wanted *wanted);

// The pool that a loop works for, or the stage that it takes from, by what was found in such a variable: a local
// reference; NULL: not known.
jobject loops_pool(JNIEnv *jni, jmethodID method, jobject found);

#endif
