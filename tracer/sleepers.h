// SPDX-License-Identifier: Apache-2.0
// record --calls: finds functions of the program in which requests sleep, and weaves them as if --include named them.
//
// From the first request on, a thread of the tracer's own takes the stacks of all threads 20 times a second. Of those
// that sleep, or are in native code as while they read, and have a method on their stack that serves requests
// (executors.h), it notes the innermost methods of the program's own, three at most: which of them sleep, and who calls
// these. It ends when it has seen requests asleep at so many moments as come in `calls` seconds, or after a minute;
// what it then has seen three times, 32 methods at most, is woven, for which the JVM stops once. Where requests are not
// seen, nothing is. Virtual threads are not told (stack_sampling.h).
#ifndef REHYPE_TRACER_SLEEPERS_H
#define REHYPE_TRACER_SLEEPERS_H

#include "tracer/tracer.h"

extern _Atomic(bool) sleepers_expected; // a request has begun in this recording

// By a thread that begins a request.
static inline void sleepers_expect(void) {
    if (!atomic_load_explicit(&sleepers_expected, memory_order_relaxed))
        atomic_store_explicit(&sleepers_expected, true, memory_order_relaxed);
}

// When recording has begun, if it is to look for them.
void sleepers_start(JNIEnv *jni);

// Before the recording ends. Waits for a look or a weaving under way, some seconds at most.
void sleepers_stop(void);

bool sleepers_is_thread(JNIEnv *jni, jthread thread);

#endif
