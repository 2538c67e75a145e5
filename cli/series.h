// SPDX-License-Identifier: GPL-3.0-or-later
// A command that is recorded several times (record --repeat): a file each, and what the runs took side by side.
#ifndef REHYPE_CLI_SERIES_H
#define REHYPE_CLI_SERIES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <time.h>

// The file of one run, from 1: "trace-run3.msgpack" of "trace.msgpack". In the arena; NULL: no memory.
const char *series_path(const char *path, unsigned run, struct arena *arena);

struct series_run {
    const char *path; // absolute, may hold %p, %t, %n, as it was written
    time_t start;
};

// Writes a table of the runs that were made, and their wall time's median and spread. Of a run with several JVMs the
// trace that lasts longest counts; of one in several files there is no wall time. Errors: no memory.
bool series_write(const struct series_run *runs, size_t count, FILE *file, unsigned look, struct error *error);

#endif
