// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/calls_json.h"

#include "dag/names.h"
#include "report/json.h"
#include "report/text.h"

enum { NAME_BYTES = 600 };

static void add(cJSON *object, const char *key, cJSON *value) {
    cJSON_AddItemToObject(object, key, value);
}

static cJSON *function_name(const struct dag *dag, uint32_t method) {
    const struct trace_method *of = &dag->trace->methods[method];
    return json_text(text_method(of->class_name, of->name).s);
}

static cJSON *function_json(const struct dag *dag, const struct called_function *function) {
    cJSON *object = cJSON_CreateObject();
    add(object, "function", function_name(dag, function->method));
    add(object, "calls", json_number(function->calls));
    add(object, "call_ns", json_number(function->call_ns));
    add(object, "asleep_ns", json_number(function->asleep_ns));
    add(object, "together_ns", json_number(function->together_ns));
    return object;
}

cJSON *json_called_functions(const struct dag *dag, const struct endpoint_calls *calls) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; calls && i < calls->function_count; i++)
        cJSON_AddItemToArray(array, function_json(dag, &calls->functions[i]));
    return array;
}

static cJSON *calls_json(const struct dag *dag, const struct call_sequence *sequence) {
    cJSON *array = cJSON_CreateArray();
    for (size_t f = 0; f < sequence->function_count; f++) {
        const struct sequence_function *function = &sequence->functions[f];
        cJSON *object = cJSON_CreateObject();
        add(object, "function", function_name(dag, function->method));
        add(object, "calls", json_number(function->calls));
        add(object, "ns", json_number(function->call_ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *held_json(const struct dag *dag, uint32_t resource) {
    char text[NAME_BYTES];
    if (resource == DAG_NONE) return cJSON_CreateNull();
    return json_text(dag_resource_text(dag, resource, dag_resource_site(dag, resource), text, sizeof text));
}

static cJSON *sequence_json(const struct dag *dag, const struct call_sequence *sequence) {
    cJSON *object = cJSON_CreateObject();
    add(object, "caller", sequence->caller ? function_name(dag, sequence->caller) : cJSON_CreateNull());
    add(object, "calls", calls_json(dag, sequence));
    add(object, "requests", json_integer((int64_t)sequence->requests));
    add(object, "per_s", json_number(sequence->per_s));
    add(object, "sum_ns", json_number(sequence->sum_ns));
    add(object, "longest_ns", json_number(sequence->longest_ns));
    add(object, "saved_ns", json_number(sequence->saved_ns));
    add(object, "held", held_json(dag, sequence->held));
    return object;
}

cJSON *json_call_sequences(const struct dag *dag, const struct endpoint_calls *calls) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; calls && i < calls->sequence_count; i++)
        cJSON_AddItemToArray(array, sequence_json(dag, &calls->sequences[i]));
    return array;
}

cJSON *json_call_advice(const struct dag *dag, const struct call_advice *advice) {
    cJSON *object = cJSON_CreateObject();
    const bool named = advice->endpoint->endpoint > 0;
    add(object, "endpoint", named ? json_text(endpoint_name(dag, advice->endpoint)) : cJSON_CreateNull());
    add(object, "latency_ns", json_number(advice->endpoint->mean_ns));
    add(object, "sequence", sequence_json(dag, advice->sequence));
    return object;
}
