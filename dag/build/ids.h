// SPDX-License-Identifier: GPL-3.0-or-later
// Ids of the tasks' series that a trace uses, for who tells a trace anew and needs ids that are free.
#ifndef REHYPE_DAG_IDS_H
#define REHYPE_DAG_IDS_H

#include "tracefile/reader.h"

// The highest that tables name, which no event needs to name.
uint64_t ids_highest_of_tables(const struct trace *trace);

// The higher of that and what the event names.
uint64_t ids_highest(const struct event *event, uint64_t highest);

#endif
