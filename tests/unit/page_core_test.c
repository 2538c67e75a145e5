// SPDX-License-Identifier: GPL-3.0-or-later
// What a page computes by itself (report/page/core.h) is what the commands compute, and what it shows of a run fits
// together: of kept traces, for each change that they offer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dag/build/perturbation.h"
#include "optimize/candidates.h"
#include "optimize/estimator.h"
#include "optimize/objective.h"
#include "optimize/plan.h"
#include "report/page/core.h"
#include "report/page/lanes.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS_MOST = 400, CANDIDATES_MOST = 24, BINS = 257 };

static const char *const traces[] = {
    "tests/golden/traces/before.msgpack",
    "tests/golden/traces/narrow.msgpack",
    "tests/golden/traces/kinds.msgpack",
    "tests/golden/traces/actors.msgpack",
    "fixtures/traces/good-v6.msgpack",
    "fixtures/traces/good-v7.msgpack",
    "fixtures/traces/cases/JoinInSupply.msgpack",
    "fixtures/traces/cases/VirtualCrunch.msgpack",
    "fixtures/traces/cases/LedgerLock.msgpack",
    "fixtures/traces/cases/CrossPools.msgpack",
};
enum { TRACES = sizeof traces / sizeof traces[0] };

// The same trace as the commands have it.
struct commands {
    struct trace *trace;
    struct dag *dag;
    struct window window;
    struct estimator estimator;
    struct baseline baseline;
    struct arena arena;
    struct improvement *candidates;
    size_t count;
    struct error error;
};

static uint8_t *read_file(const char *name, size_t *size) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", REHYPE_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = page_alloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static bool open_page(const char *name, enum model_kind model) {
    size_t size;
    uint8_t *bytes = read_file(name, &size);
    return page_open(bytes, size, (int)model, 1, 0);
}

static void open_commands(struct commands *c, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", REHYPE_SOURCE_DIR, name);
    *c = (struct commands){.window = {INT64_MIN, INT64_MAX}};
    assert_non_null(c->trace = trace_open(path, false, &c->error));
    assert_non_null(c->dag = dag_build(c->trace, &c->error));
    assert_true(dag_take_out_tracer_cost(c->dag, &c->error));
    assert_true(estimator_init(&c->estimator, c->dag, &c->window, &c->error));
    c->estimator.model.kind = c->dag->vertices.compute_ns ? MODEL_CPU : MODEL_POOL;
    while (!estimator_measure_baseline(&c->estimator, true, &c->baseline, &c->error)) { // it comes to a halt
        assert_true(c->estimator.model.kind > MODEL_DAG);
        c->estimator.model.kind--;
    }
    assert_true(candidates_find(c->dag, KINDS_ALL, &c->arena, &c->candidates, &c->count, &c->error));
    if (c->count > CANDIDATES_MOST) c->count = CANDIDATES_MOST;
}

static void close_commands(struct commands *c) {
    estimator_destroy(&c->estimator);
    dag_free(c->dag);
    trace_close(c->trace);
    arena_destroy(&c->arena);
}

static void open_both(struct commands *c, const char *name) {
    open_commands(c, name);
    assert_true(open_page(name, c->estimator.model.kind));
}

static int add_switch(const struct improvement *i) {
    const uint32_t words[PAGE_WORDS] = {i->kind,
                                        i->site,
                                        i->context,
                                        i->path,
                                        i->factor,
                                        i->pool,
                                        (uint32_t)i->threads,
                                        i->resource,
                                        (uint32_t)i->capacity,
                                        i->first,
                                        i->alike};
    char types[2000] = "";
    for (uint32_t t = 0; t < i->change.type_count; t++) {
        strcat(types, i->change.types[t]);
        strcat(types, "\n");
    }
    return page_add_switch(words, i->change.of ? i->change.of : "", types);
}

static void assert_figures(enum page_run run, const struct metrics *metrics, const struct metrics *base) {
    assert_int_equal(page_figure_count(), quantity_count());
    for (uint32_t f = 0; f < page_figure_count(); f++) {
        const double wanted = quantity_of(f, metrics, base), found = page_figure(run, f);
        assert_string_equal(page_figure_name(f), quantity_name(f));
        if (!(wanted == found || (isnan(wanted) && isnan(found))))
            fail_msg("%s: %.17g, not %.17g", page_figure_name(f), found, wanted);
    }
}

