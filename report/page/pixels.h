// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces of lanes as records for a page, those that are narrower than a pixel gathered: what follows each other in a
// row, and together is no wider than one, is one record, of the state that takes most of it. So there are some four
// records a pixel and row at most, however much happened.
#ifndef REHYPE_REPORT_PAGE_PIXELS_H
#define REHYPE_REPORT_PAGE_PIXELS_H

#include "report/page/lanes.h"

enum { PIXELS_DEEPEST = 64, PIXELS_FIELDS = 6 }; // rows below are left out

struct pixels_row {
    struct lane_piece piece; // of what was gathered: of several LANE_NO_SPAN, and no state
    int64_t state_ns[LANE_STATES];
    bool any;
};

struct pixels {
    int64_t pixel_ns;
    struct pixels_row rows[PIXELS_DEEPEST];
    double *records; // PIXELS_FIELDS each: lane, begin, end, state, span, depth
    size_t count, capacity;
    bool no_memory;
};

// Forgets the records; memory is kept. pixel_ns 0: nothing is gathered.
void pixels_begin(struct pixels *pixels, int64_t pixel_ns);
void pixels_add(void *pixels, const struct lane_piece *piece); // a lane_visitor
void pixels_end_lane(struct pixels *pixels);                   // behind each lane
void pixels_destroy(struct pixels *pixels);

#endif
