// SPDX-License-Identifier: Apache-2.0
#include "tracer/bytecodes.h"

#include "tracer/registry.h"
#include "tracer/sites.h"

#include <stdio.h>
#include <string.h>

#define THREAD "java/lang/Thread"

enum { ACC_TRANSIENT_SYNTHETIC = 0x0080 | 0x1000, NAME_BYTES = 1024 };

extern const unsigned char helper_class_bytes[];
extern const size_t helper_class_length;

static jfieldID counter;

// The class -----------------------------------------------------------------------------------------------------------

bool bytecodes_ask(jvmtiCapabilities *wanted, struct error *error) {
    jvmtiCapabilities possible = {0};
    bool known = (*tracer.jvmti)->GetPotentialCapabilities(tracer.jvmti, &possible) == JVMTI_ERROR_NONE;
    if (known && possible.can_generate_early_class_hook_events) {
        wanted->can_generate_early_class_hook_events = 1;
        return true;
    }
    return error_set(error, STATUS_FAILED, "this JVM can't count bytecodes: that takes JDK 9 or later, from its start");
}

static bool hand_over(jvmtiEnv *jvmti, struct weaver *weaver, jint *new_length, unsigned char **new_bytes) {
    const uint8_t *woven;
    size_t length, skip_count;
    unsigned methods;
    const struct weave_skip *skips;
    unsigned char *copy;
    struct error error = ERROR_INIT;
    if (!weaver_add_field(weaver, BYTECODES_FIELD, "J", ACC_TRANSIENT_SYNTHETIC, &error) ||
        !weaver_finish(weaver, &woven, &length, &methods, &skips, &skip_count, &error) ||
        (*jvmti)->Allocate(jvmti, (jlong)length, &copy) != JVMTI_ERROR_NONE) {
        return false;
    }
    memcpy(copy, woven, length);
    *new_bytes = copy;
    *new_length = (jint)length;
    return true;
}

void bytecodes_first_class(jvmtiEnv *jvmti, const char *name, const unsigned char *bytes, jint length, jint *new_length,
                           unsigned char **new_bytes) {
    if (!name || strcmp(name, THREAD) != 0) return;
    struct error error = ERROR_INIT;
    struct weaver *weaver = weaver_open(bytes, (size_t)length, &error);
    if (weaver) hand_over(jvmti, weaver, new_length, new_bytes); // bytecodes_init tells of a failure
    weaver_close(weaver);
}

static bool is_counter(const struct class_method *method) {
    return utf8_is(method->name, "count") && utf8_is(method->descriptor, "(I)V");
}

struct weaver *bytecodes_helper(const uint8_t **bytes, size_t *length, struct error *error) {
    static const char add[] = "static " THREAD " currentThread ()L" THREAD ";; dup; "
                              "getfield " THREAD " " BYTECODES_FIELD " J; iload 0; i2l; ladd; "
                              "putfield " THREAD " " BYTECODES_FIELD " J";
    struct weaver *weaver = weaver_open(helper_class_bytes, helper_class_length, error);
    if (!weaver) return NULL;
    const struct class_file *class = weaver_class(weaver);
    const struct weave_skip *skips;
    size_t skip_count;
    unsigned woven;
    uint16_t m = 0;
    while (m < class->method_count && !is_counter(&class->methods[m])) m++;
    if (weaver_insert(weaver, m, INSERT_ENTRY, 0, add, error) &&
        weaver_finish(weaver, bytes, length, &woven, &skips, &skip_count, error)) {
        return weaver;
    }
    weaver_close(weaver);
    return NULL;
}

// Code during which it is not settled which thread is the current one, and the helper itself.
static bool is_left_out(struct utf8 class) {
    static const char *const names[] = {"java/lang/Rehype", "java/lang/VirtualThread"};
    static const char package[] = "jdk/internal/vm/";
    if (class.length >= sizeof package && memcmp(class.bytes, package, sizeof package - 1) == 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (utf8_is(class, names[i])) return true;
    }
    return false;
}

static void skip(const struct class_file *class, const struct class_method *method, const struct error *error) {
    char dotted[NAME_BYTES], name[2 * NAME_BYTES], why[ERROR_CAUSE_BYTES];
    dotted_name(class->name.bytes, class->name.length, dotted, sizeof dotted);
    snprintf(name, sizeof name, "%s.%.*s%.*s", dotted, method->name.length, method->name.bytes,
             method->descriptor.length, method->descriptor.bytes);
    registry_skip(name, error_text(error, why, sizeof why));
}

void bytecodes_weave(struct weaver *weaver) {
    const struct class_file *class = weaver_class(weaver);
    if (is_left_out(class->name)) return;
    for (uint16_t m = 0; m < class->method_count; m++) {
        struct error error = ERROR_INIT;
        if (class->methods[m].code_length == 0 || weaver_is_intrinsic(weaver, m)) continue;
        if (!weaver_count_blocks(weaver, m, "count", &error)) skip(class, &class->methods[m], &error);
    }
}

// The count -----------------------------------------------------------------------------------------------------------

bool bytecodes_init(JNIEnv *jni, struct error *error) {
    counter = (*jni)->GetFieldID(jni, tracer.thread_class, BYTECODES_FIELD, "J");
    if (counter) return true;
    (*jni)->ExceptionClear(jni);
    return error_set(error, STATUS_FAILED,
                     "bytecodes can't be counted: the JVM did not let the tracer add a field to java.lang.Thread");
}

uint64_t bytecodes_of(JNIEnv *jni, jthread thread) {
    return (uint64_t)(*jni)->GetLongField(jni, thread, counter);
}

// The calling thread and its JNI, or false.
static bool find_here(JNIEnv **jni, jthread *thread) {
    return (*tracer.vm)->GetEnv(tracer.vm, (void **)jni, JNI_VERSION_1_6) == JNI_OK &&
           (*tracer.jvmti)->GetCurrentThread(tracer.jvmti, thread) == JVMTI_ERROR_NONE && *thread;
}

uint64_t bytecodes_here(void) {
    JNIEnv *jni;
    jthread thread;
    if (!find_here(&jni, &thread)) return 0;
    uint64_t count = bytecodes_of(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
    return count;
}

static bool remember_thread(struct native_thread *native) {
    jthread thread;
    if (!find_here(&native->jni, &thread)) return false;
    native->thread = (*native->jni)->NewWeakGlobalRef(native->jni, thread);
    (*native->jni)->DeleteLocalRef(native->jni, thread);
    return native->thread;
}

// What carries no virtual threads is always the same Thread: to ask the JVM for it each time costs more than to read.
void record_bytecodes_here(struct thread_state *state, uint64_t ticks) {
    struct native_thread *native = state->native;
    bool same = !state->is_virtual && !state->is_carrier && (native->thread || remember_thread(native));
    record_bytecodes(state, ticks, same ? bytecodes_of(native->jni, native->thread) : bytecodes_here());
}

struct bytecodes_pause bytecodes_pause(void) {
    if (!tracer.options.bytecodes) return (struct bytecodes_pause){0};
    return (struct bytecodes_pause){true, bytecodes_here()};
}

void bytecodes_resume(struct bytecodes_pause pause) {
    JNIEnv *jni;
    jthread thread;
    if (!pause.counting || !find_here(&jni, &thread)) return;
    (*jni)->SetLongField(jni, thread, counter, (jlong)pause.before);
    (*jni)->DeleteLocalRef(jni, thread);
}