static double figure(enum page_run run, const char *name) {
    uint32_t f = 0;
    while (f < page_figure_count() && strcmp(page_figure_name(f), name) != 0) f++;
    assert_true(f < page_figure_count());
    return page_figure(run, f);
}

// ---- figures

static void test_figures_of_runs(void **state) {
    for (int t = 0; t < TRACES; t++) {
        struct commands c;
        open_both(&c, traces[t]);
        assert_figures(PAGE_RECORDED, &c.baseline.recorded, &c.baseline.recorded);
        assert_figures(PAGE_REPLAYED, &c.baseline.replayed, &c.baseline.recorded);
        assert_figures(PAGE_ESTIMATED, &c.baseline.replayed, &c.baseline.recorded);
        assert_true(page_replay_error() == c.baseline.replay_error.share);
        page_close();
        close_commands(&c);
    }
}

// One switch, as the commands estimate a plan of it.
static void check_switch(struct commands *c, uint32_t number) {
    struct metrics metrics;
    char text[4096];
    bool stuck;
    const struct plan plan = {.improvements = &c->candidates[number], .count = 1};
    dag_edit_clear(&c->estimator.edit, c->dag);
    const enum page_outcome outcome = page_estimate(&number, 1);
    if (!plan_apply(&plan, c->estimator.model.kind, &c->estimator.edit, &c->error)) {
        assert_int_equal(outcome, PAGE_REFUSED);
        assert_string_equal(page_message(), error_text(&c->error, text, sizeof text));
        return;
    }
    assert_true(estimator_run(&c->estimator, &stuck, &c->error));
    assert_int_equal(outcome, stuck ? PAGE_STUCK : PAGE_DONE);
    if (stuck) {
        assert_string_equal(page_message(), estimator_stuck_text(&c->estimator, text, sizeof text));
        assert_int_equal(page_starves(), estimator_starves(&c->estimator));
        assert_true(page_stuck() > 0 || page_starves());
        assert_figures(PAGE_ESTIMATED, &c->baseline.replayed, &c->baseline.recorded);
        return;
    }
    assert_true(estimator_measure(&c->estimator, &c->baseline.recorded, true, &metrics, &c->error));
    assert_figures(PAGE_ESTIMATED, &metrics, &c->baseline.recorded);
}

static void test_figures_of_switches(void **state) {
    for (int t = 0; t < TRACES; t++) {
        struct commands c;
        open_both(&c, traces[t]);
        for (uint32_t i = 0; i < c.count; i++) assert_int_equal(add_switch(&c.candidates[i]), i);
        for (uint32_t i = 0; i < c.count; i++) check_switch(&c, i);
        assert_int_equal(page_estimate(NULL, 0), PAGE_DONE);
        assert_figures(PAGE_ESTIMATED, &c.baseline.replayed, &c.baseline.recorded);
        page_close();
        close_commands(&c);
    }
}

static void test_conflicts(void **state) {
    struct commands c;
    open_both(&c, traces[0]);
    bool any = false;
    for (uint32_t i = 0; i < c.count; i++) assert_int_equal(add_switch(&c.candidates[i]), i);
    for (uint32_t i = 0; i < c.count; i++) {
        for (uint32_t j = 0; j < c.count; j++) {
            const bool conflict = improvements_conflict(&c.candidates[i], &c.candidates[j]);
            assert_int_equal(page_switches_conflict(i, j), conflict);
            if (!conflict || i == j || any) continue;
            any = true;
            assert_int_equal(page_estimate((uint32_t[]){i, j}, 2), PAGE_REFUSED);
            assert_non_null(strstr(page_message(), " conflicts with "));
        }
    }
    assert_true(any);
    page_close();
    close_commands(&c);
}

static void test_switches_that_name_nothing(void **state) {
    struct commands c;
    open_both(&c, traces[0]);
    struct improvement wrong = c.candidates[0];
    wrong.site = c.dag->site_count;
    assert_int_equal(add_switch(&wrong), -1);
    assert_true(*page_message());
    wrong = (struct improvement){.kind = KIND_MERGE, .site = 0, .context = DAG_NONE, .path = DAG_NONE};
    assert_int_equal(add_switch(&wrong), -1); // its factor is open
    wrong = (struct improvement){.kind = KIND_MERGE_ACTORS, .factor = 2, .change.of = "no.Such"};
    assert_int_equal(add_switch(&wrong), -1);
    wrong = (struct improvement){.kind = KIND_COUNT};
    assert_int_equal(add_switch(&wrong), -1);
    assert_int_equal(page_estimate((uint32_t[]){0}, 1), PAGE_REFUSED);
    page_close();
    close_commands(&c);
}

