// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/actor_change.h"

#include "metrics/message_pattern.h"
#include "optimize/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, NEAREST_BYTES = 300 };

// ---- names

static bool is_of_program(const struct logged_actor *actor) {
    return actor->of_program && !actor->router;
}

// "com.acme.Shop$Cart", or "Cart" for short.
static bool is_class(const char *name, const char *wanted) {
    return strcmp(name, wanted) == 0 || strcmp(class_short(name), wanted) == 0;
}

// "pekko://shop/user/cart", or "/user/cart" for short.
static bool is_path(const char *path, const char *wanted) {
    if (strcmp(path, wanted) == 0) return true;
    const char *user = strstr(path, "/user/");
    return user && strcmp(user, wanted) == 0;
}

struct names { // that a trace has of a kind, each once
    const char **items;
    size_t count, capacity;
    bool no_memory;
};

static void add_name(struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) return;
    }
    if (names->count == names->capacity) {
        const size_t larger = names->capacity ? 2 * names->capacity : 64;
        const char **moved = realloc(names->items, larger * sizeof *moved);
        if (!moved) {
            names->no_memory = true;
            return;
        }
        names->items = moved;
        names->capacity = larger;
    }
    names->items[names->count++] = name;
}

static void list_types(const struct actor_log *log, struct names *names) {
    uint32_t last = LOG_NONE;
    for (uint32_t a = 0; a < log->actor_count; a++) {
        if (!is_of_program(&log->actors[a]) || log->actors[a].type == last) continue;
        last = log->actors[a].type;
        add_name(names, actor_log_class(log, last));
    }
}

static void list_messages(const struct actor_log *log, struct names *names) {
    bool *seen = calloc((size_t)log->dag->trace->class_count + 1, sizeof *seen);
    names->no_memory |= !seen;
    for (uint32_t m = 0; seen && m < log->message_count; m++) {
        const struct logged_message *message = &log->messages[m];
        if (!message->of_program || seen[message->class]) continue;
        seen[message->class] = true;
        add_name(names, actor_log_class(log, message->class));
    }
    free(seen);
}

enum { PATHS_MOST = 10000 }; // of which the nearest are named

static void list_paths(const struct actor_log *log, struct names *names, struct arena *arena) {
    char path[PATH_BYTES];
    for (uint32_t a = 0; a < log->actor_count && names->count < PATHS_MOST; a++) {
        if (!is_of_program(&log->actors[a])) continue;
        actor_log_path(log, a, path, sizeof path);
        const char *kept = arena_string(arena, path, strlen(path));
        if (!kept)
            names->no_memory = true;
        else
            add_name(names, kept);
    }
}

// The name that is meant, NULL: none, or several.
static const char *whole_name(const struct names *names, const char *wanted, bool (*is)(const char *, const char *)) {
    const char *found = NULL;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], wanted) == 0) return names->items[i];
        if (!is(names->items[i], wanted)) continue;
        if (found) return NULL;
        found = names->items[i];
    }
    return found;
}

static const char *find_name(const struct names *names, const char *what, const char *wanted,
                             bool (*is)(const char *, const char *), struct arena *arena, struct error *error) {
    char nearest[NEAREST_BYTES];
    const char *whole = names->no_memory ? NULL : whole_name(names, wanted, is);
    const char *kept = whole ? arena_string(arena, whole, strlen(whole)) : NULL;
    if (kept) return kept;
    if (whole || names->no_memory) {
        error_set(error, STATUS_FAILED, "no memory for the names of actors");
        return NULL;
    }
    text_nearest(wanted, names->items, names->count, nearest, sizeof nearest);
    error_set(error, STATUS_BAD_INPUT, "the trace has no %s %.150s, or several; nearest: %s", what, wanted, nearest);
    return NULL;
}

static bool find_messages(struct actor_change *change, const struct actor_log *log, struct arena *arena,
                          struct error *error) {
    struct names names = {0};
    list_messages(log, &names);
    const char **types = ARENA_NEW(arena, const char *, (size_t)change->type_count + 1);
    bool found = types || error_set(error, STATUS_FAILED, "no memory for the names of messages");
    for (uint32_t i = 0; found && i < change->type_count; i++)
        found = (types[i] = find_name(&names, "message type", change->types[i], is_class, arena, error)) != NULL;
    change->types = types;
    free(names.items);
    return found;
}

bool actor_change_find(struct improvement *improvement, const struct actor_log *log, struct arena *arena,
                       struct error *error) {
    struct actor_change *change = &improvement->change;
    struct names names = {0};
    if (improvement->kind == KIND_INLINE_MESSAGE) return find_messages(change, log, arena, error);
    const bool by_path = improvement->kind == KIND_SPLIT_ACTOR;
    if (by_path)
        list_paths(log, &names, arena);
    else
        list_types(log, &names);
    change->of =
        find_name(&names, by_path ? "actor" : "actor type", change->of, by_path ? is_path : is_class, arena, error);
    free(names.items);
    return change->of;
}

// ---- actors and tasks

struct created { // an actor of the DAG
    int64_t created_ns;
    uint64_t id;
    uint32_t actor;
};

