// SPDX-License-Identifier: GPL-3.0-or-later
// Names from a trace, as other formats take them. A trace is untrusted, and names that had no room are cut in
// mid-character: what is no UTF-8 becomes U+FFFD, and what a format reserves is escaped. NULL is the empty text.
#ifndef REHYPE_REPORT_ESCAPE_H
#define REHYPE_REPORT_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// One character of a text: as many bytes of UTF-8, with a NUL behind them.
struct utf8 {
    char bytes[5];
    uint8_t length;
};

// The character that begins at `text`, and where the next one does; NULL at the text's end. Not for NULL texts.
const char *utf8_next(const char *text, struct utf8 *character);

void escape_json(FILE *file, const char *text); // with its quotes
void escape_dot(FILE *file, const char *text);  // with its quotes; control characters become '?'
void escape_xml(FILE *file, const char *text);  // for content and attributes; what XML cannot hold becomes '?'

// A frame of a collapsed stack: ';' becomes ':', control characters '?'.
void escape_frame(FILE *file, const char *text);

// A path as the path of a URI (RFC 3986): all but letters, digits, "-._~/" and "$" are percent-encoded.
void escape_uri(FILE *file, const char *text);

#endif
