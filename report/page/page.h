// SPDX-License-Identifier: GPL-3.0-or-later
// The page of `rehype report`: one HTML file that needs nothing else. Its program (report/page/src) is compiled in;
// this puts the data into it.
#ifndef REHYPE_REPORT_PAGE_PAGE_H
#define REHYPE_REPORT_PAGE_PAGE_H

#include "base/error.h"

#include <stdio.h>

struct page {
    const char *title;    // the trace's name
    const char *document; // rehype.report/1, as JSON
    const char *trace;    // packed bytes of a trace that gives the document's DAG; NULL: the page can't compute
};

// Whether this build has a page. Where npm was missing it has none: STATUS_FAILED.
bool page_is_built(struct error *error);

// Errors: as of page_is_built. What the file can't take shows in ferror.
bool page_write(const struct page *page, FILE *file, struct error *error);

#endif
