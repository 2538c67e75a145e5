// SPDX-License-Identifier: Apache-2.0
#include "tracer/options.h"

#include "tracer/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEYS "out, include, exclude, buffer, claim, children"

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static char *decoded(const char *text, size_t length, struct arena *arena) {
    char *value = arena_string(arena, text, length);
    if (!value) return NULL;
    char *out = value;
    for (const char *in = value; *in; in++) {
        if (in[0] == '%' && hex(in[1]) >= 0 && hex(in[2]) >= 0) {
            *out++ = (char)(hex(in[1]) * 16 + hex(in[2]));
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return value;
}

static const char *with_pid_expanded(const char *value, struct arena *arena) {
    const char *mark = strstr(value, "%p");
    if (!mark) return value;
    size_t size = strlen(value) + 16;
    char *out = arena_alloc(arena, size, 1);
    if (out) snprintf(out, size, "%.*s%d%s", (int)(mark - value), value, (int)getpid(), mark + 2);
    return out;
}

const char *options_out_with_pid(const char *out, struct arena *arena) {
    const char *name = strrchr(out, '/');
    const char *dot = strrchr(name ? name : out, '.');
    size_t stem = dot ? (size_t)(dot - out) : strlen(out);
    size_t size = strlen(out) + 16;
    char *path = arena_alloc(arena, size, 1);
    if (path) snprintf(path, size, "%.*s.%d%s", (int)stem, out, (int)getpid(), out + stem);
    return path;
}

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the tracer's options");
}

static bool add_glob(struct class_glob **list, char *value, struct arena *arena, struct error *error) {
    struct class_glob *glob = ARENA_NEW(arena, struct class_glob, 1);
    if (!glob) return no_memory(error);
    char *method = strstr(value, "::");
    if (method) *method = '\0';
    *glob = (struct class_glob){value, method ? method + 2 : "*", *list};
    *list = glob;
    return true;
}

static bool parse_buffer(const char *value, uint32_t *records, struct error *error) {
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (*end != '\0' || end == value || number < RING_LEAST_RECORDS || number > RING_MOST_RECORDS) {
        return error_set(error, STATUS_USAGE, "option buffer=%s: expected a number of records from %u to %u", value,
                         RING_LEAST_RECORDS, RING_MOST_RECORDS);
    }
    *records = (uint32_t)number;
    return true;
}

static bool parse_flag(const char *key, const char *value, bool *flag, struct error *error) {
    *flag = strcmp(value, "1") == 0;
    if (*flag || strcmp(value, "0") == 0) return true;
    return error_set(error, STATUS_USAGE, "option %s=%s: expected 0 or 1", key, value);
}

static bool parse_one(const char *key, char *value, struct arena *arena, struct options *options, struct error *error) {
    if (strcmp(key, "out") == 0) return (options->out = with_pid_expanded(value, arena)) || no_memory(error);
    if (strcmp(key, "include") == 0) return add_glob(&options->includes, value, arena, error);
    if (strcmp(key, "exclude") == 0) return add_glob(&options->excludes, value, arena, error);
    if (strcmp(key, "buffer") == 0) return parse_buffer(value, &options->buffer_records, error);
    if (strcmp(key, "claim") == 0) return parse_flag(key, value, &options->claim, error);
    if (strcmp(key, "children") == 0) return parse_flag(key, value, &options->children, error);
    return error_set(error, STATUS_USAGE, "unknown option '%s': expected one of " KEYS, key);
}

bool options_parse(const char *text, struct arena *arena, struct options *options, struct error *error) {
    *options = (struct options){.out = "trace.msgpack", .text = "", .buffer_records = RING_DEFAULT_RECORDS};
    if (!text) return true;
    if (!(options->text = arena_string(arena, text, strlen(text)))) return no_memory(error);
    for (const char *at = options->text; *at;) {
        size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        if (!equals) {
            return error_set(error, STATUS_USAGE, "option '%.*s': expected key=value", (int)length, at);
        }
        char *key = decoded(at, (size_t)(equals - at), arena);
        char *value = decoded(equals + 1, length - (size_t)(equals + 1 - at), arena);
        if (!key || !value) return no_memory(error);
        if (!parse_one(key, value, arena, options, error)) return false;
        at += length;
        if (*at == ',') at++;
    }
    return true;
}

// Iterative, with one point of return: the last star can always take more, and earlier ones never need to.
bool glob_match(const char *glob, const char *text) {
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            resume = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*') glob++;
    return *glob == '\0';
}

bool options_trace_class(const struct options *options, const char *dotted_class) {
    for (const struct class_glob *glob = options->includes; glob; glob = glob->next) {
        if (glob_match(glob->class_name, dotted_class)) return true;
    }
    return false;
}

static bool any_match(const struct class_glob *glob, const char *dotted_class, const char *method) {
    for (; glob; glob = glob->next) {
        if (glob_match(glob->class_name, dotted_class) && glob_match(glob->method, method)) return true;
    }
    return false;
}

bool options_trace_method(const struct options *options, const char *dotted_class, const char *method) {
    return any_match(options->includes, dotted_class, method) && !any_match(options->excludes, dotted_class, method);
}
