// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run came to a halt.
#ifndef REHYPE_DAG_STUCK_H
#define REHYPE_DAG_STUCK_H

#include "dag/simulate/model.h"

struct simulation;

void stuck_find(struct simulation *sim); // fills sim->stuck

// "Main.a:12 waits for Main.b:20, which no worker of pool-1 is left to run", for messages. Where what is waited for is
// held, one step a line: "Main.a:12 holds lock A (taken at Main.x:5) and waits for lock B at Main.y:6".
char *stuck_text(const struct dag *dag, const struct stuck *stuck, char *text, size_t size);

#endif
