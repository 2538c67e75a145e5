// SPDX-License-Identifier: GPL-3.0-or-later
// rehype info: what was recorded, where, with what, and whether the file is whole.
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/trace_summary.h"
#include "metrics/coverage_find.h"
#include "report/coverage_json.h"
#include "report/coverage_text.h"
#include "report/json.h"
#include "report/table.h"
#include "report/text.h"

#include <math.h>
#include <string.h>
#include <time.h>

static struct { bool json; } options;

static const struct option_spec specs[] = {
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.info/1)"},
    {0},
};

// What was found: the trace, opened as far as it goes, and all that is wrong with it. Damage beyond the file's frame
// shows only when its events are read.
struct inspection {
    struct trace *trace;
    bool damaged; // more than cut short
    struct trace_damage *damage;
    size_t damage_count;
    struct arena arena;
};

static bool add_damage(struct inspection *found, const struct error *cause, struct error *error) {
    struct trace_damage *damage = ARENA_NEW(&found->arena, struct trace_damage, found->damage_count + 1);
    char *what = arena_string(&found->arena, cause->cause[0], strlen(cause->cause[0]));
    if (!damage || !what) return error_set(error, STATUS_FAILED, "no memory for the list of damage");
    if (found->damage_count > 0) memcpy(damage, found->damage, found->damage_count * sizeof *damage);
    damage[found->damage_count++] = (struct trace_damage){cause->offset, what};
    found->damage = damage;
    return true;
}

// The first malformed block of each thread; what follows it in the thread can't be read.
static bool inspect_events(struct inspection *found, struct error *error) {
    for (uint32_t i = 0; i < found->trace->stream_count; i++) {
        struct trace_cursor cursor;
        struct event event;
        struct error cause = ERROR_INIT;
        trace_cursor_init(&cursor, found->trace, &found->trace->streams[i]);
        while (trace_cursor_next(&cursor, &event, &cause)) {
        }
        if (cause.status == STATUS_OK) continue;
        found->damaged = true;
        if (!add_damage(found, &cause, error)) return false;
        if (error->status == STATUS_OK) *error = cause;
    }
    return true;
}

// A damaged file is opened once more, leaving out what is damaged, so that the rest can be shown. *error stays the
// first damage found, for the message and the exit status; false when there is nothing to show.
static bool inspect(const char *path, struct inspection *found, struct error *error) {
    struct error second = ERROR_INIT;
    found->trace = trace_open(path, false, error);
    found->damaged = !found->trace && error->status == STATUS_BAD_INPUT;
    if (found->damaged) found->trace = trace_open(path, true, &second);
    if (!found->trace) return false;
    found->damage = (struct trace_damage *)found->trace->damage;
    found->damage_count = found->trace->damage_count;
    struct error strict = *error;
    if (found->damaged && found->damage_count == 0 && !add_damage(found, &strict, error)) return false;
    return inspect_events(found, error);
}

// ---- JSON

static cJSON *damage_json(const struct inspection *found) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < found->damage_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "offset", json_integer((int64_t)found->damage[i].offset));
        cJSON_AddItemToObject(object, "what", json_text(found->damage[i].what));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *events_json(const struct trace *trace) {
    cJSON *object = cJSON_CreateObject();
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        cJSON_AddItemToObject(object, event_kind_info(kind)->name, json_integer((int64_t)trace->events_of_kind[kind]));
    }
    return object;
}

static cJSON *threads_json(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct trace_stream *stream = &trace->streams[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "name", json_text(stream->thread.name));
        cJSON_AddItemToObject(object, "events", json_integer((int64_t)stream->event_count));
        cJSON_AddItemToObject(object, "lost_events", json_integer((int64_t)stream->lost_events));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *skips_json(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < trace->end.skip_count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "method", json_text(trace->end.skips[i].method));
        cJSON_AddItemToObject(object, "why", json_text(trace->end.skips[i].why));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

// Of all events together.
static double tracer_cost_ns(const struct trace *trace) {
    double ps = 0;
    for (unsigned kind = 0; kind < EVENT_KINDS; kind++) {
        const struct event_cost *cost = &trace->costs[kind];
        ps += (double)trace->events_of_kind[kind] * (double)(cost->before_ps + cost->after_ps);
    }
    return ps / 1000;
}

static cJSON *event_costs_json(const struct trace *trace) {
    cJSON *object = cJSON_CreateObject();
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        const struct event_cost *cost = &trace->costs[kind];
        if (!cost->measured) continue;
        cJSON *of_kind = cJSON_CreateObject();
        cJSON_AddItemToObject(of_kind, "measured", json_integer((int64_t)cost->measured));
        cJSON_AddItemToObject(of_kind, "before_ns", json_number((double)cost->before_ps / 1000));
        cJSON_AddItemToObject(of_kind, "after_ns", json_number((double)cost->after_ps / 1000));
        cJSON_AddItemToObject(object, event_kind_info(kind)->name, of_kind);
    }
    return object;
}

