// SPDX-License-Identifier: GPL-3.0-or-later
// A span of a run's lanes as JSON (report/page/core.h says of which keys), without cJSON, which a page does not have.
#ifndef REHYPE_REPORT_PAGE_SPAN_JSON_H
#define REHYPE_REPORT_PAGE_SPAN_JSON_H

#include "optimize/improvement.h"
#include "report/page/laid_spans.h"

struct span_switches {
    const struct improvement *items;
    uint32_t count;
};

// The caller frees it. NULL: no memory.
char *span_json(const struct laid_run *laid, const struct lane_span *span, const struct span_switches *switches);

#endif
