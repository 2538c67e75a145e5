// SPDX-License-Identifier: Apache-2.0
// What a user calls the lock, queue or semaphore that is asked for at a place: the field that it is loaded from there
// (com.acme.Bank.lock), or the class whose monitor it is. Known by the place's site, from when its class was woven.
#ifndef REHYPE_TRACER_PLACE_NAMES_H
#define REHYPE_TRACER_PLACE_NAMES_H

#include <stdint.h>

// Copies the name. Any thread.
void place_names_set(uint32_t site, const char *name);

// NULL: none is known. For the life of the process.
const char *place_name(uint32_t site);

#endif
