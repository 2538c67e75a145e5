// SPDX-License-Identifier: Apache-2.0
#include "tracer/queued.h"

#include "tracer/identity.h"
#include "tracer/registry.h"
#include "tracer/under_way.h"

#include <string.h>

#define JUC "java/util/concurrent/"

enum { TOLD_MOST = 65536 };

static uint32_t told;
static jclass future_task; // a global reference
static jfieldID callable;

void queued_restart(JNIEnv *jni) {
    told = 0;
    if (future_task) return;
    future_task = identity_global_class(jni, JUC "FutureTask");
    callable = identity_field(jni, future_task, "callable", "Ljava/util/concurrent/Callable;");
}

// One task
// -------------------------------------------------------------------------------------------------------------

// What it carries says that it was told already, or has begun.
static bool is_known(uint64_t carried) {
    if (carried & CARRIED_BEGUN) return true;
    return under_way_is_new(carried & CARRIED_ID) && !(carried & CARRIED_STANDS);
}

static uint64_t id_in(uint64_t carried) {
    uint64_t id = carried & CARRIED_ID;
    return id ? id : task_id_new(under_way_scratch());
}

static void tell(uint64_t task, uint32_t class, uint32_t pool) {
    registry_queued(&(struct trace_queued){task, class, pool});
    told++;
}

static void tell_future(JNIEnv *jni, jobject task, uint32_t pool) {
    uint64_t carried = identity_get_future(jni, task), id = id_in(carried);
    if (is_known(carried)) return;
    jobject payload = callable ? identity_callable(jni, (*jni)->GetObjectField(jni, task, callable)) : NULL;
    identity_set_future_task(jni, task, (carried & ~(CARRIED_STANDS | CARRIED_ID)) | id);
    tell(id, identity_class(jni, under_way_scratch(), payload ? payload : task), pool);
}

// Of a CompletableFuture's stage the future may have an id already.
static void tell_fork(JNIEnv *jni, jobject task, uint32_t pool) {
    uint64_t carried = identity_get_carried(jni, task);
    struct fork_parts parts = identity_parts(jni, under_way_scratch(), task);
    if (is_known(carried)) return;
    if (!carried && parts.dependent) carried = identity_of_future(jni, parts.dependent);
    uint64_t id = id_in(carried);
    identity_set_carried(jni, task, (carried & ~(CARRIED_STANDS | CARRIED_ID)) | id);
    if (parts.dependent) identity_set_future(jni, parts.dependent, id);
    tell(id, parts.payload ? identity_class(jni, under_way_scratch(), parts.payload) : parts.class, pool);
}

static void tell_raw(JNIEnv *jni, jobject task, uint32_t pool) {
    uint64_t id = identity_last_pending(task);
    if (id && under_way_is_new(id)) return;
    if (!id) identity_hand_over(task, id = task_id_new(under_way_scratch()));
    tell(id, identity_class(jni, under_way_scratch(), task), pool);
}

// `task`, which may be NULL, goes.
static void tell_one(JNIEnv *jni, jobject task, uint32_t pool) {
    if (!task || told >= TOLD_MOST || (*jni)->PushLocalFrame(jni, 16) != 0) return;
    enum carrier carrier = identity_carrier(jni, task);
    if (identity_is_done(jni, task, carrier))
        ; // to begin it does nothing
    else if (carrier == CARRIER_FUTURE_TASK)
        tell_future(jni, task, pool);
    else if (carrier == CARRIER_FORK_JOIN_TASK)
        tell_fork(jni, task, pool);
    else
        tell_raw(jni, task, pool);
    (*jni)->PopLocalFrame(jni, NULL);
    (*jni)->DeleteLocalRef(jni, task);
}

// Queues
// ---------------------------------------------------------------------------------------------------------------

struct queue {
    jobject object;
    jclass class;
    uint32_t pool;
};

static jobject object_in(JNIEnv *jni, const struct queue *queue, const char *name, const char *descriptor) {
    jfieldID field = identity_field(jni, queue->class, name, descriptor);
    return field ? (*jni)->GetObjectField(jni, queue->object, field) : NULL;
}

static jint int_in(JNIEnv *jni, const struct queue *queue, const char *name) {
    jfieldID field = identity_field(jni, queue->class, name, "I");
    return field ? (*jni)->GetIntField(jni, queue->object, field) : 0;
}

// `count` of them from `first` on, round the array's end.
static void tell_array(JNIEnv *jni, const struct queue *queue, jobjectArray array, jint first, jint count) {
    jsize length = array ? (*jni)->GetArrayLength(jni, array) : 0;
    for (jint i = 0; i < count && i < length && told < TOLD_MOST; i++)
        tell_one(jni, (*jni)->GetObjectArrayElement(jni, array, (first + i) % length), queue->pool);
    if (array) (*jni)->DeleteLocalRef(jni, array);
}

