// SPDX-License-Identifier: GPL-3.0-or-later
// What pools had when recording began.
#ifndef REHYPE_DAG_STANDING_H
#define REHYPE_DAG_STANDING_H

#include "dag/simulate/state.h"

bool standing_new(struct simulation *sim);
void standing_free(struct simulation *sim);
void standing_begin_run(struct simulation *sim); // strands are there, and fates are known

#endif
