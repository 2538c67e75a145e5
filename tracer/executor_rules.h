// SPDX-License-Identifier: Apache-2.0
// The rules of pools that are none of the JDK's, as the lines of executors.conf say they can be asked for: size, queue,
// how long workers stay, and whether the pool grows before it queues. Cold: once for each pool, by its own code.
#ifndef REHYPE_TRACER_EXECUTOR_RULES_H
#define REHYPE_TRACER_EXECUTOR_RULES_H

#include "tracefile/tables.h"

#include <jni.h>

struct executor_rules {
    struct trace_pool pool; // its kind and queue are the two below
    char kind[512], queue[512];
};

void executor_rules_ask(JNIEnv *jni, jobject executor, struct executor_rules *rules);

// Whom an executor hands on to all that it gets, as a new local reference; NULL where no line says that it does.
jobject executor_rules_delegate(JNIEnv *jni, jobject executor);

// POOL_GROWS_FIRST and POOL_WAKES_FIRST of pools with such a queue, by its class ("com.acme.Queue").
uint32_t executor_rules_flags(const char *queue);

#endif
