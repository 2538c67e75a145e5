// SPDX-License-Identifier: Apache-2.0
// Where Akka (2.6) and Apache Pekko are hooked: one table for both, whose classes have the same names in other
// packages, and for classic and typed actors, since these are adapted to those. The numbers of actors and messages are
// kept in fields that are added to ActorRef, ActorCell and Envelope as these are loaded; in a JVM that was attached to
// there are none, and nothing is told of actors.
#ifndef REHYPE_TRACER_ACTOR_HOOKS_H
#define REHYPE_TRACER_ACTOR_HOOKS_H

#include "tracer/weave.h"

extern const char *const actor_hooks_packages[]; // of the libraries, internal; NULL is the last

// Whether the class is in the table; cheap.
bool actor_hooks_concern(const char *internal_class);

// Whether the class, which is loaded, tells that the JVM has actors that will not be recorded.
bool actor_hooks_come_too_late(const char *internal_class, size_t length);

// Whether the class is what runs actors: a mailbox, which is no task, though it is of a task's type.
bool actor_hooks_schedules(struct utf8 internal_class);

// Weaves the table's hooks into the class, as it is loaded and as often as it is retransformed: the JVM refuses to drop
// a field.
void actor_hooks_weave(struct weaver *weaver);

#endif
