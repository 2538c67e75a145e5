// SPDX-License-Identifier: Apache-2.0
// What a call from woven code into the tracer costs in this JVM, which no clock in native code can see, and what a
// function's event does. A thread of the tracer's own runs loops of such calls while the program starts, in short turns
// with pauses between them in which the JVM compiles them: 5 ms of a core within the first 60 ms. Java code does not
// see the thread.
#ifndef REHYPE_TRACER_CALIBRATION_H
#define REHYPE_TRACER_CALIBRATION_H

#include "tracer/tracer.h"

// When recording has begun; in a JVM the first time is enough. Where the JVM makes no thread for it nothing is known of
// such calls (cost 0).
void calibration_start(JNIEnv *jni);

bool calibration_is_thread(JNIEnv *jni, jthread thread);

#endif
