// SPDX-License-Identifier: Apache-2.0
// java.util.concurrent.Semaphore: what is taken and given back, and how many permits there are. A semaphore is known by
// a field of its Sync (`carried`), which holds its permits until a thread asks for one, and then its slot. What
// releases permits that were not taken raises the capacity.
#ifndef REHYPE_TRACER_PERMITS_H
#define REHYPE_TRACER_PERMITS_H

#include "tracer/tracer.h"

// The slot of a semaphore, given at its first use; 0: no room.
uint32_t permits_slot(JNIEnv *jni, struct thread_state *state, jobject sync);

void permits_taken(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units);
void permits_given(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units);
void permits_reduced(JNIEnv *jni, jobject sync, uint64_t carried, uint32_t units);

// Of a new one.
uint64_t permits_carried(uint32_t permits);

#endif
