// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/look.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

// ---- Colours

const char *look_begin(unsigned look, enum look_tone tone) {
    static const char *const sequences[] = {[TONE_PLAIN] = "",
                                            [TONE_HEAD] = "\033[1m",
                                            [TONE_GOOD] = "\033[32m",
                                            [TONE_BAD] = "\033[31m",
                                            [TONE_WARNING] = "\033[33m"};
    return look & LOOK_COLOUR ? sequences[tone] : "";
}

const char *look_end(unsigned look, enum look_tone tone) {
    return look & LOOK_COLOUR && tone != TONE_PLAIN ? "\033[0m" : "";
}

enum look_tone look_less_is_better(double before, double after, double noise) {
    if (isnan(before) || isnan(after) || fabs(after - before) <= noise * fabs(before)) return TONE_PLAIN;
    return after < before ? TONE_GOOD : TONE_BAD;
}

void look_heading(FILE *file, unsigned look, const char *text) {
    fputs(look_begin(look, TONE_HEAD), file);
    look_put(file, text, look);
    fprintf(file, "%s\n", look_end(look, TONE_HEAD));
}

// ---- Characters

static bool begins_character(char byte, unsigned look) {
    return !(look & LOOK_UTF8) || ((unsigned char)byte & 0xc0) != 0x80;
}

size_t look_width(const char *text, unsigned look) {
    size_t width = 0;
    for (; *text; text++) width += begins_character(*text, look);
    return width;
}

void look_put(FILE *file, const char *text, unsigned look) {
    for (; *text; text++) {
        unsigned char code = (unsigned char)*text;
        bool shown = code >= 0x20 && code != 0x7f && (code < 0x80 || look & LOOK_UTF8);
        putc(shown ? *text : '?', file);
    }
}

// How many bytes the first `width` columns take.
static size_t bytes_of(const char *text, size_t length, size_t width, unsigned look) {
    size_t at = 0;
    for (; at < length; at++) {
        if (begins_character(text[at], look) && width-- == 0) break;
    }
    return at;
}

// ---- Names that are too long

static size_t width_of(const char *text, size_t length, unsigned look) {
    size_t width = 0;
    for (size_t i = 0; i < length; i++) width += begins_character(text[i], look);
    return width;
}

// The last bytes that are whole names, in so many columns at most.
static size_t whole_names(const char *text, size_t length, size_t most, unsigned look) {
    size_t begin = length;
    for (size_t at = length; at > 0 && width_of(text + at, length - at, look) <= most; at--) {
        if (text[at - 1] == '.') begin = at;
    }
    return length - begin;
}

// How many of the last bytes stay: the whole names that fit and leave room for a beginning, or for three characters of
// one, where those are at least half of what fits.
static size_t end_bytes(const char *text, size_t length, size_t width, unsigned look) {
    enum { BEGIN_LEAST = 3 };
    const size_t room[] = {width / 5, width / 5 < BEGIN_LEAST ? width / 5 : BEGIN_LEAST};
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        const size_t names = whole_names(text, length, width - room[i], look);
        if (width_of(text + length - names, names, look) * 2 >= width) return names;
    }
    const size_t end = width - width / 3, whole = width_of(text, length, look);
    return length - bytes_of(text, length, whole - end, look);
}

// The beginning of so many columns, up to the last whole name, where that leaves a third of them at least.
static size_t begin_bytes(const char *text, size_t length, size_t width, unsigned look) {
    const size_t bytes = bytes_of(text, length, width, look);
    for (size_t at = bytes; at > 0 && at * 3 > bytes; at--) {
        if (text[at] == '.') return at;
    }
    return bytes;
}

struct pen {
    char *out;
    size_t used, size; // bytes
};

static void add(struct pen *pen, const char *text, size_t length) {
    size_t room = pen->size - 1 - pen->used;
    if (length > room) length = room;
    memcpy(pen->out + pen->used, text, length);
    pen->used += length;
    pen->out[pen->used] = '\0';
}

// One name without its middle.
static void add_shortened(struct pen *pen, const char *text, size_t length, size_t width, unsigned look) {
    const char *mark = look & LOOK_UTF8 ? "\u2026" : "...";
    const size_t mark_width = look_width(mark, look);
    if (width_of(text, length, look) <= width || width <= mark_width) {
        add(pen, text, bytes_of(text, length, width, look));
        return;
    }
    const size_t room = width - mark_width, end = end_bytes(text, length, room, look);
    add(pen, text, begin_bytes(text, length, room - width_of(text + length - end, end, look), look));
    add(pen, mark, strlen(mark));
    add(pen, text + length - end, end);
}

// A part of the text, up to what separates it from the next.
static size_t part_length(const char *text, const char *separator) {
    const char *end = strstr(text, separator);
    return end ? (size_t)(end - text) : strlen(text);
}

// Of the first `length` bytes when no part takes more than `most` columns.
static size_t width_at(const char *text, size_t length, const char *separator, size_t most, unsigned look) {
    size_t width = 0;
    while (true) {
        size_t part = part_length(text, separator);
        if (part > length) part = length;
        size_t columns = width_of(text, part, look);
        width += columns < most ? columns : most;
        if (part == length) return width;
        width += strlen(separator);
        text += part + strlen(separator);
        length -= part + strlen(separator);
    }
}

// What the longest parts may take so that all of it takes `width`, but `least` at least.
static size_t level(const char *text, size_t length, const char *separator, size_t width, size_t least, unsigned look) {
    size_t most = width;
    while (most > least && width_at(text, length, separator, most, look) > width) most--;
    return most;
}

