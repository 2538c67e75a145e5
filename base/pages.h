// SPDX-License-Identifier: Apache-2.0
// Large arrays: to get them page by page, 4 KiB each, takes a tenth of the time in which a trace is read and built into
// a graph. Where the system gives huge pages to who asks for them (transparent_hugepage: madvise), this asks.
#ifndef REHYPE_BASE_PAGES_H
#define REHYPE_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

// A hint, for memory from malloc or realloc that will be filled; of small arrays it takes no notice. NULL is fine.
void pages_prefer_huge(void *array, size_t bytes);

// Gets that part of an array its memory now, its whole pages only, where the system can (Linux 5.14): for another
// thread than the one that fills it, ahead of that. Changes nothing that is in it. A hint, too.
void pages_get(void *array, size_t from_byte, size_t bytes);

// `array` is where the pointer to the array lies: gives that `count` elements of the size, as realloc does, with the
// hint. false, and the array is as it was: no memory.
bool pages_resize(void *array, size_t count, size_t size);

#endif
