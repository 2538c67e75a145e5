// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/text.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 255, NEAREST = 3 };

static unsigned least(unsigned a, unsigned b, unsigned c) {
    unsigned smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

unsigned text_distance(const char *a, const char *b) {
    unsigned row[LONGEST + 1];
    size_t rows = strnlen(a, LONGEST), columns = strnlen(b, LONGEST);
    for (size_t j = 0; j <= columns; j++) row[j] = (unsigned)j;
    for (size_t i = 1; i <= rows; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[columns];
}

// "Class.method:12" of "com.acme.Class.method:12".
static const char *without_packages(const char *name) {
    const char *last = name, *before = name;
    for (const char *c = name; *c && *c != ':'; c++) {
        if (*c != '.') continue;
        before = last;
        last = c + 1;
    }
    return before;
}

static unsigned nearness(const char *wanted, const char *name) {
    unsigned whole = text_distance(wanted, name), simple = text_distance(wanted, without_packages(name));
    return whole < simple ? whole : simple;
}

char *text_nearest(const char *wanted, const char *const *names, size_t count, char *text, size_t size) {
    const char *found[NEAREST];
    unsigned distance[NEAREST];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned here = nearness(wanted, names[i]);
        size_t place = kept, known = 0;
        while (known < kept && strcmp(found[known], names[i]) != 0) known++;
        while (place > 0 && here < distance[place - 1]) place--;
        if (known < kept || place == NEAREST) continue;
        if (kept < NEAREST) kept++;
        for (size_t move = kept - 1; move > place; move--)
            found[move] = found[move - 1], distance[move] = distance[move - 1];
        found[place] = names[i];
        distance[place] = here;
    }
    size_t used = (size_t)snprintf(text, size, "%s", kept ? found[0] : "none");
    for (size_t i = 1; i < kept && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, ", %s", found[i]);
    return text;
}
