// SPDX-License-Identifier: Apache-2.0
// How much memory this process may have: what the machine has, and what its cgroup (version 1 or 2) and those above it,
// its limit of addresses and a strict policy of overcommitting leave of that.
#ifndef REHYPE_TRACER_MEMORY_ROOM_H
#define REHYPE_TRACER_MEMORY_ROOM_H

#include <stdint.h>

struct memory_room {
    uint64_t total_bytes;
    uint64_t available_bytes; // of it, without pushing anyone's out but files that nobody has read lately
};

// `root` stands before every path, "" for the system's own. What can't be read sets no limit; where nothing can, both
// are 0. Cost: some ten files of /proc and /sys.
struct memory_room memory_room_read(const char *root);

// What buffers may take if nobody says: an eighth of `bytes`, but no more than 4 GiB, which it would take seconds to
// write, and no less than 8 MiB.
uint64_t memory_share(uint64_t bytes);

#endif
