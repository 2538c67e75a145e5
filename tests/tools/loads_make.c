// SPDX-License-Identifier: GPL-3.0-or-later
// Made morning.msgpack and evening.msgpack of tests/golden/traces, and the repetitions of both: `loads_make FOLDER`
// writes them.
#include "loads.h"

#include <stdio.h>

static void make(const char *folder, const char *name, const char *command, const struct load *loads,
                 uint64_t task_ns) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.msgpack", folder, name);
    struct trace_builder *tb = loads_run(loads, LOADS_OF_DAY, task_ns);
    tb_command(tb, command);
    tb_write(tb, path);
    tb_free(tb);
}

// How long the tasks of each run take: the first of three, and the fourth of seven, are the median.
static void make_runs(const char *folder) {
    static const uint64_t morning_ns[] = {990, 1020, 1005, 1000, 985, 1010, 995}, evening_ns[] = {1000, 1040, 960};
    char name[32];
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "morning-run%d", i + 1);
        make(folder, name, "java -cp classes Test morning", loads_morning, morning_ns[i]);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "evening-run%d", i + 1);
        make(folder, name, "java -cp classes Test evening", loads_evening, evening_ns[i]);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: loads_make FOLDER\n");
        return 2;
    }
    make(argv[1], "morning", "java Test morning", loads_morning, 1000);
    make(argv[1], "evening", "java Test evening", loads_evening, 1000);
    make_runs(argv[1]);
    return 0;
}
