// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sketch_draft.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void draft_before(struct draft *draft, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(draft->before, format, args);
    va_end(args);
}

void draft_after(struct draft *draft, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(draft->after, format, args);
    va_end(args);
}

void draft_both(struct draft *draft, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    vfprintf(draft->before, format, args);
    vfprintf(draft->after, format, again);
    va_end(again);
    va_end(args);
}

void draft_watch(struct draft *draft, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (draft->sketch->watch_count == SKETCH_WATCH_MOST) return;
    const char *kept = arena_string(draft->arena, text, strlen(text));
    if (kept)
        draft->sketch->watch[draft->sketch->watch_count++] = kept;
    else
        draft->out_of_memory = true;
}

struct java_name draft_number(int64_t number) {
    struct java_name name = {"n"};
    if (number > 0) snprintf(name.s, sizeof name.s, "%" PRId64, number);
    return name;
}

static bool says_pool(const char *name) {
    static const char *const words[] = {"pool", "exec", "dispatcher"};
    char lower[sizeof((struct java_name){""}.s)];
    size_t i = 0;
    for (; name[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = '\0';
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (strstr(lower, words[w])) return true;
    }
    return false;
}

struct java_name draft_pool(const struct dag *dag, uint32_t pool) {
    char with_pool[sizeof((struct java_name){""}.s)];
    const char *known = pool && pool < dag->trace->pool_count ? dag->trace->pools[pool].name : NULL;
    const struct java_name name = java_variable(known, "pool");
    if (says_pool(name.s)) return name;
    snprintf(with_pool, sizeof with_pool, "%.140s pool", known);
    return java_variable(with_pool, "pool");
}
