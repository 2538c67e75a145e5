// SPDX-License-Identifier: Apache-2.0
// record --sample HZ: a thread of the tracer's own takes the stacks of all threads, at moments whose distance is drawn
// anew each time (stack_slice.h). A stack becomes a calling context whose frames are methods, without bytecode indices:
// a program has far fewer of those.
//
// The JVM tells stacks at a safepoint alone: it stops all threads, each at its next poll. Compiled code polls where a
// method returns and a loop goes round; what was inlined into another method and has no such loop is then never the
// innermost frame. Mytkowicz, Diwan, Hauswirth, Sweeney: Evaluating the Accuracy of Java Profilers, PLDI 2010, measured
// that bias. Virtual threads are not told; of a carrier only its own frames are.
#ifndef REHYPE_TRACER_STACK_SAMPLING_H
#define REHYPE_TRACER_STACK_SAMPLING_H

#include "tracer/tracer.h"

// When recording has begun, if it is to sample. Cost: what HZ stops of all threads and as many walks of all stacks
// cost, which the trace tells (trace_stack_costs).
void stack_sampling_start(JNIEnv *jni);

// Before the drainer stops: what was taken is handed over to it. Waits for a stack walk under way, a second at most.
void stack_sampling_stop(void);

bool stack_sampling_is_thread(JNIEnv *jni, jthread thread);

// The thread, or (NULL) the calling one, is known in the trace as `id`: only of such are stacks kept.
void stack_sampling_know(jthread thread, uint32_t id);

#endif
