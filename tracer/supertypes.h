// SPDX-License-Identifier: Apache-2.0
// Whether a class that is about to be defined is a task by its type: a subtype of Runnable or Callable, through any
// number of classes and interfaces, as its own loader sees them (Rosà, chapter 4: complete supertype information).
//
// The class itself does not exist yet; its supertypes do, or the JVM will load them next, through the same loader. So
// they are asked for a moment early. A name alone would not do: two loaders may give one name two meanings.
#ifndef REHYPE_TRACER_SUPERTYPES_H
#define REHYPE_TRACER_SUPERTYPES_H

#include "tracer/weave.h"

#include <jni.h>
#include <stdbool.h>

struct supertypes {
    bool task;        // a Runnable or Callable
    bool inherits_it; // its superclass is one already, so its constructor is woven there
};

// May run the loader's code (loadClass of a supertype), as the JVM itself is about to. Leaves no exception behind.
struct supertypes supertypes_of(JNIEnv *jni, jobject loader, const struct class_file *class);

#endif
