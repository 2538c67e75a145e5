// SPDX-License-Identifier: Apache-2.0
#include "tracer/locals.h"

#include "tracer/stops.h"
#include "tracer/tracer.h"

#include <stdlib.h>

enum { FOUND_MOST = 8192, INNERMOST = 4 };

// While the JVM stands still. Nothing of the JVM's may be called.
struct search {
    const struct locals_wanted *wanted;
    struct locals *locals;
    jlong objects; // each that is new has its number, from 1 on, as its tag
};

static bool is_wanted(const struct locals_wanted *wanted, const jvmtiHeapReferenceInfoStackLocal *local) {
    for (size_t i = 0; i < wanted->method_count; i++) {
        if (wanted->of_methods[i].method == local->method && wanted->of_methods[i].slot == local->slot) return true;
    }
    return false;
}

static int compare_numbers(const void *a, const void *b) {
    const jlong *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_of_wanted(const struct locals_wanted *wanted, const jvmtiHeapReferenceInfoStackLocal *local) {
    return local->depth < INNERMOST && wanted->thread_count > 0 &&
           bsearch(&local->thread_id, wanted->threads, wanted->thread_count, sizeof *wanted->threads, compare_numbers);
}

static void find(struct search *search, const jvmtiHeapReferenceInfoStackLocal *local, jmethodID method, jlong *tag) {
    struct locals *locals = search->locals;
    if (locals->count == FOUND_MOST) return;
    if (!*tag) *tag = ++search->objects;
    locals->found[locals->count++] =
        (struct local_found){local->thread_id, local->depth, method, local->slot, (jint)*tag - 1};
}

// Threads and their stacks come first; from the first other reference on nothing more is wanted, and so the heap is not
// marked.
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
                                 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
                                 void *data) {
    struct search *search = data;
    const jvmtiHeapReferenceInfoStackLocal *local = &info->stack_local;
    if (kind == JVMTI_HEAP_REFERENCE_THREAD || kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) return 0;
    if (kind != JVMTI_HEAP_REFERENCE_STACK_LOCAL) return JVMTI_VISIT_ABORT;
    if (is_wanted(search->wanted, local)) find(search, local, local->method, tag);
    if (is_of_wanted(search->wanted, local)) find(search, local, NULL, tag);
    return 0;
}

static jvmtiEnv *open_env(void) {
    jvmtiEnv *env;
    jvmtiCapabilities wanted = {.can_tag_objects = 1};
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK) return NULL;
    if ((*env)->AddCapabilities(env, &wanted) == JVMTI_ERROR_NONE) return env;
    (*env)->DisposeEnvironment(env);
    return NULL;
}

// By their tags; NULL stays what was collected meanwhile.
static void take_objects(JNIEnv *jni, jvmtiEnv *env, jlong count, jobject *objects) {
    jlong *tags = malloc((size_t)count * sizeof *tags), *tagged;
    jobject *tagged_objects;
    jint found = 0;
    for (jlong i = 0; tags && i < count; i++) tags[i] = i + 1;
    (*jni)->EnsureLocalCapacity(jni, (jint)count);
    if (tags &&
        (*env)->GetObjectsWithTags(env, (jint)count, tags, &found, &tagged_objects, &tagged) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < found; i++) objects[tagged[i] - 1] = tagged_objects[i];
        (*env)->Deallocate(env, (unsigned char *)tagged_objects);
        (*env)->Deallocate(env, (unsigned char *)tagged);
    }
    free(tags);
}

void locals_take(JNIEnv *jni, const struct locals_wanted *wanted, struct locals *locals) {
    *locals = (struct locals){.found = malloc(FOUND_MOST * sizeof *locals->found)};
    struct search search = {wanted, locals, 0};
    jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_reference};
    jvmtiEnv *env = locals->found ? open_env() : NULL;
    if (!env) return;
    struct stop_mark stop;
    stop_begin(&stop);
    (*env)->FollowReferences(env, 0, NULL, NULL, &callbacks, &search);
    stop_end(&stop, STOP_TO_LOOK);
    locals->objects = search.objects ? calloc((size_t)search.objects, sizeof *locals->objects) : NULL;
    if (locals->objects)
        take_objects(jni, env, search.objects, locals->objects);
    else
        locals->count = 0;
    (*env)->DisposeEnvironment(env);
}

jobject locals_find(const struct locals *locals, jlong thread, jint depth, jmethodID method, jint slot) {
    for (size_t i = 0; i < locals->count; i++) {
        const struct local_found *found = &locals->found[i];
        if (found->thread == thread && found->depth == depth && found->method == method && found->slot == slot)
            return locals->objects[found->place];
    }
    return NULL;
}

jobject locals_outermost(const struct locals *locals, jlong thread, jmethodID method, jint slot) {
    const struct local_found *outermost = NULL;
    for (size_t i = 0; i < locals->count; i++) {
        const struct local_found *found = &locals->found[i];
        const bool is = found->thread == thread && found->method == method && found->slot == slot;
        if (is && (!outermost || found->depth > outermost->depth)) outermost = found;
    }
    return outermost ? locals->objects[outermost->place] : NULL;
}

jobject locals_next(const struct locals *locals, jlong thread, size_t *next) {
    while (*next < locals->count) {
        const struct local_found *found = &locals->found[(*next)++];
        if (found->thread == thread && !found->method && locals->objects[found->place])
            return locals->objects[found->place];
    }
    return NULL;
}

void locals_release(JNIEnv *jni, struct locals *locals) {
    jint most = 0;
    for (size_t i = 0; i < locals->count; i++) {
        if (locals->found[i].place >= most) most = locals->found[i].place + 1;
    }
    for (jint i = 0; i < most; i++) (*jni)->DeleteLocalRef(jni, locals->objects[i]);
    free(locals->found);
    free(locals->objects);
    *locals = (struct locals){0};
}
