// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_begins_like(const char *path, const char *what) {
    char head[64], mark[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, head, sizeof head);
    close(fd);
    snprintf(mark, sizeof mark, "rehype.%s/", what);
    return length > 0 && memmem(head, (size_t)length, mark, strlen(mark)) != NULL;
}

static bool check_folder(const char *path, struct error *error) {
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    if (access(folder, W_OK | X_OK) == 0) return true;
    return error_set(error, STATUS_FAILED, "can't write %s: %s", path, strerror(errno));
}

bool output_check(const char *path, const char *what, struct error *error) {
    struct stat old;
    if (stat(path, &old) != 0) return check_folder(path, error);
    if (!S_ISREG(old.st_mode) || old.st_size == 0 || output_begins_like(path, what)) return true;
    return error_set(error, STATUS_FAILED, "not overwriting %s: it is not a rehype %s; choose another file with -o",
                     path, what);
}
