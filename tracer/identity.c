// SPDX-License-Identifier: Apache-2.0
#include "tracer/identity.h"

#include "tracer/bytecodes.h"
#include "tracer/executor_rules.h"
#include "tracer/generated.h"
#include "tracer/identity_tags.h"
#include "tracer/kept.h"
#include "tracer/lambda.h"
#include "tracer/pool_tags.h"
#include "tracer/pools.h"
#include "tracer/registry.h"
#include "tracer/scala.h"
#include "tracer/sites.h"
#include "tracer/virtual.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static jclass worker_class, pool_class, future_task, fork_join_task;
static jclass timeout, ownable, reentrant_sync, read_write_sync, stamped_lock, semaphore_sync;
static jfieldID future_task_id, future_task_state, fork_join_task_id, fork_join_status, pool_id;
static bool forks_have_aux;
static jclass adapter; // Executors.RunnableAdapter
static jfieldID adapted;
static jfieldID worker_pool;
static jfieldID thread_target;              // JDK 8 to 18
static jfieldID thread_holder, holder_task; // JDK 19 and later

jclass identity_global_class(JNIEnv *jni, const char *name) {
    jclass local = (*jni)->FindClass(jni, name);
    if (!local) {
        (*jni)->ExceptionClear(jni);
        return NULL;
    }
    jclass global = (*jni)->NewGlobalRef(jni, local);
    (*jni)->DeleteLocalRef(jni, local);
    return global;
}

jfieldID identity_field(JNIEnv *jni, jclass class, const char *name, const char *descriptor) {
    jfieldID field = class ? (*jni)->GetFieldID(jni, class, name, descriptor) : NULL;
    if (!field) (*jni)->ExceptionClear(jni);
    return field;
}

bool identity_init(JNIEnv *jni) {
    tracer.runnable = identity_global_class(jni, "java/lang/Runnable");
    tracer.callable = identity_global_class(jni, "java/util/concurrent/Callable");
    tracer.thread_class = identity_global_class(jni, "java/lang/Thread");
    future_task = identity_global_class(jni, "java/util/concurrent/FutureTask");
    fork_join_task = identity_global_class(jni, "java/util/concurrent/ForkJoinTask");
    timeout = identity_global_class(jni, "java/util/concurrent/TimeoutException");
    ownable = identity_global_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    reentrant_sync = identity_global_class(jni, "java/util/concurrent/locks/ReentrantLock$Sync");
    read_write_sync = identity_global_class(jni, "java/util/concurrent/locks/ReentrantReadWriteLock$Sync");
    stamped_lock = identity_global_class(jni, "java/util/concurrent/locks/StampedLock");
    semaphore_sync = identity_global_class(jni, "java/util/concurrent/Semaphore$Sync");
    worker_class = identity_global_class(jni, "java/util/concurrent/ForkJoinWorkerThread");
    pool_class = identity_global_class(jni, "java/util/concurrent/ThreadPoolExecutor");
    future_task_id = identity_field(jni, future_task, TASK_FIELD, "J");
    future_task_state = identity_field(jni, future_task, "state", "I");
    adapter = identity_global_class(jni, "java/util/concurrent/Executors$RunnableAdapter");
    adapted = identity_field(jni, adapter, "task", "Ljava/lang/Runnable;");
    fork_join_task_id = identity_field(jni, fork_join_task, TASK_FIELD, "J");
    fork_join_status = identity_field(jni, fork_join_task, "status", "I");
    forks_have_aux = identity_field(jni, fork_join_task, "aux", "Ljava/util/concurrent/ForkJoinTask$Aux;") != NULL;
    pool_id = identity_field(jni, pool_class, POOL_FIELD, "I"); // none of the fields is there in a running JVM
    worker_pool = identity_field(jni, worker_class, "pool", "Ljava/util/concurrent/ForkJoinPool;");
    thread_target = identity_field(jni, tracer.thread_class, "target", "Ljava/lang/Runnable;");
    thread_holder = identity_field(jni, tracer.thread_class, "holder", "Ljava/lang/Thread$FieldHolder;");
    jclass holder = thread_holder ? identity_global_class(jni, "java/lang/Thread$FieldHolder") : NULL;
    holder_task = identity_field(jni, holder, "task", "Ljava/lang/Runnable;");
    if (!holder_task) thread_holder = NULL;
    return tracer.runnable && tracer.callable && tracer.thread_class;
}

