// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run came to a halt.
#ifndef REHYPE_DAG_STUCK_H
#define REHYPE_DAG_STUCK_H

#include "dag/simulate/model.h"

struct simulation;

void stuck_find(struct simulation *sim); // fills sim->stuck

// A step a line, for messages: "Main.a:12 waits for Main.b:20", "no worker of pool-1 is left to run Main.b:20"; where
// what is waited for is held, "Main.a:12 holds lock A (taken at Main.x:5) and waits for lock B at Main.y:6".
char *stuck_text(const struct dag *dag, const struct stuck *stuck, char *text, size_t size);

// Whether it is no deadlock, only the recorded order that can't be: a step waits for a signal that another might give,
// or the last one waits for nothing.
bool stuck_is_loose(const struct stuck *stuck);

#endif
