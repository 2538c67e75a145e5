// SPDX-License-Identifier: Apache-2.0
// Scala's futures (scala-library 2.12 and 2.13). A callback is a task, and the future that it completes carries its id,
// so that who awaits that awaits the task. In 2.13 both are one object, a Transformation; in 2.12 a CallbackRunnable
// completes a DefaultPromise that Promise.transform makes just before it.
//
// What hands a callback to its executor, and what runs it there, is the executor's affair: a ForkJoinPool's, a
// ThreadPoolExecutor's.
#ifndef REHYPE_TRACER_SCALA_H
#define REHYPE_TRACER_SCALA_H

#include "tracer/tracer.h"

// What a callback carries (identity.h): its id, and the site that it was made at, since who completes the future hands
// it over, out of sight of the application. 0 if it is none. Next to nothing where there are none.
uint64_t scala_carried(JNIEnv *jni, jobject object);

// A method of the library's interface takes the program's function; the outermost names the tasks. Closed by _leave.
void scala_enter(JNIEnv *jni, struct thread_state *state, jobject function);
void scala_leave(struct thread_state *state);

// In such a method: what is made next, a promise and then a callback, are one task's.
void scala_reserve(struct thread_state *state);

// Each gives what the new object is to carry.
uint64_t scala_promise(struct thread_state *state);
uint64_t scala_callback(JNIEnv *jni, struct thread_state *state, jobject callback, jobject executor, jobject function);

#endif
