// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/export.h"

#include "report/csv.h"
#include "report/json.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- CSV

enum operand_type {
    OPERAND_NONE,
    OPERAND_TASK,
    OPERAND_POOL,
    OPERAND_METHOD,
    OPERAND_SITE,
    OPERAND_CLASS,
    OPERAND_CPU,
    OPERAND_SPAWN_OUTCOME,
    OPERAND_TASK_OUTCOME,
    OPERAND_WAIT, // wait_operand; says what operand 0 is
    OPERAND_LOCK,
    OPERAND_SAMPLE,    // and the two after it
    OPERAND_COMPILING, // likewise
    OPERAND_COUNT,
    OPERAND_RESOURCE,
    OPERAND_WANT,
    OPERAND_GIVEN_UP,
    OPERAND_DUE, // and the one after it
    OPERAND_ACTOR,
    OPERAND_MESSAGE_CLASS,   // of message_operand
    OPERAND_MESSAGE_OUTCOME, // enum message_outcome
    OPERAND_INIT_CLASS,      // of init_operand
    OPERAND_ENDPOINT,
    OPERAND_REQUEST_OUTCOME, // enum request_outcome
};

static const uint8_t operand_types[EVENT_KINDS][EVENT_OPERANDS] = {
    [EVENT_ENTER] = {OPERAND_METHOD},
    [EVENT_EXIT] = {OPERAND_METHOD},
    [EVENT_EXIT_THROW] = {OPERAND_METHOD},
    [EVENT_TASK_CREATED] = {OPERAND_TASK, OPERAND_CLASS},
    [EVENT_SPAWN_BEGIN] = {OPERAND_TASK, OPERAND_SITE, OPERAND_POOL},
    [EVENT_SPAWN_END] = {OPERAND_TASK, OPERAND_SPAWN_OUTCOME},
    [EVENT_TASK_START] = {OPERAND_TASK, OPERAND_CPU},
    [EVENT_TASK_END] = {OPERAND_TASK, OPERAND_CPU, OPERAND_TASK_OUTCOME},
    [EVENT_RESULT] = {OPERAND_TASK},
    [EVENT_WAIT_BEGIN] = {OPERAND_TASK, OPERAND_CPU, OPERAND_WAIT},
    [EVENT_WAIT_END] = {OPERAND_TASK, OPERAND_CPU},
    [EVENT_TAKEN] = {OPERAND_TASK},
    [EVENT_WORKER_BEGIN] = {OPERAND_POOL},
    [EVENT_IDLE] = {OPERAND_POOL},
    [EVENT_BUSY] = {OPERAND_POOL},
    [EVENT_RETIRE] = {OPERAND_POOL},
    [EVENT_POOL_SHUTDOWN] = {OPERAND_POOL},
    [EVENT_THREAD_START] = {OPERAND_TASK, OPERAND_CPU},
    [EVENT_THREAD_END] = {OPERAND_TASK, OPERAND_CPU},
    [EVENT_MAIN_BEGIN] = {OPERAND_TASK},
    [EVENT_LOST] = {OPERAND_COUNT},
    [EVENT_RUN_DELAY] = {OPERAND_COUNT},
    [EVENT_BLOCK_BEGIN] = {OPERAND_LOCK, OPERAND_CPU, OPERAND_CLASS},
    [EVENT_BLOCK_END] = {OPERAND_LOCK, OPERAND_CPU},
    [EVENT_SAMPLE] = {OPERAND_SAMPLE},
    [EVENT_MOUNT] = {OPERAND_COUNT, OPERAND_CPU},
    [EVENT_UNMOUNT] = {OPERAND_COUNT, OPERAND_CPU},
    [EVENT_BYTECODES] = {OPERAND_COUNT},
    [EVENT_ACQUIRE_BEGIN] = {OPERAND_RESOURCE, OPERAND_CPU, OPERAND_WANT},
    [EVENT_ACQUIRED] = {OPERAND_RESOURCE, OPERAND_CPU},
    [EVENT_GIVEN_UP] = {OPERAND_RESOURCE, OPERAND_CPU, OPERAND_GIVEN_UP},
    [EVENT_HELD] = {OPERAND_RESOURCE, OPERAND_WANT},
    [EVENT_RELEASED] = {OPERAND_RESOURCE, OPERAND_WANT},
    [EVENT_LIMIT] = {OPERAND_COUNT},
    [EVENT_DUE] = {OPERAND_TASK, OPERAND_DUE},
    [EVENT_TIMED_OUT] = {OPERAND_TASK},
    [EVENT_MESSAGE_SENT] = {OPERAND_TASK, OPERAND_ACTOR, OPERAND_MESSAGE_CLASS},
    [EVENT_MESSAGE_QUEUED] = {OPERAND_TASK, OPERAND_ACTOR},
    [EVENT_MESSAGE_BEGIN] = {OPERAND_TASK, OPERAND_CPU, OPERAND_ACTOR},
    [EVENT_MESSAGE_END] = {OPERAND_TASK, OPERAND_CPU, OPERAND_MESSAGE_OUTCOME},
    [EVENT_DEAD_LETTER] = {OPERAND_TASK},
    [EVENT_ACTOR_CREATED] = {OPERAND_ACTOR, OPERAND_ACTOR, OPERAND_CLASS},
    [EVENT_INIT_BEGIN] = {OPERAND_ACTOR, OPERAND_CPU},
    [EVENT_INIT_END] = {OPERAND_ACTOR, OPERAND_CPU, OPERAND_INIT_CLASS},
    [EVENT_ACTOR_STOPPED] = {OPERAND_ACTOR},
    [EVENT_ACTOR_RESTARTED] = {OPERAND_ACTOR},
    [EVENT_UPKEEP_BEGIN] = {OPERAND_ACTOR, OPERAND_CPU},
    [EVENT_UPKEEP_END] = {OPERAND_ACTOR, OPERAND_CPU},
    [EVENT_REQUEST_BEGIN] = {OPERAND_TASK, OPERAND_CPU},
    [EVENT_REQUEST_NAMED] = {OPERAND_TASK, OPERAND_ENDPOINT},
    [EVENT_REQUEST_END] = {OPERAND_TASK, OPERAND_CPU, OPERAND_REQUEST_OUTCOME},
    [EVENT_REQUEST_LEFT] = {OPERAND_TASK},
    [EVENT_REQUEST_RESUMED] = {OPERAND_TASK},
    [EVENT_COMPILING] = {OPERAND_COMPILING},
    [EVENT_TURNS] = {OPERAND_COUNT},
    [EVENT_ALLOCATED] = {OPERAND_COUNT},
};

