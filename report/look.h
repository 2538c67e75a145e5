// SPDX-License-Identifier: GPL-3.0-or-later
// How text is laid out for the reader's terminal: what it can show, colours, names that are too long for their column,
// and paragraphs. Text comes from untrusted traces; what is no printable character is shown as '?'. Thread-safe, no
// allocation.
#ifndef REHYPE_REPORT_LOOK_H
#define REHYPE_REPORT_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// What the terminal can show and the reader asked for, as bits of one `unsigned look`.
enum { LOOK_UTF8 = 1, LOOK_WIDE = 2, LOOK_COLOUR = 4 };

enum { LOOK_COLUMNS = 100 }; // what a line may take without LOOK_WIDE

enum look_tone { TONE_PLAIN, TONE_HEAD, TONE_GOOD, TONE_BAD, TONE_WARNING };

// The escape sequence that begins a tone, or ends any; empty without LOOK_COLOUR and for TONE_PLAIN.
const char *look_begin(unsigned look, enum look_tone tone);
const char *look_end(unsigned look, enum look_tone tone);

// Better or worse by more than `noise` (a share), where less is better. NAN on either side is plain.
enum look_tone look_less_is_better(double before, double after, double noise);

// In columns: code points, or bytes without LOOK_UTF8.
size_t look_width(const char *text, unsigned look);

// The text itself, byte by byte.
void look_put(FILE *file, const char *text, unsigned look);

// Into `out`: the text if it fits `width` columns, or else without its middle ("com.acme...Querier.query:12"; the end
// tells more than the beginning and keeps more). Of texts with "; " between them, the longest are shortened first.
// Returns out.
const char *look_shorten(const char *text, size_t width, unsigned look, char *out, size_t size);

// A paragraph: lines of LOOK_COLUMNS at most, all but the first indented; a word that fits no line is shortened. With
// LOOK_WIDE one line, as it is. A line's end in the text ends a line; blanks behind it come beside the indentation.
void look_write(FILE *file, unsigned look, unsigned indent, const char *text);
__attribute__((format(printf, 4, 5))) void look_printf(FILE *file, unsigned look, unsigned indent, const char *format,
                                                       ...);

// The same behind a lead ("Best:") that has a tone.
void look_lead(FILE *file, unsigned look, enum look_tone tone, const char *lead, unsigned indent, const char *text);

// A line of its own that says what stands below.
void look_heading(FILE *file, unsigned look, const char *text);

#endif
