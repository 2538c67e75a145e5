// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/endpoints_csv.h"

#include "report/csv.h"

#include <inttypes.h>

enum { CAUSES = CAUSE_WAIT + 1 };

static const char *const columns[] = {
    "requests",       "failed",         "per_s",          "latency_ns.mean", "latency_ns.p50",
    "latency_ns.p90", "latency_ns.p99", "latency_ns.max", "connections",
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *const causes[CAUSES] = {
    [CAUSE_COMPUTING] = "computing", [CAUSE_CORE] = "core",           [CAUSE_ASLEEP] = "asleep",
    [CAUSE_HAND_OVER] = "hand_over", [CAUSE_ELSEWHERE] = "elsewhere", [CAUSE_RESOURCE] = "resource",
    [CAUSE_QUEUE] = "queue",         [CAUSE_WAIT] = "wait",
};

void endpoints_csv_names(FILE *file) {
    fputs(",endpoint", file);
    for (size_t i = 0; i < COLUMNS; i++) fprintf(file, ",endpoint.%s", columns[i]);
    for (size_t i = 0; i < CAUSES; i++) fprintf(file, ",endpoint.by_cause_ns.%s", causes[i]);
}

void endpoints_csv_blanks(FILE *file) {
    for (size_t i = 0; i < 1 + COLUMNS + CAUSES; i++) putc(',', file);
}

void endpoints_csv_values(const struct dag *dag, const struct endpoint *endpoint, FILE *file) {
    double by_cause_ns[CAUSES] = {0};
    for (size_t i = 0; i < endpoint->cause_count; i++)
        by_cause_ns[endpoint->causes[i].kind] += endpoint->causes[i].mean_ns;
    putc(',', file);
    if (endpoint->endpoint) csv_text(file, endpoint_name(dag, endpoint));
    fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%.6g,%.0f,%.0f,%.0f,%.0f,%.0f,%" PRIu64, endpoint->count, endpoint->failed,
            endpoint->per_s, endpoint->mean_ns, endpoint->p50_ns, endpoint->p90_ns, endpoint->p99_ns, endpoint->max_ns,
            endpoint->connections);
    for (size_t i = 0; i < CAUSES; i++) fprintf(file, ",%.0f", by_cause_ns[i]);
}
