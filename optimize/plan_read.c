// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan.h"

#include "optimize/actor_change.h"
#include "optimize/candidates.h"
#include "optimize/plan_json.h"
#include "optimize/plan_names.h"
#include "optimize/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_SCHEMA_STEM "rehype.plan/"

enum { MOST_BYTES = 16 << 20, NAME_BYTES = 512, MOST_COUNT = 1000000 };

static const char *known(const char *text) {
    return text ? text : "?";
}

struct reading {
    const struct dag *dag;
    struct arena *arena;
    struct error *error;
    int number;            // of the improvement, from 1
    struct actor_log *log; // of the DAG; read when an improvement of actors comes
};

static char *read_whole(FILE *file, const char *path, struct arena *arena, size_t *length, struct error *error) {
    size_t capacity = 1 << 12;
    char *text = ARENA_NEW(arena, char, capacity);
    for (*length = 0; text && *length < MOST_BYTES;) {
        *length += fread(text + *length, 1, capacity - 1 - *length, file);
        if (*length < capacity - 1) break;
        char *larger = ARENA_NEW(arena, char, capacity * 4);
        if (larger) memcpy(larger, text, *length);
        text = larger;
        capacity *= 4;
    }
    if (!text)
        error_set(error, STATUS_FAILED, "no memory to read %s", path);
    else if (ferror(file))
        error_set(error, STATUS_FAILED, "can't read %s: %s", path, strerror(errno));
    else if (*length >= MOST_BYTES)
        error_set_at(error, MOST_BYTES, "%s is larger than a plan can be", path);
    else
        return text;
    return NULL;
}

static cJSON *parse_file(const char *path, struct arena *arena, struct error *error) {
    FILE *file = fopen(path, "re");
    if (!file) {
        error_set(error, STATUS_FAILED, "can't open %s: %s", path, strerror(errno));
        return NULL;
    }
    size_t length = 0;
    char *text = read_whole(file, path, arena, &length, error);
    fclose(file);
    if (!text) return NULL;
    const char *end = text;
    cJSON *json = NULL;
    if (strlen(text) != length)
        error_set_at(error, strlen(text), "%s is not JSON: it holds a zero byte", path);
    else if (!(json = cJSON_ParseWithLengthOpts(text, length + 1, &end, true)))
        error_set_at(error, (uint64_t)(end - text), "%s is not JSON", path);
    return json;
}

static bool check_schema(const cJSON *json, const char *path, struct error *error) {
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(json, "schema");
    if (!cJSON_IsObject(json) || !cJSON_IsString(schema)) {
        return error_set(error, STATUS_BAD_INPUT, "%s is no plan: \"schema\": \"%s\" is missing", path, PLAN_SCHEMA);
    }
    if (strcmp(schema->valuestring, PLAN_SCHEMA) == 0) return true;
    if (strncmp(schema->valuestring, PLAN_SCHEMA_STEM, strlen(PLAN_SCHEMA_STEM)) == 0) {
        return error_set(error, STATUS_BAD_INPUT, "%s has schema %s; this version reads %s", path, schema->valuestring,
                         PLAN_SCHEMA);
    }
    return error_set(error, STATUS_BAD_INPUT, "%s is no plan: its schema is %s, not %s", path, schema->valuestring,
                     PLAN_SCHEMA);
}

static bool check_keys(const struct reading *reading, const cJSON *object, const char *const *keys, const char *what) {
    const cJSON *item;
    cJSON_ArrayForEach(item, object) {
        size_t k = 0;
        while (keys[k] && strcmp(keys[k], item->string) != 0) k++;
        if (!keys[k])
            return error_set(reading->error, STATUS_BAD_INPUT, "unknown key \"%s\" in %s", item->string, what);
        if (cJSON_GetObjectItemCaseSensitive(object, item->string) != item) {
            return error_set(reading->error, STATUS_BAD_INPUT, "key \"%s\" twice in %s", item->string, what);
        }
    }
    return true;
}

