// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/coverage.h"

#include "metrics/moments.h"

#include "dag/names.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the methods seen");
}

// ---- what the recording says of itself

static bool take_recorded_globs(struct coverage *coverage, const struct trace *trace) {
    const struct method_globs *globs = &coverage->globs;
    const char *options = trace->header.options;
    if (coverage->has_stacks || globs->include_count || globs->exclude_count || !options) return true;
    return method_globs_recorded(options, &coverage->arena, &coverage->globs);
}

// The launcher's options that have their value in the word behind them.
static bool takes_value(const char *word, size_t length) {
    static const char *const options[] = {"-cp",           "-classpath",           "--class-path",  "-p",
                                          "--module-path", "--add-modules",        "--add-exports", "--add-opens",
                                          "--add-reads",   "--upgrade-module-path"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i]) == length && strncmp(word, options[i], length) == 0) return true;
    }
    return false;
}

// The main class, module or jar of a command line; empty where it has none.
static const char *program_of(const char *command, size_t *length) {
    bool value = false;
    for (const char *word = command + strcspn(command, " ");; word += *length) { // behind the launcher
        word += strspn(word, " ");
        *length = strcspn(word, " ");
        if (*length == 0 || (!value && *word != '-' && *word != '@')) return word;
        value = !value && takes_value(word, *length); // of -jar and -m it is the program itself
    }
}

static bool is_same_program(struct coverage *coverage, const struct trace *trace, struct error *error) {
    size_t length;
    if (!trace->header.command) return true;
    const char *program = program_of(trace->header.command, &length);
    if (length == 0) return true;
    if (!coverage->program) {
        coverage->program = arena_string(&coverage->arena, program, length);
        coverage->program_path = arena_string(&coverage->arena, trace->path, strlen(trace->path));
        return (coverage->program && coverage->program_path) || no_memory(error);
    }
    if (strlen(coverage->program) == length && strncmp(coverage->program, program, length) == 0) return true;
    return error_set(error, STATUS_BAD_INPUT, "%s is of another program (%.*s) than %s (%s): give traces of one",
                     trace->path, (int)length, program, coverage->program_path, coverage->program);
}

// ---- calls of the unit

struct call {
    uint64_t from_ns, to_ns;
};

struct calls {
    struct call *items;
    size_t count, room;
};

static bool add_call(struct calls *calls, uint64_t from_ns) {
    if (calls->count == calls->room) {
        size_t room = calls->room ? calls->room * 2 : 64;
        struct call *items = reallocarray(calls->items, room, sizeof *items);
        if (!items) return false;
        calls->items = items;
        calls->room = room;
    }
    calls->items[calls->count++] = (struct call){from_ns, UINT64_MAX};
    return true;
}

static bool is_unit(const struct coverage *coverage, const char *class_name, const char *method) {
    return dag_is_named(class_name, method, coverage->unit, strlen(coverage->unit));
}

// What a walk over a stream does with a function that is entered, and knows by then.
struct walk {
    struct coverage *coverage;
    const struct trace *trace;
    bool *unit;                  // by the trace's method
    uint32_t depth;              // of calls of the unit; without a unit always 1
    struct calls *calls;         // NULL: not wanted
    const struct window *window; // in which calls begin; NULL: all
    bool counts;                 // the call that is open is one of `calls`
    bool *entered;               // by the trace's method, within calls of the unit; NULL: not wanted
    bool any;
};

static bool take_event(struct walk *walk, const struct event *event) {
    const bool enters = event->kind == EVENT_ENTER,
               exits = event->kind == EVENT_EXIT || event->kind == EVENT_EXIT_THROW;
    const bool unit = (enters || exits) && walk->unit && walk->unit[event->operand[0]];
    if (enters && unit && walk->depth++ == 0) {
        walk->counts = walk->calls && moment_is_within(walk->window, event->time);
        if (walk->counts && !add_call(walk->calls, event->time)) return false;
    }
    if (enters && walk->depth > 0) walk->any |= !walk->calls || walk->counts;
    if (enters && walk->depth > 0 && walk->entered) walk->entered[event->operand[0]] = true;
    if (exits && unit && walk->depth > 0 && --walk->depth == 0 && walk->counts)
        walk->calls->items[walk->calls->count - 1].to_ns = event->time;
    return true;
}