// What an object of such a class carries is in its field, or, where it could not be added, kept.
static bool carries(JNIEnv *jni, jobject object, jclass class, jfieldID field) {
    return (field || tracer.attached) && class && (*jni)->IsInstanceOf(jni, object, class);
}

static uint64_t get_carried(JNIEnv *jni, jobject object, jfieldID field) {
    return field ? (uint64_t)(*jni)->GetLongField(jni, object, field) : kept_get(object);
}

static void set_carried(JNIEnv *jni, jobject object, jfieldID field, uint64_t carried) {
    if (field)
        (*jni)->SetLongField(jni, object, field, (jlong)carried);
    else if (tracer.attached)
        kept_set(object, carried);
}

bool identity_is_timeout(JNIEnv *jni, jobject exception) {
    return timeout && (*jni)->IsInstanceOf(jni, exception, timeout);
}

static bool is_future(JNIEnv *jni, jobject task) {
    return carries(jni, task, future_task, future_task_id);
}

uint64_t identity_get_future(JNIEnv *jni, jobject task) {
    return is_future(jni, task) ? get_carried(jni, task, future_task_id) : 0;
}

void identity_set_future_task(JNIEnv *jni, jobject task, uint64_t carried) {
    if (is_future(jni, task)) set_carried(jni, task, future_task_id, carried);
}

enum carrier identity_carrier(JNIEnv *jni, jobject object) {
    if (is_future(jni, object)) return CARRIER_FUTURE_TASK;
    return identity_is_fork(jni, object) ? CARRIER_FORK_JOIN_TASK : CARRIER_OTHER;
}

uint64_t identity_carried_by(JNIEnv *jni, jobject object, enum carrier carrier) {
    uint64_t carried = 0;
    if (carrier == CARRIER_FUTURE_TASK) carried = get_carried(jni, object, future_task_id);
    if (carrier == CARRIER_FORK_JOIN_TASK) carried = identity_get_carried(jni, object);
    return (carried ? carried : scala_carried(jni, object)) & CARRIED_ID;
}

uint64_t identity_carried(JNIEnv *jni, jobject object) {
    return object ? identity_carried_by(jni, object, identity_carrier(jni, object)) : 0;
}

jobject identity_callable(JNIEnv *jni, jobject callable) {
    bool adapts = callable && adapted && (*jni)->IsInstanceOf(jni, callable, adapter);
    return adapts ? (*jni)->GetObjectField(jni, callable, adapted) : callable;
}

bool identity_is_fork(JNIEnv *jni, jobject task) {
    return carries(jni, task, fork_join_task, fork_join_task_id);
}

uint64_t identity_get_carried(JNIEnv *jni, jobject task) {
    return get_carried(jni, task, fork_join_task_id);
}

// Of CompletableFuture, not looked up before it is in use, as ForkJoinPool below.
static jfieldID future_field(JNIEnv *jni, jobject future) {
    static _Atomic(jfieldID) field;
    jfieldID known = atomic_load_explicit(&field, memory_order_relaxed);
    if (!known && !tracer.attached) {
        known = identity_field(jni, (*jni)->GetObjectClass(jni, future), TASK_FIELD, "J");
        atomic_store_explicit(&field, known, memory_order_relaxed);
    }
    return known;
}

bool identity_forks_have_aux(void) {
    return forks_have_aux;
}

