// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/actors_json.h"

#include "report/json.h"

#include <math.h>

static void add(cJSON *object, const char *key, cJSON *value) {
    cJSON_AddItemToObject(object, key, value);
}

static cJSON *count_of(uint64_t count) {
    return json_integer((int64_t)count);
}

// Whole ns, cycles or bytecodes.
static cJSON *whole(double value) {
    return isfinite(value) && fabs(value) < 9e18 ? json_integer(llround(value)) : cJSON_CreateNull();
}

// QUANTILES of SPEC section 6, of ratios or of what comes in whole numbers.
static cJSON *spread_by(const struct spread *of, cJSON *(*number)(double)) {
    const struct {
        const char *key;
        double value;
    } keys[] = {{"min", of->min}, {"p20", of->p20}, {"p50", of->p50},
                {"p80", of->p80}, {"p95", of->p95}, {"max", of->max}};
    cJSON *object = cJSON_CreateObject();
    add(object, "mean", json_number(of->mean));
    add(object, "std", json_number(of->std));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) add(object, keys[i].key, number(keys[i].value));
    return object;
}

static cJSON *quantiles(const struct spread *of) {
    return spread_by(of, whole);
}

static cJSON *ratios(const struct spread *of) {
    return spread_by(of, json_number);
}

static cJSON *sliced(const struct sliced *of, size_t count) {
    if (!of->values) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject(), *values = cJSON_CreateArray();
    add(object, "min", json_number(of->of.min));
    add(object, "max", json_number(of->of.max));
    add(object, "mean", json_number(of->of.mean));
    add(object, "median", json_number(of->of.median));
    add(object, "variance", json_number(of->of.variance));
    for (size_t i = 0; i < count; i++) cJSON_AddItemToArray(values, json_number(of->values[i]));
    add(object, "values", values);
    return object;
}

static cJSON *class_name(const struct actor_log *log, uint32_t class) {
    return json_text(class ? log->dag->trace->classes[class].name : NULL);
}

// ---- actors

