// SPDX-License-Identifier: Apache-2.0
#include "tracer/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTION_BYTES_MOST = 1 << 20 };

static bool read_fully(int fd, char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t length = pread(fd, text + at, size - at, (off_t)at);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return false;
        at += (size_t)length;
    }
    text[size] = '\0';
    return true;
}

int session_open(const char *path, struct arena *arena, const char **options, struct error *error) {
    struct stat facts;
    int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool good = fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size <= OPTION_BYTES_MOST;
    char *text = good ? arena_alloc(arena, (size_t)facts.st_size + 1, 1) : NULL;
    if (text && read_fully(fd, text, (size_t)facts.st_size)) {
        text[strcspn(text, "\n")] = '\0';
        *options = text;
        return fd;
    }
    error_set(error, STATUS_FAILED, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

void session_tell(int session, const char *what, const char *text) {
    char line[8192];
    if (session < 0) return;
    int length = snprintf(line, sizeof line, "%s%s%s\n", what, text ? " " : "", text ? text : "");
    if (length >= (int)sizeof line) length = (int)sizeof line;
    line[length - 1] = '\n';
    ssize_t written = write(session, line, (size_t)length);
    (void)written;
}

bool session_lasts(int session) {
    return session < 0 || (flock(session, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
}
