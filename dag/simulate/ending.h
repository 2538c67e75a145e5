// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a program, which what the JVM starts then awaits (dag/build/shutdown.c).
#ifndef REHYPE_DAG_ENDING_H
#define REHYPE_DAG_ENDING_H

#include "dag/simulate/state.h"

// Where nothing goes on any more: lets pass a barrier that awaits the end of a task that does not end in this run, as
// one that was cancelled, or parted, or whose timer was shut down before. false: there is none.
bool ending_comes(struct simulation *sim);

#endif
