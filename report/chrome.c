// SPDX-License-Identifier: GPL-3.0-or-later
// A flow is bound to the slice around it (bp "e"), so that marks, too, are slices: of no length.
#include "report/chrome.h"

#include "report/escape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct chrome {
    FILE *file;
    const struct beside *run;
    bool any;
    bool any_detail;             // of the event at hand
    uint32_t thread;             // whose name was written last; DAG_NONE: none
    int32_t levels[STATE_COUNT]; // that were written last
};

// An event up to its phase; what follows are members, and "}".
static void begin_event(struct chrome *chrome, char phase, uint64_t tid, int64_t time_ns) {
    fprintf(chrome->file, "%s\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":%" PRId64 ".%03" PRId64,
            chrome->any ? "," : "", phase, chrome->run->pid, tid, time_ns / 1000, time_ns % 1000);
    chrome->any = true;
}

static void write_name(struct chrome *chrome, const char *name, const char *category) {
    fputs(",\"name\":", chrome->file);
    escape_json(chrome->file, name);
    fprintf(chrome->file, ",\"cat\":\"%s\"", category);
}

static void write_metadata(struct chrome *chrome, const char *what, uint64_t tid, const char *name) {
    begin_event(chrome, 'M', tid, 0);
    fprintf(chrome->file, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    escape_json(chrome->file, name);
    fputs("}}", chrome->file);
}

// ---- details

static void take_key(struct chrome *chrome, const char *key) {
    fprintf(chrome->file, "%s\"%s\":", chrome->any_detail ? "," : ",\"args\":{", key);
    chrome->any_detail = true;
}

static void take_text(void *context, const char *key, const char *text) {
    struct chrome *chrome = context;
    take_key(chrome, key);
    escape_json(chrome->file, text);
}

static void take_number(void *context, const char *key, uint64_t number) {
    struct chrome *chrome = context;
    take_key(chrome, key);
    fprintf(chrome->file, "%" PRIu64, number);
}

static void end_event(struct chrome *chrome) {
    fputs(chrome->any_detail ? "}}" : "}", chrome->file);
    chrome->any_detail = false;
}

// ---- slices

static void write_flow(struct chrome *chrome, const struct moment *moment, char phase, uint64_t flow) {
    begin_event(chrome, phase, beside_tid(chrome->run, moment->thread), moment->time_ns);
    write_name(chrome, "leads to", "flow");
    fprintf(chrome->file, ",\"bp\":\"e\",\"id\":%" PRIu64 "}", chrome->run->first_flow + flow);
}

static void write_flows(struct chrome *chrome, const struct moment *moment) {
    for (size_t i = 0; i < moment->flow_out_count; i++) write_flow(chrome, moment, 's', moment->flows_out[i]);
    if (moment->flow_in) write_flow(chrome, moment, 'f', moment->flow_in);
}

static void end_slice(struct chrome *chrome, const struct moment *moment) {
    begin_event(chrome, 'E', beside_tid(chrome->run, moment->thread), moment->time_ns);
    end_event(chrome);
}

static void write_begin(struct chrome *chrome, const struct moment *moment) {
    char text[SPAN_NAME_BYTES];
    const struct dag *dag = chrome->run->timeline->dag;
    const struct detail_taker taker = {chrome, take_text, take_number};
    begin_event(chrome, 'B', beside_tid(chrome->run, moment->thread), moment->time_ns);
    write_name(chrome, span_name(dag, &moment->span, text, sizeof text), span_kind_names[moment->span.kind]);
    span_details(dag, &moment->span, &taker);
    end_event(chrome);
    write_flows(chrome, moment);
}

static void write_mark(struct chrome *chrome, const struct moment *moment) {
    char text[SPAN_NAME_BYTES];
    const struct dag *dag = chrome->run->timeline->dag;
    begin_event(chrome, 'B', beside_tid(chrome->run, moment->thread), moment->time_ns);
    write_name(chrome, moment_name(dag, moment, text, sizeof text), "mark");
    if (moment->span.of != DAG_NONE) take_number(chrome, "task", dag->tasks[moment->span.of].id);
    end_event(chrome);
    write_flows(chrome, moment);
    end_slice(chrome, moment);
}

static void write_moment(void *context, const struct moment *moment) {
    struct chrome *chrome = context;
    char name[SPAN_NAME_BYTES];
    if (chrome->thread != moment->thread) {
        chrome->thread = moment->thread;
        write_metadata(chrome, "thread_name", beside_tid(chrome->run, moment->thread),
                       timeline_thread_name(chrome->run->timeline, moment->thread, name, sizeof name));
    }
    if (moment->kind == MOMENT_BEGIN) write_begin(chrome, moment);
    if (moment->kind == MOMENT_END) end_slice(chrome, moment);
    if (moment->kind == MOMENT_MARK) write_mark(chrome, moment);
}

// ---- what is of no thread

static void write_level(struct chrome *chrome, int64_t time_ns, int state) {
    begin_event(chrome, 'C', chrome->run->pid, time_ns);
    fprintf(chrome->file, ",\"name\":\"threads %s\",\"args\":{\"threads\":%" PRId32 "}}", thread_state_names[state],
            chrome->levels[state]);
}

static void write_levels(void *context, int64_t time_ns, const int32_t levels[STATE_COUNT]) {
    struct chrome *chrome = context;
    for (int s = 0; s < STATE_COUNT; s++) {
        if (levels[s] == chrome->levels[s]) continue;
        chrome->levels[s] = levels[s];
        write_level(chrome, time_ns, s);
    }
}

// From the window's beginning to its end, between which they change.
static void write_all_levels(struct chrome *chrome) {
    const struct timeline *timeline = chrome->run->timeline;
    memset(chrome->levels, 0, sizeof chrome->levels);
    for (int s = 0; s < STATE_COUNT; s++) write_level(chrome, timeline->from_ns, s);
    timeline_visit_levels(timeline, write_levels, chrome);
    for (int s = 0; s < STATE_COUNT; s++) write_level(chrome, timeline->to_ns, s);
}

static void write_counter(struct chrome *chrome, int64_t time_ns, const char *name, const char *unit, double value) {
    begin_event(chrome, 'C', chrome->run->pid, time_ns);
    fprintf(chrome->file, ",\"name\":\"%s\",\"args\":{\"%s\":%.6g}}", name, unit, value);
}

static void write_machine(void *context, const struct machine_use *use) {
    struct chrome *chrome = context;
    write_counter(chrome, use->from_ns, "CPU of the process", "cores", use->process_cores);
    write_counter(chrome, use->from_ns, "CPU of the machine", "cores", use->machine_cores);
    if (!isnan(use->compiler_cores))
        write_counter(chrome, use->from_ns, "CPU of the JVM's compilers", "cores", use->compiler_cores);
    write_counter(chrome, use->from_ns, "context switches", "per second", use->switches_per_s);
}

// On a track that no thread has: that of the process's own number.
static void write_pause(void *context, int64_t from_ns, int64_t to_ns) {
    struct chrome *chrome = context;
    begin_event(chrome, 'B', chrome->run->pid, from_ns);
    write_name(chrome, "GC pause", "pause");
    end_event(chrome);
    begin_event(chrome, 'E', chrome->run->pid, to_ns);
    end_event(chrome);
}

static bool write_run(struct chrome *chrome, const struct beside *run, struct error *error) {
    char name[SPAN_NAME_BYTES];
    const struct timeline *timeline = run->timeline;
    chrome->run = run;
    chrome->thread = DAG_NONE;
    write_metadata(chrome, "process_name", run->pid, beside_name(run, name, sizeof name));
    if (timeline->dag->pause_count) write_metadata(chrome, "thread_name", run->pid, "GC pauses");
    timeline_visit_pauses(timeline, write_pause, chrome);
    if (!timeline_visit(timeline, write_moment, chrome, error)) return false;
    write_all_levels(chrome);
    timeline_visit_machine(timeline, write_machine, chrome);
    return true;
}

bool chrome_write(const struct beside *runs, size_t count, FILE *file, struct error *error) {
    struct chrome chrome = {.file = file};
    bool ok = true;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file);
    for (size_t i = 0; ok && i < count; i++) ok = write_run(&chrome, &runs[i], error);
    fputs("\n]}\n", file);
    return ok;
}