static bool walk_stream(struct walk *walk, const struct trace_stream *stream, struct error *error) {
    struct trace_cursor cursor;
    struct event event;
    trace_cursor_init(&cursor, walk->trace, stream);
    walk->depth = walk->unit ? 0 : 1;
    while (trace_cursor_next(&cursor, &event, error)) {
        if (!take_event(walk, &event)) return no_memory(error);
    }
    return error->status == STATUS_OK;
}

// By the trace's method, whether it is the unit; NULL without memory.
static bool *mark_unit(const struct coverage *coverage, const struct trace *trace) {
    bool *marks = calloc((size_t)trace->method_count + 1, 1);
    for (uint32_t m = 1; marks && m < trace->method_count; m++)
        marks[m] = is_unit(coverage, trace->methods[m].class_name, trace->methods[m].name);
    return marks;
}

static bool no_unit(const struct coverage *coverage, const struct trace *trace, const char *how, struct error *error) {
    const char *dot = strrchr(coverage->unit, '.');
    return error_set(error, STATUS_BAD_INPUT, "%s has no call of %s: record it with %s --include '%.*s::%s'",
                     trace->path, coverage->unit, how, (int)(dot ? dot - coverage->unit : 0), coverage->unit,
                     dot ? dot + 1 : coverage->unit);
}

// ---- the whole

static bool add_entered(struct coverage *coverage, const struct trace *trace, const bool *entered,
                        struct error *error) {
    for (uint32_t m = 1; m < trace->method_count; m++) {
        const struct trace_method *method = &trace->methods[m];
        if (!entered[m]) continue;
        uint32_t index = seen_methods_index(
            &coverage->methods, &(struct method_name){method->class_name, method->name, method->descriptor});
        if (index == IDMAP_NONE) return no_memory(error);
        coverage->methods.items[index].in_whole = true;
    }
    return true;
}

bool coverage_add_whole(struct coverage *coverage, const struct trace *trace, struct error *error) {
    struct walk walk = {.coverage = coverage, .trace = trace};
    if (trace->stacks.moment_count > 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s was recorded with --sample, so it has few functions: record the whole without",
                         trace->path);
    if (trace->events_of_kind[EVENT_ENTER] == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s has no functions, so it can't say what the whole is: record it with --include GLOB, "
                         "without --sample",
                         trace->path);
    if (!is_same_program(coverage, trace, error)) return false;
    walk.unit = coverage->unit ? mark_unit(coverage, trace) : NULL;
    walk.entered = calloc((size_t)trace->method_count + 1, 1);
    bool ok = (walk.entered && (walk.unit || !coverage->unit)) || no_memory(error);
    for (uint32_t s = 0; ok && s < trace->stream_count; s++) ok = walk_stream(&walk, &trace->streams[s], error);
    if (ok && !walk.any) ok = no_unit(coverage, trace, "--include GLOB and", error);
    ok = ok && add_entered(coverage, trace, walk.entered, error);
    coverage->has_whole |= ok;
    free(walk.unit);
    free(walk.entered);
    return ok;
}

// ---- sampled stacks

struct sampled {
    struct coverage *coverage;
    const struct trace *trace;
    uint32_t *method_of_frame; // index of a known method; IDMAP_NONE
    bool *unit_frame;          // by frame; NULL without a unit
    const struct window *window;
    struct moments moments; // in it
    struct error *error;
};

static bool know_frames(struct sampled *sampled) {
    const struct trace *trace = sampled->trace;
    sampled->method_of_frame = malloc(((size_t)trace->frame_count + 1) * sizeof *sampled->method_of_frame);
    sampled->unit_frame = calloc((size_t)trace->frame_count + 1, 1);
    if (!sampled->method_of_frame || !sampled->unit_frame) return no_memory(sampled->error);
    sampled->method_of_frame[0] = IDMAP_NONE;
    for (uint32_t f = 1; f < trace->frame_count; f++) {
        const struct trace_site *frame = &trace->frames[f];
        const struct method_name method = {frame->class_name, frame->method, frame->descriptor};
        sampled->method_of_frame[f] = seen_methods_index(&sampled->coverage->methods, &method);
        if (sampled->method_of_frame[f] == IDMAP_NONE) return no_memory(sampled->error);
        if (sampled->coverage->unit)
            sampled->unit_frame[f] = is_unit(sampled->coverage, frame->class_name, frame->method);
    }
    return true;
}

