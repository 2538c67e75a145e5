// SPDX-License-Identifier: Apache-2.0
// Where the JDK is hooked: one table, class by class. What is not in a JDK's class file is passed over, so that one
// table serves JDK 8 to 25.
#ifndef REHYPE_TRACER_HOOKS_H
#define REHYPE_TRACER_HOOKS_H

#include "tracer/weave.h"

#include <jvmti.h>

// Whether the class is in the table; cheap.
bool hooks_concern(const char *internal_class);

// Weaves the table's hooks into the class; `redefined` is NULL where it is being loaded. One that is loaded keeps the
// fields that it has, since the JVM refuses to drop or to add one: other agents retransform the classes, too. A hook
// that fails is registered as a skip.
void hooks_weave(struct weaver *weaver, jclass redefined);

// Classes of the table that the JVM loads before any agent can see them: to be retransformed. Not each JDK has all.
enum { HOOKS_EARLY_CLASSES = 5 };
extern const char *const hooks_early_classes[HOOKS_EARLY_CLASSES];

#endif
