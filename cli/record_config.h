// SPDX-License-Identifier: GPL-3.0-or-later
// --config of `record`: a text file of `key = value` lines; # begins a comment. Keys: include, exclude (repeatable),
// buffer (events of each half of a thread's buffer).
#ifndef REHYPE_CLI_RECORD_CONFIG_H
#define REHYPE_CLI_RECORD_CONFIG_H

#include "cli/agent.h"

// Adds to the options; values live in the arena. Errors: STATUS_BAD_INPUT with line and byte, STATUS_FAILED.
bool record_config_read(const char *path, struct agent_options *options, struct arena *arena, struct error *error);

#endif
