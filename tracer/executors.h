// SPDX-License-Identifier: Apache-2.0
// Executors that are no part of the JDK, by a table that is text: tracer/executors.conf, which is built in and says
// what a line means, and the lines of a config file. A line is a hook: a class, a method, a descriptor, what the method
// does, and with which argument.
#ifndef REHYPE_TRACER_EXECUTORS_H
#define REHYPE_TRACER_EXECUTORS_H

#include "base/arena.h"
#include "base/error.h"
#include "tracer/telling.h"
#include "tracer/weave.h"

#include <stdbool.h>

enum executor_role {
    EXECUTOR_SPAWN,
    EXECUTOR_RUN,
    EXECUTOR_WORKER,
    EXECUTOR_IDLE,
    EXECUTOR_STANDBY,
    EXECUTOR_CALLED,
    EXECUTOR_TAKE, // of a stage, which is a pool whose threads are the program's own
    EXECUTOR_SHUTDOWN,
    EXECUTOR_CORE, // these are asked, of a pool (executor_rules.h), to EXECUTOR_DELEGATE
    EXECUTOR_MAXIMUM,
    EXECUTOR_QUEUE,
    EXECUTOR_CAPACITY,
    EXECUTOR_KEEP_ALIVE_MS,
    EXECUTOR_KEEP_ALIVE_NS,
    EXECUTOR_DELEGATE,
    EXECUTOR_GROWS, // these are of the class
    EXECUTOR_WAKES,
    EXECUTOR_MESSAGE, // these of a library of actors (mail.h)
    EXECUTOR_HANDLE,
    EXECUTOR_INIT,
    EXECUTOR_REQUEST_SERVE, // these of a server (requests.c)
    EXECUTOR_REQUEST_PART,
    EXECUTOR_REQUEST_MORE,
    EXECUTOR_REQUEST_ASYNC,
    EXECUTOR_REQUEST_END,
    EXECUTOR_REQUEST_LAST,
    EXECUTOR_REQUEST_CODE,
    EXECUTOR_REQUEST_THROWN,
    EXECUTOR_REQUEST_CONNECTION,
    EXECUTOR_REQUEST_NAME,
    EXECUTOR_REQUEST_MAPPED,
    EXECUTOR_REQUEST_MATCHED,
    EXECUTOR_RESOURCE_ACQUIRE, // these of a pool of connections (connections.h)
    EXECUTOR_RESOURCE_RELEASE,
    EXECUTOR_RESOURCE_CAPACITY, // from here on only called
    EXECUTOR_RESOURCE_NAME,
    EXECUTOR_RESOURCE_LIMIT,
};

enum { EXECUTOR_TELLINGS = 3 };

struct executor_hook {
    const char *class_name; // internal; copies of the class in packages below others have it, too
    size_t class_length;
    const char *method, *descriptor; // descriptor NULL: any
    enum executor_role role;
    unsigned argument;                          // from 1; 0: none
    unsigned receiver;                          // of a message, likewise; 0: the object itself
    const char *field;                          // NAME:TYPE, that holds it instead; NULL
    struct telling *telling[EXECUTOR_TELLINGS]; // of a pool: its name; of a request: its key, its connection and its
                                                // verb, its key and its status, its verb and its route and what that
                                                // lies below, its connection, or its exception; NULL: none
    struct telling *only;   // the line goes only for calls in which that is of the class; NULL: for all
    const char *only_class; // com.acme.Main
    bool outer;             // the pool is what the object is nested in
    bool seen;              // what it runs is a task only if it was seen to be handed over
    const struct executor_hook *next;
};

// One line's value. NULL and *error (STATUS_USAGE) where it is not as executors.conf says.
struct executor_hook *executor_parse(const char *line, struct arena *arena, struct error *error);

// Whether a hook is of the class, or of the class of which that is a copy in packages below others, as builds relocate
// libraries (shade): wiremock/org/eclipse/jetty/... `prefix` is what stands before; NULL where it isn't wanted.
bool executor_is_of(const struct executor_hook *hook, struct utf8 internal_class, struct utf8 *prefix);

// A type of the library as a relocated copy has it: Lcom/acme/Pool; -> Lshaded/com/acme/Pool;. Returns text.
const char *executor_relocated(struct utf8 prefix, const char *type, char *text, size_t size);

// Whether some hook is of the class.
bool executors_concern(const struct executor_hook *hooks, struct utf8 internal_class);

// Weaves the hooks of the class, those of one method in the order of their lines; what it does not have is passed over.
// A hook that fails is registered as a skip.
void executors_weave(const struct executor_hook *hooks, struct weaver *weaver);

// A number by which woven code names a hook to its probe, and the hook of a number. -1: there are too many. Any thread.
enum { EXECUTOR_NUMBERS = 256 };
int executor_number(const struct executor_hook *hook);
const struct executor_hook *executor_numbered(int number);

#endif
