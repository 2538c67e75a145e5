// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/json.h"

#include "dag/names.h"
#include "metrics/requests.h"
#include "optimize/plan_json.h"
#include "report/calling_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *json_integer(int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    return cJSON_CreateRaw(digits);
}

// Whole nanoseconds of a figure that is held as a double.
static cJSON *rounded(double value) {
    return isfinite(value) && fabs(value) < 9e18 ? json_integer(llround(value)) : cJSON_CreateNull();
}

cJSON *json_number(double value) {
    return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

cJSON *json_text(const char *text) {
    return text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

cJSON *json_texts(const char *const *texts, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(array, json_text(texts[i]));
    return array;
}

// Of lines behind one another, each without its indentation; null for none.
static cJSON *lines_of(const char *text) {
    if (!text) return cJSON_CreateNull();
    cJSON *array = cJSON_CreateArray();
    for (const char *line = text, *end; *line; line = end) {
        char step[1024];
        line += strspn(line, "\n ");
        end = line + strcspn(line, "\n");
        snprintf(step, sizeof step, "%.*s", (int)(end - line), line);
        if (*step) cJSON_AddItemToArray(array, cJSON_CreateString(step));
    }
    return array;
}

static void add(cJSON *object, const char *key, cJSON *value) {
    cJSON_AddItemToObject(object, key, value);
}

cJSON *json_place(const struct trace_site *site) {
    if (!site->class_name) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    add(object, "class", json_text(site->class_name));
    add(object, "method", json_text(site->method));
    add(object, "descriptor", json_text(site->descriptor));
    add(object, "file", json_text(site->file));
    add(object, "line", site->line ? json_integer(site->line) : cJSON_CreateNull());
    add(object, "bci", site->bci >= 0 ? json_integer(site->bci) : cJSON_CreateNull());
    return object;
}

static cJSON *usage_of(const struct usage *usage) {
    cJSON *object = cJSON_CreateObject();
    add(object, "peak", json_number(usage->peak));
    add(object, "max", json_number(usage->max));
    add(object, "mean", json_number(usage->mean));
    return object;
}

static cJSON *states_of(const struct usage *states) {
    cJSON *object = cJSON_CreateObject();
    for (int state = 0; state < STATE_COUNT; state++) add(object, thread_state_names[state], usage_of(&states[state]));
    return object;
}

static void add_quantiles(cJSON *object, const struct quantiles *quantiles) {
    add(object, "mean", json_number(quantiles->mean));
    add(object, "p20", rounded(quantiles->p20));
    add(object, "p50", rounded(quantiles->p50));
    add(object, "p80", rounded(quantiles->p80));
    add(object, "p95", rounded(quantiles->p95));
    add(object, "max", rounded(quantiles->max));
}

static cJSON *grain_of(const struct grain_count *grain) {
    cJSON *object = cJSON_CreateObject();
    add(object, "sites", rounded(grain->sites));
    add(object, "tasks", rounded(grain->tasks));
    return object;
}

static cJSON *tasks_of(const struct task_metrics *tasks) {
    cJSON *object = cJSON_CreateObject(), *granularity = cJSON_CreateObject(), *queue_wait = cJSON_CreateObject();
    add(granularity, "unit", json_text(tasks->granularity_unit));
    add_quantiles(granularity, &tasks->granularity);
    add_quantiles(queue_wait, &tasks->queue_wait_ns);
    add(object, "count", json_integer((int64_t)tasks->count));
    add(object, "overhead_share", json_number(tasks->overhead_share));
    add(object, "idle_share", json_number(tasks->idle_share));
    add(object, "work_ns", rounded(tasks->work_ns));
    add(object, "span_ns", rounded(tasks->span_ns));
    add(object, "granularity", granularity);
    add(object, "fine", grain_of(&tasks->fine));
    add(object, "coarse", grain_of(&tasks->coarse));
    add(object, "queue_wait_ns", queue_wait);
    return object;
}

static cJSON *requests_of(const struct request_metrics *requests) {
    cJSON *object = cJSON_CreateObject(), *latency = cJSON_CreateObject();
    char site[512], name[600];
    add(object, "site",
        json_text(requests->dag ? dag_site_text(requests->dag, requests->site, site, sizeof site) : NULL));
    add(object, "count", rounded(requests->count));
    add(latency, "p50", rounded(requests->latency_ns.p50));
    add(latency, "p95", rounded(requests->latency_ns.p95));
    add(latency, "p99", rounded(requests->latency_ns.p99));
    add(object, "latency_ns", latency);
    add(object, "throughput_per_s", json_number(requests->throughput_per_s));
    add(object, "peak_threads", rounded(requests->peak_threads));
    add(object, "concurrent", rounded(requests->concurrent));
    add(object, "sustainable_per_s", json_number(requests->sustainable_per_s));
    add(object, "bottleneck", json_text(requests_bottleneck(requests, name, sizeof name)));
    return object;
}

static cJSON *cpu_of(const struct cpu_metrics *cpu) {
    cJSON *object = cJSON_CreateObject();
    add(object, "utilisation", json_number(cpu->utilisation));
    add(object, "machine_utilisation", json_number(cpu->machine));
    add(object, "other_processes", json_number(cpu->others));
    add(object, "context_switches", json_number(cpu->context_switches));
    add(object, "context_switches_total", rounded(cpu->context_switches_total));
    return object;
}

// What a run has of actors beside its trace (report/actors_json.h has that).
static cJSON *actors_of(const struct metrics *metrics) {
    cJSON *object = cJSON_CreateObject();
    add(object, "initialisation_share", json_number(metrics->initialisation_share));
    return object;
}

static cJSON *gc_of(const struct metrics *metrics) {
    cJSON *object = cJSON_CreateObject();
    add(object, "pauses", json_integer((int64_t)metrics->gc_pauses));
    add(object, "ns", json_integer(metrics->gc_ns));
    return object;
}

// Of ready ones only the mean is known: a trace tells how long a thread was ready, up to its next boundary.
static cJSON *virtual_states_of(const struct metrics *metrics) {
    cJSON *object = states_of(metrics->virtual_threads), *ready = cJSON_CreateObject();
    add(ready, "peak", cJSON_CreateNull());
    add(ready, "max", cJSON_CreateNull());
    add(ready, "mean", json_number(metrics->virtual_ready));
    add(object, "ready", ready);
    return object;
}

void json_add_metrics(cJSON *object, const struct metrics *metrics) {
    add(object, "wall_ns", json_integer(metrics->wall_ns));
    add(object, "thread_time_ns", rounded(metrics->thread_time_ns));
    add(object, "threads", states_of(metrics->threads));
    add(object, "virtual_threads", virtual_states_of(metrics));
    add(object, "composite", json_number(metrics->composite));
    add(object, "balanced", json_number(metrics->balanced));
    add(object, "tasks", tasks_of(&metrics->tasks));
    add(object, "requests", requests_of(&metrics->requests));
    add(object, "cpu", cpu_of(&metrics->cpu));
    add(object, "actors", actors_of(metrics));
    cJSON_AddNullToObject(object, "messages");
    add(object, "gc", gc_of(metrics));
    add(object, "lost_events", json_integer((int64_t)metrics->lost_events));
    add(object, "warm_from_ns", rounded(metrics->warm_from_ns));
}

cJSON *json_metrics(const struct metrics *metrics) {
    cJSON *object = cJSON_CreateObject();
    json_add_metrics(object, metrics);
    return object;
}

static cJSON *limits_of(double low, double high, cJSON *(*number)(double)) {
    if (isnan(low) || isnan(high)) return cJSON_CreateNull();
    cJSON *limits = cJSON_CreateArray();
    cJSON_AddItemToArray(limits, number(low));
    cJSON_AddItemToArray(limits, number(high));
    return limits;
}

cJSON *json_intervals(const struct intervals *intervals) {
    cJSON *object = cJSON_CreateObject();
    for (int f = 0; f < INTERVAL_FIGURES; f++) {
        bool duration = f == INTERVAL_WALL || f == INTERVAL_THREAD_TIME;
        add(object, interval_names[f],
            limits_of(intervals->of[f].low, intervals->of[f].high, duration ? rounded : json_number));
    }
    add(object, "replicates", json_integer(intervals->replicates));
    add(object, "covers", json_text("what tasks of this one run vary by, not what runs differ by"));
    return object;
}

cJSON *json_grain(const struct dag *dag, const struct grain_group *groups, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t g = 0; g < count; g++) {
        const struct grain_group *group = &groups[g];
        cJSON *object = cJSON_CreateObject();
        add(object, "grain", json_text(group->grain == GRAIN_FINE ? "fine" : "coarse"));
        add(object, "site", json_place(&dag->sites[group->site].site));
        add(object, "tasks", json_integer(group->task_count));
        add(object, "largest_batch", json_integer(group->largest_batch));
        add(object, "mean_ns", rounded(group->mean_ns));
        add(object, "median_ns", rounded(group->median_ns));
        add(object, "handover_ns", rounded(group->handover_ns));
        add(object, "switches_with", json_number(group->switches_with));
        add(object, "switches_without", json_number(group->switches_without));
        add(object, "cores_idle", json_number(group->cores_idle));
        add(object, "sampled", cJSON_CreateBool(group->sampled));
        add(object, "follows_cores", cJSON_CreateBool(group->follows_cores));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_bytecodes(const struct dag *dag, const struct bytecodes *bytecodes) {
    if (!bytecodes->counted) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject(), *sites = cJSON_CreateArray();
    add(object, "tasks", json_integer((int64_t)bytecodes->tasks));
    add(object, "total", rounded(bytecodes->total));
    add_quantiles(object, &bytecodes->executed);
    for (size_t i = 0; i < bytecodes->site_count; i++) {
        const struct bytecodes_site *site = &bytecodes->sites[i];
        cJSON *its = cJSON_CreateObject();
        add(its, "site", site->site == DAG_NONE ? cJSON_CreateNull() : json_place(&dag->sites[site->site].site));
        add(its, "tasks", json_integer((int64_t)site->tasks));
        add(its, "total", rounded(site->total));
        add_quantiles(its, &site->executed);
        cJSON_AddItemToArray(sites, its);
    }
    add(object, "sites", sites);
    return object;
}

// Innermost first; null where frames were left out.
static cJSON *frames_of(const struct trace *trace, uint32_t context) {
    cJSON *array = cJSON_CreateArray();
    for (; context; context = trace->calling_contexts[context].caller)
        cJSON_AddItemToArray(array, json_place(&trace->frames[trace->calling_contexts[context].frame]));
    return array;
}

static cJSON *calling_contexts_of(const struct trace *trace, const struct calling_site *site) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < site->context_count; i++) {
        const struct calling_context *context = &site->contexts[i];
        cJSON *object = cJSON_CreateObject();
        add(object, "kind", json_text(calling_kind_names[context->kind]));
        add(object, "count", json_integer((int64_t)context->samples));
        add(object, "share", json_number(context->share));
        add(object, "frames", frames_of(trace, context->context));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_calling_contexts(const struct dag *dag, const struct calling_contexts *found) {
    if (found->site_count == 0) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject(), *sites = cJSON_CreateArray();
    for (size_t i = 0; i < found->site_count; i++) {
        const struct calling_site *site = &found->sites[i];
        cJSON *its = cJSON_CreateObject();
        add(its, "site", site->site == DAG_NONE ? cJSON_CreateNull() : json_place(&dag->sites[site->site].site));
        add(its, "task_class", json_text(site->task_class ? dag->trace->classes[site->task_class].name : NULL));
        add(its, "tasks", json_integer((int64_t)site->tasks));
        add(its, "contexts", calling_contexts_of(dag->trace, site));
        cJSON_AddItemToArray(sites, its);
    }
    add(object, "sites", sites);
    add(object, "left_out", json_integer((int64_t)found->left_out));
    return object;
}

cJSON *json_waits(const struct wait_site *waits, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        add(object, "site", json_place(&waits[i].site));
        add(object, "spawned", json_place(&waits[i].spawned));
        add(object, "waits", json_integer((int64_t)waits[i].waits));
        add(object, "taken", json_integer((int64_t)waits[i].taken));
        add(object, "timed_out", json_integer((int64_t)waits[i].timed_out));
        add(object, "total_ns", json_integer(waits[i].total_ns));
        add(object, "longest_ns", json_integer(waits[i].longest_ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_blockers(const struct blocker *blockers, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        add(object, "resource", json_text(blockers[i].resource));
        add(object, "class", json_text(blockers[i].class_name));
        add(object, "site", json_place(&blockers[i].site));
        add(object, "unseen", cJSON_CreateBool(blockers[i].unseen));
        add(object, "spawned", json_place(&blockers[i].spawned));
        add(object, "times", json_integer((int64_t)blockers[i].times));
        add(object, "total_ns", json_integer(blockers[i].total_ns));
        add(object, "longest_ns", json_integer(blockers[i].longest_ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_lateness(const struct dag *dag, const struct lateness *found, size_t count) {
    if (!found) return cJSON_CreateNull();
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        add(object, "site",
            found[i].site == DAG_NONE ? cJSON_CreateNull() : json_place(&dag->sites[found[i].site].site));
        add(object, "tasks", json_integer((int64_t)found[i].tasks));
        add_quantiles(object, &found[i].ns);
        add(object, "std", rounded(found[i].std_ns));
        add(object, "min", rounded(found[i].min_ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_stages(const struct dag *dag, const struct pipeline_stage *stages, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject(), *waits = cJSON_CreateObject();
        char name[200];
        add(object, "stage", json_text(dag_pool_text(dag, stages[i].pool, name, sizeof name)));
        add(object, "threads", json_integer(stages[i].threads));
        add(object, "busy", json_number(stages[i].busy));
        add(object, "tasks", json_integer((int64_t)stages[i].tasks));
        add(object, "task_ns", rounded(stages[i].task_ns));
        add_quantiles(waits, &stages[i].wait_ns);
        add(object, "queue_wait_ns", waits);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *places_of(const struct resource_place *places, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(array, json_place(&places[i].site));
    return array;
}

cJSON *json_resources(const struct dag *dag, const struct resource_use *uses, size_t count) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        const struct resource_use *use = &uses[i];
        cJSON *object = cJSON_CreateObject();
        add(object, "name", json_text(use->name));
        add(object, "kind", json_text(resource_kind_names[dag->resources[use->resource].kind]));
        add(object, "capacity", use->capacity < 0 ? cJSON_CreateNull() : json_integer(use->capacity));
        add(object, "holders_mean", json_number(use->holders_mean));
        add(object, "waits", json_integer((int64_t)use->waits));
        add(object, "timed_out", json_integer((int64_t)use->timed_out));
        add(object, "wait_ns", json_integer(use->wait_ns));
        add(object, "held_ns", rounded(use->held_ns));
        add(object, "waits_at", places_of(use->waits_at, use->waits_at_count));
        add(object, "held_at", places_of(use->held_at, use->held_at_count));
        add(object, "returned_at", places_of(use->returned_at, use->returned_at_count));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *site_of(const struct dag *dag, uint32_t index) {
    if (index == DAG_NONE) return cJSON_CreateNull();
    const struct dag_site *site = &dag->sites[index];
    cJSON *object = json_place(&site->site);
    if (cJSON_IsNull(object)) return object;
    add(object, "task_class", json_text(site->task_class ? dag->trace->classes[site->task_class].name : NULL));
    return object;
}

// null: all contexts.
static cJSON *context_of(const struct dag *dag, uint32_t index) {
    if (index == DAG_NONE) return cJSON_CreateNull();
    const struct dag_context *context = &dag->contexts[index];
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < context->length; i++) {
        const struct trace_method *method = &dag->trace->methods[context->methods[i]];
        char text[512];
        snprintf(text, sizeof text, "%s.%s", method->class_name, method->name);
        cJSON_AddItemToArray(array, json_text(text));
    }
    return array;
}

static cJSON *conflicts_of(const struct search_result *result, size_t candidate) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < result->candidate_count; i++) {
        if (i == candidate || !search_conflict(result, i, candidate)) continue;
        cJSON_AddItemToArray(array, json_integer((int64_t)i + 1));
    }
    return array;
}

cJSON *json_improvement(const struct search_result *result, size_t candidate) {
    const struct candidate *c = &result->candidates[candidate];
    const struct dag *dag = c->named->dag;
    cJSON *object = cJSON_CreateObject();
    add(object, "id", json_integer((int64_t)candidate + 1));
    add(object, "kind", json_text(improvement_kind_names[c->named->kind]));
    add(object, "site", site_of(dag, c->named->site));
    add(object, "context", context_of(dag, c->named->context));
    add(object, "params", improvement_params_json(c->named));
    add(object, "shown", cJSON_CreateBool(c->shown));
    if (c->named->kind == KIND_COMBINATOR) add(object, "stages", improvement_stages_json(c->named));
    if (c->named->factor) add(object, "follows_cores", cJSON_CreateBool(c->named->follows_cores));
    add(object, "tasks", json_integer(c->improvements[0].task_count));
    add(object, "of_messages", cJSON_CreateBool(improvement_is_of_messages(&c->improvements[0])));
    add(object, "conflicts", conflicts_of(result, candidate));
    add(object, "passes", cJSON_CreateBool(!c->fails));
    add(object, "negligible", cJSON_CreateBool(c->negligible));
    add(object, "estimate", candidate_is_estimated(c) ? json_metrics(&c->estimate) : cJSON_CreateNull());
    add(object, "why", json_text(c->why));
    add(object, "chain", lines_of(c->why ? strchr(c->why, '\n') : NULL));
    add(object, "warnings", json_texts(c->warnings, c->warning_count));
    return object;
}

static cJSON *plan_of(const struct search_result *result, size_t rank) {
    const struct ranked_plan *plan = &result->plans[rank];
    cJSON *object = cJSON_CreateObject(), *ids = cJSON_CreateArray();
    for (uint32_t i = 0; i < plan->count; i++)
        cJSON_AddItemToArray(ids, json_integer((int64_t)plan->candidates[i] + 1));
    add(object, "rank", json_integer((int64_t)rank + 1));
    add(object, "improvements", ids);
    add(object, "composite", json_number(plan->estimate.composite));
    add(object, "balanced", json_number(plan->estimate.balanced));
    add(object, "value", json_number(plan->value));
    add(object, "estimate", json_metrics(&plan->estimate));
    return object;
}

static cJSON *search_of(const struct search_result *result, uint64_t seed) {
    cJSON *object = cJSON_CreateObject();
    add(object, "evaluated", json_integer((int64_t)result->evaluated));
    add(object, "seconds", json_number(result->seconds));
    add(object, "method", json_text(result->method));
    add(object, "seed", json_integer((int64_t)seed));
    add(object, "limit", json_integer(result->limit));
    add(object, "untried", json_integer((int64_t)result->untried));
    return object;
}

static cJSON *paths_of(const struct search_result *result) {
    cJSON *array = cJSON_CreateArray();
    for (size_t t = 0; t < result->trace_count; t++) {
        cJSON_AddItemToArray(array, json_text(result->traces[t]->dag->trace->path));
    }
    return array;
}

static cJSON *front_of(const struct search_result *result) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < result->front_count; i++) {
        const struct front_point *point = &result->front[i];
        const struct usage *occupied = &point->estimate->threads[STATE_OCCUPIED];
        cJSON *object = cJSON_CreateObject(), *ids = cJSON_CreateArray();
        for (uint32_t c = 0; c < point->count; c++)
            cJSON_AddItemToArray(ids, json_integer((int64_t)point->candidates[c] + 1));
        add(object, "improvements", ids);
        add(object, "wall", json_integer(point->estimate->wall_ns));
        add(object, "occupied_mean", json_number(occupied->mean));
        add(object, "occupied_peak", json_number(occupied->peak));
        add(object, "edits", json_integer(point->count));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

cJSON *json_suggestions(const struct search_result *result, uint64_t seed) {
    cJSON *document = cJSON_CreateObject(), *improvements = cJSON_CreateArray(), *plans = cJSON_CreateArray();
    for (size_t i = 0; i < result->candidate_count; i++) {
        cJSON_AddItemToArray(improvements, json_improvement(result, i));
    }
    for (size_t i = 0; i < result->plan_count; i++) cJSON_AddItemToArray(plans, plan_of(result, i));
    add(document, "schema", json_text("rehype.suggest/1"));
    add(document, "trace", json_text(result->traces[0]->dag->trace->path));
    if (result->trace_count > 1) add(document, "traces", paths_of(result));
    add(document, "base", json_metrics(&result->base));
    add(document, "replayed", json_metrics(&result->replayed));
    add(document, "null_replay_error", json_number(result->null_replay_error.share));
    add(document, "improvements", improvements);
    add(document, "plans", plans);
    add(document, "front", front_of(result));
    add(document, "search", search_of(result, seed));
    return document;
}

bool json_write(cJSON *document, FILE *file, struct error *error) {
    char *text = cJSON_Print(document);
    cJSON_Delete(document);
    if (!text) return error_set(error, STATUS_FAILED, "no memory for the JSON document");
    fprintf(file, "%s\n", text);
    free(text);
    return true;
}
