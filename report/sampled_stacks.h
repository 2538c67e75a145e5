// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks that were sampled as collapsed ones (flamegraph.pl, speedscope, inferno): a line each stack of a thread, the
// outermost frame first, with how often it was seen: "main;com.acme.Main.main;com.acme.Main.run 12". A thread that
// stands still has a stack, too.
#ifndef REHYPE_REPORT_SAMPLED_STACKS_H
#define REHYPE_REPORT_SAMPLED_STACKS_H

#include "metrics/figures.h"

#include <stdio.h>

// Of a window of recorded times (NULL: all). Errors: STATUS_BAD_INPUT without stacks there; no memory; those of the
// file show in ferror.
bool sampled_stacks_write(const struct trace *trace, const struct window *window, FILE *file, struct error *error);

#endif
