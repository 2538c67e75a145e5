// SPDX-License-Identifier: Apache-2.0
// A set of names. Not for several threads at once.
#ifndef REHYPE_TRACER_NAMES_H
#define REHYPE_TRACER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct names {
    char **slots; // open addressing; a power of two of them
    size_t count, capacity;
};

// The set's own copy of the name, which stays until names_clear; NULL without memory.
const char *names_keep(struct names *names, const char *name, size_t length);

// Copies the name. Without memory it is left out, and false.
bool names_add(struct names *names, const char *name, size_t length);
bool names_have(const struct names *names, const char *name, size_t length);
void names_clear(struct names *names);

#endif
