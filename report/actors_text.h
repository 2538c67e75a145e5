// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of actors and messages, for people: the answer first, then tables.
#ifndef REHYPE_REPORT_ACTORS_TEXT_H
#define REHYPE_REPORT_ACTORS_TEXT_H

#include "metrics/actor_findings.h"

#include <stdio.h>

// All of it. At most `most` rows a table, and a line that says how many more there are.
bool actors_text_write(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                       struct error *error);

// Only the answer, in a few lines.
void actors_text_write_answer(const struct actor_findings *findings, FILE *file, unsigned look);

#endif