static cJSON *uses_of(const struct actor_log *log, const struct actor_use *of) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < of->message_count; i++) {
        const struct message_use *use = &of->messages[i];
        cJSON *object = cJSON_CreateObject();
        add(object, "type", class_name(log, use->class));
        add(object, "sent", count_of(use->sent));
        add(object, "received", count_of(use->received));
        add(object, "computation", whole(use->computation));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *type_of(const struct actor_log *log, const struct actor_type_use *type) {
    cJSON *object = cJSON_CreateObject();
    add(object, "type", class_name(log, type->type));
    add(object, "count", count_of(type->count));
    add(object, "stopped", count_of(type->stopped));
    add(object, "restarts", count_of(type->restarts));
    add(object, "received", count_of(type->all.received));
    add(object, "sent", count_of(type->all.sent));
    add(object, "utilisation", ratios(&type->utilisation));
    add(object, "initialisation", quantiles(&type->initialisation));
    add(object, "computation", quantiles(&type->computation));
    add(object, "initialisation_total", whole(type->all.initialisation));
    add(object, "creation_total", whole(type->all.creation));
    add(object, "computation_total", whole(type->all.computation));
    add(object, "messages", uses_of(log, &type->all));
    return object;
}

static void add_actor(cJSON *object, const struct actor_log *log, uint32_t actor) {
    char path[1024];
    add(object, "path", json_text(actor_log_path(log, actor, path, sizeof path)));
    add(object, "number", count_of(log->actors[actor].id));
    add(object, "type", class_name(log, log->actors[actor].type));
}

static cJSON *actor_of(const struct actor_log *log, const struct actor_use *use) {
    cJSON *object = cJSON_CreateObject();
    add_actor(object, log, use->actor);
    add(object, "received", count_of(use->received));
    add(object, "sent", count_of(use->sent));
    add(object, "utilisation", json_number(use->utilisation));
    add(object, "initialisation", whole(use->initialisation));
    add(object, "creation", whole(use->creation));
    add(object, "computation", whole(use->computation));
    add(object, "messages", uses_of(log, use));
    return object;
}

static cJSON *actors_of(const struct actor_log *log, const struct actor_figures *figures) {
    cJSON *object = cJSON_CreateObject(), *types = cJSON_CreateArray(), *each = cJSON_CreateArray();
    add(object, "count", count_of(figures->count));
    add(object, "created", count_of(figures->created));
    add(object, "stopped", count_of(figures->stopped));
    add(object, "restarts", count_of(figures->restarts));
    add(object, "failed_starts", count_of(figures->failed_starts));
    add(object, "routers", count_of(figures->routers));
    add(object, "initialisation_share", json_number(figures->initialisation_share));
    add(object, "unit", json_text(log_unit_names[figures->unit]));
    add(object, "utilisation", ratios(&figures->utilisation));
    add(object, "initialisation", quantiles(&figures->initialisation));
    add(object, "computation", quantiles(&figures->computation));
    const bool counted = figures->unit == LOG_BYTECODES;
    add(object, "little_used", counted ? count_of(figures->little_used) : cJSON_CreateNull());
    add(object, "much_used", counted ? count_of(figures->much_used) : cJSON_CreateNull());
    add(object, "initialisation_total", whole(figures->initialisation_total));
    add(object, "creation_total", whole(figures->creation_total));
    add(object, "computation_total", whole(figures->computation_total));
    for (size_t i = 0; i < figures->type_count; i++) cJSON_AddItemToArray(types, type_of(log, &figures->types[i]));
    for (size_t i = 0; i < figures->each_count; i++) cJSON_AddItemToArray(each, actor_of(log, &figures->each[i]));
    add(object, "types", types);
    add(object, "each", each);
    return object;
}

// ---- messages

static cJSON *flow_slices(const struct message_flow *flow, const struct slices *slices) {
    if (slices->count == 0) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    add(object, "slice_ns", json_integer(slices->length_ns));
    add(object, "received", sliced(&flow->by_count, slices->count));
    add(object, "per_s", sliced(&flow->by_rate, slices->count));
    add(object, "processing_ns", sliced(&flow->by_processing, slices->count));
    add(object, "mean_processing_ns", sliced(&flow->by_mean_processing, slices->count));
    add(object, "waiting_ns", sliced(&flow->by_waiting, slices->count));
    return object;
}

static void add_flow(cJSON *object, const struct message_flow *flow) {
    add(object, "per_s", json_number(flow->per_s));
    add(object, "queue_wait_ns", quantiles(&flow->queue_wait_ns));
    add(object, "processing_ns", quantiles(&flow->processing_ns));
    add(object, "processing_total_ns", whole(flow->processing_total));
    add(object, "waiting_total_ns", whole(flow->waiting_total));
}

static cJSON *message_type_of(const struct actor_log *log, const struct message_type_figures *type,
                              const struct slices *slices) {
    cJSON *object = cJSON_CreateObject();
    add(object, "type", class_name(log, type->class));
    add(object, "sent", count_of(type->sent));
    add(object, "received", count_of(type->flow.received));
    add(object, "unhandled", count_of(type->unhandled));
    add(object, "dead_letters", count_of(type->dead_letters));
    add(object, "asks", count_of(type->asks));
    add(object, "computation", whole(type->computation));
    add_flow(object, &type->flow);
    add(object, "slices", flow_slices(&type->flow, slices));
    return object;
}

static cJSON *parallelism_of(const struct message_figures *figures) {
    cJSON *object = cJSON_CreateObject();
    add(object, "mean", json_number(figures->parallelism_mean));
    add(object, "max", whole(figures->parallelism_max));
    return object;
}

static cJSON *messages_of(const struct actor_log *log, const struct message_figures *figures) {
    cJSON *object = cJSON_CreateObject(), *types = cJSON_CreateArray();
    add(object, "sent", count_of(figures->sent));
    add(object, "received", count_of(figures->flow.received));
    add(object, "dead_letters", count_of(figures->dead_letters));
    add(object, "unhandled", count_of(figures->unhandled));
    add(object, "queued", count_of(figures->queued));
    add(object, "asks", count_of(figures->asks));
    add_flow(object, &figures->flow);
    add(object, "parallelism", parallelism_of(figures));
    cJSON *slices = flow_slices(&figures->flow, &figures->slices);
    if (figures->slices.count) add(slices, "parallelism", sliced(&figures->by_parallelism, figures->slices.count));
    add(object, "slices", slices);
    for (size_t i = 0; i < figures->type_count; i++)
        cJSON_AddItemToArray(types, message_type_of(log, &figures->types[i], &figures->slices));
    add(object, "types", types);
    return object;
}

cJSON *json_balances(const struct balances *of) {
    const struct {
        const char *key;
        uint64_t count;
    } keys[] = {{"sent", of->sent},
                {"scheduled", of->scheduled},
                {"copies", of->copies},
                {"library_made", of->library_made},
                {"unseen", of->unseen},
                {"received", of->received},
                {"to_futures", of->to_futures},
                {"dead_letters", of->dead_letters},
                {"queued", of->queued},
                {"unhandled", of->unhandled},
                {"asks", of->asks},
                {"created", of->created},
                {"stopped", of->stopped},
                {"living", of->living},
                {"restarts", of->restarts},
                {"failed_starts", of->failed_starts}};
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) add(object, keys[i].key, count_of(keys[i].count));
    return object;
}

