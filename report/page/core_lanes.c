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

uint32_t page_resource_lane_count(enum page_run run) {
    const struct laid_run *laid = run < PAGE_RUNS ? core_laid(&page_core, run) : NULL;
    return laid ? laid->resources.count : 0;
}

uint32_t page_actor_lane_count(enum page_run run) {
    const struct laid_run *laid = run < PAGE_RUNS ? core_laid(&page_core, run) : NULL;
    return laid ? laid->actors.count : 0;
}

// A copy that only a plan makes has no id.
static const char *actor_name(struct core *core, const struct laid_run *laid, uint32_t lane) {
    struct error error = ERROR_INIT;
    const uint64_t id = laid->lanes->run->actors[laid->actors.lanes[lane].of].id;
    const uint32_t logged = id && core_read_log(core, &error) ? idmap_get(&core->named, id) : IDMAP_NONE;
    if (logged == IDMAP_NONE) return id ? "an actor" : "a copy of an actor";
    return actor_log_path(&core->log, logged, core->name, sizeof core->name);
}

// Where a lane is: among the run's threads, or else in `laid`, by its number there. NULL: it is of a thread, or none.
static const struct laid_lanes *find_laid(const struct laid_run *run, uint32_t *lane) {
    const uint32_t resources = run->resources.count;
    if (*lane < run->lanes->count || *lane >= laid_run_count(run)) return NULL;
    *lane -= run->lanes->count;
    if (*lane < resources) return &run->resources;
    *lane -= resources;
    return &run->actors;
}

const char *page_lane_name(enum page_run run, uint32_t lane) {
    struct core *core = &page_core;
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(core, run) : NULL;
    if (!lanes) return "";
    if (lane < lanes->count) return lane_name(lanes, lane, core->name, sizeof core->name);
    const struct laid_run *laid = core_laid(core, run);
    const struct laid_lanes *of = laid ? find_laid(laid, &lane) : NULL;
    if (!of) return "";
    if (of == &laid->actors) return actor_name(core, laid, lane);
    return resource_lane_name(of, lanes->run, lane, core->name, sizeof core->name);
}

static uint32_t records(struct core *core) {
    if (core->pixels.no_memory) core_say(core, "no memory for the lanes of a run");
    core->pixels.no_memory = false;
    return (uint32_t)core->pixels.count;
}

// Those of resources and actors.
static void draw_laid(struct core *core, enum page_run run, uint32_t first, uint32_t end, int64_t begin_ns,
                      int64_t end_ns) {
    const struct laid_run *laid = core_laid(core, run);
    if (!laid) return;
    const uint32_t from = first < laid->lanes->count ? laid->lanes->count : first;
    for (uint32_t i = from; i < end && i < laid_run_count(laid); i++) {
        uint32_t lane = i;
        const struct laid_lanes *of = find_laid(laid, &lane);
        laid_lanes_visit(of, lane, i, begin_ns, end_ns, pixels_add, &core->pixels);
        pixels_end_lane(&core->pixels);
    }
}

uint32_t page_lanes(enum page_run run, double from_ns, double to_ns, uint32_t width, uint32_t first_lane,
                    uint32_t lane_count) {
    struct core *core = &page_core;
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(core, run) : NULL;
    const int64_t begin_ns = time_of(from_ns), end_ns = time_of(to_ns);
    pixels_begin(&core->pixels, width && begin_ns < end_ns ? (end_ns - begin_ns) / width : 0);
    const uint32_t end = lane_count < UINT32_MAX - first_lane ? first_lane + lane_count : UINT32_MAX;
    for (uint32_t i = first_lane; lanes && i < lanes->count && i < end; i++) {
        if (!lanes_visit(lanes, i, begin_ns, end_ns, pixels_add, &core->pixels)) core->pixels.no_memory = true;
        pixels_end_lane(&core->pixels);
    }
    if (lanes && end > lanes->count) draw_laid(core, run, first_lane, end, begin_ns, end_ns);
    return records(core);
}

const double *page_lanes_data(void) {
    return page_core.pixels.records;
}

double page_at(enum page_run run, uint32_t lane, double time_ns) {
    const struct lanes *lanes = run < PAGE_RUNS ? core_lanes(&page_core, run) : NULL;
    if (!lanes) return LANE_NO_SPAN;
    if (lane < lanes->count) return lanes_at(lanes, lane, time_of(time_ns));
    const struct laid_run *laid = core_laid(&page_core, run);
    const struct laid_lanes *of = laid ? find_laid(laid, &lane) : NULL;
    return of ? laid_lanes_at(of, lane, time_of(time_ns)) : LANE_NO_SPAN;
}

const char *page_span(enum page_run run, double vertex) {
    struct core *core = &page_core;
    const struct laid_run *laid = run < PAGE_RUNS ? core_laid(core, run) : NULL;
    const struct span_switches switches = {core->switches, core->switch_count};
    struct lane_span span;
    free(core->span);
    core->span = NULL;
    if (!laid || !lane_span_find(laid->lanes, vertex, &span)) return "null";
    core->span = span_json(laid, &span, &switches);
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
