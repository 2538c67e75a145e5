// SPDX-License-Identifier: GPL-3.0-or-later
// Made morning.msgpack and evening.msgpack of tests/golden/traces: `loads_make FOLDER` writes them.
#include "loads.h"

#include <stdio.h>

static void make(const char *folder, const char *name, const struct load *loads) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.msgpack", folder, name);
    struct trace_builder *tb = loads_trace(loads, LOADS_OF_DAY);
    tb_write(tb, path);
    tb_free(tb);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: loads_make FOLDER\n");
        return 2;
    }
    make(argv[1], "morning", loads_morning);
    make(argv[1], "evening", loads_evening);
    return 0;
}
