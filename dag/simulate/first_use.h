// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks that slept while another did what is done but once.
#ifndef REHYPE_DAG_FIRST_USE_H
#define REHYPE_DAG_FIRST_USE_H

#include "dag/dag.h"

// A task that slept while another of its site did what is done but once (a class is initialised by the thread
// that uses it first, and all others that use it sleep until that is done). Nothing in a trace says so: see
// first_use.c.
struct first_use {
    uint32_t vertex;  // the edge to it slept
    uint32_t first;   // task of the site, with which that began
    int64_t held_ns;  // of what the edge slept
    int64_t until_ns; // after the first one's start, when it was done
};

struct first_uses {
    struct first_use *items; // by vertex; the owner's, free() them
    uint32_t count;
};

// Zero-initialise. false: no memory.
bool first_use_measure(const struct dag *dag, struct first_uses *first_uses);
// The one of an edge, or NULL.
const struct first_use *first_use_of(const struct first_uses *first_uses, uint32_t vertex);

#endif
