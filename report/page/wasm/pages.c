// SPDX-License-Identifier: GPL-3.0-or-later
// base/pages.h where memory has no pages to be chosen, and sizes have 32 bits.
#include "base/pages.h"

#include <stdlib.h>

void pages_prefer_huge(void *array, size_t bytes) {
}

void pages_get(void *array, size_t from_byte, size_t bytes) {
}

bool pages_resize(void *array, size_t count, size_t size) {
    void **pointer = array, *moved = reallocarray(*pointer, count, size);
    if (moved) *pointer = moved;
    return moved != NULL;
}
