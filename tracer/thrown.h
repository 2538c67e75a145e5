// SPDX-License-Identifier: Apache-2.0
// The program's function that an exception has come from, which is not on the stack any more.
#ifndef REHYPE_TRACER_THROWN_H
#define REHYPE_TRACER_THROWN_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

// As site_served_by, of the stack that the exception was made on. false, too, where `served` is not on that. Runs none
// of the program's code, throws nothing. Any thread. Cost: some 10 us, and for an exception whose stack nobody has
// asked for yet (to log it), what the JVM needs to make that.
bool thrown_served_by(JNIEnv *jni, jmethodID served, jthrowable exception, char *text, size_t size);

#endif
