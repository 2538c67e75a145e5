// SPDX-License-Identifier: GPL-3.0-or-later
// What a process does at a vertex.
#ifndef REHYPE_DAG_VISIT_H
#define REHYPE_DAG_VISIT_H

#include "dag/simulate/state.h"

// The process has come to its next vertex, or what stands for one, at that time.
void process_step(struct simulation *sim, uint32_t process, int64_t time_ns);

#endif
