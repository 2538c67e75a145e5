// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/findings.h"

#include "report/actors_json.h"
#include "report/endpoints_json.h"
#include "report/json.h"

bool findings_make(struct analysis *analysis, const struct actor_questions *questions, struct arena *arena,
                   struct findings *f, struct error *error) {
    const struct dag *dag = analysis->dag;
    *f = (struct findings){0};
    return analysis_measure(analysis, &f->metrics, error) &&
           metrics_waits(dag, &analysis->window, arena, &f->waits, error) &&
           estimator_resources(&analysis->estimator, true, arena, &f->resources, &f->resource_count, error) &&
           estimator_lateness(&analysis->estimator, true, arena, &f->lateness, &f->lateness_count, error) &&
           metrics_stages(dag, &analysis->window, arena, &f->stages, &f->stage_count, error) &&
           grain_find(dag, arena, &f->grain, &f->grain_count, error) &&
           bytecodes_find(dag, &analysis->window, arena, &f->bytecodes, error) &&
           calling_contexts_find(dag, arena, &f->callings, error) &&
           metrics_endpoints(dag, &analysis->window, arena, &f->endpoints, error) &&
           metrics_calls(dag, &analysis->window, arena, &f->calls, error) &&
           actor_findings_make(dag, &analysis->window, questions, arena, &f->actors, error);
}

void findings_destroy(struct findings *findings) {
    actor_findings_destroy(&findings->actors);
}

// What the tracer itself cost: what of the threads' time was taken out, and how long the run was with it.
static cJSON *tracer_cost_json(const struct dag_tracer_cost *tracer) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddBoolToObject(object, "taken_out", tracer->recorded_ns != NULL);
    cJSON_AddItemToObject(object, "ns", tracer->recorded_ns ? json_integer(tracer->taken_ns) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "recorded_wall_ns",
                          tracer->recorded_ns ? json_integer(tracer->recorded_wall_ns) : cJSON_CreateNull());
    return object;
}

cJSON *findings_json(const struct analysis *analysis, const char *path, const struct findings *findings) {
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.metrics/1"));
    cJSON_AddItemToObject(document, "trace", json_text(path));
    cJSON_AddItemToObject(document, "window", analysis_window_json(analysis));
    json_add_metrics(document, &findings->metrics);
    cJSON_AddItemToObject(document, "endpoints", json_endpoints(analysis->dag, &findings->endpoints, &findings->calls));
    json_add_actors(document, &findings->actors);
    const struct dag_tracer_cost *tracer = &analysis->dag->tracer;
    if (tracer->edge_ns) cJSON_AddItemToObject(document, "tracer_cost", tracer_cost_json(tracer));
    cJSON_AddItemToObject(document, "lateness_ns",
                          json_lateness(analysis->dag, findings->lateness, findings->lateness_count));
    if (findings->stage_count)
        cJSON_AddItemToObject(document, "stages", json_stages(analysis->dag, findings->stages, findings->stage_count));
    cJSON_AddItemToObject(document, "resources",
                          json_resources(analysis->dag, findings->resources, findings->resource_count));
    cJSON_AddItemToObject(document, "grain", json_grain(analysis->dag, findings->grain, findings->grain_count));
    cJSON_AddItemToObject(document, "bytecodes", json_bytecodes(analysis->dag, &findings->bytecodes));
    cJSON_AddItemToObject(document, "calling_contexts", json_calling_contexts(analysis->dag, &findings->callings));
    cJSON_AddItemToObject(document, "waits", json_waits(findings->waits.sites, findings->waits.site_count));
    cJSON_AddItemToObject(document, "blockers", json_blockers(findings->waits.blockers, findings->waits.blocker_count));
    return document;
}
