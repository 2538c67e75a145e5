// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: page_words TRACE [PLAN] [MODEL]
// What a page's core natively makes of a trace and a plan, as JSON, for tests of core.wasm: the plan's improvements as
// page_add_switch takes them, the figures of the three runs, and sums of what lanes, path, profile and spans are.
#include "optimize/plan.h"
#include "report/escape.h"
#include "report/page/core_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 100, WIDTH = 50, SPANS = 40 };

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = page_alloc(*size);
    if (fread(bytes, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return bytes;
}

// Of doubles' bits and texts alike (FNV-1a); in JavaScript, too, this is exact.
static uint32_t hash(uint32_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
    return hash;
}

static uint32_t hash_records(uint32_t sum, uint32_t count) {
    return hash(sum, page_lanes_data(), (size_t)count * LANE_FIELDS * sizeof(double));
}

static uint32_t hash_run(enum page_run run) {
    const double length = page_run_ns(run);
    uint32_t sum = hash(2166136261u, &length, sizeof length);
    const uint32_t lanes = page_lane_count(run) + page_resource_lane_count(run) + page_actor_lane_count(run);
    for (uint32_t lane = 0; lane < lanes; lane++)
        sum = hash(sum, page_lane_name(run, lane), strlen(page_lane_name(run, lane)));
    sum = hash_records(sum, page_lanes(run, 0, length, 0, 0, UINT32_MAX));
    sum = hash_records(sum, page_lanes(run, length / 3, length / 2, WIDTH, 0, UINT32_MAX));
    sum = hash_records(sum, page_critical_path(run));
    for (uint32_t state = 0; state < STATE_COUNT; state++)
        sum = hash(sum, page_profile(run, state, false, 0, length, BINS), BINS * sizeof(double));
    for (uint32_t i = 0; i < SPANS; i++) {
        const double span = page_at(run, i % (lanes + 1), length * (i + 0.5) / SPANS);
        const char *json = page_span(run, span);
        sum = hash(sum, json, strlen(json));
    }
    return sum;
}

static void print_runs(void) {
    fputs("\"runs\":[", stdout);
    for (enum page_run run = PAGE_RECORDED; run < PAGE_RUNS; run++) {
        printf("%s{\"hash\":%u,\"figures\":[", run ? "," : "", hash_run(run));
        for (uint32_t f = 0; f < page_figure_count(); f++) {
            const double figure = page_figure(run, f);
            if (isfinite(figure))
                printf("%s%.17g", f ? "," : "", figure);
            else
                printf("%snull", f ? "," : "");
        }
        fputs("]}", stdout);
    }
    fputs("]", stdout);
}

static void print_switch(const struct improvement *i, bool first) {
    printf("%s{\"words\":[%u,%u,%u,%u,%u,%u,%u,%u,%u,%u],\"of\":", first ? "" : ",", i->kind, i->site, i->context,
           i->path, i->factor, i->pool, (unsigned)i->threads, i->resource, (unsigned)i->capacity, i->first);
    escape_json(stdout, i->change.of);
    fputs(",\"types\":[", stdout);
    for (uint32_t t = 0; t < i->change.type_count; t++) {
        if (t) putchar(',');
        escape_json(stdout, i->change.types[t]);
    }
    fputs("]}", stdout);
}

// The plan's improvements, which become the first switches.
static bool print_plan(const char *path, struct arena *arena, struct error *error) {
    struct plan plan = {0};
    if (path && !plan_read(path, page_core.dag, arena, &plan, error)) return false;
    fputs("\"switches\":[", stdout);
    uint32_t numbers[64], count = 0;
    for (size_t i = 0; i < plan.count && count < 64; i++) {
        const struct improvement *of = &plan.improvements[i];
        char types[4000] = "";
        for (uint32_t t = 0; t < of->change.type_count; t++) {
            strcat(types, of->change.types[t]);
            strcat(types, "\n");
        }
        const uint32_t words[PAGE_WORDS] = {of->kind,
                                            of->site,
                                            of->context,
                                            of->path,
                                            of->factor,
                                            of->pool,
                                            (uint32_t)of->threads,
                                            of->resource,
                                            (uint32_t)of->capacity,
                                            of->first,
                                            of->alike};
        const int number = page_add_switch(words, of->change.of ? of->change.of : "", types);
        if (number < 0) return error_set(error, STATUS_FAILED, "%s", page_message());
        numbers[count++] = (uint32_t)number;
        print_switch(of, i == 0);
    }
    printf("],\"outcome\":%d,\"message\":", page_estimate(numbers, count));
    escape_json(stdout, page_message());
    fputs(",", stdout);
    return true;
}

static bool print_all(const char *trace, const char *plan, int model, struct arena *arena, struct error *error) {
    size_t size = 0;
    uint8_t *bytes = read_file(trace, &size);
    if (!bytes) return error_set(error, STATUS_FAILED, "can't read %s", trace);
    if (!page_open(bytes, size, model, 1, 0)) return error_set(error, STATUS_FAILED, "%s", page_message());
    fputs("{", stdout);
    if (!print_plan(plan, arena, error)) return false;
    print_runs();
    puts("}");
    return true;
}

int main(int count, char **operands) {
    struct error error = ERROR_INIT;
    struct arena arena = ARENA_INIT;
    char text[2000];
    const int model = count > 3 ? atoi(operands[3]) : MODEL_CPU;
    const char *plan = count > 2 && *operands[2] ? operands[2] : NULL;
    const bool done = count > 1 && print_all(operands[1], plan, model, &arena, &error);
    if (!done) fprintf(stderr, "page_words: %s\n", error_text(&error, text, sizeof text));
    arena_destroy(&arena);
    page_close();
    return done ? 0 : 1;
}
