// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/sketch_text.h"

#include "report/json.h"

#include <string.h>

static void write_shown(const struct sketch_writer *writer, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        putc(byte < ' ' || byte == 0x7f || (byte >= 0x80 && !(writer->look & LOOK_UTF8)) ? '?' : byte, writer->file);
    }
}

static void write_line(const struct sketch_writer *writer, const char *before, const char *text, const char *behind) {
    fputs(before, writer->file);
    write_shown(writer, text, strlen(text));
    fprintf(writer->file, "%s\n", behind);
}

static void write_lines(const struct sketch_writer *writer, const char *heading, const char *lines) {
    fprintf(writer->file, "   %s\n", heading);
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        if (length) fputs("     ", writer->file);
        write_shown(writer, lines, length);
        putc('\n', writer->file);
        lines += length + (lines[length] == '\n');
    }
}

// ---- the real lines

static void write_found(const struct sketch_writer *writer, const struct excerpt *excerpt) {
    write_line(writer, "   ", excerpt->path, "");
    for (uint32_t i = 0; i < excerpt->count; i++) {
        const uint32_t line = excerpt->first + i;
        fprintf(writer->file, "   %c %5u", line == excerpt->line ? '>' : ' ', line);
        if (*excerpt->lines[i]) fputs("  ", writer->file);
        write_line(writer, "", excerpt->lines[i], "");
    }
}

static void write_excerpt(const struct sketch_writer *writer, const struct excerpt *excerpt) {
    char behind[120];
    switch (excerpt->status) {
    case EXCERPT_FOUND:
        write_found(writer, excerpt);
        break;
    case EXCERPT_NO_FILE:
        if (!excerpt->told) write_line(writer, "   No file ", excerpt->path, " in the sources.");
        break;
    case EXCERPT_UNREADABLE:
        snprintf(behind, sizeof behind, " %s.", excerpt->why);
        write_line(writer, "   ", excerpt->path, behind);
        break;
    case EXCERPT_PAST_END:
        snprintf(behind, sizeof behind, " has %u lines, and no line %u: it is of another version.", excerpt->last,
                 excerpt->line);
        write_line(writer, "   ", excerpt->path, behind);
        break;
    case EXCERPT_NO_PLACE:
        break;
    }
}

// ---- sketches

static bool make(const struct sketch_writer *writer, const struct improvement *improvement, struct sketch *sketch,
                 struct excerpt *excerpt) {
    *excerpt = (struct excerpt){.status = EXCERPT_NO_PLACE};
    return sketch_make(improvement, writer->arena, sketch) &&
           (!writer->sources || sources_excerpt(writer->sources, sketch_site(improvement), writer->arena, excerpt));
}

static void write_name(const struct sketch_writer *writer, size_t number, const struct improvement *improvement,
                       const char *behind) {
    char name[1024];
    fprintf(writer->file, "\n%zu  ", number);
    write_line(writer, "", improvement_text(improvement, name, sizeof name), behind);
}

void sketch_write_alike(const struct sketch_writer *writer, size_t number, const struct improvement *improvement,
                        size_t like) {
    char behind[64];
    snprintf(behind, sizeof behind, ": as %zu, with this number", like);
    write_name(writer, number, improvement, behind);
}

bool sketch_write(const struct sketch_writer *writer, size_t number, const struct improvement *improvement,
                  const char *behind, struct error *error) {
    struct sketch sketch;
    struct excerpt excerpt;
    if (!make(writer, improvement, &sketch, &excerpt)) return error_set(error, STATUS_FAILED, "no memory for a sketch");
    write_name(writer, number, improvement, behind);
    write_excerpt(writer, &excerpt);
    write_lines(writer, "before", sketch.before);
    write_lines(writer, "after", sketch.after);
    fputs("   watch\n", writer->file);
    for (size_t i = 0; i < sketch.watch_count; i++)
        look_printf(writer->file, writer->look, 7, "     %s", sketch.watch[i]);
    return true;
}

static cJSON *source_json(const struct excerpt *excerpt) {
    if (excerpt->status != EXCERPT_FOUND) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "path", json_text(excerpt->path));
    cJSON_AddItemToObject(object, "line", json_integer(excerpt->line));
    cJSON_AddItemToObject(object, "first", json_integer(excerpt->first));
    cJSON_AddItemToObject(object, "lines", json_texts(excerpt->lines, excerpt->count));
    return object;
}

cJSON *sketch_json(const struct sketch_writer *writer, const struct improvement *improvement) {
    struct sketch sketch;
    struct excerpt excerpt;
    if (!make(writer, improvement, &sketch, &excerpt)) return NULL;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "before", json_text(sketch.before));
    cJSON_AddItemToObject(object, "after", json_text(sketch.after));
    cJSON_AddItemToObject(object, "watch", json_texts(sketch.watch, sketch.watch_count));
    if (writer->sources) cJSON_AddItemToObject(object, "source", source_json(&excerpt));
    return object;
}
