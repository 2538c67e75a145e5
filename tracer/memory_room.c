// SPDX-License-Identifier: Apache-2.0
#include "tracer/memory_room.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_BYTES = 8192 };

// A file's beginning, ended by 0. false: there is none.
static bool read_file(const char *root, const char *folder, const char *name, char text[FILE_BYTES]) {
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s%s/%s", root, folder, name) >= sizeof path) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, FILE_BYTES - 1);
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

// The number behind the word at a line's beginning. false: there is none.
static bool number_behind(const char *text, const char *word, uint64_t *number) {
    const size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0) return sscanf(line + length, "%" SCNu64, number) == 1;
    }
    return false;
}

static uint64_t least_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t left_of(uint64_t limit, uint64_t used) {
    return limit > used ? limit - used : 0;
}

static void restrict_to(struct memory_room *room, uint64_t total, uint64_t available) {
    room->total_bytes = least_of(room->total_bytes, total);
    room->available_bytes = least_of(room->available_bytes, available);
}

// Of the files of a cgroup: in one version and the other.
struct names {
    const char *mounts[2], *limits[2], *used, *unread;
};
static const struct names VERSIONS[] = {
    {{"/sys/fs/cgroup/memory", NULL}, {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "},
    {{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}, {"memory.max", "memory.high"}, "memory.current", "inactive_file "}};

// "max" is no limit, as is what is not there.
static uint64_t read_limit(const char *root, const char *folder, const char *name) {
    char text[FILE_BYTES];
    uint64_t limit;
    return name && read_file(root, folder, name, text) && sscanf(text, "%" SCNu64, &limit) == 1 ? limit : UINT64_MAX;
}

static void restrict_to_cgroup(struct memory_room *room, const char *root, const struct names *names,
                               const char *folder) {
    char text[FILE_BYTES];
    uint64_t used, unread;
    uint64_t limit = least_of(read_limit(root, folder, names->limits[0]), read_limit(root, folder, names->limits[1]));
    if (limit == UINT64_MAX || !read_file(root, folder, names->used, text)) return;
    if (sscanf(text, "%" SCNu64, &used) != 1) return;
    bool known = read_file(root, folder, "memory.stat", text) && number_behind(text, names->unread, &unread);
    restrict_to(room, limit, left_of(limit, known ? left_of(used, unread) : used));
}

// The cgroup and all above it. In a container its own is often the mount's root, whatever its path says.
static void restrict_to_path(struct memory_room *room, const char *root, const struct names *names, const char *path) {
    char folder[PATH_MAX];
    for (unsigned m = 0; m < 2 && names->mounts[m]; m++) {
        const int mount = snprintf(folder, sizeof folder, "%s", names->mounts[m]);
        if (strlen(path) + (size_t)mount >= sizeof folder) continue;
        strcpy(folder + mount, path);
        for (char *slash; (slash = strrchr(folder + mount, '/'));) {
            if (slash[1]) restrict_to_cgroup(room, root, names, folder);
            *slash = '\0';
        }
        restrict_to_cgroup(room, root, names, folder);
    }
}

// Whether a line "4:cpu,memory:/path" or "0::/path" is of the version; *path is then where the path begins.
static bool is_of_version(char *line, unsigned version, char **path) {
    char *controllers = strchr(line, ':'), *end = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!end) return false;
    *path = end + 1;
    *end = '\0';
    if (version == 1) return controllers[1] == '\0';
    for (char *rest, *name = strtok_r(controllers + 1, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (strcmp(name, "memory") == 0) return true;
    }
    return false;
}

static void restrict_to_cgroups(struct memory_room *room, const char *root) {
    for (unsigned version = 0; version < 2; version++) {
        char text[FILE_BYTES], *rest, *path;
        if (!read_file(root, "/proc/self", "cgroup", text)) return;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            if (is_of_version(line, version, &path)) restrict_to_path(room, root, &VERSIONS[version], path);
        }
    }
}

// Where nothing is overcommitted, and of addresses, a mapping counts whether it is touched or not: of what is left half
// is the program's.
static void restrict_to_commitments(struct memory_room *room, const char *root, const char *meminfo) {
    char policy[FILE_BYTES];
    uint64_t limit_kb, committed_kb;
    if (!read_file(root, "/proc/sys/vm", "overcommit_memory", policy) || *policy != '2') return;
    if (!number_behind(meminfo, "CommitLimit:", &limit_kb)) return;
    if (!number_behind(meminfo, "Committed_AS:", &committed_kb)) return;
    uint64_t left = left_of(limit_kb, committed_kb) * 1024;
    restrict_to(room, left / 2, left / 2);
}

static void restrict_to_addresses(struct memory_room *room) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    restrict_to(room, limit.rlim_cur / 2, limit.rlim_cur / 2);
}

struct memory_room memory_room_read(const char *root) {
    char meminfo[FILE_BYTES];
    uint64_t total_kb, available_kb;
    struct memory_room room = {UINT64_MAX, UINT64_MAX};
    if (read_file(root, "/proc", "meminfo", meminfo) && number_behind(meminfo, "MemTotal:", &total_kb)) {
        bool known = number_behind(meminfo, "MemAvailable:", &available_kb);
        restrict_to(&room, total_kb * 1024, (known ? available_kb : total_kb / 2) * 1024);
        restrict_to_commitments(&room, root, meminfo);
    }
    restrict_to_cgroups(&room, root);
    restrict_to_addresses(&room);
    return room.total_bytes == UINT64_MAX ? (struct memory_room){0, 0} : room;
}

uint64_t memory_share(uint64_t bytes) {
    const uint64_t least = UINT64_C(1) << 23, most = UINT64_C(1) << 32, share = bytes / 8;
    return share < least ? least : least_of(share, most);
}
