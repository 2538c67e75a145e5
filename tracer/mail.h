// SPDX-License-Identifier: Apache-2.0
// Messages that carry no number: those of libraries that the config names (executors.h, roles message, handle, init). A
// message is known by its object and by whom it is for, first in first out, since a program may send one object twice,
// or to many.
#ifndef REHYPE_TRACER_MAIL_H
#define REHYPE_TRACER_MAIL_H

#include <stdbool.h>
#include <stdint.h>

// Is sent. Any thread; a lock, held for some 50 ns. false: there are too many under way, or no memory, and who handles
// it won't know it.
bool mail_put(uint64_t object, uint64_t actor, uint64_t message);

// Is handled: its number, 0 where none is under way.
uint64_t mail_take(uint64_t object, uint64_t actor);

void mail_clear(void); // of an earlier recording's nothing is left

#endif
