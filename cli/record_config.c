// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/record_config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Of a quantity; a NULL name ends a table.
struct unit {
    const char *name;
    uint64_t size;
};

enum { SAMPLE_LEAST_HZ = 1, SAMPLE_MOST_HZ = 1000, CALLS_MOST_SECONDS = 60 };

struct config {
    const char *path; // NULL: the command line
    unsigned line;
    uint64_t offset; // of the line
    struct agent_options *options;
    struct arena *arena;
    struct error *error;
};

static bool no_memory(const struct config *config) {
    return error_set(config->error, STATUS_FAILED, "no memory for %s", config->path ? config->path : "the options");
}

static bool append(const struct config *config, struct text_list *list, const char *value) {
    const char **items = ARENA_NEW(config->arena, const char *, list->count + 1);
    char *copy = arena_string(config->arena, value, strlen(value));
    if (!items || !copy) return no_memory(config);
    if (list->count > 0) memcpy(items, list->items, list->count * sizeof *items);
    items[list->count] = copy;
    *list = (struct text_list){items, list->count + 1};
    return true;
}

// One that the agent takes as it is, and checks.
static bool pass(const struct config *config, const char *key, const char *value) {
    char setting[4096];
    if (snprintf(setting, sizeof setting, "%s=%s", key, value) >= (int)sizeof setting) {
        return error_set_at(config->error, config->offset, "%s:%u: %s: the value is too long", config->path,
                            config->line, key);
    }
    return append(config, &config->options->settings, setting);
}

static bool wrong(const struct config *config, const char *key, const char *value, const char *expected) {
    if (!config->path) {
        return error_set(config->error, STATUS_USAGE, "--%s %s: expected %s", key, value, expected);
    }
    return error_set_at(config->error, config->offset, "%s:%u: %s = %s: expected %s", config->path, config->line, key,
                        value, expected);
}

// A number and its unit, as the agent has it: without one.
static bool pass_quantity(const struct config *config, const char *key, const char *value, const struct unit *units,
                          const char *expected) {
    char *end, number[32];
    uint64_t quantity = strtoull(value, &end, 10);
    while (*end == ' ') end++;
    while (units->name && strcmp(units->name, end) != 0) units++;
    if (!units->name || quantity == 0 || *value == '-' || quantity > UINT64_MAX / units->size) {
        return wrong(config, key, value, expected);
    }
    snprintf(number, sizeof number, "%" PRIu64, quantity * units->size);
    return pass(config, key, number);
}

static const struct unit counts[] = {{"", 1}, {0}};
static const struct unit sizes[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {0}};
static const struct unit times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {0}};

static bool is_one_of(const char *value, const char *const *known) {
    while (*known && strcmp(*known, value) != 0) known++;
    return *known != NULL;
}

static bool pass_choice(const struct config *config, const char *key, const char *value, const char *const *known,
                        const char *expected) {
    return is_one_of(value, known) ? pass(config, key, value) : wrong(config, key, value, expected);
}

static bool set_output(const struct config *config, const char *value) {
    config->options->out = arena_string(config->arena, value, strlen(value));
    return config->options->out || no_memory(config);
}

static bool set_bytecodes(const struct config *config, const char *value) {
    config->options->bytecodes = strcmp(value, "yes") == 0;
    if (config->options->bytecodes || strcmp(value, "no") == 0) return true;
    return wrong(config, "bytecodes", value, "yes or no");
}

static bool pass_sample(const struct config *config, const char *value) {
    char *end;
    unsigned long hz = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || hz < SAMPLE_LEAST_HZ || hz > SAMPLE_MOST_HZ)
        return wrong(config, "sample", value, "1 to 1000 samples a second");
    return pass(config, "sample", value);
}

static bool pass_calls(const struct config *config, const char *value) {
    char *end;
    unsigned long seconds = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || seconds < 1 || seconds > CALLS_MOST_SECONDS)
        return wrong(config, "calls", value, "1 to 60 seconds");
    return pass(config, "calls", value);
}

