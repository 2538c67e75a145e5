// SPDX-License-Identifier: Apache-2.0
#include "tracer/identity.h"

#include "tracer/lambda.h"
#include "tracer/registry.h"
#include "tracer/sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static jclass worker_class, pool_class, future_task, async_supply, async_run;
static jfieldID future_task_id, async_supply_id, async_run_id, pool_id;
static jfieldID worker_pool;
static jfieldID thread_target;              // JDK 8 to 18
static jfieldID thread_holder, holder_task; // JDK 19 and later

static jclass global_class(JNIEnv *jni, const char *name) {
    jclass local = (*jni)->FindClass(jni, name);
    if (!local) {
        (*jni)->ExceptionClear(jni);
        return NULL;
    }
    jclass global = (*jni)->NewGlobalRef(jni, local);
    (*jni)->DeleteLocalRef(jni, local);
    return global;
}

// NULL where this JDK hasn't it, or the class was defined before the weaver could add it.
static jfieldID field_of(JNIEnv *jni, jclass class, const char *name, const char *descriptor) {
    jfieldID field = class ? (*jni)->GetFieldID(jni, class, name, descriptor) : NULL;
    if (!field) (*jni)->ExceptionClear(jni);
    return field;
}

bool identity_init(JNIEnv *jni) {
    tracer.runnable = global_class(jni, "java/lang/Runnable");
    tracer.callable = global_class(jni, "java/util/concurrent/Callable");
    tracer.thread_class = global_class(jni, "java/lang/Thread");
    future_task = global_class(jni, "java/util/concurrent/FutureTask");
    async_supply = global_class(jni, "java/util/concurrent/CompletableFuture$AsyncSupply");
    async_run = global_class(jni, "java/util/concurrent/CompletableFuture$AsyncRun");
    worker_class = global_class(jni, "java/util/concurrent/ForkJoinWorkerThread");
    pool_class = global_class(jni, "java/util/concurrent/ThreadPoolExecutor");
    future_task_id = field_of(jni, future_task, TASK_FIELD, "J");
    async_supply_id = field_of(jni, async_supply, TASK_FIELD, "J");
    async_run_id = field_of(jni, async_run, TASK_FIELD, "J");
    pool_id = field_of(jni, pool_class, POOL_FIELD, "I");
    worker_pool = field_of(jni, worker_class, "pool", "Ljava/util/concurrent/ForkJoinPool;");
    thread_target = field_of(jni, tracer.thread_class, "target", "Ljava/lang/Runnable;");
    thread_holder = field_of(jni, tracer.thread_class, "holder", "Ljava/lang/Thread$FieldHolder;");
    jclass holder = thread_holder ? global_class(jni, "java/lang/Thread$FieldHolder") : NULL;
    holder_task = field_of(jni, holder, "task", "Ljava/lang/Runnable;");
    if (!holder_task) thread_holder = NULL;
    return tracer.runnable && tracer.callable && tracer.thread_class;
}

uint64_t identity_carried(JNIEnv *jni, jobject object) {
    if (!object) return 0;
    const struct {
        jclass class;
        jfieldID field;
    } carriers[] = {{future_task, future_task_id}, {async_supply, async_supply_id}, {async_run, async_run_id}};
    for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++) {
        if (carriers[i].field && (*jni)->IsInstanceOf(jni, object, carriers[i].class)) {
            return (uint64_t)(*jni)->GetLongField(jni, object, carriers[i].field);
        }
    }
    return 0;
}

// What a tag means, in its two low bits. A queue is a pointer, so its low bits are free.
enum { TAG_CREATED = 1, TAG_PENDING = 2, TAG_QUEUE = 3, TAG_KIND = 3 };

struct pending_queue { // ids of one object handed over several times
    size_t head, count, capacity;
    uint64_t *ids;
};

// Guards all tags of raw tasks: reading a tag and setting it must be one step. Held for two JVMTI calls.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t tag_of(jobject object) {
    jlong tag = 0;
    (*tracer.jvmti)->GetTag(tracer.jvmti, object, &tag);
    return (uint64_t)tag;
}

static void set_tag(jobject object, uint64_t tag) {
    (*tracer.jvmti)->SetTag(tracer.jvmti, object, (jlong)tag);
}

void identity_created(jobject object, uint64_t id) {
    set_tag(object, id << 2 | TAG_CREATED);
}

static bool queue_push(struct pending_queue *queue, uint64_t id) {
    if (queue->head + queue->count == queue->capacity) {
        memmove(queue->ids, queue->ids + queue->head, queue->count * sizeof *queue->ids);
        queue->head = 0;
    }
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? queue->capacity * 2 : 8;
        uint64_t *grown = realloc(queue->ids, capacity * sizeof *grown);
        if (!grown) return false;
        queue->ids = grown;
        queue->capacity = capacity;
    }
    queue->ids[queue->head + queue->count++] = id;
    return true;
}