// A row of the CSV. Ids are 0, and text is NULL or empty, where the event has none.
struct csv_row {
    uint64_t task, pool, cpu;
    bool has_cpu;
    const char *class_name;
    struct text_place method, site;
    const char *detail;
    char numbers[96]; // what detail may be
};

static void fill_site(struct csv_row *row, const struct trace *trace, uint32_t id) {
    if (id == 0 || id >= trace->site_count) return;
    const struct trace_site *site = &trace->sites[id];
    snprintf(row->site.s, sizeof row->site.s, "%s.%s:%" PRIu32, site->class_name ? site->class_name : "?",
             site->method ? site->method : "?", site->line);
}

static void fill_wait(struct csv_row *row, const struct trace *trace, const struct event *event, uint64_t value) {
    static const char *const names[] = {"for a task", "for a pool's end", "for what isn't known", "for a release"};
    enum wait_for what = wait_for_of(value);
    row->detail = names[what];
    if (wait_class_of(value)) row->class_name = trace->classes[wait_class_of(value)].name;
    if (what != WAIT_FOR_TASK) row->task = 0;
    if (what == WAIT_FOR_POOL) row->pool = event->operand[0];
    fill_site(row, trace, (uint32_t)value);
}

static const char *task_outcome_name(uint64_t outcome) {
    static const char *const names[] = {"returned", "threw", "cancelled"};
    return outcome < sizeof names / sizeof *names ? names[outcome] : NULL;
}

static const char *message_outcome_name(uint64_t outcome) {
    static const char *const names[MESSAGE_OUTCOMES] = {"handled", "threw", "unhandled", "put aside"};
    return names[outcome];
}

