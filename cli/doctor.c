// SPDX-License-Identifier: GPL-3.0-or-later
// rehype doctor: whether this machine can record, and what that costs on it.
#include "cli/doctor.h"

#include "cli/commands.h"
#include "cli/terminal.h"
#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

static struct { bool json; } options;

static const struct option_spec specs[] = {
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.doctor/1)"},
    {0},
};

static const char *const verdict_names[] = {"ok", "warn", "FAIL"};

static cJSON *findings_json(const struct findings *findings) {
    static const char *const names[] = {"ok", "warn", "fail"};
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < findings->count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "what", json_text(findings->items[i].what));
        cJSON_AddItemToObject(object, "verdict", json_text(names[findings->items[i].verdict]));
        cJSON_AddItemToObject(object, "text", json_text(findings->items[i].text));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static bool write_json(const struct findings *findings, const struct event_costs *costs, struct error *error) {
    cJSON *document = cJSON_CreateObject(), *figures = cJSON_CreateObject();
    cJSON_AddItemToObject(figures, "counter_ns", json_number(costs->counter_ns));
    cJSON_AddItemToObject(figures, "clock_ns", json_number(costs->clock_ns));
    cJSON_AddItemToObject(figures, "thread_clock_ns", json_number(costs->thread_clock_ns));
    cJSON_AddItemToObject(figures, "event_ns", json_number(costs->event_ns));
    cJSON_AddItemToObject(document, "schema", json_text("rehype.doctor/1"));
    cJSON_AddItemToObject(document, "checks", findings_json(findings));
    cJSON_AddItemToObject(document, "costs", figures);
    return json_write(document, stdout, error);
}

static void add_cost(struct table *table, const char *what, double ns) {
    char cell[48] = "-";
    if (!isnan(ns)) snprintf(cell, sizeof cell, "%.1f ns", ns);
    table_add(table, what);
    table_add(table, cell);
}

static bool write_costs(const struct event_costs *costs, struct error *error) {
    static const struct table_column columns[] = {{"one", TABLE_LEFT}, {"costs", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    add_cost(&table, "reading of the processor's counter (the tracer's clock)", costs->counter_ns);
    add_cost(&table, "reading of CLOCK_MONOTONIC (the clock without a counter)", costs->clock_ns);
    add_cost(&table, "reading of CLOCK_THREAD_CPUTIME_ID", costs->thread_clock_ns);
    add_cost(&table, "event, recorded in a JVM (an entry or an exit of a function)", costs->event_ns);
    bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    return ok;
}

static bool can_record(const struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].verdict == VERDICT_FAIL) return false;
    }
    return true;
}

enum { CHECK_WIDTH = 19 };

static void write_finding(const struct finding *finding, unsigned look) {
    static const enum look_tone tones[] = {TONE_GOOD, TONE_WARNING, TONE_BAD};
    char text[512], verdict[16];
    snprintf(verdict, sizeof verdict, "  %-4s", verdict_names[finding->verdict]);
    snprintf(text, sizeof text, "  %-*s  %s", CHECK_WIDTH, finding->what, finding->text);
    look_lead(stdout, look, tones[finding->verdict], verdict, 6 + 2 + CHECK_WIDTH + 2, text);
}

static bool write_text(const struct findings *findings, const struct event_costs *costs, struct error *error) {
    const unsigned look = terminal_look(stdout);
    puts(can_record(findings) ? "This machine can record.\n" : "This machine can't record.\n");
    for (size_t i = 0; i < findings->count; i++) write_finding(&findings->items[i], look);
    putchar('\n');
    return write_costs(costs, error);
}

static int run(const struct operands *operands, struct error *error) {
    static struct findings findings;
    struct event_costs costs;
    (void)operands;
    doctor_check(&findings);
    doctor_measure(&costs);
    bool ok = options.json ? write_json(&findings, &costs, error) : write_text(&findings, &costs, error);
    if (ok && !can_record(&findings))
        error_set(error, STATUS_FAILED, "this machine can't record: see what is marked FAIL");
    return (int)error->status;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "whether this machine can record, and what that costs on it",
    .usage = "[--wide] [--json]",
    .about = "Looks for JDKs, the tracer, a good clock, performance counters and the permissions that they need, and\n"
             "measures what an event costs here, and its parts. Exit status 1 if recording can't work.",
    .example = "  rehype doctor",
    .options = specs,
    .operands_least = 0,
    .operands_most = 0,
    .run = run,
};
