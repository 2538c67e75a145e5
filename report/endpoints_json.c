// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/endpoints_json.h"

#include "dag/names.h"
#include "report/calls_json.h"
#include "report/json.h"

enum { NAME_BYTES = 600 };

static void add(cJSON *object, const char *key, cJSON *value) {
    cJSON_AddItemToObject(object, key, value);
}

static const char *const cause_names[] = {
    [CAUSE_COMPUTING] = "computing", [CAUSE_CORE] = "core",           [CAUSE_ASLEEP] = "asleep",
    [CAUSE_HAND_OVER] = "hand_over", [CAUSE_ELSEWHERE] = "elsewhere", [CAUSE_RESOURCE] = "resource",
    [CAUSE_QUEUE] = "queue",         [CAUSE_WAIT] = "wait",
};

static cJSON *causes_of(const struct dag *dag, const struct endpoint *endpoint) {
    char text[NAME_BYTES];
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < endpoint->cause_count; i++) {
        const struct endpoint_cause *cause = &endpoint->causes[i];
        cJSON *object = cJSON_CreateObject();
        add(object, "cause", json_text(cause_names[cause->kind]));
        add(object, "text", json_text(endpoint_cause_text(dag, cause, text, sizeof text)));
        add(object, "mean_ns", json_number(cause->mean_ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *threads_of(const struct dag *dag, const struct endpoint *endpoint) {
    char text[NAME_BYTES];
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < endpoint->thread_count; i++) {
        const struct endpoint_held *held = &endpoint->threads[i];
        cJSON *object = cJSON_CreateObject();
        add(object, "pool", held->of ? json_text(dag_pool_text(dag, held->of, text, sizeof text)) : cJSON_CreateNull());
        add(object, "mean", json_number(held->mean));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *resources_of(const struct dag *dag, const struct endpoint *endpoint) {
    char text[NAME_BYTES];
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < endpoint->resource_count; i++) {
        const struct endpoint_held *held = &endpoint->resources[i];
        const uint32_t site = dag_resource_site(dag, held->of);
        cJSON *object = cJSON_CreateObject();
        add(object, "resource", json_text(dag_resource_text(dag, held->of, site, text, sizeof text)));
        add(object, "mean", json_number(held->mean));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *latency_of(const struct endpoint *endpoint) {
    cJSON *object = cJSON_CreateObject();
    add(object, "mean", json_number(endpoint->mean_ns));
    add(object, "p50", json_number(endpoint->p50_ns));
    add(object, "p90", json_number(endpoint->p90_ns));
    add(object, "p99", json_number(endpoint->p99_ns));
    add(object, "max", json_number(endpoint->max_ns));
    return object;
}

static cJSON *endpoint_json(const struct dag *dag, const struct endpoint *endpoint,
                            const struct endpoint_calls *calls) {
    cJSON *object = cJSON_CreateObject();
    add(object, "endpoint", endpoint->endpoint ? json_text(endpoint_name(dag, endpoint)) : cJSON_CreateNull());
    add(object, "requests", json_integer((int64_t)endpoint->count));
    add(object, "failed", json_integer((int64_t)endpoint->failed));
    add(object, "per_s", json_number(endpoint->per_s));
    add(object, "latency_ns", latency_of(endpoint));
    add(object, "connections", json_integer((int64_t)endpoint->connections));
    add(object, "causes", causes_of(dag, endpoint));
    add(object, "calls", json_called_functions(dag, calls));
    add(object, "sequences", json_call_sequences(dag, calls));
    add(object, "threads", threads_of(dag, endpoint));
    add(object, "held", resources_of(dag, endpoint));
    return object;
}

cJSON *json_endpoints(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls) {
    if (endpoints->requests == 0) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject(), *array = cJSON_CreateArray();
    add(object, "requests", json_integer((int64_t)endpoints->requests));
    add(object, "failed", json_integer((int64_t)endpoints->failed));
    add(object, "connections", json_integer((int64_t)endpoints->connections));
    add(object, "span_ns", json_integer(endpoints->span_ns));
    for (size_t i = 0; i < endpoints->count; i++) {
        const struct endpoint *endpoint = &endpoints->endpoints[i];
        cJSON_AddItemToArray(array, endpoint_json(dag, endpoint, calls_of(calls, endpoint->endpoint)));
    }
    add(object, "endpoints", array);
    return object;
}
