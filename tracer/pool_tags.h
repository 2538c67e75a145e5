// SPDX-License-Identifier: Apache-2.0
// Which object is which pool, and when one is collected (registry_pool_collected). By tags of a JVMTI environment of
// their own, so that a pool may be a task as well (identity.h); the JVM forgets the tag with the object.
#ifndef REHYPE_TRACER_POOL_TAGS_H
#define REHYPE_TRACER_POOL_TAGS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Once, before any pool is known. false when the JVM refuses.
bool pool_tags_init(JavaVM *vm);

// Any thread; 0 for an object that is no known pool. 50 to 90 ns each.
uint32_t pool_tags_get(jobject pool);
void pool_tags_set(jobject pool, uint32_t id);

#endif
