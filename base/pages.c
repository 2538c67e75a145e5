// SPDX-License-Identifier: Apache-2.0
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE_BYTES = 2 << 20 };

// Whole huge pages within the array only, since it may share its first and last with others.
void pages_prefer_huge(void *array, size_t bytes) {
    uintptr_t begin = ((uintptr_t)array + HUGE_PAGE_BYTES - 1) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)array + bytes) & ~(uintptr_t)(HUGE_PAGE_BYTES - 1);
    if (array && begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void pages_get(void *array, size_t from_byte, size_t bytes) {
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)array + from_byte + page_bytes - 1) & ~(page_bytes - 1);
    uintptr_t end = ((uintptr_t)array + from_byte + bytes) & ~(page_bytes - 1);
    if (begin < end) (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

bool pages_resize(void *array, size_t count, size_t size) {
    void **pointer = array;
    void *moved = realloc(*pointer, count * size);
    if (moved) *pointer = moved;
    pages_prefer_huge(moved, count * size);
    return moved != NULL;
}
