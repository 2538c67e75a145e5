// SPDX-License-Identifier: Apache-2.0
#include "tracer/supertypes.h"

#include "tracer/lookup.h"
#include "tracer/sites.h"
#include "tracer/tracer.h"

#include <string.h>

enum { DEEPEST = 32, NAME_BYTES = 1024 };

// Classes whose supertypes this thread is asking for. A class that comes up again on the way is a circle, which the JVM
// must be left to find by itself.
static __thread struct {
    struct utf8 name[DEEPEST];
    unsigned depth;
} under_way __attribute__((tls_model("initial-exec")));

static bool is_under_way(struct utf8 name) {
    for (unsigned i = 0; i < under_way.depth; i++) {
        struct utf8 other = under_way.name[i];
        if (other.length == name.length && memcmp(other.bytes, name.bytes, name.length) == 0) return true;
    }
    return under_way.depth == DEEPEST;
}

// java.* is the boot loader's for every loader: these need no look.
static bool is_task_name(struct utf8 name) {
    return utf8_is(name, "java/lang/Runnable") || utf8_is(name, "java/util/concurrent/Callable");
}

static bool is_plain_name(struct utf8 name) {
    return utf8_is(name, "java/lang/Object") || utf8_is(name, "java/io/Serializable") ||
           utf8_is(name, "java/lang/Cloneable") || utf8_is(name, "java/lang/Comparable");
}

static bool is_task(JNIEnv *jni, jobject loader, struct utf8 name) {
    char dotted[NAME_BYTES];
    if (name.length == 0 || name.length >= sizeof dotted || is_plain_name(name)) return false;
    if (is_task_name(name)) return true;
    dotted_name(name.bytes, name.length, dotted, sizeof dotted);
    // A failure is the JVM's to report to whom it concerns: it will meet the same again.
    jclass class = lookup_class(jni, loader, dotted);
    bool task = class && ((*jni)->IsAssignableFrom(jni, class, tracer.runnable) ||
                          (*jni)->IsAssignableFrom(jni, class, tracer.callable));
    if (class) (*jni)->DeleteLocalRef(jni, class);
    return task;
}

struct supertypes supertypes_of(JNIEnv *jni, jobject loader, const struct class_file *class) {
    struct supertypes found = {false, false};
    if (is_under_way(class->name)) return found;
    under_way.name[under_way.depth++] = class->name;
    found.inherits_it = is_task(jni, loader, class->super_name);
    found.task = found.inherits_it;
    for (uint16_t i = 0; i < class->interface_count && !found.task; i++) {
        found.task = is_task(jni, loader, class->interfaces[i]);
    }
    under_way.depth--;
    return found;
}
