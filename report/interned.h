// SPDX-License-Identifier: GPL-3.0-or-later
// Texts by number, from 1 on: of the formats that name what comes again and again once. Zero-initialise. Cost: about
// 50 ns a text that is known, and as much memory as the different texts take.
#ifndef REHYPE_REPORT_INTERNED_H
#define REHYPE_REPORT_INTERNED_H

#include "base/arena.h"
#include "dag/idmap.h"

struct interned {
    struct idmap number_of; // by checksum, counted on where two texts have the same
    const char **texts;     // [number - 1]
    uint32_t count, capacity;
    struct arena arena;
};

// The text's number; count has grown by 1 where it is a new one. 0: no memory.
uint32_t interned_number(struct interned *interned, const char *text);
void interned_destroy(struct interned *interned);

#endif
