// SPDX-License-Identifier: GPL-3.0-or-later
// What a task does next where a wait comes out otherwise than recorded.
#ifndef REHYPE_DAG_DONORS_H
#define REHYPE_DAG_DONORS_H

#include "dag/simulate/state.h"

bool donors_new(struct simulation *sim);
void donors_free(struct simulation *sim);
uint32_t donor_of(struct simulation *sim, uint32_t ask); // an ask with the other outcome, DAG_NONE
// Whether another task tells what the process would do behind its wait with the other outcome.
bool donor_is_there(struct simulation *sim, uint32_t process, uint32_t ask);
void donor_go_on(struct simulation *sim, uint32_t process, uint32_t ask); // it does that
void donor_pass(struct simulation *sim, uint32_t process, uint32_t vertex, enum vertex_kind kind, int64_t time_ns);

#endif
