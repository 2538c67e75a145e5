// SPDX-License-Identifier: GPL-3.0-or-later
// Made actors.msgpack and coupled.msgpack of tests/golden/traces: actors_make FOLDER (actor_story.h).
#include "actor_story.h"

#include <stdio.h>

int main(int argc, char **argv) {
    static const char *const names[] = {"actors", "coupled"};
    if (argc != 2) {
        fprintf(stderr, "usage: actors_make FOLDER\n");
        return 2;
    }
    for (int coupled = 0; coupled < 2; coupled++) {
        char path[4096];
        struct trace_builder *tb = actor_story(coupled);
        snprintf(path, sizeof path, "%s/%s.msgpack", argv[1], names[coupled]);
        tb_write(tb, path);
        tb_free(tb);
    }
    return 0;
}
