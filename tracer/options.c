// SPDX-License-Identifier: Apache-2.0
#include "tracer/options.h"

#include "tracer/executors.h"
#include "tracer/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEYS                                                                                                           \
    "out, include, exclude, min-duration, without, executor, library, app, buffer, memory, clock, sample, calls, "     \
    "bytecodes, rotate-size, rotate-time, rotate-keep, claim, children"

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

// Each %p becomes the process id, each %t the time of day.
static const char *with_marks_expanded(const char *value, struct arena *arena) {
    enum { MARK_BYTES = 32 };
    char pid[MARK_BYTES], time_text[MARK_BYTES];
    time_t now = time(NULL);
    struct tm local;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    strftime(time_text, sizeof time_text, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    size_t marks = 0, used = 0;
    for (const char *at = value; (at = strchr(at, '%')); at++) marks++;
    char *out = arena_alloc(arena, strlen(value) + marks * MARK_BYTES + 1, 1);
    for (const char *at = value; out && *at; at++) {
        const char *text = strncmp(at, "%p", 2) == 0 ? pid : strncmp(at, "%t", 2) == 0 ? time_text : NULL;
        if (text) {
            used += (size_t)snprintf(out + used, MARK_BYTES, "%s", text);
            at++;
        } else {
            out[used++] = *at;
        }
    }
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

static bool add_executor(const char *line, struct arena *arena, struct options *options, struct error *error) {
    struct executor_hook *hook = executor_parse(line, arena, error);
    if (!hook) return false;
    hook->next = options->executors;
    options->executors = hook;
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

static bool parse_number(const char *key, const char *value, uint64_t *number, struct error *error) {
    char *end;
    *number = strtoull(value, &end, 10);
    if (*end == '\0' && end != value && *value != '-' && *number > 0) return true;
    return error_set(error, STATUS_USAGE, "option %s=%s: expected a number above 0", key, value);
}

static bool parse_sample(const char *value, uint64_t *hz, struct error *error) {
    enum { MOST_HZ = 1000 };
    struct error ignored = ERROR_INIT;
    if (parse_number("sample", value, hz, &ignored) && *hz <= MOST_HZ) return true;
    return error_set(error, STATUS_USAGE, "option sample=%s: expected 1 to %d samples a second", value, MOST_HZ);
}

static bool parse_calls(const char *value, uint64_t *seconds, struct error *error) {
    enum { MOST_SECONDS = 60 };
    struct error ignored = ERROR_INIT;
    if (parse_number("calls", value, seconds, &ignored) && *seconds <= MOST_SECONDS) return true;
    return error_set(error, STATUS_USAGE, "option calls=%s: expected 1 to %d seconds", value, MOST_SECONDS);
}

static bool parse_without(const char *value, struct options *options, struct error *error) {
    if (strcmp(value, "locks") == 0) return options->without_locks = true;
    if (strcmp(value, "gc") == 0) return options->without_gc = true;
    if (strcmp(value, "samples") == 0) return options->without_samples = true;
    if (strcmp(value, "calling-contexts") == 0) return options->without_calling_contexts = true;
    if (strcmp(value, "cycles") == 0) return options->without_cycles = true;
    if (strcmp(value, "actors") == 0) return options->without_actors = true;
    return error_set(error, STATUS_USAGE,
                     "option without=%s: expected locks, gc, samples, calling-contexts, cycles or actors", value);
}

static bool parse_clock(const char *value, struct options *options, struct error *error) {
    options->monotonic = strcmp(value, "monotonic") == 0;
    if (options->monotonic || strcmp(value, "counter") == 0) return true;
    return error_set(error, STATUS_USAGE, "option clock=%s: expected counter or monotonic", value);
}

static bool parse_flag(const char *key, const char *value, bool *flag, struct error *error) {
    *flag = strcmp(value, "1") == 0;
    if (*flag || strcmp(value, "0") == 0) return true;
    return error_set(error, STATUS_USAGE, "option %s=%s: expected 0 or 1", key, value);
}

static bool parse_one(const char *key, char *value, struct arena *arena, struct options *options, struct error *error) {
    if (strcmp(key, "out") == 0) return (options->out = with_marks_expanded(value, arena)) || no_memory(error);
    if (strcmp(key, "include") == 0) return add_glob(&options->includes, value, arena, error);
    if (strcmp(key, "exclude") == 0) return add_glob(&options->excludes, value, arena, error);
    if (strcmp(key, "executor") == 0) return add_executor(value, arena, options, error);
    if (strcmp(key, "library") == 0) return add_glob(&options->libraries, value, arena, error);
    if (strcmp(key, "app") == 0) return add_glob(&options->applications, value, arena, error);
    if (strcmp(key, "buffer") == 0) return parse_buffer(value, &options->buffer_records, error);
    if (strcmp(key, "min-duration") == 0) return parse_number(key, value, &options->least_ns, error);
    if (strcmp(key, "memory") == 0) return parse_number(key, value, &options->memory_bytes, error);
    if (strcmp(key, "rotate-size") == 0) return parse_number(key, value, &options->rotation.most_bytes, error);
    if (strcmp(key, "rotate-time") == 0) return parse_number(key, value, &options->rotation.most_ns, error);
    if (strcmp(key, "rotate-keep") == 0) return parse_number(key, value, &options->rotation.most_files, error);
    if (strcmp(key, "sample") == 0) return parse_sample(value, &options->sample_hz, error);
    if (strcmp(key, "calls") == 0) return parse_calls(value, &options->calls_s, error);
    if (strcmp(key, "without") == 0) return parse_without(value, options, error);
    if (strcmp(key, "clock") == 0) return parse_clock(value, options, error);
    if (strcmp(key, "bytecodes") == 0) return parse_flag(key, value, &options->bytecodes, error);
    if (strcmp(key, "claim") == 0) return parse_flag(key, value, &options->claim, error);
    if (strcmp(key, "children") == 0) return parse_flag(key, value, &options->children, error);
    return error_set(error, STATUS_USAGE, "unknown option '%s': expected one of " KEYS, key);
}

extern const unsigned char executors_bytes[]; // executors.conf
extern const size_t executors_length;

// "key = value"; anything else is a comment.
static bool parse_line(char *line, struct arena *arena, struct options *options, struct error *error) {
    char *equals = strchr(line, '=');
    if (*line == '#' || !equals) return true;
    char *key_end = equals;
    while (key_end > line && key_end[-1] == ' ') key_end--;
    *key_end = '\0';
    return parse_one(line, equals + 1 + strspn(equals + 1, " "), arena, options, error);
}

static bool parse_built_in(struct arena *arena, struct options *options, struct error *error) {
    char *text = arena_string(arena, (const char *)executors_bytes, executors_length), *rest;
    if (!text) return no_memory(error);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!parse_line(line, arena, options, error)) return false;
    }
    return true;
}

bool options_parse(const char *text, struct arena *arena, struct options *options, struct error *error) {
    *options = (struct options){.out = "trace.msgpack", .text = ""};
    if (!parse_built_in(arena, options, error)) return false;
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

// While stacks are sampled, functions that are meant as one of many only say which methods are looked for.
static bool weaves(const struct options *options, const struct class_glob *include) {
    return !options->sample_hz || !(strpbrk(include->class_name, "*?") || strpbrk(include->method, "*?"));
}

// Pairs with the release in sleepers.c: what it names is whole.
static const struct class_glob *found_by(const struct options *options) {
    return atomic_load_explicit(&options->found, memory_order_acquire);
}

bool options_trace_class(const struct options *options, const char *dotted_class) {
    for (const struct class_glob *glob = found_by(options); glob; glob = glob->next) {
        if (strcmp(glob->class_name, dotted_class) == 0) return true;
    }
    for (const struct class_glob *glob = options->includes; glob; glob = glob->next) {
        if (weaves(options, glob) && glob_match(glob->class_name, dotted_class)) return true;
    }
    return false;
}

static bool is_method_of(const struct class_glob *glob, const char *dotted_class, const char *method) {
    return glob_match(glob->class_name, dotted_class) && glob_match(glob->method, method);
}

bool options_trace_method(const struct options *options, const char *dotted_class, const char *method) {
    bool included = false;
    for (const struct class_glob *glob = options->includes; glob && !included; glob = glob->next)
        included = weaves(options, glob) && is_method_of(glob, dotted_class, method);
    for (const struct class_glob *glob = found_by(options); glob && !included; glob = glob->next)
        included = strcmp(glob->class_name, dotted_class) == 0 && strcmp(glob->method, method) == 0;
    for (const struct class_glob *glob = options->excludes; glob && included; glob = glob->next)
        included = !is_method_of(glob, dotted_class, method);
    return included;
}

// Whether a line's class, or a relocated copy of it, is this one.
static bool is_dotted(const struct executor_hook *hook, const char *dotted, size_t length) {
    if (length < hook->class_length) return false;
    const char *at = dotted + length - hook->class_length, *internal = hook->class_name;
    if (at > dotted && at[-1] != '.') return false;
    while (*internal && (*internal == *at || (*internal == '/' && *at == '.'))) internal++, at++;
    return !*internal;
}

// A name of one part says too little to be looked for further in.
static bool is_relocated(const char *glob, const char *dotted_class) {
    const char *part = strchr(glob, '.');
    if (!part || !strchr(part + 1, '.')) return false;
    for (const char *at = strchr(dotted_class, '.'); at; at = strchr(at + 1, '.')) {
        if (at[1] == *glob && glob_match(glob, at + 1)) return true;
    }
    return false;
}

bool options_is_library(const struct options *options, const char *dotted_class) {
    const size_t length = strlen(dotted_class);
    for (const struct class_glob *glob = options->libraries; glob; glob = glob->next) {
        if (glob_match(glob->class_name, dotted_class) || is_relocated(glob->class_name, dotted_class)) return true;
    }
    for (const struct executor_hook *hook = options->executors; hook; hook = hook->next) {
        if (is_dotted(hook, dotted_class, length)) return true;
    }
    return false;
}
