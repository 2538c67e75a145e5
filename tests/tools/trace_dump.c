// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a trace as lines for grep and awk. Fields are separated by tabs.
//   trace_dump FILE           header, end, skips, threads, pools, then one line an event, by thread
//   trace_dump --count FILE   header, end, skips, and how many events of each kind there are
// Exit status 0 also for a file that isn't whole ("whole no"); 3 when it can't be read as a trace.
#include "tracefile/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *text(const char *string) {
    return string ? string : "-";
}

static void print_facts(const struct trace *trace) {
    const struct trace_header *header = &trace->header;
    printf("jvm\t%s\ncommand\t%s\noptions\t%s\n", text(header->jvm), text(header->command), text(header->options));
    printf("clock\t%s\ncores\t%" PRIu32 "\npid\t%" PRIu32 "\n", text(header->clock), header->cores, header->pid);
    printf("cycles\t%s\t%s\n", text(header->cycle_unit), text(header->cycle_source));
    printf("whole\t%s\nbytes\t%" PRIu64 "\n", trace->whole ? "yes" : "no", trace->bytes);
    printf("stopped_because\t%s\n", text(trace->end.stopped_because));
    printf("methods_woven\t%" PRIu64 "\nclasses_woven\t%" PRIu64 "\n", trace->end.methods_woven,
           trace->end.classes_woven);
    printf("skipped\t%zu\nevents\t%" PRIu64 "\nlost_events\t%" PRIu64 "\n", trace->end.skip_count, trace->event_count,
           trace->lost_events);
    printf("part\t%" PRIu32 "\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", trace->part.number,
           text(trace->part.previous), text(trace->next), trace->part.repeated, trace->part.deleted_files,
           trace->part.deleted_events);
    for (size_t i = 0; i < trace->damage_count; i++) {
        printf("damage\t%" PRIu64 "\t%s\n", trace->damage[i].offset, trace->damage[i].what);
    }
    for (size_t i = 0; i < trace->end.skip_count; i++) {
        printf("skip\t%s\t%s\n", text(trace->end.skips[i].method), text(trace->end.skips[i].why));
    }
}

// Of kinds whose cost was measured.
static void print_costs(const struct trace *trace) {
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        const struct event_cost *cost = &trace->costs[kind];
        if (!cost->measured) continue;
        printf("cost\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", event_kind_info(kind)->name, cost->measured,
               cost->before_ps, cost->after_ps);
    }
}

static void print_counts(const struct trace *trace) {
    for (unsigned kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
        printf("%s\t%" PRIu64 "\n", event_kind_info(kind)->name, trace->events_of_kind[kind]);
    }
}

static const char *flags_text(uint32_t flags) {
    static const char *const texts[] = {"-", "c", "g", "cg", "w", "cw", "gw", "cgw"};
    return texts[flags & (POOL_CORE_TIMES_OUT | POOL_GROWS_FIRST | POOL_WAKES_FIRST)];
}

static void print_tables(const struct trace *trace) {
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct trace_stream *stream = &trace->streams[i];
        printf("thread\t%" PRIu32 "\t%s\t%s%s%s\t%" PRIu64 "\t%" PRIu64 "\n", stream->id, text(stream->thread.name),
               stream->thread.flags & THREAD_DAEMON ? "d" : "-", stream->thread.flags & THREAD_SYSTEM ? "s" : "-",
               stream->thread.flags & THREAD_VIRTUAL ? "v" : "-", stream->event_count, stream->lost_events);
    }
    for (size_t i = 0; i < trace->queued_count; i++) {
        const struct trace_queued *queued = &trace->queued[i];
        printf("queued\t%" PRIu64 "\t%" PRIu32 "\t%s\n", queued->task, queued->pool,
               text(trace->classes[queued->class].name));
    }
    for (size_t i = 0; i < trace->running_count; i++) printf("running\t%" PRIu64 "\n", trace->running[i]);
    for (size_t i = 0; i < trace->stop_count; i++)
        printf("stop\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\n", trace->stops[i].kind, trace->stops[i].time,
               trace->stops[i].ns);
    for (uint32_t id = 1; id < trace->pool_count; id++) {
        const struct trace_pool *pool = &trace->pools[id];
        printf("pool\t%" PRIu32 "\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", id,
               text(pool->name), text(pool->kind), text(pool->queue), (int64_t)pool->core, (int64_t)pool->maximum,
               (int64_t)pool->capacity, (int64_t)pool->keep_alive_ns, text(pool->rejection), flags_text(pool->flags));
    }
}

static void print_resources(const struct trace *trace) {
    for (size_t i = 0; i < trace->resource_count; i++) {
        const struct trace_resource *resource = &trace->resources[i];
        printf("resource\t%" PRIu64 "\t%" PRIu32 "\t%s\t%s\t%" PRId64 "\t%s\n", resource->id, resource->kind,
               text(trace->classes[resource->class].name), text(resource->name), resource->capacity,
               resource->flags & RESOURCE_FAIR           ? "f"
               : resource->flags & RESOURCE_READERS_PASS ? "r"
                                                         : "-");
    }
}

static void print_context(const struct trace *trace, uint32_t context) {
    for (uint32_t id = context; id; id = trace->calling_contexts[id].caller) {
        const struct trace_site *frame = &trace->frames[trace->calling_contexts[id].frame];
        printf(" %s.%s:%" PRIu32 "@%" PRId32, text(frame->class_name), text(frame->method), frame->line, frame->bci);
    }
    putchar('\n');
}

