// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan.h"

#include "optimize/candidates.h"
#include "optimize/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN_SCHEMA      "rehype.plan/1"
#define PLAN_SCHEMA_STEM "rehype.plan/"

enum { MOST_BYTES = 16 << 20, NAME_BYTES = 512 };

const char *const improvement_kind_names[KIND_COUNT] = {"inline"};

// Names

static const char *known(const char *text) {
    return text ? text : "?";
}

static int site_name(const struct trace_site *site, char *text, size_t size) {
    int length = snprintf(text, size, "%s.%s", known(site->class_name), known(site->method));
    if (site->line && length > 0 && (size_t)length < size) {
        length += snprintf(text + length, size - (size_t)length, ":%u", site->line);
    }
    return length;
}

static bool is_same_place(const struct trace_site *a, const struct trace_site *b) {
    return a->line == b->line && strcmp(known(a->class_name), known(b->class_name)) == 0 &&
           strcmp(known(a->method), known(b->method)) == 0;
}

bool improvement_shares_line(const struct dag *dag, const struct trace_site *site, uint32_t itself) {
    bool shared = false;
    for (uint32_t s = 0; s < dag->site_count && !shared; s++) {
        shared = s != itself && is_same_place(&dag->sites[s].site, site);
    }
    return shared;
}

// As `site` of a plan: Class.method:LINE, and @BCI.
static char *site_text(const struct trace_site *site, bool with_bci, char *text, size_t size) {
    int length = site_name(site, text, size);
    if (with_bci && site->bci >= 0 && length > 0 && (size_t)length < size) {
        snprintf(text + length, size - (size_t)length, "@%d", site->bci);
    }
    return text;
}

static char *site_text_in(const struct dag *dag, uint32_t index, char *text, size_t size) {
    const struct trace_site *site = &dag->sites[index].site;
    return site_text(site, improvement_shares_line(dag, site, index), text, size);
}

static void method_name(const struct dag *dag, uint32_t method, char *text, size_t size) {
    const struct trace_method *m = &dag->trace->methods[method];
    snprintf(text, size, "%s.%s", known(m->class_name), known(m->name));
}

static char *improvement_site_text(const struct improvement *improvement, char *text, size_t size) {
    return site_text(&improvement->dag->sites[improvement->site].site, improvement->shares_line, text, size);
}

char *improvement_text(const struct improvement *improvement, char *text, size_t size) {
    const struct dag *dag = improvement->dag;
    char name[NAME_BYTES];
    improvement_site_text(improvement, name, sizeof name);
    size_t used = (size_t)snprintf(text, size, "%s %s", improvement_kind_names[improvement->kind], name);
    if (improvement->context == DAG_NONE) return text;
    const struct dag_context *context = &dag->contexts[improvement->context];
    if (context->length == 0 && used < size) snprintf(text + used, size - used, " outside traced functions");
    for (uint32_t i = 0; i < context->length && used < size; i++) {
        method_name(dag, context->methods[i], name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " > " : " in ", name);
    }
    return text;
}

// Reading

