// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one span of a run's lanes (lanes.h), and the arrows from and to it. Each arrow leads to a span that
// has one back.
#ifndef REHYPE_REPORT_PAGE_SPANS_H
#define REHYPE_REPORT_PAGE_SPANS_H

#include "report/page/lanes.h"
#include "report/span.h"

struct lane_span {
    double id;
    struct span of;  // .of is DAG_NONE where nothing is known
    bool idle;       // and not of that kind
    bool holds;      // and is no sleep: for so long the thread has the resource (laid_lanes.h)
    uint32_t vertex; // that it begins at; of a sleep that no event tells of, ends at
    uint32_t end;    // vertex that it ends at, DAG_NONE: it outlasts the run
    uint32_t thread;
    int64_t from_ns, to_ns;
};

// false: no span has that id.
bool lane_span_find(const struct lanes *lanes, double id, struct lane_span *span);

enum { ARROWS_MOST = 64 };

struct arrow {
    const char *what;         // "spawned by"
    double span;              // that it leads to, or comes from
    uint32_t lane, here_lane; // of that, and of this one
    int64_t time_ns, here_ns; // there, and here
};

struct arrows { // in order of `time_ns`; if there are more, the earliest
    struct arrow in[ARROWS_MOST], out[ARROWS_MOST];
    uint32_t in_count, out_count;
};

// Whether lanes show the body of a task.
bool lanes_shows_task(const struct lanes *lanes, uint32_t task);

// What ended the sleep that ends at a vertex, if lanes show that; DAG_NONE.
uint32_t lanes_waker(const struct lanes *lanes, uint32_t end);

// Among those that lead here, or those that lead on.
void arrows_add(struct arrows *arrows, bool inward, struct arrow arrow);

// Cost: a pass over the run's tasks and vertices, some ms a million.
void lane_span_arrows(const struct lanes *lanes, const struct lane_span *span, struct arrows *arrows);

#endif
