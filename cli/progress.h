// SPDX-License-Identifier: GPL-3.0-or-later
// What a long command is doing, as one line on stderr that is overwritten. Silent unless stderr is a terminal.
#ifndef REHYPE_CLI_PROGRESS_H
#define REHYPE_CLI_PROGRESS_H

#include <stdint.h>

void progress_stage(const char *what);                  // "reading trace.msgpack"
void progress_plans(void *context, uint64_t evaluated); // a search's progress callback
void progress_end(void);                                // clears the line; harmless when there is none

#endif