static void fill_resource(struct csv_row *row, const struct trace *trace, uint64_t id) {
    const struct trace_resource *resource = trace_resource(trace, id);
    snprintf(row->numbers, sizeof row->numbers, "resource %" PRIu64, id);
    row->detail = row->numbers;
    if (resource && resource->class) row->class_name = trace->classes[resource->class].name;
    if (resource && resource->name) row->detail = resource->name;
}

// Behind which resource it is.
static void fill_given_up(struct csv_row *row, uint64_t why) {
    static const char *const names[] = {"time up", "interrupted", "other"};
    char resource[sizeof row->numbers];
    snprintf(resource, sizeof resource, "%s", row->detail);
    snprintf(row->numbers, sizeof row->numbers, "%.70s, %s", resource, names[why]);
    row->detail = row->numbers;
}

static void fill_class(struct csv_row *row, const struct trace *trace, uint64_t id) {
    if (id > 0 && id < trace->class_count) row->class_name = trace->classes[id].name;
}

// Of several that an event names, the first.
static void fill_actor(struct csv_row *row, const struct trace *trace, uint64_t id) {
    const char *name = trace_actor_name(trace, id);
    if (row->detail || id == 0) return;
    snprintf(row->numbers, sizeof row->numbers, "actor %" PRIu64 "%s%.60s", id, name ? " " : "", name ? name : "");
    row->detail = row->numbers;
}

// What is told in numbers alone.
static void fill_numbers(struct csv_row *row, const struct event *event, int index) {
    const uint64_t value = event->operand[index], *operand = event->operand;
    char *text = row->numbers;
    const size_t size = sizeof row->numbers;
    switch ((enum operand_type)operand_types[event->kind][index]) {
    case OPERAND_LOCK:
        snprintf(text, size, "lock %" PRIu64, value);
        break;
    case OPERAND_SAMPLE:
        snprintf(text, size, "process %" PRIu64 ", machine %" PRIu64 ", switches %" PRIu64, value, operand[1],
                 operand[2]);
        break;
    case OPERAND_COMPILING:
        snprintf(text, size, "computed %" PRIu64 ", waited %" PRIu64 ", threads %" PRIu64, value, operand[1],
                 operand[2]);
        break;
    case OPERAND_DUE:
        snprintf(text, size, "in %" PRId64 " ns, period %" PRId64 " ns", (int64_t)value, (int64_t)operand[2]);
        break;
    default:
        snprintf(text, size, "%" PRIu64, value);
    }
    row->detail = text;
}

// NULL: the operand is no outcome.
static const char *outcome_name(enum operand_type type, uint64_t value) {
    switch (type) {
    case OPERAND_MESSAGE_OUTCOME:
        return message_outcome_name(value);
    case OPERAND_REQUEST_OUTCOME:
        return value == REQUEST_FAILED ? "failed" : "answered";
    case OPERAND_SPAWN_OUTCOME:
        return value == SPAWN_ACCEPTED ? "accepted" : "rejected";
    case OPERAND_TASK_OUTCOME:
        return task_outcome_name(value);
    default:
        return NULL;
    }
}

