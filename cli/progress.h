// SPDX-License-Identifier: GPL-3.0-or-later
// What a long command is doing and how long that will take, as one line on stderr that is overwritten. Silent unless
// stderr is a terminal.
#ifndef REHYPE_CLI_PROGRESS_H
#define REHYPE_CLI_PROGRESS_H

#include <stdint.h>

// "reading trace.msgpack ...". What comes next is a part of it.
__attribute__((format(printf, 1, 2))) void progress_stage(const char *format, ...);

// Steps of the stage that are done, and those that are left at most: "searching: 1,234 plans estimated, at most 12 s
// left". A callback of searches and intervals; `unit` is its context, a const char *: "plans estimated". By any thread,
// one at a time.
void progress_steps(void *unit, uint64_t done, uint64_t left);

// The stage ends at a time that is known: "recording: 12 s left".
void progress_left(double seconds);

void progress_end(void); // clears the line; harmless when there is none

#endif
