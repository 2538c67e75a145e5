// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/warnings.h"

#include "dag/names.h"
#include "optimize/improvement.h"
#include "optimize/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool warn_of_losses(struct warnings *warnings, const struct trace *trace, struct error *error) {
    if (!trace->whole && !warnings_add(warnings, "the trace is cut short: its last events are missing", error))
        return false;
    return trace->lost_events == 0 || warnings_say(warnings, error, "the trace lacks %s that the tracer lost",
                                                   phrase_counted(trace->lost_events, "event").text);
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
                        "estimate takes others to use as much again",
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
    return warn_of_losses(warnings, dag->trace, error) && warn_of_skew(warnings, dag, error) &&
           warn_of_saturation(warnings, dag, error) && warn_of_standstill(warnings, dag, error);
}

// Pools

// Waits of a pool's workers, asleep in a task, for tasks of the same pool.
struct nested_wait {
    int64_t time_ns;
    int delta;
    uint32_t waiter, awaited; // sites
};

static int compare_nested_waits(const void *a, const void *b) {
    const struct nested_wait *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return left->delta - right->delta; // a thread that wakes at that instant waits no more
}

// How many workers the pool can have. 0: there is no end to them, or it isn't known.
static uint32_t most_workers(const struct dag *dag, uint32_t pool) {
    enum discipline discipline = dag->pools[pool].discipline;
    if (discipline == DISCIPLINE_UNKNOWN || discipline == DISCIPLINE_STEALING) return 0;
    return improvement_pool_size(dag, pool);
}

// Of one worker. A WAIT_BEGIN is followed by its WAIT_END, unless it helps meanwhile; or by nothing, where it went on
// when recording ended. Returns how many entries were written (two a wait, or one).
static size_t list_waits_of(const struct dag *dag, const struct dag_thread *thread, struct nested_wait *waits) {
    const struct dag_vertices *vertices = &dag->vertices;
    const uint32_t end = dag_thread_end(dag, thread);
    size_t count = 0;
    uint32_t waiter = DAG_NONE; // the innermost body
    for (uint32_t v = thread->first; v < end; v++) {
        uint32_t awaited = vertices->task[v];
        waiter = dag_body_after(dag, v, waiter);
        if (vertices->kind[v] != VERTEX_WAIT_BEGIN || awaited == DAG_NONE || waiter == DAG_NONE) continue;
        if (dag->tasks[awaited].pool != thread->pool) continue;
        bool goes_on = v + 1 == end, ends = !goes_on && vertices->kind[v + 1] == VERTEX_WAIT_END;
        if (!goes_on && !(ends && vertices->time_ns[v + 1] > vertices->time_ns[v])) continue;
        struct nested_wait wait = {vertices->time_ns[v], 1, dag->tasks[waiter].site, dag->tasks[awaited].site};
        waits[count++] = wait;
        if (goes_on) break;
        wait.time_ns = vertices->time_ns[v + 1];
        wait.delta = -1;
        waits[count++] = wait;
    }
    return count;
}

static size_t list_waits(const struct dag *dag, uint32_t pool, struct nested_wait *waits) {
    size_t count = 0;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        if (thread->worker && thread->pool == pool) count += list_waits_of(dag, thread, waits + count);
    }
    if (count) qsort(waits, count, sizeof *waits, compare_nested_waits);
    return count;
}

// What lay in the pool's queue when recording ended, as far as that is known.
static uint64_t left_in_queue(const struct dag *dag, uint32_t pool) {
    const struct trace *trace = dag->trace;
    uint64_t count = 0;
    for (size_t i = 0; i < trace->queued_count; i++) count += trace->queued[i].pool == pool;
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        bool stands = dag_task_stands(task), spawned = task->spawn_begin != DAG_NONE;
        if (task->pool != pool) continue;
        if (stands && task->start != DAG_NONE && !(task->flags & TASK_BEGUN_BEFORE) && count) count--;
        if (spawned && task->start == DAG_NONE && task->result == DAG_NONE && !(task->flags & TASK_REJECTED)) count++;
    }
    return count;
}

// The awaited task's site is not known where it was handed over before recording began.
static void say_nested(struct sentence *sentence, const struct dag *dag, const struct nested_wait *wait) {
    say(sentence, " wait for tasks that only the same pool can run");
    if (wait->waiter != DAG_NONE && wait->awaited != DAG_NONE)
        say(sentence, " (%s for %s)", phrase_site(dag, wait->waiter).text, phrase_site(dag, wait->awaited).text);
}

static bool warn_of_halt(struct warnings *warnings, const struct dag *dag, uint32_t pool, uint32_t workers,
                         const struct nested_wait *wait, struct error *error) {
    const uint64_t left = left_in_queue(dag, pool);
    struct sentence sentence = {0};
    say(&sentence, "all %u workers of %s", workers, phrase_pool(dag, pool).text);
    say_nested(&sentence, dag, wait);
    say(&sentence, ": %s%snothing can go on", left ? phrase_count(left).text : "", left ? " in its queue; " : "");
    return warnings_add(warnings, sentence.text, error);
}

static bool warn_of_nesting(struct warnings *warnings, const struct dag *dag, uint32_t pool, uint32_t workers,
                            uint32_t most, const struct nested_wait *wait, struct error *error) {
    struct sentence sentence = {0};
    say(&sentence, "tasks of %s", phrase_pool(dag, pool).text);
    say_nested(&sentence, dag, wait);
    if (most < workers)
        say(&sentence, ": at most %u of its %u workers waited so at once; when all do, none is left to run them", most,
            workers);
    else
        say(&sentence, ": all of its %u workers waited so at once, and none was left to run them", workers);
    return warnings_add(warnings, sentence.text, error);
}

// Those that go on when recording ends are left at the end of all.
static bool warn_of_pool(struct warnings *warnings, const struct dag *dag, uint32_t pool, bool only_halts,
                         struct nested_wait *waits, struct error *error) {
    const uint32_t workers = most_workers(dag, pool);
    const size_t count = workers ? list_waits(dag, pool, waits) : 0;
    uint32_t level = 0, most = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        level += (uint32_t)waits[i].delta;
        if (level <= most) continue;
        most = level;
        at = i;
    }
    if (most == 0) return true;
    if (level >= workers) return warn_of_halt(warnings, dag, pool, workers, &waits[at], error);
    return only_halts || warn_of_nesting(warnings, dag, pool, workers, most, &waits[at], error);
}

static bool warn_of_all_pools(struct warnings *warnings, const struct dag *dag, bool only_halts, struct error *error) {
    struct nested_wait *waits = malloc(((size_t)dag->vertex_count + 1) * sizeof *waits);
    bool done = waits || error_set(error, STATUS_FAILED, "no memory for warnings");
    for (uint32_t p = 1; done && p < dag->pool_count; p++)
        done = warn_of_pool(warnings, dag, p, only_halts, waits, error);
    free(waits);
    return done;
}

bool warn_of_pools(struct warnings *warnings, const struct dag *dag, struct error *error) {
    return warn_of_all_pools(warnings, dag, false, error);
}

bool warn_of_halted_pools(struct warnings *warnings, const struct dag *dag, struct error *error) {
    return warn_of_all_pools(warnings, dag, true, error);
}
