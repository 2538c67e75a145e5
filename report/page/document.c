// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/document.h"

#include "metrics/metrics.h"
#include "optimize/plan_json.h"
#include "optimize/plan_names.h"
#include "report/json.h"
#include "report/page/lanes.h"
#include "report/page/pixels.h"
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

static cJSON *doubles(const double *values, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(array, json_number(values[i]));
    return array;
}

cJSON *page_profile_json(const struct state_series *series) {
    double bins[PROFILE_BINS];
    cJSON *object = cJSON_CreateObject(), *states = cJSON_CreateObject();
    for (int state = 0; state < STATE_COUNT; state++) {
        metrics_profile(series, (enum thread_state)state, bins, PROFILE_BINS);
        cJSON_AddItemToObject(states, thread_state_names[state], doubles(bins, PROFILE_BINS));
    }
    cJSON_AddItemToObject(object, "wall_ns", json_integer(series->to_ns - series->from_ns));
    cJSON_AddItemToObject(object, "bins", json_integer(PROFILE_BINS));
    cJSON_AddItemToObject(object, "states", states);
    return object;
}

// ---- sizes of tasks

static cJSON *grain_name(uint32_t site, const struct grain_group *groups, size_t count) {
    for (size_t g = 0; g < count; g++) {
        if (groups[g].site == site) return json_text(groups[g].grain == GRAIN_FINE ? "fine" : "coarse");
    }
    return cJSON_CreateNull();
}

cJSON *page_sizes_json(const struct dag *dag, const struct task_sizes *sizes, size_t count,
                       const struct grain_group *groups, size_t group_count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        char name[512];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "site", json_place(&dag->sites[sizes[i].site].site));
        cJSON_AddItemToObject(object, "name", json_text(site_own_text(dag, sizes[i].site, name, sizeof name)));
        cJSON_AddItemToObject(object, "tasks", json_integer(sizes[i].task_count));
        cJSON_AddItemToObject(object, "grain", grain_name(sizes[i].site, groups, group_count));
        cJSON_AddItemToObject(object, "sorted_ns", doubles(sizes[i].sorted_ns, SIZE_POINTS));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

// ---- the machine

static void add_use(void *context, const struct machine_use *use) {
    const double values[] = {(double)use->from_ns, (double)use->to_ns,  use->process_cores,
                             use->machine_cores,   use->switches_per_s, use->compiler_cores};
    cJSON_AddItemToArray(context, doubles(values, sizeof values / sizeof values[0]));
}

static void add_pause(void *context, int64_t from_ns, int64_t to_ns) {
    const double values[] = {(double)from_ns, (double)to_ns};
    cJSON_AddItemToArray(context, doubles(values, 2));
}

bool page_machine_json(const struct dag *dag, const struct window *window, cJSON **machine, struct error *error) {
    struct timeline timeline;
    *machine = cJSON_CreateObject();
    const bool ok = timeline_init(&timeline, dag, window, error);
    if (ok) {
        timeline_visit_machine(&timeline, add_use, cJSON_AddArrayToObject(*machine, "samples"));
        timeline_visit_pauses(&timeline, add_pause, cJSON_AddArrayToObject(*machine, "pauses"));
    }
    timeline_destroy(&timeline);
    return ok;
}

// ---- threads over time

enum { OVERVIEW_LANES = 40, OVERVIEW_PIXELS = 500 };

static bool draw_lane(const struct lanes *lanes, uint32_t lane, struct pixels *pixels) {
    const bool ok = lanes_visit(lanes, lane, 0, lanes->length_ns, pixels_add, pixels);
    pixels_end_lane(pixels);
    return ok && !pixels->no_memory;
}

bool page_overview_json(const struct dag *dag, cJSON **overview, struct error *error) {
    struct metrics_work work = {0};
    struct lanes lanes;
    struct pixels pixels = {0};
    bool ok = lanes_init(&lanes, dag, &work, error);
    *overview = cJSON_CreateObject();
    cJSON *names = cJSON_AddArrayToObject(*overview, "names");
    pixels_begin(&pixels, ok ? lanes.length_ns / OVERVIEW_PIXELS : 0);
    for (uint32_t i = 0; ok && i < lanes.count && i < OVERVIEW_LANES; i++) {
        char name[256];
        cJSON_AddItemToArray(names, json_text(lane_name(&lanes, i, name, sizeof name)));
        ok = draw_lane(&lanes, i, &pixels) || error_set(error, STATUS_FAILED, "no memory to draw threads");
    }
    cJSON_AddItemToObject(*overview, "length_ns", json_integer(ok ? lanes.length_ns : 0));
    cJSON_AddItemToObject(*overview, "records", doubles(pixels.records, ok ? pixels.count * PIXELS_FIELDS : 0));
    pixels_destroy(&pixels);
    lanes_destroy(&lanes);
    metrics_work_destroy(&work);
    return ok;
}

// ---- switches

static void mark(bool *wanted, const uint32_t *candidates, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) wanted[candidates[i]] = true;
}

static bool *find_wanted(const struct search_result *result) {
    bool *wanted = calloc(result->candidate_count + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < result->candidate_count; i++) wanted[i] = result->candidates[i].shown;
    for (size_t p = 0; wanted && p < result->plan_count; p++)
        mark(wanted, result->plans[p].candidates, result->plans[p].count);
    for (size_t f = 0; wanted && f < result->front_count; f++)
        mark(wanted, result->front[f].candidates, result->front[f].count);
    return wanted;
}

// As core.h has them.
static cJSON *words_of(const struct improvement *i) {
    const double words[] = {i->kind,    i->site,     i->context,  i->path,  i->factor, i->pool,
                            i->threads, i->resource, i->capacity, i->first, i->alike};
    return doubles(words, sizeof words / sizeof words[0]);
}

// A line each.
static cJSON *lines_of(const struct actor_change *change) {
    size_t length = 1;
    for (uint32_t i = 0; i < change->type_count; i++) length += strlen(change->types[i]) + 1;
    char *text = calloc(length, 1);
    for (uint32_t i = 0; text && i < change->type_count; i++) {
        if (i) strcat(text, "\n");
        strcat(text, change->types[i]);
    }
    cJSON *lines = json_text(text);
    free(text);
    return lines;
}

cJSON *page_switch_json(const struct improvement *improvement, size_t id) {
    char text[1024];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "improvement", id ? json_integer((int64_t)id) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "text", json_text(improvement_text(improvement, text, sizeof text)));
    cJSON_AddItemToObject(object, "item", improvement_plan_json(improvement));
    cJSON_AddItemToObject(object, "words", words_of(improvement));
    cJSON_AddItemToObject(object, "of", json_text(improvement->change.of ? improvement->change.of : ""));
    cJSON_AddItemToObject(object, "types", lines_of(&improvement->change));
    return object;
}

cJSON *page_switches_json(const struct search_result *result) {
    cJSON *array = cJSON_CreateArray();
    bool *wanted = find_wanted(result);
    for (size_t i = 0; wanted && i < result->candidate_count; i++) {
        if (wanted[i]) cJSON_AddItemToArray(array, page_switch_json(result->candidates[i].named, i + 1));
    }
    free(wanted);
    return array;
}
