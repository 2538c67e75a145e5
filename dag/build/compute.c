// SPDX-License-Identifier: GPL-3.0-or-later
// What each thread edge computed, and how long it stood ready without a core. Both are measured at boundaries (events
// with cpu) only: what passed between two of them is shared out among the edges between. While laying, the arrays hold
// what the thread had so far at its boundaries, and 0 elsewhere; here they become each edge's own.
#include "dag/build/builder.h"
#include "dag/edge.h"
#include "dag/ns.h"
#include "dag/samples.h"

#include <stdlib.h>
#include <string.h>

// Shorter stretches tell the counter's own cost rather than the processor's rate.
#define RATE_LEAST_NS 10000

struct room { // what there is of edges alike
    int64_t length_ns;
    uint32_t count; // of those that have a length
};

struct stretch { // the edges that end at vertices after `from`, up to `to`
    uint32_t from, to;
    struct room rooms[2]; // [edge_sleeps()]: of those that are awake, asleep
};

struct rate_sample {
    double cycles_per_ns, ns;
};

static int64_t edge_ns(const struct dag *dag, uint32_t vertex) {
    return dag->vertices.time_ns[vertex] - dag->vertices.time_ns[vertex - 1];
}

static struct stretch stretch_between(const struct dag *dag, uint32_t from, uint32_t to) {
    struct stretch stretch = {.from = from, .to = to};
    for (uint32_t v = from + 1; v <= to; v++) {
        struct room *room = &stretch.rooms[edge_sleeps(dag, v)];
        room->length_ns += edge_ns(dag, v);
        room->count += edge_ns(dag, v) != 0;
    }
    return stretch;
}

__extension__ typedef __int128 int128;

// floor(total * part / whole), part <= whole. Few traces need the wide division. Below it one of doubles, off by one at
// most and put right by what it leaves, is quicker than one of 64-bit integers.
static int64_t share_of(int64_t total_ns, int64_t part_ns, int64_t whole_ns) {
    if (part_ns == whole_ns) return total_ns;
    if ((total_ns | part_ns) > INT32_MAX) return (int64_t)((int128)total_ns * part_ns / whole_ns);
    int64_t product = total_ns * part_ns, share_ns = (int64_t)((double)product / (double)whole_ns);
    int64_t left = product - share_ns * whole_ns;
    return share_ns + (left >= whole_ns) - (left < 0);
}

static int64_t divided_up(int64_t ns, int64_t count) {
    if (ns <= INT32_MAX) return ((uint32_t)ns + (uint32_t)count - 1) / (uint32_t)count; // quicker, too
    return (ns + count - 1) / count;
}

struct level {
    int64_t level_ns;
    int64_t length_ns; // of all edges, each up to the level
};

// Least length that edges (of those that sleep, or those that don't) need not exceed to have room for `total_ns`
// together (Newton's method: what is cut off falls ever more slowly, so that no step goes too far). The first step,
// from 0, needs no look at them.
static struct level level_of(const struct dag *dag, const struct stretch *stretch, bool asleep, int64_t total_ns) {
    struct room room = stretch->rooms[asleep];
    int64_t spare_ns = room.length_ns - total_ns, above = room.count, excess_ns = total_ns, level_ns = 0;
    while (above > 0 && excess_ns > 0) {
        level_ns += divided_up(excess_ns, above);
        above = 0;
        excess_ns = -spare_ns;
        for (uint32_t v = stretch->from + 1; v <= stretch->to; v++) {
            int64_t over_ns = edge_ns(dag, v) - level_ns;
            bool counts = edge_sleeps(dag, v) == asleep && over_ns > 0;
            above += counts;
            excess_ns += counts ? over_ns : 0;
        }
    }
    return (struct level){level_ns, room.length_ns - (excess_ns + spare_ns)};
}

// Adds `sign` times `total_ns` to `to` where nothing has to be shared: one edge alone has a length, or all compute for
// all of theirs.
static void give_out(const struct dag *dag, const struct stretch *stretch, bool asleep, int64_t total_ns, int sign,
                     int64_t *to_ns) {
    for (uint32_t v = stretch->from + 1; v <= stretch->to; v++)
        to_ns[v] += edge_sleeps(dag, v) == asleep ? sign * min_ns(edge_ns(dag, v), total_ns) : 0;
}