static void test_windows_are_those_of_commands(void **state) {
    struct commands c;
    struct metrics recorded;
    open_commands(&c, traces[0]);
    c.window = (struct window){c.dag->first_ns + (c.dag->last_ns - c.dag->first_ns) / 4,
                               c.dag->first_ns + (c.dag->last_ns - c.dag->first_ns) / 2};
    assert_true(estimator_measure_recorded(&c.estimator, &recorded, &c.error));
    size_t size;
    uint8_t *bytes = read_file(traces[0], &size);
    assert_true(page_open(bytes, size, (int)c.estimator.model.kind, (double)c.window.from_ns, (double)c.window.to_ns));
    assert_figures(PAGE_RECORDED, &recorded, &recorded);
    page_close();
    close_commands(&c);
}

// ---- runs: each trace as recorded, as replayed, and under the first switch that is done

typedef void run_check(enum page_run run);

static void check_runs(run_check *check) {
    for (int t = 0; t < TRACES; t++) {
        struct commands c;
        open_both(&c, traces[t]);
        for (uint32_t i = 0; i < c.count; i++) assert_int_equal(add_switch(&c.candidates[i]), i);
        uint32_t on = 0;
        while (on < c.count && page_estimate(&on, 1) != PAGE_DONE) on++;
        for (enum page_run run = PAGE_RECORDED; run < PAGE_RUNS; run++) check(run);
        check(PAGE_ESTIMATED); // simulated anew, once the replayed run was looked at
        page_close();
        close_commands(&c);
    }
}

static bool has_virtual_threads(enum page_run run) {
    const double *profile = page_profile(run, STATE_OCCUPIED, true, 0, page_run_ns(run), 1);
    return profile && profile[0] > 0;
}

// In each row one piece follows the other; outermost rows hold all of the time that threads are occupied, or idle.
static void check_lanes(enum page_run run) {
    const double length = page_run_ns(run);
    double occupied = 0, idle = 0;
    for (uint32_t lane = 0; lane < page_lane_count(run); lane++) {
        const uint32_t count = page_lanes(run, 0, length, 0, lane, 1);
        double last[64] = {0};
        for (uint32_t i = 0; i < count; i++) {
            const double *record = page_lanes_data() + (size_t)LANE_FIELDS * i;
            const int depth = (int)record[5];
            assert_true(record[0] == lane && record[1] < record[2] && record[1] >= 0 && record[2] <= length);
            assert_true(record[1] >= last[depth]);
            last[depth] = record[2];
            if (depth == 0) *(record[3] == LANE_IDLE ? &idle : &occupied) += record[2] - record[1];
        }
        assert_true(*page_lane_name(run, lane));
    }
    if (has_virtual_threads(run)) return;
    const double mean[] = {figure(run, "occupied.mean") * length, figure(run, "unoccupied.mean") * length};
    assert_true(fabs(occupied - mean[0]) <= 1e-9 * mean[0]);
    assert_true(fabs(idle - mean[1]) <= 1e-9 * mean[1] + 1e-3);
}

static void test_lanes_cover_the_run(void **state) {
    check_runs(check_lanes);
}