uint64_t identity_of_future(JNIEnv *jni, jobject future) {
    return get_carried(jni, future, future_field(jni, future)) & CARRIED_ID;
}

void identity_set_future(JNIEnv *jni, jobject future, uint64_t id) {
    set_carried(jni, future, future_field(jni, future), id);
}

void identity_set_carried(JNIEnv *jni, jobject task, uint64_t carried) {
    set_carried(jni, task, fork_join_task_id, carried);
}

bool identity_is_done(JNIEnv *jni, jobject task, enum carrier carrier) {
    enum { NEW = 0 }; // FutureTask.state, JDK 8 to 25
    if (carrier == CARRIER_FUTURE_TASK)
        return future_task_state && (*jni)->GetIntField(jni, task, future_task_state) != NEW;
    return carrier == CARRIER_FORK_JOIN_TASK && fork_join_status &&
           (*jni)->GetIntField(jni, task, fork_join_status) < 0;
}

jobject identity_thread_target(JNIEnv *jni, jobject thread) {
    if (thread_target) return (*jni)->GetObjectField(jni, thread, thread_target);
    jobject holder = thread_holder ? (*jni)->GetObjectField(jni, thread, thread_holder) : NULL;
    return holder ? (*jni)->GetObjectField(jni, holder, holder_task) : virtual_target(jni, thread);
}

char *identity_class_name(jclass class, char *text, size_t size) {
    char *signature;
    text[0] = '\0';
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return text;
    if (!lambda_body_name(class, signature, text, size)) {
        size_t length = strlen(signature);
        bool plain = length > 2 && signature[0] == 'L'; // Lcom/acme/Main; and not an array
        if (plain)
            dotted_name(signature + 1, generated_stable_length(signature + 1, length - 2), text, size);
        else
            dotted_name(signature, length, text, size);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    return text;
}

// A class's tag, above its kind: its id, whether its objects wrap what is handed to a ForkJoinPool, whether they are
// latches, and whether they are executors that run at once what they are given.
enum { TAG_CLASS_AT = 2, CLASS_WRAPS_AT = 40, CLASS_LATCH_AT = 41, CLASS_INLINE_AT = 42 };

uint32_t identity_class_named(const char *name) {
    return registry_class(&(struct trace_class){name});
}

static bool wraps(const char *class_name) {
    static const char *const prefixes[] = {"java.util.concurrent.ForkJoinTask$", // AdaptedCallable and so on
                                           "java.util.concurrent.StructuredTaskScope",
                                           "java.util.concurrent.ForkJoinPool$InvokeAnyTask",
                                           "java.util.concurrent.CompletableFuture$",
                                           "java.util.concurrent.DelayScheduler$", // 25: a Runnable or a Callable
                                           "akka.actor.typed.",
                                           "org.apache.pekko.actor.typed."}; // behaviours
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(class_name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    }
    return false;
}

static bool is_latch(const char *class_name) {
    return strcmp(class_name, "java.util.concurrent.CountDownLatch$Sync") == 0 ||
           strcmp(class_name, "scala.concurrent.impl.Promise$CompletionLatch") == 0;
}

static bool runs_inline(const char *class_name) {
    return strcmp(class_name, "scala.concurrent.Future$InternalCallbackExecutor$") == 0 || // 2.12
           strcmp(class_name, "scala.concurrent.ExecutionContext$parasitic$") == 0;        // 2.13
}

static uint64_t class_tag(jclass class) {
    uint64_t tag = tag_of(class) >> TAG_CLASS_AT;
    if (tag) return tag;
    char name[1024];
    identity_class_name(class, name, sizeof name);
    tag = registry_class(&(struct trace_class){name});
    tag |= (uint64_t)wraps(name) << CLASS_WRAPS_AT | (uint64_t)is_latch(name) << CLASS_LATCH_AT |
           (uint64_t)runs_inline(name) << CLASS_INLINE_AT;
    set_tag(class, tag << TAG_CLASS_AT | TAG_CLASS);
    return tag;
}

bool identity_runs_inline(JNIEnv *jni, jobject executor) {
    jclass class = (*jni)->GetObjectClass(jni, executor);
    bool at_once = class_tag(class) >> CLASS_INLINE_AT & 1;
    (*jni)->DeleteLocalRef(jni, class);
    return at_once;
}

// `other`: a field that is known already, or NULL.
static jfieldID payload_of(JNIEnv *jni, jclass wrapper, jfieldID other) {
    static const struct {
        const char *name, *descriptor;
    } fields[] = {{"runnable", "Ljava/lang/Runnable;"},
                  {"callable", "Ljava/util/concurrent/Callable;"},
                  {"task", "Ljava/util/concurrent/Callable;"},
                  {"fn", "Ljava/util/function/Supplier;"},
                  {"fn", "Ljava/util/function/Function;"},
                  {"fn", "Ljava/util/function/BiFunction;"},
                  {"fn", "Ljava/util/function/Consumer;"},
                  {"fn", "Ljava/lang/Runnable;"},
                  {"fn", "Ljava/util/function/BiConsumer;"},
                  {"nestedBehavior", "Lakka/actor/typed/Behavior;"},
                  {"nestedBehavior", "Lorg/apache/pekko/actor/typed/Behavior;"},
                  {"onMessage", "Lscala/Function2;"},
                  {"onMessage", "Lscala/Function1;"},
                  {"onMessage$1", "Lakka/japi/function/Function2;"},
                  {"onMessage$1", "Lorg/apache/pekko/japi/function/Function2;"},
                  {"arg$1", "Lakka/japi/function/Function2;"},
                  {"arg$1", "Lakka/japi/function/Function;"},
                  {"arg$1", "Lakka/japi/Function;"}, // of Behaviors.receiveMessage
                  {"arg$1", "Lorg/apache/pekko/japi/function/Function2;"},
                  {"arg$1", "Lorg/apache/pekko/japi/function/Function;"},
                  {"arg$1", "Lorg/apache/pekko/japi/Function;"},
                  {"arg$1", "Lorg/apache/pekko/japi/Procedure;"}}; // of Behaviors.receiveMessageWithSame
    jfieldID field = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !field; i++) {
        field = identity_field(jni, wrapper, fields[i].name, fields[i].descriptor);
        if (field == other) field = NULL;
    }
    return field;
}

