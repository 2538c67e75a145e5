// SPDX-License-Identifier: GPL-3.0-or-later
// Several traces' figures side by side, a column each, and what separates two of them or what many come to.
#ifndef REHYPE_REPORT_ACTOR_RUNS_TEXT_H
#define REHYPE_REPORT_ACTOR_RUNS_TEXT_H

#include "metrics/actor_runs.h"

#include <stdio.h>

bool actor_runs_text_write(const struct actor_run *runs, size_t count, FILE *file, unsigned look, struct error *error);

#endif
