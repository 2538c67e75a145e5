// SPDX-License-Identifier: Apache-2.0
#include "tracer/telling.h"

#include <stdlib.h>
#include <string.h>

// Ends a step's text where the next begins, and returns that one; a dot within an argument ends nothing.
static char *cut(char *step) {
    const size_t argument = strcspn(step, "=");
    char *dot = strchr(step, '.');
    if (!dot || dot > step + argument) return NULL;
    *dot = '\0';
    return dot + 1;
}

static bool parse_step(char *text, struct telling_step *step, struct arena *arena) {
    char *equals = strchr(text, '='), *type = strpbrk(text, "(:");
    if (!type || type == text) return false;
    if (equals) *equals = '\0';
    step->is_method = *type == '(';
    step->argument = equals ? equals + 1 : NULL;
    step->name = arena_string(arena, text, (size_t)(type - text));
    step->type = step->is_method ? type : type + 1;
    const char *wanted = step->argument ? "(Ljava/lang/String;)L" : step->is_method ? "()" : "L";
    return step->name && strncmp(step->type, wanted, strlen(wanted)) == 0;
}

static struct telling *parse_part(const char *text, size_t length, struct arena *arena) {
    struct telling *telling = ARENA_NEW(arena, struct telling, 1);
    char *copy = arena_string(arena, text, length), *end;
    if (!telling || !copy) return NULL;
    *telling = (struct telling){.argument = (unsigned)strtoul(copy, &end, 10)};
    if (end == copy || telling->argument > 255 || (*end && *end != '.')) return NULL;
    for (char *step = *end ? end + 1 : NULL; step;) {
        char *next = cut(step);
        telling->is_class = strcmp(step, "class") == 0 && !next;
        if (telling->is_class) return telling;
        if (telling->count == TELLING_STEPS || !parse_step(step, &telling->steps[telling->count++], arena)) return NULL;
        step = next;
    }
    return telling;
}

struct telling *telling_parse(const char *text, struct arena *arena) {
    const bool is_rooted = *text == '/';
    text += is_rooted;
    const size_t first = strcspn(text, "+="); // behind = is a string
    const bool is_last = text[first] != '+';
    struct telling *telling = parse_part(text, is_last ? strlen(text) : first, arena);
    if (!telling || (telling->is_class && (is_rooted || !is_last))) return NULL;
    telling->is_rooted = is_rooted;
    if (is_last) return telling;
    telling->behind = telling_parse(text + first + 1, arena);
    return telling->behind && telling->behind->argument == telling->argument ? telling : NULL;
}

char telling_step_gives(const struct telling_step *step) {
    return step->is_method ? strchr(step->type, ')')[1] : *step->type;
}

bool telling_is_boolean(const struct telling *telling) {
    return telling->count > 0 && telling_step_gives(&telling->steps[telling->count - 1]) == 'Z';
}
