// SPDX-License-Identifier: Apache-2.0
// The natives of java.lang.Rehype that have to do with resources (resources.h). As those of probes.c, none blocks,
// parks, throws or touches java.util.concurrent.
#include "tracer/connections.h"
#include "tracer/locks.h"
#include "tracer/permits.h"
#include "tracer/queues.h"

#include <java_lang_Rehype.h>

#define PROBE(result, name) JNIEXPORT result JNICALL Java_java_lang_Rehype_##name

// Whether the user wants what follows.
static bool is_wanted(void) {
    return !tracer.options.without_locks;
}

static uint64_t nanos(jlong limit_ns) {
    return limit_ns > 0 ? (uint64_t)limit_ns : 0;
}

PROBE(void, monitorEntered)(JNIEnv *jni, jclass helper, jobject monitor, jint site, jint place) {
    if (monitor) locks_monitor_entered(jni, monitor, (uint32_t)site, (uint32_t)place);
}

PROBE(void, monitorLeaves)(JNIEnv *jni, jclass helper, jobject monitor, jint place) {
    if (monitor) locks_monitor_leaves(jni, monitor, (uint32_t)place);
}

PROBE(void, monitorThrew)(JNIEnv *jni, jclass helper, jint place) {
    locks_monitor_threw((uint32_t)place);
}

PROBE(void, lockTaken)(JNIEnv *jni, jclass helper, jobject sync, jboolean shared) {
    locks_taken(jni, sync, shared);
}

PROBE(void, lockGivenBack)(JNIEnv *jni, jclass helper, jobject sync, jboolean shared) {
    locks_given_back(jni, sync, shared);
}

PROBE(void, lockConverted)(JNIEnv *jni, jclass helper, jobject sync, jboolean shared) {
    locks_converted(jni, sync, shared);
}

PROBE(void, lockDropped)(JNIEnv *jni, jclass helper, jobject sync) {
    locks_dropped(jni, sync);
}

PROBE(void, syncParks)(JNIEnv *jni, jclass helper, jobject sync, jint units, jint shared) {
    if (is_wanted()) locks_sync_parks(jni, sync, (uint32_t)units, shared, 0);
}

PROBE(void, syncParksFor)(JNIEnv *jni, jclass helper, jlong limit_ns, jobject sync, jint units, jint shared) {
    if (is_wanted()) locks_sync_parks(jni, sync, (uint32_t)units, shared, nanos(limit_ns));
}

PROBE(void, syncEnds)(JNIEnv *jni, jclass helper, jint outcome) {
    locks_sync_ends(outcome);
}

PROBE(void, permitsTaken)(JNIEnv *jni, jclass helper, jobject sync, jlong carried, jint units) {
    if (is_wanted()) permits_taken(jni, sync, (uint64_t)carried, (uint32_t)units);
}

PROBE(void, permitsGiven)(JNIEnv *jni, jclass helper, jobject sync, jlong carried, jint units) {
    if (units > 0 && is_wanted()) permits_given(jni, sync, (uint64_t)carried, (uint32_t)units);
}

PROBE(void, permitsReduced)(JNIEnv *jni, jclass helper, jobject sync, jlong carried, jint units) {
    if (units > 0 && is_wanted()) permits_reduced(jni, sync, (uint64_t)carried, (uint32_t)units);
}

PROBE(void, queuePut)(JNIEnv *jni, jclass helper, jobject queue, jlong carried) {
    if (is_wanted()) queues_put(jni, queue, (uint64_t)carried);
}

PROBE(void, queueTook)(JNIEnv *jni, jclass helper, jobject queue, jlong carried) {
    if (is_wanted()) queues_took(jni, queue, (uint64_t)carried);
}

PROBE(void, queueWaits)(JNIEnv *jni, jclass helper, jobject queue, jlong carried, jint for_room) {
    if (is_wanted()) queues_wait(jni, queue, (uint64_t)carried, for_room, 0);
}

PROBE(void, queueWaitsFor)
(JNIEnv *jni, jclass helper, jlong limit_ns, jobject queue, jlong carried, jint for_room) {
    if (is_wanted()) queues_wait(jni, queue, (uint64_t)carried, for_room, nanos(limit_ns));
}

PROBE(void, queueGaveUp)(JNIEnv *jni, jclass helper) {
    queues_give_up(GIVEN_UP_TIME);
}

PROBE(void, queueThrew)(JNIEnv *jni, jclass helper) {
    queues_give_up(GIVEN_UP_INTERRUPTED);
}

PROBE(void, poolAsks)(JNIEnv *jni, jclass helper, jobject pool, jlong limit_ms) {
    if (is_wanted()) connections_ask(jni, pool, limit_ms > 0 ? (uint64_t)limit_ms * 1000000 : 0);
}

PROBE(void, gateAsks)(JNIEnv *jni, jclass helper, jobject gate) {
    if (is_wanted()) connections_ask_leave(jni, gate);
}

PROBE(void, poolGives)(JNIEnv *jni, jclass helper, jobject connection) {
    if (is_wanted()) connections_given(jni, connection != NULL);
}

PROBE(void, poolThrew)(JNIEnv *jni, jclass helper) {
    if (is_wanted()) connections_refused();
}

PROBE(void, poolTakesBack)(JNIEnv *jni, jclass helper, jobject pool) {
    if (is_wanted()) connections_returned(jni, pool);
}
