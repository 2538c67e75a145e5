// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/csv.h"

#include "report/escape.h"

#include <string.h>

void csv_text(FILE *file, const char *text) {
    struct utf8 character;
    if (!text) return;
    const bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted) putc('"', file);
    while ((text = utf8_next(text, &character))) {
        if (character.bytes[0] == '"') putc('"', file);
        fputs(character.bytes, file);
    }
    if (quoted) putc('"', file);
}

void csv_names(FILE *file, const cJSON *object, const char *prefix, bool first) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        char name[256];
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", item->string);
        if (cJSON_IsArray(item)) continue;
        if (cJSON_IsObject(item)) {
            csv_names(file, item, name, first);
        } else {
            if (!first) putc(',', file);
            csv_text(file, name);
        }
        first = false;
    }
}

static void write_value(FILE *file, const cJSON *item) {
    if (cJSON_IsString(item)) {
        csv_text(file, item->valuestring);
    } else if (!cJSON_IsNull(item)) {
        char text[64];
        cJSON copy = *item; // printed alone, without its name
        copy.next = copy.prev = NULL;
        if (cJSON_PrintPreallocated(&copy, text, sizeof text, false)) fputs(text, file);
    }
}

void csv_values(FILE *file, const cJSON *object, bool first) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        if (cJSON_IsArray(item)) continue;
        if (cJSON_IsObject(item)) {
            csv_values(file, item, first);
        } else {
            if (!first) putc(',', file);
            write_value(file, item);
        }
        first = false;
    }
}

void csv_blanks(FILE *file, const cJSON *object) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        if (cJSON_IsObject(item))
            csv_blanks(file, item);
        else if (!cJSON_IsArray(item))
            putc(',', file);
    }
}
