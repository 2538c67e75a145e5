// SPDX-License-Identifier: GPL-3.0-or-later
// Names that users wrote: the nearest ones that there are.
#ifndef REHYPE_OPTIMIZE_TEXT_H
#define REHYPE_OPTIMIZE_TEXT_H

#include <stddef.h>

// Insertions, deletions and replacements between two texts; past 255 characters only the beginnings count.
unsigned text_distance(const char *a, const char *b);

// Writes the nearest of the names (at most three, nearest first, each once): "a, b, c", or "none". A name is also near
// when what follows its packages is. Returns text.
char *text_nearest(const char *wanted, const char *const *names, size_t count, char *text, size_t size);

#endif
