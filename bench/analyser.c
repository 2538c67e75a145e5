// SPDX-License-Identifier: GPL-3.0-or-later
// What the analyser manages: loading and building, propagation, simulation, and all metrics, over traces that it makes
// itself. bench/analyser runs it, each measurement in a process of its own, so that peaks of memory are each one's.
//     bench_analyser make tasks|functions EVENTS FILE
//     bench_analyser kernels FILE     tab-separated: what, events, events a second, bytes an event or 0
//     bench_analyser plans FILE       what, vertices, plans a second, ns a vertex and plan; kernels prints these, too
//     bench_analyser analyse FILE     the same, and peak memory
#include "bench/random.h"
#include "dag/propagate/segments.h"
#include "dag/simulate/simulate.h"
#include "metrics/metrics.h"
#include "metrics/streamed.h"
#include "tracefile/writer.h"

#include <igraph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_analyser: %s\n", what);
    exit(1);
}

static void must_succeed(bool good, const struct error *error) {
    char text[1024];
    if (!good) must(false, error_text(error, text, sizeof text));
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- a trace: producers hand tasks over to pools of workers, first in first out, and wait for some of them

enum {
    PRODUCERS = 8,
    POOLS = 4,
    WORKERS = 8, // of a pool
    THREADS = 1 + PRODUCERS + POOLS * WORKERS,
    SITES = 40,
    METHODS = 300,
    DEPTH = 12,
    BATCH = 16384,
    IN_FLIGHT = 64, // tasks of a producer whose results it may still ask for
};

struct thread {
    uint32_t id;
    uint64_t now_ns, cpu_ns;
    struct event *events;
    uint32_t count;
};

struct maker {
    struct trace_writer *writer;
    struct thread threads[THREADS + 1]; // by id; [1 ..] producers, then workers pool by pool
    uint64_t events, tasks, functions_each;
    struct {
        uint64_t task, result_ns;
    } given[PRODUCERS][IN_FLIGHT];
};

static void flush(struct maker *maker, struct thread *thread) {
    if (!thread->count) return;
    must(trace_write_events(maker->writer, thread->id, thread->events, thread->count), "cannot write events");
    thread->count = 0;
}

// At `at_ns`, or as soon afterwards as the thread's own past lets it.
static void put(struct maker *maker, struct thread *thread, uint64_t at_ns, uint8_t kind, uint64_t a, uint64_t b,
                uint64_t c) {
    if (at_ns <= thread->now_ns) at_ns = thread->now_ns + 1;
    thread->now_ns = at_ns;
    thread->events[thread->count++] = (struct event){.time = at_ns, .kind = kind, .operand = {a, b, c}};
    maker->events++;
    if (thread->count == BATCH) flush(maker, thread);
}

static uint64_t compute(struct thread *thread, uint64_t ns) {
    return thread->cpu_ns += ns;
}

// Calls nested in calls, all left in the end; those of a few functions, as tasks of one site make.
static void put_functions(struct maker *maker, struct thread *worker, uint64_t site) {
    uint64_t stack[DEPTH];
    unsigned depth = 0;
    for (uint64_t i = 0; i < maker->functions_each || depth; i++) {
        bool enter = i < maker->functions_each && (depth == 0 || (depth < DEPTH && random_next() % 2));
        if (enter) stack[depth++] = 1 + (16 * site + random_next() % 16) % METHODS;
        uint64_t method = enter ? stack[depth - 1] : stack[--depth];
        put(maker, worker, worker->now_ns + 40 + random_next() % 100, enter ? EVENT_ENTER : EVENT_EXIT, method, 0, 0);
    }
}

static struct thread *next_free(struct maker *maker, uint32_t pool) {
    struct thread *workers = &maker->threads[1 + PRODUCERS + pool * WORKERS], *first = workers;
    for (uint32_t i = 1; i < WORKERS; i++) {
        if (workers[i].now_ns < first->now_ns) first = &workers[i];
    }
    return first;
}

static uint64_t run_task(struct maker *maker, uint32_t pool, uint64_t task, uint64_t site, uint64_t spawned_ns) {
    struct thread *worker = next_free(maker, pool);
    if (spawned_ns > worker->now_ns) {
        put(maker, worker, 0, EVENT_IDLE, pool + 1, 0, 0);
        put(maker, worker, spawned_ns + 5000 + random_next() % 20000, EVENT_BUSY, pool + 1, 0, 0);
    }
    put(maker, worker, worker->now_ns + 500, EVENT_TASK_START, task, compute(worker, 300), 0);
    put_functions(maker, worker, site);
    uint64_t size_ns = 5000 + random_next() % 150000, result_ns = worker->now_ns + size_ns;
    put(maker, worker, result_ns, EVENT_RESULT, task, 0, 0);
    put(maker, worker, result_ns + 400, EVENT_TASK_END, task, compute(worker, size_ns), TASK_RETURNED);
    return result_ns;
}

static void await_task(struct maker *maker, struct thread *producer, uint64_t task, uint64_t result_ns) {
    if (result_ns <= producer->now_ns) {
        put(maker, producer, producer->now_ns + 50, EVENT_TAKEN, task, 0, 0);
        return;
    }
    put(maker, producer, 0, EVENT_WAIT_BEGIN, task, compute(producer, 100), (uint64_t)WAIT_FOR_TASK << 32 | 1);
    put(maker, producer, result_ns + 10000 + random_next() % 10000, EVENT_WAIT_END, task, compute(producer, 100), 0);
}

// One producer's next task; every other time it asks for the result of one that it handed over before.
static void make_task(struct maker *maker, uint32_t index) {
    struct thread *producer = &maker->threads[1 + index];
    uint64_t task = 1 + THREADS + maker->tasks++, order = task / PRODUCERS % IN_FLIGHT;
    uint32_t pool = (uint32_t)(random_next() % POOLS), site = 1 + (uint32_t)(random_next() % SITES);
    uint64_t spawned_ns = producer->now_ns + 2000 + random_next() % 20000;
    put(maker, producer, spawned_ns, EVENT_SPAWN_BEGIN, task, site, pool + 1);
    uint64_t result_ns = run_task(maker, pool, task, site, producer->now_ns);
    put(maker, producer, producer->now_ns + 3000, EVENT_SPAWN_END, task, SPAWN_ACCEPTED, 0);
    if (maker->given[index][order].task && task % 2) {
        await_task(maker, producer, maker->given[index][order].task, maker->given[index][order].result_ns);
    }
    maker->given[index][order].task = task;
    maker->given[index][order].result_ns = result_ns;
}

static void write_tables(struct trace_writer *writer) {
    static struct trace_method methods[METHODS];
    static struct trace_site sites[SITES];
    for (unsigned i = 0; i < METHODS; i++) methods[i] = (struct trace_method){"com.acme.Main", "run", "()V", NULL, i};
    for (unsigned i = 0; i < SITES; i++)
        sites[i] = (struct trace_site){"com.acme.Main", "run", "()V", NULL, i, -1, NULL, NULL, false};
    must(trace_write_methods(writer, 1, methods, METHODS) && trace_write_sites(writer, 1, sites, SITES), "tables");
    for (uint32_t p = 1; p <= POOLS; p++) {
        struct trace_pool pool = {.kind = "java.util.concurrent.ThreadPoolExecutor",
                                  .queue = "java.util.concurrent.LinkedBlockingQueue",
                                  .name = "pool",
                                  .core = WORKERS,
                                  .maximum = WORKERS,
                                  .capacity = -1};
        must(trace_write_pool(writer, p, &pool), "pool");
    }
    for (uint32_t t = 1; t <= THREADS; t++)
        must(trace_write_thread(writer, t, &(struct trace_thread){"thread", 0}), "thread");
}

static void begin_threads(struct maker *maker) {
    for (uint32_t t = 1; t <= THREADS; t++) {
        struct thread *thread = &maker->threads[t];
        thread->id = t;
        thread->cpu_ns = 1000;
        thread->events = malloc(BATCH * sizeof *thread->events);
        must(thread->events != NULL, "no memory");
        put(maker, thread, t, t == THREADS ? EVENT_MAIN_BEGIN : EVENT_THREAD_START, t, thread->cpu_ns, 0);
        uint32_t worker = t - 1 - PRODUCERS;
        if (t > PRODUCERS && t < THREADS) put(maker, thread, 0, EVENT_WORKER_BEGIN, 1 + worker / WORKERS, 0, 0);
    }
}

static void make(const char *what, uint64_t events, const char *path) {
    static struct maker maker;
    static const struct trace_header header = {.clock = "ns",
                                               .ticks_per_s = 1000000000,
                                               .cores = 8,
                                               .cycle_unit = "cpu_ns",
                                               .cycle_source = "clock_gettime",
                                               .origin = "recorded"};
    struct error error = ERROR_INIT;
    maker.functions_each = strcmp(what, "functions") == 0 ? 200 : 0;
    maker.writer = trace_writer_open(path, &header, false, NULL, &error);
    must_succeed(maker.writer != NULL, &error);
    write_tables(maker.writer);
    begin_threads(&maker);
    while (maker.events < events) {
        uint32_t earliest = 0; // so that pools are handed tasks in order of time
        for (uint32_t i = 1; i < PRODUCERS; i++) {
            if (maker.threads[1 + i].now_ns < maker.threads[1 + earliest].now_ns) earliest = i;
        }
        make_task(&maker, earliest);
    }
    for (uint32_t t = 1; t <= THREADS; t++) {
        struct thread *thread = &maker.threads[t];
        put(&maker, thread, 0, EVENT_THREAD_END, t, compute(thread, 1), 0);
        flush(&maker, thread);
        free(thread->events);
    }
    must_succeed(trace_writer_close(maker.writer, &(struct trace_end){0}, &error), &error);
}

// ---- measuring

struct subject {
    struct trace *trace;
    struct dag *dag;
    struct dag_edit edit;
    struct dag_run run;
};

static void print_row(const char *what, uint64_t events, double seconds, double bytes) {
    printf("%s\t%" PRIu64 "\t%.0f\t%.1f\n", what, events, (double)events / seconds, bytes);
}

static void load(struct subject *subject, const char *path) {
    struct error error = ERROR_INIT;
    subject->trace = trace_open(path, false, &error);
    must_succeed(subject->trace != NULL, &error);
    subject->dag = dag_build(subject->trace, &error);
    must_succeed(subject->dag != NULL, &error);
}

static void unload(struct subject *subject) {
    dag_free(subject->dag);
    trace_close(subject->trace);
}

// The best of a few: what disturbs a measurement only ever adds to it.
#define BEST_OF(rounds, seconds, ...)                                                                                  \
    do {                                                                                                               \
        (seconds) = 1e9;                                                                                               \
        for (int round_ = 0; round_ < (rounds); round_++) {                                                            \
            double begin_ = now_s();                                                                                   \
            __VA_ARGS__;                                                                                               \
            double took_ = now_s() - begin_;                                                                           \
            if (took_ < (seconds)) (seconds) = took_;                                                                  \
        }                                                                                                              \
    } while (0)

static volatile uint64_t sink;

static uint64_t sum_of(const void *bytes, size_t size) {
    const uint64_t *words = bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < size / sizeof *words; i++) sum += words[i];
    return sum;
}

