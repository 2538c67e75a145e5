// SPDX-License-Identifier: Apache-2.0
#include "tracer/lookup.h"

#include "tracer/identity.h"

static jclass class_class; // java.lang.Class
static jmethodID for_name;

void lookup_init(JNIEnv *jni) {
    class_class = identity_global_class(jni, "java/lang/Class");
    for_name = class_class ? (*jni)->GetStaticMethodID(jni, class_class, "forName",
                                                       "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")
                           : NULL;
    (*jni)->ExceptionClear(jni);
}

jclass lookup_class(JNIEnv *jni, jobject loader, const char *dotted) {
    jstring name = for_name ? (*jni)->NewStringUTF(jni, dotted) : NULL;
    jclass class = name ? (*jni)->CallStaticObjectMethod(jni, class_class, for_name, name, JNI_FALSE, loader) : NULL;
    bool failed = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    if (name) (*jni)->DeleteLocalRef(jni, name);
    return failed ? NULL : class;
}
