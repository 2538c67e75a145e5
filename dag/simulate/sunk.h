// SPDX-License-Identifier: GPL-3.0-or-later
// Model `dag`: helped bodies that sink to a wait.
#ifndef REHYPE_DAG_SUNK_H
#define REHYPE_DAG_SUNK_H

#include "dag/simulate/state.h"

bool sunk_new(struct simulation *sim);
void sunk_free(struct simulation *sim);
void sunk_forget(struct simulation *sim);
bool sunk_find(struct simulation *sim); // which bodies sink under the edit; false: none
// One that has sunk to this wait and is still to run, DAG_NONE; from now on it is not any more.
uint32_t sunk_take(struct simulation *sim, uint32_t wait);

#endif
