// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/sentence.h"

#include "dag/names.h"
#include "optimize/plan_names.h"

#include <stdarg.h>
#include <stdio.h>

void say(struct sentence *sentence, const char *format, ...) {
    const size_t room = sizeof sentence->text - sentence->used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sentence->text + sentence->used, room, format, args);
    va_end(args);
    if (length > 0) sentence->used += (size_t)length < room ? (size_t)length : room - 1;
}

struct phrase phrase_count(uint64_t count) {
    struct phrase phrase;
    char digits[32], *to = phrase.text;
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return phrase;
}

struct phrase phrase_counted(uint64_t count, const char *one) {
    struct phrase phrase;
    snprintf(phrase.text, sizeof phrase.text, "%.30s %.400s%s", phrase_count(count).text, one, count == 1 ? "" : "s");
    return phrase;
}

struct phrase phrase_duration(double ns) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    struct phrase phrase;
    int u = 0;
    while (u < 3 && ns < units[u].ns) u++;
    snprintf(phrase.text, sizeof phrase.text, "%.*f %s", ns / units[u].ns < 100 ? 1 : 0, ns / units[u].ns,
             units[u].unit);
    return phrase;
}

struct phrase phrase_site(const struct dag *dag, uint32_t site) {
    struct phrase phrase;
    dag_site_text(dag, site, phrase.text, sizeof phrase.text);
    return phrase;
}

struct phrase phrase_place(const struct dag *dag, uint32_t trace_site) {
    struct phrase phrase;
    dag_place_text(dag, trace_site, phrase.text, sizeof phrase.text);
    return phrase;
}

struct phrase phrase_method(const struct dag *dag, uint32_t method) {
    struct phrase phrase;
    method_plan_text(dag, method, phrase.text, sizeof phrase.text);
    return phrase;
}

struct phrase phrase_pool(const struct dag *dag, uint32_t pool) {
    const struct trace_pool *known = pool < dag->trace->pool_count ? &dag->trace->pools[pool] : NULL;
    struct phrase phrase;
    if (known && (known->name || known->kind))
        pool_plan_text(dag, pool, phrase.text, sizeof phrase.text);
    else
        snprintf(phrase.text, sizeof phrase.text, "pool %u", pool);
    return phrase;
}

struct phrase phrase_resource(const struct dag *dag, uint32_t resource, uint32_t trace_site) {
    struct phrase phrase;
    dag_resource_text(dag, resource, trace_site, phrase.text, sizeof phrase.text);
    return phrase;
}
