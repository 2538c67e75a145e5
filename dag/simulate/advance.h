// SPDX-License-Identifier: GPL-3.0-or-later
// How processes go on: as far as they can, and in turns where order matters.
#ifndef REHYPE_DAG_ADVANCE_H
#define REHYPE_DAG_ADVANCE_H

#include "dag/simulate/state.h"

void process_advance(struct simulation *sim, uint32_t process); // as far as it goes

// What happens next, in order of time. false: nothing does.
bool simulation_take_next(struct simulation *sim);

#endif