static bool read_kind(const struct reading *reading, const cJSON *json, enum improvement_kind *kind) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "kind");
    if (!cJSON_IsString(name)) return error_set(reading->error, STATUS_BAD_INPUT, "\"kind\" is missing");
    for (int k = 0; k < KIND_COUNT; k++) {
        *kind = (enum improvement_kind)k;
        if (strcmp(name->valuestring, improvement_kind_names[k]) == 0) return true;
    }
    char kinds[NAME_BYTES];
    text_nearest(name->valuestring, improvement_kind_names, KIND_COUNT, kinds, sizeof kinds);
    return error_set(reading->error, STATUS_BAD_INPUT, "unknown kind \"%.100s\"; nearest: %s", name->valuestring,
                     kinds);
}

// What a plan names of a trace.
struct named {
    const char *what;
    uint32_t first, end; // indices of those that there are
    bool (*is)(const struct dag *dag, uint32_t index, const char *wanted);
    char *(*text)(const struct dag *dag, uint32_t index, char *text, size_t size);
};

static bool unknown_name(const struct reading *reading, const struct named *named, const char *wanted) {
    const char **names = ARENA_NEW(reading->arena, const char *, (size_t)named->end + 1);
    size_t count = 0;
    for (uint32_t i = named->first; names && i < named->end; i++) {
        char *name = ARENA_NEW(reading->arena, char, NAME_BYTES);
        if (!name) return error_set(reading->error, STATUS_FAILED, "no memory");
        names[count++] = named->text(reading->dag, i, name, NAME_BYTES);
    }
    if (!names) return error_set(reading->error, STATUS_FAILED, "no memory");
    char nearest[300];
    text_nearest(wanted, names, count, nearest, sizeof nearest);
    return error_set(reading->error, STATUS_BAD_INPUT, "the trace has no %s %.150s; nearest: %s", named->what, wanted,
                     nearest);
}

static bool find_named(const struct reading *reading, const struct named *named, const char *wanted, uint32_t *index) {
    char names[300] = "", name[NAME_BYTES];
    size_t used = 0;
    uint32_t matches = 0;
    for (uint32_t i = named->first; i < named->end; i++) {
        if (!named->is(reading->dag, i, wanted)) continue;
        *index = i;
        matches++;
        if (used >= sizeof names) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                 named->text(reading->dag, i, name, sizeof name));
    }
    if (matches == 0) return unknown_name(reading, named, wanted);
    return matches == 1 || error_set(reading->error, STATUS_BAD_INPUT, "%s %.150s is ambiguous; it could be: %s",
                                     named->what, wanted, names);
}

// "Class.method[:LINE][@BCI]" in parts. line 0, bci -1: not given.
struct site_name {
    size_t length; // of Class.method
    long line, bci;
};

static const char *digits_before(const char *text, const char *end) {
    const char *digits = end;
    while (digits > text && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    return digits;
}

static struct site_name split_site(const char *text) {
    struct site_name name = {.length = strlen(text), .line = 0, .bci = -1};
    const char *end = text + name.length, *digits = digits_before(text, end);
    if (digits < end && digits > text && digits[-1] == '@') {
        name.bci = strtol(digits, NULL, 10);
        end = digits - 1;
        digits = digits_before(text, end);
    }
    if (digits < end && digits > text && digits[-1] == ':') {
        name.line = strtol(digits, NULL, 10);
        end = digits - 1;
    }
    name.length = (size_t)(end - text);
    return name;
}

static bool is_site(const struct dag *dag, uint32_t index, const char *wanted) {
    const struct trace_site *site = &dag->sites[index].site;
    const struct site_name name = split_site(wanted);
    size_t class_length = strlen(known(site->class_name)), method_length = strlen(known(site->method));
    return name.length == class_length + 1 + method_length &&
           memcmp(wanted, known(site->class_name), class_length) == 0 && wanted[class_length] == '.' &&
           memcmp(wanted + class_length + 1, known(site->method), method_length) == 0 &&
           (name.line == 0 || name.line == (long)site->line) && (name.bci < 0 || name.bci == site->bci);
}

static bool find_site(const struct reading *reading, const char *wanted, uint32_t *site) {
    const struct named sites = {"spawn site", 0, reading->dag->site_count, is_site, site_own_text};
    return find_named(reading, &sites, wanted, site);
}

bool plan_find_site(const struct dag *dag, const char *name, struct arena *arena, uint32_t *site, struct error *error) {
    return find_site(&(struct reading){.dag = dag, .arena = arena, .error = error}, name, site);
}

static bool read_site(const struct reading *reading, const cJSON *json, uint32_t *site) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "site");
    if (!cJSON_IsString(item)) return error_set(reading->error, STATUS_BAD_INPUT, "\"site\" is missing");
    return find_site(reading, item->valuestring, site);
}

