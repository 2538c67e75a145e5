// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan.h"
#include "optimize/plan_json.h"
#include "optimize/plan_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 512 };

// From the plan's folder to the trace: what both share is left out, the rest of the plan's way is gone back. Where the
// file system can't say, the path as it was given.
static char *relative_path(const char *plan_path, const char *trace_path, struct arena *arena) {
    const char *slash = strrchr(plan_path, '/');
    char *folder = arena_string(arena, plan_path, slash ? (size_t)(slash - plan_path) + 1 : 0);
    char from[PATH_MAX], to[PATH_MAX];
    if (!folder || trace_path[0] == '/' || !realpath(slash ? folder : ".", from) || !realpath(trace_path, to)) {
        return arena_string(arena, trace_path, strlen(trace_path));
    }
    strncat(from, "/", sizeof from - strlen(from) - 1);
    size_t shared = 0, backs = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++) {
        if (from[i] == '/') shared = i + 1;
    }
    if (strcmp(from, "//") == 0) from[1] = '\0';
    for (const char *c = from + shared; *c; c++) backs += *c == '/';
    char *path = ARENA_NEW(arena, char, backs * 3 + strlen(to + shared) + 1);
    for (size_t i = 0; path && i < backs; i++) strcat(path, "../");
    return path ? strcat(path, to + shared) : NULL;
}

static bool add_text(cJSON *array, const char *text) {
    return cJSON_AddItemToArray(array, cJSON_CreateString(text));
}

static bool fill_types(cJSON *params, const struct actor_change *change) {
    cJSON *types = cJSON_AddArrayToObject(params, "types");
    for (uint32_t i = 0; types && i < change->type_count; i++) {
        if (!add_text(types, change->types[i])) return false;
    }
    return types;
}

static bool fill_actor_params(cJSON *params, const struct improvement *improvement) {
    if (improvement->kind == KIND_INLINE_MESSAGE) return fill_types(params, &improvement->change);
    const char *key = improvement->kind == KIND_SPLIT_ACTOR ? "actor" : "type";
    return cJSON_AddStringToObject(params, key, improvement->change.of) &&
           (!improvement->factor || cJSON_AddNumberToObject(params, "factor", improvement->factor)) &&
           (!improvement->threads || cJSON_AddNumberToObject(params, "threads", improvement->threads));
}

static bool fill_params(cJSON *params, const struct improvement *improvement) {
    char name[NAME_BYTES];
    if (improvement_is_of_actors(improvement)) return fill_actor_params(params, improvement);
    if (improvement->factor) return cJSON_AddNumberToObject(params, "factor", improvement->factor);
    if (improvement->kind == KIND_HOIST_BRANCH && improvement->path != DAG_NONE) {
        path_plan_text(improvement->dag, improvement->path, name, sizeof name);
        return cJSON_AddStringToObject(params, "path", name);
    }
    if (improvement->first)
        return cJSON_AddStringToObject(params, "first", improvement->first == FIRST_STAGE_ON_POOL ? "pool" : "spawner");
    if (improvement_is_of_resource(improvement)) {
        resource_plan_text(improvement->dag, improvement->resource, name, sizeof name);
        return cJSON_AddStringToObject(params, "resource", name) &&
               (improvement->kind == KIND_UNLOCK || cJSON_AddNumberToObject(params, "capacity", improvement->capacity));
    }
    if (improvement->kind != KIND_RESIZE_POOL) return true;
    pool_plan_text(improvement->dag, improvement->pool, name, sizeof name);
    return cJSON_AddStringToObject(params, "pool", name) &&
           cJSON_AddNumberToObject(params, "threads", improvement->threads) &&
           (!improvement->alike || cJSON_AddTrueToObject(params, "alike"));
}

cJSON *improvement_params_json(const struct improvement *improvement) {
    cJSON *params = cJSON_CreateObject();
    if (params && fill_params(params, improvement)) return params;
    cJSON_Delete(params);
    return NULL;
}

