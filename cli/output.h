// SPDX-License-Identifier: GPL-3.0-or-later
// The file that a command is to write, looked after before the work begins.
#ifndef REHYPE_CLI_OUTPUT_H
#define REHYPE_CLI_OUTPUT_H

#include "base/error.h"

// Whether the file at `path` begins with the schema of a `what` ("trace", "plan").
bool output_begins_like(const char *path, const char *what);

// A `what` may be written to `path`: its folder is there, and what is there already is an old one, empty, or no regular
// file (STATUS_FAILED otherwise).
bool output_check(const char *path, const char *what, struct error *error);

#endif
