// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of what threads hold and wait for (optimize/warnings.h), as recorded and in an estimated run.
#ifndef REHYPE_OPTIMIZE_WARN_RESOURCES_H
#define REHYPE_OPTIMIZE_WARN_RESOURCES_H

#include "optimize/estimator.h"
#include "optimize/warnings.h"

bool warn_of_resources(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_unknown_holders(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_signals(struct warnings *warnings, const struct dag *dag, struct error *error);
bool warn_of_estimate(struct warnings *warnings, const struct estimator *estimator,
                      struct error *error); // its last run

#endif
