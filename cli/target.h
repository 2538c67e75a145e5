// SPDX-License-Identifier: GPL-3.0-or-later
// A running JVM, and HotSpot's protocol for loading an agent into it: a file .attach_pidPID and SIGQUIT make the JVM
// open the socket .java_pidPID, both in the /tmp that the JVM sees and with the process id that it knows itself by. No
// tool of a JDK is needed.
//
// SIGQUIT ends a process that doesn't catch it: it is sent only to one that has libjvm.so mapped, catches the signal,
// and was not told to refuse.
#ifndef REHYPE_CLI_TARGET_H
#define REHYPE_CLI_TARGET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct target {
    pid_t pid, own_pid; // as we know it, as it knows itself (in a container)
    uid_t uid;          // effective
    gid_t gid;
    bool same_files; // it sees the file system that we see
    int tmp;         // its /tmp, a descriptor
};

// Looks at the process and whether it can be attached to; nothing is done to it. `text` is its pid. false and *error:
// STATUS_USAGE for no number, else STATUS_FAILED.
bool target_open(struct target *target, const char *text, struct error *error);
void target_close(struct target *target);

// Whether the process is still there.
bool target_lives(const struct target *target);

// A new file of that name in the target's /tmp, its own and private (0600); a descriptor to read and write, or -1.
int target_create(const struct target *target, const char *name, struct error *error);
void target_remove(const struct target *target, const char *name);

// Whether the target's user may write into the folder, or read the file (which both see).
bool target_may_write(const struct target *target, const char *folder);
bool target_may_read(const struct target *target, const char *file);

// Makes the JVM load the agent. `library` is a path as the target sees it. What the JVM answers is in *answer, in the
// arena; that it answered is no sign that the agent works.
bool target_load(const struct target *target, const char *library, const char *options, struct arena *arena,
                 const char **answer, struct error *error);

#endif
