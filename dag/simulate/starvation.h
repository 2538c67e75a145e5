// SPDX-License-Identifier: GPL-3.0-or-later
// Workers that all wait for what their own pool holds.
#ifndef REHYPE_DAG_STARVATION_H
#define REHYPE_DAG_STARVATION_H

#include "dag/simulate/state.h"

void starvation_look(struct simulation *sim, uint32_t process); // a worker begins to wait for a resource

#endif
