// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/plan_names.h"

#include "dag/edit/edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512 };

static const char *known(const char *text) {
    return text ? text : "?";
}

static bool is_same_place(const struct trace_site *a, const struct trace_site *b) {
    return a->line == b->line && strcmp(known(a->class_name), known(b->class_name)) == 0 &&
           strcmp(known(a->method), known(b->method)) == 0;
}

bool site_shares_line(const struct dag *dag, const struct trace_site *site, uint32_t itself) {
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
    return site_plan_text(dag, index, site_shares_line(dag, &dag->sites[index].site, index), text, size);
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

static bool can_change(const struct dag *dag, uint32_t index) {
    return !dag_resize_resource_refusal(dag, index) || !dag_unlock_refusal(dag, index);
}

// Whether another that can be changed has its name. Of a bounded queue the elements have no capacity, but the places
// have: the queue's name is theirs.
static bool shares_name(const struct dag *dag, uint32_t index) {
    bool shared = false;
    for (uint32_t r = 0; r < dag->resource_count && !shared; r++)
        shared = r != index && strcmp(resource_name(dag, r), resource_name(dag, index)) == 0 && can_change(dag, r);
    return shared;
}

bool resource_is_same(const struct dag *a, uint32_t here, const struct dag *b, uint32_t there) {
    return a->resources[here].id == b->resources[there].id &&
           strcmp(resource_name(a, here), resource_name(b, there)) == 0;
}

char *resource_plan_text(const struct dag *dag, uint32_t index, char *text, size_t size) {
    bool shared = shares_name(dag, index);
    if (shared)
        snprintf(text, size, "%s@%" PRIu64, resource_name(dag, index), dag->resources[index].id);
    else
        snprintf(text, size, "%s", resource_name(dag, index));
    return text;
}

bool resource_is_named(const struct dag *dag, uint32_t index, const char *wanted) {
    char name[NAME_BYTES];
    const char *own = resource_name(dag, index), *field = strrchr(own, '.');
    bool stands_for_name = can_change(dag, index) || !shares_name(dag, index);
    if (stands_for_name && (strcmp(own, wanted) == 0 || (field && strcmp(field + 1, wanted) == 0))) return true;
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
