// SPDX-License-Identifier: Apache-2.0
// Executors that are no part of the JDK, by a table that is text: tracer/executors.conf, which is built in and says
// what a line means, and the lines of a config file. A line is a hook: a class, a method, a descriptor, what the method
// does, and with which argument.
#ifndef REHYPE_TRACER_EXECUTORS_H
#define REHYPE_TRACER_EXECUTORS_H

#include "base/arena.h"
#include "base/error.h"
#include "tracer/weave.h"

#include <stdbool.h>

enum executor_role {
    EXECUTOR_SPAWN,
    EXECUTOR_RUN,
    EXECUTOR_WORKER,
    EXECUTOR_IDLE,
    EXECUTOR_CORE,
    EXECUTOR_MAXIMUM,
    EXECUTOR_MESSAGE, // these of a library of actors (mail.h)
    EXECUTOR_HANDLE,
    EXECUTOR_INIT,
    EXECUTOR_RESOURCE_ACQUIRE, // these of a pool of connections (connections.h)
    EXECUTOR_RESOURCE_RELEASE,
    EXECUTOR_RESOURCE_CAPACITY, // from here on only called
    EXECUTOR_RESOURCE_NAME,
    EXECUTOR_RESOURCE_LIMIT,
};

struct executor_hook {
    const char *class_name;          // internal
    const char *method, *descriptor; // descriptor NULL: any
    enum executor_role role;
    unsigned argument; // from 1; 0: none
    unsigned receiver; // of a message, likewise; 0: the object itself
    bool outer;        // the pool is what the object is nested in
    const struct executor_hook *next;
};

// One line's value. NULL and *error (STATUS_USAGE) where it is not as executors.conf says.
struct executor_hook *executor_parse(const char *line, struct arena *arena, struct error *error);

// Whether some hook is of the class.
bool executors_concern(const struct executor_hook *hooks, struct utf8 internal_class);

// Weaves the hooks of the class; what it does not have is passed over. A hook that fails is registered as a skip.
void executors_weave(const struct executor_hook *hooks, struct weaver *weaver);

// The method that tells a pool's size, for a class or those that extend it; NULL where no line names one.
const struct executor_hook *executors_size(const struct executor_hook *hooks, enum executor_role role,
                                           const struct executor_hook *after);

#endif
