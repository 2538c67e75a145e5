// SPDX-License-Identifier: GPL-3.0-or-later
// A run as other tools draw it: what each thread was in (span.h), nested, in order of time; what led to what; how many
// threads were in which state; the machine; the JVM's pauses. States are those that the metrics count (figures.h).
// Times are ns from the run's first event, as --window counts them. Threads of the JVM's own are left out.
#ifndef REHYPE_REPORT_TIMELINE_H
#define REHYPE_REPORT_TIMELINE_H

#include "metrics/work.h"
#include "report/span.h"

// A window of a recorded run; or of an estimate's file, which reads like a recording.
struct timeline {
    const struct dag *dag;
    int64_t from_ns, to_ns;   // the window, as moments have it: what goes beyond is cut there
    struct metrics_work work; // of the window
    // What a vertex led to on another thread, as a list that begins at it: ends of waits. DAG_NONE ends it.
    uint32_t *first_effect, *next_effect;
};

// The DAG must outlive it. Errors: no memory; a window without an event (STATUS_USAGE). Cost: about 100 ns a vertex, 8
// bytes each. timeline_destroy in any case.
bool timeline_init(struct timeline *timeline, const struct dag *dag, const struct window *window, struct error *error);
void timeline_destroy(struct timeline *timeline);

enum moment_kind {
    MOMENT_BEGIN, // of a span
    MOMENT_END,   // of the innermost span that is open
    MOMENT_MARK,  // something happens in no time
};

enum mark {
    MARK_SENT,    // a task is handed over, where that takes no time: a message, a task of a home-made queue
    MARK_RESULT,  // a result is there that others wait for
    MARK_RELEASE, // a resource, or whatever else others wait for, is given back
    MARK_WOKEN,   // a wait is over, and what ended it is known
};

extern const char *const mark_names[]; // by enum mark

struct moment {
    enum moment_kind kind;
    enum mark mark; // of marks alone
    uint32_t thread;
    int64_t time_ns;  // rising on each thread, from the timeline's from_ns to its to_ns
    struct span span; // of marks: of the task that is sent, or whose result it is; its `of` may be DAG_NONE
    // Arrows: a flow leaves one moment, or span, and comes in at another. Numbers are of this timeline alone; 0: none.
    uint64_t flow_in;
    const uint64_t *flows_out;
    size_t flow_out_count;
};

typedef void moment_visitor(void *context, const struct moment *moment);

// Every moment of the window, thread by thread; each span that began has its end. Errors: no memory, a damaged trace.
// Cost: one decode of the trace, and the visitor's.
bool timeline_visit(const struct timeline *timeline, moment_visitor *visit, void *context, struct error *error);

// How many platform threads are in each state from `time_ns` on, each time that this changes, in order of time.
typedef void levels_visitor(void *context, int64_t time_ns, const int32_t levels[STATE_COUNT]);
void timeline_visit_levels(const struct timeline *timeline, levels_visitor *visit, void *context);

// Of the time from one sample to the next: cores that the process and the whole machine kept busy, and of those of the
// process the JVM's compilers (NAN where the trace does not tell: before version 8), and context switches of the
// process a second. Of an estimate there are none.
struct machine_use {
    int64_t from_ns, to_ns;
    double process_cores, machine_cores, compiler_cores, switches_per_s;
};
typedef void machine_visitor(void *context, const struct machine_use *use);
void timeline_visit_machine(const struct timeline *timeline, machine_visitor *visit, void *context);

// The JVM's pauses (GC).
typedef void pause_visitor(void *context, int64_t from_ns, int64_t to_ns);
void timeline_visit_pauses(const struct timeline *timeline, pause_visitor *visit, void *context);

// Name of a span that begins, or of a mark: "result", "sent message p.Tick". Returns text.
const char *moment_name(const struct dag *dag, const struct moment *moment, char *text, size_t size);

// Name of a thread, "thread 3" where the trace has none. Returns text.
const char *timeline_thread_name(const struct timeline *timeline, uint32_t thread, char *text, size_t size);

// What ended the sleep that ends at a vertex, if both are shown; DAG_NONE otherwise.
uint32_t timeline_cause(const struct timeline *timeline, uint32_t vertex);

// Whether a thread's moments are visited.
static inline bool timeline_has_thread(const struct timeline *timeline, uint32_t thread) {
    const struct dag_thread *of = &timeline->dag->threads[thread];
    return of->stream != DAG_NONE && !of->system;
}

// A time of the DAG's as moments have it.
static inline int64_t timeline_ns(const struct timeline *timeline, int64_t dag_ns) {
    return dag_ns - timeline->dag->first_ns;
}

static inline bool timeline_is_within(const struct timeline *timeline, int64_t time_ns) {
    return time_ns >= timeline->from_ns && time_ns <= timeline->to_ns;
}

#endif
