// SPDX-License-Identifier: GPL-3.0-or-later
// What a task does next where a wait comes out otherwise than recorded.
#ifndef REHYPE_DAG_DONORS_H
#define REHYPE_DAG_DONORS_H

#include "dag/simulate/state.h"

bool donors_new(struct simulation *sim);
void donors_free(struct simulation *sim);
// Where a wait's outcome is told: an ask, by its index, or behind all these an await of the DAG.
uint32_t donor_of(struct simulation *sim, uint32_t point);            // one with the other outcome, DAG_NONE
uint32_t donor_task_at(const struct simulation *sim, uint32_t await); // the innermost body that waits, DAG_NONE
// Whether another task tells what the process would do behind its wait with the other outcome.
bool donor_is_there(struct simulation *sim, uint32_t process, uint32_t point);
void donor_go_on(struct simulation *sim, uint32_t process, uint32_t point); // it does that
void donor_pass(struct simulation *sim, uint32_t process, uint32_t vertex, enum vertex_kind kind, int64_t time_ns);
// Of a task that the donor names, that which stands for it; of the donor itself, the task in whose place it is;
// DAG_NONE: nothing does.
uint32_t donor_task_named(const struct simulation *sim, const struct frame *frame, uint32_t named);

#endif
