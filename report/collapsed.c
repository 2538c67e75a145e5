// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks are a tree: a node is a frame below another, and has the time that threads spent in it itself. A node is found
// by its parent and its frame, and comes after its parent in order.
#include "report/collapsed.h"

#include "dag/idmap.h"
#include "report/escape.h"
#include "report/interned.h"

#include <inttypes.h>
#include <stdlib.h>

struct node {
    uint32_t parent, name;
    uint8_t kind; // enum span_kind
    int64_t own_ns;
};

enum { ROOT = 0, FRAMES_MOST = 4096 };

struct collapsed {
    const struct timeline *timeline;
    struct interned names;
    struct idmap node_of; // by parent and name
    struct node *nodes;
    uint32_t count, capacity;
    uint32_t thread; // DAG_NONE: none yet
    uint32_t at;     // node that the thread is in
    int64_t since_ns;
    bool no_memory;
};

static bool make_room(struct collapsed *stacks) {
    if (stacks->count < stacks->capacity) return true;
    const uint32_t larger = 2 * stacks->capacity + 64;
    struct node *moved = realloc(stacks->nodes, larger * sizeof *moved);
    if (!moved) return false;
    stacks->nodes = moved;
    stacks->capacity = larger;
    return true;
}

// What has one name in one place is of one kind, since kinds are named apart.
static uint32_t child_of(struct collapsed *stacks, uint32_t parent, const char *text, enum span_kind kind) {
    const uint32_t name = interned_number(&stacks->names, text);
    const uint64_t key = (uint64_t)parent << 32 | name;
    const uint32_t known = idmap_get(&stacks->node_of, key);
    if (known != IDMAP_NONE) return known;
    if (!name || !make_room(stacks) || !idmap_add(&stacks->node_of, key, stacks->count)) {
        stacks->no_memory = true;
        return ROOT;
    }
    stacks->nodes[stacks->count] = (struct node){parent, name, (uint8_t)kind, 0};
    return stacks->count++;
}

static void begin_thread(struct collapsed *stacks, uint32_t thread) {
    char name[SPAN_NAME_BYTES];
    timeline_thread_name(stacks->timeline, thread, name, sizeof name);
    stacks->at = child_of(stacks, ROOT, name, SPAN_TASK);
    stacks->thread = thread;
}

static void take_moment(void *context, const struct moment *moment) {
    struct collapsed *stacks = context;
    char name[SPAN_NAME_BYTES];
    if (moment->kind == MOMENT_MARK || stacks->no_memory) return;
    if (stacks->thread != moment->thread)
        begin_thread(stacks, moment->thread);
    else
        stacks->nodes[stacks->at].own_ns += moment->time_ns - stacks->since_ns;
    stacks->since_ns = moment->time_ns;
    if (moment->kind == MOMENT_END)
        stacks->at = stacks->nodes[stacks->at].parent;
    else
        stacks->at = child_of(stacks, stacks->at, span_name(stacks->timeline->dag, &moment->span, name, sizeof name),
                              moment->span.kind);
}

// The root is no frame, and what a thread spends outside of all spans is not told.
static void write_stack(const struct collapsed *stacks, uint32_t leaf, FILE *file) {
    static const char *const states[] = {
        [SPAN_TASK] = "[active]",  [SPAN_FUNCTION] = "[active]", [SPAN_SPAWN] = "[active]",
        [SPAN_WAIT] = "[waiting]", [SPAN_BLOCKED] = "[blocked]", [SPAN_SLEEP] = "[blocked]"};
    uint32_t path[FRAMES_MOST], depth = 0;
    const struct node *nodes = stacks->nodes;
    for (uint32_t n = leaf; n != ROOT && depth < FRAMES_MOST; n = nodes[n].parent) path[depth++] = n;
    while (depth > 0) {
        escape_frame(file, stacks->names.texts[nodes[path[--depth]].name - 1]);
        putc(';', file);
    }
    fprintf(file, "%s %" PRId64 "\n", states[nodes[leaf].kind], nodes[leaf].own_ns);
}

bool collapsed_write(const struct timeline *timeline, FILE *file, struct error *error) {
    struct collapsed stacks = {.timeline = timeline, .thread = DAG_NONE};
    stacks.no_memory = !make_room(&stacks);
    if (!stacks.no_memory) stacks.nodes[stacks.count++] = (struct node){0};
    bool ok = timeline_visit(timeline, take_moment, &stacks, error);
    if (ok && stacks.no_memory) ok = error_set(error, STATUS_FAILED, "no memory for the stacks");
    for (uint32_t n = 1; ok && n < stacks.count; n++) {
        if (stacks.nodes[n].own_ns > 0 && stacks.nodes[n].parent != ROOT) write_stack(&stacks, n, file);
    }
    idmap_destroy(&stacks.node_of);
    interned_destroy(&stacks.names);
    free(stacks.nodes);
    return ok;
}
