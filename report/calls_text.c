// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/calls_text.h"

#include "dag/names.h"
#include "metrics/work.h"
#include "report/look.h"
#include "report/table.h"
#include "report/text.h"

#include <stdarg.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = 8, SEQUENCES_SHOWN = 3, NAME_BYTES = 600, TEXT_BYTES = 2048 };

// Of an endpoint's latency: what is less is not told, or none to be told of where nothing is.
static const double LEAST_TOLD = 0.01, LEAST_MISSED = 0.1;

// Functions -----------------------------------------------------------------------------------------------------------

static void add_functions(struct table *table, const struct dag *dag, const struct endpoint *endpoint,
                          const struct endpoint_calls *calls) {
    size_t rows = 0;
    for (size_t i = 0; calls && i < calls->function_count && rows < FUNCTIONS_SHOWN; i++) {
        const struct called_function *function = &calls->functions[i];
        const struct trace_method *method = &dag->trace->methods[function->method];
        if (function->together_ns < LEAST_TOLD * endpoint->mean_ns) continue;
        table_add(table, rows++ == 0 ? endpoint_name(dag, endpoint) : "");
        table_add(table, text_method(method->class_name, method->name).s);
        table_add(table, text_number(function->calls).s);
        table_add(table, text_duration(function->call_ns).s);
        table_add(table, text_duration(function->asleep_ns).s);
        table_add(table, text_duration(function->together_ns).s);
    }
}

bool calls_text_write(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls, size_t most,
                      FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"endpoint", TABLE_LEFT},      {"function", TABLE_LEFT},
                                                  {"calls", TABLE_RIGHT},        {"a call", TABLE_RIGHT},
                                                  {"asleep in it", TABLE_RIGHT}, {"with calls", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    for (size_t i = 0; i < endpoints->count && i < most; i++)
        add_functions(&table, dag, &endpoints->endpoints[i], calls_of(calls, endpoints->endpoints[i].endpoint));
    bool ok = table_write(&table, file, look, error);
    table_destroy(&table);
    return ok;
}

static double asleep_ns(const struct endpoint *endpoint) {
    double sum_ns = 0;
    for (size_t i = 0; i < endpoint->cause_count; i++) {
        const struct endpoint_cause *cause = &endpoint->causes[i];
        if (cause->kind == CAUSE_ASLEEP || cause->kind == CAUSE_WAIT) sum_ns += cause->mean_ns;
    }
    return sum_ns;
}

void calls_text_write_missing(const struct dag *dag, const struct endpoints *endpoints, size_t most, FILE *file) {
    bool sleeps = false;
    if (!work_is_recorded(dag->trace) || dag->trace->events_of_kind[EVENT_ENTER]) return;
    for (size_t i = 0; i < endpoints->count && i < most; i++) {
        const struct endpoint *endpoint = &endpoints->endpoints[i];
        sleeps |= asleep_ns(endpoint) >= LEAST_MISSED * endpoint->mean_ns;
    }
    if (sleeps) fputs("  record --calls tells in which functions they sleep\n", file);
}

// Sequences -----------------------------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static const char *simple(const char *class_name) {
    const char *dot = class_name ? strrchr(class_name, '.') : NULL;
    return dot ? dot + 1 : class_name ? class_name : "?";
}

static void append_function(const struct dag *dag, uint32_t method, const char *class_before, char *text, size_t size) {
    const struct trace_method *of = &dag->trace->methods[method];
    const char *name = of->name ? of->name : "?";
    if (class_before && of->class_name && strcmp(class_before, of->class_name) == 0)
        append(text, size, "%s", name);
    else
        append(text, size, "%s.%s", simple(of->class_name), name);
}

