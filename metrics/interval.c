// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/interval.h"

#include "base/hands.h"
#include "metrics/metrics.h"
#include "metrics/statistics.h"
#include "metrics/work.h"

#include <float.h>
#include <stdatomic.h>
#include <stdlib.h>

const char *const interval_names[INTERVAL_FIGURES] = {
    "wall_ns", "thread_time_ns", "occupied_peak", "occupied_mean", "waiting_peak", "waiting_mean", "composite"};

enum {
    FLAG_FIRST = 1, // of its thread
    FLAG_RING = 2,  // its cause follows from it
};

// What all replicates have of the recording.
struct bootstrap {
    const struct dag *dag;
    struct metrics_work work; // for what each vertex does to its thread
    uint32_t *order;          // of vertices, causes and predecessors first
    uint32_t *owner;          // a vertex each: task whose running the edge to it is, or DAG_NONE
    uint32_t *identity;       // a replicate's `source`
    uint8_t *flags;           // a vertex each
    uint32_t *stratum;        // a task each: which tasks take what it took
    uint32_t *sequence;       // tasks that are drawn, by stratum in order of start
    uint32_t sequence_count;
    int64_t *own_ns;   // a task each: its own running
    int64_t *slept_ns; // a task each: as much of that as it slept, though no event says so
    struct arena arena;
};

// The replicate at hand, of one thread.
struct replicate {
    const struct bootstrap *of;
    struct dag dag; // with times of its own
    double *factor; // a task each
    struct statistics_random *random;
};

// Which edges are whose.

struct owner_walk {
    struct bootstrap *bootstrap;
    uint32_t *open; // bodies
    uint32_t depth, asleep;
};

static void own_edge(struct owner_walk *walk, uint32_t vertex) {
    const int64_t *time_ns = walk->bootstrap->dag->vertices.time_ns;
    uint32_t owner = walk->depth && !walk->asleep ? walk->open[walk->depth - 1] : DAG_NONE;
    walk->bootstrap->owner[vertex] = owner;
    if (owner == DAG_NONE) return;
    walk->bootstrap->own_ns[owner] += time_ns[vertex] - time_ns[vertex - 1];
    walk->bootstrap->slept_ns[owner] += work_slept_ns(walk->bootstrap->dag, vertex);
}

// A body that runs while another waits is awake: sleeps are counted from the innermost body on.
static void own_thread(struct owner_walk *walk, const struct dag_thread *thread) {
    const struct bootstrap *bootstrap = walk->bootstrap;
    uint32_t *asleep_of = bootstrap->sequence; // free until find_sequences
    walk->depth = walk->asleep = 0;
    for (uint32_t v = thread->first; v < thread->first + thread->count; v++) {
        own_edge(walk, v);
        switch (bootstrap->work.scratch->action[v]) {
        case ACTION_OPEN:
            asleep_of[walk->depth] = walk->asleep;
            walk->open[walk->depth++] = bootstrap->dag->vertices.task[v];
            walk->asleep = 0;
            break;
        case ACTION_CLOSE:
            walk->asleep = asleep_of[--walk->depth];
            break;
        case ACTION_WAIT:
        case ACTION_BLOCK:
            walk->asleep++;
            break;
        case ACTION_WAKE:
            walk->asleep--;
            break;
        default:
            break;
        }
    }
}

// Vertices with what they follow before them. Waits that saw their result early can close a ring: they take as long as
// recorded.
static void find_order(struct bootstrap *bootstrap, uint32_t *stack) {
    enum { NEW, OPEN, DONE };
    const struct dag *dag = bootstrap->dag;
    uint8_t *state = (uint8_t *)bootstrap->identity; // free until the replicates
    uint32_t count = 0;
    for (uint32_t v = 0; v < dag->vertex_count; v++) state[v] = NEW;
    for (uint32_t v = 0; v < dag->vertex_count; v++) {
        uint32_t depth = 0;
        if (state[v] == NEW) stack[depth++] = v;
        while (depth > 0) {
            uint32_t top = stack[depth - 1], cause = dag->vertices.cause[top];
            state[top] = OPEN;
            if (!(bootstrap->flags[top] & FLAG_FIRST) && state[top - 1] == NEW) {
                stack[depth++] = top - 1;
            } else if (cause != DAG_NONE && state[cause] == NEW) {
                stack[depth++] = cause;
            } else {
                if (cause != DAG_NONE && state[cause] == OPEN) bootstrap->flags[top] |= FLAG_RING;
                state[top] = DONE;
                bootstrap->order[count++] = top;
                depth--;
            }
        }
    }
}