// Below these parts say nothing: then the end is cut off, or the middle of what is short anyway. A name alone may give
// way further to what stands behind it, such as a number.
enum { ITEM_LEAST = 8, WORD_LEAST = 16, NAME_LEAST = 6, PHRASE_LEAST = 24 };

// Words, of which none takes more than `most` columns, and the one at `name` not more than `name_most`.
static void add_words(struct pen *pen, const char *text, size_t length, size_t most, size_t name, size_t name_most,
                      unsigned look) {
    for (size_t at = 0, word; at <= length; at += word + 1) {
        word = part_length(text + at, " ");
        if (word > length - at) word = length - at;
        add(pen, at ? " " : "", at > 0);
        add_shortened(pen, text + at, word, at == name ? name_most : most, look);
    }
}

// Where the longest word begins, of those that may take less than WORD_LEAST columns; `length`: there is none.
static size_t longest_word(const char *text, size_t length) {
    size_t longest = length, longest_bytes = WORD_LEAST;
    for (size_t at = 0, word; at <= length; at += word + 1) {
        word = part_length(text + at, " ");
        if (word > length - at) word = length - at;
        if (word <= longest_bytes) continue;
        longest = at;
        longest_bytes = word;
    }
    return longest;
}

// "inline com.acme.Main.run:12 on path 12ab": its longest words are shortened, or else its end is cut off.
static void add_item(struct pen *pen, const char *text, size_t length, size_t width, unsigned look) {
    char words[1024];
    struct pen inner = {words, 0, sizeof words};
    const char *mark = look & LOOK_UTF8 ? "\u2026" : "...";
    const size_t most = memchr(text, ' ', length) ? level(text, length, " ", width, WORD_LEAST, look) : width;
    const size_t name = longest_word(text, length);
    const size_t least = width < PHRASE_LEAST || name == length ? most : NAME_LEAST;
    size_t name_most = most;
    add_words(&inner, text, length, most, name, name_most, look);
    while (look_width(words, look) > width && name_most > least) {
        inner.used = 0;
        add_words(&inner, text, length, most, name, --name_most, look);
    }
    if (look_width(words, look) <= width) {
        add(pen, words, inner.used);
    } else if (width < PHRASE_LEAST) {
        add_shortened(pen, text, length, width, look);
    } else {
        inner.used = 0;
        add_words(&inner, text, length, most, name, most, look);
        add(pen, words, bytes_of(words, inner.used, width - look_width(mark, look), look));
        add(pen, mark, strlen(mark));
    }
}

const char *look_shorten(const char *text, size_t width, unsigned look, char *out, size_t size) {
    static const char separator[] = "; ";
    struct pen pen = {out, 0, size};
    *out = '\0';
    const size_t most = level(text, strlen(text), separator, width, ITEM_LEAST, look);
    if (width_at(text, strlen(text), separator, most, look) > width) {
        add_shortened(&pen, text, strlen(text), width, look);
        return out;
    }
    while (true) {
        size_t length = part_length(text, separator);
        add_item(&pen, text, length, most, look);
        if (!text[length]) return out;
        add(&pen, separator, 2);
        text += length + 2;
    }
}

// ---- Paragraphs

struct paragraph {
    FILE *file;
    unsigned look;
    unsigned indent;
    size_t column;
    bool begun; // the line has a word
};

// A word takes along what must not begin a line: the % of a figure.
static size_t word_length(const char *text) {
    size_t length = strcspn(text, " \n");
    while (strncmp(text + length, " %", 2) == 0) length += 1 + strcspn(text + length + 1, " ");
    return length;
}

static void put_word(struct paragraph *p, const char *word, size_t length, size_t blanks) {
    char text[1024], cut[1024];
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    if (p->begun && p->column + blanks + look_width(text, p->look) > LOOK_COLUMNS) {
        putc('\n', p->file);
        p->column = 0;
        blanks = p->indent;
    }
    fprintf(p->file, "%*s", (int)blanks, "");
    p->column += blanks;
    look_shorten(text, p->column < LOOK_COLUMNS ? LOOK_COLUMNS - p->column : 0, p->look, cut, sizeof cut);
    look_put(p->file, cut, p->look);
    p->column += look_width(cut, p->look);
    p->begun = true;
}

// Where the text has a line of its own, which begins further in. Returns how much of the text that was.
static size_t break_line(struct paragraph *p, unsigned indent, const char *text) {
    enum { FURTHER = 2 }; // of what that line has no room for
    const size_t blanks = strspn(text + 1, " ");
    putc('\n', p->file);
    p->column = indent + blanks;
    p->indent = indent + (unsigned)blanks + FURTHER;
    fprintf(p->file, "%*s", (int)p->column, "");
    p->begun = false;
    return 1 + blanks;
}

void look_lead(FILE *file, unsigned look, enum look_tone tone, const char *lead, unsigned indent, const char *text) {
    struct paragraph p = {file, look, indent, look_width(lead, look), *lead != '\0'};
    fputs(look_begin(look, tone), file);
    look_put(file, lead, look);
    fputs(look_end(look, tone), file);
    if (look & LOOK_WIDE) {
        look_put(file, text, look);
        text = "";
    }
    while (*text) {
        if (*text == '\n') {
            text += break_line(&p, indent, text);
            continue;
        }
        size_t blanks = strspn(text, " "), length = word_length(text + blanks);
        if (length > 0) put_word(&p, text + blanks, length, blanks);
        text += blanks + length;
    }
    putc('\n', file);
}

void look_write(FILE *file, unsigned look, unsigned indent, const char *text) {
    look_lead(file, look, TONE_PLAIN, "", indent, text);
}

void look_printf(FILE *file, unsigned look, unsigned indent, const char *format, ...) {
    char text[16 * 1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    look_write(file, look, indent, text);
}
