// SPDX-License-Identifier: GPL-3.0-or-later
// What a process comes to next: ranges of recorded vertices that nest, with what moved in put in and what moved out
// left out.
#ifndef REHYPE_DAG_NEXT_VERTEX_H
#define REHYPE_DAG_NEXT_VERTEX_H

#include "dag/simulate/state.h"

// The next vertex of a process, or what stands for it, in frames and out of them; DAG_NONE at the end of the outermost
// one, which is gone then.
uint32_t frame_next_vertex(struct simulation *sim, uint32_t process);
// Whether the result of a task that the process waits for at its next vertex is there before it asks: it neither falls
// asleep nor loses its core over that.
bool process_finds_result(const struct simulation *sim, const struct process *process);

#endif
