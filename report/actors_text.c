// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/actors_text.h"

#include "report/table.h"
#include "report/text.h"

#include <inttypes.h>
#include <math.h>

enum { INDENT = 4 };

static struct text cost_text(double value, enum log_unit unit) {
    if (unit == LOG_NS || isnan(value)) return text_duration(value);
    return text_count((uint64_t)llround(value));
}

static const char *short_class(const struct actor_log *log, uint32_t class) {
    return class_short(actor_log_class(log, class));
}

static bool end_table(struct table *table, size_t count, size_t most, FILE *file, unsigned look, struct error *error) {
    const bool ok = table_write(table, file, look, error);
    table_destroy(table);
    if (ok && count > most) fprintf(file, "  and %s more: --json lists them\n", text_count(count - most).s);
    return ok;
}

// ---- the answer

static void say_balance(const struct balances *of, FILE *file, unsigned look) {
    const struct {
        const char *name;
        uint64_t count;
    } terms[] = {{"sent", of->sent},
                 {"scheduled", of->scheduled},
                 {"copied", of->copies},
                 {"made by the library", of->library_made},
                 {"sent unseen", of->unseen},
                 {"received", of->received},
                 {"answers to asks", of->to_futures},
                 {"dead letters", of->dead_letters},
                 {"still queued", of->queued}};
    enum { LEFT = 5, TERMS = sizeof terms / sizeof *terms };
    const char *sign = "";
    char text[1024];
    int used = snprintf(text, sizeof text, "  in the whole recording ");
    for (size_t i = 0; i < TERMS; i++) {
        if (i == LEFT) sign = " = ";
        if (terms[i].count == 0 && i != 0 && i != LEFT) continue;
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %s", sign, text_count(terms[i].count).s,
                         terms[i].name);
        sign = " + ";
    }
    look_write(file, look, INDENT, text);
}

static void say_busiest(const struct actor_findings *findings, FILE *file, unsigned look) {
    const struct actor_figures *actors = &findings->actors;
    const struct actor_use *use = actors->type_count ? &actors->types[0].all : NULL;
    if (!use || use->message_count == 0 || actors->computation_total <= 0) return;
    look_printf(file, look, INDENT, "  %s of what actors compute is %s, %s of it for %s",
                text_percent(use->computation / actors->computation_total).s,
                short_class(&findings->log, actors->types[0].type),
                text_percent(use->messages[0].computation / use->computation).s,
                short_class(&findings->log, use->messages[0].class));
}

// What the paper's bounds say, which are in bytecodes.
static void say_utilisation(const struct actor_findings *findings, FILE *file, unsigned look) {
    const struct actor_figures *actors = &findings->actors;
    if (!isnan(actors->initialisation_share))
        look_printf(file, look, INDENT, "  making actors is %s of what they cost",
                    text_percent(actors->initialisation_share).s);
    if (!isnan(actors->utilisation.p50))
        look_printf(file, look, INDENT, "  in the median an actor computes %s times what it cost to initialise",
                    text_number(actors->utilisation.p50).s);
    if (actors->unit != LOG_BYTECODES) return;
    if (actors->little_used)
        look_printf(file, look, INDENT,
                    "  %s of them are little used (less than %s times): fewer would do, or work is spread unevenly",
                    text_count(actors->little_used).s, text_count(UTILISATION_LITTLE).s);
    if (actors->much_used)
        look_printf(file, look, INDENT,
                    "  %s of them are much used (%s times and more): where cores are idle, more could help",
                    text_count(actors->much_used).s, text_count(UTILISATION_MUCH).s);
}

void actors_text_write_answer(const struct actor_findings *findings, FILE *file, unsigned look) {
    const struct message_figures *messages = &findings->messages;
    look_printf(file, look, INDENT,
                "%s actors of %s types handled %s messages of %s types (%s), %s at once on average and %s at most",
                text_count(findings->actors.count).s, text_count(findings->actors.type_count).s,
                text_count(messages->flow.received).s, text_count(messages->type_count).s,
                text_rate(messages->flow.per_s).s, text_fixed(messages->parallelism_mean, 2).s,
                text_fixed(messages->parallelism_max, 0).s);
    say_busiest(findings, file, look);
    say_utilisation(findings, file, look);
    say_balance(&messages->balances, file, look);
    if (messages->balances.failed_starts || messages->balances.restarts)
        look_printf(file, look, INDENT, "  failed starts: %s, restarts: %s",
                    text_count(messages->balances.failed_starts).s, text_count(messages->balances.restarts).s);
}