static bool is_context(const struct dag *dag, const struct dag_context *context, const cJSON *names) {
    if (cJSON_GetArraySize(names) != (int)context->length) return false;
    const cJSON *item = names->child;
    for (uint32_t i = 0; i < context->length; i++, item = item->next) {
        char name[NAME_BYTES];
        method_plan_text(dag, context->methods[i], name, sizeof name);
        if (!cJSON_IsString(item) || strcmp(item->valuestring, name) != 0) return false;
    }
    return true;
}

static bool has_tasks_in(const struct dag *dag, uint32_t site, uint32_t context) {
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].site == site && dag->tasks[t].context == context) return true;
    }
    return false;
}

static bool read_context(const struct reading *reading, const cJSON *json, uint32_t site, uint32_t *context) {
    const struct dag *dag = reading->dag;
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "context");
    *context = DAG_NONE;
    if (!names) return true;
    if (!cJSON_IsArray(names))
        return error_set(reading->error, STATUS_BAD_INPUT, "\"context\" is not an array of names");
    uint32_t matches = 0;
    for (uint32_t c = 0; c < dag->context_count; c++) {
        if (!is_context(dag, &dag->contexts[c], names) || !has_tasks_in(dag, site, c)) continue;
        *context = c;
        matches++;
    }
    if (matches == 1) return true;
    return error_set(reading->error, STATUS_BAD_INPUT,
                     matches ? "\"context\" fits several overloads" : "the site has no task in that \"context\"");
}

// A whole number from `least` on. Left out: 0.
static bool read_count(const struct reading *reading, const cJSON *params, const char *key, int least, int32_t *count) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(params, key);
    *count = 0;
    if (!item) return true;
    double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    if (!(value >= least && value <= MOST_COUNT && value == floor(value))) {
        return error_set(reading->error, STATUS_BAD_INPUT, "\"%s\" is not a whole number from %d to %d", key, least,
                         MOST_COUNT);
    }
    *count = (int32_t)value;
    return true;
}

static bool read_factor(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    int32_t factor;
    if (!read_count(reading, params, "factor", 2, &factor)) return false;
    improvement->factor = (uint32_t)factor;
    return true;
}

static const char *const first_stages[] = {[FIRST_STAGE_ON_SPAWNER] = "spawner", [FIRST_STAGE_ON_POOL] = "pool"};

static bool read_first(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(params, "first");
    improvement->first = FIRST_STAGE_NONE;
    if (!item) return true;
    for (enum dag_first_stage first = FIRST_STAGE_ON_SPAWNER; first <= FIRST_STAGE_ON_POOL && cJSON_IsString(item);
         first++) {
        if (strcmp(item->valuestring, first_stages[first]) == 0) improvement->first = first;
    }
    return improvement->first ||
           error_set(reading->error, STATUS_BAD_INPUT, "\"first\" is neither \"spawner\" nor \"pool\"");
}

static uint32_t count_on_path(const struct improvement *improvement, uint32_t path) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        const struct dag_task *task = &improvement->dag->tasks[improvement->tasks[i]];
        count += task->path == path && task->start != DAG_NONE;
    }
    return count;
}

static bool unknown_path(const struct reading *reading, const char *wanted, const struct improvement *improvement) {
    char paths[400] = "";
    size_t used = 0;
    for (uint32_t p = 0; p < reading->dag->path_count && used < sizeof paths; p++) {
        char id[20];
        uint32_t count = count_on_path(improvement, p);
        if (count == 0) continue;
        used += (size_t)snprintf(paths + used, sizeof paths - used, "%s%s (%u task%s)", used ? ", " : "",
                                 path_plan_text(reading->dag, p, id, sizeof id), count, count == 1 ? "" : "s");
    }
    return error_set(reading->error, STATUS_BAD_INPUT, "no task of the site took path %.40s; its paths: %s", wanted,
                     paths);
}

