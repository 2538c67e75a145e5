// SPDX-License-Identifier: GPL-3.0-or-later
// Model `cpu`: how long the edges of a run take when what is computed shares the cores.
#ifndef REHYPE_DAG_COMPUTING_H
#define REHYPE_DAG_COMPUTING_H

#include "dag/simulate/state.h"

void computing_begin_run(struct simulation *sim, const struct model *model);
// Whether the edge to a process's next vertex, whose time is `time_ns` as recorded, has something to compute first; if
// not, that time is made what it is where cores are shared.
bool process_computes(struct simulation *sim, uint32_t process, int64_t *time_ns);
// What it then asks of the cores.
struct cores_demand process_demand(const struct simulation *sim, const struct process *process);
// When such an edge ends, its computing being done.
int64_t process_computed_ns(const struct simulation *sim, const struct process *process);

#endif
