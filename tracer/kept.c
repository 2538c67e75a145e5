// SPDX-License-Identifier: Apache-2.0
#include "tracer/kept.h"

static jvmtiEnv *env;

bool kept_init(JavaVM *vm) {
    if (env) return true;
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) return false;
    jvmtiCapabilities wanted = {.can_tag_objects = 1};
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE) return true;
    (*env)->DisposeEnvironment(env);
    env = NULL;
    return false;
}

uint64_t kept_get(jobject object) {
    jlong number = 0;
    if (env && object) (*env)->GetTag(env, object, &number);
    return (uint64_t)number;
}

void kept_set(jobject object, uint64_t number) {
    if (env && object) (*env)->SetTag(env, object, (jlong)number);
}
