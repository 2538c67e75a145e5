// SPDX-License-Identifier: Apache-2.0
#include "tracer/pools.h"

#include "tracer/bytecodes.h"
#include "tracer/executor_rules.h"
#include "tracer/identity.h"
#include "tracer/kept.h"
#include "tracer/pool_tags.h"
#include "tracer/queue_ids.h"
#include "tracer/queues.h"
#include "tracer/registry.h"

#include <pthread.h>
#include <string.h>

// As they are made ----------------------------------------------------------------------------------------------------

static jint ask_queue(JNIEnv *jni, jobject queue, jclass class, const char *name) {
    jmethodID method = (*jni)->GetMethodID(jni, class, name, "()I");
    (*jni)->ExceptionClear(jni);
    jint number = method ? (*jni)->CallIntMethod(jni, queue, method) : -1;
    if ((*jni)->ExceptionCheck(jni)) number = -1;
    (*jni)->ExceptionClear(jni);
    return number;
}

int64_t pools_queue_capacity(JNIEnv *jni, jobject queue) {
    jclass class = (*jni)->GetObjectClass(jni, queue);
    struct bytecodes_pause pause = bytecodes_pause();
    jint capacity = ask_queue(jni, queue, class, "remainingCapacity");
    jint length = capacity >= 0 && capacity < INT32_MAX ? ask_queue(jni, queue, class, "size") : 0;
    bytecodes_resume(pause);
    (*jni)->DeleteLocalRef(jni, class);
    int64_t all = (int64_t)capacity + (length > 0 ? length : 0);
    return all >= INT32_MAX - 1 ? -1 : all; // a LinkedBlockingQueue with a task has a place less than that
}

static char *class_name_of(JNIEnv *jni, jobject object, char *text, size_t size) {
    jclass class = (*jni)->GetObjectClass(jni, object);
    identity_class_name(class, text, size);
    (*jni)->DeleteLocalRef(jni, class);
    return text;
}

static uint32_t take_up(jobject executor, const struct trace_pool *pool) {
    uint32_t id = registry_pool(pool);
    pool_tags_set(executor, id);
    return id;
}

uint32_t pools_thread_pool(JNIEnv *jni, jobject executor, jint core, jint maximum, jobject queue, jlong keep_alive_ns,
                           jobject handler) {
    char kind[512], queue_name[512], rejection[512];
    struct trace_pool rules = {
        .kind = class_name_of(jni, executor, kind, sizeof kind),
        .queue = class_name_of(jni, queue, queue_name, sizeof queue_name),
        .core = core,
        .maximum = maximum,
        .capacity = pools_queue_capacity(jni, queue),
        .keep_alive_ns = keep_alive_ns,
        .rejection = class_name_of(jni, handler, rejection, sizeof rejection),
    };
    rules.flags = executor_rules_flags(rules.queue);
    queues_exclude(jni, queue);
    uint32_t id = take_up(executor, &rules);
    queue_ids_offer(jni, id, queue, queue_name);
    return id;
}

void pools_changed(JNIEnv *jni, uint32_t pool, jint core, jint maximum, jlong keep_alive_ns, jobject handler,
                   bool core_times_out) {
    char rejection[512];
    struct trace_pool rules = {.core = core,
                               .maximum = maximum,
                               .keep_alive_ns = keep_alive_ns,
                               .rejection = class_name_of(jni, handler, rejection, sizeof rejection),
                               .flags = core_times_out ? POOL_CORE_TIMES_OUT : 0};
    registry_change_pool(pool, &rules);
}

// The pool of the JVM's carriers of virtual threads: what it is handed are their continuations, and no tasks. It is
// told, but as none that has any.
static bool is_for_virtual_threads(const char *factory) {
    static const char OWNER[] = "java.lang.VirtualThread";
    return strncmp(factory, OWNER, sizeof OWNER - 1) == 0;
}

static void tell_carriers(jint parallelism, jint maximum) {
    registry_pool(&(struct trace_pool){.kind = "java.lang.VirtualThread",
                                       .queue = "java.util.concurrent.ForkJoinPool$WorkQueue async",
                                       .name = "carriers",
                                       .core = parallelism,
                                       .maximum = maximum,
                                       .capacity = -1,
                                       .keep_alive_ns = -1});
}

uint32_t pools_fork_join_pool(JNIEnv *jni, jobject executor, jobject factory, jint maximum, bool async,
                              jlong keep_alive_ms) {
    char kind[512], factory_name[512] = "";
    if (factory) class_name_of(jni, factory, factory_name, sizeof factory_name);
    if (is_for_virtual_threads(factory_name)) {
        tell_carriers(identity_parallelism(jni, executor), maximum);
        return 0;
    }
    static const char QUEUE[] = "java.util.concurrent.ForkJoinPool$WorkQueue";
    static const char FIFO_QUEUE[] = "java.util.concurrent.ForkJoinPool$WorkQueue async";
    return take_up(executor, &(struct trace_pool){
                                 .kind = class_name_of(jni, executor, kind, sizeof kind),
                                 .queue = async ? FIFO_QUEUE : QUEUE,
                                 .core = identity_parallelism(jni, executor),
                                 .maximum = maximum,
                                 .capacity = -1,
                                 .keep_alive_ns = keep_alive_ms < 0 ? -1 : keep_alive_ms * 1000000,
                             });
}

