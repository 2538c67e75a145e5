// SPDX-License-Identifier: GPL-3.0-or-later
// Who asks: when each request comes, by the answers of this run (struct dag_request, struct offered_load).
//
// So many clients take the recorded requests in the order in which they came: the k-th is asked by whoever asked N
// requests before it, when that one is answered and its own time to think is over. The run ends with the requests, so
// that it lasts as long as these clients take for them. An open loop keeps the recorded distances, by a factor.
#ifndef REHYPE_DAG_CLIENTS_H
#define REHYPE_DAG_CLIENTS_H

#include "dag/simulate/state.h"

bool clients_new(struct simulation *sim);
void clients_free(struct simulation *sim);

// Requests a second, from the first that a client brings to the last; 0: there are not two.
double clients_recorded_per_s(const struct dag *dag);

struct client_turn {
    uint32_t cause; // the end of a request, DAG_NONE: none
    int64_t ns;     // so long after that; without a cause, when
    uint32_t after; // the request of that end, index into requests; DAG_NONE
};

// Of a request that a client brings.
struct client_turn client_turn(const struct simulation *sim, uint32_t request);

#endif