// What no analyser can go below: to read the trace's bytes, and to write and read those of the graph.
static void pass_over_file(const struct subject *subject, const char *path, void *graph, size_t size) {
    FILE *file = fopen(path, "rb");
    static char buffer[1 << 20];
    must(file != NULL, "cannot read the trace");
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;) sink += sum_of(buffer, got);
    fclose(file);
    memset(graph, (int)subject->dag->task_count, size);
    sink += sum_of(graph, size);
}

// The same for a propagation: to read the graph's hot arrays once, and write the times.
static void pass_over_graph(struct subject *subject) {
    const struct dag_vertices *vertices = &subject->dag->vertices;
    size_t count = subject->dag->vertex_count;
    sink += sum_of(vertices->cause, count * sizeof *vertices->cause) +
            sum_of(vertices->task, count * sizeof *vertices->task) + sum_of(vertices->kind, count) +
            sum_of(vertices->rule, count);
    memcpy(subject->run.time_ns, vertices->time_ns, count * sizeof *vertices->time_ns);
}

static void check_exact(const struct subject *subject) {
    size_t size = subject->dag->vertex_count * sizeof *subject->run.time_ns;
    must(memcmp(subject->run.time_ns, subject->dag->vertices.time_ns, size) == 0, "recorded times did not come back");
}

