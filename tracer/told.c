// SPDX-License-Identifier: Apache-2.0
#include "tracer/told.h"

#include "tracer/classfile.h"
#include "tracer/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the first class that had the step; of others it is asked each time.
struct telling_known {
    jweak class;
    jmethodID method;
    jfieldID field;
};

const char *told_fails(const struct telling *telling) {
    const char *fails = NULL;
    for (; telling && !fails; telling = telling->behind)
        fails = atomic_load_explicit(&telling->fails, memory_order_relaxed);
    return fails;
}

static bool is_of_interface(JNIEnv *jni, jclass class, const char *name) {
    jint count = 0;
    jclass *interfaces = NULL;
    bool is = false;
    if ((*tracer.jvmti)->GetImplementedInterfaces(tracer.jvmti, class, &count, &interfaces) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        is = is || told_is(jni, interfaces[i], name);
        (*jni)->DeleteLocalRef(jni, interfaces[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)interfaces);
    return is;
}

bool told_is(JNIEnv *jni, jclass class, const char *name) {
    char own[512];
    identity_class_name(class, own, sizeof own);
    const size_t length = strlen(own), wanted = strlen(name);
    const bool ends = length >= wanted && strcmp(own + length - wanted, name) == 0; // it may be a relocated copy
    if ((ends && (length == wanted || own[length - wanted - 1] == '.')) || is_of_interface(jni, class, name))
        return true;
    jclass super = (*jni)->GetSuperclass(jni, class);
    const bool is = super && told_is(jni, super, name);
    if (super) (*jni)->DeleteLocalRef(jni, super);
    return is;
}

static bool find_as(JNIEnv *jni, const struct telling_step *step, jclass class, const char *type,
                    struct telling_known *found) {
    if (step->is_method)
        found->method = (*jni)->GetMethodID(jni, class, step->name, type);
    else
        found->field = (*jni)->GetFieldID(jni, class, step->name, type);
    if ((*jni)->ExceptionCheck(jni)) (*jni)->ExceptionClear(jni);
    return found->method || found->field;
}

// What stands before a package's first two parts in the name of a class, whose library was relocated if anything does.
static struct utf8 prefix_in(const char *internal_class, const char *package) {
    char root[80];
    const char *first = strchr(package, '/'), *second = first ? strchr(first + 1, '/') : NULL;
    const bool fits = second && (size_t)(second - package) < sizeof root - 2;
    snprintf(root, sizeof root, "/%.*s/", fits ? (int)(second - package) : 0, package);
    const char *at = fits ? strstr(internal_class, root) : NULL;
    return (struct utf8){internal_class, at ? (uint16_t)(at + 1 - internal_class) : 0};
}

// The descriptor as a relocated copy of the library has it. false: it is the same, or has no room.
static bool relocate(const char *internal_class, const char *type, char *text, size_t size) {
    size_t used = 0;
    bool changed = false;
    for (; *type && used + 1 < size; type++) {
        text[used++] = *type;
        if (*type != 'L') continue;
        const struct utf8 prefix = prefix_in(internal_class, type + 1);
        const size_t name = strcspn(type + 1, ";");
        if (used + prefix.length + name >= size) return false;
        memcpy(text + used, prefix.bytes, prefix.length);
        memcpy(text + used + prefix.length, type + 1, name);
        used += prefix.length + name;
        type += name;
        changed |= prefix.length > 0;
    }
    text[used] = '\0';
    return changed && !*type;
}

static bool find(JNIEnv *jni, const struct telling_step *step, jclass class, struct telling_known *found) {
    char name[512], type[512];
    if (find_as(jni, step, class, step->type, found)) return true;
    identity_class_name(class, name, sizeof name);
    for (char *at = name; *at; at++) {
        if (*at == '.') *at = '/';
    }
    return relocate(name, step->type, type, sizeof type) && find_as(jni, step, class, type, found);
}

static void remember(JNIEnv *jni, struct telling_step *step, jclass class, struct telling_known found) {
    struct telling_known *kept = malloc(sizeof *kept), *none = NULL;
    if (!kept) return;
    *kept = found;
    kept->class = (*jni)->NewWeakGlobalRef(jni, class);
    if (kept->class && atomic_compare_exchange_strong(&step->known, &none, kept)) return;
    if (kept->class) (*jni)->DeleteWeakGlobalRef(jni, kept->class);
    free(kept);
}

static bool know(JNIEnv *jni, struct telling_step *step, jobject object, struct telling_known *found) {
    const struct telling_known *known = atomic_load_explicit(&step->known, memory_order_acquire);
    jclass class = (*jni)->GetObjectClass(jni, object);
    bool there = known && (*jni)->IsSameObject(jni, class, known->class);
    if (there) *found = *known;
    if (!there && (there = find(jni, step, class, found)) && !known) remember(jni, step, class, *found);
    (*jni)->DeleteLocalRef(jni, class);
    return there;
}

static jstring argument_of(JNIEnv *jni, struct telling_step *step) {
    jstring known = atomic_load_explicit(&step->string, memory_order_acquire), none = NULL;
    if (known) return known;
    jstring made = (*jni)->NewStringUTF(jni, step->argument);
    if (!made) (*jni)->ExceptionClear(jni);
    jstring kept = made ? (*jni)->NewGlobalRef(jni, made) : NULL;
    if (made) (*jni)->DeleteLocalRef(jni, made);
    if (!kept || atomic_compare_exchange_strong(&step->string, &none, kept)) return kept;
    (*jni)->DeleteGlobalRef(jni, kept);
    return none;
}

static bool gives_number(const struct telling_step *step) {
    const char type = telling_step_gives(step);
    return type == 'I' || type == 'Z';
}

// One step: what it gives.
static bool take(JNIEnv *jni, struct telling_step *step, jobject object, jvalue *given) {
    struct telling_known found = {0};
    if (!know(jni, step, object, &found)) return false;
    if (!step->is_method)
        given->l = (*jni)->GetObjectField(jni, object, found.field);
    else if (telling_step_gives(step) == 'Z')
        given->i = (*jni)->CallBooleanMethod(jni, object, found.method) != JNI_FALSE;
    else if (gives_number(step))
        given->i = (*jni)->CallIntMethod(jni, object, found.method);
    else if (step->argument)
        given->l = (*jni)->CallObjectMethod(jni, object, found.method, argument_of(jni, step));
    else
        given->l = (*jni)->CallObjectMethod(jni, object, found.method);
    if (!(*jni)->ExceptionCheck(jni)) return true;
    (*jni)->ExceptionClear(jni);
    *given = (jvalue){0};
    return true;
}

static bool follow(JNIEnv *jni, struct telling *telling, jobject root, jvalue *given) {
    jobject at = root ? (*jni)->NewLocalRef(jni, root) : NULL;
    *given = (jvalue){.l = at};
    for (unsigned i = 0; i < telling->count && at; i++) {
        if (!take(jni, &telling->steps[i], at, given)) {
            atomic_store_explicit(&telling->fails, telling->steps[i].name, memory_order_relaxed);
            *given = (jvalue){0};
        }
        (*jni)->DeleteLocalRef(jni, at);
        at = i + 1 < telling->count ? given->l : NULL;
    }
    return !atomic_load_explicit(&telling->fails, memory_order_relaxed);
}

static bool tells_number(const struct telling *telling) {
    return telling->count > 0 && gives_number(&telling->steps[telling->count - 1]);
}

jobject told_object(JNIEnv *jni, struct telling *telling, jobject root) {
    jvalue given;
    return !tells_number(telling) && follow(jni, telling, root, &given) ? given.l : NULL;
}

bool told_number(JNIEnv *jni, struct telling *telling, jobject root, jint *number) {
    jvalue given;
    if (!root || !tells_number(telling) || !follow(jni, telling, root, &given)) return false;
    *number = given.i;
    return true;
}

// A string, or what the object's toString() gives.
static jstring string_of(JNIEnv *jni, jobject object) {
    static _Atomic(jclass) string_class;
    static _Atomic(jmethodID) to_string;
    jclass class = atomic_load(&string_class);
    if (!class) {
        jclass found = (*jni)->FindClass(jni, "java/lang/String");
        jclass object_class = (*jni)->FindClass(jni, "java/lang/Object");
        if (!found || !object_class) {
            (*jni)->ExceptionClear(jni);
            return NULL;
        }
        atomic_store(&to_string, (*jni)->GetMethodID(jni, object_class, "toString", "()Ljava/lang/String;"));
        atomic_store(&string_class, class = (*jni)->NewGlobalRef(jni, found));
    }
    if ((*jni)->IsInstanceOf(jni, object, class)) return (*jni)->NewLocalRef(jni, object);
    jstring text = (*jni)->CallObjectMethod(jni, object, atomic_load(&to_string));
    if ((*jni)->ExceptionCheck(jni)) {
        (*jni)->ExceptionClear(jni);
        text = NULL;
    }
    return text;
}

bool told_text(JNIEnv *jni, struct telling *telling, jobject root, char *text, size_t size) {
    jobject object = told_object(jni, telling, root);
    jstring string = object ? string_of(jni, object) : NULL;
    const jsize length = string ? (*jni)->GetStringUTFLength(jni, string) : 0;
    const bool fits = string && (size_t)length < size;
    if (fits) (*jni)->GetStringUTFRegion(jni, string, 0, (*jni)->GetStringLength(jni, string), text);
    if (fits) text[length] = '\0';
    if (string) (*jni)->DeleteLocalRef(jni, string);
    if (object) (*jni)->DeleteLocalRef(jni, object);
    return fits && length > 0;
}

bool told_path(JNIEnv *jni, struct telling *telling, jobject root, char *text, size_t size) {
    char part[512];
    size_t used = (size_t)snprintf(text, size, "%s", telling->is_rooted ? "/" : "");
    bool any = false;
    for (; telling; telling = telling->behind) {
        if (!told_text(jni, telling, root, part, sizeof part)) continue;
        any = true;
        const bool cut = used > 0 && text[used - 1] == '/', begins = *part == '/';
        const int length =
            snprintf(text + used, size - used, "%s%s", used > 0 && !cut && !begins ? "/" : "", part + (cut && begins));
        if ((size_t)length >= size - used) return false;
        used += (size_t)length;
    }
    return any;
}