static void fill_operand(struct csv_row *row, const struct trace *trace, const struct event *event, int index) {
    uint64_t value = event->operand[index];
    const enum operand_type type = (enum operand_type)operand_types[event->kind][index];
    switch (type) {
    case OPERAND_NONE:
        break;
    case OPERAND_TASK:
        row->task = value;
        break;
    case OPERAND_POOL:
        row->pool = value;
        break;
    case OPERAND_METHOD:
        if (value > 0 && value < trace->method_count) {
            row->method = text_method(trace->methods[value].class_name, trace->methods[value].name);
        }
        break;
    case OPERAND_SITE:
        fill_site(row, trace, (uint32_t)value);
        break;
    case OPERAND_CLASS:
        fill_class(row, trace, value);
        break;
    case OPERAND_ACTOR:
        fill_actor(row, trace, value);
        break;
    case OPERAND_MESSAGE_CLASS:
        fill_class(row, trace, message_class(value));
        break;
    case OPERAND_MESSAGE_OUTCOME:
    case OPERAND_REQUEST_OUTCOME:
    case OPERAND_SPAWN_OUTCOME:
    case OPERAND_TASK_OUTCOME:
        row->detail = outcome_name(type, value);
        break;
    case OPERAND_INIT_CLASS:
        fill_class(row, trace, init_class(value));
        if (init_outcome(value) == INIT_FAILED) row->detail = "failed";
        break;
    case OPERAND_ENDPOINT:
        row->detail = trace->endpoints[value].name;
        break;
    case OPERAND_CPU:
        row->cpu = value;
        row->has_cpu = value != 0;
        break;
    case OPERAND_WAIT:
        fill_wait(row, trace, event, value);
        break;
    case OPERAND_LOCK:
    case OPERAND_SAMPLE:
    case OPERAND_COMPILING:
    case OPERAND_DUE:
    case OPERAND_COUNT:
        fill_numbers(row, event, index);
        break;
    case OPERAND_RESOURCE:
        fill_resource(row, trace, value);
        break;
    case OPERAND_WANT:
        fill_site(row, trace, want_site(value));
        break;
    case OPERAND_GIVEN_UP:
        fill_given_up(row, value);
        break;
    }
}

static void write_id(FILE *file, uint64_t id, bool known) {
    if (known) fprintf(file, "%" PRIu64, id);
    putc(',', file);
}

static void write_field(FILE *file, const char *text) {
    csv_text(file, text);
    putc(',', file);
}

static void write_csv_event(FILE *file, const struct trace_cursor *cursor, const struct event *event, bool first) {
    struct csv_row row = {0};
    for (int i = 0; i < EVENT_OPERANDS; i++) fill_operand(&row, cursor->trace, event, i);
    fprintf(file, "%" PRIu32 ",", cursor->stream->id);
    write_field(file, cursor->stream->thread.name);
    fprintf(file, "%" PRIu64 ",", event->time);
    write_field(file, event_kind_info(event->kind)->name);
    write_id(file, row.task, row.task != 0);
    write_id(file, row.pool, row.pool != 0);
    write_field(file, row.method.s);
    write_field(file, row.site.s);
    write_field(file, row.class_name);
    write_id(file, row.cpu, row.has_cpu);
    csv_text(file, row.detail);
    putc('\n', file);
}

// ---- Every event of the trace

typedef void write_event(FILE *file, const struct trace_cursor *cursor, const struct event *event, bool first);

static bool is_within(const struct window *window, const struct event *event) {
    return (int64_t)event->time >= window->from_ns && (int64_t)event->time <= window->to_ns;
}

static bool write_events(const struct trace *trace, const struct window *window, FILE *file, write_event *write,
                         struct error *error) {
    bool first = true;
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct trace_cursor cursor;
        struct event event;
        trace_cursor_init(&cursor, trace, &trace->streams[i]);
        while (!ferror(file) && trace_cursor_next(&cursor, &event, error)) {
            if (!is_within(window, &event)) continue;
            write(file, &cursor, &event, first);
            first = false;
        }
        if (error->status != STATUS_OK) return false;
    }
    return true;
}

bool export_csv(const struct trace *trace, const struct window *window, FILE *file, struct error *error) {
    fputs("thread,thread_name,time_ns,kind,task,pool,method,site,class,cpu,detail\n", file);
    return write_events(trace, window, file, write_csv_event, error);
}

// ---- JSON: tables by cJSON, tasks and events, of which there may be millions, one at a time

static cJSON *header_of(const struct trace *trace) {
    const struct trace_header *header = &trace->header;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "version", json_integer(trace->version));
    cJSON_AddItemToObject(object, "origin", json_text(header->origin));
    cJSON_AddItemToObject(object, "jvm", json_text(header->jvm));
    cJSON_AddItemToObject(object, "command", json_text(header->command));
    cJSON_AddItemToObject(object, "options", json_text(header->options));
    cJSON_AddItemToObject(object, "clock", json_text(header->clock));
    cJSON_AddItemToObject(object, "start_unix_ns", json_integer((int64_t)header->start_unix_ns));
    cJSON_AddItemToObject(object, "cores", json_integer(header->cores));
    cJSON_AddItemToObject(object, "pid", json_integer(header->pid));
    cJSON_AddItemToObject(object, "cycle_unit", json_text(header->cycle_unit));
    cJSON_AddItemToObject(object, "cycle_source", json_text(header->cycle_source));
    return object;
}

