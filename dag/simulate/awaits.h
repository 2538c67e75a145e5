// SPDX-License-Identifier: GPL-3.0-or-later
// Waits for results that have a time limit.
#ifndef REHYPE_DAG_AWAITS_H
#define REHYPE_DAG_AWAITS_H

#include "dag/simulate/state.h"

bool awaits_new(struct simulation *sim);
void awaits_free(struct simulation *sim);
void awaits_begin_run(struct simulation *sim);

// The vertex that the process's next one has to await, DAG_NONE: none. Where it does as a donor did, its own tasks'
// results stand for the donor's.
uint32_t await_cause(const struct simulation *sim, const struct process *process);

// What a stage that would wait there goes on behind: the result, though it gave up on that. DAG_NONE: nothing.
uint32_t await_cause_of_stage(const struct simulation *sim, uint32_t wait_end);

// Whether the process's next vertex ends a wait whose limit races the result.
bool await_races(const struct simulation *sim, const struct process *process);
// How that comes out, if it is known yet: else the process has to wait for the result, or for its time to be up.
enum await_outcome await_look(struct simulation *sim, uint32_t process, uint32_t cause);
// When a wait ends that came out as process->limited says, where that is not what was recorded, or the recorded wait
// had no cause.
int64_t await_ends_ns(const struct simulation *sim, const struct process *process, uint32_t cause);
void await_time_is_up(struct simulation *sim, uint32_t process);
// The process has passed the end of such a wait: it goes on as others did where it came out otherwise.
void await_settle(struct simulation *sim, uint32_t process, uint32_t vertex);

#endif
