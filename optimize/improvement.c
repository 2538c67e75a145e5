// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/improvement.h"

#include "optimize/sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512 };

const char *const improvement_kind_names[KIND_COUNT] = {"inline", "hoist-branch", "combinator",      "merge",
                                                        "split",  "resize-pool",  "resize-resource", "unlock"};

// Names

static const char *known(const char *text) {
    return text ? text : "?";
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

char *site_plan_text(const struct dag *dag, uint32_t index, bool with_bci, char *text, size_t size) {
    const struct trace_site *site = &dag->sites[index].site;
    size_t used = (size_t)snprintf(text, size, "%s.%s", known(site->class_name), known(site->method));
    if (site->line && used < size) used += (size_t)snprintf(text + used, size - used, ":%u", site->line);
    if (with_bci && site->bci >= 0 && used < size) snprintf(text + used, size - used, "@%d", site->bci);
    return text;
}

char *site_own_text(const struct dag *dag, uint32_t index, char *text, size_t size) {
    return site_plan_text(dag, index, improvement_shares_line(dag, &dag->sites[index].site, index), text, size);
}

char *method_plan_text(const struct dag *dag, uint32_t method, char *text, size_t size) {
    const struct trace_method *m = &dag->trace->methods[method];
    snprintf(text, size, "%s.%s", known(m->class_name), known(m->name));
    return text;
}

char *path_plan_text(const struct dag *dag, uint32_t path, char *text, size_t size) {
    snprintf(text, size, "%016" PRIx64, dag->paths[path].hash);
    return text;
}

static const char *pool_name(const struct dag *dag, uint32_t pool) {
    const struct trace_pool *p = &dag->trace->pools[pool];
    return p->name ? p->name : known(p->kind);
}

char *pool_plan_text(const struct dag *dag, uint32_t pool, char *text, size_t size) {
    bool shared = false;
    for (uint32_t p = 1; p < dag->trace->pool_count; p++) {
        shared |= p != pool && strcmp(pool_name(dag, p), pool_name(dag, pool)) == 0;
    }
    if (shared)
        snprintf(text, size, "%s@%u", pool_name(dag, pool), pool);
    else
        snprintf(text, size, "%s", pool_name(dag, pool));
    return text;
}

static const char *resource_name(const struct dag *dag, uint32_t index) {
    const struct dag_resource *resource = &dag->resources[index];
    bool has_class = resource->resource_class && resource->resource_class < dag->trace->class_count;
    if (resource->name) return resource->name;
    return has_class ? known(dag->trace->classes[resource->resource_class].name) : "?";
}

char *resource_plan_text(const struct dag *dag, uint32_t index, char *text, size_t size) {
    bool shared = false;
    for (uint32_t r = 0; r < dag->resource_count && !shared; r++)
        shared = r != index && strcmp(resource_name(dag, r), resource_name(dag, index)) == 0;
    if (shared)
        snprintf(text, size, "%s@%" PRIu64, resource_name(dag, index), dag->resources[index].id);
    else
        snprintf(text, size, "%s", resource_name(dag, index));
    return text;
}

bool resource_is_named(const struct dag *dag, uint32_t index, const char *wanted) {
    char name[NAME_BYTES];
    const char *own = resource_name(dag, index), *field = strrchr(own, '.');
    if (strcmp(own, wanted) == 0 || (field && strcmp(field + 1, wanted) == 0)) return true;
    if (strcmp(resource_plan_text(dag, index, name, sizeof name), wanted) == 0) return true;
    for (uint32_t i = 0; i < dag->ask_count; i++) {
        const struct dag_ask *ask = &dag->asks[i];
        if (ask->resource != index || !ask->site || ask->site >= dag->trace->site_count) continue;
        const struct trace_site *site = &dag->trace->sites[ask->site];
        snprintf(name, sizeof name, "%s.%s:%u", known(site->class_name), known(site->method), site->line);
        if (strcmp(name, wanted) == 0) return true;
    }
    return false;
}

static void say_context(struct sentence *sentence, const struct improvement *improvement) {
    if (improvement->context == DAG_NONE) return;
    const struct dag_context *context = &improvement->dag->contexts[improvement->context];
    char name[NAME_BYTES];
    if (context->length == 0) say(sentence, " outside traced functions");
    for (uint32_t i = 0; i < context->length; i++) {
        say(sentence, "%s%s", i ? " > " : " in ",
            method_plan_text(improvement->dag, context->methods[i], name, sizeof name));
    }
}

char *improvement_text(const struct improvement *improvement, char *text, size_t size) {
    const struct dag *dag = improvement->dag;
    struct sentence sentence = sentence_begin(text, size);
    char name[NAME_BYTES];
    if (improvement->kind == KIND_RESIZE_POOL) {
        say(&sentence, "resize-pool %s to %d thread%s", pool_plan_text(dag, improvement->pool, name, sizeof name),
            improvement->threads, improvement->threads == 1 ? "" : "s");
        return text;
    }
    if (improvement->kind == KIND_RESIZE_RESOURCE || improvement->kind == KIND_UNLOCK) {
        say(&sentence, "%s %s", improvement_kind_names[improvement->kind],
            resource_plan_text(dag, improvement->resource, name, sizeof name));
        if (improvement->kind == KIND_RESIZE_RESOURCE) say(&sentence, " to %d", improvement->capacity);
        return text;
    }
    say(&sentence, "%s %s", improvement_kind_names[improvement->kind],
        site_plan_text(dag, improvement->site, improvement->shares_line, name, sizeof name));
    if (improvement->kind == KIND_HOIST_BRANCH && improvement->path != DAG_NONE) {
        say(&sentence, " on path %s", path_plan_text(dag, improvement->path, name, sizeof name));
    }
    if (improvement->factor)
        say(&sentence, improvement->kind == KIND_MERGE ? " by %u" : " into %u", improvement->factor);
    say_context(&sentence, improvement);
    if (improvement->first)
        say(&sentence, ", first stage on %s", improvement->first == FIRST_STAGE_ON_POOL ? "its pool" : "the spawner");
    return text;
}

// Use

uint32_t improvement_pool_size(const struct dag *dag, uint32_t pool) {
    const struct dag_pool *rules = &dag->pools[pool];
    const int32_t most = rules->capacity == INT64_MAX ? rules->core : rules->maximum;
    return most == INT32_MAX || most < 0 ? 0 : most == 0 ? 1 : (uint32_t)most;
}

uint32_t improvement_left_out(const struct improvement *improvement) {
    uint32_t count = 0;
    for (unsigned kind = LEFT_OUT_NOT + 1; kind < LEFT_OUT_KINDS; kind++) count += improvement->left_out[kind];
    return count;
}

bool improvement_is_open(const struct improvement *improvement) {
    switch (improvement->kind) {
    case KIND_HOIST_BRANCH:
        return improvement->path == DAG_NONE;
    case KIND_COMBINATOR:
        return improvement->first == FIRST_STAGE_NONE;
    case KIND_MERGE:
    case KIND_SPLIT:
        return improvement->factor == 0;
    default:
        return false;
    }
}

const char *improvement_apply(const struct improvement *improvement, struct dag_edit *edit) {
    if (improvement->refusal) return improvement->refusal;
    if (improvement->kind == KIND_RESIZE_POOL) {
        dag_edit_resize(edit, improvement->pool, improvement->threads);
        return NULL;
    }
    if (improvement->kind == KIND_RESIZE_RESOURCE || improvement->kind == KIND_UNLOCK) {
        if (improvement->resource == DAG_NONE) return NULL;
        if (improvement->kind == KIND_UNLOCK)
            dag_edit_unlock(edit, improvement->resource);
        else
            dag_edit_resize_resource(edit, improvement->resource, improvement->capacity);
        return NULL;
    }
    if (improvement->kind == KIND_MERGE) {
        uint32_t merged =
            dag_edit_merge(edit, improvement->dag, improvement->tasks, improvement->task_count, improvement->factor);
        return merged ? NULL : "no two of its tasks can be gathered: each is awaited before the next is spawned";
    }
    for (uint32_t i = 0; i < improvement->task_count; i++) {
        if (improvement->kind == KIND_SPLIT)
            dag_edit_split(edit, improvement->tasks[i], improvement->factor);
        else if (improvement->kind == KIND_COMBINATOR)
            dag_edit_combine(edit, improvement->tasks[i], improvement->first);
        else
            dag_edit_inline(edit, improvement->tasks[i]);
    }
    return NULL;
}

static bool shares_task(const struct improvement *a, const struct improvement *b) {
    for (uint32_t i = 0, j = 0; i < a->task_count && j < b->task_count;) {
        if (a->tasks[i] == b->tasks[j]) return true;
        if (a->tasks[i] < b->tasks[j])
            i++;
        else
            j++;
    }
    return false;
}

// Also where a trace has no task of it.
static bool is_same_twice(const struct improvement *a, const struct improvement *b) {
    return a->kind == b->kind && a->site != DAG_NONE && a->site == b->site && a->context == b->context &&
           a->path == b->path;
}

static bool is_of_resource(const struct improvement *improvement) {
    return improvement->kind == KIND_RESIZE_RESOURCE || improvement->kind == KIND_UNLOCK;
}

bool improvements_conflict(const struct improvement *a, const struct improvement *b) {
    if (is_of_resource(a) || is_of_resource(b))
        return is_of_resource(a) && is_of_resource(b) && a->resource != DAG_NONE && a->resource == b->resource;
    bool resizes_a = a->kind == KIND_RESIZE_POOL, resizes_b = b->kind == KIND_RESIZE_POOL;
    if (resizes_a || resizes_b) return resizes_a && resizes_b && a->pool && a->pool == b->pool;
    return is_same_twice(a, b) || (a->site == b->site && shares_task(a, b)); // a task has one site
}

static uint64_t mix(uint64_t x) { // splitmix64, of Steele, Lea and Flood
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t improvement_key(const struct improvement *improvement, uint64_t salt) {
    enum improvement_kind effect = improvement->kind == KIND_HOIST_BRANCH ? KIND_INLINE : improvement->kind;
    uint64_t change = mix(salt << 32 | (uint64_t)effect << 28) ^ improvement->factor ^ improvement->first, key = 0;
    if (effect == KIND_RESIZE_POOL) {
        if (!improvement->pool) return 0;
        return mix(mix(change) ^ (uint64_t)improvement->pool << 32 ^ (uint32_t)improvement->threads);
    }
    if (is_of_resource(improvement)) {
        if (improvement->resource == DAG_NONE) return 0;
        return mix(mix(change) ^ (uint64_t)improvement->resource << 32 ^ (uint32_t)improvement->capacity);
    }
    for (uint32_t i = 0; i < improvement->task_count; i++) key ^= mix(mix(change) ^ improvement->tasks[i]);
    return key;
}

// Models

unsigned model_kinds(enum model_kind model) {
    const unsigned dispatched = KIND_BIT(KIND_SPLIT) | KIND_BIT(KIND_RESIZE_POOL) | KIND_BIT(KIND_RESIZE_RESOURCE) |
                                KIND_BIT(KIND_UNLOCK) | KINDS_ON_POOL;
    return model == MODEL_DAG ? KINDS_ALL & ~dispatched : KINDS_ALL;
}

const char *model_refusal(enum model_kind model, const struct improvement *improvement) {
    const unsigned needed =
        KIND_BIT(improvement->kind) | (improvement->first == FIRST_STAGE_ON_POOL ? KINDS_ON_POOL : 0);
    if ((model_kinds(model) & needed) == needed) return NULL;
    return "the model dag keeps threads as recorded and dispatches no task anew: use --model pool or --model cpu";
}