static void measure_load(const char *path, struct subject *subject) {
    double seconds, floor;
    BEST_OF(3, seconds, load(subject, path); unload(subject));
    load(subject, path);
    uint64_t events = subject->trace->event_count;
    size_t bytes = (size_t)subject->dag->vertex_count * (8 + 4 + 4 + 8 + 1 + 1 + 8) +
                   (size_t)subject->dag->task_count * sizeof *subject->dag->tasks;
    void *graph = malloc(bytes);
    must(graph != NULL, "no memory");
    BEST_OF(5, floor, pass_over_file(subject, path, graph, bytes));
    free(graph);
    print_row("load and build", events, seconds, (double)bytes / (double)events);
    print_row("  floor: the same bytes, once", events, floor, 0);
}

static void measure_propagation(struct subject *subject) {
    struct error error = ERROR_INIT;
    struct dag *dag = subject->dag;
    double seconds;
    must_succeed(dag_edit_init(&subject->edit, dag, &error) && dag_run_init(&subject->run, dag, &error), &error);
    dag_propagate(dag, &subject->edit, &subject->run);
    BEST_OF(11, seconds, must(dag_propagate(dag, &subject->edit, &subject->run) == DAG_OK, "deadlock"));
    check_exact(subject);
    const struct dag_run *run = &subject->run;
    const struct dag_segments *segments = run->segments;
    double bytes = (double)dag->vertex_count * (8 + 8) + (double)run->turn_count * sizeof *run->turns +
                   (double)(dag->vertex_count / MARKS) * sizeof *segments->marks +
                   (double)segments->count * (sizeof *segments->list + sizeof *segments->links + 8 + 4);
    print_row("propagation, nothing edited", dag->vertex_count, seconds, bytes / dag->vertex_count);
    for (uint32_t t = 0; t < dag->task_count; t++) {
        if (dag->tasks[t].site != DAG_NONE && dag->tasks[t].site % 4 == 0 && !dag_inline_refusal(dag, t))
            dag_edit_inline(&subject->edit, t);
    }
    BEST_OF(11, seconds, must(dag_propagate(dag, &subject->edit, &subject->run) == DAG_OK, "deadlock"));
    print_row("propagation, a quarter of all sites inlined", dag->vertex_count, seconds, 0);
    dag_edit_clear(&subject->edit, dag);
    BEST_OF(11, seconds, pass_over_graph(subject));
    print_row("  floor: the same bytes, once", dag->vertex_count, seconds, 0);
}

