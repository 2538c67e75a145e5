// SPDX-License-Identifier: GPL-3.0-or-later
// --config of `record` and `attach`: a text file of `key = value` lines; # begins a comment. rehype-record(1) lists the
// keys. Of executors only the agent knows what a line may say: it tells in the trace.
#ifndef REHYPE_CLI_RECORD_CONFIG_H
#define REHYPE_CLI_RECORD_CONFIG_H

#include "cli/agent.h"

// Adds to the options; values live in the arena. Errors: STATUS_BAD_INPUT with line and byte, STATUS_FAILED.
bool record_config_read(const char *path, struct agent_options *options, struct arena *arena, struct error *error);

#endif
