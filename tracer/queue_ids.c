// SPDX-License-Identifier: Apache-2.0
#include "tracer/queue_ids.h"

#include "tracer/identity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define QUEUE "java/util/concurrent/LinkedBlockingQueue"
#define NODE  QUEUE "$Node"

enum { POOLS_MOST = 1024 }; // later ones' tasks have tags

// Of the JDK's classes, once; id NULL: the fields could not be added.
static struct {
    jclass queue, node; // global references
    jfieldID pool, head, item, next, id;
} known;

enum carrying { CARRIES_NONE, MAY_CARRY, CARRIES };

static struct {
    _Atomic(enum carrying) carrying;
    jweak queue; // where it may carry
} pools[POOLS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of what is known, and of those that may carry

static void know(JNIEnv *jni) {
    known.queue = identity_global_class(jni, QUEUE);
    known.node = identity_global_class(jni, NODE);
    known.pool = identity_field(jni, known.queue, POOL_FIELD, "I");
    known.head = identity_field(jni, known.queue, "head", "L" NODE ";");
    known.item = identity_field(jni, known.node, "item", "Ljava/lang/Object;");
    known.next = identity_field(jni, known.node, "next", "L" NODE ";");
    bool all = known.pool && known.head && known.item && known.next;
    known.id = all ? identity_field(jni, known.node, TASK_FIELD, "J") : NULL;
}

void queue_ids_offer(JNIEnv *jni, uint32_t pool, jobject queue, const char *class_name) {
    bool is_linked = strcmp(class_name, "java.util.concurrent.LinkedBlockingQueue") == 0;
    if (tracer.attached || !is_linked || !pool || pool >= POOLS_MOST) return;
    pthread_mutex_lock(&lock);
    if (!known.queue) know(jni);
    if (known.id && pools[pool].carrying == CARRIES_NONE && (pools[pool].queue = (*jni)->NewWeakGlobalRef(jni, queue)))
        atomic_store_explicit(&pools[pool].carrying, MAY_CARRY, memory_order_release);
    pthread_mutex_unlock(&lock);
}

// The field is set before anyone is told that the queue carries.
static bool begin_to_carry(JNIEnv *jni, uint32_t pool) {
    pthread_mutex_lock(&lock);
    jobject queue = pools[pool].carrying == MAY_CARRY ? (*jni)->NewLocalRef(jni, pools[pool].queue) : NULL;
    if (queue) {
        (*jni)->SetIntField(jni, queue, known.pool, (jint)pool);
        (*jni)->DeleteLocalRef(jni, queue);
        (*jni)->DeleteWeakGlobalRef(jni, pools[pool].queue);
        atomic_store_explicit(&pools[pool].carrying, CARRIES, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return pools[pool].carrying == CARRIES;
}

bool queue_ids_carried(JNIEnv *jni, uint32_t pool) {
    if (pool >= POOLS_MOST) return false;
    enum carrying carrying = atomic_load_explicit(&pools[pool].carrying, memory_order_acquire);
    return carrying == CARRIES || (carrying == MAY_CARRY && begin_to_carry(jni, pool));
}

void queue_ids_put(JNIEnv *jni, jobject node, uint64_t id) {
    (*jni)->SetLongField(jni, node, known.id, (jlong)id);
}

uint64_t queue_ids_get(JNIEnv *jni, jobject node) {
    return node ? (uint64_t)(*jni)->GetLongField(jni, node, known.id) : 0;
}

static void hand_over(JNIEnv *jni, jobject node) {
    uint64_t id = queue_ids_get(jni, node);
    jobject task = id ? (*jni)->GetObjectField(jni, node, known.item) : NULL;
    if (!task) return;
    queue_ids_put(jni, node, 0);
    identity_hand_over(task, id);
    (*jni)->DeleteLocalRef(jni, task);
}

static jobject next_of(JNIEnv *jni, jobject node) {
    jobject next = (*jni)->GetObjectField(jni, node, known.next);
    (*jni)->DeleteLocalRef(jni, node);
    return next;
}

// The head holds no task any more.
void queue_ids_hand_over(JNIEnv *jni, jobject queue) {
    jobject node = (*jni)->GetObjectField(jni, queue, known.head);
    while (node && (node = next_of(jni, node))) hand_over(jni, node);
}
