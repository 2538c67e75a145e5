// SPDX-License-Identifier: GPL-3.0-or-later
// Names, keys and texts that come again are written once, with a number each, in the packet that needs them first
// (InternedData). All packets are of one sequence; their order in the file is not that of time, by which the reader
// sorts them.
#include "report/perfetto.h"

#include "report/interned.h"
#include "report/protobuf.h"

#include <math.h>
#include <string.h>

// Field numbers: github.com/google/perfetto, protos/perfetto/trace/.
enum { TRACE_PACKET = 1 };
enum { // trace_packet.proto
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
};
enum { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum { // track_event/track_descriptor.proto
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8 }; // track_event/process_descriptor.proto
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };       // track_event/thread_descriptor.proto
enum { COUNTER_UNIT_NAME = 6 };                                 // track_event/counter_descriptor.proto
enum {                                                          // track_event/track_event.proto
    EVENT_CATEGORY_IIDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_COUNTER_DOUBLE = 44,
    EVENT_FLOWS = 47,
    EVENT_FLOWS_ENDING = 48,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_NUMBER = 3, ANNOTATION_TEXT_IID = 17 }; // track_event/debug_annotation.proto
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };                                      // interned_data/interned_data.proto

// What is interned, and its field in InternedData.
enum table { TABLE_CATEGORIES, TABLE_NAMES, TABLE_KEYS, TABLE_TEXTS, TABLES };
static const uint32_t interned_fields[TABLES] = {1, 2, 3, 29};

enum { DETAILS_MOST = 16 };

struct detail {
    uint32_t key;
    bool is_text;
    uint64_t value; // a number, or a text's
};

struct perfetto {
    FILE *file;
    struct protobuf packet;
    struct interned interned[TABLES];
    uint32_t written[TABLES]; // of the interned
    struct detail details[DETAILS_MOST];
    uint32_t detail_count;
    bool any_packet, no_memory;
    const struct beside *run;
    uint32_t thread;             // whose descriptor was written last; DAG_NONE: none
    int32_t levels[STATE_COUNT]; // that were written last
};

// Tracks of a run beside its threads'.
enum { TRACK_OF_PROCESS, TRACK_OF_PAUSES, TRACK_OF_LEVELS, TRACK_OF_MACHINE = TRACK_OF_LEVELS + STATE_COUNT };

static uint32_t intern(struct perfetto *perfetto, enum table table, const char *text) {
    const uint32_t number = interned_number(&perfetto->interned[table], text);
    perfetto->no_memory |= number == 0;
    return number;
}

// ---- packets

// What was interned since the packet before.
static void write_interned(struct perfetto *perfetto) {
    struct protobuf *packet = &perfetto->packet;
    const size_t data = protobuf_open(packet, PACKET_INTERNED_DATA);
    for (int t = 0; t < TABLES; t++) {
        const struct interned *interned = &perfetto->interned[t];
        for (uint32_t *n = &perfetto->written[t]; *n < interned->count;) {
            const size_t entry = protobuf_open(packet, interned_fields[t]);
            protobuf_text(packet, INTERNED_TEXT, interned->texts[*n]);
            protobuf_number(packet, INTERNED_IID, ++*n);
            protobuf_close(packet, entry);
        }
    }
    protobuf_close(packet, data);
}

static void end_packet(struct perfetto *perfetto) {
    bool any_new = false;
    for (int t = 0; t < TABLES; t++) any_new |= perfetto->written[t] < perfetto->interned[t].count;
    if (any_new) write_interned(perfetto);
    protobuf_number(&perfetto->packet, PACKET_SEQUENCE_ID, 1);
    protobuf_number(&perfetto->packet, PACKET_SEQUENCE_FLAGS,
                    perfetto->any_packet ? SEQUENCE_NEEDS_STATE : SEQUENCE_STATE_CLEARED);
    perfetto->any_packet = true;
    perfetto->no_memory |= perfetto->packet.failed;
    protobuf_flush(&perfetto->packet, TRACE_PACKET, perfetto->file);
}

static size_t begin_event(struct perfetto *perfetto, int64_t time_ns, unsigned type, uint64_t track) {
    protobuf_number(&perfetto->packet, PACKET_TIMESTAMP, (uint64_t)time_ns);
    const size_t event = protobuf_open(&perfetto->packet, PACKET_TRACK_EVENT);
    protobuf_number(&perfetto->packet, EVENT_TYPE, type);
    protobuf_number(&perfetto->packet, EVENT_TRACK, track);
    return event;
}

static void end_event(struct perfetto *perfetto, size_t event) {
    protobuf_close(&perfetto->packet, event);
    end_packet(perfetto);
}

// ---- tracks

