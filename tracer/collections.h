// SPDX-License-Identifier: Apache-2.0
// The JVM's garbage collections, as far as all threads stand still for them, on its own stream: when each began and
// ended, and how much threads had allocated since the one before.
#ifndef REHYPE_TRACER_COLLECTIONS_H
#define REHYPE_TRACER_COLLECTIONS_H

#include <jvmti.h>

// Once the drainer runs; until then nothing is told. Finds the JVM's counter of what was allocated (jvm_counters.h),
// which HotSpot brings up to date as a collection begins: in threads' own buffers (TLABs), in words. Without it, and in
// a JVM without counters, that is not told. Where a collection has several pauses (ZGC), each tells the same.
void collections_tell(void);
void collections_end(void);

// JVMTI's events, at a safepoint, on whatever thread collects: no JNI here, and no state of the thread's. Cost: two
// events a collection, three where the counter is there.
void JNICALL collections_begun(jvmtiEnv *jvmti);
void JNICALL collections_finished(jvmtiEnv *jvmti);

#endif
