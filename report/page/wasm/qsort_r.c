// SPDX-License-Identifier: GPL-3.0-or-later
// On one thread qsort's comparison finds the context in a place of its own.
#include <stdlib.h>

typedef int comparison(const void *a, const void *b, void *context);

static comparison *compare_with;
static void *compare_context;

static int compare(const void *a, const void *b) {
    return compare_with(a, b, compare_context);
}

void qsort_r(void *items, size_t count, size_t size, comparison *with, void *context) {
    compare_with = with;
    compare_context = context;
    qsort(items, count, size, compare);
}