static int by_creation(const void *a, const void *b) {
    const struct created *x = a, *y = b;
    if (x->created_ns != y->created_ns) return x->created_ns < y->created_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_id(const void *a, const void *b) {
    const struct created *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

// The DAG's actors by id. NULL: no memory.
static struct created *actors_by_id(const struct dag *dag) {
    struct created *actors = malloc(((size_t)dag->actor_count + 1) * sizeof *actors);
    for (uint32_t a = 1; actors && a <= dag->actor_count; a++)
        actors[a - 1] = (struct created){0, dag->actors[a].id, a};
    if (actors && dag->actor_count) qsort(actors, dag->actor_count, sizeof *actors, by_id);
    return actors;
}

static bool is_meant(const struct improvement *improvement, const struct actor_log *log, uint32_t actor) {
    char path[PATH_BYTES];
    if (!is_of_program(&log->actors[actor])) return false;
    const char *name = improvement->kind == KIND_SPLIT_ACTOR ? actor_log_path(log, actor, path, sizeof path)
                                                             : actor_log_class(log, log->actors[actor].type);
    return strcmp(name, improvement->change.of) == 0;
}

// Those that are meant and that the DAG has, as they were created. false: no memory.
static bool find_actors(struct improvement *improvement, const struct actor_log *log, struct arena *arena) {
    const struct dag *dag = improvement->dag;
    struct created *known = actors_by_id(dag), *found = malloc(((size_t)dag->actor_count + 1) * sizeof *found);
    uint32_t count = 0;
    for (uint32_t a = 0; known && found && a < log->actor_count; a++) {
        const struct created key = {.id = log->actors[a].id};
        const struct created *of = bsearch(&key, known, dag->actor_count, sizeof key, by_id);
        if (!of || !is_meant(improvement, log, a)) continue;
        found[count++] = (struct created){log->actors[a].created_ns, of->id, of->actor};
    }
    if (count) qsort(found, count, sizeof *found, by_creation);
    uint32_t *actors = known && found ? ARENA_NEW(arena, uint32_t, (size_t)count + 1) : NULL;
    for (uint32_t i = 0; actors && i < count; i++) actors[i] = found[i].actor;
    improvement->change.actors = actors;
    improvement->change.actor_count = actors ? count : 0;
    free(known);
    free(found);
    return actors;
}

// Marks the tasks that the improvement changes: all that its actors do; or the messages of its types that a handler
// sent.
static bool mark_tasks(struct improvement *improvement, const struct actor_log *log, bool *marks) {
    const struct dag *dag = improvement->dag;
    const struct actor_change *change = &improvement->change;
    const bool by_message = improvement->kind == KIND_INLINE_MESSAGE;
    bool *meant = calloc((by_message ? (size_t)dag->trace->class_count : (size_t)dag->actor_count) + 2, sizeof *meant);
    if (!meant) return false;
    for (uint32_t i = 0; i < change->actor_count; i++) meant[change->actors[i]] = true;
    for (uint32_t c = 1; by_message && c < dag->trace->class_count; c++) {
        for (uint32_t i = 0; i < change->type_count && !meant[c]; i++)
            meant[c] = strcmp(actor_log_class(log, c), change->types[i]) == 0;
    }
    for (uint32_t t = 0; dag->actor_of && t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (by_message)
            marks[t] = task->flags & TASK_MESSAGE && meant[task->task_class] && !dag_follow_refusal(dag, t);
        else
            marks[t] = dag->actor_of[t] && meant[dag->actor_of[t]];
    }
    free(meant);
    return true;
}

static bool keep_tasks(struct improvement *improvement, const bool *marks, struct arena *arena) {
    const struct dag *dag = improvement->dag;
    uint32_t count = 0;
    for (uint32_t t = 0; t < dag->task_count; t++) count += marks[t];
    uint32_t *tasks = ARENA_NEW(arena, uint32_t, (size_t)count + 1);
    improvement->tasks = tasks;
    improvement->task_count = 0;
    for (uint32_t t = 0; tasks && t < dag->task_count; t++) {
        if (marks[t]) tasks[improvement->task_count++] = t;
    }
    return tasks;
}

static const char *refusal_of(const struct improvement *improvement) {
    const struct actor_change *change = &improvement->change;
    const char *refusal = NULL;
    if (improvement->kind == KIND_INLINE_MESSAGE)
        return improvement->task_count ? NULL
                                       : "no handler sent such a message that a dispatcher with known rules runs";
    if (change->actor_count == 0) return "none of such actors did anything that was recorded";
    if (improvement->kind == KIND_MERGE_ACTORS && change->actor_count == 1) return "there is but one of such actors";
    for (uint32_t i = 0; i < change->actor_count && !refusal; i++)
        refusal = dag_actor_refusal(improvement->dag, change->actors[i]);
    return refusal;
}

bool actor_change_fill(struct improvement *improvement, const struct actor_log *log, struct arena *arena) {
    const bool by_message = improvement->kind == KIND_INLINE_MESSAGE;
    bool *marks = calloc((size_t)improvement->dag->task_count + 1, sizeof *marks);
    improvement->tasks = NULL;
    improvement->task_count = 0;
    bool done = marks && (by_message || find_actors(improvement, log, arena)) && mark_tasks(improvement, log, marks) &&
                keep_tasks(improvement, marks, arena);
    if (done) improvement->refusal = refusal_of(improvement);
    free(marks);
    return done;
}
