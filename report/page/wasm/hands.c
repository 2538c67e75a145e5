// SPDX-License-Identifier: GPL-3.0-or-later
// base/hands.h where there is one thread.
#include "base/hands.h"

uint32_t hands_there(void) {
    return 1;
}

void hands_run(hands_item *run, void *context, uint32_t count, uint32_t hands) {
    for (uint32_t item = 0; item < count; item++) run(context, 0, item);
}
