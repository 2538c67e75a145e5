// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/message_pattern.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 1024 };

const char *class_short(const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot && dot[1]) name = dot + 1;
    const char *dollar = strrchr(name, '$');
    return dollar && dollar[1] && !isdigit((unsigned char)dollar[1]) ? dollar + 1 : name;
}

static bool means(const char *glob, const char *name) {
    return fnmatch(glob, name, FNM_NOESCAPE) == 0;
}

static bool means_class(const char *glob, const char *name) {
    const char *dot = strrchr(name, '.');
    return means(glob, name) || (dot && means(glob, dot + 1)) || means(glob, class_short(name));
}

static bool means_actor(const char *glob, const struct actor_log *log, uint32_t actor) {
    char path[PATH_SIZE];
    const struct logged_actor *of = &log->actors[actor];
    return means_class(glob, actor_log_class(log, of->type)) || (of->name && means(glob, of->name)) ||
           means(glob, actor_log_path(log, actor, path, sizeof path));
}

static char *trimmed(struct arena *arena, const char *text, size_t length) {
    while (length > 0 && isspace((unsigned char)*text)) text++, length--;
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    return arena_string(arena, text, length);
}

static bool no_room(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for a pattern of messages");
}

static bool mark_actors(const char *glob, const struct actor_log *log, bool *marks) {
    bool any = false;
    for (uint32_t a = 0; a < log->actor_count; a++) any |= marks[a] = means_actor(glob, log, a);
    return any;
}

// Classes of messages only: actors' are in the same table.
static bool mark_classes(const char *glob, const struct actor_log *log, bool *marks) {
    bool any = false;
    for (uint32_t c = 0; c < log->dag->trace->class_count; c++) marks[c] = means_class(glob, actor_log_class(log, c));
    for (uint32_t m = 0; m < log->message_count && !any; m++) any = marks[log->messages[m].class];
    return any;
}

bool message_pattern_parse(const char *text, size_t length, const struct actor_log *log, struct arena *arena,
                           struct message_pattern *pattern, struct error *error) {
    char *whole = trimmed(arena, text, length);
    if (!whole) return no_room(error);
    const char *colon = strrchr(whole, ':');
    char *actor = colon ? trimmed(arena, whole, (size_t)(colon - whole)) : trimmed(arena, "*", 1);
    const char *class = colon ? colon + 1 : whole;
    char *message = trimmed(arena, class, strlen(class));
    bool *actors = ARENA_NEW(arena, bool, (size_t)log->actor_count + 1);
    bool *classes = ARENA_NEW(arena, bool, (size_t)log->dag->trace->class_count + 1);
    if (!actor || !message || !actors || !classes) return no_room(error);
    *pattern = (struct message_pattern){whole, actors, classes};
    if (!mark_actors(actor, log, actors))
        return error_set(error, STATUS_USAGE, "no actor is, or is of the type, '%s'", actor);
    if (mark_classes(message, log, classes)) return true;
    return error_set(error, STATUS_USAGE, "no message is of the type '%s'", message);
}

bool message_pattern_of(const struct actor_log *log, uint32_t type, uint32_t class, struct arena *arena,
                        struct message_pattern *pattern) {
    char text[1024];
    bool *actors = ARENA_NEW(arena, bool, (size_t)log->actor_count + 1);
    bool *classes = ARENA_NEW(arena, bool, (size_t)log->dag->trace->class_count + 1);
    const int length = snprintf(text, sizeof text, "%s:%s", class_short(actor_log_class(log, type)),
                                class_short(actor_log_class(log, class)));
    char *kept = arena_string(arena, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
    if (!actors || !classes || !kept) return false;
    for (uint32_t a = 0; a < log->actor_count; a++) actors[a] = log->actors[a].type == type;
    classes[class] = true;
    *pattern = (struct message_pattern){kept, actors, classes};
    return true;
}