static double number(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static cJSON *span_of(enum page_run run, double id) {
    cJSON *span = cJSON_Parse(page_span(run, id));
    assert_true(cJSON_IsObject(span));
    assert_true(number(span, "vertex") == id);
    return span;
}

static bool stands_in(const cJSON *span, double lane) {
    const cJSON *also = cJSON_GetObjectItemCaseSensitive(span, "also");
    return number(span, "lane") == lane || (cJSON_IsObject(also) && number(also, "lane") == lane);
}

static uint32_t all_lanes(enum page_run run) {
    return page_lane_count(run) + page_resource_lane_count(run) + page_actor_lane_count(run);
}

// In each row of a resource or actor one piece follows the other, and all but the gathered ones have a span that stands
// there.
static void check_rows(enum page_run run) {
    const double length = page_run_ns(run);
    for (uint32_t lane = page_lane_count(run); lane < all_lanes(run); lane++) {
        const uint32_t count = page_lanes(run, 0, length, 0, lane, 1);
        double *records = malloc((count + 1) * LANE_FIELDS * sizeof *records), last = 0;
        memcpy(records, page_lanes_data(), count * LANE_FIELDS * sizeof *records);
        assert_true(count > 0 && *page_lane_name(run, lane));
        for (uint32_t i = 0; i < count; i++) {
            const double *record = &records[(size_t)LANE_FIELDS * i];
            assert_true(record[0] == lane && record[1] >= last && record[2] > record[1] && record[5] == 0);
            last = record[2];
            assert_true(page_at(run, lane, record[1]) == record[4]);
            if (record[4] < 0 || i % (1 + count / 20)) continue;
            cJSON *span = span_of(run, record[4]);
            if (!stands_in(span, lane)) fail_msg("%s", page_span(run, record[4]));
            cJSON_Delete(span);
        }
        free(records);
    }
    assert_int_equal(page_lanes(run, 0, length, 0, all_lanes(run), 1), 0);
    assert_string_equal(page_lane_name(run, all_lanes(run)), "");
}

static void test_rows_of_resources_and_actors(void **state) {
    check_runs(check_rows);
}

// What the rows of a trace are of, and what its arrows between them are.
static void check_rows_of(const char *name, const char *row, const char *const arrows[]) {
    bool named = false;
    assert_true(open_page(name, MODEL_POOL));
    for (uint32_t lane = page_lane_count(PAGE_RECORDED); lane < all_lanes(PAGE_RECORDED); lane++)
        named |= strcmp(page_lane_name(PAGE_RECORDED, lane), row) == 0;
    assert_true(named);
    const uint32_t count =
        page_lanes(PAGE_RECORDED, 0, page_run_ns(PAGE_RECORDED), 0, page_lane_count(PAGE_RECORDED), UINT32_MAX);
    double *ids = malloc((count + 1) * sizeof *ids);
    for (uint32_t i = 0; i < count; i++) ids[i] = page_lanes_data()[(size_t)LANE_FIELDS * i + 4];
    for (int a = 0; arrows[a]; a++) {
        bool found = false;
        for (uint32_t i = 0; i < count && !found; i++) found = strstr(page_span(PAGE_RECORDED, ids[i]), arrows[a]);
        if (!found) fail_msg("%s has no arrow %s", name, arrows[a]);
    }
    free(ids);
    page_close();
}

static void test_rows_have_arrows(void **state) {
    static const char *const of_lock[] = {"freed by", "then held in", "waited for in", "frees it for", NULL};
    static const char *const of_actors[] = {"sent by", "sends", NULL};
    check_rows_of("fixtures/traces/cases/LedgerLock.msgpack", "waits for lock LedgerLock.locks", of_lock);
    check_rows_of("tests/golden/traces/actors.msgpack", "akka://ris/user/physics", of_actors);
}

// As long as all rows together, and not many more records than pixels.
static void check_pixels(enum page_run run) {
    enum { WIDTH = 40 };
    const double length = page_run_ns(run);
    for (uint32_t lane = 0; lane < page_lane_count(run); lane++) {
        const uint32_t count = page_lanes(run, length / 4, length / 2, WIDTH, lane, 1);
        double last[64] = {0};
        int deepest = 0;
        for (uint32_t i = 0; i < count; i++) {
            const double *record = page_lanes_data() + (size_t)LANE_FIELDS * i;
            const int depth = (int)record[5];
            assert_true(record[1] < record[2] && record[1] >= floor(length / 4) && record[2] <= length / 2);
            assert_true(record[1] >= last[depth]);
            last[depth] = record[2];
            if (depth > deepest) deepest = depth;
        }
        assert_true(count <= 4u * WIDTH * (unsigned)(deepest + 1));
    }
}

static void test_narrow_pieces_are_gathered(void **state) {
    check_runs(check_pixels);
}

// What is innermost in the middle of each piece is that, or what lies in it.
static void check_at(enum page_run run) {
    for (uint32_t lane = 0; lane < page_lane_count(run); lane++) {
        const uint32_t count = page_lanes(run, 0, page_run_ns(run), 0, lane, 1);
        for (uint32_t i = 0; i < count && i < SPANS_MOST; i++) {
            const double *record = page_lanes_data() + (size_t)LANE_FIELDS * i;
            const double middle = floor((record[1] + record[2]) / 2);
            bool covered = false;
            for (uint32_t j = 0; j < count; j++) {
                const double *other = page_lanes_data() + (size_t)LANE_FIELDS * j;
                covered |= other[5] > record[5] && other[1] <= middle && other[2] > middle;
            }
            if (!covered) assert_true(page_at(run, lane, middle) == record[4]);
        }
    }
}

static void test_innermost_span_at_a_time(void **state) {
    check_runs(check_at);
}

static bool leads_back(enum page_run run, const cJSON *span, const cJSON *arrow) {
    cJSON *there = span_of(run, number(arrow, "vertex"));
    const cJSON *back, *arrows = cJSON_GetObjectItemCaseSensitive(there, "arrows");
    bool found = cJSON_GetArraySize(arrows) >= 64; // more are not told
    assert_true(stands_in(there, number(arrow, "lane")) && stands_in(span, number(arrow, "here_lane")));
    assert_true(number(arrow, "time_ns") >= number(there, "from_ns"));
    cJSON_ArrayForEach(back, arrows) {
        found |=
            number(back, "vertex") == number(span, "vertex") && number(back, "lane") == number(arrow, "here_lane") &&
            number(back, "time_ns") == number(arrow, "here_ns") && number(back, "here_ns") == number(arrow, "time_ns");
    }
    cJSON_Delete(there);
    return found;
}

static int check_arrows(enum page_run run, double id) {
    cJSON *span = span_of(run, id);
    const cJSON *arrow, *arrows = cJSON_GetObjectItemCaseSensitive(span, "arrows");
    assert_true(number(span, "from_ns") <= number(span, "to_ns"));
    cJSON_ArrayForEach(arrow, arrows) {
        if (!leads_back(run, span, arrow)) fail_msg("%s", page_span(run, id));
    }
    const int count = cJSON_GetArraySize(arrows);
    cJSON_Delete(span);
    return count;
}

static void check_spans(enum page_run run) {
    const uint32_t count = page_lanes(run, 0, page_run_ns(run), 0, 0, UINT32_MAX);
    double *ids = malloc((count + 1) * sizeof *ids);
    int arrows = 0;
    for (uint32_t i = 0; i < count; i++) ids[i] = page_lanes_data()[(size_t)LANE_FIELDS * i + 4];
    for (uint32_t i = 0; i < count; i += 1 + count / SPANS_MOST) arrows += check_arrows(run, ids[i]);
    free(ids);
    assert_true(arrows > 0);
    assert_string_equal(page_span(run, -1), "null");
    assert_string_equal(page_span(run, 1e12), "null");
}

static void test_arrows_lead_back(void **state) {
    check_runs(check_spans);
}

static void test_spans_name_their_switches(void **state) {
    struct commands c;
    open_both(&c, traces[0]);
    assert_int_equal(add_switch(&c.candidates[0]), 0);
    const struct dag_task *task = &c.dag->tasks[c.candidates[0].tasks[0]];
    cJSON *span = span_of(PAGE_RECORDED, task->start);
    const cJSON *switches = cJSON_GetObjectItemCaseSensitive(span, "switches");
    assert_int_equal(cJSON_GetArraySize(switches), 1);
    assert_true(cJSON_GetArrayItem(switches, 0)->valuedouble == 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(span, "kind")->valuestring, "task");
    cJSON_Delete(span);
    page_close();
    close_commands(&c);
}

// Inlining what is waited for leaves no wait for it; what is estimated beside it stays.
static void test_switches_remove_waits(void **state) {
    struct commands c;
    uint32_t removed = 0, tried = 0;
    open_both(&c, "fixtures/traces/cases/JoinInSupply.msgpack");
    for (size_t i = 0; i < c.count; i++) assert_int_equal(add_switch(&c.candidates[i]), i);
    const uint32_t first = 0;
    assert_int_equal(page_estimate(&first, 1), PAGE_DONE);
    const double length = page_run_ns(PAGE_ESTIMATED);
    for (uint32_t v = 0; v < c.dag->vertex_count && tried < 40; v++) {
        const double replayed = page_wait_alone(-1, v);
        if (isnan(replayed)) continue;
        tried++;
        assert_true(replayed >= 0);
        for (size_t i = 0; i < c.count; i++) {
            const double alone = page_wait_alone((int)i, v);
            removed += replayed > 0 && alone <= 0;
        }
    }
    assert_true(tried > 0 && removed > 0);
    assert_true(isnan(page_wait_alone((int)c.count, 0)) && isnan(page_wait_alone(-1, -1)));
    assert_true(page_run_ns(PAGE_ESTIMATED) == length);
    page_close();
    close_commands(&c);
}

// From somewhere up to the run's end, one thread after the other.
static void check_path(enum page_run run) {
    const uint32_t count = page_critical_path(run);
    double last = 0, sum = 0;
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        const double *record = page_lanes_data() + (size_t)LANE_FIELDS * i;
        assert_true(record[1] >= last && record[2] > record[1]);
        last = record[2];
        sum += record[2] - record[1];
    }
    assert_true(sum > 0 && last <= page_run_ns(run));
}