static bool fill_stage(cJSON *object, const struct dag *dag, const struct stage *stage) {
    cJSON *inputs = cJSON_AddArrayToObject(object, "inputs");
    for (uint32_t i = 0; inputs && i < stage->input_count; i++) {
        char name[NAME_BYTES];
        if (!add_text(inputs, site_own_text(dag, stage->inputs[i], name, sizeof name))) return false;
    }
    return inputs && cJSON_AddNumberToObject(object, "tasks", stage->tasks) &&
           cJSON_AddStringToObject(object, "method", stage->method);
}

cJSON *improvement_stages_json(const struct improvement *improvement) {
    cJSON *array = cJSON_CreateArray();
    bool made = array;
    for (uint32_t i = 0; made && i < improvement->stages.count; i++) {
        cJSON *object = cJSON_CreateObject();
        made =
            cJSON_AddItemToArray(array, object) && fill_stage(object, improvement->dag, &improvement->stages.items[i]);
    }
    if (made) return array;
    cJSON_Delete(array);
    return NULL;
}

// Takes the item, NULL being no memory.
static bool add_item(cJSON *object, const char *key, cJSON *item) {
    return cJSON_AddItemToObject(object, key, item);
}

static bool add_place(cJSON *object, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    char name[NAME_BYTES];
    if (improvement->site == DAG_NONE) return true;
    site_plan_text(dag, improvement->site, improvement->shares_line, name, sizeof name);
    if (!cJSON_AddStringToObject(object, "site", name)) return false;
    if (improvement->context == DAG_NONE) return true;
    cJSON *context = cJSON_AddArrayToObject(object, "context");
    const struct dag_context *methods = &dag->contexts[improvement->context];
    for (uint32_t i = 0; context && i < methods->length; i++) {
        if (!add_text(context, method_plan_text(dag, methods->methods[i], name, sizeof name))) return false;
    }
    return context;
}

static bool has_params(const struct improvement *improvement) {
    return improvement->factor || improvement->first || !improvement_is_of_site(improvement) ||
           (improvement->kind == KIND_HOIST_BRANCH && improvement->path != DAG_NONE);
}

static bool fill_item(cJSON *object, const struct improvement *improvement) {
    return cJSON_AddStringToObject(object, "kind", improvement_kind_names[improvement->kind]) &&
           add_place(object, improvement) &&
           (!has_params(improvement) || add_item(object, "params", improvement_params_json(improvement))) &&
           (improvement->kind != KIND_COMBINATOR || add_item(object, "stages", improvement_stages_json(improvement)));
}

cJSON *improvement_plan_json(const struct improvement *improvement) {
    cJSON *object = cJSON_CreateObject();
    if (object && fill_item(object, improvement)) return object;
    cJSON_Delete(object);
    return NULL;
}

static cJSON *plan_json(const char *trace_path, const struct plan *plan) {
    cJSON *json = cJSON_CreateObject(), *list = NULL;
    bool made = cJSON_AddStringToObject(json, "schema", PLAN_SCHEMA) &&
                (!trace_path || cJSON_AddStringToObject(json, "trace", trace_path)) &&
                (list = cJSON_AddArrayToObject(json, "improvements"));
    for (size_t i = 0; made && i < plan->count; i++)
        made = cJSON_AddItemToArray(list, improvement_plan_json(&plan->improvements[i]));
    if (made) return json;
    cJSON_Delete(json);
    return NULL;
}

static bool write_file(const char *path, const char *text, struct error *error) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) return error_set(error, STATUS_FAILED, "can't write %s: %s", path, strerror(errno));
    bool written = fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    if (fclose(file) != 0 || !written) {
        return error_set(error, STATUS_FAILED, "can't write %s: %s", path, strerror(errno));
    }
    return true;
}

bool plan_write(const char *path, const char *trace_path, const struct plan *plan, struct error *error) {
    struct arena arena = ARENA_INIT;
    char *relative = trace_path ? relative_path(path, trace_path, &arena) : NULL;
    cJSON *json = trace_path && !relative ? NULL : plan_json(relative, plan);
    char *text = json ? cJSON_Print(json) : NULL;
    bool done = text ? write_file(path, text, error) : error_set(error, STATUS_FAILED, "no memory to write %s", path);
    cJSON_free(text);
    cJSON_Delete(json);
    arena_destroy(&arena);
    return done;
}
