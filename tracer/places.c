// SPDX-License-Identifier: Apache-2.0
#include "tracer/places.h"

struct place_at_hand *places_take(struct places_at_hand *places, const void *stack_pointer, uint32_t class) {
    for (unsigned i = 0; i < PLACES_AT_HAND; i++) {
        struct place_at_hand *place = &places->place[i];
        if (place->stack_pointer == stack_pointer && place->class == class) return place;
    }
    struct place_at_hand *place = &places->place[places->next++ % PLACES_AT_HAND];
    *place = (struct place_at_hand){.stack_pointer = stack_pointer, .class = class};
    return place;
}

bool place_needs_walk(struct place_at_hand *place) {
    enum { WALKED_FIRST = 4, WALKED_ONE_IN = 61 };
    uint32_t seen = ++place->seen;
    if (place->ambiguous) return true;
    if (seen < place->next_walk) return false;
    uint32_t pause = seen < WALKED_FIRST ? 1 : seen / 2;
    place->next_walk = seen + (pause < WALKED_ONE_IN ? pause : WALKED_ONE_IN);
    return true;
}

uint32_t place_walked(struct place_at_hand *place, uint32_t site) {
    place->ambiguous |= place->seen > 1 && site != place->site;
    return place->site = site;
}