static void derive(struct simulation *simulation, struct metrics_work *work, struct metrics *metrics) {
    struct error error = ERROR_INIT;
    must_succeed(metrics_of_run(simulation_dag(simulation), false, NULL, NULL, work, metrics, &error), &error);
}

static void stream(struct simulation *simulation, struct metrics_work *work, struct metrics *metrics) {
    struct error error = ERROR_INIT;
    bool known;
    must_succeed(metrics_of_simulation(simulation, NULL, NULL, work, metrics, &known, &error), &error);
    must(known, "the figures were not streamed");
}

static void propagate(const struct subject *subject, struct dag_run *run, struct metrics_work *work,
                      struct metrics *metrics) {
    struct error error = ERROR_INIT;
    must(dag_propagate(subject->dag, &subject->edit, run) == DAG_OK, "deadlock");
    must_succeed(metrics_usage(subject->dag, &subject->edit, run, NULL, NULL, work, metrics, &error), &error);
}

static void print_plans(const char *model, const char *what, uint64_t events, double seconds) {
    printf("plans, model %s, %s\t%" PRIu64 "\t%.2f\t%.1f\n", model, what, events, 1 / seconds,
           seconds * 1e9 / (double)events);
}

// A propagation and the figures that a search needs of it.
static void measure_propagated_plans(struct subject *subject) {
    struct error error = ERROR_INIT;
    struct dag_run run;
    struct metrics_work work = {0};
    struct metrics metrics;
    double seconds;
    must_succeed(dag_run_init(&run, subject->dag, &error), &error);
    BEST_OF(3, seconds, propagate(subject, &run, &work, &metrics));
    print_plans("dag", "propagated", subject->dag->vertex_count, seconds);
    metrics_work_destroy(&work);
    dag_run_destroy(&run);
}