// "OfferService.stock, shipping (2.50 times) and reviews".
static void append_calls(const struct dag *dag, const struct call_sequence *sequence, char *text, size_t size) {
    const char *class_before = NULL;
    for (size_t f = 0; f < sequence->function_count; f++) {
        const struct sequence_function *function = &sequence->functions[f];
        const bool last = f + 1 == sequence->function_count;
        if (f > 0) append(text, size, "%s", last ? " and " : ", ");
        append_function(dag, function->method, class_before, text, size);
        if (function->calls > 1) append(text, size, " (%s times)", text_number(function->calls).s);
        class_before = dag->trace->methods[function->method].class_name;
    }
}

// "stock and reviews take 60 ms one after the other; in parallel 40 ms, if none needs another's result".
static void append_sequence(const struct dag *dag, const struct call_sequence *sequence, char *text, size_t size) {
    const bool one = sequence->function_count == 1;
    append_calls(dag, sequence, text, size);
    append(text, size, " take%s %s one after the other; in parallel %s, if none needs another's result", one ? "s" : "",
           text_duration(sequence->sum_ns).s, text_duration(sequence->longest_ns).s);
}

static bool is_told(const struct endpoint *endpoint, const struct call_sequence *sequence) {
    return sequence->saved_ns >= LEAST_TOLD * endpoint->mean_ns;
}

bool calls_text_has_sequences(const struct endpoints *endpoints, const struct calls *calls, size_t most) {
    for (size_t i = 0; i < endpoints->count && i < most; i++) {
        const struct endpoint_calls *of = calls_of(calls, endpoints->endpoints[i].endpoint);
        if (of && of->sequence_count && is_told(&endpoints->endpoints[i], &of->sequences[0])) return true;
    }
    return false;
}

static void write_sequence(const struct dag *dag, const struct endpoint *endpoint, uint64_t requests,
                           const struct call_sequence *sequence, FILE *file, unsigned look) {
    char text[TEXT_BYTES] = "", name[NAME_BYTES];
    append(text, sizeof text, "  %s: ", endpoint_name(dag, endpoint));
    append_sequence(dag, sequence, text, sizeof text);
    append(text, sizeof text, ". ");
    if (sequence->caller) {
        append(text, sizeof text, "Called by ");
        append_function(dag, sequence->caller, NULL, text, sizeof text);
        append(text, sizeof text, " in ");
    } else {
        append(text, sizeof text, "In ");
    }
    append(text, sizeof text, "%s of its requests (%s); of the %s of one that is %s, %s.",
           text_percent((double)sequence->requests / (double)requests).s, text_rate(sequence->per_s).s,
           text_duration(endpoint->mean_ns).s, text_duration(sequence->saved_ns).s,
           text_percent(sequence->saved_ns / endpoint->mean_ns).s);
    if (sequence->held != DAG_NONE)
        append(text, sizeof text, " The request has %s meanwhile, which each of them may need.",
               dag_resource_text(dag, sequence->held, dag_resource_site(dag, sequence->held), name, sizeof name));
    look_write(file, look, 4, text);
}

void calls_text_write_sequences(const struct dag *dag, const struct endpoints *endpoints, const struct calls *calls,
                                size_t most, FILE *file, unsigned look) {
    for (size_t i = 0; i < endpoints->count && i < most; i++) {
        const struct endpoint *endpoint = &endpoints->endpoints[i];
        const struct endpoint_calls *of = calls_of(calls, endpoint->endpoint);
        for (size_t s = 0; of && s < of->sequence_count && s < SEQUENCES_SHOWN; s++) {
            if (is_told(endpoint, &of->sequences[s]))
                write_sequence(dag, endpoint, of->requests, &of->sequences[s], file, look);
        }
    }
}

void calls_text_write_advice(const struct dag *dag, const struct call_advice *advice, FILE *file, unsigned look) {
    char text[TEXT_BYTES] = "";
    append(text, sizeof text, "of the %s of %s, ", text_duration(advice->endpoint->mean_ns).s,
           endpoint_name(dag, advice->endpoint));
    append_sequence(dag, advice->sequence, text, sizeof text);
    append(text, sizeof text, ". No estimate has this.");
    look_lead(file, look, TONE_HEAD, "Advice: ", 6, text);
}
