// SPDX-License-Identifier: Apache-2.0
#include "tracer/container.h"

#include "tracer/identity.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct group {
    uint64_t number;  // the container's tag
    uint64_t awaited; // id of the end of them all; 0: nobody waits
    uint64_t open;    // threads in it
    struct group *next;
};

enum { BUCKETS = 1024, NO_NUMBER = 1, FIRST_NUMBER = 2 };

static jvmtiEnv *env; // NULL: none
static jfieldID of_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct group *buckets[BUCKETS];
static uint64_t next_number = FIRST_NUMBER;

void container_ask(JavaVM *vm) {
    if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) env = NULL;
    if (!env) return;
    jvmtiCapabilities wanted = {0};
    wanted.can_tag_objects = 1;
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE) return;
    (*env)->DisposeEnvironment(env);
    env = NULL;
}

static bool is_awaited_as_one(JNIEnv *jni, jobject container) {
    char name[256];
    jclass class = (*jni)->GetObjectClass(jni, container);
    identity_class_name(class, name, sizeof name);
    (*jni)->DeleteLocalRef(jni, class);
    return strcmp(name, "java.util.concurrent.ThreadPerTaskExecutor") == 0 ||
           strncmp(name, "jdk.internal.misc.ThreadFlock", strlen("jdk.internal.misc.ThreadFlock")) == 0;
}

// Two threads may both see it first, of whom the lock lets one be.
uint64_t container_number(JNIEnv *jni, jobject container) {
    jlong tag = 0;
    if (!env || !container || (*env)->GetTag(env, container, &tag) != JVMTI_ERROR_NONE) return 0;
    if (!tag) {
        bool wanted = is_awaited_as_one(jni, container);
        pthread_mutex_lock(&lock);
        (*env)->GetTag(env, container, &tag);
        if (!tag) (*env)->SetTag(env, container, tag = wanted ? (jlong)next_number++ : NO_NUMBER);
        pthread_mutex_unlock(&lock);
    }
    return tag == NO_NUMBER ? 0 : (uint64_t)tag;
}

void container_init(JNIEnv *jni) {
    if (env) of_thread = identity_field(jni, tracer.thread_class, "container", "Ljdk/internal/vm/ThreadContainer;");
}

void container_restart(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct group *group = buckets[i], *next; group; group = next) {
            next = group->next;
            free(group);
        }
        buckets[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t container_of_thread(JNIEnv *jni, jobject thread) {
    if (!of_thread) return 0;
    jobject container = (*jni)->GetObjectField(jni, thread, of_thread);
    uint64_t number = container_number(jni, container);
    (*jni)->DeleteLocalRef(jni, container);
    return number;
}

// The link to a container's group, or to NULL where it goes. With the lock held.
static struct group **find(uint64_t number) {
    struct group **link = &buckets[number % BUCKETS];
    while (*link && (*link)->number != number) link = &(*link)->next;
    return link;
}

void container_enter(uint64_t number) {
    if (!number) return;
    pthread_mutex_lock(&lock);
    struct group **link = find(number);
    if (!*link && (*link = calloc(1, sizeof **link))) (*link)->number = number;
    if (*link) (*link)->open++;
    pthread_mutex_unlock(&lock);
}

uint64_t container_leave(uint64_t number) {
    uint64_t awaited = 0;
    if (!number) return 0;
    pthread_mutex_lock(&lock);
    struct group **link = find(number), *group = *link;
    if (group && --group->open == 0) {
        awaited = group->awaited;
        *link = group->next;
        free(group);
    }
    pthread_mutex_unlock(&lock);
    return awaited;
}

uint64_t container_await(struct thread_state *state, uint64_t number) {
    uint64_t awaited = 0;
    if (!number) return 0;
    pthread_mutex_lock(&lock);
    struct group *group = *find(number);
    if (group && !group->awaited) group->awaited = task_id_new(state);
    if (group) awaited = group->awaited;
    pthread_mutex_unlock(&lock);
    return awaited;
}
