// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads.
#ifndef REHYPE_DAG_CARRIERS_H
#define REHYPE_DAG_CARRIERS_H

#include "dag/simulate/state.h"

void carriers_begin_run(struct simulation *sim, double cores); // cores: of the model, 0 as recorded
bool carrier_take(struct simulation *sim, uint32_t process);   // false: it is ready, and waits for one
void carrier_give_back(struct simulation *sim, uint32_t process, int64_t now_ns); // to the next that is ready

#endif