static cJSON *threads_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct trace_stream *stream = &trace->streams[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObject(object, "id", json_integer(stream->id));
        cJSON_AddItemToObject(object, "name", json_text(stream->thread.name));
        cJSON_AddBoolToObject(object, "system", (stream->thread.flags & THREAD_SYSTEM) != 0);
        cJSON_AddBoolToObject(object, "daemon", (stream->thread.flags & THREAD_DAEMON) != 0);
        cJSON_AddBoolToObject(object, "virtual", (stream->thread.flags & THREAD_VIRTUAL) != 0);
        cJSON_AddItemToObject(object, "events", json_integer((int64_t)stream->event_count));
        cJSON_AddItemToObject(object, "lost_events", json_integer((int64_t)stream->lost_events));
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static cJSON *methods_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->method_count; i++) {
        const struct trace_method *method = &trace->methods[i];
        const struct trace_site place = {.class_name = method->class_name,
                                         .method = method->name,
                                         .descriptor = method->descriptor,
                                         .file = method->file,
                                         .line = method->line,
                                         .bci = -1};
        cJSON_AddItemToArray(array, json_place(&place));
    }
    return array;
}

static cJSON *sites_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->site_count; i++) cJSON_AddItemToArray(array, json_place(&trace->sites[i]));
    return array;
}

static cJSON *classes_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->class_count; i++) cJSON_AddItemToArray(array, json_text(trace->classes[i].name));
    return array;
}

static cJSON *endpoints_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->endpoint_count; i++)
        cJSON_AddItemToArray(array, json_text(trace->endpoints[i].name));
    return array;
}

static cJSON *pool_of(const struct trace_pool *pool) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "name", json_text(pool->name));
    cJSON_AddItemToObject(object, "kind", json_text(pool->kind));
    cJSON_AddItemToObject(object, "core", json_integer(pool->core));
    cJSON_AddItemToObject(object, "maximum", json_integer(pool->maximum));
    cJSON_AddItemToObject(object, "queue", json_text(pool->queue));
    cJSON_AddItemToObject(object, "capacity", pool->capacity >= 0 ? json_integer(pool->capacity) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "keep_alive_ns",
                          pool->keep_alive_ns >= 0 ? json_integer(pool->keep_alive_ns) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "rejection", json_text(pool->rejection));
    cJSON_AddBoolToObject(object, "core_times_out", pool->flags & POOL_CORE_TIMES_OUT);
    cJSON_AddBoolToObject(object, "grows_first", pool->flags & POOL_GROWS_FIRST);
    return object;
}

static cJSON *pools_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < trace->pool_count; i++) {
        cJSON_AddItemToArray(array, i == 0 ? cJSON_CreateNull() : pool_of(&trace->pools[i]));
    }
    return array;
}

// [id, name]
static cJSON *actors_of(const struct trace *trace) {
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < trace->actor_count; i++) {
        cJSON *pair = cJSON_CreateArray();
        cJSON_AddItemToArray(pair, json_integer((int64_t)trace->actors[i].id));
        cJSON_AddItemToArray(pair, json_text(trace->actors[i].name));
        cJSON_AddItemToArray(array, pair);
    }
    return array;
}

// One member of the document, without the comma after it.
static bool write_member(FILE *file, const char *key, cJSON *value, struct error *error) {
    char *text = cJSON_PrintUnformatted(value);
    cJSON_Delete(value);
    if (!text) return error_set(error, STATUS_FAILED, "no memory for the JSON document");
    fprintf(file, "\"%s\": %s,\n", key, text);
    free(text);
    return true;
}

static void write_time(FILE *file, const struct dag *dag, uint32_t vertex) {
    if (vertex == DAG_NONE)
        fputs(", null", file);
    else
        fprintf(file, ", %" PRId64, dag->vertices.time_ns[vertex]);
}

