// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/warnings.h"

#include "dag/edit/edit.h"
#include "dag/names.h"
#include "optimize/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1024, FIRST_CAPACITY = 8 };

// A result can be seen by another thread a moment before the probe that records it reads the clock: no fault of clocks.
enum { PROBE_LAG_NS = 1000 };

static const double saturated_share = 0.95;

static bool is_known(const struct warnings *warnings, const char *text) {
    for (size_t i = 0; i < warnings->count; i++) {
        if (strcmp(warnings->texts[i], text) == 0) return true;
    }
    return false;
}

static bool grow(struct warnings *warnings) {
    if (warnings->count < warnings->capacity) return true;
    size_t capacity = warnings->capacity ? 2 * warnings->capacity : FIRST_CAPACITY;
    const char **larger = ARENA_NEW(warnings->arena, const char *, capacity);
    if (!larger) return false;
    if (warnings->count) memcpy(larger, warnings->texts, warnings->count * sizeof *larger);
    warnings->texts = larger;
    warnings->capacity = capacity;
    return true;
}

bool warnings_add(struct warnings *warnings, const char *what, struct error *error) {
    char text[TEXT_BYTES + 512];
    snprintf(text, sizeof text, "%s%s%s", warnings->about ? warnings->about : "", warnings->about ? ": " : "", what);
    if (is_known(warnings, text)) return true;
    char *kept = arena_string(warnings->arena, text, strlen(text));
    if (!kept || !grow(warnings)) return error_set(error, STATUS_FAILED, "no memory for warnings");
    warnings->texts[warnings->count++] = kept;
    return true;
}

bool warnings_say(struct warnings *warnings, struct error *error, const char *format, ...) {
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return warnings_add(warnings, text, error);
}

// The trace

// Tasks of which something is missing that the tracer may have lost.
struct lossy_tasks {
    uint64_t unspawned, unended;
};

static struct lossy_tasks count_lossy_tasks(const struct dag *dag) {
    struct lossy_tasks count = {0};
    for (uint32_t t = 0; t < dag->task_count; t++) {
        count.unspawned += dag->tasks[t].pool != 0 && dag_lacks_spawn(dag->trace, &dag->tasks[t]);
        count.unended += dag_left_out(dag, t) == LEFT_OUT_LOST_END;
    }
    return count;
}

static bool warn_of_losses(struct warnings *warnings, const struct dag *dag, struct error *error) {
    const struct trace *trace = dag->trace;
    if (!trace->whole && !warnings_add(warnings, "the trace is cut short: its last events are missing", error))
        return false;
    if (trace->lost_events == 0) return true;
    const struct lossy_tasks lossy = count_lossy_tasks(dag);
    struct sentence sentence = {0};
    say(&sentence, "the trace lacks %s that the tracer lost (%.2g %%)",
        phrase_counted(trace->lost_events, "event").text,
        100 * (double)trace->lost_events / (double)(trace->lost_events + trace->event_count));
    if (lossy.unspawned || lossy.unended) say(&sentence, ": an estimate takes");
    if (lossy.unspawned)
        say(&sentence, " %s whose hand-over is missing to come when recorded",
            phrase_counted(lossy.unspawned, "task").text);
    if (lossy.unended)
        say(&sentence, "%s %s without a recorded start or end to stay as recorded", lossy.unspawned ? " and" : "",
            phrase_counted(lossy.unended, "task").text);
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_skew(struct warnings *warnings, const struct dag *dag, struct error *error) {
    if (dag->skew_worst_ns <= PROBE_LAG_NS) return true;
    return warnings_say(warnings, error, "%s %s, by at most %s, and moved after",
                        phrase_counted(dag->skew_fixed, "effect").text,
                        dag->skew_fixed == 1 ? "was recorded before its cause" : "were recorded before their causes",
                        phrase_duration((double)dag->skew_worst_ns).text);
}

static bool warn_of_saturation(struct warnings *warnings, const struct dag *dag, struct error *error) {
    const double cores = dag->trace->header.cores;
    if (dag->sample_count < 2 || cores <= 0) return true;
    const struct dag_sample *first = &dag->samples[0], *last = &dag->samples[dag->sample_count - 1];
    const double there_was = cores * (double)(last->time_ns - first->time_ns);
    const double machine = fmin((double)(last->machine_cpu_ns - first->machine_cpu_ns) / there_was, 1); // samples lag
    const double process = (double)(last->process_cpu_ns - first->process_cpu_ns) / there_was;
    if (there_was <= 0 || machine < saturated_share) return true;
    return warnings_say(warnings, error,
                        "the machine was saturated: %.1f %% of its cores' time was used, %.1f %% by the program; an "
                        "estimate takes others to want as much again, and to share the cores with it thread by thread",
                        100 * machine, 100 * process);
}

// Threads whose tasks were under way when recording ended.
static uint32_t threads_in_tasks(const struct dag *dag, uint32_t *asleep) {
    uint32_t count = 0;
    *asleep = 0;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        const uint32_t end = dag_thread_end(dag, thread);
        if (thread->system || end == thread->first + thread->count || end == thread->first) continue;
        const uint8_t last = dag->vertices.kind[end - 1];
        *asleep += last == VERTEX_WAIT_BEGIN || last == VERTEX_ACQUIRE;
        count++;
    }
    return count;
}

static bool warn_of_standstill(struct warnings *warnings, const struct dag *dag, struct error *error) {
    uint32_t asleep;
    struct sentence sentence = {0};
    const uint32_t in_tasks = threads_in_tasks(dag, &asleep);
    if (dag->still_ns == 0) return true;
    say(&sentence, "nothing that the program did was recorded in the last %s of %s, though %s %s",
        phrase_duration((double)dag->still_ns).text,
        phrase_duration((double)(dag->last_ns + dag->still_ns - dag->first_ns)).text,
        phrase_counted(in_tasks, "thread").text, in_tasks == 1 ? "was in a task" : "were in tasks");
    if (in_tasks > 1) say(&sentence, ", %u of them asleep", asleep);
    say(&sentence, ": threads count as what they were then");
    return warnings_add(warnings, sentence.text, error);
}

bool warn_of_trace(struct warnings *warnings, const struct dag *dag, struct error *error) {
    return warn_of_losses(warnings, dag, error) && warn_of_skew(warnings, dag, error) &&
           warn_of_saturation(warnings, dag, error) && warn_of_standstill(warnings, dag, error);
}
