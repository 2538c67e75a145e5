// SPDX-License-Identifier: Apache-2.0
#include "tracefile/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t put_in_file(struct trace_sink *sink, const char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t written = write(sink->fd, bytes + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        done += (size_t)written;
    }
    return done;
}

// A device or a pipe can't be cut, and takes no end block.
static bool cut_file(struct trace_sink *sink, uint64_t size) {
    return ftruncate(sink->fd, (off_t)size) == 0 && lseek(sink->fd, (off_t)size, SEEK_SET) == (off_t)size;
}

static bool close_file(struct trace_sink *sink) {
    return close(sink->fd) == 0;
}

// A file that was there already may have a wider mode; a device keeps its own.
static bool make_private(int fd) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return false;
    return !S_ISREG(facts.st_mode) || fchmod(fd, S_IRUSR | S_IWUSR) == 0;
}

static int create_file(const char *path, bool exclusive, bool *exists, struct error *error) {
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (exclusive ? O_EXCL : O_TRUNC);
    int fd = open(path, flags, S_IRUSR | S_IWUSR);
    if (exists != NULL) *exists = fd < 0 && exclusive && errno == EEXIST;
    if (fd >= 0 && make_private(fd)) return fd;
    error_set(error, STATUS_FAILED, "cannot create %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

struct trace_writer *trace_writer_open(const char *path, const struct trace_header *header, bool exclusive,
                                       bool *exists, struct error *error) {
    struct trace_sink sink = {put_in_file, cut_file, close_file, create_file(path, exclusive, exists, error), NULL};
    if (sink.fd < 0) return NULL;
    struct trace_writer *writer = trace_writer_to(&sink, header, TRACE_VERSION, error);
    if (writer != NULL) return writer;
    error_wrap(error, "%s", path);
    close(sink.fd);
    return NULL;
}
