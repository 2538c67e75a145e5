// SPDX-License-Identifier: GPL-3.0-or-later
// How long the JVM's collections last in a run that hands over fewer tasks. A collection comes once so much has been
// allocated, which the trace tells of each (dag_pause.allocated_bytes); so what a run does not allocate it does not
// collect: of each pause such a part goes as hand-overs that go had of what was allocated since the pause before. (A
// run really has fewer pauses, and so it has on the mean.) What tasks in queues do to a collection that finds them
// alive is in proportion, too.
//
// What a hand-over allocates is not in the trace. HotSpot's objects are multiples of 8 bytes with a header of 12, a
// reference takes 4 (64 bits, compressed, as heaps below 32 GB have it). A task's object, as a lambda's with what it
// captures, takes 24, and a node of a linked queue 24 (java.util.concurrent.LinkedBlockingQueue.Node), or a place in
// the list of those that will be joined; one whose result others can ask for 48 more: the future itself 32
// (FutureTask; CompletableFuture 24), and what it wraps the body in, or a place in a list.
#ifndef REHYPE_DAG_GARBAGE_H
#define REHYPE_DAG_GARBAGE_H

#include "dag/dag.h"
#include "dag/edit/edit.h"

// What part of each pause is left, 0 to 1; `left` has room for all. false: all of each, and nothing is written. Cost:
// some ns a task.
bool garbage_left(const struct dag *dag, const struct dag_edit *edit, double *left);

#endif
