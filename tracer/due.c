// SPDX-License-Identifier: Apache-2.0
#include "tracer/due.h"

#include "tracer/clock.h"
#include "tracer/identity.h"

#include <stdatomic.h>
#include <stdlib.h>

#define JUC "java/util/concurrent/"

enum { NS_PER_MS = 1000000 };

// The classes are looked up when one of their objects is there: they are initialised then. Two threads may both look.
struct fields {
    jclass class; // a global reference
    jfieldID time, period, pool;
    jlong now_offset; // of the class's own clock
};

static const struct fields none;

typedef struct fields look_up_fields(JNIEnv *jni);

static const struct fields *know(JNIEnv *jni, _Atomic(struct fields *) *known, look_up_fields *look_up) {
    struct fields *fields = atomic_load_explicit(known, memory_order_acquire), *nothing = NULL;
    if (fields) return fields;
    fields = malloc(sizeof *fields);
    if (!fields) return &none;
    *fields = look_up(jni);
    // Publishes *fields; pairs with the load above.
    if (atomic_compare_exchange_strong_explicit(known, &nothing, fields, memory_order_acq_rel, memory_order_acquire))
        return fields;
    free(fields);
    return nothing;
}

static bool has(JNIEnv *jni, const struct fields *fields, jobject task) {
    return fields->time && fields->period && (*jni)->IsInstanceOf(jni, task, fields->class);
}

static struct fields scheduled_fields(JNIEnv *jni) {
    jclass class = identity_global_class(jni, JUC "ScheduledThreadPoolExecutor$ScheduledFutureTask");
    return (struct fields){.class = class,
                           .time = identity_field(jni, class, "time", "J"),
                           .period = identity_field(jni, class, "period", "J")};
}

static jlong static_long(JNIEnv *jni, jclass class, const char *name) {
    jfieldID field = class ? (*jni)->GetStaticFieldID(jni, class, name, "J") : NULL;
    (*jni)->ExceptionClear(jni);
    return field ? (*jni)->GetStaticLongField(jni, class, field) : 0;
}

static struct fields fork_fields(JNIEnv *jni) {
    jclass class = identity_global_class(jni, JUC "DelayScheduler$ScheduledForkJoinTask");
    jclass scheduler = identity_global_class(jni, JUC "DelayScheduler");
    struct fields fields = {.class = class,
                            .time = identity_field(jni, class, "when", "J"),
                            .period = identity_field(jni, class, "nextDelay", "J"),
                            .pool = identity_field(jni, class, "pool", "L" JUC "ForkJoinPool;"),
                            .now_offset = static_long(jni, scheduler, "nanoTimeOffset")};
    if (scheduler) (*jni)->DeleteGlobalRef(jni, scheduler);
    return fields;
}

static struct fields timer_fields(JNIEnv *jni) {
    jclass class = identity_global_class(jni, "java/util/TimerTask");
    jfieldID time = identity_field(jni, class, "nextExecutionTime", "J");
    return (struct fields){.class = class, .time = time, .period = time};
}

// The JVM's System.nanoTime() is this clock.
static int64_t until(jlong nano_time) {
    return (int64_t)((uint64_t)nano_time - clock_ns(CLOCK_MONOTONIC));
}

bool due_of_scheduled(JNIEnv *jni, jobject task, struct due *due) {
    static _Atomic(struct fields *) known;
    const struct fields *fields = know(jni, &known, scheduled_fields);
    if (!has(jni, fields, task)) return false;
    due->delay_ns = until((*jni)->GetLongField(jni, task, fields->time));
    due->period_ns = (*jni)->GetLongField(jni, task, fields->period);
    return true;
}

bool due_of_fork(JNIEnv *jni, jobject task, jobject *pool, struct due *due) {
    static _Atomic(struct fields *) known;
    const struct fields *fields = know(jni, &known, fork_fields);
    if (!fields->pool || !has(jni, fields, task)) return false;
    *pool = (*jni)->GetObjectField(jni, task, fields->pool);
    due->delay_ns =
        until((jlong)((uint64_t)(*jni)->GetLongField(jni, task, fields->time) - (uint64_t)fields->now_offset));
    due->period_ns = (*jni)->GetLongField(jni, task, fields->period);
    return true;
}

static int64_t scale(jlong duration, int64_t ns) {
    const jlong most = INT64_MAX / ns;
    return (duration > most ? most : duration < -most ? -most : duration) * ns;
}

int64_t due_ns_of_ms(jlong ms) {
    return scale(ms, NS_PER_MS);
}

int64_t due_ns_of(JNIEnv *jni, jlong duration, jobject unit) {
    static const int64_t ns[] = {1, 1000, NS_PER_MS, 1000000000, 60000000000, 3600000000000, 86400000000000};
    static _Atomic(jfieldID) ordinal; // of the JVM's own class Enum
    jfieldID field = atomic_load_explicit(&ordinal, memory_order_relaxed);
    if (!unit) return 0;
    if (!field) {
        field = identity_field(jni, (*jni)->GetObjectClass(jni, unit), "ordinal", "I");
        atomic_store_explicit(&ordinal, field, memory_order_relaxed);
    }
    jint index = field ? (*jni)->GetIntField(jni, unit, field) : -1;
    return index >= 0 && index < (jint)(sizeof ns / sizeof *ns) ? scale(duration, ns[index]) : 0;
}

struct due due_of_timer(jlong time_ms, jlong period_ms) {
    return (struct due){(int64_t)((uint64_t)due_ns_of_ms(time_ms) - clock_ns(CLOCK_REALTIME)), due_ns_of_ms(period_ms)};
}

bool due_of_timer_task(JNIEnv *jni, jobject task, jlong period_ms, struct due *due) {
    static _Atomic(struct fields *) known;
    const struct fields *fields = know(jni, &known, timer_fields);
    if (!has(jni, fields, task)) return false;
    *due = due_of_timer((*jni)->GetLongField(jni, task, fields->time), period_ms);
    return true;
}