static void test_critical_path(void **state) {
    check_runs(check_path);
}

static void check_profile(enum page_run run) {
    static const char *const means[STATE_COUNT] = {"occupied.mean", "active.mean", "waiting.mean", "blocked.mean",
                                                   "unoccupied.mean"};
    const double length = page_run_ns(run);
    for (uint32_t s = 0; s < STATE_COUNT; s++) {
        const double *profile = page_profile(run, s, false, 0, length, BINS);
        double sum = 0, half = 0, wanted = figure(run, means[s]);
        assert_non_null(profile);
        for (int bin = 0; bin < BINS; bin++) sum += profile[bin] / BINS;
        profile = page_profile(run, s, false, 0, floor(length / 2), BINS);
        for (int bin = 0; bin < BINS; bin++) half += profile[bin] / BINS;
        profile = page_profile(run, s, false, floor(length / 2), length, BINS);
        for (int bin = 0; bin < BINS; bin++) half += profile[bin] / BINS;
        if (!isnan(wanted)) assert_true(fabs(sum - wanted) <= 1e-9 * wanted + 1e-12);
        assert_true(fabs(half / 2 - sum) <= sum * (1e-9 + 2 / length));
    }
    assert_null(page_profile(run, STATE_COUNT, false, 0, length, BINS));
    assert_null(page_profile(run, 0, false, 1, 1, BINS));
}