// Of what never began: whether it was rejected or cancelled before. NULL: unknown.
static const char *outcome_of_task(const struct dag_task *task) {
    if (task->flags & TASK_REJECTED) return "rejected";
    bool cancelled = task->start == DAG_NONE && task->outcome == TASK_CANCELLED;
    return task->flags & TASK_UNFINISHED && !cancelled ? NULL : task_outcome_name(task->outcome);
}

// [id, class, pool, spawner's id, spawn, spawned, start, result, end, outcome]
static void write_task(FILE *file, const struct dag *dag, const struct dag_task *task) {
    bool ended = !(task->flags & TASK_UNFINISHED);
    fprintf(file, "[%" PRIu64 ", %" PRIu32 ", %" PRIu32, task->id, task->task_class, task->pool);
    if (task->spawner == DAG_NONE)
        fputs(", null", file);
    else
        fprintf(file, ", %" PRIu64, dag->tasks[task->spawner].id);
    write_time(file, dag, task->spawn_begin);
    write_time(file, dag, task->spawn_end);
    write_time(file, dag, task->start);
    write_time(file, dag, task->result);
    write_time(file, dag, ended ? task->end : DAG_NONE);
    const char *outcome = outcome_of_task(task);
    if (outcome)
        fprintf(file, ", \"%s\"]", outcome);
    else
        fputs(", null]", file);
}

// From its spawn or its start to its end or its result, whichever are known.
static bool meets_window(const struct dag *dag, const struct dag_task *task, const struct window *window) {
    const uint32_t vertices[] = {task->spawn_begin, task->start, task->result, task->end};
    const bool ended = !(task->flags & TASK_UNFINISHED);
    int64_t first_ns = INT64_MAX, last_ns = ended ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; i < sizeof vertices / sizeof *vertices; i++) {
        if (vertices[i] == DAG_NONE) continue;
        const int64_t time_ns = dag->vertices.time_ns[vertices[i]];
        if (time_ns < first_ns) first_ns = time_ns;
        if (time_ns > last_ns) last_ns = time_ns;
    }
    return first_ns > last_ns || (first_ns <= window->to_ns && last_ns >= window->from_ns);
}

static void write_tasks(FILE *file, const struct dag *dag, const struct window *window) {
    const char *between = "\n";
    fputs("\"tasks\": [", file);
    for (uint32_t i = 0; i < dag->task_count && !ferror(file); i++) {
        if (!meets_window(dag, &dag->tasks[i], window)) continue;
        fputs(between, file);
        between = ",\n";
        write_task(file, dag, &dag->tasks[i]);
    }
    fputs("\n],\n", file);
}

// [thread, time_ns, kind, operands...]
static void write_json_event(FILE *file, const struct trace_cursor *cursor, const struct event *event, bool first) {
    const struct event_kind_info *info = event_kind_info(event->kind);
    fprintf(file, "%s\n[%" PRIu32 ", %" PRIu64 ", \"%s\"", first ? "" : ",", cursor->stream->id, event->time,
            info->name);
    for (int i = 0; i < info->operands; i++) fprintf(file, ", %" PRIu64, event->operand[i]);
    putc(']', file);
}

bool export_json(const struct dag *dag, const struct window *window, FILE *file, struct error *error) {
    const struct trace *trace = dag->trace;
    fputs("{\"schema\": \"rehype.export/1\",\n", file);
    if (!write_member(file, "header", header_of(trace), error) ||
        !write_member(file, "threads", threads_of(trace), error) ||
        !write_member(file, "methods", methods_of(trace), error) ||
        !write_member(file, "sites", sites_of(trace), error) ||
        !write_member(file, "classes", classes_of(trace), error) ||
        !write_member(file, "pools", pools_of(trace), error) ||
        (trace->endpoint_count > 1 && !write_member(file, "endpoints", endpoints_of(trace), error)) ||
        (trace->actor_count > 0 && !write_member(file, "actors", actors_of(trace), error))) {
        return false;
    }
    write_tasks(file, dag, window);
    fputs("\"events\": [", file);
    if (!write_events(trace, window, file, write_json_event, error)) return false;
    fputs("\n]}\n", file);
    return true;
}