static bool set(const struct config *config, const char *key, const char *value) {
    static const char *const kinds[] = {"locks", "gc", "samples", "calling-contexts", "cycles", "actors", NULL};
    static const char *const clocks[] = {"counter", "monotonic", NULL};
    if (strcmp(key, "include") == 0) return append(config, &config->options->include, value);
    if (strcmp(key, "exclude") == 0) return append(config, &config->options->exclude, value);
    if (strcmp(key, "app") == 0) return append(config, &config->options->app, value);
    if (strcmp(key, "bytecodes") == 0) return set_bytecodes(config, value);
    if (strcmp(key, "sample") == 0) return pass_sample(config, value);
    if (strcmp(key, "calls") == 0) return pass_calls(config, value);
    if (strcmp(key, "output") == 0) return set_output(config, value);
    if (strcmp(key, "executor") == 0 || strcmp(key, "library") == 0) return pass(config, key, value);
    if (strcmp(key, "buffer") == 0) return pass_quantity(config, key, value, counts, "a number of events");
    if (strcmp(key, "memory") == 0) return pass_quantity(config, key, value, sizes, "a size, such as 256M");
    if (strcmp(key, "min-duration") == 0) return pass_quantity(config, key, value, times, "a time, such as 20us");
    if (strcmp(key, "rotate-size") == 0) return pass_quantity(config, key, value, sizes, "a size, such as 64M");
    if (strcmp(key, "rotate-time") == 0) return pass_quantity(config, key, value, times, "a time, such as 10m");
    if (strcmp(key, "rotate-keep") == 0) return pass_quantity(config, key, value, counts, "a number of files");
    if (strcmp(key, "without") == 0)
        return pass_choice(config, key, value, kinds, "locks, gc, samples, calling-contexts, cycles or actors");
    if (strcmp(key, "clock") == 0) return pass_choice(config, key, value, clocks, "counter or monotonic");
    return error_set_at(
        config->error, config->offset,
        "%s:%u: no key '%s'; there are: include, exclude, app, min-duration, without, buffer, memory, clock, "
        "bytecodes, sample, calls, rotate-size, rotate-time, rotate-keep, output, executor, library",
        config->path, config->line, key);
}

static char *trimmed(char *text) {
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) end--;
    *end = '\0';
    return text;
}

static bool read_line(const struct config *config, char *line) {
    line[strcspn(line, "#")] = '\0';
    char *text = trimmed(line), *equals = strchr(text, '=');
    if (!*text) return true;
    if (!equals) {
        return error_set_at(config->error, config->offset, "%s:%u: expected key = value", config->path, config->line);
    }
    *equals = '\0';
    return set(config, trimmed(text), trimmed(equals + 1));
}

bool record_config_read(const char *path, struct agent_options *options, struct arena *arena, struct error *error) {
    struct config config = {path, 0, 0, options, arena, error};
    FILE *file = fopen(path, "re");
    if (!file) return error_set(error, STATUS_FAILED, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool ok = true;
    while (ok && (length = getline(&line, &capacity, file)) >= 0) {
        config.line++;
        ok = read_line(&config, line);
        config.offset += (uint64_t)length;
    }
    free(line);
    fclose(file);
    return ok;
}

static bool is_several(const struct agent_options *options) {
    static const char SIZE[] = "rotate-size=", TIME[] = "rotate-time=";
    for (size_t i = 0; i < options->settings.count; i++) {
        const char *setting = options->settings.items[i];
        if (strncmp(setting, SIZE, sizeof SIZE - 1) == 0 || strncmp(setting, TIME, sizeof TIME - 1) == 0) return true;
    }
    return false;
}

// Where the number goes if the name doesn't say.
static bool number_output(const struct config *config) {
    const char *out = config->options->out, *name = strrchr(out, '/'), *dot = strrchr(name ? name : out, '.');
    size_t stem = dot ? (size_t)(dot - out) : strlen(out), size = strlen(out) + sizeof ".%n";
    if (strstr(out, "%n")) return true;
    char *numbered = ARENA_NEW(config->arena, char, size);
    if (!numbered) return no_memory(config);
    snprintf(numbered, size, "%.*s.%%n%s", (int)stem, out, out + stem);
    config->options->out = numbered;
    return true;
}

bool record_config_rotation(const struct rotation_options *rotation, struct agent_options *options, struct arena *arena,
                            struct error *error) {
    const struct config config = {.options = options, .arena = arena, .error = error};
    const char *const keys[] = {"rotate-size", "rotate-time", "rotate-keep"};
    const char *const values[] = {rotation->size, rotation->time, rotation->keep};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (values[i] && !set(&config, keys[i], values[i])) return false;
    }
    if (is_several(options)) return number_output(&config);
    return !rotation->keep || error_set(error, STATUS_USAGE, "--rotate-keep needs --rotate-size or --rotate-time");
}

bool record_config_sample(const char *hz, struct agent_options *options, struct arena *arena, struct error *error) {
    const struct config config = {.options = options, .arena = arena, .error = error};
    return !hz || set(&config, "sample", hz);
}

bool record_config_calls(bool wanted, struct agent_options *options, struct arena *arena, struct error *error) {
    static const char SECONDS[] = "3";
    const struct config config = {.options = options, .arena = arena, .error = error};
    return !wanted || set(&config, "calls", SECONDS);
}
