// SPDX-License-Identifier: Apache-2.0
// Raw Runnables that go through a ThreadPoolExecutor's queue: their ids go with them, in a field of the queue's nodes.
// That costs two calls from Java, where a tag of the object (identity.h) costs several 100 ns: the JVM keeps tags in a
// table of its own under a lock, and its garbage collector goes through it. The price is 8 bytes of each node, of any
// such queue in the program.
//
// Of java.util.concurrent.LinkedBlockingQueue itself, which a pool has unless it is given another. A queue carries ids
// from the first such task on; a pool of FutureTasks, which have a field of their own, pays nothing. TASK_FIELD is the
// nodes', POOL_FIELD the queue's: 0 until it carries ids, then the pool's.
#ifndef REHYPE_TRACER_QUEUE_IDS_H
#define REHYPE_TRACER_QUEUE_IDS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

// A pool is made with such a queue, or with one of another class, which carries none.
void queue_ids_offer(JNIEnv *jni, uint32_t pool, jobject queue, const char *class_name);

// Whether the pool's queue carries ids. Any thread; 1 ns, but once for each pool.
bool queue_ids_carried(JNIEnv *jni, uint32_t pool);

// A node's; 0: none. By whoever has it, under the queue's lock.
void queue_ids_put(JNIEnv *jni, jobject node, uint64_t id);
uint64_t queue_ids_get(JNIEnv *jni, jobject node);

// Tasks are about to be taken from the queue all at once: the ids go over from the nodes to the objects. By who holds
// the lock under which others take.
void queue_ids_hand_over(JNIEnv *jni, jobject queue);

#endif