// ---- latency and triggers

static cJSON *segment_of(const struct latency_segment *segment, int64_t total_ns) {
    cJSON *object = cJSON_CreateObject();
    add(object, "span", json_integer(segment->id));
    add(object, "step", json_integer(segment->step));
    add(object, "total_ns", json_integer(segment->total_ns));
    add(object, "share", json_number(total_ns > 0 ? (double)segment->total_ns / (double)total_ns : NAN));
    add(object, "ns", quantiles(&segment->ns));
    return object;
}

static cJSON *latency_of(const struct latency_figures *of, size_t slices) {
    cJSON *object = cJSON_CreateObject(), *segments = cJSON_CreateArray();
    add(object, "path", json_text(of->path));
    add(object, "chains", count_of(of->chains));
    add(object, "incomplete", count_of(of->incomplete));
    add(object, "latency_ns", quantiles(&of->latency_ns));
    add(object, "variance", json_number(of->variance_ns2));
    add(object, "total_ns", json_integer(of->total_ns));
    add(object, "from_sent_ns", quantiles(&of->from_sent_ns));
    for (uint32_t i = 0; i < of->segment_count; i++)
        cJSON_AddItemToArray(segments, segment_of(&of->segments[i], of->total_ns));
    add(object, "segments", segments);
    add(object, "slices", sliced(&of->by_begin, slices));
    return object;
}

static cJSON *latencies_of(const struct actor_findings *findings) {
    cJSON *object = cJSON_CreateObject(), *paths = cJSON_CreateArray();
    add(object, "found", cJSON_CreateBool(findings->latencies_found));
    for (size_t i = 0; i < findings->latency_count; i++)
        cJSON_AddItemToArray(paths, latency_of(&findings->latencies[i], findings->messages.slices.count));
    add(object, "paths", paths);
    return object;
}

static void add_triggered(cJSON *object, const struct triggered *of, size_t slices) {
    add(object, "triggers", count_of(of->triggers));
    add(object, "received", count_of(of->messages));
    add(object, "per_s", json_number(of->per_s));
    add(object, "trigger_ns", whole(of->trigger_ns));
    add(object, "processing_total_ns", whole(of->all_ns));
    add(object, "overhead_share", json_number(of->overhead_share));
    add(object, "per_s_slices", sliced(&of->by_rate, slices));
    add(object, "overhead_slices", sliced(&of->by_overhead, slices));
}

static cJSON *consistency_of(const struct trigger_figures *figures, size_t slices) {
    cJSON *object = cJSON_CreateObject();
    add(object, "groups", count_of(figures->groups));
    add(object, "consistent", count_of(figures->consistent));
    add(object, "unfinished", count_of(figures->unfinished));
    add(object, "share", json_number(figures->consistency));
    add(object, "slices", sliced(&figures->by_consistency, slices));
    return object;
}

static cJSON *triggers_of(const struct actor_findings *findings) {
    if (!findings->trigger) return cJSON_CreateNull();
    const struct trigger_figures *figures = &findings->triggers;
    const size_t slices = findings->messages.slices.count;
    cJSON *object = cJSON_CreateObject(), *each = cJSON_CreateArray();
    add(object, "trigger", json_text(findings->trigger));
    add(object, "update", json_text(findings->update));
    add_triggered(object, &figures->all, slices);
    for (size_t i = 0; i < figures->each_count; i++) {
        cJSON *its = cJSON_CreateObject();
        add_actor(its, &findings->log, figures->each[i].actor);
        add_triggered(its, &figures->each[i], slices);
        cJSON_AddItemToArray(each, its);
    }
    add(object, "each", each);
    add(object, "consistency", findings->update ? consistency_of(figures, slices) : cJSON_CreateNull());
    return object;
}

static void put(cJSON *document, const char *key, cJSON *value) {
    if (cJSON_HasObjectItem(document, key))
        cJSON_ReplaceItemInObject(document, key, value);
    else
        add(document, key, value);
}

void json_add_actors(cJSON *document, const struct actor_findings *findings) {
    if (!findings->any) return;
    put(document, "actors", actors_of(&findings->log, &findings->actors));
    put(document, "messages", messages_of(&findings->log, &findings->messages));
    put(document, "balances", json_balances(&findings->messages.balances));
    put(document, "latency", latencies_of(findings));
    put(document, "triggers", triggers_of(findings));
}
