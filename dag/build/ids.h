// SPDX-License-Identifier: GPL-3.0-or-later
// Ids of the tasks' series that a trace uses: those above are free for a trace that is told anew.
#ifndef REHYPE_DAG_IDS_H
#define REHYPE_DAG_IDS_H

#include "tracefile/reader.h"

// The highest that tables name, which no event needs to name.
uint64_t ids_highest_of_tables(const struct trace *trace);

// The higher of that and what the event names.
uint64_t ids_highest(const struct event *event, uint64_t highest);

#endif
