// SPDX-License-Identifier: Apache-2.0
// JVMTI tags of the tracer's main environment, between identity.c (of classes) and identity_raw.c (of tasks). 50 to 90
// ns each.
#ifndef REHYPE_TRACER_IDENTITY_TAGS_H
#define REHYPE_TRACER_IDENTITY_TAGS_H

#include "tracer/tracer.h"

// What a tag means, in its two low bits. A queue is a pointer, so its low bits are free. Above an id there may be a
// site; of what was only created, the place that made it (makers.h).
enum { TAG_CLASS = 0, TAG_CREATED = 1, TAG_PENDING = 2, TAG_QUEUE = 3, TAG_KIND = 3, TAG_SITE_AT = 42 };

static inline uint64_t tag_of(jobject object) {
    jlong tag = 0;
    (*tracer.jvmti)->GetTag(tracer.jvmti, object, &tag);
    return (uint64_t)tag;
}

static inline void set_tag(jobject object, uint64_t tag) {
    (*tracer.jvmti)->SetTag(tracer.jvmti, object, (jlong)tag);
}

#endif
