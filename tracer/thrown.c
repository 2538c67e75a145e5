// SPDX-License-Identifier: Apache-2.0
#include "tracer/thrown.h"

#include "tracer/application.h"
#include "tracer/generated.h"
#include "tracer/sites.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512, DEEPEST = 256 };

struct asked {
    jclass throwable;
    jmethodID stack, class_name, method_name; // of an exception, and of its frames
};

static bool find_asked(JNIEnv *jni, struct asked *asked) {
    jclass throwable = (*jni)->FindClass(jni, "java/lang/Throwable");
    jclass frame = throwable ? (*jni)->FindClass(jni, "java/lang/StackTraceElement") : NULL;
    if (frame) {
        asked->stack = (*jni)->GetMethodID(jni, throwable, "getStackTrace", "()[Ljava/lang/StackTraceElement;");
        asked->class_name = (*jni)->GetMethodID(jni, frame, "getClassName", "()Ljava/lang/String;");
        asked->method_name = (*jni)->GetMethodID(jni, frame, "getMethodName", "()Ljava/lang/String;");
    }
    asked->throwable = throwable;
    return frame && asked->stack && asked->class_name && asked->method_name;
}

static bool cleared(JNIEnv *jni) {
    const bool thrown = (*jni)->ExceptionCheck(jni);
    if (thrown) (*jni)->ExceptionClear(jni);
    return thrown;
}

// "com.acme.Shop.list"; returns the class name's length, 0: it has no room, or the JVM no memory.
static size_t name_frame(JNIEnv *jni, const struct asked *asked, jobject frame, char *text) {
    size_t used = 0, class_length = 0;
    const jmethodID parts[] = {asked->class_name, asked->method_name};
    for (size_t i = 0; i < 2; i++) {
        jstring part = (*jni)->CallObjectMethod(jni, frame, parts[i]);
        const size_t length = !cleared(jni) && part ? (size_t)(*jni)->GetStringUTFLength(jni, part) : NAME_BYTES;
        if (used + length + 2 > NAME_BYTES) return 0;
        (*jni)->GetStringUTFRegion(jni, part, 0, (*jni)->GetStringLength(jni, part), text + used);
        (*jni)->DeleteLocalRef(jni, part);
        used += length;
        if (i == 0) class_length = used;
        text[used++] = i == 0 ? '.' : '\0';
    }
    return class_length;
}

static bool is_of_jdk(const char *name) {
    return strncmp(name, "java.", 5) == 0 || strncmp(name, "jdk.", 4) == 0 || strncmp(name, "sun.", 4) == 0;
}

static bool is_own(const char *name, size_t class_length) {
    char dotted[NAME_BYTES], internal[NAME_BYTES];
    snprintf(dotted, sizeof dotted, "%.*s", (int)class_length, name);
    for (size_t i = 0; i <= class_length; i++) internal[i] = dotted[i] == '.' ? '/' : dotted[i];
    return !is_of_jdk(dotted) && !is_generated(internal, class_length) && application_has(dotted);
}

// The one nearest to `served`; "": none.
static bool find_own(JNIEnv *jni, const struct asked *asked, jobjectArray stack, const char *served, char *text) {
    const jsize count = (*jni)->GetArrayLength(jni, stack);
    char name[NAME_BYTES];
    *text = '\0';
    for (jsize i = 0; i < count && i < DEEPEST; i++) {
        jobject frame = (*jni)->GetObjectArrayElement(jni, stack, i);
        const size_t class_length = !cleared(jni) && frame ? name_frame(jni, asked, frame, name) : 0;
        (*jni)->DeleteLocalRef(jni, frame);
        if (class_length == 0) return false;
        if (strcmp(name, served) == 0) return *text;
        if (is_own(name, class_length)) memcpy(text, name, strlen(name) + 1);
    }
    return false;
}

bool thrown_served_by(JNIEnv *jni, jmethodID served, jthrowable exception, char *text, size_t size) {
    char serves[NAME_BYTES], found[NAME_BYTES];
    struct asked asked = {0};
    bool is = false;
    if (!served || !site_method_name(jni, served, serves, sizeof serves)) return false;
    if ((*jni)->PushLocalFrame(jni, 16) != 0) {
        cleared(jni);
        return false;
    }
    if (find_asked(jni, &asked) && (*jni)->IsInstanceOf(jni, exception, asked.throwable)) {
        // Not the program's own method, if it has one of that name.
        jobjectArray stack = (*jni)->CallNonvirtualObjectMethod(jni, exception, asked.throwable, asked.stack);
        is = !cleared(jni) && stack && find_own(jni, &asked, stack, serves, found) && strlen(found) < size;
    }
    cleared(jni);
    (*jni)->PopLocalFrame(jni, NULL);
    if (is) memcpy(text, found, strlen(found) + 1);
    return is;
}
