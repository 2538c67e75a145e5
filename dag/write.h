// SPDX-License-Identifier: GPL-3.0-or-later
// A run as a trace of its own, which every command reads.
#ifndef REHYPE_DAG_WRITE_H
#define REHYPE_DAG_WRITE_H

#include "dag/dag.h"

// Writes a run (simulation_dag, or a recorded one as it is; clock "ns", origin "estimated"): each event of the
// recording that is left at its new time on its new thread, functions where they were between their neighbours. What a
// simulation made is told by events of the same kinds: workers that were not recorded, their idling, tasks that were
// split. Waits that no longer sleep become EVENT_TAKEN and the reverse. Events at one instant of one thread come a ns
// apart. Nothing of a recorded run, or of one that the empty edit leaves as it was, is moved. Cost: a decode of the
// trace, which is held in memory, 32 bytes an event. Errors: no memory; the file's. besides_ns: what else the process
// computed, which the run's threads don't tell; 0 unknown.
bool dag_write_run(const struct dag *run, uint64_t besides_ns, const char *path, struct error *error);

#endif
