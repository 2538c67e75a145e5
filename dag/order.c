// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/order.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static int by_tie(const void *a, const void *b) {
    const struct order_key *x = a, *y = b;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

static void sort_ties(struct order_key *keys, uint32_t count) {
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && keys[end].time_ns == keys[first].time_ns; end++) {
        }
        if (end - first > 1) qsort(&keys[first], end - first, sizeof *keys, by_tie);
    }
}

static unsigned digit(const struct order_key *key, int64_t least_ns, unsigned shift) {
    return ((uint64_t)key->time_ns - (uint64_t)least_ns) >> shift & (DIGITS - 1);
}

// Deals `from` into `to` by one digit; those that have the same keep their order.
static void deal(const struct order_key *from, struct order_key *to, uint32_t count, int64_t least_ns, unsigned shift) {
    uint32_t place[DIGITS] = {0};
    for (uint32_t i = 0; i < count; i++) place[digit(&from[i], least_ns, shift)]++;
    for (uint32_t d = 0, sum = 0, here; d < DIGITS; d++, sum += here) {
        here = place[d];
        place[d] = sum;
    }
    for (uint32_t i = 0; i < count; i++) to[place[digit(&from[i], least_ns, shift)]++] = from[i];
}

void order_sort_in(struct order_key *keys, struct order_key *spare, uint32_t count) {
    struct order_key *from = keys, *to = spare;
    int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].time_ns < least_ns) least_ns = keys[i].time_ns;
        if (keys[i].time_ns > most_ns) most_ns = keys[i].time_ns;
    }
    uint64_t span_ns = count ? (uint64_t)most_ns - (uint64_t)least_ns : 0;
    for (unsigned shift = 0; shift < 64 && span_ns >> shift; shift += DIGIT_BITS) {
        deal(from, to, count, least_ns, shift);
        struct order_key *dealt = to;
        to = from;
        from = dealt;
    }
    if (from != keys) memcpy(keys, from, count * sizeof *keys);
    sort_ties(keys, count);
}

bool order_sort(struct order_key *keys, uint32_t count) {
    struct order_key *spare = malloc(((size_t)count + 1) * sizeof *spare);
    if (!spare) return false;
    pages_prefer_huge(spare, ((size_t)count + 1) * sizeof *spare);
    order_sort_in(keys, spare, count);
    free(spare);
    return true;
}