// From the node in the field `head` on; a node that was taken out meanwhile is its own next.
static void tell_nodes(JNIEnv *jni, const struct queue *queue, const char *head, const char *node_descriptor) {
    jobject node = object_in(jni, queue, head, node_descriptor);
    jclass class = node ? (*jni)->GetObjectClass(jni, node) : NULL;
    jfieldID item = identity_field(jni, class, "item", "Ljava/lang/Object;");
    jfieldID next = identity_field(jni, class, "next", node_descriptor);
    for (uint32_t i = 0; node && item && next && i <= TOLD_MOST; i++) {
        tell_one(jni, (*jni)->GetObjectField(jni, node, item), queue->pool);
        jobject then = (*jni)->GetObjectField(jni, node, next);
        bool leaves = then && (*jni)->IsSameObject(jni, then, node);
        (*jni)->DeleteLocalRef(jni, node);
        node = leaves ? NULL : then;
    }
}

static void tell_linked(JNIEnv *jni, const struct queue *queue) {
    tell_nodes(jni, queue, "head", "L" JUC "LinkedBlockingQueue$Node;");
}

static void tell_deque(JNIEnv *jni, const struct queue *queue) {
    tell_nodes(jni, queue, "first", "L" JUC "LinkedBlockingDeque$Node;");
}

static void tell_ring(JNIEnv *jni, const struct queue *queue) {
    tell_array(jni, queue, object_in(jni, queue, "items", "[Ljava/lang/Object;"), int_in(jni, queue, "takeIndex"),
               int_in(jni, queue, "count"));
}

// A heap: only the first is where it will be taken from.
static void tell_heap(JNIEnv *jni, const struct queue *queue) {
    tell_array(jni, queue, object_in(jni, queue, "queue", "[Ljava/lang/Object;"), 0, int_in(jni, queue, "size"));
}

static void tell_delayed(JNIEnv *jni, const struct queue *queue) {
    tell_array(jni, queue, object_in(jni, queue, "queue", "[L" JUC "RunnableScheduledFuture;"), 0,
               int_in(jni, queue, "size"));
}

static const struct {
    const char *class_name;
    void (*tell)(JNIEnv *jni, const struct queue *queue);
} known[] = {{"java.util.concurrent.LinkedBlockingQueue", tell_linked},
             {"java.util.concurrent.LinkedBlockingDeque", tell_deque},
             {"java.util.concurrent.ArrayBlockingQueue", tell_ring},
             {"java.util.concurrent.PriorityBlockingQueue", tell_heap},
             {"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", tell_delayed}};

static void tell_queue(JNIEnv *jni, jobject object, uint32_t pool) {
    char name[256];
    struct queue queue = {object, object ? (*jni)->GetObjectClass(jni, object) : NULL, pool};
    if (!object) return;
    identity_class_name(queue.class, name, sizeof name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].class_name, name) == 0) known[i].tell(jni, &queue);
    }
}

// A ForkJoinPool's, of each submitter and worker one. Entries that were taken are null.
static void tell_stealing(JNIEnv *jni, jobjectArray queues, uint32_t pool) {
    for (jsize i = 0, count = (*jni)->GetArrayLength(jni, queues); i < count && told < TOLD_MOST; i++) {
        jobject object = (*jni)->GetObjectArrayElement(jni, queues, i);
        if (!object) continue;
        struct queue queue = {object, (*jni)->GetObjectClass(jni, object), pool};
        jobjectArray array = object_in(jni, &queue, "array", "[L" JUC "ForkJoinTask;");
        if (array) tell_array(jni, &queue, array, 0, INT32_MAX);
        (*jni)->DeleteLocalRef(jni, queue.class);
        (*jni)->DeleteLocalRef(jni, object);
    }
}

void queued_tell(JNIEnv *jni, jobject pool, uint32_t id) {
    static const char QUEUES[] = "[L" JUC "ForkJoinPool$WorkQueue;";
    if (!id || (*jni)->PushLocalFrame(jni, 32) != 0) return;
    struct queue executor = {pool, (*jni)->GetObjectClass(jni, pool), id};
    jobject queue = object_in(jni, &executor, "workQueue", "Ljava/util/concurrent/BlockingQueue;");
    jobject queues = queue ? NULL : object_in(jni, &executor, "queues", QUEUES);     // 17 to 25
    if (!queue && !queues) queues = object_in(jni, &executor, "workQueues", QUEUES); // 8, 11
    if (queues)
        tell_stealing(jni, queues, id);
    else
        tell_queue(jni, queue, id);
    (*jni)->PopLocalFrame(jni, NULL);
}
