// SPDX-License-Identifier: GPL-3.0-or-later
#include "temporary_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char temporary_folder[] = "/tmp/rehype-test-XXXXXX";
char temporary_trace[sizeof temporary_folder + sizeof "/trace.msgpack"];

int temporary_folder_make(void **state) {
    if (mkdtemp(temporary_folder) == NULL) return -1;
    snprintf(temporary_trace, sizeof temporary_trace, "%s/trace.msgpack", temporary_folder);
    return 0;
}

int temporary_folder_remove(void **state) {
    unlink(temporary_trace);
    return rmdir(temporary_folder);
}
