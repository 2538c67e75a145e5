// SPDX-License-Identifier: Apache-2.0
// Opening a trace by its path; by its bytes, as where there are no files: reader.c.
#include "tracefile/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void unmap(struct trace_file *file) {
    munmap((void *)file->bytes, file->trace.bytes);
}

// Maps what fd names. An empty file maps to nothing, and is refused later as one.
static bool map_file(struct trace_file *file, int fd, struct error *error) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return error_set(error, STATUS_FAILED, "cannot read: %s", strerror(errno));
    if (S_ISDIR(facts.st_mode)) return error_set(error, STATUS_FAILED, "cannot read: %s", strerror(EISDIR));
    if (!S_ISREG(facts.st_mode)) return error_set(error, STATUS_FAILED, "cannot read: not a regular file");
    file->trace.bytes = (uint64_t)facts.st_size;
    if (facts.st_size == 0) return true;
    void *mapping = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED) return error_set(error, STATUS_FAILED, "cannot map: %s", strerror(errno));
    file->bytes = mapping;
    file->unmap = unmap;
    return true;
}

struct trace *trace_open(const char *path, bool lenient, struct error *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        error_set(error, STATUS_FAILED, "cannot open: %s", strerror(errno));
        error_wrap(error, "%s", path);
        return NULL;
    }
    struct trace_file *file = trace_file_new(path, error);
    bool mapped = file != NULL && map_file(file, fd, error);
    close(fd);
    if (mapped) return trace_file_open(file, lenient, error);
    error_wrap(error, "%s", path);
    if (file != NULL) trace_close(&file->trace);
    return NULL;
}
