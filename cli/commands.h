// SPDX-License-Identifier: GPL-3.0-or-later
// The commands: one a file.
#ifndef REHYPE_CLI_COMMANDS_H
#define REHYPE_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command command_record, command_attach, command_info, command_metrics, command_suggest,
    command_estimate, command_compare, command_coverage, command_report, command_export, command_doctor,
    command_completion;

extern const struct command *const commands[]; // as --help lists them; NULL ends

#endif
