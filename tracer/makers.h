// SPDX-License-Identifier: Apache-2.0
// Places that make objects which may become tasks: where a lambda is evaluated, and the constructors of Runnables and
// Callables. For such an object to be the task that it is when a queue of the program's own hands it over, it needs an
// id from its making on, by a JVMTI tag (0.5 to 2 us with the garbage collector's share). Most such objects are never
// handed over by themselves, or at once, where they'd get an id anyway. A place all of whose objects so far were of
// that kind is no longer followed, but for one object in MAKER_SAMPLED; when one of those proves to have needed its id,
// all of the place's are followed again.
//
// Any thread; no locks but in makers_new. Numbers are the JVM's for good: places that are woven again are others.
#ifndef REHYPE_TRACER_MAKERS_H
#define REHYPE_TRACER_MAKERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MAKER_SAMPLED = 64,
    MAKER_NEEDLESS_MOST = 256,  // objects that needed no id, until a place is no longer followed
    MAKERS_MOST = (1 << 20) - 1 // what fits into a tag (identity_tags.h)
};

// While weaving. 0, which is always followed, when there are too many, or without memory.
uint32_t makers_new(void);

// Whether the object that is being made gets an id. `made`: the thread's own count of objects that got none. A ns.
bool makers_follow(uint32_t maker, uint32_t *made);

// An object needed its id: it began on a thread of the program's own, or was handed over by another thread than its
// maker's, or later.
void makers_needed(uint32_t maker);

// An object was collected as it had been made, or handed over at once.
void makers_needless(uint32_t maker);

#endif