static void add_recording_json(cJSON *document, const struct trace *trace) {
    const struct trace_header *header = &trace->header;
    cJSON_AddItemToObject(document, "jvm", json_text(header->jvm));
    cJSON_AddItemToObject(document, "cores", header->cores ? json_integer(header->cores) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "clock", json_text(header->clock));
    cJSON_AddItemToObject(document, "clock_skew_ns",
                          header->clock_skew_ns >= 0 ? json_integer(header->clock_skew_ns) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "cycle_unit", json_text(header->cycle_unit));
    cJSON_AddItemToObject(document, "cycle_source", json_text(header->cycle_source));
    cJSON_AddItemToObject(document, "origin", json_text(header->origin));
    cJSON_AddItemToObject(document, "command", json_text(header->command));
    cJSON_AddItemToObject(document, "options", json_text(header->options));
    cJSON_AddItemToObject(document, "pid", header->pid ? json_integer(header->pid) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "start_unix_ns",
                          header->start_unix_ns ? json_integer((int64_t)header->start_unix_ns) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "version", json_integer(trace->version));
}

// null of a recording that is one file.
static cJSON *part_json(const struct trace *trace) {
    if (trace->part.number == 0) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "number", json_integer(trace->part.number));
    cJSON_AddItemToObject(object, "previous", json_text(trace->part.previous));
    cJSON_AddItemToObject(object, "next", json_text(trace->next));
    cJSON_AddItemToObject(object, "repeated_events", json_integer((int64_t)trace->part.repeated));
    cJSON_AddItemToObject(object, "deleted_files", json_integer((int64_t)trace->part.deleted_files));
    cJSON_AddItemToObject(object, "deleted_events", json_integer((int64_t)trace->part.deleted_events));
    return object;
}

static cJSON *calling_contexts_json(const struct trace *trace) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "stacks", json_integer((int64_t)trace->calling_sample_count));
    cJSON_AddItemToObject(object, "left_out", json_integer((int64_t)trace->calling_left_out));
    return object;
}

// What sampled stacks have seen, so far as that can be told. Afterwards coverage_free(*coverage).
static bool find_coverage(const struct trace *trace, struct coverage **coverage, struct coverage_found *seen) {
    struct error ignored = ERROR_INIT; // nothing that counts was seen
    *coverage = trace->stacks.run_count ? coverage_new(&(struct coverage_rules){0}, &ignored) : NULL;
    return *coverage && coverage_add(*coverage, trace, NULL, &ignored) && coverage_find(*coverage, seen, &ignored);
}

// Between the first moment and the last; 0 of less than two.
static double sampled_seconds(const struct trace_stacks *stacks) {
    if (stacks->moment_count < 2) return 0;
    return (double)(stacks->moments[stacks->moment_count - 1] - stacks->moments[0]) / 1e9;
}

static cJSON *sampled_json(const struct trace *trace) {
    struct coverage *coverage;
    struct coverage_found seen = {.whole = {NAN, NAN, NAN}};
    if (trace->stacks.moment_count == 0) return cJSON_CreateNull();
    find_coverage(trace, &coverage, &seen);
    cJSON *object = coverage_json_sampled(&trace->stacks, sampled_seconds(&trace->stacks), &seen);
    coverage_free(coverage);
    return object;
}

static cJSON *stops_json(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < trace->stop_count; i++) {
        const struct trace_stop *stop = &trace->stops[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "why", json_text(stop->kind == STOP_TO_LOOK ? "look" : "weave"));
        cJSON_AddItemToObject(object, "ns", json_integer((int64_t)stop->ns));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static bool write_json(const struct inspection *found, struct error *error) {
    const struct trace *trace = found->trace;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "schema", json_text("rehype.info/1"));
    cJSON_AddItemToObject(document, "trace", json_text(trace->path));
    cJSON_AddBoolToObject(document, "whole", trace->whole && !found->damaged);
    cJSON_AddItemToObject(document, "damage", damage_json(found));
    cJSON_AddItemToObject(document, "events", events_json(trace));
    cJSON_AddItemToObject(document, "lost_events", json_integer((int64_t)trace->lost_events));
    cJSON_AddItemToObject(document, "bytes", json_integer((int64_t)trace->bytes));
    add_recording_json(document, trace);
    cJSON_AddItemToObject(document, "part", part_json(trace));
    if (trace->tells_costs) {
        cJSON_AddItemToObject(document, "tracer_cost_ns", json_integer((int64_t)tracer_cost_ns(trace)));
        cJSON_AddItemToObject(document, "event_costs", event_costs_json(trace));
    }
    cJSON_AddItemToObject(document, "calling_contexts", calling_contexts_json(trace));
    cJSON_AddItemToObject(document, "sampled", sampled_json(trace));
    cJSON_AddItemToObject(document, "stops", stops_json(trace));
    cJSON_AddItemToObject(document, "threads", threads_json(trace));
    cJSON_AddItemToObject(document, "stopped_because", json_text(trace->end.stopped_because));
    bool ended = trace->has_end;
    cJSON_AddItemToObject(document, "methods_woven",
                          ended ? json_integer((int64_t)trace->end.methods_woven) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "classes_woven",
                          ended ? json_integer((int64_t)trace->end.classes_woven) : cJSON_CreateNull());
    cJSON_AddItemToObject(document, "methods_skipped", ended ? skips_json(trace) : cJSON_CreateNull());
    return json_write(document, stdout, error);
}

