// SPDX-License-Identifier: Apache-2.0
// What is known of a place where a lock, queue or semaphore is asked for, by the place's site, from when its class was
// woven. Any thread.
#ifndef REHYPE_TRACER_WOVEN_PLACES_H
#define REHYPE_TRACER_WOVEN_PLACES_H

#include <stdint.h>

// What a user calls it: the field that it is loaded from there (com.acme.Bank.lock), or the class whose monitor it is.
// Copies the name.
void woven_place_set_name(uint32_t site, const char *name);

// NULL: none is known. For the life of the process.
const char *woven_place_name(uint32_t site);

// The number by which a place that locks a monitor calls (resources_watch_places). 0: it does not.
void woven_place_set_number(uint32_t site, uint32_t number);
uint32_t woven_place_number(uint32_t site);

#endif
