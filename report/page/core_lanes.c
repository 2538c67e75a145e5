// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/core_state.h"
#include "report/page/critical_path.h"
#include "report/page/span_json.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)LANE_FIELDS == (int)PIXELS_FIELDS, "records are as core.h says");

enum { PATH_WIDTH = 4096 }; // pixels that the whole of a critical path has

static int64_t time_of(double ns) {
    if (!(ns > -0x1p62)) return -(INT64_C(1) << 62);
    return ns < 0x1p62 ? (int64_t)ns : INT64_C(1) << 62;
}

double page_run_ns(enum page_run run) {
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(&page_core, run) : NULL;
    return lanes ? (double)lanes->length_ns : NAN;
}

uint32_t page_lane_count(enum page_run run) {
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(&page_core, run) : NULL;
    return lanes ? lanes->count : 0;
}

const char *page_lane_name(enum page_run run, uint32_t lane) {
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(&page_core, run) : NULL;
    if (!lanes || lane >= lanes->count) return "";
    return lane_name(lanes, lane, page_core.name, sizeof page_core.name);
}

static uint32_t records(struct core *core) {
    if (core->pixels.no_memory) core_say(core, "no memory for the lanes of a run");
    core->pixels.no_memory = false;
    return (uint32_t)core->pixels.count;
}

uint32_t page_lanes(enum page_run run, double from_ns, double to_ns, uint32_t width, uint32_t first_lane,
                    uint32_t lane_count) {
    struct core *core = &page_core;
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(core, run) : NULL;
    const int64_t begin_ns = time_of(from_ns), end_ns = time_of(to_ns);
    pixels_begin(&core->pixels, width && begin_ns < end_ns ? (end_ns - begin_ns) / width : 0);
    for (uint32_t i = first_lane; lanes && i < lanes->count && i - first_lane < lane_count; i++) {
        if (!lanes_visit(lanes, i, begin_ns, end_ns, pixels_add, &core->pixels)) core->pixels.no_memory = true;
        pixels_end_lane(&core->pixels);
    }
    return records(core);
}

const double *page_lanes_data(void) {
    return page_core.pixels.records;
}

double page_at(enum page_run run, uint32_t lane, double time_ns) {
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(&page_core, run) : NULL;
    return lanes && lane < lanes->count ? lanes_at(lanes, lane, time_of(time_ns)) : LANE_NO_SPAN;
}

const char *page_span(enum page_run run, double vertex) {
    struct core *core = &page_core;
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(core, run) : NULL;
    const struct span_switches switches = {core->switches, core->switch_count};
    struct lane_span span;
    free(core->span);
    core->span = NULL;
    if (!lanes || !lane_span_find(lanes, vertex, &span)) return "null";
    core->span = span_json(lanes, &span, &switches);
    return core->span ? core->span : "null";
}

// Of one row, so that what is gathered stays in order of time.
static void add_to_path(void *core, const struct lane_piece *piece) {
    struct lane_piece flat = *piece;
    flat.depth = 0;
    pixels_add(&((struct core *)core)->pixels, &flat);
}

uint32_t page_critical_path(enum page_run run) {
    struct core *core = &page_core;
    struct error error = ERROR_INIT;
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(core, run) : NULL;
    pixels_begin(&core->pixels, lanes ? lanes->length_ns / PATH_WIDTH : 0);
    if (lanes && !critical_path_visit(lanes, add_to_path, core, &error)) core_fail(core, &error);
    pixels_end_lane(&core->pixels);
    return records(core);
}

// ---- a plan that was stuck

bool page_starves(void) {
    return page_core.starves;
}

static void add_stuck(struct core *core, const struct lanes *lanes, uint32_t index) {
    const struct dag_task *task = &core->dag->tasks[index];
    struct lane_span span;
    if (task->start == DAG_NONE || !lane_span_find(lanes, task->start, &span)) return;
    const struct lane_piece piece = {.lane = lanes->lane_of[span.thread],
                                     .state = LANE_WAITING,
                                     .span = span.id,
                                     .begin_ns = span.from_ns,
                                     .end_ns = span.to_ns};
    pixels_add(&core->pixels, &piece);
}

uint32_t page_stuck(void) {
    struct core *core = &page_core;
    const struct lanes *lanes = core->stuck_count ? core_lanes(core, PAGE_RECORDED) : NULL;
    pixels_begin(&core->pixels, 0);
    for (uint32_t i = 0; lanes && i < core->stuck_count; i++) add_stuck(core, lanes, core->stuck[i]);
    return records(core);
}
