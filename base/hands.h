// SPDX-License-Identifier: Apache-2.0
// Work in items that do not depend on each other, by two threads: whoever is free takes the next. To make a thread and
// to join it costs something, too, so this is for what takes a millisecond at least.
#ifndef REHYPE_BASE_HANDS_H
#define REHYPE_BASE_HANDS_H

#include <stdint.h>

enum { HANDS = 2 };

// `hand`: which thread it is, less than HANDS, for room of its own.
typedef void hands_item(void *context, uint32_t hand, uint32_t item);

// Does items 0 to count - 1, in no order, and comes back when all are done. hands: 1, all by the calling thread, or
// HANDS, in which another helps that is gone when this returns; where none can be had, the calling one does all.
void hands_run(hands_item *run, void *context, uint32_t count, uint32_t hands);

#endif
