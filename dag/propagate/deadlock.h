// SPDX-License-Identifier: GPL-3.0-or-later
// Which chains wait for which, when none can go on. Each chain waits for a vertex that lies ahead on a chain that waits
// too, so following them from any chain runs into a ring.
#ifndef REHYPE_DAG_DEADLOCK_H
#define REHYPE_DAG_DEADLOCK_H

#include "dag/edit/edit.h"
#include "dag/propagate/run.h"

// Fills run->deadlock from walks that can not go on. false: no memory.
bool dag_find_deadlock(const struct dag *dag, const struct dag_edit *edit, struct dag_run *run);

// "Main.a:12 waits for Main.b:20 waits for Main.a:12", for messages.
char *dag_deadlock_text(const struct dag *dag, const struct dag_run *run, char *text, size_t size);

#endif