// Adds `sign` times each edge's share of `total_ns`, which all of them have room for, to `to`, by its length up to the
// level. Shares are rounded so that they add up.
static void share_out(const struct dag *dag, const struct stretch *stretch, bool asleep, int64_t total_ns, int sign,
                      int64_t *to_ns) {
    if (!total_ns || !to_ns) return;
    struct room room = stretch->rooms[asleep];
    if (room.count == 1 || total_ns == room.length_ns) {
        give_out(dag, stretch, asleep, total_ns, sign, to_ns);
        return;
    }
    struct level level = level_of(dag, stretch, asleep, total_ns);
    int64_t passed_ns = 0, given_ns = 0;
    for (uint32_t v = stretch->from + 1; v <= stretch->to; v++) {
        if (edge_sleeps(dag, v) != asleep) continue;
        passed_ns += min_ns(edge_ns(dag, v), level.level_ns);
        int64_t due_ns = share_of(total_ns, passed_ns, level.length_ns);
        to_ns[v] += sign * (due_ns - given_ns);
        given_ns = due_ns;
    }
}

static int64_t growth(int64_t from, int64_t to) {
    return to > from ? to - from : 0;
}

static void divide_alike(struct dag *dag, const struct stretch *stretch, bool asleep, int64_t compute_ns,
                         int64_t queued_ns) {
    share_out(dag, stretch, asleep, compute_ns, 1, dag->vertices.compute_ns);
    if (!queued_ns) return;
    share_out(dag, stretch, asleep, compute_ns + queued_ns, 1, dag->vertices.queued_ns);
    share_out(dag, stretch, asleep, compute_ns, -1, dag->vertices.queued_ns);
}

// Computing goes to edges that don't sleep as far as they have room, waiting for a core to those that do: threads wait
// for one when they wake up. Both together never exceed an edge's length.
//
// Among edges of either kind, what is not computed is taken to have passed in as few of them as can be, the longest: a
// thread sleeps, or is kept from a core, for long now and then, not for a little everywhere. So each edge computes for
// its whole length up to a level, which is the same for all; and is awake up to another, higher one.
static void divide(struct dag *dag, const struct stretch *stretch, int64_t compute_ns, int64_t queued_ns) {
    int64_t awake_room_ns = stretch->rooms[false].length_ns, asleep_room_ns = stretch->rooms[true].length_ns;
    int64_t awake_ns = min_ns(compute_ns, awake_room_ns);
    int64_t asleep_ns = min_ns(compute_ns - awake_ns, asleep_room_ns);
    int64_t queued_asleep_ns = min_ns(queued_ns, asleep_room_ns - asleep_ns);
    int64_t queued_awake_ns = min_ns(queued_ns - queued_asleep_ns, awake_room_ns - awake_ns);
    divide_alike(dag, stretch, false, awake_ns, queued_awake_ns);
    divide_alike(dag, stretch, true, asleep_ns, queued_asleep_ns);
}

// Shares of one edge, each rounded by itself, may exceed it, or each other, by a ns.
static void trim(struct dag *dag, uint32_t vertex) {
    struct dag_vertices *vertices = &dag->vertices;
    if (!vertices->queued_ns) return;
    int64_t room_ns = edge_ns(dag, vertex) - vertices->compute_ns[vertex];
    vertices->queued_ns[vertex] = max_ns(min_ns(vertices->queued_ns[vertex], room_ns), 0);
}