// The same of a simulation, with the run made a DAG and without.
static void measure_plans(struct subject *subject, struct simulation *simulation) {
    static const char *const names[] = {"dag", "pool", "cpu"};
    const uint64_t vertices = subject->dag->vertex_count;
    struct metrics_work work = {0}, streaming = {0};
    struct metrics derived, streamed;
    for (int kind = MODEL_DAG; kind <= MODEL_CPU; kind++) {
        const struct model model = {.kind = (enum model_kind)kind};
        double run_s, derived_s, streamed_s;
        BEST_OF(3, run_s, must(simulation_run(simulation, &subject->edit, &model) == DAG_OK, "stuck"));
        BEST_OF(3, derived_s, simulation_run(simulation, &subject->edit, &model); derive(simulation, &work, &derived));
        BEST_OF(3, streamed_s, simulation_run(simulation, &subject->edit, &model);
                stream(simulation, &streaming, &streamed));
        must(memcmp(derived.threads, streamed.threads, sizeof derived.threads) == 0, "streamed figures differ");
        print_plans(names[kind], "the run alone", vertices, run_s);
        print_plans(names[kind], "derived", vertices, derived_s);
        print_plans(names[kind], "streamed", vertices, streamed_s);
    }
    metrics_work_destroy(&work);
    metrics_work_destroy(&streaming);
}

static void measure_simulation(struct subject *subject, bool only_plans) {
    struct error error = ERROR_INIT;
    const struct model model = {.kind = MODEL_POOL};
    struct costs *costs = costs_measure(subject->dag, &error);
    must_succeed(costs != NULL, &error);
    struct simulation *simulation = simulation_new(subject->dag, costs, &error);
    must_succeed(simulation != NULL, &error);
    double seconds;
    if (!only_plans) {
        BEST_OF(11, seconds, must(simulation_run(simulation, &subject->edit, &model) == DAG_OK, "stuck");
                must(simulation_dag(simulation) != NULL, "no memory"));
        print_row("simulation, model pool", subject->dag->vertex_count, seconds, 0);
    }
    measure_propagated_plans(subject);
    measure_plans(subject, simulation);
    simulation_free(simulation);
    costs_free(costs);
}

static void plans(const char *path) {
    struct subject subject;
    struct error error = ERROR_INIT;
    load(&subject, path);
    must_succeed(dag_edit_init(&subject.edit, subject.dag, &error), &error);
    measure_simulation(&subject, true);
    dag_edit_destroy(&subject.edit);
    unload(&subject);
}

// ---- the same propagation by igraph: its topological order, and the longest path over it. Both edges into a vertex
// have the residual that rules keep, so that recorded times come back.

static bool igraph_failed(igraph_error_t code) {
    return code != IGRAPH_SUCCESS;
}

struct plain_graph {
    igraph_t graph;
    igraph_vector_int_t ends;
    int64_t *delay_ns; // by edge
    size_t edges;
};

static void add_edge(struct plain_graph *plain, uint32_t from, uint32_t to, int64_t delay_ns) {
    VECTOR(plain->ends)[2 * plain->edges] = from;
    VECTOR(plain->ends)[2 * plain->edges + 1] = to;
    plain->delay_ns[plain->edges++] = delay_ns;
}

static void list_edges(struct plain_graph *plain, const struct dag *dag) {
    const struct dag_vertices *vertices = &dag->vertices;
    for (uint32_t i = 0; i < dag->thread_count; i++) {
        uint32_t first = dag->threads[i].first;
        for (uint32_t v = first; v < first + dag->threads[i].count; v++) {
            uint32_t cause = dag_awaited_by(vertices, v);
            int64_t latest_ns = v > first ? vertices->time_ns[v - 1] : INT64_MIN;
            if (cause != DAG_NONE && vertices->time_ns[cause] > latest_ns) latest_ns = vertices->time_ns[cause];
            int64_t delay_ns = vertices->time_ns[v] - latest_ns;
            if (v > first) add_edge(plain, v - 1, v, delay_ns);
            if (cause != DAG_NONE) add_edge(plain, cause, v, delay_ns);
        }
    }
}

