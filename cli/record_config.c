// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/record_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct config {
    const char *path;
    unsigned line;
    uint64_t offset; // of the line
    struct agent_options *options;
    struct arena *arena;
    struct error *error;
};

static bool no_memory(const struct config *config) {
    return error_set(config->error, STATUS_FAILED, "no memory for %s", config->path);
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

static bool set_buffer(const struct config *config, const char *value) {
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    if (number == 0 || *end || *value == '-') {
        return error_set_at(config->error, config->offset, "%s:%u: buffer = %s: expected a number of events",
                            config->path, config->line, value);
    }
    config->options->buffer = number;
    return true;
}

static bool set(const struct config *config, const char *key, const char *value) {
    if (strcmp(key, "include") == 0) return append(config, &config->options->include, value);
    if (strcmp(key, "exclude") == 0) return append(config, &config->options->exclude, value);
    if (strcmp(key, "buffer") == 0) return set_buffer(config, value);
    return error_set_at(config->error, config->offset, "%s:%u: no key '%s'; there are: include, exclude, buffer",
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
