// SPDX-License-Identifier: GPL-3.0-or-later
// How many jobs of one actor a worker runs in a row before the actor has to queue again: its dispatcher's throughput,
// as far as the recording shows it.
#ifndef REHYPE_DAG_SIMULATE_THROUGHPUT_H
#define REHYPE_DAG_SIMULATE_THROUGHPUT_H

#include "dag/simulate/state.h"

enum { LEAST_THROUGHPUT = 5 }; // the default of Akka and Pekko

// Sets each pool's `throughput`: the default, or more where a worker went on with its actor although another one of the
// pool was queued, each time in a row. (Where none is queued an actor that queues is taken up again at once, by the
// same worker, and so that tells nothing.) false: no memory. Cost: a pass over the tasks, and a sort of those of
// actors.
bool find_throughputs(struct simulation *sim);

#endif