// The context of the outermost frame that is the unit's; 0: there is none.
static uint32_t outermost_unit(const struct sampled *sampled, uint32_t context) {
    uint32_t outermost = 0;
    for (; context; context = sampled->trace->calling_contexts[context].caller) {
        if (sampled->unit_frame[sampled->trace->calling_contexts[context].frame]) outermost = context;
    }
    return outermost;
}

// From the innermost frame to that of `last`, or (0) all. A method that recurs counts once.
static void see_stack(const struct sampled *sampled, uint32_t context, uint32_t last, uint64_t stacks) {
    struct coverage *coverage = sampled->coverage;
    const struct trace_calling_context *contexts = sampled->trace->calling_contexts;
    const uint64_t repetition = coverage->repetitions, run = ++coverage->runs;
    for (uint32_t at = context; at; at = at == last ? 0 : contexts[at].caller) {
        uint32_t index = sampled->method_of_frame[contexts[at].frame];
        if (index == IDMAP_NONE) continue;
        struct seen_method *method = &coverage->methods.items[index];
        if (method->last_run != run) method->stacks += stacks;
        method->last_run = run;
        if (method->last == repetition) continue;
        method->last = repetition;
        method->repetitions++;
        method->of_part[(repetition - 1) % SEEN_PARTS]++;
    }
}

static void see_all(struct sampled *sampled) {
    const struct trace_stacks *stacks = &sampled->trace->stacks;
    sampled->coverage->repetitions++;
    for (size_t i = 0; i < stacks->run_count; i++) {
        const struct moments seen = moments_of_run(&sampled->moments, &stacks->runs[i]);
        const uint64_t count = seen.end - seen.first;
        if (count == 0) continue;
        see_stack(sampled, stacks->runs[i].context, 0, count);
        sampled->coverage->stacks.stacks += count;
    }
}

// The runs of one thread, which rise in time, against its calls, which do as well.
static void see_calls(struct sampled *sampled, const struct trace_stack_run **runs, size_t count,
                      const struct calls *calls) {
    struct coverage *coverage = sampled->coverage;
    const uint64_t *moments = sampled->trace->stacks.moments, first = coverage->repetitions + 1;
    size_t call = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t last = outermost_unit(sampled, runs[i]->context);
        const struct moments seen = moments_of_run(&sampled->moments, runs[i]);
        for (uint64_t m = seen.first; m < seen.end; m++) {
            while (call < calls->count && calls->items[call].to_ns < moments[m]) call++;
            bool within = last && call < calls->count && calls->items[call].from_ns <= moments[m];
            coverage->stacks.stacks++;
            coverage->repetitions = first + call;
            if (within)
                see_stack(sampled, runs[i]->context, last, 1);
            else
                coverage->stacks.outside++;
        }
    }
    coverage->repetitions = first - 1 + calls->count; // those that no stack was taken of as well
}

static int by_thread(const void *left_, const void *right_) {
    const struct trace_stack_run *left = *(const struct trace_stack_run *const *)left_;
    const struct trace_stack_run *right = *(const struct trace_stack_run *const *)right_;
    if (left->thread != right->thread) return left->thread < right->thread ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

static const struct trace_stream *stream_of(const struct trace *trace, uint32_t thread) {
    for (uint32_t s = 0; s < trace->stream_count; s++) {
        if (trace->streams[s].id == thread) return &trace->streams[s];
    }
    return NULL;
}

// Sorted by thread; the caller's to free.
static const struct trace_stack_run **sort_runs(const struct trace *trace) {
    const struct trace_stacks *stacks = &trace->stacks;
    const struct trace_stack_run **runs = malloc((stacks->run_count + 1) * sizeof *runs);
    for (size_t i = 0; runs && i < stacks->run_count; i++) runs[i] = &stacks->runs[i];
    if (runs) qsort(runs, stacks->run_count, sizeof *runs, by_thread);
    return runs;
}

static bool see_thread(struct sampled *sampled, struct walk *walk, const struct trace_stack_run **runs, size_t count) {
    struct calls calls = {0};
    const struct trace_stream *stream = stream_of(sampled->trace, runs[0]->thread);
    walk->calls = &calls;
    bool ok = !stream || walk_stream(walk, stream, sampled->error);
    if (ok && calls.count) see_calls(sampled, runs, count, &calls);
    free(calls.items);
    return ok;
}

// A thread has one stack at a moment.
static bool runs_follow(const struct sampled *sampled, const struct trace_stack_run **runs, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (runs[i]->first >= runs[i - 1]->first + runs[i - 1]->count) continue;
        return error_set(sampled->error, STATUS_BAD_INPUT, "%s has two stacks of thread %u at one moment",
                         sampled->trace->path, runs[i]->thread);
    }
    return true;
}