// As they are found ---------------------------------------------------------------------------------------------------

static jclass thread_pool, fork_join_pool, worker;
static jfieldID worker_pool;

void pools_init(JNIEnv *jni) {
    thread_pool = identity_global_class(jni, "java/util/concurrent/ThreadPoolExecutor");
    fork_join_pool = identity_global_class(jni, "java/util/concurrent/ForkJoinPool");
    worker = identity_global_class(jni, "java/util/concurrent/ThreadPoolExecutor$Worker");
    worker_pool = identity_field(jni, worker, "this$0", "Ljava/util/concurrent/ThreadPoolExecutor;");
}

bool pools_is_pool(JNIEnv *jni, jobject executor) {
    return (thread_pool && (*jni)->IsInstanceOf(jni, executor, thread_pool)) ||
           (fork_join_pool && (*jni)->IsInstanceOf(jni, executor, fork_join_pool));
}

jobject pools_of_worker(JNIEnv *jni, jobject target) {
    if (!target || !worker_pool || !(*jni)->IsInstanceOf(jni, target, worker)) return NULL;
    return (*jni)->GetObjectField(jni, target, worker_pool);
}

static jint int_of(JNIEnv *jni, jobject pool, jclass class, const char *name) {
    jfieldID field = identity_field(jni, class, name, "I");
    return field ? (*jni)->GetIntField(jni, pool, field) : -1;
}

static jlong long_of(JNIEnv *jni, jobject pool, jclass class, const char *name) {
    jfieldID field = identity_field(jni, class, name, "J");
    return field ? (*jni)->GetLongField(jni, pool, field) : -1;
}

static bool bool_of(JNIEnv *jni, jobject pool, jclass class, const char *name) {
    jfieldID field = identity_field(jni, class, name, "Z");
    return field && (*jni)->GetBooleanField(jni, pool, field);
}

static jobject object_of(JNIEnv *jni, jobject pool, jclass class, const char *name, const char *descriptor) {
    jfieldID field = identity_field(jni, class, name, descriptor);
    return field ? (*jni)->GetObjectField(jni, pool, field) : NULL;
}

static uint32_t describe_thread_pool(JNIEnv *jni, jobject pool) {
    jobject queue = object_of(jni, pool, thread_pool, "workQueue", "Ljava/util/concurrent/BlockingQueue;");
    jobject handler = object_of(jni, pool, thread_pool, "handler", "Ljava/util/concurrent/RejectedExecutionHandler;");
    if (!queue || !handler) return 0; // in its constructor
    jint core = int_of(jni, pool, thread_pool, "corePoolSize"),
         maximum = int_of(jni, pool, thread_pool, "maximumPoolSize");
    jlong keep_alive_ns = long_of(jni, pool, thread_pool, "keepAliveTime");
    uint32_t id = pools_thread_pool(jni, pool, core, maximum, queue, keep_alive_ns, handler);
    if (bool_of(jni, pool, thread_pool, "allowCoreThreadTimeOut"))
        pools_changed(jni, id, core, maximum, keep_alive_ns, handler, true);
    return id;
}

static bool is_async(JNIEnv *jni, jobject pool) {
    jmethodID method = (*jni)->GetMethodID(jni, fork_join_pool, "getAsyncMode", "()Z");
    bool async = method && (*jni)->CallNonvirtualBooleanMethod(jni, pool, fork_join_pool, method);
    (*jni)->ExceptionClear(jni);
    return async;
}

static uint32_t describe_fork_join_pool(JNIEnv *jni, jobject pool) {
    jobject factory = object_of(jni, pool, fork_join_pool, "factory",
                                "Ljava/util/concurrent/ForkJoinPool$ForkJoinWorkerThreadFactory;");
    return pools_fork_join_pool(jni, pool, factory, -1, is_async(jni, pool),
                                long_of(jni, pool, fork_join_pool, "keepAlive"));
}

// What is kept for a pool: its id and that it is known, since 0 is an id, too.
enum { KNOWN = 1 };

void pools_set_id(jobject executor, uint32_t id) {
    kept_set(executor, (uint64_t)id << 1 | KNOWN);
}

uint32_t pools_known_id(jobject executor) {
    return (uint32_t)(kept_get(executor) >> 1);
}

// The pool is described outside the lock, because that may run the queue's code: of two that come here together one has
// described it in vain.
uint32_t pools_id(JNIEnv *jni, jobject executor) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t known = executor ? kept_get(executor) : KNOWN;
    if (known || (*jni)->PushLocalFrame(jni, 16) != 0) return (uint32_t)(known >> 1);
    bool threads = (*jni)->IsInstanceOf(jni, executor, thread_pool);
    uint32_t id = threads ? describe_thread_pool(jni, executor) : describe_fork_join_pool(jni, executor);
    pthread_mutex_lock(&lock);
    known = kept_get(executor);
    if (!known) pools_set_id(executor, id);
    pthread_mutex_unlock(&lock);
    (*jni)->PopLocalFrame(jni, NULL);
    return known ? (uint32_t)(known >> 1) : id;
}
