// SPDX-License-Identifier: GPL-3.0-or-later
// The C library's, and what WASI's lacks.
#ifndef REHYPE_REPORT_PAGE_WASM_STDLIB_H
#define REHYPE_REPORT_PAGE_WASM_STDLIB_H

#include_next <stdlib.h>

// As glibc's: sorts `count` items of `size` bytes; `compare` gets the context as well.
void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b, void *context),
             void *context);

#endif
