// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/costs.h"

#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

const char *const dispatch_names[DISPATCH_KINDS] = {"none",   "thread", "new",    "woken",
                                                    "queued", "next",   "caller", "helped"};

static bool was_recorded(const struct pool_costs *pool, int kind) {
    return pool->bracket[kind].count > 0 || pool->pickup[kind].count > 0;
}

static const char *pool_name(const struct dag *dag, uint32_t pool) {
    return pool && pool < dag->trace->pool_count ? dag->trace->pools[pool].name : NULL;
}

static cJSON *cost_json(const struct cost *cost) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "count", json_integer((int64_t)cost->count));
    cJSON_AddItemToObject(object, "mean_ns", cost->count ? json_integer(llround(cost->mean_ns)) : cJSON_CreateNull());
    return object;
}

// Of those that a worker was woken for, by the least that it had slept.
static cJSON *sleeps_json(const struct pool_costs *costs) {
    cJSON *array = cJSON_CreateArray();
    for (unsigned s = 0; s < SLEEP_CLASSES; s++) {
        if (costs->woken_pickup[s].count == 0) continue;
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "slept_ns", json_integer(costs_least_sleep_ns(s)));
        cJSON_AddItemToObject(object, "spawn", cost_json(&costs->woken_bracket[s]));
        cJSON_AddItemToObject(object, "pickup", cost_json(&costs->woken_pickup[s]));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *dispatch_json(const struct dag *dag, const struct pool_costs *costs, uint32_t pool, int kind) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "pool", json_text(pool_name(dag, pool)));
    cJSON_AddItemToObject(object, "dispatch", json_text(dispatch_names[kind]));
    cJSON_AddItemToObject(object, "spawn", cost_json(&costs->bracket[kind]));
    cJSON_AddItemToObject(object, "pickup", cost_json(&costs->pickup[kind]));
    if (kind == DISPATCH_WOKEN) cJSON_AddItemToObject(object, "by_sleep", sleeps_json(costs));
    return object;
}

cJSON *costs_json(const struct dag *dag, const struct costs *costs) {
    cJSON *object = cJSON_CreateObject(), *array = cJSON_CreateArray();
    for (uint32_t p = 0; p < costs->pool_count; p++) {
        for (int k = 0; k < DISPATCH_KINDS; k++) {
            if (was_recorded(&costs->pools[p], k)) {
                cJSON_AddItemToArray(array, dispatch_json(dag, &costs->pools[p], p, k));
            }
        }
    }
    cJSON_AddItemToObject(object, "pools", array);
    cJSON_AddItemToObject(object, "wakeup", cost_json(&costs->wakeup));
    cJSON_AddItemToObject(object, "waking", cost_json(&costs->waking));
    return object;
}

static void add_cost(struct table *table, const struct cost *cost) {
    table_add(table, cost->count ? text_duration(cost->mean_ns).s : "-");
}

static void add_row(struct table *table, const struct dag *dag, const struct pool_costs *costs, uint32_t pool,
                    int kind) {
    const char *name = pool_name(dag, pool);
    table_add(table, pool == 0 ? "threads of their own" : name ? name : "a pool without a name");
    table_add(table, dispatch_names[kind]);
    table_add(table, text_count(costs->bracket[kind].count).s);
    add_cost(table, &costs->bracket[kind]);
    add_cost(table, &costs->pickup[kind]);
}

bool costs_write(const struct dag *dag, const struct costs *costs, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"pool", TABLE_LEFT},
                                                  {"dispatch", TABLE_LEFT},
                                                  {"tasks", TABLE_RIGHT},
                                                  {"spawn", TABLE_RIGHT},
                                                  {"pick-up", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (uint32_t p = 0; p < costs->pool_count; p++) {
        for (int k = 0; k < DISPATCH_KINDS; k++) {
            if (was_recorded(&costs->pools[p], k)) add_row(&table, dag, &costs->pools[p], p, k);
        }
    }
    bool ok = table.cell_count == 0 || table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok && costs->wakeup.count) {
        fprintf(file, "  a waiter goes on %s after the result (%s waits)\n", text_duration(costs->wakeup.mean_ns).s,
                text_count(costs->wakeup.count).s);
    }
    return ok;
}
