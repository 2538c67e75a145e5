// SPDX-License-Identifier: GPL-3.0-or-later
// How long requests take, and how many of them a run's pools could serve at once (R Sec. 5: a pool of 20 saturates when
// two requests that peak at 13 threads meet). struct request_metrics says what is counted, here is how it is found.
//
// Outermost site. Among tasks that no pool's task spawned, directly or not (main did, a thread outside pools, or nobody
// known), and that were recorded as starting within the window: the site with the most tasks; of several the one with
// the greatest total time in bodies; of several the first. The recorded run decides, so that an edit changes the
// figures of a site, never the site.
//
// Request. A task of the site that no other task of the site spawned, directly or not, and that was recorded as
// starting within the window. One that the edit inlined is a request no more: where all are, only the site is known.
//
// Tree of a request. The task and all tasks that it spawned, directly or not. A body of the tree occupies the platform
// thread that it runs on under the edit, from its start to its end, waits included. Bodies that lie in each other (a
// helping join, caller-runs, what the edit inlined) occupy one thread. What isn't started yet occupies none.
//
// Sustainable rate. At saturation the busiest server sets the pace: with m servers and D seconds of service a request,
// no more than m / D requests leave a second, because no server is busy for more than all of the time (utilisation law
// U = X D / m and bottleneck analysis; Denning, Buzen: The Operational Analysis of Queueing Network Models, ACM
// Computing Surveys 10(3), 1978). Servers are the workers of each pool, whose D is the time for which a request's tree
// holds its threads, waits for results included; the units of each resource that requests waited for (one in fifty at
// the least, for a fiftieth of the time that they had it), whose D is the time for which the tree holds them; and the
// cores, whose D is what the tree computes (measured, or the rate is not known). While a thread waits for a resource it
// stands in that one's queue: this is no service of its pool, nor of what it holds meanwhile. What units come back by
// other threads (a rate) has no D: where requests wait for that for most of the time, it lets no more of them through
// than it did. D is the mean over the window's requests as this run served them: what they wait for each other in it
// counts as held, so that a run near saturation gives a lower rate than an idle one, and what else the program does is
// taken not to grow with the load. By Little's law (N = X R) that many requests are then under way as latency x rate
// says.
#ifndef REHYPE_METRICS_REQUESTS_H
#define REHYPE_METRICS_REQUESTS_H

#include "metrics/figures.h"

// site: index into dag->sites, or DAG_NONE for the outermost. The run must be of this edit. Errors: no memory. Cost:
// about 10 ns a vertex, and a sort of the requests' bodies.
bool metrics_requests(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                      const struct window *window, uint32_t site, struct metrics_work *work,
                      struct request_metrics *requests, struct error *error);

// The same of a run that is a DAG of its own. Of one that was simulated metrics_of_run must have been called last.
bool metrics_requests_of_run(const struct dag *run, const struct window *window, uint32_t site,
                             struct metrics_work *work, struct request_metrics *requests, struct error *error);

// Name of what saturates first: a pool's, "a pool" where it has none, "cores", or a resource's (dag/names.h). NULL:
// unknown. `text` is where it may be put.
const char *requests_bottleneck(const struct request_metrics *requests, char *text, size_t size);

#endif