static void describe_process(struct perfetto *perfetto) {
    char name[SPAN_NAME_BYTES];
    struct protobuf *packet = &perfetto->packet;
    const struct trace *trace = perfetto->run->timeline->dag->trace;
    const size_t track = protobuf_open(packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_number(packet, TRACK_UUID, perfetto->run->first_track + TRACK_OF_PROCESS);
    const size_t process = protobuf_open(packet, TRACK_PROCESS);
    protobuf_number(packet, PROCESS_PID, perfetto->run->pid);
    protobuf_text(packet, PROCESS_NAME, beside_name(perfetto->run, name, sizeof name));
    if (trace->header.jvm) protobuf_text(packet, PROCESS_LABELS, trace->header.jvm);
    protobuf_close(packet, process);
    protobuf_close(packet, track);
    end_packet(perfetto);
}

static void describe_thread(struct perfetto *perfetto, uint32_t thread) {
    char name[SPAN_NAME_BYTES];
    struct protobuf *packet = &perfetto->packet;
    const size_t track = protobuf_open(packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_number(packet, TRACK_UUID, beside_track(perfetto->run, thread));
    const size_t its = protobuf_open(packet, TRACK_THREAD);
    protobuf_number(packet, THREAD_PID, perfetto->run->pid);
    protobuf_number(packet, THREAD_TID, beside_tid(perfetto->run, thread));
    protobuf_text(packet, THREAD_NAME, timeline_thread_name(perfetto->run->timeline, thread, name, sizeof name));
    protobuf_close(packet, its);
    protobuf_close(packet, track);
    end_packet(perfetto);
    perfetto->thread = thread;
}

// unit: NULL of what is no counter.
static void describe_track(struct perfetto *perfetto, unsigned index, const char *name, const char *unit) {
    struct protobuf *packet = &perfetto->packet;
    const size_t track = protobuf_open(packet, PACKET_TRACK_DESCRIPTOR);
    protobuf_number(packet, TRACK_UUID, perfetto->run->first_track + index);
    protobuf_number(packet, TRACK_PARENT, perfetto->run->first_track + TRACK_OF_PROCESS);
    protobuf_text(packet, TRACK_NAME, name);
    if (unit) {
        const size_t counter = protobuf_open(packet, TRACK_COUNTER);
        protobuf_text(packet, COUNTER_UNIT_NAME, unit);
        protobuf_close(packet, counter);
    }
    protobuf_close(packet, track);
    end_packet(perfetto);
}

// ---- slices

static void take_detail(struct perfetto *perfetto, const char *key, bool is_text, uint64_t value) {
    if (perfetto->detail_count == DETAILS_MOST) return;
    perfetto->details[perfetto->detail_count++] = (struct detail){intern(perfetto, TABLE_KEYS, key), is_text, value};
}

static void take_text(void *context, const char *key, const char *text) {
    take_detail(context, key, true, intern(context, TABLE_TEXTS, text));
}

static void take_number(void *context, const char *key, uint64_t number) {
    take_detail(context, key, false, number);
}

static void write_details(struct perfetto *perfetto) {
    for (uint32_t i = 0; i < perfetto->detail_count; i++) {
        const struct detail *detail = &perfetto->details[i];
        const size_t annotation = protobuf_open(&perfetto->packet, EVENT_ANNOTATIONS);
        protobuf_number(&perfetto->packet, ANNOTATION_NAME_IID, detail->key);
        protobuf_number(&perfetto->packet, detail->is_text ? ANNOTATION_TEXT_IID : ANNOTATION_NUMBER, detail->value);
        protobuf_close(&perfetto->packet, annotation);
    }
    perfetto->detail_count = 0;
}

static void write_flows(struct perfetto *perfetto, const struct moment *moment) {
    const uint64_t first = perfetto->run->first_flow;
    for (size_t i = 0; i < moment->flow_out_count; i++)
        protobuf_fixed64(&perfetto->packet, EVENT_FLOWS, first + moment->flows_out[i]);
    if (moment->flow_in) protobuf_fixed64(&perfetto->packet, EVENT_FLOWS_ENDING, first + moment->flow_in);
}

static void write_moment(void *context, const struct moment *moment) {
    struct perfetto *perfetto = context;
    const struct dag *dag = perfetto->run->timeline->dag;
    const uint64_t track = beside_track(perfetto->run, moment->thread);
    if (perfetto->thread != moment->thread) describe_thread(perfetto, moment->thread);
    if (moment->kind == MOMENT_END) {
        end_event(perfetto, begin_event(perfetto, moment->time_ns, TYPE_SLICE_END, track));
        return;
    }
    char text[SPAN_NAME_BYTES];
    const bool is_mark = moment->kind == MOMENT_MARK;
    const struct detail_taker taker = {perfetto, take_text, take_number};
    const uint32_t name = intern(perfetto, TABLE_NAMES, moment_name(dag, moment, text, sizeof text));
    const uint32_t category = intern(perfetto, TABLE_CATEGORIES, is_mark ? "mark" : span_kind_names[moment->span.kind]);
    if (!is_mark) span_details(dag, &moment->span, &taker);
    if (is_mark && moment->span.of != DAG_NONE) take_number(perfetto, "task", dag->tasks[moment->span.of].id);
    const size_t event = begin_event(perfetto, moment->time_ns, is_mark ? TYPE_INSTANT : TYPE_SLICE_BEGIN, track);
    protobuf_number(&perfetto->packet, EVENT_NAME_IID, name);
    protobuf_number(&perfetto->packet, EVENT_CATEGORY_IIDS, category);
    write_details(perfetto);
    write_flows(perfetto, moment);
    end_event(perfetto, event);
}

static void write_pause(void *context, int64_t from_ns, int64_t to_ns) {
    struct perfetto *perfetto = context;
    const uint64_t track = perfetto->run->first_track + TRACK_OF_PAUSES;
    const uint32_t name = intern(perfetto, TABLE_NAMES, "GC pause");
    const size_t event = begin_event(perfetto, from_ns, TYPE_SLICE_BEGIN, track);
    protobuf_number(&perfetto->packet, EVENT_NAME_IID, name);
    end_event(perfetto, event);
    end_event(perfetto, begin_event(perfetto, to_ns, TYPE_SLICE_END, track));
}

// ---- counters

static void write_level(struct perfetto *perfetto, int64_t time_ns, int state) {
    const uint64_t track = perfetto->run->first_track + TRACK_OF_LEVELS + (unsigned)state;
    const size_t event = begin_event(perfetto, time_ns, TYPE_COUNTER, track);
    protobuf_number(&perfetto->packet, EVENT_COUNTER_VALUE, (uint64_t)(int64_t)perfetto->levels[state]);
    end_event(perfetto, event);
}

static void write_levels(void *context, int64_t time_ns, const int32_t levels[STATE_COUNT]) {
    struct perfetto *perfetto = context;
    for (int s = 0; s < STATE_COUNT; s++) {
        if (levels[s] == perfetto->levels[s]) continue;
        perfetto->levels[s] = levels[s];
        write_level(perfetto, time_ns, s);
    }
}

// From the window's beginning to its end, between which they change.
static void write_all_levels(struct perfetto *perfetto) {
    const struct timeline *timeline = perfetto->run->timeline;
    memset(perfetto->levels, 0, sizeof perfetto->levels);
    for (int s = 0; s < STATE_COUNT; s++) {
        char name[64];
        snprintf(name, sizeof name, "threads %s", thread_state_names[s]);
        describe_track(perfetto, TRACK_OF_LEVELS + (unsigned)s, name, "threads");
        write_level(perfetto, timeline->from_ns, s);
    }
    timeline_visit_levels(timeline, write_levels, perfetto);
    for (int s = 0; s < STATE_COUNT; s++) write_level(perfetto, timeline->to_ns, s);
}

static void write_machine(void *context, const struct machine_use *use) {
    struct perfetto *perfetto = context;
    const double values[] = {use->process_cores, use->machine_cores, use->switches_per_s, use->compiler_cores};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        const uint64_t track = perfetto->run->first_track + TRACK_OF_MACHINE + i;
        if (isnan(values[i])) continue;
        const size_t event = begin_event(perfetto, use->from_ns, TYPE_COUNTER, track);
        protobuf_double(&perfetto->packet, EVENT_COUNTER_DOUBLE, values[i]);
        end_event(perfetto, event);
    }
}

static bool write_run(struct perfetto *perfetto, const struct beside *run, struct error *error) {
    const struct timeline *timeline = run->timeline;
    perfetto->run = run;
    perfetto->thread = DAG_NONE;
    describe_process(perfetto);
    if (!timeline_visit(timeline, write_moment, perfetto, error)) return false;
    write_all_levels(perfetto);
    if (timeline->dag->sample_count > 1 && work_is_recorded(timeline->dag->trace)) {
        describe_track(perfetto, TRACK_OF_MACHINE, "CPU of the process", "cores");
        describe_track(perfetto, TRACK_OF_MACHINE + 1, "CPU of the machine", "cores");
        describe_track(perfetto, TRACK_OF_MACHINE + 2, "context switches", "per second");
        if (timeline->dag->trace->events_of_kind[EVENT_COMPILING])
            describe_track(perfetto, TRACK_OF_MACHINE + 3, "CPU of the JVM's compilers", "cores");
        timeline_visit_machine(timeline, write_machine, perfetto);
    }
    if (timeline->dag->pause_count) describe_track(perfetto, TRACK_OF_PAUSES, "GC pauses", NULL);
    timeline_visit_pauses(timeline, write_pause, perfetto);
    return true;
}

bool perfetto_write(const struct beside *runs, size_t count, FILE *file, struct error *error) {
    struct perfetto perfetto = {.file = file};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = write_run(&perfetto, &runs[i], error);
    if (ok && perfetto.no_memory) ok = error_set(error, STATUS_FAILED, "no memory for a packet of the file");
    protobuf_destroy(&perfetto.packet);
    for (int t = 0; t < TABLES; t++) interned_destroy(&perfetto.interned[t]);
    return ok;
}
