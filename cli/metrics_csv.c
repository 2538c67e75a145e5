// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/metrics_csv.h"

#include "report/actors_csv.h"
#include "report/csv.h"
#include "report/endpoints_csv.h"
#include "report/json.h"

static void write_names(const cJSON *run) {
    fputs("trace", stdout);
    csv_names(stdout, run, "", false);
    endpoints_csv_names(stdout);
    putchar('\n');
}

void metrics_csv_write(const char *path, const struct dag *dag, const struct metrics *metrics,
                       const struct endpoints *endpoints, bool first) {
    cJSON *run = json_metrics(metrics);
    if (first) write_names(run);
    csv_text(stdout, path);
    csv_values(stdout, run, false);
    endpoints_csv_blanks(stdout);
    putchar('\n');
    for (size_t i = 0; i < endpoints->count; i++) {
        csv_text(stdout, path);
        csv_blanks(stdout, run);
        endpoints_csv_values(dag, &endpoints->endpoints[i], stdout);
        putchar('\n');
    }
    cJSON_Delete(run);
}

void metrics_csv_write_actors(const char *path, const struct actor_findings *findings, bool first) {
    if (first) actors_csv_names(stdout);
    actors_csv_write(path, findings, stdout);
}