// What the object wraps; NULL where nothing is known of it.
static jobject payload_in(JNIEnv *jni, const struct class_at_hand *class, jobject object) {
    jobject payload = class->payload ? (*jni)->GetObjectField(jni, object, class->payload) : NULL;
    return !payload && class->other_payload ? (*jni)->GetObjectField(jni, object, class->other_payload) : payload;
}

static enum carrier carrier_of(JNIEnv *jni, jclass class) {
    bool kept = tracer.attached;
    if ((kept || future_task_id) && future_task && (*jni)->IsAssignableFrom(jni, class, future_task))
        return CARRIER_FUTURE_TASK;
    if ((kept || fork_join_task_id) && fork_join_task && (*jni)->IsAssignableFrom(jni, class, fork_join_task))
        return CARRIER_FORK_JOIN_TASK;
    return CARRIER_OTHER;
}

static bool extends(JNIEnv *jni, jclass class, jclass super) {
    return super && (*jni)->IsAssignableFrom(jni, class, super);
}

// In place of the last, which was met least of late.
static const struct class_at_hand *take_class(JNIEnv *jni, struct thread_state *state, jclass class) {
    struct native_thread *native = state->native;
    if (native->class_count < CLASSES_AT_HAND) native->class_count++;
    struct class_at_hand *hand = &native->classes[native->class_count - 1];
    if (hand->class) (*jni)->DeleteWeakGlobalRef(jni, hand->class);
    uint64_t tag = class_tag(class);
    *hand = (struct class_at_hand){.class = (*jni)->NewWeakGlobalRef(jni, class),
                                   .id = (uint32_t)tag,
                                   .carrier = carrier_of(jni, class),
                                   .latch = tag >> CLASS_LATCH_AT & 1,
                                   .ownable = extends(jni, class, ownable)};
    hand->lock = (hand->ownable && (extends(jni, class, reentrant_sync) || extends(jni, class, read_write_sync))) ||
                 extends(jni, class, stamped_lock);
    hand->permits = hand->ownable && extends(jni, class, semaphore_sync);
    if (tag >> CLASS_WRAPS_AT & 1) {
        hand->payload = payload_of(jni, class, NULL);
        hand->other_payload = hand->payload ? payload_of(jni, class, hand->payload) : NULL;
        hand->dependent = identity_field(jni, class, "dep", "Ljava/util/concurrent/CompletableFuture;");
    }
    return hand;
}

