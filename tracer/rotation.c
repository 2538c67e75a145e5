// SPDX-License-Identifier: Apache-2.0
#include "tracer/rotation.h"

#include "tracer/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 12, TAKEN_MOST = 10000 };

// A file that may have to be deleted.
struct kept_file {
    char *path;
    uint64_t events;
    struct kept_file *newer;
};

static struct rotation_rules rules;
static const char *out;
static struct trace_header header;
static char *path, *previous;  // of the file that is being written; name of the one before
static uint32_t number, files; // files: there are, the one that is being written included
static struct kept_file *oldest, **newest = &oldest;
static uint64_t deleted_files, deleted_events, opened_ns, begun_bytes;

// Length of what comes before the number, and *rest, what comes behind.
static size_t split(const char *name, const struct rotation_rules *wanted, const char **rest) {
    const char *mark = strstr(name, "%n");
    *rest = mark ? mark + 2 : name + strlen(name);
    if (mark || !rotation_wanted(wanted)) return mark ? (size_t)(mark - name) : strlen(name);
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    if (dot) *rest = dot;
    return (size_t)(*rest - name);
}

char *rotation_path(const char *name, const struct rotation_rules *wanted, uint32_t file) {
    const char *rest;
    size_t stem = split(name, wanted, &rest), size = strlen(name) + NUMBER_BYTES;
    bool marked = strstr(name, "%n");
    if (!marked && !rotation_wanted(wanted)) return strdup(name);
    char *text = malloc(size);
    if (text) snprintf(text, size, "%.*s%s%u%s", (int)stem, name, marked ? "" : ".", file, rest);
    return text;
}

static const char *without_folder(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

void rotation_begin(const struct rotation_rules *wanted, const char *name, char *first,
                    const struct trace_header *described) {
    rotation_end();
    rules = *wanted;
    out = name;
    header = *described;
    path = first;
    number = files = 1;
    opened_ns = clock_ns(CLOCK_MONOTONIC);
}

bool rotation_due(const struct trace_writer *writer) {
    if (rules.most_ns && clock_ns(CLOCK_MONOTONIC) - opened_ns >= rules.most_ns) return true;
    return rules.most_bytes && trace_writer_bytes(writer) >= rules.most_bytes &&
           trace_writer_bytes(writer) / 2 >= begun_bytes;
}

// Takes the path over. Without memory the file is not remembered, and so stays.
static void remember(char *kept, uint64_t events) {
    struct kept_file *file = malloc(sizeof *file);
    if (!file) {
        free(kept);
        return;
    }
    *file = (struct kept_file){kept, events, NULL};
    *newest = file;
    newest = &file->newer;
    files++;
}

static void forget_oldest(bool and_delete) {
    struct kept_file *file = oldest;
    oldest = file->newer;
    if (!oldest) newest = &oldest;
    if (and_delete && unlink(file->path) == 0) {
        deleted_files++;
        deleted_events += file->events;
    }
    files--;
    free(file->path);
    free(file);
}

static struct trace_writer *open_after(uint32_t *at, char **opened, struct error *error) {
    bool exists = true;
    for (uint32_t tries = 0; exists && tries < TAKEN_MOST; tries++) {
        *opened = rotation_path(out, &rules, ++*at);
        if (!*opened) break;
        struct trace_writer *writer = trace_writer_open(*opened, &header, true, &exists, error);
        if (writer) return writer;
        free(*opened);
    }
    if (error->status == STATUS_OK) error_set(error, STATUS_FAILED, "no memory for another file's name");
    return NULL;
}

struct trace_writer *rotation_open(uint64_t events, struct error *error) {
    uint32_t at = number;
    char *opened;
    header.start_unix_ns = clock_ns(CLOCK_REALTIME);
    struct trace_writer *writer = open_after(&at, &opened, error);
    if (!writer) return NULL;
    free(previous);
    previous = strdup(rotation_name());
    remember(path, events);
    while (rules.most_files && files > rules.most_files && oldest) forget_oldest(true);
    path = opened;
    number = at;
    opened_ns = clock_ns(CLOCK_MONOTONIC);
    return writer;
}

struct trace_part rotation_part(void) {
    return (struct trace_part){
        .number = number, .previous = previous, .deleted_files = deleted_files, .deleted_events = deleted_events};
}

const char *rotation_name(void) {
    return without_folder(path);
}

void rotation_begun(const struct trace_writer *writer) {
    begun_bytes = trace_writer_bytes(writer);
}

void rotation_end(void) {
    while (oldest) forget_oldest(false);
    free(path);
    free(previous);
    path = previous = NULL;
    deleted_files = deleted_events = begun_bytes = 0;
    number = files = 0;
}
