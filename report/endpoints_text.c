// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/endpoints_text.h"

#include "dag/names.h"
#include "report/look.h"
#include "report/table.h"
#include "report/text.h"

enum { CAUSES_SHOWN = 6, HELD_SHOWN = 3, NAME_BYTES = 600 };

static const double LEAST_HELD = 0.005; // less would be shown as 0

void endpoints_text_write_answer(const struct dag *dag, const struct endpoints *endpoints, FILE *file, unsigned look) {
    if (endpoints->count == 0) return;
    char cause[NAME_BYTES];
    const struct endpoint *first = &endpoints->endpoints[0];
    const double span_ns = (double)endpoints->span_ns;
    look_printf(file, look, 0, "It answered %s requests of %s endpoint%s (%s, %s failed).",
                text_count(endpoints->requests).s, text_count(endpoints->count).s, endpoints->count == 1 ? "" : "s",
                text_rate(span_ns > 0 ? (double)endpoints->requests / span_ns * 1e9 : NAN).s,
                endpoints->failed ? text_count(endpoints->failed).s : "none");
    if (first->cause_count)
        look_printf(file, look, 0, "%s takes most of the time: %s on average, %s of that %s.",
                    endpoint_name(dag, first), text_duration(first->mean_ns).s,
                    text_duration(first->causes[0].mean_ns).s,
                    endpoint_cause_text(dag, &first->causes[0], cause, sizeof cause));
    putc('\n', file);
}

static void add_endpoint(struct table *table, const struct dag *dag, const struct endpoint *endpoint) {
    table_add(table, endpoint_name(dag, endpoint));
    table_add(table, text_count(endpoint->count).s);
    table_add(table, text_rate(endpoint->per_s).s);
    table_add(table, text_count(endpoint->failed).s);
    table_add(table, text_duration(endpoint->p50_ns).s);
    table_add(table, text_duration(endpoint->p90_ns).s);
    table_add(table, text_duration(endpoint->p99_ns).s);
    table_add(table, text_duration(endpoint->max_ns).s);
    table_add(table, endpoint->connections ? text_count(endpoint->connections).s : "-");
}

static void write_more(const struct endpoints *endpoints, size_t most, FILE *file) {
    if (endpoints->count > most)
        fprintf(file, "  and %s more: --json lists them\n", text_count(endpoints->count - most).s);
}

bool endpoints_text_write(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                          unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"endpoint", TABLE_LEFT}, {"requests", TABLE_RIGHT}, {"rate", TABLE_RIGHT},
        {"failed", TABLE_RIGHT},  {"p50", TABLE_RIGHT},      {"p90", TABLE_RIGHT},
        {"p99", TABLE_RIGHT},     {"max", TABLE_RIGHT},      {"connections", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < endpoints->count && i < most; i++) add_endpoint(&table, dag, &endpoints->endpoints[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    if (ok) write_more(endpoints, most, file);
    return ok;
}

static void add_causes(struct table *table, const struct dag *dag, const struct endpoint *endpoint) {
    char text[NAME_BYTES];
    for (size_t i = 0; i < endpoint->cause_count && i < CAUSES_SHOWN; i++) {
        const struct endpoint_cause *cause = &endpoint->causes[i];
        if (cause->mean_ns < endpoint->mean_ns / 100) return;
        table_add(table, i == 0 ? endpoint_name(dag, endpoint) : "");
        table_add(table, endpoint_cause_text(dag, cause, text, sizeof text));
        table_add(table, text_duration(cause->mean_ns).s);
        table_add(table, text_percent(cause->mean_ns / endpoint->mean_ns).s);
    }
}

bool endpoints_text_write_causes(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                                 unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"endpoint", TABLE_LEFT}, {"its requests are", TABLE_LEFT}, {"mean", TABLE_RIGHT}, {"share", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < endpoints->count && i < most; i++) add_causes(&table, dag, &endpoints->endpoints[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static void add_held(struct table *table, const struct dag *dag, const struct endpoint *endpoint) {
    char text[NAME_BYTES];
    size_t rows = 0;
    for (size_t i = 0; i < endpoint->thread_count && i < HELD_SHOWN; i++, rows++) {
        const struct endpoint_held *held = &endpoint->threads[i];
        if (held->mean < LEAST_HELD) break;
        const char *pool = held->of ? dag_pool_text(dag, held->of, text, sizeof text) : NULL;
        char what[NAME_BYTES + 32];
        snprintf(what, sizeof what, pool ? "threads of %s" : "threads of no pool%s", pool ? pool : "");
        table_add(table, rows == 0 ? endpoint_name(dag, endpoint) : "");
        table_add(table, what);
        table_add(table, text_fixed(held->mean, 2).s);
    }
    for (size_t i = 0; i < endpoint->resource_count && i < HELD_SHOWN; i++, rows++) {
        const struct endpoint_held *held = &endpoint->resources[i];
        if (held->mean < LEAST_HELD) return;
        table_add(table, rows == 0 ? endpoint_name(dag, endpoint) : "");
        table_add(table, dag_resource_text(dag, held->of, dag_resource_site(dag, held->of), text, sizeof text));
        table_add(table, text_fixed(held->mean, 2).s);
    }
}

bool endpoints_text_write_held(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file,
                               unsigned look, struct error *error) {
    static const struct table_column columns[] = {
        {"endpoint", TABLE_LEFT}, {"its requests hold", TABLE_LEFT}, {"at once (mean)", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < endpoints->count && i < most; i++) add_held(&table, dag, &endpoints->endpoints[i]);
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}