static bool read_path(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    const struct dag *dag = reading->dag;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(params, "path");
    if (!item) return true;
    if (!cJSON_IsString(item) || strspn(item->valuestring, "0123456789abcdefABCDEF") != 16 ||
        strlen(item->valuestring) != 16) {
        return error_set(reading->error, STATUS_BAD_INPUT, "\"path\" is not a text of 16 hex digits");
    }
    if (!dag->trace->events_of_kind[EVENT_ENTER]) {
        return error_set(reading->error, STATUS_BAD_INPUT,
                         "the trace has no function events, so that no paths are known: record with --include");
    }
    uint64_t hash = strtoull(item->valuestring, NULL, 16);
    if (!candidates_fill(improvement, reading->arena)) return error_set(reading->error, STATUS_FAILED, "no memory");
    for (uint32_t p = 0; p < dag->path_count && improvement->path == DAG_NONE; p++) {
        if (dag->paths[p].hash == hash && count_on_path(improvement, p)) improvement->path = p;
    }
    return improvement->path != DAG_NONE || unknown_path(reading, item->valuestring, improvement);
}

// By its full name, or by one that several pools have.
static bool is_pool(const struct dag *dag, uint32_t pool, const char *wanted) {
    char name[NAME_BYTES];
    if (strcmp(pool_plan_text(dag, pool, name, sizeof name), wanted) == 0) return true;
    const struct trace_pool *p = &dag->trace->pools[pool];
    return strcmp(p->name ? p->name : known(p->kind), wanted) == 0;
}

static bool read_pool(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    const cJSON *pool = cJSON_GetObjectItemCaseSensitive(params, "pool");
    const cJSON *alike = cJSON_GetObjectItemCaseSensitive(params, "alike");
    if (alike && !cJSON_IsBool(alike))
        return error_set(reading->error, STATUS_BAD_INPUT, "\"alike\" is neither true nor false");
    if (!cJSON_IsString(pool)) return error_set(reading->error, STATUS_BAD_INPUT, "\"pool\" is missing in params");
    const struct named pools = {"pool", 1, reading->dag->trace->pool_count, is_pool, pool_plan_text};
    if (!find_named(reading, &pools, pool->valuestring, &improvement->pool) ||
        !read_count(reading, params, "threads", 1, &improvement->threads)) {
        return false;
    }
    improvement->alike = cJSON_IsTrue(alike) && reading->dag->pools[improvement->pool].alike_count > 1;
    return improvement->threads || error_set(reading->error, STATUS_BAD_INPUT, "\"threads\" is missing in params");
}

static bool read_resource(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(params, "resource");
    if (!cJSON_IsString(name)) return error_set(reading->error, STATUS_BAD_INPUT, "\"resource\" is missing in params");
    const struct named resources = {"resource", 0, reading->dag->resource_count, resource_is_named, resource_plan_text};
    if (!find_named(reading, &resources, name->valuestring, &improvement->resource)) return false;
    if (improvement->kind == KIND_UNLOCK) return true;
    if (!read_count(reading, params, "capacity", 1, &improvement->capacity)) return false;
    return improvement->capacity || error_set(reading->error, STATUS_BAD_INPUT, "\"capacity\" is missing in params");
}

// ---- actors

static bool know_actors(const struct reading *reading) {
    if (reading->log->dag) return true;
    return actor_log_read(reading->dag, reading->log, reading->error);
}

static bool read_text(const struct reading *reading, const cJSON *params, const char *key, const char **text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(params, key);
    if (!cJSON_IsString(item)) return error_set(reading->error, STATUS_BAD_INPUT, "\"%s\" is missing in params", key);
    *text = arena_string(reading->arena, item->valuestring, strlen(item->valuestring));
    return *text || error_set(reading->error, STATUS_FAILED, "no memory for a name");
}

static bool read_types(const struct reading *reading, const cJSON *params, struct actor_change *change) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(params, "types"), *item;
    const char **types = ARENA_NEW(reading->arena, const char *, (size_t)cJSON_GetArraySize(list) + 1);
    change->types = types;
    if (!types) return error_set(reading->error, STATUS_FAILED, "no memory for names");
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsString(item)) return error_set(reading->error, STATUS_BAD_INPUT, "\"types\" has what is no name");
        types[change->type_count] = arena_string(reading->arena, item->valuestring, strlen(item->valuestring));
        if (!types[change->type_count++]) return error_set(reading->error, STATUS_FAILED, "no memory for a name");
    }
    return change->type_count ||
           error_set(reading->error, STATUS_BAD_INPUT, "\"types\" is missing in params, or empty");
}

