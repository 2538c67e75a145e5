// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/build/builder.h"
#include "dag/build/dealt.h"
#include "dag/build/loops_told.h"
#include "dag/build/served.h"
#include "dag/build/stages.h"

#include <stdlib.h>

static bool prepare(struct builder *builder) {
    const struct trace *trace = builder->trace;
    struct dag *dag = builder->dag;
    builder->seen_method = calloc((size_t)trace->method_count + 1, sizeof *builder->seen_method);
    builder->folded = malloc(((size_t)trace->method_count + 1) * sizeof *builder->folded);
    builder->site_of = malloc(((size_t)trace->site_count + 1) * sizeof *builder->site_of);
    builder->thread_of_stream = malloc(((size_t)trace->stream_count + 1) * sizeof *builder->thread_of_stream);
    dag->sites = ARENA_NEW(&dag->arena, struct dag_site, (size_t)trace->site_count + 1);
    if (!builder->seen_method || !builder->folded || !builder->site_of || !builder->thread_of_stream || !dag->sites) {
        return no_memory(builder);
    }
    for (uint32_t s = 0; s < trace->site_count; s++) builder->site_of[s] = DAG_NONE;
    for (uint32_t s = 0; s < trace->stream_count; s++) builder->thread_of_stream[s] = DAG_NONE;
    uint32_t empty;
    return context_intern(builder, 0, &empty) && paths_prepare(builder);
}

static void builder_destroy(struct builder *builder) {
    free(builder->sightings);
    free(builder->starts);
    free(builder->streams);
    free(builder->thread_of_stream);
    free(builder->open.entries);
    free(builder->functions.methods);
    free(builder->seen_method);
    free(builder->folded);
    free(builder->site_of);
    paths_destroy(builder);
    idmap_destroy(&builder->resource_of_id);
    idmap_destroy(&builder->actor_of_id);
    free(builder->actors);
    free(builder->upkeeps);
    free(builder->holds);
    free(builder->other_waits);
    free(builder->looks);
    free(builder->turned);
    free(builder->requests);
    free(builder->series_sites);
    free(builder->makings);
    free(builder->beginnings);
    free(builder->shutdowns);
    free(builder->lost_starts);
    free(builder->unmeasured);
    free(builder->mounted);
    idpages_destroy(&builder->sighting_of_id);
    idmap_destroy(&builder->contexts);
    idmap_destroy(&builder->sites);
}

struct rest { // of the work, once times are repaired
    struct builder *builder;
    bool pools_described;
};

// Items: how tasks and pools met, and then threads, for what they computed; neither looks at what the other finds.
static void do_rest(void *of, uint32_t hand, uint32_t item) {
    struct rest *rest = of;
    struct dag *dag = rest->builder->dag;
    (void)hand;
    if (item > 0) {
        measure_computing(rest->builder, item - 1);
        return;
    }
    find_dispatches(dag);
    rest->pools_described = describe_pools(rest->builder);
}

static bool finish(struct builder *builder) {
    struct rest rest = {.builder = builder};
    if (!prepare_computing(builder) || !read_machine(builder)) return false;
    settle_due(builder->dag);
    settle_making(builder->dag);
    find_standstill(builder->dag);
    hands_run(do_rest, &rest, 1 + builder->dag->thread_count, builder->hands);
    if (!bound_assumed_computing(builder)) return false;
    settle_looks(builder);
    return rest.pools_described && find_alike(builder) && find_cut_tasks(builder) && find_batches(builder) &&
           find_woken(builder) && settle_stops(builder) && settle_holders(builder) && find_answers(builder) &&
           add_carriers(builder);
}

static uint32_t hands_that_pay(const struct trace *trace) {
    enum { LEAST_SHARED = 200000 }; // events: of these the threads cost next to nothing
    return trace->event_count < LEAST_SHARED ? 1 : hands_there();
}

struct dag *dag_build(const struct trace *trace, struct error *error) {
    return dag_build_by(trace, hands_that_pay(trace), error);
}

static uint32_t end_of_ids(const struct trace *trace) {
    uint32_t end = 0;
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id >= end) end = trace->streams[s].id + 1;
    }
    return end;
}

// First requests, then stages: the threads of these are no others'.
static bool tell_anew(struct builder *builder) {
    typedef struct trace *teller(const struct trace *trace, struct trace_memory *memory, struct error *error);
    static teller *const tellers[] = {loops_told, served_told, dealt_told, stages_told};
    struct dag *dag = builder->dag;
    for (unsigned i = 0; i < sizeof tellers / sizeof *tellers; i++) {
        struct trace_memory memory = {0};
        const struct trace *before = dag->told_anew ? dag->told_anew : builder->trace;
        struct trace *told = tellers[i](before, &memory, builder->error);
        if (!told) {
            free(memory.bytes);
            if (builder->error->status != STATUS_OK) return false;
            continue;
        }
        if (tellers[i] == served_told) {
            builder->first_told = end_of_ids(before);
            builder->end_told = end_of_ids(told);
        }
        trace_close(dag->told_anew);
        free(dag->told.bytes);
        dag->told_anew = told;
        dag->told = memory;
    }
    return true;
}

struct dag *dag_build_by(const struct trace *trace, uint32_t hands, struct error *error) {
    struct dag *dag = calloc(1, sizeof *dag);
    struct builder builder = {.dag = dag, .trace = trace, .error = error, .hands = hands, .end_of_load = DAG_NONE};
    error->status = STATUS_OK;
    if (!dag) {
        no_memory(&builder);
        return NULL;
    }
    bool ok = tell_anew(&builder);
    dag->trace = builder.trace = dag->told_anew ? dag->told_anew : trace;
    ok = ok && prepare(&builder) && scan_trace(&builder) && lay_vertices(&builder) && find_taken_awaits(&builder) &&
         find_causes(&builder) && find_requests(&builder) && repair_skew(&builder) && find_end_of_load(&builder) &&
         find_completions(&builder) && find_shutdown(&builder) && find_grants(&builder) && finish(&builder);
    builder_destroy(&builder);
    if (ok) return dag;
    error_wrap(error, "cannot build the graph of %s", trace->path);
    dag_free(dag);
    return NULL;
}
