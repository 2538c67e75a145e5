// SPDX-License-Identifier: Apache-2.0
#include "tracer/loops.h"

#include "tracer/executors.h"
#include "tracer/identity.h"
#include "tracer/tracer.h"

#include <stdio.h>
#include <string.h>

enum { MORE_REFERENCES = 64 };

// Of the JDK's own, of which ForkJoinPool's workers are told by their threads' class.
static const struct {
    const char *class_name, *method;
    unsigned parts;
} own[] = {{"java/util/concurrent/ThreadPoolExecutor", "runWorker", LOOP_WORKS | LOOP_RUNS},
           {"java/util/concurrent/ThreadPoolExecutor", "getTask", LOOP_ASKS}};

struct loop_method {
    jmethodID method;
    unsigned parts; // of enum loop_part
    bool outer;     // the pool is what its object is nested in
};

static struct loop_method methods[LOOPS_MOST];
static _Atomic(size_t) method_count; // what is before it does not change

// Methods -------------------------------------------------------------------------------------------------------------

static unsigned part_of(enum executor_role role) {
    switch (role) {
    case EXECUTOR_WORKER:
        return LOOP_WORKS;
    case EXECUTOR_IDLE:
    case EXECUTOR_STANDBY:
        return LOOP_ASKS;
    case EXECUTOR_RUN:
        return LOOP_RUNS;
    case EXECUTOR_TAKE:
        return LOOP_TAKES;
    default:
        return 0;
    }
}

static bool is_named(struct utf8 name, const char *wanted) {
    return strlen(wanted) == name.length && memcmp(wanted, name.bytes, name.length) == 0;
}

// What methods of that name are, or, with NULL, all methods of the class.
static struct loop_method look_up(struct utf8 class_name, const char *name) {
    struct loop_method found = {.parts = 0};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (is_named(class_name, own[i].class_name) && (!name || strcmp(own[i].method, name) == 0))
            found.parts |= own[i].parts;
    }
    for (const struct executor_hook *hook = tracer.options.executors; hook; hook = hook->next) {
        const unsigned part = part_of(hook->role);
        if (!part || (name && strcmp(hook->method, name) != 0) || !executor_is_of(hook, class_name, NULL)) continue;
        found.parts |= part;
        if (part == LOOP_WORKS) found.outer = hook->outer;
    }
    return found;
}

static void know(jmethodID method, struct utf8 class_name) {
    const size_t count = atomic_load_explicit(&method_count, memory_order_relaxed);
    char *name = NULL;
    if (count == LOOPS_MOST ||
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) != JVMTI_ERROR_NONE)
        return;
    methods[count] = look_up(class_name, name);
    methods[count].method = method;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    if (methods[count].parts)
        atomic_store_explicit(&method_count, count + 1, memory_order_release); // pairs with find's
}

// The internal name of a class that a signature tells, Lcom/acme/Pool;.
static struct utf8 name_in(const char *signature) {
    const size_t length = strlen(signature);
    const bool is_class = length > 2 && length < UINT16_MAX && *signature == 'L';
    return (struct utf8){is_class ? signature + 1 : "", (uint16_t)(is_class ? length - 2 : 0)};
}

static void know_all_of(jclass class, struct utf8 class_name) {
    jint count = 0;
    jmethodID *all = NULL;
    if ((*tracer.jvmti)->GetClassMethods(tracer.jvmti, class, &count, &all) != JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < count; i++) know(all[i], class_name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)all);
}

static void know_class(jclass class) {
    char *signature = NULL;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) return;
    const struct utf8 name = name_in(signature);
    if (look_up(name, NULL).parts) know_all_of(class, name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
}

void loops_restart(JNIEnv *jni) {
    jclass *classes;
    jint count;
    atomic_store(&method_count, 0);
    if ((*tracer.jvmti)->GetLoadedClasses(tracer.jvmti, &count, &classes) != JVMTI_ERROR_NONE) return;
    (*jni)->EnsureLocalCapacity(jni, count + MORE_REFERENCES);
    for (jint i = 0; i < count; i++) {
        know_class(classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)classes);
}

static const struct loop_method *find(jmethodID method) {
    const size_t count = atomic_load_explicit(&method_count, memory_order_acquire); // pairs with know's
    for (size_t i = 0; i < count; i++) {
        if (methods[i].method == method) return &methods[i];
    }
    return NULL;
}

static struct loop_method find_obsolete(JNIEnv *jni, jmethodID method) {
    struct loop_method found = {.parts = 0};
    char *name = NULL, *signature = NULL;
    jclass class;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return found;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE)
        found = look_up(name_in(signature), name);
    if (name) (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    if (signature) (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    (*jni)->DeleteLocalRef(jni, class);
    return found;
}

static bool is_obsolete(jmethodID method) {
    jboolean obsolete = JNI_FALSE;
    return (*tracer.jvmti)->IsMethodObsolete(tracer.jvmti, method, &obsolete) == JVMTI_ERROR_NONE && obsolete;
}

void loops_know_obsolete(JNIEnv *jni, jmethodID method) {
    const size_t count = atomic_load_explicit(&method_count, memory_order_relaxed);
    if (count == LOOPS_MOST || find(method)) return;
    methods[count] = find_obsolete(jni, method);
    methods[count].method = method;
    if (methods[count].parts) atomic_store_explicit(&method_count, count + 1, memory_order_release);
}

unsigned loops_parts(JNIEnv *jni, jmethodID method) {
    const struct loop_method *known = find(method);
    if (known) return known->parts;
    return is_obsolete(method) ? find_obsolete(jni, method).parts : 0;
}

// Pools ---------------------------------------------------------------------------------------------------------------

size_t loops_wanted(struct local_wanted *wanted) {
    const size_t count = atomic_load_explicit(&method_count, memory_order_relaxed);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (methods[i].parts & (LOOP_WORKS | LOOP_TAKES)) wanted[found++] = (struct local_wanted){methods[i].method, 0};
    }
    return found;
}

// What an object is nested in, by its class's name.
static jobject outer_of(JNIEnv *jni, jobject nested, jmethodID method) {
    char *signature = NULL, type[512];
    jclass class;
    jobject outer = NULL;
    if ((*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE) return NULL;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
        const char *inner = strrchr(signature, '$');
        if (inner && snprintf(type, sizeof type, "%.*s;", (int)(inner - signature), signature) < (int)sizeof type) {
            jfieldID field = identity_field(jni, class, "this$0", type);
            if (field) outer = (*jni)->GetObjectField(jni, nested, field);
        }
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)signature);
    }
    (*jni)->DeleteLocalRef(jni, class);
    return outer;
}

jobject loops_pool(JNIEnv *jni, jmethodID method, jobject found) {
    const struct loop_method *known = found ? find(method) : NULL;
    if (!known || !(known->parts & (LOOP_WORKS | LOOP_TAKES))) return NULL;
    return known->outer ? outer_of(jni, found, method) : (*jni)->NewLocalRef(jni, found);
}