static bool read_change(const struct reading *reading, const cJSON *params, struct improvement *improvement) {
    struct actor_change *change = &improvement->change;
    const enum improvement_kind kind = improvement->kind;
    bool read = kind == KIND_INLINE_MESSAGE
                    ? read_types(reading, params, change)
                    : read_text(reading, params, kind == KIND_SPLIT_ACTOR ? "actor" : "type", &change->of);
    if (read && kind == KIND_OWN_POOL)
        read =
            read_count(reading, params, "threads", 1, &improvement->threads) &&
            (improvement->threads || error_set(reading->error, STATUS_BAD_INPUT, "\"threads\" is missing in params"));
    else if (read && kind != KIND_INLINE_MESSAGE)
        read = read_factor(reading, params, improvement);
    return read && know_actors(reading) && actor_change_find(improvement, reading->log, reading->arena, reading->error);
}

// What the kinds take. `read` fills in what the params say, into an improvement that has its site and context.
static const struct {
    const char *params[4]; // keys, NULL at the end
    bool (*read)(const struct reading *reading, const cJSON *params, struct improvement *improvement);
} grammar[KIND_COUNT] = {
    [KIND_HOIST_BRANCH] = {{"path"}, read_path},
    [KIND_COMBINATOR] = {{"first"}, read_first},
    [KIND_MERGE] = {{"factor"}, read_factor},
    [KIND_SPLIT] = {{"factor"}, read_factor},
    [KIND_RESIZE_POOL] = {{"pool", "threads", "alike"}, read_pool},
    [KIND_RESIZE_RESOURCE] = {{"resource", "capacity"}, read_resource},
    [KIND_UNLOCK] = {{"resource"}, read_resource},
    [KIND_OWN_POOL] = {{"type", "threads"}, read_change},
    [KIND_MERGE_ACTORS] = {{"type", "factor"}, read_change},
    [KIND_SPLIT_ACTOR] = {{"actor", "factor"}, read_change},
    [KIND_INLINE_MESSAGE] = {{"types"}, read_change},
};

static bool read_params(const struct reading *reading, const cJSON *json, struct improvement *improvement) {
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "params");
    char what[64];
    if (params && !cJSON_IsObject(params))
        return error_set(reading->error, STATUS_BAD_INPUT, "\"params\" is not an object");
    snprintf(what, sizeof what, "params of %s", improvement_kind_names[improvement->kind]);
    return check_keys(reading, params, grammar[improvement->kind].params, what) &&
           (!grammar[improvement->kind].read || grammar[improvement->kind].read(reading, params, improvement));
}

static bool read_place(const struct reading *reading, const cJSON *json, struct improvement *improvement) {
    static const char *const keys[] = {"kind", "site", "context", "params", NULL};
    static const char *const staged[] = {"kind", "site", "context", "params", "stages", NULL};
    static const char *const placeless[] = {"kind", "params", NULL};
    improvement->site = improvement->context = improvement->path = DAG_NONE;
    if (!improvement_is_of_site(improvement)) {
        char what[64];
        const char *name = improvement_kind_names[improvement->kind];
        snprintf(what, sizeof what, "a%s %s improvement", strchr("aeiou", name[0]) ? "n" : "", name);
        return check_keys(reading, json, placeless, what);
    }
    return check_keys(reading, json, improvement->kind == KIND_COMBINATOR ? staged : keys, "an improvement") &&
           read_site(reading, json, &improvement->site) &&
           read_context(reading, json, improvement->site, &improvement->context);
}

static bool fill(const struct reading *reading, struct improvement *improvement) {
    return improvement_is_of_actors(improvement) ? actor_change_fill(improvement, reading->log, reading->arena)
                                                 : candidates_fill(improvement, reading->arena);
}

static bool read_improvement(const struct reading *reading, const cJSON *json, struct improvement *improvement) {
    *improvement = (struct improvement){.dag = reading->dag};
    if (!cJSON_IsObject(json)) return error_set(reading->error, STATUS_BAD_INPUT, "it is not an object");
    return read_kind(reading, json, &improvement->kind) && read_place(reading, json, improvement) &&
           read_params(reading, json, improvement) &&
           (fill(reading, improvement) || error_set(reading->error, STATUS_FAILED, "no memory for its tasks"));
}