// ---- Text

static void add_fact(struct table *table, const char *label, const char *value) {
    if (!value) return;
    table_add(table, label);
    table_add(table, value);
}

static const char *time_of_day(uint64_t unix_ns, char *text, size_t size) {
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm day;
    if (unix_ns == 0 || !gmtime_r(&seconds, &day)) return NULL;
    strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &day);
    return text;
}

static const char *clock_text(const struct trace_header *header, char *text, size_t size) {
    if (header->clock_skew_ns < 0) return header->clock;
    snprintf(text, size, "%s, at most %s apart between cores", header->clock ? header->clock : "-",
             text_duration((double)header->clock_skew_ns).s);
    return text;
}

static void add_part(struct table *table, const struct trace *trace) {
    const struct trace_part *part = &trace->part;
    char which[32], repeated[96], deleted[96];
    if (part->number == 0) return;
    snprintf(which, sizeof which, "%u of a recording", part->number);
    add_fact(table, "file", which);
    add_fact(table, "the file before", part->previous);
    add_fact(table, "goes on in", trace->next);
    if (part->repeated > 0) {
        snprintf(repeated, sizeof repeated, "%s events, which tell once more what was under way",
                 text_count(part->repeated).s);
        add_fact(table, "begins with", repeated);
    }
    if (part->deleted_files > 0) {
        snprintf(deleted, sizeof deleted, "%s earlier files of %s events", text_count(part->deleted_files).s,
                 text_count(part->deleted_events).s);
        add_fact(table, "deleted", deleted);
    }
}

static void add_calling_contexts(struct table *table, const struct trace *trace) {
    char stacks[96];
    if (trace->calling_sample_count == 0 && trace->calling_left_out == 0) return;
    int used = snprintf(stacks, sizeof stacks, "%s stacks", text_count(trace->calling_sample_count).s);
    if (trace->calling_left_out > 0)
        snprintf(stacks + used, sizeof stacks - (size_t)used, ", and no room for %s more",
                 text_count(trace->calling_left_out).s);
    add_fact(table, "calling contexts", stacks);
}

static void add_sampled_losses(struct table *table, const struct trace_stack_costs *costs) {
    char lost[96];
    if (costs->missed == 0 && costs->left_out == 0) return;
    snprintf(lost, sizeof lost, "moments missed %s, stacks left out %s", text_count(costs->missed).s,
             text_count(costs->left_out).s);
    add_fact(table, "sampling lost", lost);
}

static void add_sampled(struct table *table, const struct trace *trace) {
    const struct trace_stacks *stacks = &trace->stacks;
    const double seconds = sampled_seconds(stacks), moments = (double)stacks->moment_count;
    char text[160], share[128];
    struct coverage *coverage;
    struct coverage_found seen;
    if (stacks->moment_count == 0) return;
    snprintf(text, sizeof text, "at %s moments, %s", text_count(stacks->moment_count).s,
             text_rate(seconds > 0 ? (moments - 1) / seconds : NAN).s);
    add_fact(table, "stacks sampled", text);
    add_sampled_losses(table, &stacks->costs);
    snprintf(text, sizeof text, "%s (%s of the time) until the stacks are there, %s in all",
             text_duration((double)stacks->costs.take_ns / moments).s,
             text_percent(seconds > 0 ? (double)stacks->costs.take_ns / 1e9 / seconds : NAN).s,
             text_duration((double)stacks->costs.work_ns / moments).s);
    add_fact(table, "cost of a moment", text);
    if (find_coverage(trace, &coverage, &seen)) add_fact(table, "seen", coverage_seen_text(&seen, share, sizeof share));
    coverage_free(coverage);
}