// Durations of one stratum are less than this many times the shortest of them.
static const double ALIKE_COMPUTING = 2, ALIKE_SLEEPING = 1.1;

static bool mostly_sleeps(const struct bootstrap *bootstrap, uint32_t task) {
    return bootstrap->slept_ns[task] > bootstrap->own_ns[task] / 2;
}

// Which tasks are drawn.

// Messages have no site: of one kind are those of one type to actors of one type.
static uint32_t actor_type(const struct dag *dag, uint32_t task) {
    const bool is_message = dag->tasks[task].flags & TASK_MESSAGE;
    const uint32_t actor = is_message && dag->actor_of ? dag->actor_of[task] : 0; // 0 where a damaged trace tells none
    const uint32_t init = actor ? dag->actors[actor].init : DAG_NONE;
    return init == DAG_NONE ? 0 : dag->tasks[init].task_class;
}

static uint32_t message_type(const struct dag *dag, uint32_t task) {
    return dag->tasks[task].flags & TASK_MESSAGE ? dag->tasks[task].task_class : 0;
}

static int compare_numbers(uint32_t x, uint32_t y) {
    return (x > y) - (x < y);
}

static int compare_kinds(const struct bootstrap *bootstrap, uint32_t x, uint32_t y) {
    const struct dag *dag = bootstrap->dag;
    int order = compare_numbers(dag->tasks[x].site, dag->tasks[y].site);
    if (order == 0) order = compare_numbers(dag->tasks[x].context, dag->tasks[y].context);
    if (order == 0) order = compare_numbers(actor_type(dag, x), actor_type(dag, y));
    if (order == 0) order = compare_numbers(message_type(dag, x), message_type(dag, y));
    return order == 0 ? (int)mostly_sleeps(bootstrap, x) - (int)mostly_sleeps(bootstrap, y) : order;
}

