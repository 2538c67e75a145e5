// SPDX-License-Identifier: GPL-3.0-or-later
// What no run changes of a recording's vertices (enum trait) and spawns.
#ifndef REHYPE_DAG_TRAITS_H
#define REHYPE_DAG_TRAITS_H

#include "dag/simulate/state.h"

bool traits_new(struct simulation *sim); // false: no memory
void traits_free(struct simulation *sim);

#endif
