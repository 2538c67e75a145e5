// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/escape.h"

#include "tracefile/format.h"

#include <stdbool.h>
#include <string.h>

static const struct utf8 replacement = {"\xef\xbf\xbd", 3};

const char *utf8_next(const char *text, struct utf8 *character) {
    const unsigned char first = (unsigned char)*text;
    if (first == '\0') return NULL;
    *character = (struct utf8){{*text}, 1};
    if (first < 0x80) return text + 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (strnlen(text, length) < length || format_utf8_prefix(text, length) != length) {
        *character = replacement;
        return text + 1;
    }
    memcpy(character->bytes, text, length);
    character->length = (uint8_t)length;
    return text + length;
}

static bool is_control(const struct utf8 *character) {
    return (unsigned char)character->bytes[0] < ' ' || character->bytes[0] == 0x7f;
}

// How many bytes of a text no format has to look at: printable ASCII that is not reserved.
static size_t plain_length(const char *text, const char *reserved) {
    size_t length = 0;
    while (text[length] >= ' ' && text[length] <= '~' && !strchr(reserved, text[length])) length++;
    return length;
}

// Writes a text as it is, and by a function those of its characters that may be reserved.
static void write_text(FILE *file, const char *text, const char *reserved,
                       void (*write)(FILE *file, const struct utf8 *character)) {
    struct utf8 character;
    while (text) {
        const size_t plain = plain_length(text, reserved);
        fwrite(text, 1, plain, file);
        text = utf8_next(text + plain, &character);
        if (text) write(file, &character);
    }
}

// A backslash, too, by its number: Perfetto's reader takes "\\" at a string's end for an escaped quote (version 52).
static void write_json(FILE *file, const struct utf8 *character) {
    if (character->bytes[0] == '"')
        fputs("\\\"", file);
    else if (is_control(character) || character->bytes[0] == '\\')
        fprintf(file, "\\u%04x", (unsigned)character->bytes[0]);
    else
        fputs(character->bytes, file);
}

void escape_json(FILE *file, const char *text) {
    putc('"', file);
    write_text(file, text, "\"\\", write_json);
    putc('"', file);
}

static void write_dot(FILE *file, const struct utf8 *character) {
    if (character->bytes[0] == '"' || character->bytes[0] == '\\') putc('\\', file);
    fputs(is_control(character) ? "?" : character->bytes, file);
}

void escape_dot(FILE *file, const char *text) {
    putc('"', file);
    write_text(file, text, "\"\\", write_dot);
    putc('"', file);
}

static void write_xml(FILE *file, const struct utf8 *character) {
    static const char reserved[] = "&<>\"", *const written[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    const char *found = strchr(reserved, character->bytes[0]);
    const bool none_of_xml =
        strcmp(character->bytes, "\xef\xbf\xbe") == 0 || strcmp(character->bytes, "\xef\xbf\xbf") == 0;
    if (found)
        fputs(written[found - reserved], file);
    else
        fputs(is_control(character) || none_of_xml ? "?" : character->bytes, file);
}

void escape_xml(FILE *file, const char *text) {
    write_text(file, text, "&<>\"", write_xml);
}

static void write_frame(FILE *file, const struct utf8 *character) {
    fputs(is_control(character) ? "?" : character->bytes[0] == ';' ? ":" : character->bytes, file);
}

void escape_frame(FILE *file, const char *text) {
    write_text(file, text, ";", write_frame);
}

static void write_uri(FILE *file, const struct utf8 *character) {
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/$";
    for (int i = 0; i < character->length; i++) {
        const unsigned char byte = (unsigned char)character->bytes[i];
        fprintf(file, byte < 0x80 && strchr(kept, byte) ? "%c" : "%%%02X", byte);
    }
}

void escape_uri(FILE *file, const char *text) {
    write_text(file, text, " !\"#%&'()*+,:;<=>?@[\\]^`{|}", write_uri);
}
