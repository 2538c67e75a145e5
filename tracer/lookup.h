// SPDX-License-Identifier: Apache-2.0
// Classes by their names, not initialised, as FindClass would.
#ifndef REHYPE_TRACER_LOOKUP_H
#define REHYPE_TRACER_LOOKUP_H

#include <jni.h>

// Once, when the JVM is ready for it.
void lookup_init(JNIEnv *jni);

// "java.util.Timer" as the loader has it, NULL being the JVM's own; a local reference. NULL where there is none, and
// before lookup_init. May run the loader's code. Leaves no exception behind.
jclass lookup_class(JNIEnv *jni, jobject loader, const char *dotted);

#endif