// A line a sample: kind, task, how many it stands for, and the stack, innermost first.
static void print_callings(const struct trace *trace) {
    static const char *const kinds[CALLING_KINDS] = {"created", "submitted", "executed"};
    for (size_t i = 0; i < trace->calling_sample_count; i++) {
        const struct trace_calling_sample *sample = &trace->calling_samples[i];
        printf("calling\t%s\t%" PRIu64 "\t%" PRIu64 "\t", kinds[sample->kind], sample->task, sample->stands_for);
        print_context(trace, sample->context);
    }
}

// A line a run of sampled stacks: thread, ns of its first moment, how many moments, and the stack, innermost first.
static void print_stacks(const struct trace *trace) {
    const struct trace_stacks *stacks = &trace->stacks;
    for (size_t i = 0; i < stacks->run_count; i++) {
        const struct trace_stack_run *run = &stacks->runs[i];
        printf("stack\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t", run->thread, stacks->moments[run->first], run->count);
        print_context(trace, run->context);
    }
}

// Units, whether as a reader, and the site; the resource's name.
static void print_want(const struct trace *trace, const struct event *event, uint64_t want) {
    const struct trace_site *site = &trace->sites[want_site(want)];
    const struct trace_resource *resource = trace_resource(trace, event->operand[0]);
    printf("\t%" PRIu32 "%s\t%s.%s:%" PRIu32 "\t%s", want_units(want), want_shared(want) ? "s" : "",
           text(site->class_name), text(site->method), site->line, resource ? text(resource->name) : "?");
}

static void print_spawn_site(const struct trace_site *site) {
    printf("\t%s.%s:%" PRIu32 "", text(site->class_name), text(site->method), site->line);
    if (site->through_class) printf(" through %s.%s", site->through_class, text(site->through_method));
    if (site->of_library) printf(" of a library");
}

// What the event's first names mean: the function, the payload's class, the site.
static void print_meaning(const struct trace *trace, const struct event *event) {
    const uint64_t *operand = event->operand;
    switch (event->kind) {
    case EVENT_ENTER:
    case EVENT_EXIT:
    case EVENT_EXIT_THROW:
        printf("\t%s.%s", text(trace->methods[operand[0]].class_name), text(trace->methods[operand[0]].name));
        break;
    case EVENT_TASK_CREATED:
        printf("\t%s", text(trace->classes[operand[1]].name));
        break;
    case EVENT_SPAWN_BEGIN:
        print_spawn_site(&trace->sites[operand[1]]);
        break;
    case EVENT_WAIT_BEGIN: {
        const struct trace_site *site = &trace->sites[(uint32_t)operand[2]];
        printf("\t%u\t%s\t%s.%s", wait_for_of(operand[2]), text(trace->classes[wait_class_of(operand[2])].name),
               text(site->class_name), text(site->method));
        break;
    }
    case EVENT_REQUEST_NAMED:
        printf("\t%s", text(trace->endpoints[operand[1]].name));
        break;
    case EVENT_BLOCK_BEGIN:
        printf("\t%s", text(trace->classes[operand[2]].name));
        break;
    case EVENT_ACQUIRE_BEGIN:
        print_want(trace, event, operand[2]);
        break;
    case EVENT_HELD:
    case EVENT_RELEASED:
        print_want(trace, event, operand[1]);
        break;
    default:
        break;
    }
}

static bool print_stream(const struct trace *trace, const struct trace_stream *stream, struct error *error) {
    struct trace_cursor cursor;
    struct event event;
    trace_cursor_init(&cursor, trace, stream);
    while (trace_cursor_next(&cursor, &event, error)) {
        const struct event_kind_info *kind = event_kind_info(event.kind);
        printf("event\t%" PRIu32 "\t%" PRIu64 "\t%s", stream->id, event.time, kind->name);
        for (unsigned i = 0; i < kind->operands; i++) printf("\t%" PRIu64, event.operand[i]);
        print_meaning(trace, &event);
        putchar('\n');
    }
    return error->status == STATUS_OK;
}

static int fail(const struct error *error) {
    char why[ERROR_CAUSE_BYTES];
    fprintf(stderr, "trace_dump: %s\n", error_text(error, why, sizeof why));
    return STATUS_BAD_INPUT;
}

int main(int argc, char **argv) {
    bool count = argc == 3 && strcmp(argv[1], "--count") == 0;
    if (argc != 2 && !count) {
        fprintf(stderr, "usage: trace_dump [--count] FILE\n");
        return STATUS_USAGE;
    }
    struct error error = ERROR_INIT;
    struct trace *trace = trace_open(argv[argc - 1], false, &error);
    if (!trace) return fail(&error);
    print_facts(trace);
    if (count) {
        print_counts(trace);
        print_costs(trace);
        printf("calling_left_out\t%" PRIu64 "\n", trace->calling_left_out);
    } else {
        print_tables(trace);
        print_resources(trace);
        print_callings(trace);
        print_stacks(trace);
    }
    bool good = true;
    for (uint32_t i = 0; i < trace->stream_count && good && !count; i++) {
        good = print_stream(trace, &trace->streams[i], &error);
    }
    trace_close(trace);
    return good ? STATUS_OK : fail(&error);
}