static void test_profiles_have_the_mean(void **state) {
    check_runs(check_profile);
}

// ---- wrong input

static void test_damage_is_refused(void **state) {
    size_t size;
    uint8_t *bytes = read_file(traces[0], &size);
    for (size_t at = 0; at < size; at += 1 + size / 200) {
        uint8_t *damaged = page_alloc(size);
        memcpy(damaged, bytes, size);
        damaged[at] ^= 0x55;
        if (page_open(damaged, size, MODEL_POOL, 1, 0))
            page_close();
        else
            assert_true(*page_message());
    }
    assert_false(page_open(page_alloc(0), 0, MODEL_POOL, 1, 0));
    assert_true(*page_message());
    page_free(bytes);
}

static void test_nothing_is_open(void **state) {
    page_close();
    assert_true(isnan(page_figure(PAGE_RECORDED, 0)) && isnan(page_run_ns(PAGE_RECORDED)));
    assert_int_equal(page_lane_count(PAGE_ESTIMATED), 0);
    assert_int_equal(page_lanes(PAGE_RECORDED, 0, 1, 1, 0, 1), 0);
    assert_int_equal(page_critical_path(PAGE_RECORDED), 0);
    assert_int_equal(page_estimate(NULL, 0), PAGE_FAILED);
    assert_string_equal(page_span(PAGE_RECORDED, 0), "null");
    assert_null(page_profile(PAGE_RECORDED, 0, false, 0, 1, 1));
    assert_true(*page_message());
    assert_false(open_page(traces[0], (enum model_kind)7));
    assert_non_null(strstr(page_message(), "no model 7"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_of_runs),
        cmocka_unit_test(test_figures_of_switches),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_switches_that_name_nothing),
        cmocka_unit_test(test_windows_are_those_of_commands),
        cmocka_unit_test(test_lanes_cover_the_run),
        cmocka_unit_test(test_narrow_pieces_are_gathered),
        cmocka_unit_test(test_rows_of_resources_and_actors),
        cmocka_unit_test(test_rows_have_arrows),
        cmocka_unit_test(test_innermost_span_at_a_time),
        cmocka_unit_test(test_arrows_lead_back),
        cmocka_unit_test(test_spans_name_their_switches),
        cmocka_unit_test(test_switches_remove_waits),
        cmocka_unit_test(test_critical_path),
        cmocka_unit_test(test_profiles_have_the_mean),
        cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_nothing_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