static int64_t in_ns(uint64_t cpu, double per_ns) {
    double ns = (double)cpu / per_ns;
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

// Between two boundaries whose counter went back or before the first: taken to compute whenever it doesn't sleep.
static void assume(struct dag *dag, const struct stretch *stretch) {
    divide(dag, stretch, stretch->rooms[false].length_ns, 0);
}

// A thread that is kept from its core while the tracer asks the kernel at a boundary has the boundary's time from
// before, and its waiting from behind: what a stretch has no room for was waited right after it, before the thread
// could fall asleep.
static int64_t beyond(const struct stretch *stretch, int64_t compute_ns, int64_t queued_ns) {
    const int64_t length_ns = stretch->rooms[false].length_ns + stretch->rooms[true].length_ns;
    return max_ns(queued_ns - max_ns(length_ns - compute_ns, 0), 0);
}

static void wait_at_first(struct dag *dag, const struct stretch *stretch, int64_t queued_ns) {
    struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t v = stretch->from + 1; v <= stretch->to && queued_ns > 0 && !edge_sleeps(dag, v); v++) {
        const int64_t room_ns = edge_ns(dag, v) - vertices->compute_ns[v] - vertices->queued_ns[v];
        const int64_t here_ns = max_ns(min_ns(room_ns, queued_ns), 0);
        vertices->queued_ns[v] += here_ns;
        queued_ns -= here_ns;
    }
}

static void divide_thread(struct dag *dag, const struct dag_thread *thread, double per_ns,
                          struct unmeasured *unmeasured) {
    struct dag_vertices *vertices = &dag->vertices;
    uint32_t last = thread->first + thread->count - 1, from = thread->first;
    uint64_t cpu = (uint64_t)vertices->compute_ns[from];
    int64_t queued_ns = vertices->queued_ns ? vertices->queued_ns[from] : 0, left_ns = 0;
    vertices->compute_ns[from] = 0;
    if (vertices->queued_ns) vertices->queued_ns[from] = 0;
    for (uint32_t v = thread->first + 1; v <= last; v++) {
        uint64_t now_cpu = (uint64_t)vertices->compute_ns[v];
        if (!now_cpu && v < last) continue;
        int64_t now_queued_ns = vertices->queued_ns ? vertices->queued_ns[v] : 0;
        vertices->compute_ns[v] = 0;
        if (vertices->queued_ns) vertices->queued_ns[v] = 0;
        struct stretch stretch = stretch_between(dag, from, v);
        const bool measured = cpu && now_cpu >= cpu;
        const int64_t compute_ns = measured ? in_ns(now_cpu - cpu, per_ns) : 0;
        const int64_t waited_ns = measured ? growth(queued_ns, now_queued_ns) : 0;
        if (measured)
            divide(dag, &stretch, compute_ns, waited_ns);
        else
            assume(dag, &stretch);
        if (measured && left_ns) wait_at_first(dag, &stretch, left_ns);
        left_ns = beyond(&stretch, compute_ns, waited_ns);
        if (!cpu && from == thread->first) unmeasured->until = v;
        if (!now_cpu && unmeasured->until != v) unmeasured->from = from;
        from = v;
        cpu = now_cpu;
        queued_ns = now_queued_ns;
    }
    for (uint32_t v = thread->first + 1; v <= last; v++) trim(dag, v);
    if (vertices->queued_ns) vertices->queued_ns[thread->first] = thread->ready_ns;
}

static int by_rate(const void *a, const void *b) {
    const struct rate_sample *x = a, *y = b;
    return (x->cycles_per_ns > y->cycles_per_ns) - (x->cycles_per_ns < y->cycles_per_ns);
}

// Most stretches without a sleep compute all the time, some not, none more than that: a high quantile, by time.
static double rate_of(struct rate_sample *samples, size_t count) {
    double total_ns = 0, passed_ns = 0;
    for (size_t i = 0; i < count; i++) total_ns += samples[i].ns;
    qsort(samples, count, sizeof *samples, by_rate);
    size_t i = 0;
    for (passed_ns = samples[0].ns; passed_ns < 0.9 * total_ns && i + 1 < count; passed_ns += samples[++i].ns) {
    }
    return samples[i].cycles_per_ns;
}

static size_t sample_rates(const struct dag *dag, struct rate_sample *samples) {
    size_t count = 0;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        const struct dag_thread *thread = &dag->threads[i];
        uint32_t from = thread->first;
        for (uint32_t v = thread->first + 1; v < thread->first + thread->count; v++) {
            uint64_t then = (uint64_t)dag->vertices.compute_ns[from], now = (uint64_t)dag->vertices.compute_ns[v];
            if (!now) continue;
            struct stretch stretch = stretch_between(dag, from, v);
            int64_t awake_ns = stretch.rooms[false].length_ns;
            bool telling = then && now > then && !stretch.rooms[true].length_ns && awake_ns >= RATE_LEAST_NS;
            double ns = (double)awake_ns;
            if (telling) samples[count++] = (struct rate_sample){(double)(now - then) / ns, ns};
            from = v;
        }
    }
    return count;
}

