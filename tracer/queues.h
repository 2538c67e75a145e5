// SPDX-License-Identifier: Apache-2.0
// Blocking queues of java.util.concurrent (ArrayBlockingQueue, LinkedBlockingQueue, LinkedBlockingDeque) but those of
// executors: taking an element acquires it, putting one releases it. The places of a bounded one are a resource of
// their own, of which is recorded what happens from the first wait for one on: then all are taken.
//
// Where threads put back what they took, elements go round: then the queue is a pool of as many objects as were put
// into it by threads that had none from it. A queue from which a thousand were taken and hardly one came back carries
// messages: from then on only its waits are recorded, unless threads of the program's own take from it in a loop: what
// is told of a stage (dag/build/stages.h) is told to the end. A queue is known by a field (`carried`): its slot.
#ifndef REHYPE_TRACER_QUEUES_H
#define REHYPE_TRACER_QUEUES_H

#include "tracer/tracer.h"

// It is an executor's: none of this. Any object.
void queues_exclude(JNIEnv *jni, jobject queue);

// By the thread, with the queue locked.
void queues_put(JNIEnv *jni, jobject queue, uint64_t carried);
void queues_took(JNIEnv *jni, jobject queue, uint64_t carried);

// It is about to wait for an element, or for room (0: no limit); it leaves without.
void queues_wait(JNIEnv *jni, jobject queue, uint64_t carried, bool for_room, uint64_t limit_ns);
void queues_give_up(enum given_up why);

#endif
