// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/page.h"

#include <string.h>

// The page's program, of which these marks are replaced; without npm it has no byte (report/page/CMakeLists.txt).
extern const unsigned char page_html_bytes[];
extern const size_t page_html_length;

bool page_is_built(struct error *error) {
    return page_html_length > 0 ||
           error_set(error, STATUS_FAILED,
                     "this rehype was built without npm, and has no page: install npm and build it again");
}

// JSON in a script element: "</script" would end it, "<!--" change how it is read.
static void write_document(const char *json, FILE *file) {
    for (const char *c = json; *c; c++) {
        if (*c == '<')
            fputs("\\u003c", file);
        else
            putc(*c, file);
    }
}

static void write_title(const char *title, FILE *file) {
    for (const char *c = title; *c; c++) {
        if (*c == '<')
            fputs("&lt;", file);
        else if (*c == '&')
            fputs("&amp;", file);
        else
            putc(*c, file);
    }
}

static void write_trace(const char *packed, FILE *file) {
    if (packed) fputs(packed, file);
}

// Up to the mark as it is, and then what stands for it. Returns where it goes on; NULL: there is no such mark.
static const char *write_to(const char *from, const char *end, const char *mark, FILE *file) {
    const char *found = memmem(from, (size_t)(end - from), mark, strlen(mark));
    if (!found) return NULL;
    fwrite(from, 1, (size_t)(found - from), file);
    return found + strlen(mark);
}

bool page_write(const struct page *page, FILE *file, struct error *error) {
    static const struct {
        const char *mark;
        void (*write)(const char *text, FILE *file);
    } parts[] = {{"@TITLE@", write_title}, {"@DOCUMENT@", write_document}, {"@TRACE@", write_trace}};
    const char *const texts[] = {page->title, page->document, page->trace};
    const char *from = (const char *)page_html_bytes, *end = from + page_html_length;
    if (!page_is_built(error)) return false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        from = write_to(from, end, parts[i].mark, file);
        if (!from) return error_set(error, STATUS_FAILED, "the page lacks its mark %s", parts[i].mark);
        parts[i].write(texts[i], file);
    }
    fwrite(from, 1, (size_t)(end - from), file);
    return true;
}
