// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/actors_csv.h"

#include "report/csv.h"

#include <math.h>

enum column {
    COUNT,
    STOPPED,
    RESTARTS,
    SENT,
    RECEIVED,
    UNHANDLED,
    DEAD_LETTERS,
    ASKS,
    INITIALISATION,
    CREATION,
    COMPUTATION,
    UTILISATION_MEAN,
    UTILISATION_STD,
    UTILISATION_P20,
    UTILISATION_P50,
    UTILISATION_P80,
    PER_S,
    PROCESSING_TOTAL,
    PROCESSING_MEAN,
    PROCESSING_P50,
    PROCESSING_P95,
    QUEUE_WAIT_MEAN,
    QUEUE_WAIT_P50,
    QUEUE_WAIT_P95,
    COLUMNS
};

static const struct {
    const char *name;
    const char *format; // NULL: a whole number
} columns[COLUMNS] = {
    [COUNT] = {"count", NULL},
    [STOPPED] = {"stopped", NULL},
    [RESTARTS] = {"restarts", NULL},
    [SENT] = {"sent", NULL},
    [RECEIVED] = {"received", NULL},
    [UNHANDLED] = {"unhandled", NULL},
    [DEAD_LETTERS] = {"dead_letters", NULL},
    [ASKS] = {"asks", NULL},
    [INITIALISATION] = {"initialisation", NULL},
    [CREATION] = {"creation", NULL},
    [COMPUTATION] = {"computation", NULL},
    [UTILISATION_MEAN] = {"utilisation.mean", "%.6g"},
    [UTILISATION_STD] = {"utilisation.std", "%.6g"},
    [UTILISATION_P20] = {"utilisation.p20", "%.6g"},
    [UTILISATION_P50] = {"utilisation.p50", "%.6g"},
    [UTILISATION_P80] = {"utilisation.p80", "%.6g"},
    [PER_S] = {"per_s", "%.6g"},
    [PROCESSING_TOTAL] = {"processing_total_ns", NULL},
    [PROCESSING_MEAN] = {"processing_ns.mean", NULL},
    [PROCESSING_P50] = {"processing_ns.p50", NULL},
    [PROCESSING_P95] = {"processing_ns.p95", NULL},
    [QUEUE_WAIT_MEAN] = {"queue_wait_ns.mean", NULL},
    [QUEUE_WAIT_P50] = {"queue_wait_ns.p50", NULL},
    [QUEUE_WAIT_P95] = {"queue_wait_ns.p95", NULL},
};

struct row {
    const char *trace, *unit, *actor_type, *message_type; // NULL: empty
    double figures[COLUMNS];                              // NAN: empty
};

static struct row row_of(const char *trace, const struct actor_findings *findings) {
    struct row row = {.trace = trace, .unit = log_unit_names[findings->actors.unit]};
    for (size_t i = 0; i < COLUMNS; i++) row.figures[i] = NAN;
    return row;
}

static void write_row(const struct row *row, FILE *file) {
    const char *const names[] = {row->trace, row->actor_type, row->message_type, row->unit};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i) putc(',', file);
        csv_text(file, names[i]);
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        putc(',', file);
        if (isfinite(row->figures[i])) fprintf(file, columns[i].format ? columns[i].format : "%.0f", row->figures[i]);
    }
    putc('\n', file);
}

void actors_csv_names(FILE *file) {
    fputs("trace,actor_type,message_type,unit", file);
    for (size_t i = 0; i < COLUMNS; i++) fprintf(file, ",%s", columns[i].name);
    putc('\n', file);
}

static void write_type(const char *trace, const struct actor_findings *findings, const struct actor_type_use *type,
                       FILE *file) {
    struct row row = row_of(trace, findings);
    row.actor_type = actor_log_class(&findings->log, type->type);
    row.figures[COUNT] = (double)type->count;
    row.figures[STOPPED] = (double)type->stopped;
    row.figures[RESTARTS] = (double)type->restarts;
    row.figures[SENT] = (double)type->all.sent;
    row.figures[RECEIVED] = (double)type->all.received;
    row.figures[INITIALISATION] = type->all.initialisation;
    row.figures[CREATION] = type->all.creation;
    row.figures[COMPUTATION] = type->all.computation;
    row.figures[UTILISATION_MEAN] = type->utilisation.mean;
    row.figures[UTILISATION_STD] = type->utilisation.std;
    row.figures[UTILISATION_P20] = type->utilisation.p20;
    row.figures[UTILISATION_P50] = type->utilisation.p50;
    row.figures[UTILISATION_P80] = type->utilisation.p80;
    write_row(&row, file);
}

static void write_use(const char *trace, const struct actor_findings *findings, uint32_t actor_type,
                      const struct message_use *use, FILE *file) {
    struct row row = row_of(trace, findings);
    row.actor_type = actor_log_class(&findings->log, actor_type);
    row.message_type = actor_log_class(&findings->log, use->class);
    row.figures[SENT] = (double)use->sent;
    row.figures[RECEIVED] = (double)use->received;
    row.figures[COMPUTATION] = use->computation;
    write_row(&row, file);
}

static void write_message_type(const char *trace, const struct actor_findings *findings,
                               const struct message_type_figures *type, FILE *file) {
    const struct message_flow *flow = &type->flow;
    struct row row = row_of(trace, findings);
    row.message_type = actor_log_class(&findings->log, type->class);
    row.figures[SENT] = (double)type->sent;
    row.figures[RECEIVED] = (double)flow->received;
    row.figures[UNHANDLED] = (double)type->unhandled;
    row.figures[DEAD_LETTERS] = (double)type->dead_letters;
    row.figures[ASKS] = (double)type->asks;
    row.figures[COMPUTATION] = type->computation;
    row.figures[PER_S] = flow->per_s;
    row.figures[PROCESSING_TOTAL] = flow->processing_total;
    row.figures[PROCESSING_MEAN] = flow->processing_ns.mean;
    row.figures[PROCESSING_P50] = flow->processing_ns.p50;
    row.figures[PROCESSING_P95] = flow->processing_ns.p95;
    row.figures[QUEUE_WAIT_MEAN] = flow->queue_wait_ns.mean;
    row.figures[QUEUE_WAIT_P50] = flow->queue_wait_ns.p50;
    row.figures[QUEUE_WAIT_P95] = flow->queue_wait_ns.p95;
    write_row(&row, file);
}

void actors_csv_write(const char *trace, const struct actor_findings *findings, FILE *file) {
    if (!findings->any) return;
    for (size_t i = 0; i < findings->actors.type_count; i++) {
        const struct actor_type_use *type = &findings->actors.types[i];
        write_type(trace, findings, type, file);
        for (size_t m = 0; m < type->all.message_count; m++)
            write_use(trace, findings, type->type, &type->all.messages[m], file);
    }
    for (size_t i = 0; i < findings->messages.type_count; i++)
        write_message_type(trace, findings, &findings->messages.types[i], file);
}
