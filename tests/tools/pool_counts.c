// SPDX-License-Identifier: GPL-3.0-or-later
// A JVMTI agent that asks each ThreadPoolExecutor for its getCompletedTaskCount as the JVM ends, to hold a trace
// against:
//   java -agentpath:libpool_counts.so=FILE ...
// FILE has a line a pool, "NAME <tab> COMPLETED", by the name of its first thread. Pools are found by what their
// threads are told to run as they start, so one without threads is none.
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS_MAX = 1000 };

struct pool {
    jobject executor; // a global reference: nothing collects it before it was asked
    char name[200];
};

static struct {
    pthread_mutex_t lock;
    jvmtiEnv *jvmti;
    const char *file;
    struct pool pools[POOLS_MAX];
    int pool_count;
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static jfieldID field(JNIEnv *jni, jclass class, const char *name, const char *type) {
    jfieldID id = (*jni)->GetFieldID(jni, class, name, type);
    if (!id) (*jni)->ExceptionClear(jni);
    return id;
}

// What the thread is to run: in the field `target`, from JDK 19 on in `task` of its `holder`.
static jobject thread_target(JNIEnv *jni, jthread thread) {
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jfieldID target = field(jni, class, "target", "Ljava/lang/Runnable;");
    if (target) return (*jni)->GetObjectField(jni, thread, target);
    jobject holder = (*jni)->GetObjectField(jni, thread, field(jni, class, "holder", "Ljava/lang/Thread$FieldHolder;"));
    if (!holder) return NULL;
    jclass holder_class = (*jni)->GetObjectClass(jni, holder);
    return (*jni)->GetObjectField(jni, holder, field(jni, holder_class, "task", "Ljava/lang/Runnable;"));
}

static void add_pool(JNIEnv *jni, jthread thread, jobject executor) {
    for (int i = 0; i < counts.pool_count; i++) {
        if ((*jni)->IsSameObject(jni, counts.pools[i].executor, executor)) return;
    }
    if (counts.pool_count == POOLS_MAX) return;
    struct pool *pool = &counts.pools[counts.pool_count++];
    pool->executor = (*jni)->NewGlobalRef(jni, executor);
    jvmtiThreadInfo info;
    if ((*counts.jvmti)->GetThreadInfo(counts.jvmti, thread, &info) != JVMTI_ERROR_NONE) return;
    snprintf(pool->name, sizeof pool->name, "%s", info.name);
    (*counts.jvmti)->Deallocate(counts.jvmti, (unsigned char *)info.name);
    pool->name[strcspn(pool->name, "\t\n")] = '\0';
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    jobject target = thread_target(jni, thread);
    jclass worker = (*jni)->FindClass(jni, "java/util/concurrent/ThreadPoolExecutor$Worker");
    if (!target || !(*jni)->IsInstanceOf(jni, target, worker)) return;
    jfieldID outer = field(jni, worker, "this$0", "Ljava/util/concurrent/ThreadPoolExecutor;");
    pthread_mutex_lock(&counts.lock);
    add_pool(jni, thread, (*jni)->GetObjectField(jni, target, outer));
    pthread_mutex_unlock(&counts.lock);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, NULL);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni) {
    FILE *file = fopen(counts.file, "w");
    if (!file) return;
    jclass class = (*jni)->FindClass(jni, "java/util/concurrent/ThreadPoolExecutor");
    jmethodID completed = (*jni)->GetMethodID(jni, class, "getCompletedTaskCount", "()J");
    for (int i = 0; i < counts.pool_count; i++) {
        jlong count = (*jni)->CallLongMethod(jni, counts.pools[i].executor, completed);
        fprintf(file, "%s\t%lld\n", counts.pools[i].name, (long long)count);
    }
    fclose(file);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    if (!options || (*vm)->GetEnv(vm, (void **)&counts.jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
    counts.file = strdup(options);
    jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .VMDeath = on_vm_death, .ThreadStart = on_thread_start};
    (*counts.jvmti)->SetEventCallbacks(counts.jvmti, &callbacks, sizeof callbacks);
    (*counts.jvmti)->SetEventNotificationMode(counts.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*counts.jvmti)->SetEventNotificationMode(counts.jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}
