// SPDX-License-Identifier: GPL-3.0-or-later
// Methods by their names, over several traces: how often each was seen, and which of them count.
#ifndef REHYPE_METRICS_SEEN_METHODS_H
#define REHYPE_METRICS_SEEN_METHODS_H

#include "base/arena.h"
#include "dag/idmap.h"

enum { SEEN_PARTS = 20 };

struct method_name {
    const char *class_name, *name, *descriptor;
};

struct seen_method {
    struct method_name name;
    bool in_whole;
    uint64_t last;                // repetition that saw it, from 1
    uint64_t last_run;            // of stacks that it stood on, from 1
    uint64_t stacks, repetitions; // that it was seen in
    uint32_t of_part[SEEN_PARTS]; // repetitions, of those whose number less 1 is that modulo SEEN_PARTS
};

// Zero-initialise.
struct seen_methods {
    struct seen_method *items;
    size_t count, room;
    struct idmap by_name; // hash of its texts
    struct arena arena;   // of these
};

// The method's index, of one that is new the next; its texts are copied. IDMAP_NONE without memory.
uint32_t seen_methods_index(struct seen_methods *methods, const struct method_name *name);
void seen_methods_destroy(struct seen_methods *methods);

// Of classes (com.acme.*), or of methods of them (com.acme.*::get*). The texts are somebody else's.
struct method_globs {
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
};

// Whether the method counts: what is included and not excluded, or, where nothing is included, not the JDK's. What the
// JDK makes of lambdas never does.
bool method_globs_count(const struct method_globs *globs, const struct method_name *name);

// Those of the tracer's options, but for includes of one method outright, which are there to be woven. In the arena.
// false: no memory.
bool method_globs_recorded(const char *options, struct arena *arena, struct method_globs *globs);

#endif