// A class that is met again moves up by one, so that what is met most is found first.
static const struct class_at_hand *move_up(struct class_at_hand *hand, size_t i) {
    if (i == 0) return &hand[0];
    struct class_at_hand met = hand[i];
    hand[i] = hand[i - 1];
    hand[i - 1] = met;
    return &hand[i - 1];
}

// Valid until the next class is asked for. The local reference goes with the probe's own.
static const struct class_at_hand *class_of(JNIEnv *jni, struct thread_state *state, jobject object) {
    struct native_thread *native = state->native;
    jclass class = (*jni)->GetObjectClass(jni, object);
    for (size_t i = 0; i < native->class_count; i++) {
        if ((*jni)->IsSameObject(jni, class, native->classes[i].class)) return move_up(native->classes, i);
    }
    return take_class(jni, state, class);
}

uint32_t identity_class(JNIEnv *jni, struct thread_state *state, jobject object) {
    return object ? class_of(jni, state, object)->id : 0;
}

uint32_t identity_class_number(jclass class) {
    return (uint32_t)class_tag(class);
}

static bool has_signature(jclass class, const char *package, const char *name) {
    char *signature = NULL;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    size_t length = strlen(package);
    bool has = strncmp(signature + 1, package, length) == 0 && strcmp(signature + 1 + length, name) == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    return has;
}