// What the cpu operands count in a ns. Cycles come at a rate that the header doesn't know, since processors change it:
// it is taken from the trace, or, where that has no stretch to tell, from a clock that is the processor's counter.
static bool find_rate(struct builder *builder, double *per_ns) {
    const struct trace_header *header = &builder->trace->header;
    *per_ns = 1;
    if (strcmp(header->cycle_unit, "cycles") != 0) return true;
    if (header->clock && strcmp(header->clock, "tsc") == 0) *per_ns = (double)header->ticks_per_s / 1e9;
    struct rate_sample *samples = malloc(((size_t)builder->dag->vertex_count + 1) * sizeof *samples);
    if (!samples) return no_memory(builder);
    size_t count = sample_rates(builder->dag, samples);
    if (count) *per_ns = rate_of(samples, count);
    free(samples);
    return true;
}

bool prepare_computing(struct builder *builder) {
    struct dag *dag = builder->dag;
    struct dag_vertices *vertices = &dag->vertices;
    if (builder->measured) {
        builder->unmeasured = malloc(((size_t)dag->thread_count + 1) * sizeof *builder->unmeasured);
        if (!builder->unmeasured) return no_memory(builder);
        for (uint32_t t = 0; t < dag->thread_count; t++)
            builder->unmeasured[t] = (struct unmeasured){DAG_NONE, DAG_NONE};
        return find_rate(builder, &dag->cycles_per_ns);
    }
    free(vertices->compute_ns);
    free(vertices->queued_ns);
    vertices->compute_ns = vertices->queued_ns = NULL;
    return true;
}

void measure_computing(struct builder *builder, uint32_t thread) {
    struct dag *dag = builder->dag;
    struct dag_thread *of = &dag->threads[thread];
    bool measured = dag->vertices.compute_ns && of->stream != DAG_NONE;
    if (measured && dag->vertices.queued_ns && !of->is_virtual) of->delayed_ns = dag->vertices.queued_ns[of->first];
    if (measured) divide_thread(dag, &dag->threads[thread], dag->cycles_per_ns, &builder->unmeasured[thread]);
}

static struct stretch unmeasured_beginning(const struct builder *builder, uint32_t thread) {
    const uint32_t first = builder->dag->threads[thread].first, until = builder->unmeasured[thread].until;
    return stretch_between(builder->dag, first, until == DAG_NONE ? first : until);
}

static struct stretch unmeasured_end(const struct builder *builder, uint32_t thread) {
    const struct dag_thread *of = &builder->dag->threads[thread];
    const uint32_t last = of->first + of->count - 1, from = builder->unmeasured[thread].from;
    return stretch_between(builder->dag, from == DAG_NONE ? last : from, last);
}

// A thread's edges, but for those of its unmeasured beginning and end: from the first's end on, to the last's end.
static struct stretch measured_part(const struct builder *builder, uint32_t thread) {
    const struct stretch beginning = unmeasured_beginning(builder, thread), end = unmeasured_end(builder, thread);
    return (struct stretch){.from = beginning.to, .to = end.from > beginning.to ? end.from : beginning.to};
}

struct bound {
    const struct builder *builder;
    double *measured_ns; // by sample (dag/samples.h): what was measured
    double *assumed_ns;  // ... and what was assumed
    double *share;       // ... of which so much can have been
};

static void add_stretch(const struct dag *dag, const struct stretch *stretch, double *by_sample) {
    uint32_t sample = 0;
    for (uint32_t v = stretch->from + 1; v <= stretch->to; v++) {
        if (dag->vertices.compute_ns[v] > 0)
            samples_share_out(dag, dag->vertices.time_ns[v - 1], dag->vertices.time_ns[v],
                              (double)dag->vertices.compute_ns[v], &sample, by_sample);
    }
}

