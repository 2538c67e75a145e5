// SPDX-License-Identifier: Apache-2.0
// When delayed and periodic tasks are due, as the JDK's own objects have it in their fields: read as such a task is
// handed over, or made ready for its next time. Any thread; some 50 ns, of which most is to ask for the time.
#ifndef REHYPE_TRACER_DUE_H
#define REHYPE_TRACER_DUE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct due {
    int64_t delay_ns;  // from now; it is late where that is negative
    int64_t period_ns; // 0: once; above 0: at a fixed rate; below 0: with a fixed delay
};

// Of a ScheduledThreadPoolExecutor's task; false where it is none, since the program decorates its tasks.
bool due_of_scheduled(JNIEnv *jni, jobject task, struct due *due);

// Of a ForkJoinPool's delayed task (JDK 25 and later), and the pool, which is NULL where it is done with.
bool due_of_fork(JNIEnv *jni, jobject task, jobject *pool, struct due *due);

// Of java.util.Timer: by the time in ms since 1970; and of a periodic task's next time.
struct due due_of_timer(jlong time_ms, jlong period_ms);
bool due_of_timer_task(JNIEnv *jni, jobject task, jlong period_ms, struct due *due);

// A time in ms, or in a java.util.concurrent.TimeUnit, in ns; 292 years at most. 0 without a unit.
int64_t due_ns_of_ms(jlong ms);
int64_t due_ns_of(JNIEnv *jni, jlong duration, jobject unit);

#endif
