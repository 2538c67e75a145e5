// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/sentence.h"

#include "optimize/plan_names.h"

#include <stdarg.h>
#include <stdio.h>

struct sentence sentence_begin(char *text, size_t size) {
    text[0] = '\0';
    return (struct sentence){.text = text, .size = size};
}

void say(struct sentence *sentence, const char *format, ...) {
    if (sentence->used >= sentence->size) return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sentence->text + sentence->used, sentence->size - sentence->used, format, args);
    va_end(args);
    if (length > 0) sentence->used += (size_t)length;
}

void say_count(struct sentence *sentence, uint64_t count) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    for (int i = 0; i < length; i++) say(sentence, "%s%c", i > 0 && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

void say_counted(struct sentence *sentence, uint64_t count, const char *one) {
    say_count(sentence, count);
    say(sentence, " %s%s", one, count == 1 ? "" : "s");
}

void say_duration(struct sentence *sentence, double ns) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    int u = 0;
    while (u < 3 && ns < units[u].ns) u++;
    say(sentence, "%.*f %s", ns / units[u].ns < 100 ? 1 : 0, ns / units[u].ns, units[u].unit);
}

void say_share(struct sentence *sentence, double share) {
    say(sentence, "%.1f %%", 100 * share);
}

void say_site(struct sentence *sentence, const struct dag *dag, uint32_t site) {
    char text[512];
    say(sentence, "%s", dag_site_text(dag, site, text, sizeof text));
}

void say_pool(struct sentence *sentence, const struct dag *dag, uint32_t pool) {
    const struct trace_pool *known = pool < dag->trace->pool_count ? &dag->trace->pools[pool] : NULL;
    char text[300];
    if (known && (known->name || known->kind))
        say(sentence, "%s", pool_plan_text(dag, pool, text, sizeof text));
    else
        say(sentence, "pool %u", pool);
}
