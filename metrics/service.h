// SPDX-License-Identifier: GPL-3.0-or-later
// What a service did for those who asked: requests answered a second, and how long an answer took.
//
// A request takes from when its client brought it (the readable request: a poller hands it over; else its begin) to its
// end. Throughput is that of the middle nine tenths of the answers, by when they came: single requests before and after
// the load (a health check, a look at figures) do not lengthen it. Counted are those that were answered and, as
// recorded, arrived within the window. Of a run in which they come in another order, throughput is that of as many
// answers, behind as many as were before them: by the very same requests it would be that of the slowest client.
#ifndef REHYPE_METRICS_SERVICE_H
#define REHYPE_METRICS_SERVICE_H

#include "metrics/figures.h"

// Vertex at which a request came: where its client brought it, else its begin. DAG_NONE: before recording began.
uint32_t service_arrival(const struct dag_request *request);

// Values a second among `count` times, which are sorted by it: of the middle nine tenths; of fewer than 20, of all.
double service_rate(double *times_ns, size_t count);

// Where the run has requests of its own, sets count, latency and throughput by these; and no sustainable rate is below
// what the run served. time_ns: of the run's vertices. false: no memory.
bool service_figures(const struct dag *run, const int64_t *time_ns, const struct window *window,
                     struct request_metrics *requests);

// Who asks, as recorded: how long clients think on the mean, and how many of them there are, by Little's law over all
// that each does from one request to the next. clients is NAN in an open loop, or where none is known.
struct askers {
    bool open;
    double clients, think_ns;
};
struct askers service_askers(const struct dag *recorded, const struct request_metrics *requests);

#endif
