// SPDX-License-Identifier: GPL-3.0-or-later
// 'Actor:Message': which messages are meant, by who handles them and by their type. Both are names with * and ?. An
// actor goes by its type (p.Renderer, or Renderer), its path, or its name; a message by its class (p.Scene$Tick,
// Scene$Tick, or Tick). Without a colon any actor's.
#ifndef REHYPE_METRICS_MESSAGE_PATTERN_H
#define REHYPE_METRICS_MESSAGE_PATTERN_H

#include "metrics/actor_log.h"

struct message_pattern {
    const char *text;  // as it was given
    const bool *actor; // an actor of the log each
    const bool *class; // a class of the trace each
};

// In the arena. STATUS_USAGE where no actor of the log is meant, or no class of its messages. Cost: 1 us an actor.
bool message_pattern_parse(const char *text, size_t length, const struct actor_log *log, struct arena *arena,
                           struct message_pattern *pattern, struct error *error);

// Actors of a type, and a class. false: no memory.
bool message_pattern_of(const struct actor_log *log, uint32_t type, uint32_t class, struct arena *arena,
                        struct message_pattern *pattern);

static inline bool message_pattern_means(const struct message_pattern *pattern, const struct logged_message *message) {
    return message->receiver != LOG_NONE && pattern->class[message->class] && pattern->actor[message->receiver];
}

// "Renderer" of "p.Renderer", "Tick" of "p.Scene$Tick": what of a class's name is shown.
const char *class_short(const char *name);

#endif
