// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/seen_methods.h"

#include "dag/names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_on(uint64_t hash, const char *text) {
    for (; text && *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (hash ^ 0xff) * 0x100000001b3u;
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_method(const struct method_name *a, const struct method_name *b) {
    return is_same(a->class_name, b->class_name) && is_same(a->name, b->name) && is_same(a->descriptor, b->descriptor);
}

static const char *keep(struct seen_methods *methods, const char *text) {
    return text ? arena_string(&methods->arena, text, strlen(text)) : NULL;
}

static bool has_room(struct seen_methods *methods) {
    if (methods->count < methods->room) return true;
    size_t room = methods->room ? methods->room * 2 : 256;
    struct seen_method *items = reallocarray(methods->items, room, sizeof *items);
    if (!items) return false;
    methods->items = items;
    methods->room = room;
    return true;
}

uint32_t seen_methods_index(struct seen_methods *methods, const struct method_name *name) {
    uint64_t key = hash_on(hash_on(hash_on(0xcbf29ce484222325u, name->class_name), name->name), name->descriptor);
    uint32_t known;
    while ((known = idmap_get(&methods->by_name, key)) != IDMAP_NONE) {
        if (is_method(&methods->items[known].name, name)) return known;
        key++;
    }
    const struct method_name kept = {keep(methods, name->class_name), keep(methods, name->name),
                                     keep(methods, name->descriptor)};
    if (!is_method(&kept, name) || !has_room(methods)) return IDMAP_NONE;
    if (!idmap_add(&methods->by_name, key, (uint32_t)methods->count)) return IDMAP_NONE;
    methods->items[methods->count] = (struct seen_method){.name = kept};
    return (uint32_t)methods->count++;
}

void seen_methods_destroy(struct seen_methods *methods) {
    free(methods->items);
    idmap_destroy(&methods->by_name);
    arena_destroy(&methods->arena);
}

// ---- which methods count

static bool matches(const char *glob, const char *class_name, const char *method) {
    char class_glob[1024];
    const char *colons = strstr(glob, "::");
    size_t length = colons ? (size_t)(colons - glob) : strlen(glob);
    if (length >= sizeof class_glob) return false;
    memcpy(class_glob, glob, length);
    class_glob[length] = '\0';
    return fnmatch(class_glob, class_name, FNM_NOESCAPE) == 0 &&
           (!colons || fnmatch(colons + 2, method, FNM_NOESCAPE) == 0);
}

static bool any_matches(const char *const *globs, size_t count, const struct method_name *method) {
    for (size_t i = 0; i < count; i++) {
        if (matches(globs[i], method->class_name, method->name)) return true;
    }
    return false;
}

bool method_globs_count(const struct method_globs *globs, const struct method_name *name) {
    if (!name->class_name || !name->name || strstr(name->class_name, "$$Lambda")) return false;
    bool included = globs->include_count ? any_matches(globs->include, globs->include_count, name)
                                         : !dag_is_jdk_class(name->class_name);
    return included && !any_matches(globs->exclude, globs->exclude_count, name);
}

// ---- globs of a recording

static int hex(char digit) {
    const char *digits = "0123456789ABCDEF", *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)(at - digits) : -1;
}

// The value of an option, whose special bytes are %XX; NULL without memory.
static const char *decoded(struct arena *arena, const char *text, size_t length) {
    char *value = arena_string(arena, text, length), *out = value;
    if (!value) return NULL;
    for (const char *in = value; *in; in++) {
        bool coded = in[0] == '%' && hex(in[1]) >= 0 && hex(in[2]) >= 0;
        *out++ = (char)(coded ? hex(in[1]) << 4 | hex(in[2]) : *in);
        if (coded) in += 2;
    }
    *out = '\0';
    return value;
}

// Of one method outright: woven for its calls, and no word on which methods count.
static bool is_one_method(const char *glob) {
    return strstr(glob, "::") && !strpbrk(glob, "*?");
}

// All values of the option `key` (with its =); those that name one method outright only where `all`.
static bool option_globs(struct arena *arena, const char *options, const char *key, bool all, const char *const **globs,
                         size_t *count) {
    const size_t most = strlen(options) / 2 + 1;
    const char **found = ARENA_NEW(arena, const char *, most);
    if (!found) return false;
    *count = 0;
    for (const char *at = options; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ",")) {
        if (strncmp(at, key, strlen(key)) != 0) continue;
        const char *value = decoded(arena, at + strlen(key), strcspn(at, ",") - strlen(key));
        if (!value) return false;
        if (all || !is_one_method(value)) found[(*count)++] = value;
    }
    *globs = found;
    return true;
}

bool method_globs_recorded(const char *options, struct arena *arena, struct method_globs *globs) {
    return option_globs(arena, options, "include=", false, &globs->include, &globs->include_count) &&
           option_globs(arena, options, "exclude=", true, &globs->exclude, &globs->exclude_count);
}
