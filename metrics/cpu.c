// SPDX-License-Identifier: GPL-3.0-or-later
// How the machine was used: differences between the samples that lie within the window (T 3.3, 5.1).
#include "metrics/work.h"

struct cpu_metrics cpu_unknown(void) {
    return (struct cpu_metrics){NAN, NAN, NAN, NAN, NAN};
}

// Samples within the window, first and last; false: not two. Those in an estimate's file are of what it was made from.
static bool find_samples(const struct dag *dag, const struct window *window, uint32_t *first, uint32_t *last) {
    uint32_t count = 0;
    if (!work_is_recorded(dag->trace)) return false;
    for (uint32_t s = 0; s < dag->sample_count; s++) {
        if (!work_is_within(window, dag->samples[s].time_ns)) continue;
        if (count++ == 0) *first = s;
        *last = s;
    }
    return count >= 2;
}

// A stopped JVM switches to the collector's threads, which says nothing of its tasks.
static double switches_in_100_ms(const struct dag *dag, uint32_t first, uint32_t last) {
    double switches = 0, lasted_ns = 0;
    for (uint32_t s = first; s < last; s++) {
        const struct dag_sample *sample = &dag->samples[s];
        if (work_meets_pause(dag, sample[0].time_ns, sample[1].time_ns)) continue;
        switches += (double)(sample[1].context_switches - sample[0].context_switches);
        lasted_ns += (double)(sample[1].time_ns - sample[0].time_ns);
    }
    return lasted_ns > 0 ? switches / lasted_ns * 1e8 : NAN;
}

// What part of the edge to a vertex lies in the span. Of a thread's first vertex, and where a body moved to another
// place, that of the vertex alone counts.
static double part_within(const int64_t *time_ns, uint32_t v, bool first, const struct window *span) {
    const int64_t to_ns = time_ns[v], from_ns = first || time_ns[v - 1] == DAG_ABSENT ? to_ns : time_ns[v - 1];
    if (to_ns == DAG_ABSENT || from_ns >= to_ns) return work_is_within(span, to_ns);
    const double begin = fmax((double)from_ns, (double)span->from_ns);
    const double end = fmin((double)to_ns, (double)span->to_ns);
    return fmax(0, end - begin) / ((double)to_ns - (double)from_ns);
}

// What counted threads compute in a span of the run, as far as it has it; NAN where that was not measured.
static double computed_ns(const struct dag *dag, const struct dag_edit *edit, const int64_t *time_ns,
                          struct window span) {
    if (!dag->vertices.compute_ns) return NAN;
    double sum = 0;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct dag_thread *thread = &dag->threads[t];
        if (work_classify(dag, thread) == CLASS_UNCOUNTED) continue;
        for (uint32_t v = thread->first; v < thread->first + thread->count; v++)
            sum += part_within(time_ns, v, v == thread->first, &span) * (double)work_compute_ns(dag, edit, v);
    }
    return sum;
}

static void recorded_cpu(const struct dag *dag, const struct window *window, struct cpu_metrics *cpu) {
    uint32_t first = 0, last = 0;
    if (dag->trace->header.cores == 0 || !find_samples(dag, window, &first, &last)) return;
    const struct dag_sample *from = &dag->samples[first], *to = &dag->samples[last];
    const double available_ns = (double)dag->trace->header.cores * (double)(to->time_ns - from->time_ns);
    double process = (double)(to->process_cpu_ns - from->process_cpu_ns) / available_ns;
    double machine = (double)(to->machine_cpu_ns - from->machine_cpu_ns) / available_ns;
    if (to->process_cpu_ns > 0) cpu->utilisation = process;
    if (to->machine_cpu_ns > 0) cpu->machine = machine;
    if (to->machine_cpu_ns > 0 && to->process_cpu_ns > 0) cpu->others = fmax(0, machine - process);
    cpu->context_switches = switches_in_100_ms(dag, first, last);
    cpu->context_switches_total = (double)(to->context_switches - from->context_switches);
}

// What of the recorded run lies in the window.
static struct window recorded_span(const struct dag *dag, const struct window *window) {
    struct window span = {dag->first_ns, dag->last_ns};
    if (window && window->from_ns > span.from_ns) span.from_ns = window->from_ns;
    if (window && window->to_ns < span.to_ns) span.to_ns = window->to_ns;
    return span;
}

static double recorded_wall_ns(const struct dag *dag, const struct window *window) {
    const struct window span = recorded_span(dag, window);
    return (double)(span.to_ns - span.from_ns);
}

// An estimate's file tells it of all the run, be it of the first part or the last.
static double told_besides_ns(const struct dag *dag, const struct window *window) {
    const double wall_ns = recorded_wall_ns(dag, NULL);
    const double share = wall_ns > 0 ? recorded_wall_ns(dag, window) / wall_ns : 1;
    return (double)dag->trace->header.besides_ns * fmax(0, share);
}

// What the process needed beside its counted threads, as recorded.
static double besides_ns(const struct dag *recorded, const struct window *window) {
    const struct dag_edit no_edit = {0};
    struct cpu_metrics cpu = cpu_unknown();
    if (!work_is_recorded(recorded->trace)) return told_besides_ns(recorded, window);
    recorded_cpu(recorded, window, &cpu);
    if (isnan(cpu.utilisation)) return 0;
    double used_ns = cpu.utilisation * recorded->trace->header.cores * recorded_wall_ns(recorded, window);
    return fmax(0,
                used_ns - computed_ns(recorded, &no_edit, recorded->vertices.time_ns, recorded_span(recorded, window)));
}

double metrics_besides_ns(const struct dag *dag) {
    const double ns = besides_ns(dag, NULL);
    return isnan(ns) ? 0 : ns;
}

void cpu_compute(const struct dag *dag, const struct dag_edit *edit, const struct dag_run *run,
                 const struct window *window, const struct metrics_work *work, struct cpu_metrics *cpu) {
    const bool as_recorded = !dag->origin && edit->inlined_count == 0;
    const double wall_ns = (double)(work->series.to_ns - work->series.from_ns);
    const double cores = work_cores(dag);
    *cpu = cpu_unknown();
    if (as_recorded) recorded_cpu(dag, window, cpu);
    if (!isnan(cpu->utilisation) || cores == 0 || wall_ns <= 0) return;
    bool lacks_samples = as_recorded && work_is_recorded(dag->trace);
    double besides = lacks_samples ? 0 : besides_ns(work_origin(dag), window);
    const struct window all = {INT64_MIN, INT64_MAX}, within = {work->series.from_ns, work->series.to_ns};
    const struct window span = window ? within : all;
    const double used = (computed_ns(dag, edit, run->time_ns, span) + besides) / (cores * wall_ns);
    cpu->utilisation = used > 1 ? 1 : used; // NAN stays
}
