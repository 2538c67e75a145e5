// SPDX-License-Identifier: GPL-3.0-or-later
// Which sites spawn and await which, for Graphviz: a node a spawn site (and main, and threads), with how many tasks it
// has and how long they ran; an edge for what one's tasks spawned of the other, and one for what they waited for, with
// how often and how long.
#ifndef REHYPE_REPORT_SITE_GRAPH_H
#define REHYPE_REPORT_SITE_GRAPH_H

#include "report/timeline.h"

#include <stdio.h>

// Of a timeline's window. Memory: a node each name, an edge each pair. Errors: no memory, a damaged trace; those of the
// file show in ferror.
bool site_graph_write_dot(const struct timeline *timeline, FILE *file, struct error *error);

#endif
