// SPDX-License-Identifier: GPL-3.0-or-later
// Residuals of service, pauses and other load, of a trace that measures what edges compute.
#ifndef REHYPE_DAG_SERVICE_H
#define REHYPE_DAG_SERVICE_H

#include "dag/simulate/state.h"

bool service_new(struct simulation *sim); // false: no memory

// Of a pick-up as recorded, all of its edges together.
struct pickup_service {
    int64_t compute_ns;
    struct cores_residual residual;
};
struct pickup_service service_of_pickup(const struct simulation *sim, uint32_t task);

#endif
