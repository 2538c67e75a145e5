// SPDX-License-Identifier: GPL-3.0-or-later
// Of two times, in ns, the later and the earlier.
#ifndef REHYPE_DAG_NS_H
#define REHYPE_DAG_NS_H

#include <stdint.h>

static inline int64_t max_ns(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t min_ns(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