// ---- actors

static void add_type(struct table *table, const struct actor_findings *findings, const struct actor_type_use *type) {
    const enum log_unit unit = findings->actors.unit;
    const double utilisation[] = {type->utilisation.mean, type->utilisation.std, type->utilisation.p20,
                                  type->utilisation.p50, type->utilisation.p80};
    table_add(table, actor_log_class(&findings->log, type->type));
    table_add(table, text_count(type->count).s);
    table_add(table, text_count(type->stopped).s);
    table_add(table, text_count(type->all.received).s);
    table_add(table, text_count(type->all.sent).s);
    table_add(table, cost_text(type->initialisation.mean, unit).s);
    table_add(table, cost_text(type->all.computation, unit).s);
    for (size_t i = 0; i < sizeof utilisation / sizeof *utilisation; i++)
        table_add(table, text_number(utilisation[i]).s);
}

static bool write_types(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                        struct error *error) {
    static const struct table_column columns[] = {
        {"actor type", TABLE_LEFT}, {"actors", TABLE_RIGHT},  {"stopped", TABLE_RIGHT},  {"received", TABLE_RIGHT},
        {"sent", TABLE_RIGHT},      {"to make", TABLE_RIGHT}, {"computed", TABLE_RIGHT}, {"utilisation", TABLE_RIGHT},
        {"deviation", TABLE_RIGHT}, {"20 %", TABLE_RIGHT},    {"50 %", TABLE_RIGHT},     {"80 %", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    const size_t count = findings->actors.type_count;
    for (size_t i = 0; i < count && i < most; i++) add_type(&table, findings, &findings->actors.types[i]);
    return end_table(&table, count, most, file, look, error);
}

static bool write_each(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                       struct error *error) {
    static const struct table_column columns[] = {
        {"busiest actors", TABLE_LEFT}, {"number", TABLE_RIGHT},   {"received", TABLE_RIGHT},   {"sent", TABLE_RIGHT},
        {"to make", TABLE_RIGHT},       {"computed", TABLE_RIGHT}, {"utilisation", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    const struct actor_figures *figures = &findings->actors;
    for (size_t i = 0; i < figures->each_count && i < most; i++) {
        const struct actor_use *use = &figures->each[i];
        char path[1024];
        table_add(&table, actor_log_path(&findings->log, use->actor, path, sizeof path));
        snprintf(path, sizeof path, "%" PRIu64, findings->log.actors[use->actor].id);
        table_add(&table, path);
        table_add(&table, text_count(use->received).s);
        table_add(&table, text_count(use->sent).s);
        table_add(&table, cost_text(use->initialisation, figures->unit).s);
        table_add(&table, cost_text(use->computation, figures->unit).s);
        table_add(&table, text_number(use->utilisation).s);
    }
    return end_table(&table, figures->count, figures->each_count < most ? figures->count : most, file, look, error);
}

// ---- messages

static void add_message_type(struct table *table, const struct actor_log *log,
                             const struct message_type_figures *type) {
    const struct message_flow *flow = &type->flow;
    table_add(table, actor_log_class(log, type->class));
    table_add(table, text_count(type->sent).s);
    table_add(table, text_count(flow->received).s);
    table_add(table, text_rate(flow->per_s).s);
    table_add(table, text_duration(flow->processing_ns.mean).s);
    table_add(table, text_duration(flow->processing_ns.p95).s);
    table_add(table, text_duration(flow->processing_total).s);
    table_add(table, text_duration(flow->queue_wait_ns.mean).s);
    table_add(table, text_duration(flow->queue_wait_ns.p95).s);
}

static bool write_message_types(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                                struct error *error) {
    static const struct table_column columns[] = {
        {"message type", TABLE_LEFT}, {"sent", TABLE_RIGHT},       {"received", TABLE_RIGHT},
        {"rate", TABLE_RIGHT},        {"handled in", TABLE_RIGHT}, {"p95", TABLE_RIGHT},
        {"in all", TABLE_RIGHT},      {"waits", TABLE_RIGHT},      {"p95", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    const struct message_figures *figures = &findings->messages;
    for (size_t i = 0; i < figures->type_count && i < most; i++)
        add_message_type(&table, &findings->log, &figures->types[i]);
    return end_table(&table, figures->type_count, most, file, look, error);
}

// ---- slices

enum sliced_unit { SLICED_DURATION, SLICED_NUMBER, SLICED_RATE, SLICED_SHARE };

static struct text show(double value, enum sliced_unit unit) {
    switch (unit) {
    case SLICED_DURATION:
        return text_duration(value);
    case SLICED_RATE:
        return text_rate(value);
    case SLICED_SHARE:
        return text_percent(value);
    default:
        return text_number(value);
    }
}

static void add_sliced(struct table *table, const char *label, const struct sliced *of, enum sliced_unit unit) {
    const double figures[] = {of->of.min, of->of.max, of->of.mean, of->of.median};
    if (!of->values) return;
    table_add(table, label);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) table_add(table, show(figures[i], unit).s);
    table_add(table, show(sqrt(of->of.variance), unit).s);
}

static void add_flow(struct table *table, const char *type, const struct message_flow *flow) {
    char label[256];
    snprintf(label, sizeof label, "%.200s received", type);
    add_sliced(table, label, &flow->by_rate, SLICED_RATE);
    snprintf(label, sizeof label, "%.200s handled in", type);
    add_sliced(table, label, &flow->by_mean_processing, SLICED_DURATION);
}

static bool write_slices(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                         struct error *error) {
    static const struct table_column columns[] = {{"in slices", TABLE_LEFT}, {"least", TABLE_RIGHT},
                                                  {"most", TABLE_RIGHT},     {"mean", TABLE_RIGHT},
                                                  {"median", TABLE_RIGHT},   {"deviation", TABLE_RIGHT}};
    const struct message_figures *figures = &findings->messages;
    struct table table = TABLE_INIT(columns);
    fprintf(file, "\n%s slices of %s\n", text_count(figures->slices.count).s,
            text_duration((double)figures->slices.length_ns).s);
    add_sliced(&table, "messages at once", &figures->by_parallelism, SLICED_NUMBER);
    add_flow(&table, "all messages", &figures->flow);
    for (size_t i = 0; i < figures->type_count && i < most; i++)
        add_flow(&table, short_class(&findings->log, figures->types[i].class), &figures->types[i].flow);
    for (size_t i = 0; i < findings->latency_count; i++)
        add_sliced(&table, findings->latencies[i].path, &findings->latencies[i].by_begin, SLICED_DURATION);
    if (findings->trigger) {
        add_sliced(&table, "triggers", &findings->triggers.all.by_rate, SLICED_RATE);
        add_sliced(&table, "overhead", &findings->triggers.all.by_overhead, SLICED_SHARE);
        add_sliced(&table, "consistency", &findings->triggers.by_consistency, SLICED_SHARE);
    }
    return end_table(&table, 0, most, file, look, error);
}

// ---- latency

static const char *span_text(unsigned id) {
    static const char *const texts[] = {NULL,
                                        "until the next is sent",
                                        "in the mailbox",
                                        "until the next is sent",
                                        "handling the last",
                                        "until the next turn begins",
                                        "handling the last"};
    return texts[id];
}

// The n-th part of "A:x > B:y", from 0.
static void copy_step(const char *path, uint32_t step, char *text, size_t size) {
    for (; step > 0 && *path; path++) step -= *path == '>';
    while (*path == ' ') path++;
    size_t length = 0;
    while (path[length] && path[length] != '>' && length + 1 < size) length++;
    while (length > 0 && path[length - 1] == ' ') length--;
    snprintf(text, size, "%.*s", (int)length, path);
}

static void write_latency_answer(const struct latency_figures *of, FILE *file, unsigned look) {
    char incomplete[64] = "";
    if (of->incomplete) snprintf(incomplete, sizeof incomplete, ", %s incomplete", text_count(of->incomplete).s);
    putc('\n', file);
    look_printf(file, look, INDENT, "%s: %s in the median, %s to %s; %s chain%s%s; %s from its being sent", of->path,
                text_duration(of->latency_ns.p50).s, text_duration(of->latency_ns.min).s,
                text_duration(of->latency_ns.max).s, text_count(of->chains).s, of->chains == 1 ? "" : "s", incomplete,
                text_duration(of->from_sent_ns.p50).s);
}

static bool write_latency(const struct latency_figures *of, FILE *file, unsigned look, struct error *error) {
    static const struct table_column columns[] = {{"span", TABLE_RIGHT}, {"of", TABLE_LEFT},      {"", TABLE_LEFT},
                                                  {"mean", TABLE_RIGHT}, {"median", TABLE_RIGHT}, {"p95", TABLE_RIGHT},
                                                  {"share", TABLE_RIGHT}};
    struct table table = TABLE_INIT(columns);
    write_latency_answer(of, file, look);
    for (uint32_t i = 0; i < of->segment_count; i++) {
        const struct latency_segment *segment = &of->segments[i];
        char text[256];
        snprintf(text, sizeof text, "%u", (unsigned)segment->id);
        table_add(&table, text);
        copy_step(of->path, segment->step, text, sizeof text);
        table_add(&table, text);
        table_add(&table, span_text(segment->id));
        table_add(&table, text_duration(segment->ns.mean).s);
        table_add(&table, text_duration(segment->ns.p50).s);
        table_add(&table, text_duration(segment->ns.p95).s);
        table_add(&table, text_percent((double)segment->total_ns / (double)of->total_ns).s);
    }
    return end_table(&table, 0, 0, file, look, error);
}

// ---- triggers

static void add_triggered(struct table *table, const char *name, const struct triggered *of) {
    table_add(table, name);
    table_add(table, text_count(of->triggers).s);
    table_add(table, text_rate(of->per_s).s);
    table_add(table, text_count(of->messages).s);
    table_add(table, text_percent(of->overhead_share).s);
}

static bool write_triggers(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                           struct error *error) {
    static const struct table_column columns[] = {{"triggered", TABLE_LEFT},
                                                  {"times", TABLE_RIGHT},
                                                  {"rate", TABLE_RIGHT},
                                                  {"messages", TABLE_RIGHT},
                                                  {"time on others", TABLE_RIGHT}};
    const struct trigger_figures *figures = &findings->triggers;
    struct table table = TABLE_INIT(columns);
    putc('\n', file);
    look_printf(file, look, INDENT, "triggered by %s", findings->trigger);
    if (findings->update && figures->groups)
        look_printf(file, look, INDENT,
                    "  %s of %s updates (%s) were whole when they were worked on: no trigger came between%s",
                    text_percent(figures->consistency).s, text_count(figures->groups).s, findings->update,
                    figures->unfinished ? "; others were not handled to the last" : "");
    else if (findings->update)
        look_printf(file, look, INDENT, "  no update (%s) was handled to the last", findings->update);
    for (size_t i = 0; i < figures->each_count && i < most; i++) {
        char path[1024];
        add_triggered(&table, actor_log_path(&findings->log, figures->each[i].actor, path, sizeof path),
                      &figures->each[i]);
    }
    if (figures->each_count > 1) add_triggered(&table, "all", &figures->all);
    return end_table(&table, figures->each_count, most, file, look, error);
}

// ---- all of it

static bool write_latencies(const struct actor_findings *findings, FILE *file, unsigned look, struct error *error) {
    if (findings->latencies_found && findings->latency_count) fputs("\nthe heaviest cascades of messages", file);
    if (findings->latencies_found && findings->latency_count) putc('\n', file);
    for (size_t i = 0; i < findings->latency_count; i++) {
        if (!write_latency(&findings->latencies[i], file, look, error)) return false;
    }
    return true;
}

bool actors_text_write(const struct actor_findings *findings, size_t most, FILE *file, unsigned look,
                       struct error *error) {
    if (!findings->any) {
        fputs("no actors: the trace tells of none\n", file);
        return true;
    }
    actors_text_write_answer(findings, file, look);
    putc('\n', file);
    if (!write_types(findings, most, file, look, error)) return false;
    putc('\n', file);
    if (!write_each(findings, most, file, look, error)) return false;
    putc('\n', file);
    if (!write_message_types(findings, most, file, look, error)) return false;
    if (!write_latencies(findings, file, look, error)) return false;
    if (findings->trigger && !write_triggers(findings, most, file, look, error)) return false;
    return findings->messages.slices.count == 0 || write_slices(findings, most, file, look, error);
}
