// SPDX-License-Identifier: GPL-3.0-or-later
// Sorting by time. Comparing items through what they point to waits for memory at each comparison; here keys are copied
// out first and dealt into buckets, a few bits at a time.
#ifndef REHYPE_DAG_ORDER_H
#define REHYPE_DAG_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_key {
    int64_t time_ns;
    uint64_t tie; // among those of one time the lesser comes first
    uint32_t item;
};

// Cost: two passes for each 11 bits of the time between the first and the last (three times for eight seconds), and
// room for as many keys. false: no memory.
bool order_sort(struct order_key *keys, uint32_t count);
// The same with room for as many keys that the caller has.
void order_sort_in(struct order_key *keys, struct order_key *spare, uint32_t count);

#endif