static bool check_conflicts(const struct reading *reading, const struct plan *plan) {
    const struct improvement *last = &plan->improvements[plan->count - 1];
    for (size_t i = 0; i + 1 < plan->count; i++) {
        if (!improvements_conflict(&plan->improvements[i], last)) continue;
        char first[240], second[240];
        improvement_text(&plan->improvements[i], first, sizeof first);
        improvement_text(last, second, sizeof second);
        return error_set(reading->error, STATUS_BAD_INPUT, "%s conflicts with improvement %zu, %s", second, i + 1,
                         first);
    }
    return true;
}

static bool read_improvements(struct reading *reading, const cJSON *json, struct plan *plan) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "improvements"), *item;
    if (!cJSON_IsArray(list)) return error_set(reading->error, STATUS_BAD_INPUT, "\"improvements\" is not an array");
    plan->improvements = ARENA_NEW(reading->arena, struct improvement, (size_t)cJSON_GetArraySize(list) + 1);
    if (!plan->improvements) return error_set(reading->error, STATUS_FAILED, "no memory for the plan");
    cJSON_ArrayForEach(item, list) {
        reading->number++;
        if (!read_improvement(reading, item, &plan->improvements[plan->count++]) || !check_conflicts(reading, plan)) {
            return error_wrap(reading->error, "improvement %d", reading->number);
        }
    }
    return true;
}

// A relative name is relative to the plan.
static const char *resolve_trace(const char *plan_path, const char *trace, struct arena *arena) {
    const char *slash = strrchr(plan_path, '/');
    size_t folder = slash && trace[0] != '/' ? (size_t)(slash - plan_path) + 1 : 0, length = strlen(trace);
    char *path = ARENA_NEW(arena, char, folder + length + 1);
    if (!path) return NULL;
    memcpy(path, plan_path, folder);
    memcpy(path + folder, trace, length);
    return path;
}

static bool read_trace_path(const char *path, const cJSON *json, struct arena *arena, const char **trace_path,
                            struct error *error) {
    const cJSON *trace = cJSON_GetObjectItemCaseSensitive(json, "trace");
    *trace_path = NULL;
    if (!trace || cJSON_IsNull(trace)) return true;
    if (!cJSON_IsString(trace)) return error_set(error, STATUS_BAD_INPUT, "%s: \"trace\" is not a file name", path);
    *trace_path = resolve_trace(path, trace->valuestring, arena);
    return *trace_path || error_set(error, STATUS_FAILED, "no memory for a path");
}

bool plan_trace_path(const char *path, struct arena *arena, const char **trace_path, struct error *error) {
    cJSON *json = parse_file(path, arena, error);
    bool done = json && check_schema(json, path, error) && read_trace_path(path, json, arena, trace_path, error);
    cJSON_Delete(json);
    return done;
}

static bool read_json(const cJSON *json, const struct dag *dag, struct arena *arena, struct plan *plan,
                      struct error *error) {
    struct actor_log log = {0};
    struct reading reading = {.dag = dag, .arena = arena, .error = error, .log = &log};
    const bool done = read_improvements(&reading, json, plan);
    actor_log_destroy(&log);
    return done;
}

bool plan_read(const char *path, const struct dag *dag, struct arena *arena, struct plan *plan, struct error *error) {
    *plan = (struct plan){0};
    cJSON *json = parse_file(path, arena, error);
    if (!json) return false;
    bool done = check_schema(json, path, error) && read_trace_path(path, json, arena, &plan->trace_path, error) &&
                (read_json(json, dag, arena, plan, error) || error_wrap(error, "%s", path));
    cJSON_Delete(json);
    return done;
}

bool plan_for_other(const struct plan *plan, const struct dag *dag, struct arena *arena, struct plan *other,
                    struct error *error) {
    *other = (struct plan){0};
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "improvements");
    bool done = list;
    for (size_t i = 0; done && i < plan->count; i++)
        done = cJSON_AddItemToArray(list, improvement_plan_json(&plan->improvements[i]));
    done = done ? read_json(json, dag, arena, other, error) : error_set(error, STATUS_FAILED, "no memory for the plan");
    cJSON_Delete(json);
    return done;
}
