// SPDX-License-Identifier: GPL-3.0-or-later
// Model `dag`: helped bodies that sink to a wait.
#ifndef REHYPE_DAG_DEFERRED_H
#define REHYPE_DAG_DEFERRED_H

#include "dag/simulate/state.h"

bool deferred_new(struct simulation *sim);
void deferred_free(struct simulation *sim);
void deferred_forget(struct simulation *sim);
bool deferred_find(struct simulation *sim); // which bodies sink under the edit; false: none
// One that was deferred to this wait and is still to run, DAG_NONE; from now on it is not any more.
uint32_t deferred_take(struct simulation *sim, uint32_t wait);

#endif