static bool implements_itself(JNIEnv *jni, jclass class, const char *const *packages, const char *name) {
    jint count = 0;
    jclass *interfaces = NULL;
    bool does = false;
    if ((*tracer.jvmti)->GetImplementedInterfaces(tracer.jvmti, class, &count, &interfaces) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        for (const char *const *package = packages; *package; package++)
            does |= has_signature(interfaces[i], *package, name);
        (*jni)->DeleteLocalRef(jni, interfaces[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)interfaces);
    return does;
}

bool identity_implements(JNIEnv *jni, jclass class, const char *const *packages, const char *name) {
    bool does = false;
    for (jclass at = (*jni)->NewLocalRef(jni, class), super; at && !does; at = super) {
        does = implements_itself(jni, at, packages, name);
        super = (*jni)->GetSuperclass(jni, at);
        (*jni)->DeleteLocalRef(jni, at);
    }
    return does;
}

uint32_t identity_innermost_class(JNIEnv *jni, struct thread_state *state, jobject object) {
    enum { DEEPEST = 8 };
    const struct class_at_hand *class = class_of(jni, state, object);
    for (int depth = 0; depth < DEEPEST && class->payload; depth++) {
        jobject wrapped = payload_in(jni, class, object);
        if (!wrapped) break;
        object = wrapped;
        class = class_of(jni, state, object);
    }
    return class->id;
}

struct object_class identity_class_and_carrier(JNIEnv *jni, struct thread_state *state, jobject object) {
    const struct class_at_hand *class = object ? class_of(jni, state, object) : NULL;
    return class ? (struct object_class){class->id, class->carrier} : (struct object_class){0, CARRIER_OTHER};
}

bool identity_is_ownable(JNIEnv *jni, jobject object) {
    return ownable && (*jni)->IsInstanceOf(jni, object, ownable);
}

struct blocker_class identity_blocker_class(JNIEnv *jni, struct thread_state *state, jobject blocker) {
    const struct class_at_hand *class = blocker ? class_of(jni, state, blocker) : NULL;
    return class ? (struct blocker_class){class->id, class->latch, class->ownable, class->lock, class->permits}
                 : (struct blocker_class){0};
}

struct fork_parts identity_parts(JNIEnv *jni, struct thread_state *state, jobject task) {
    const struct class_at_hand *class = class_of(jni, state, task);
    return (struct fork_parts){
        .class = class->id,
        .payload = payload_in(jni, class, task),
        .dependent = class->dependent ? (*jni)->GetObjectField(jni, task, class->dependent) : NULL,
    };
}

struct payload identity_payload(JNIEnv *jni, struct thread_state *state, jobject object) {
    if (!object) return (struct payload){0};
    const struct class_at_hand *class = class_of(jni, state, object);
    uint32_t id = class->id;
    uint64_t task = identity_carried_by(jni, object, class->carrier);
    bool wraps = class->carrier == CARRIER_FORK_JOIN_TASK && class->payload;
    jobject wrapped = wraps ? payload_in(jni, class, object) : NULL;
    return (struct payload){task, wrapped ? identity_class(jni, state, wrapped) : id};
}

// What a pool tells was asked outside the lock, because that runs its code: of two threads that come here together one
// has asked in vain.
static uint32_t tagged_pool(jobject object, const struct trace_pool *pool) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint32_t id = pool_tags_get(object);
    if (id) return id;
    pthread_mutex_lock(&lock);
    id = pool_tags_get(object);
    if (!id) pool_tags_set(object, id = registry_pool(pool));
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t identity_timer(jobject queue) {
    return tagged_pool(queue, &(struct trace_pool){.kind = "java.util.Timer",
                                                   .queue = "java.util.TaskQueue",
                                                   .core = 1,
                                                   .maximum = 1,
                                                   .capacity = -1,
                                                   .keep_alive_ns = -1});
}

static uint32_t other_executor(JNIEnv *jni, struct thread_state *state, jobject executor) {
    jobject delegate = executor_rules_delegate(jni, executor);
    if (!delegate) {
        struct executor_rules rules;
        executor_rules_ask(jni, executor, &rules);
        return tagged_pool(executor, &rules.pool);
    }
    uint32_t id = (*jni)->IsSameObject(jni, delegate, executor) ? 0 : identity_executor(jni, state, delegate);
    (*jni)->DeleteLocalRef(jni, delegate);
    return id;
}

// ForkJoinPool's class is looked up when it is in use already: to do so earlier would initialise it, and make the
// common pool before the program has set the properties that size it. No lock is held meanwhile, since initialising it
// comes back here; two threads may both look, and what the second found is not needed.
struct fork_join_pool {
    jclass class;
    jfieldID id, common;
    jmethodID parallelism;
};
static _Atomic(struct fork_join_pool *) fork_join_pool;

static bool look_up(JNIEnv *jni, struct fork_join_pool *pool) {
    pool->class = identity_global_class(jni, "java/util/concurrent/ForkJoinPool");
    pool->id = identity_field(jni, pool->class, POOL_FIELD, "I");
    if (!pool->id && !tracer.attached) return false;
    pool->common = (*jni)->GetStaticFieldID(jni, pool->class, "common", "Ljava/util/concurrent/ForkJoinPool;");
    pool->parallelism = pool->common ? (*jni)->GetMethodID(jni, pool->class, "getParallelism", "()I") : NULL;
    (*jni)->ExceptionClear(jni);
    return pool->parallelism;
}

static const struct fork_join_pool *know_fork_join_pool(JNIEnv *jni) {
    struct fork_join_pool *known = atomic_load_explicit(&fork_join_pool, memory_order_acquire), *none = NULL;
    if (known) return known;
    struct fork_join_pool *found = malloc(sizeof *found);
    bool first = found && look_up(jni, found) && // publishes *found; pairs with the load above
                 atomic_compare_exchange_strong_explicit(&fork_join_pool, &none, found, memory_order_acq_rel,
                                                         memory_order_acquire);
    if (!first) free(found);
    return first ? found : none;
}

jint identity_parallelism(JNIEnv *jni, jobject pool) {
    const struct fork_join_pool *known = know_fork_join_pool(jni);
    struct bytecodes_pause pause = bytecodes_pause();
    jint number = known ? (*jni)->CallNonvirtualIntMethod(jni, pool, known->class, known->parallelism) : -1;
    if ((*jni)->ExceptionCheck(jni)) number = -1;
    (*jni)->ExceptionClear(jni);
    bytecodes_resume(pause);
    return number;
}

uint32_t identity_common_pool(JNIEnv *jni) {
    static _Atomic(uint32_t) id; // it lives as long as the JVM
    uint32_t pool = atomic_load_explicit(&id, memory_order_relaxed);
    const struct fork_join_pool *known = pool ? NULL : know_fork_join_pool(jni);
    jobject common = known ? (*jni)->GetStaticObjectField(jni, known->class, known->common) : NULL;
    if (!common) return pool;
    pool = known->id ? (uint32_t)(*jni)->GetIntField(jni, common, known->id) : pools_id(jni, common);
    (*jni)->DeleteLocalRef(jni, common);
    atomic_store_explicit(&id, pool, memory_order_relaxed);
    return pool;
}

// Of an executor by its tag, which is at hand from then on: as a rule a thread works for one, and the JVM looks tags up
// under a lock of all threads'.
static uint32_t take_other_executor(JNIEnv *jni, struct thread_state *state, jobject executor) {
    struct executor_at_hand *hand = &state->native->executor;
    if (hand->executor) (*jni)->DeleteWeakGlobalRef(jni, hand->executor);
    hand->executor = NULL;
    uint32_t id = pool_tags_get(executor);
    if (!id) id = other_executor(jni, state, executor); // which may ask for another's
    if (hand->executor) (*jni)->DeleteWeakGlobalRef(jni, hand->executor);
    hand->executor = (*jni)->NewWeakGlobalRef(jni, executor);
    return hand->pool = id;
}

uint32_t identity_executor(JNIEnv *jni, struct thread_state *state, jobject executor) {
    const struct executor_at_hand *hand = &state->native->executor;
    if (!executor) return 0;
    if (hand->executor && (*jni)->IsSameObject(jni, executor, hand->executor)) return hand->pool;
    if (tracer.attached && pools_is_pool(jni, executor)) return pools_id(jni, executor);
    if (pool_id && (*jni)->IsInstanceOf(jni, executor, pool_class)) {
        return (uint32_t)(*jni)->GetIntField(jni, executor, pool_id);
    }
    const struct fork_join_pool *known = atomic_load_explicit(&fork_join_pool, memory_order_acquire);
    if (known && (*jni)->IsInstanceOf(jni, executor, known->class)) {
        return (uint32_t)(*jni)->GetIntField(jni, executor, known->id);
    }
    return take_other_executor(jni, state, executor);
}

bool identity_is_worker(JNIEnv *jni, jobject thread) {
    return worker_class && (*jni)->IsInstanceOf(jni, thread, worker_class);
}

jobject identity_pool_of_worker(JNIEnv *jni, jobject worker) {
    return worker_pool ? (*jni)->GetObjectField(jni, worker, worker_pool) : NULL;
}

uint32_t identity_worker_pool(JNIEnv *jni, struct thread_state *state, jobject worker) {
    return worker_pool ? identity_executor(jni, state, identity_pool_of_worker(jni, worker)) : 0;
}