static void add_pending(jobject object, uint64_t tag, uint64_t id) {
    struct pending_queue *queue = (struct pending_queue *)(uintptr_t)(tag & ~(uint64_t)TAG_KIND);
    if ((tag & TAG_KIND) != TAG_QUEUE) {
        queue = calloc(1, sizeof *queue);
        if (!queue) return;
        if (!queue_push(queue, tag >> 2)) {
            free(queue);
            return;
        }
        set_tag(object, (uint64_t)(uintptr_t)queue | TAG_QUEUE);
    }
    queue_push(queue, id);
}

uint64_t identity_spawn(struct thread_state *state, jobject object, bool *is_new) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = tag >> 2;
    *is_new = (tag & TAG_KIND) != TAG_CREATED;
    if (*is_new) id = task_id_new(state);
    if (tag == 0 || !*is_new) {
        set_tag(object, id << 2 | TAG_PENDING);
    } else {
        add_pending(object, tag, id);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

static uint64_t take_pending(jobject object, uint64_t tag) {
    struct pending_queue *queue = (struct pending_queue *)(uintptr_t)(tag & ~(uint64_t)TAG_KIND);
    uint64_t id = queue->ids[queue->head++];
    if (--queue->count == 0) {
        free(queue->ids);
        free(queue);
        set_tag(object, 0);
    }
    return id;
}

uint64_t identity_begin(jobject object) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object), id = tag >> 2;
    if ((tag & TAG_KIND) == TAG_QUEUE) {
        id = take_pending(object, tag);
    } else if (tag != 0) {
        set_tag(object, 0);
    }
    pthread_mutex_unlock(&lock);
    return id;
}

uint64_t identity_take_created(jobject object) {
    pthread_mutex_lock(&lock);
    uint64_t tag = tag_of(object);
    bool created = (tag & TAG_KIND) == TAG_CREATED;
    if (created) set_tag(object, 0);
    pthread_mutex_unlock(&lock);
    return created ? tag >> 2 : 0;
}

jobject identity_thread_target(JNIEnv *jni, jobject thread) {
    if (thread_target) return (*jni)->GetObjectField(jni, thread, thread_target);
    jobject holder = thread_holder ? (*jni)->GetObjectField(jni, thread, thread_holder) : NULL;
    return holder ? (*jni)->GetObjectField(jni, holder, holder_task) : NULL;
}

uint64_t identity_of_thread(jobject thread) {
    return tag_of(thread) >> 2;
}

void identity_set_thread(jobject thread, uint64_t id) {
    set_tag(thread, id << 2 | TAG_PENDING);
}

char *identity_class_name(jclass class, char *text, size_t size) {
    char *signature;
    text[0] = '\0';
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return text;
    if (!lambda_body_name(class, signature, text, size)) {
        size_t length = strlen(signature);
        bool plain = length > 2 && signature[0] == 'L'; // Lcom/acme/Main; and not an array
        dotted_name(plain ? signature + 1 : signature, plain ? length - 2 : length, text, size);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    return text;
}

uint32_t identity_class(JNIEnv *jni, jobject object) {
    if (!object) return 0;
    jclass class = (*jni)->GetObjectClass(jni, object);
    uint64_t id = tag_of(class);
    if (id == 0) {
        char name[1024];
        id = registry_class(&(struct trace_class){identity_class_name(
            class, name, sizeof name)}); // two threads may both do so: the class then has two ids of one name
        set_tag(class, id);
    }
    (*jni)->DeleteLocalRef(jni, class);
    return (uint32_t)id;
}

static uint32_t register_executor(JNIEnv *jni, jobject executor) {
    char name[1024];
    jclass class = (*jni)->GetObjectClass(jni, executor);
    identity_class_name(class, name, sizeof name);
    (*jni)->DeleteLocalRef(jni, class);
    return registry_pool(&(struct trace_pool){.kind = name, .core = -1, .maximum = -1, .capacity = -1});
}

uint32_t identity_executor(JNIEnv *jni, jobject executor) {
    if (!executor) return 0;
    if (pool_id && (*jni)->IsInstanceOf(jni, executor, pool_class)) {
        return (uint32_t)(*jni)->GetIntField(jni, executor, pool_id);
    }
    uint64_t id = tag_of(executor) >> 2;
    if (id == 0) {
        id = register_executor(jni, executor);
        set_tag(executor, id << 2 | TAG_PENDING);
    }
    return (uint32_t)id;
}

bool identity_is_worker(JNIEnv *jni, jobject thread) {
    return worker_class && (*jni)->IsInstanceOf(jni, thread, worker_class);
}

uint32_t identity_worker_pool(JNIEnv *jni, jobject worker) {
    return worker_pool ? identity_executor(jni, (*jni)->GetObjectField(jni, worker, worker_pool)) : 0;
}
