// SPDX-License-Identifier: GPL-3.0-or-later
// Warnings of what a model does not know, and of what a change assumes (optimize/warnings.h).
#ifndef REHYPE_OPTIMIZE_WARN_ESTIMATE_H
#define REHYPE_OPTIMIZE_WARN_ESTIMATE_H

#include "optimize/estimator.h"
#include "optimize/improvement.h"
#include "optimize/warnings.h"

bool warn_of_replay(struct warnings *warnings, const struct replay_error *replay_error, struct error *error);
bool warn_of_model(struct warnings *warnings, const struct dag *dag, const struct model *model, struct error *error);
bool warn_of_change(struct warnings *warnings, const struct improvement *improvement, struct error *error);

#endif