// What the tracer stopped the JVM for at the beginning.
static void add_stops(struct table *table, const struct trace *trace) {
    char text[192];
    double largest = 0, sum = 0;
    if (trace->stop_count == 0) return;
    for (size_t i = 0; i < trace->stop_count; i++) {
        sum += (double)trace->stops[i].ns;
        if ((double)trace->stops[i].ns > largest) largest = (double)trace->stops[i].ns;
    }
    snprintf(text, sizeof text, "%s times as it came, %s at most, %s in all", text_count(trace->stop_count).s,
             text_duration(largest).s, text_duration(sum).s);
    add_fact(table, "stopped the JVM", text);
}

static bool write_facts(const struct trace *trace, struct error *error) {
    static const struct table_column columns[] = {{NULL, TABLE_LEFT}, {NULL, TABLE_LEFT}};
    const struct trace_header *header = &trace->header;
    char when[64], clock[96], cores[16], cost[96];
    struct table table = TABLE_INIT(columns);
    add_fact(&table, "origin", header->origin);
    add_fact(&table, "command", header->command);
    add_fact(&table, "JVM", header->jvm);
    add_fact(&table, "options", header->options && *header->options ? header->options : NULL);
    add_fact(&table, "recorded", time_of_day(header->start_unix_ns, when, sizeof when));
    snprintf(cores, sizeof cores, "%u", header->cores);
    add_fact(&table, "cores", cores);
    add_fact(&table, "clock", clock_text(header, clock, sizeof clock));
    add_fact(&table, "computing by", header->cycle_source);
    add_part(&table, trace);
    add_calling_contexts(&table, trace);
    add_sampled(&table, trace);
    if (trace->tells_costs) {
        snprintf(cost, sizeof cost, "%s of all threads' time, as measured in this run",
                 text_duration(tracer_cost_ns(trace)).s);
        add_fact(&table, "tracer's own cost", cost);
    }
    add_stops(&table, trace);
    bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    return ok;
}

static void write_verdict(const struct inspection *found, unsigned look) {
    const struct trace *trace = found->trace;
    const enum look_tone tone = found->damaged ? TONE_BAD : trace->whole ? TONE_GOOD : TONE_WARNING;
    printf("%s: %s", trace->path, look_begin(look, tone));
    if (found->damaged)
        fputs("DAMAGED", stdout);
    else
        fputs(trace->whole ? "whole" : "CUT SHORT", stdout);
    printf("%s, %s, %s events of %s threads\n", look_end(look, tone), text_bytes(trace->bytes).s,
           text_count(trace->event_count).s, text_count(trace->stream_count).s);
    if (!found->damaged && !trace->whole) puts("  its writer was killed; what follows is up to its last whole block");
    for (size_t i = 0; i < found->damage_count; i++)
        look_printf(stdout, look, 4, "  byte %s: %s", text_count(found->damage[i].offset).s, found->damage[i].what);
}

static bool write_pools(const struct trace *trace, struct error *error) {
    static const struct table_column columns[] = {{"pool", TABLE_LEFT},
                                                  {"core", TABLE_RIGHT},
                                                  {"maximum", TABLE_RIGHT},
                                                  {"queue", TABLE_LEFT},
                                                  {"kind", TABLE_LEFT}};
    struct table table = TABLE_INIT(columns);
    for (uint32_t i = 1; i < trace->pool_count; i++) {
        const struct trace_pool *pool = &trace->pools[i];
        table_add(&table, pool->name ? pool->name : "-");
        table_add(&table, text_number(pool->core).s);
        table_add(&table, text_number(pool->maximum).s);
        table_add(&table, pool->queue ? pool->queue : "-");
        table_add(&table, pool->kind ? pool->kind : "-");
    }
    if (table.cell_count > 0) putchar('\n');
    bool ok = table.cell_count == 0 || table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    return ok;
}

static bool write_text(const struct inspection *found, struct error *error) {
    const struct trace *trace = found->trace;
    write_verdict(found, terminal_look(stdout));
    if (!write_facts(trace, error) || !write_pools(trace, error)) return false;
    putchar('\n');
    return trace_summary_write(trace, stdout, terminal_look(stdout), error);
}

static int run(const struct operands *operands, struct error *error) {
    struct inspection found = {0};
    struct error output_error = ERROR_INIT;
    if (inspect(operands->items[0], &found, error) &&
        !(options.json ? write_json(&found, &output_error) : write_text(&found, &output_error))) {
        *error = output_error;
    }
    trace_close(found.trace);
    arena_destroy(&found.arena);
    return (int)error->status;
}

const struct command command_info = {
    .name = "info",
    .summary = "what was recorded, where, with what, and whether the file is whole",
    .usage = "TRACE [--wide] [--json]",
    .about =
        "Shows what TRACE holds: events by kind, threads, pools, clock, what the tracer could not weave, what was\n"
        "lost. A damaged file is read as far as it goes, its damage is listed, and the exit status is 3; a file\n"
        "whose writer was killed is good up to its last whole block, which is said.",
    .example = "  rehype info trace.msgpack",
    .options = specs,
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
