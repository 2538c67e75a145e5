// SPDX-License-Identifier: Apache-2.0
#include "tracer/pool_tags.h"

#include "tracer/registry.h"

static jvmtiEnv *env;

static void JNICALL on_object_free(jvmtiEnv *jvmti, jlong tag) {
    registry_pool_collected((uint32_t)tag);
}

static bool listen(void) {
    jvmtiCapabilities wanted = {.can_tag_objects = 1, .can_generate_object_free_events = 1};
    jvmtiEventCallbacks callbacks = {.ObjectFree = on_object_free};
    return (*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE &&
           (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL) == JVMTI_ERROR_NONE;
}

bool pool_tags_init(JavaVM *vm) {
    if (env) return true;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) return false;
    if (listen()) return true;
    (*env)->DisposeEnvironment(env);
    env = NULL;
    return false;
}

uint32_t pool_tags_get(jobject pool) {
    jlong tag = 0;
    if (pool) (*env)->GetTag(env, pool, &tag);
    return (uint32_t)tag;
}

void pool_tags_set(jobject pool, uint32_t id) {
    if (pool) (*env)->SetTag(env, pool, (jlong)id);
}
