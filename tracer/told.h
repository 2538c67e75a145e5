// SPDX-License-Identifier: Apache-2.0
// Follows the paths of telling.h from objects. What it meets of the program's own code runs on the calling thread: the
// caller hides that (thread_state_hide). Any thread. What is not there (a null, an exception) gives NULL, or false. A
// step that a class does not have ends the path for good. Cost: some 50 ns a step, the first one of each more.
#ifndef REHYPE_TRACER_TOLD_H
#define REHYPE_TRACER_TOLD_H

#include "tracer/telling.h"

#include <jni.h>

// "com.acme.Message", or a class or interface that is below it. Asks the JVM for its supertypes by name: cold.
bool told_is(JNIEnv *jni, jclass class, const char *name);

jobject told_object(JNIEnv *jni, struct telling *telling, jobject root);            // a new local reference
bool told_number(JNIEnv *jni, struct telling *telling, jobject root, jint *number); // of a boolean 1 or 0

// A string, or what the object's toString() gives. false, too, where it has no room in `text`, or is empty.
bool told_text(JNIEnv *jni, struct telling *telling, jobject root, char *text, size_t size);

// The same of all its parts, with one / between, and before the first if it is rooted.
bool told_path(JNIEnv *jni, struct telling *telling, jobject root, char *text, size_t size);

// The step that was not there; NULL as long as all were.
const char *told_fails(const struct telling *telling);

#endif
