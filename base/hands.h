// SPDX-License-Identifier: Apache-2.0
// Work in items that do not depend on each other, by several threads: a free one takes the next. To make a thread
// and to join it costs something, too, so this is for what takes a millisecond at least.
#ifndef REHYPE_BASE_HANDS_H
#define REHYPE_BASE_HANDS_H

#include <stdint.h>

enum { HANDS = 8 }; // at most

// One for each CPU that this process may run on, up to HANDS.
uint32_t hands_there(void);

// `hand`: which thread it is, less than HANDS, for room of its own.
typedef void hands_item(void *context, uint32_t hand, uint32_t item);

// Does items 0 to count - 1, in no order, and comes back when all are done. hands: 1 to HANDS, of which the calling
// thread is one; the others are gone when this returns. Where a thread can't be had, there are fewer.
void hands_run(hands_item *run, void *context, uint32_t count, uint32_t hands);

#endif
