// SPDX-License-Identifier: GPL-3.0-or-later
// What ended a thread's sleep, of a run as recorded or simulated.
#ifndef REHYPE_REPORT_CAUSE_H
#define REHYPE_REPORT_CAUSE_H

#include "dag/dag.h"

// The vertex on another thread that a vertex had to await; where many causes meet the last one counts. DAG_NONE: none.
uint32_t cause_last(const struct dag_vertices *vertices, uint32_t vertex);

// Whether a thread slept up to this vertex, as events say: for a result or a resource, which it has now.
bool cause_ends_sleep(const struct dag_vertices *vertices, uint32_t vertex);

#endif