static void plain_init(struct plain_graph *plain, const struct dag *dag) {
    size_t most = 2 * (size_t)dag->vertex_count;
    plain->delay_ns = malloc(most * sizeof *plain->delay_ns);
    must(plain->delay_ns && !igraph_failed(igraph_vector_int_init(&plain->ends, (igraph_integer_t)(2 * most))),
         "memory");
    list_edges(plain, dag);
    must(!igraph_failed(igraph_vector_int_resize(&plain->ends, (igraph_integer_t)(2 * plain->edges))), "memory");
    must(!igraph_failed(igraph_create(&plain->graph, &plain->ends, dag->vertex_count, IGRAPH_DIRECTED)),
         "igraph_create");
}

static void propagate_plain(const struct plain_graph *plain, const struct dag *dag, int64_t *time_ns) {
    igraph_vector_int_t order, into;
    must(!igraph_failed(igraph_vector_int_init(&order, 0)) && !igraph_failed(igraph_vector_int_init(&into, 0)),
         "memory");
    must(!igraph_failed(igraph_topological_sorting(&plain->graph, &order, IGRAPH_OUT)), "igraph_topological_sorting");
    for (igraph_integer_t i = 0; i < igraph_vector_int_size(&order); i++) {
        igraph_integer_t v = VECTOR(order)[i];
        must(!igraph_failed(igraph_incident(&plain->graph, &into, v, IGRAPH_IN)), "igraph_incident");
        igraph_integer_t count = igraph_vector_int_size(&into);
        time_ns[v] = count ? INT64_MIN : dag->vertices.time_ns[v];
        for (igraph_integer_t e = 0; e < count; e++) {
            igraph_integer_t edge = VECTOR(into)[e];
            int64_t reached_ns = time_ns[IGRAPH_FROM(&plain->graph, edge)] + plain->delay_ns[edge];
            if (reached_ns > time_ns[v]) time_ns[v] = reached_ns;
        }
    }
    igraph_vector_int_destroy(&order);
    igraph_vector_int_destroy(&into);
}

static void measure_igraph(struct subject *subject) {
    struct plain_graph plain = {0};
    double build_s, seconds;
    BEST_OF(1, build_s, plain_init(&plain, subject->dag));
    BEST_OF(3, seconds, propagate_plain(&plain, subject->dag, subject->run.time_ns));
    check_exact(subject);
    print_row("  igraph: make the graph", subject->dag->vertex_count, build_s, 0);
    print_row("  igraph: topological order, longest path", subject->dag->vertex_count, seconds, 0);
    igraph_destroy(&plain.graph);
    igraph_vector_int_destroy(&plain.ends);
    free(plain.delay_ns);
}

static void kernels(const char *path) {
    struct subject subject;
    measure_load(path, &subject);
    measure_propagation(&subject);
    measure_igraph(&subject);
    measure_simulation(&subject, false);
    dag_run_destroy(&subject.run);
    dag_edit_destroy(&subject.edit);
    unload(&subject);
}

static void analyse(const char *path) {
    struct subject subject;
    struct error error = ERROR_INIT;
    struct metrics_work work = {0};
    struct metrics metrics;
    double begin_s = now_s();
    load(&subject, path);
    must_succeed(dag_edit_init(&subject.edit, subject.dag, &error), &error);
    must_succeed(dag_run_init(&subject.run, subject.dag, &error), &error);
    must(dag_propagate(subject.dag, &subject.edit, &subject.run) == DAG_OK, "deadlock");
    must_succeed(metrics_compute(subject.dag, &subject.edit, &subject.run, NULL, NULL, &work, &metrics, &error),
                 &error);
    double seconds = now_s() - begin_s;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    print_row("load, build, all metrics", subject.trace->event_count, seconds,
              (double)usage.ru_maxrss * 1024 / (double)subject.trace->event_count);
    printf("peak memory, MiB\t%ld\t%.1f\n", usage.ru_maxrss / 1024, seconds);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "make") == 0) {
        make(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
    } else if (argc == 3 && strcmp(argv[1], "kernels") == 0) {
        kernels(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "plans") == 0) {
        plans(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "analyse") == 0) {
        analyse(argv[2]);
    } else {
        must(false, "make tasks|functions EVENTS FILE, kernels FILE, plans FILE, or analyse FILE");
    }
    return 0;
}