static bool see_unit(struct sampled *sampled) {
    const size_t count = sampled->trace->stacks.run_count;
    struct walk walk = {.coverage = sampled->coverage, .trace = sampled->trace, .window = sampled->window};
    const struct trace_stack_run **runs = sort_runs(sampled->trace);
    walk.unit = mark_unit(sampled->coverage, sampled->trace);
    bool ok = (runs && walk.unit) || no_memory(sampled->error);
    for (size_t from = 0, to; ok && from < count; from = to) {
        for (to = from + 1; to < count && runs[to]->thread == runs[from]->thread; to++) {
        }
        ok = runs_follow(sampled, runs + from, to - from) && see_thread(sampled, &walk, runs + from, to - from);
    }
    if (ok && !walk.any) ok = no_unit(sampled->coverage, sampled->trace, "--sample HZ", sampled->error);
    free(runs);
    free(walk.unit);
    return ok;
}

static void add_costs(struct coverage_stacks *sum, const struct trace *trace, uint64_t moments) {
    const struct trace_stacks *stacks = &trace->stacks;
    for (uint32_t s = 0; s < trace->stream_count; s++)
        sum->virtual_threads += (trace->streams[s].thread.flags & THREAD_VIRTUAL) != 0;
    sum->moments += moments;
    sum->costs.missed += stacks->costs.missed;
    sum->costs.left_out += stacks->costs.left_out;
    sum->costs.take_ns += stacks->costs.take_ns;
    sum->costs.work_ns += stacks->costs.work_ns;
}

static bool find_moments(struct sampled *sampled) {
    sampled->moments = moments_within(&sampled->trace->stacks, sampled->window);
    return sampled->moments.end > sampled->moments.first ||
           error_set(sampled->error, STATUS_BAD_INPUT, "%s has no sampled stacks in the window", sampled->trace->path);
}

bool coverage_add(struct coverage *coverage, const struct trace *trace, const struct window *window,
                  struct error *error) {
    struct sampled sampled = {.coverage = coverage, .trace = trace, .window = window, .error = error};
    if (trace->stacks.run_count == 0)
        return error_set(error, STATUS_BAD_INPUT, "%s has no sampled stacks: record it with --sample HZ", trace->path);
    if (!is_same_program(coverage, trace, error)) return false;
    if (!take_recorded_globs(coverage, trace)) return no_memory(error);
    coverage->has_stacks = true;
    bool ok = find_moments(&sampled) && know_frames(&sampled);
    if (ok && coverage->unit)
        ok = see_unit(&sampled);
    else if (ok)
        see_all(&sampled);
    add_costs(&coverage->stacks, trace, sampled.moments.end - sampled.moments.first);
    free(sampled.method_of_frame);
    free(sampled.unit_frame);
    return ok;
}

// ---- life

// "Main::step" is taken like Main.step.
static bool take_unit(struct coverage *coverage, const char *unit) {
    if (!unit) return true;
    coverage->unit = arena_string(&coverage->arena, unit, strlen(unit));
    char *colons = coverage->unit ? strstr(coverage->unit, "::") : NULL;
    if (colons) {
        *colons = '.';
        memmove(colons + 1, colons + 2, strlen(colons + 2) + 1);
    }
    return coverage->unit != NULL;
}

struct coverage *coverage_new(const struct coverage_rules *rules, struct error *error) {
    struct coverage *coverage = calloc(1, sizeof *coverage);
    if (coverage) coverage->globs = rules->globs;
    if (coverage && take_unit(coverage, rules->unit)) return coverage;
    coverage_free(coverage);
    no_memory(error);
    return NULL;
}

void coverage_free(struct coverage *coverage) {
    if (!coverage) return;
    seen_methods_destroy(&coverage->methods);
    arena_destroy(&coverage->arena);
    free(coverage);
}
