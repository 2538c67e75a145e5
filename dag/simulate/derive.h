// SPDX-License-Identifier: GPL-3.0-or-later
// The run as a DAG of its own.
#ifndef REHYPE_DAG_DERIVE_H
#define REHYPE_DAG_DERIVE_H

#include "dag/simulate/state.h"

enum { DERIVERS = 2 }; // a search has threads of its own

bool derive_new(struct simulation *sim);
bool derive_run(struct simulation *sim);                      // of large runs by two threads, which changes nothing
bool derive_run_by(struct simulation *sim, uint32_t threads); // 1 or DERIVERS
void derive_free(struct simulation *sim);

#endif
