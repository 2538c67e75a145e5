// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/agent.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "librehype-agent.so"

const char *agent_find(struct arena *arena, struct error *error) {
    static const char *const places[] = {"", "../libexec/rehype/"};
    char program[PATH_MAX], path[PATH_MAX + 64], library[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) {
        error_set(error, STATUS_FAILED, "/proc/self/exe can't be read, so the tracer " LIBRARY " can't be found");
        return NULL;
    }
    program[length] = '\0';
    *(strrchr(program, '/') + 1) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s" LIBRARY, program, places[i]);
        if (realpath(path, library)) return arena_string(arena, library, strlen(library));
    }
    error_set(error, STATUS_FAILED,
              "the tracer " LIBRARY
              " is neither in %s nor in %s../libexec/rehype: build it, or install rehype as a whole",
              program, program);
    return NULL;
}

// Writes "key=value" with the value's special bytes as %XX: commas end a value, blanks end a word of JAVA_TOOL_OPTIONS.
static void write_option(FILE *file, const char *key, const char *value) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/*$:+@-";
    fprintf(file, "%s=", key);
    for (; *value; value++) {
        if (strchr(plain, *value))
            putc(*value, file);
        else
            fprintf(file, "%%%02X", (unsigned char)*value);
    }
}

static void write_globs(FILE *file, const char *key, const struct text_list *globs) {
    for (size_t i = 0; i < globs->count; i++) {
        putc(',', file);
        write_option(file, key, globs->items[i]);
    }
}

void agent_write_options(FILE *file, const struct agent_options *options) {
    write_option(file, "out", options->out);
    write_globs(file, "include", &options->include);
    write_globs(file, "exclude", &options->exclude);
    write_globs(file, "app", &options->app);
    if (options->bytecodes) fputs(",bytecodes=1", file);
    for (size_t i = 0; i < options->settings.count; i++) {
        const char *equals = strchr(options->settings.items[i], '=');
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)(equals - options->settings.items[i]), options->settings.items[i]);
        putc(',', file);
        write_option(file, key, equals + 1);
    }
}

char *agent_argument(const char *library, const struct agent_options *options, bool direct, struct arena *arena) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file) return NULL;
    fprintf(file, "-agentpath:%s=", library);
    agent_write_options(file, options);
    fputs(direct ? ",children=1" : ",claim=1", file);
    char *argument = fclose(file) == 0 ? arena_string(arena, text, length) : NULL;
    free(text);
    return argument;
}