struct reading {
    const struct dag *dag;
    struct arena *arena;
    struct error *error;
    int number; // of the improvement, from 1
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
    return error_set(reading->error, STATUS_BAD_INPUT, "unknown kind \"%s\"; this version has: %s", name->valuestring,
                     kinds);
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

static bool is_site(const struct trace_site *site, const char *text, const struct site_name *name) {
    size_t class_length = strlen(known(site->class_name)), method_length = strlen(known(site->method));
    return name->length == class_length + 1 + method_length &&
           memcmp(text, known(site->class_name), class_length) == 0 && text[class_length] == '.' &&
           memcmp(text + class_length + 1, known(site->method), method_length) == 0 &&
           (name->line == 0 || name->line == (long)site->line) && (name->bci < 0 || name->bci == site->bci);
}

static bool unknown_site(const struct reading *reading, const char *wanted) {
    const struct dag *dag = reading->dag;
    const char **names = ARENA_NEW(reading->arena, const char *, (size_t)dag->site_count + 1);
    for (uint32_t s = 0; names && s < dag->site_count; s++) {
        char *name = ARENA_NEW(reading->arena, char, NAME_BYTES);
        if (!name) return error_set(reading->error, STATUS_FAILED, "no memory");
        names[s] = site_text_in(dag, s, name, NAME_BYTES);
    }
    if (!names) return error_set(reading->error, STATUS_FAILED, "no memory");
    char nearest[300];
    text_nearest(wanted, names, dag->site_count, nearest, sizeof nearest);
    return error_set(reading->error, STATUS_BAD_INPUT, "the trace has no spawn site %.150s; nearest: %s", wanted,
                     nearest);
}

static bool ambiguous_site(const struct reading *reading, const char *wanted, const struct site_name *name) {
    char names[300] = "";
    size_t used = 0;
    for (uint32_t s = 0; s < reading->dag->site_count && used < sizeof names; s++) {
        if (!is_site(&reading->dag->sites[s].site, wanted, name)) continue;
        char text[NAME_BYTES];
        site_text_in(reading->dag, s, text, sizeof text);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", text);
    }
    return error_set(reading->error, STATUS_BAD_INPUT, "site %.150s is ambiguous; it could be: %s", wanted, names);
}

static bool find_site(const struct reading *reading, const char *wanted, uint32_t *site) {
    const struct site_name name = split_site(wanted);
    uint32_t matches = 0;
    for (uint32_t s = 0; s < reading->dag->site_count; s++) {
        if (!is_site(&reading->dag->sites[s].site, wanted, &name)) continue;
        *site = s;
        matches++;
    }
    if (matches == 0) return unknown_site(reading, wanted);
    return matches == 1 || ambiguous_site(reading, wanted, &name);
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
        method_name(dag, context->methods[i], name, sizeof name);
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

static bool read_params(const struct reading *reading, const cJSON *json) {
    static const char *const none[] = {NULL};
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "params");
    if (params && !cJSON_IsObject(params))
        return error_set(reading->error, STATUS_BAD_INPUT, "\"params\" is not an object");
    return !params || check_keys(reading, params, none, "params of inline");
}

static bool read_improvement(const struct reading *reading, const cJSON *json, struct improvement *improvement) {
    static const char *const keys[] = {"kind", "site", "context", "params", NULL};
    *improvement = (struct improvement){.dag = reading->dag};
    if (!cJSON_IsObject(json)) return error_set(reading->error, STATUS_BAD_INPUT, "it is not an object");
    return read_kind(reading, json, &improvement->kind) && check_keys(reading, json, keys, "an improvement") &&
           read_site(reading, json, &improvement->site) &&
           read_context(reading, json, improvement->site, &improvement->context) && read_params(reading, json) &&
           (candidates_fill(improvement, reading->arena) ||
            error_set(reading->error, STATUS_FAILED, "no memory for its tasks"));
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

bool plan_read(const char *path, const struct dag *dag, struct arena *arena, struct plan *plan, struct error *error) {
    *plan = (struct plan){0};
    cJSON *json = parse_file(path, arena, error);
    if (!json) return false;
    struct reading reading = {.dag = dag, .arena = arena, .error = error};
    bool done = check_schema(json, path, error) && read_trace_path(path, json, arena, &plan->trace_path, error) &&
                (read_improvements(&reading, json, plan) || error_wrap(error, "%s", path));
    cJSON_Delete(json);
    return done;
}

// Writing

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

static bool add_improvement(cJSON *list, const struct improvement *improvement) {
    const struct dag *dag = improvement->dag;
    char name[NAME_BYTES];
    cJSON *object = cJSON_CreateObject();
    if (!cJSON_AddItemToArray(list, object)) return false;
    if (!cJSON_AddStringToObject(object, "kind", improvement_kind_names[improvement->kind])) return false;
    improvement_site_text(improvement, name, sizeof name);
    if (!cJSON_AddStringToObject(object, "site", name)) return false;
    if (improvement->context == DAG_NONE) return true;
    cJSON *context = cJSON_AddArrayToObject(object, "context");
    const struct dag_context *methods = &dag->contexts[improvement->context];
    for (uint32_t i = 0; context && i < methods->length; i++) {
        method_name(dag, methods->methods[i], name, sizeof name);
        if (!cJSON_AddItemToArray(context, cJSON_CreateString(name))) return false;
    }
    return context;
}

static cJSON *plan_json(const char *trace_path, const struct plan *plan) {
    cJSON *json = cJSON_CreateObject(), *list = NULL;
    bool made = cJSON_AddStringToObject(json, "schema", PLAN_SCHEMA) &&
                (!trace_path || cJSON_AddStringToObject(json, "trace", trace_path)) &&
                (list = cJSON_AddArrayToObject(json, "improvements"));
    for (size_t i = 0; made && i < plan->count; i++) made = add_improvement(list, &plan->improvements[i]);
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

// Use

bool improvements_conflict(const struct improvement *a, const struct improvement *b) {
    for (uint32_t i = 0, j = 0; i < a->task_count && j < b->task_count;) {
        if (a->tasks[i] == b->tasks[j]) return true;
        if (a->tasks[i] < b->tasks[j])
            i++;
        else
            j++;
    }
    return false;
}

bool plan_apply(const struct plan *plan, struct dag_edit *edit, struct error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct improvement *improvement = &plan->improvements[i];
        if (improvement->refusal) {
            char text[240];
            improvement_text(improvement, text, sizeof text);
            return error_set(error, STATUS_FAILED, "%s: one of its tasks can't be inlined: %s", text,
                             improvement->refusal);
        }
        for (uint32_t t = 0; t < improvement->task_count; t++) dag_edit_inline(edit, improvement->tasks[t]);
    }
    return true;
}
