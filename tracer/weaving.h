// SPDX-License-Identifier: Apache-2.0
// What is woven into which class, as the JVM defines it: the JDK's hooks (hooks.h); in the application's classes the
// call sites at which tasks may be spawned, and the bodies and constructors of classes that are tasks by their type;
// and in included classes every function.
#ifndef REHYPE_TRACER_WEAVING_H
#define REHYPE_TRACER_WEAVING_H

#include <jvmti.h>
#include <stdbool.h>

// The JVMTI callback. Leaves *new_bytes alone where there is nothing to weave, or where weaving fails (registered as a
// skip): the class is then defined as it was. Cost: under a microsecond for a class that is the JDK's, a few
// microseconds for one that needs no weaving.
void JNICALL weaving_class_loads(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader, const char *name,
                                 jobject domain, jint length, const unsigned char *bytes, jint *new_length,
                                 unsigned char **new_bytes);

// Retransforms these classes in one stop of the JVM, and links those first that are not linked, which may change their
// order; registers those that it refuses, or that can't be linked, as skips.
void weaving_retransform(JNIEnv *jni, jclass *classes, jint count);

// Retransforms all that is loaded, so that its bytecodes are counted. Takes some tenths of a second.
void weaving_count_loaded(JNIEnv *jni);

// Retransforms what is loaded and concerns the tracer, so that it is woven: for a JVM that ran before. The rest is
// woven as it loads. In batches, each of which stops the JVM for some milliseconds.
void weaving_begin(JNIEnv *jni);

// In a JVM that ran before, a class that is loaded and was not woven is to be read for the names of its places
// (woven_places.h). Any thread; once a class and recording, and 256 at most. It is done by weaving_begin, or by
// weaving_grant_wishes, for which the JVM stops; the class's code stays as it is.
void weaving_wish(JNIEnv *jni, jclass class);
bool weaving_has_wishes(void);
void weaving_grant_wishes(JNIEnv *jni);

// When weaving has been turned off (tracer.linkable): retransforms what was woven, so that every class is as it was.
void weaving_undo(JNIEnv *jni);

#endif
