// SPDX-License-Identifier: GPL-3.0-or-later
// Carriers of virtual threads.
#ifndef REHYPE_DAG_CARRIERS_H
#define REHYPE_DAG_CARRIERS_H

#include "dag/simulate/state.h"

bool carriers_new(struct simulation *sim);                     // false: no memory
void carriers_begin_run(struct simulation *sim, double cores); // cores: of the model, 0 as recorded
bool carrier_take(struct simulation *sim, uint32_t process);   // false: it is ready, and waits for one
// A process that has one comes to its next vertex at that time.
void carrier_keep(struct simulation *sim, uint32_t process, int64_t time_ns);
// A process that has one has gone on as far as it can for now: where it sleeps and is not pinned, it gives it back.
void carrier_settle(struct simulation *sim, uint32_t process);
void carrier_unpin(struct simulation *sim, uint32_t process); // it need not keep it any more

// Whether a process may have to give its carrier to another before it comes to that time.
static inline bool carrier_is_wanted(const struct simulation *sim, uint32_t process, int64_t time_ns) {
    return sim->processes[process].carried && sim->carriers.first != DAG_NONE && time_ns > sim->clock_ns;
}

#endif