static int compare_durations(const void *a, const void *b, void *context) {
    const struct bootstrap *bootstrap = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int kinds = compare_kinds(bootstrap, x, y);
    if (kinds != 0) return kinds;
    if (bootstrap->own_ns[x] != bootstrap->own_ns[y]) return bootstrap->own_ns[x] < bootstrap->own_ns[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static int compare_starts(const void *a, const void *b, void *context) {
    const struct bootstrap *bootstrap = context;
    const struct dag *dag = bootstrap->dag;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (bootstrap->stratum[x] != bootstrap->stratum[y]) return bootstrap->stratum[x] < bootstrap->stratum[y] ? -1 : 1;
    const uint32_t x_start = dag->tasks[x].start, y_start = dag->tasks[y].start;
    const int64_t x_ns = dag->vertices.time_ns[x_start], y_ns = dag->vertices.time_ns[y_start];
    if (x_ns != y_ns) return x_ns < y_ns ? -1 : 1;
    return (x_start > y_start) - (x_start < y_start);
}

enum { NOT_DRAWN = TASK_UNFINISHED | TASK_NESTED | TASK_BEGUN_BEFORE };

// A task that is there for most of the run (an acceptor, a loop) ends when the run does: it is no draw from others.
static bool is_drawn(const struct bootstrap *bootstrap, uint32_t index) {
    const struct dag *dag = bootstrap->dag;
    const struct dag_task *task = &dag->tasks[index];
    const bool has_kind = task->site != DAG_NONE || task->flags & TASK_MESSAGE;
    if (task->start == DAG_NONE || !has_kind || task->flags & NOT_DRAWN) return false;
    const int64_t lasts_ns = dag->vertices.time_ns[task->end] - dag->vertices.time_ns[task->start];
    return bootstrap->own_ns[index] > 0 && lasts_ns <= (dag->last_ns - dag->first_ns) / 2;
}

static bool are_alike(const struct bootstrap *bootstrap, uint32_t shortest, uint32_t task) {
    const double alike = mostly_sleeps(bootstrap, task) ? ALIKE_SLEEPING : ALIKE_COMPUTING;
    return compare_kinds(bootstrap, shortest, task) == 0 &&
           (double)bootstrap->own_ns[task] < alike * (double)bootstrap->own_ns[shortest];
}

// The sequence is by kind and duration.
static void find_strata(struct bootstrap *bootstrap) {
    const uint32_t *sequence = bootstrap->sequence;
    uint32_t shortest = 0;
    for (uint32_t i = 0; i < bootstrap->sequence_count; i++) {
        if (!are_alike(bootstrap, sequence[shortest], sequence[i])) shortest = i;
        bootstrap->stratum[sequence[i]] = shortest;
    }
}

static void find_sequences(struct bootstrap *bootstrap) {
    uint32_t *sequence = bootstrap->sequence;
    for (uint32_t t = 0; t < bootstrap->dag->task_count; t++) {
        if (is_drawn(bootstrap, t)) sequence[bootstrap->sequence_count++] = t;
    }
    qsort_r(sequence, bootstrap->sequence_count, sizeof *sequence, compare_durations, bootstrap);
    find_strata(bootstrap);
    qsort_r(sequence, bootstrap->sequence_count, sizeof *sequence, compare_starts, bootstrap);
}

static bool allocate(struct bootstrap *bootstrap, uint32_t **stack) {
    const size_t vertices = (size_t)bootstrap->dag->vertex_count + 1, tasks = (size_t)bootstrap->dag->task_count + 1;
    struct arena *arena = &bootstrap->arena;
    bootstrap->order = ARENA_NEW(arena, uint32_t, vertices);
    bootstrap->owner = ARENA_NEW(arena, uint32_t, vertices);
    bootstrap->identity = ARENA_NEW(arena, uint32_t, vertices);
    bootstrap->flags = ARENA_NEW(arena, uint8_t, vertices);
    bootstrap->stratum = ARENA_NEW(arena, uint32_t, tasks);
    bootstrap->sequence = ARENA_NEW(arena, uint32_t, tasks);
    bootstrap->own_ns = ARENA_NEW(arena, int64_t, tasks);
    bootstrap->slept_ns = ARENA_NEW(arena, int64_t, tasks);
    *stack = ARENA_NEW(arena, uint32_t, vertices + tasks);
    return bootstrap->order && bootstrap->owner && bootstrap->identity && bootstrap->flags && bootstrap->stratum &&
           bootstrap->sequence && bootstrap->own_ns && bootstrap->slept_ns && *stack;
}

static bool prepare(struct bootstrap *bootstrap, const struct dag *dag, struct error *error) {
    uint32_t *stack;
    *bootstrap = (struct bootstrap){.dag = dag, .arena = ARENA_INIT};
    if (!work_bind_run(&bootstrap->work, dag, error)) return false;
    if (!allocate(bootstrap, &stack)) return error_set(error, STATUS_FAILED, "no memory for an interval");
    struct owner_walk walk = {.bootstrap = bootstrap, .open = stack};
    for (uint32_t t = 0; t < dag->thread_count; t++) {
        if (dag->threads[t].count) bootstrap->flags[dag->threads[t].first] = FLAG_FIRST;
        own_thread(&walk, &dag->threads[t]);
    }
    find_order(bootstrap, stack);
    find_sequences(bootstrap);
    for (uint32_t v = 0; v < dag->vertex_count; v++) bootstrap->identity[v] = v;
    return true;
}

// false: no memory.
static bool replicate_new(struct replicate *replicate, struct bootstrap *bootstrap) {
    const struct dag_vertices *recorded = &bootstrap->dag->vertices;
    const size_t vertices = (size_t)bootstrap->dag->vertex_count + 1, tasks = (size_t)bootstrap->dag->task_count + 1;
    struct arena *arena = &bootstrap->arena;
    *replicate = (struct replicate){.of = bootstrap, .dag = *bootstrap->dag};
    replicate->dag.origin = bootstrap->dag;
    replicate->dag.source = bootstrap->identity;
    struct dag_vertices *own = &replicate->dag.vertices;
    own->time_ns = ARENA_NEW(arena, int64_t, vertices);
    if (recorded->compute_ns) own->compute_ns = ARENA_NEW(arena, int64_t, vertices);
    if (recorded->queued_ns) own->queued_ns = ARENA_NEW(arena, int64_t, vertices);
    replicate->factor = ARENA_NEW(arena, double, tasks);
    replicate->random = statistics_random_new(0);
    for (size_t t = 0; replicate->factor && t < tasks; t++) replicate->factor[t] = 1;
    return own->time_ns && (own->compute_ns || !recorded->compute_ns) && (own->queued_ns || !recorded->queued_ns) &&
           replicate->factor && replicate->random;
}

// Draws durations for one stratum.
static void draw_stratum(struct replicate *replicate, const uint32_t *tasks, uint32_t count) {
    const int64_t *own_ns = replicate->of->own_ns;
    const uint32_t block = (uint32_t)lround(cbrt(count));
    for (uint32_t i = 0; i < count;) {
        uint32_t from = statistics_random_below(replicate->random, count);
        for (uint32_t k = 0; k < block && i < count; k++, i++) {
            replicate->factor[tasks[i]] = (double)own_ns[tasks[(from + k) % count]] / (double)own_ns[tasks[i]];
        }
    }
}

static void draw(struct replicate *replicate) {
    const uint32_t *stratum = replicate->of->stratum;
    const uint32_t *sequence = replicate->of->sequence, count = replicate->of->sequence_count;
    for (uint32_t first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && stratum[sequence[next]] == stratum[sequence[first]]) next++;
        draw_stratum(replicate, &sequence[first], next - first);
    }
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t scaled(int64_t ns, double factor) {
    return llrint((double)ns * factor);
}

// When a wait ends that saw its result at `now` (recorded `then`), having begun after its predecessor.
static int64_t wait_end(const struct dag *dag, uint32_t vertex, int64_t before_now, int64_t before_then, int64_t now,
                        int64_t then) {
    const int64_t recorded = dag->vertices.time_ns[vertex];
    bool slept = then > before_then, sleeps = now > before_now;
    if (slept && sleeps) return now + recorded - then;
    if (sleeps) return now + dag->wakeup_ns;
    return slept ? before_now : before_now + recorded - before_then;
}

static int64_t time_of(const struct replicate *replicate, uint32_t vertex) {
    const struct bootstrap *bootstrap = replicate->of;
    const struct dag *dag = bootstrap->dag;
    const int64_t *then_ns = dag->vertices.time_ns, *now_ns = replicate->dag.vertices.time_ns;
    const uint32_t before = bootstrap->flags[vertex] & FLAG_FIRST ? vertex : vertex - 1,
                   cause = dag->vertices.cause[vertex];
    const uint32_t owner = bootstrap->owner[vertex];
    const int64_t before_then = then_ns[before], before_now = before == vertex ? before_then : now_ns[before];
    const int64_t run_ns =
        before_now + (owner == DAG_NONE ? then_ns[vertex] - before_then
                                        : scaled(then_ns[vertex] - before_then, replicate->factor[owner]));
    if (cause == DAG_NONE || bootstrap->flags[vertex] & FLAG_RING) return run_ns;
    switch (dag->vertices.rule[vertex]) {
    case RULE_WAKE:
    case RULE_WOKEN:
        return later(before_now,
                     later(before_now, now_ns[cause]) + then_ns[vertex] - later(before_then, then_ns[cause]));
    case RULE_WAIT:
        return later(before_now, wait_end(dag, vertex, before_now, before_then, now_ns[cause], then_ns[cause]));
    case RULE_BEGIN:
        return now_ns[cause] + then_ns[vertex] - then_ns[cause];
    case RULE_MAX:
        return later(before == vertex ? now_ns[cause] : before_now, now_ns[cause]);
    default:
        return run_ns;
    }
}

static void make_replicate(struct replicate *replicate) {
    const struct bootstrap *bootstrap = replicate->of;
    const struct dag_vertices *recorded = &bootstrap->dag->vertices;
    struct dag_vertices *own = &replicate->dag.vertices;
    const uint32_t count = bootstrap->dag->vertex_count;
    draw(replicate);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = bootstrap->order[i];
        own->time_ns[v] = time_of(replicate, v);
    }
    for (uint32_t v = 0; v < count; v++) {
        double factor = bootstrap->owner[v] == DAG_NONE ? 1 : replicate->factor[bootstrap->owner[v]];
        if (recorded->compute_ns) own->compute_ns[v] = scaled(recorded->compute_ns[v], factor);
        if (recorded->queued_ns) own->queued_ns[v] = scaled(recorded->queued_ns[v], factor);
    }
    work_window(bootstrap->work.scratch, &(struct dag_run){.time_ns = own->time_ns}, NULL, &replicate->dag.first_ns,
                &replicate->dag.last_ns);
}

static double figure_of(const struct metrics *metrics, enum interval_figure figure) {
    switch (figure) {
    case INTERVAL_WALL:
        return (double)metrics->wall_ns;
    case INTERVAL_THREAD_TIME:
        return metrics->thread_time_ns;
    case INTERVAL_OCCUPIED_PEAK:
        return metrics->threads[STATE_OCCUPIED].peak;
    case INTERVAL_OCCUPIED_MEAN:
        return metrics->threads[STATE_OCCUPIED].mean;
    case INTERVAL_WAITING_PEAK:
        return metrics->threads[STATE_WAITING].peak;
    case INTERVAL_WAITING_MEAN:
        return metrics->threads[STATE_WAITING].mean;
    default:
        return metrics->composite;
    }
}

// Below this nothing lies beyond the 5 % and 95 % of the replicates: their spread tells more.
enum { LEAST_FOR_QUANTILES = 20 };

struct range {
    double below, above; // of the point, neither negative
};

// Of at least two sorted values of replicates, about their middle.
static struct range find_range(const double *sorted, unsigned count) {
    if (count < LEAST_FOR_QUANTILES) {
        double distance = statistics_expected_distance(sorted, count, 0.95);
        return (struct range){distance, distance};
    }
    double middle = statistics_quantile(sorted, count, 0.5);
    return (struct range){middle - statistics_quantile(sorted, count, 0.05),
                          statistics_quantile(sorted, count, 0.95) - middle};
}

// Counts of threads are moved to the estimate by differences, as they may be 0.
static bool is_count(enum interval_figure figure) {
    return figure >= INTERVAL_OCCUPIED_PEAK && figure <= INTERVAL_WAITING_MEAN;
}

// What is measured in time is moved to the estimate by ratios: no run takes no time.
static void find_limits_of(double *values, unsigned count, enum interval_figure figure, double point, double *low,
                           double *high) {
    const bool by_ratio = !is_count(figure);
    for (unsigned i = 0; by_ratio && i < count; i++) values[i] = log(fmax(values[i], DBL_MIN));
    statistics_sort(values, count);
    const struct range range = find_range(values, count);
    *low = by_ratio ? point * exp(-range.below) : fmax(0, point - range.below);
    *high = by_ratio ? point * exp(range.above) : point + range.above;
}

struct intervals intervals_unknown(void) {
    struct intervals unknown = {0};
    for (int f = 0; f < INTERVAL_FIGURES; f++) unknown.of[f].low = unknown.of[f].high = NAN;
    return unknown;
}

// values: a row of `replicates` a figure, of which `count` are filled.
static void find_limits(double *values, unsigned replicates, unsigned count, const struct metrics *estimate,
                        struct intervals *intervals) {
    intervals->replicates = count;
    intervals->asked = replicates;
    for (int f = 0; f < INTERVAL_FIGURES; f++) {
        double *row = &values[(size_t)f * replicates], point = figure_of(estimate, (enum interval_figure)f);
        intervals->of[f].low = intervals->of[f].high = NAN;
        if (count < 2 || count < replicates / 2 || isnan(point) || isnan(row[0])) continue;
        find_limits_of(row, count, (enum interval_figure)f, point, &intervals->of[f].low, &intervals->of[f].high);
    }
}

// What comes out, by number of the replicate, so that it is the same whichever thread evaluates which.
struct evaluation {
    const struct interval_request *request;
    struct replicate replicates[HANDS];
    struct error *errors; // a thread each
    double *values;       // a row of replicates a figure
    uint8_t *ended;       // a flag a replicate
    bool failed[HANDS];
    atomic_uint done;
};

static void evaluate_one(void *context, uint32_t hand, uint32_t index) {
    struct evaluation *evaluation = context;
    const struct interval_request *request = evaluation->request;
    struct replicate *replicate = &evaluation->replicates[hand];
    struct metrics metrics;
    bool stuck = false;
    if (evaluation->failed[hand]) return;
    statistics_random_seed(replicate->random, request->seed * request->replicates + index);
    make_replicate(replicate);
    evaluation->failed[hand] =
        !request->evaluate(request->contexts[hand], &replicate->dag, &metrics, &stuck, &evaluation->errors[hand]);
    evaluation->ended[index] = !stuck && !evaluation->failed[hand];
    for (int f = 0; evaluation->ended[index] && f < INTERVAL_FIGURES; f++) {
        evaluation->values[(size_t)f * request->replicates + index] = figure_of(&metrics, (enum interval_figure)f);
    }
    const unsigned done = atomic_fetch_add(&evaluation->done, 1) + 1;
    if (hand == 0 && request->progress) request->progress(request->progress_context, done, request->replicates - done);
}

// Values of replicates that came to an end go to the front of their rows. Returns how many there are.
static unsigned gather_ended(struct evaluation *evaluation) {
    const unsigned replicates = evaluation->request->replicates;
    unsigned count = 0;
    for (unsigned r = 0; r < replicates; r++) {
        if (!evaluation->ended[r]) continue;
        for (size_t f = 0; f < INTERVAL_FIGURES; f++)
            evaluation->values[f * replicates + count] = evaluation->values[f * replicates + r];
        count++;
    }
    return count;
}

static bool evaluate_all(struct evaluation *evaluation, struct bootstrap *bootstrap, struct error *error) {
    const struct interval_request *request = evaluation->request;
    evaluation->values = malloc(((size_t)request->replicates * INTERVAL_FIGURES + 1) * sizeof *evaluation->values);
    evaluation->ended = calloc((size_t)request->replicates + 1, 1);
    bool ok = evaluation->values && evaluation->ended;
    for (uint32_t h = 0; ok && h < request->hands; h++) ok = replicate_new(&evaluation->replicates[h], bootstrap);
    if (!ok) return error_set(error, STATUS_FAILED, "no memory for an interval");
    hands_run(evaluate_one, evaluation, request->replicates, request->hands);
    for (uint32_t h = 0; h < request->hands; h++) {
        if (!evaluation->failed[h]) continue;
        *error = evaluation->errors[h];
        return false;
    }
    return true;
}

bool interval_estimate(const struct dag *dag, const struct metrics *estimate, const struct interval_request *request,
                       struct intervals *intervals, struct error *error) {
    struct bootstrap bootstrap;
    struct error errors[HANDS] = {ERROR_INIT, ERROR_INIT};
    struct evaluation evaluation = {.request = request, .errors = errors};
    bool ok = prepare(&bootstrap, dag, error) && evaluate_all(&evaluation, &bootstrap, error);
    if (ok) find_limits(evaluation.values, request->replicates, gather_ended(&evaluation), estimate, intervals);
    metrics_work_destroy(&bootstrap.work);
    arena_destroy(&bootstrap.arena);
    for (uint32_t h = 0; h < HANDS; h++) statistics_random_free(evaluation.replicates[h].random);
    free(evaluation.values);
    free(evaluation.ended);
    return ok;
}