static double share_of_assumed(double computed_ns, double measured_ns, double assumed_ns) {
    const double left_ns = computed_ns - measured_ns;
    return left_ns >= assumed_ns ? 1 : left_ns > 0 ? left_ns / assumed_ns : 0;
}

// What the JVM's compilers computed is the process's, too, and no thread's of the program. Where samples are another
// run's only their sums tell.
static void find_shares(const struct bound *bound) {
    const struct dag *dag = bound->builder->dag;
    const uint32_t count = dag->sample_count;
    double computed_ns = 0, measured_ns = bound->measured_ns[0] + bound->measured_ns[count];
    double assumed_ns = bound->assumed_ns[0] + bound->assumed_ns[count];
    for (uint32_t s = 1; s < count; s++) {
        const struct dag_sample *from = &dag->samples[s - 1], *to = &dag->samples[s];
        const double here_ns =
            (double)(to->process_cpu_ns - from->process_cpu_ns) - (double)(to->compiled_ns - from->compiled_ns);
        bound->share[s] = share_of_assumed(here_ns, bound->measured_ns[s], bound->assumed_ns[s]);
        computed_ns += here_ns;
        measured_ns += bound->measured_ns[s];
        assumed_ns += bound->assumed_ns[s];
    }
    const double share = share_of_assumed(computed_ns, measured_ns, assumed_ns);
    for (uint32_t s = 0; s <= count; s++) {
        if (!samples_are_own(dag) || s == 0 || s == count) bound->share[s] = share;
    }
}

static void divide_anew(const struct bound *bound, const struct stretch *stretch, double *by_sample) {
    struct dag *dag = bound->builder->dag;
    double compute_ns = 0;
    if (stretch->rooms[false].length_ns == 0) return;
    memset(by_sample, 0, ((size_t)dag->sample_count + 1) * sizeof *by_sample);
    add_stretch(dag, stretch, by_sample);
    for (uint32_t s = 0; s <= dag->sample_count; s++) compute_ns += bound->share[s] * by_sample[s];
    for (uint32_t v = stretch->from + 1; v <= stretch->to; v++) dag->vertices.compute_ns[v] = 0;
    divide(dag, stretch, min_ns((int64_t)compute_ns, stretch->rooms[false].length_ns), 0);
}

// Returns whether anything was.
static bool add_assumed(const struct bound *bound) {
    const struct builder *builder = bound->builder;
    bool any = false;
    for (uint32_t t = 0; t < builder->dag->thread_count; t++) {
        if (builder->dag->threads[t].stream == DAG_NONE) continue;
        const struct stretch beginning = unmeasured_beginning(builder, t), end = unmeasured_end(builder, t);
        add_stretch(builder->dag, &beginning, bound->assumed_ns);
        add_stretch(builder->dag, &end, bound->assumed_ns);
        any |= beginning.rooms[false].length_ns > 0 || end.rooms[false].length_ns > 0;
    }
    return any;
}

static void bound_all(const struct bound *bound, double *by_sample) {
    const struct builder *builder = bound->builder;
    const struct dag *dag = builder->dag;
    if (!add_assumed(bound)) return;
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        const struct stretch measured = measured_part(builder, t);
        if (dag->threads[t].stream != DAG_NONE) add_stretch(dag, &measured, bound->measured_ns);
    }
    find_shares(bound);
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (dag->threads[t].stream == DAG_NONE) continue;
        const struct stretch beginning = unmeasured_beginning(builder, t), end = unmeasured_end(builder, t);
        divide_anew(bound, &beginning, by_sample);
        divide_anew(bound, &end, by_sample);
    }
}

// What was assumed of beginnings and ends is, between two samples, no more than what the process computed beyond what
// was measured: of a thread that sleeps for a while now and then, and tells of nothing but hand-overs, nothing else
// says that it does.
bool bound_assumed_computing(struct builder *builder) {
    const struct dag *dag = builder->dag;
    if (!dag->vertices.compute_ns || dag->sample_count < 2) return true;
    const size_t count = (size_t)dag->sample_count + 1;
    double *room = calloc(4 * count, sizeof *room);
    if (!room) return no_memory(builder);
    bound_all(&(struct bound){builder, room, room + count, room + 2 * count}, room + 3 * count);
    free(room);
    return true;
}
