// SPDX-License-Identifier: GPL-3.0-or-later
// How a hand-over becomes cheaper the more often there is one (cold_code_added, dag/simulate/cold_code.h).
//     bench_learning FILE...     recordings of programs from their start on, with thousands of tasks
// For each, of the tasks that were spawned while their worker was busy: by how many hand-overs came before, in
// doublings, what one costs (bracket and pick-up, each a mean without a tenth at each end), and what it costs of one of
// the first 200, beside what the law says. Exit status 1 if a file can't be read.
#include "dag/dag.h"
#include "dag/order.h"
#include "dag/simulate/cold_code.h"
#include "dag/simulate/costs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 200 };

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_learning: %s\n", what);
    exit(1);
}

static int by_size(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static double trimmed_mean(int64_t *values, size_t count) {
    const size_t cut = count / 10;
    double sum = 0;
    qsort(values, count, sizeof *values, by_size);
    for (size_t i = cut; i < count - cut; i++) sum += (double)values[i];
    return count ? sum / (double)(count - 2 * cut) : 0;
}

// Of the spawned tasks from one number to another those that were queued; 0: none was.
static double mean_ns(const struct dag *dag, const struct costs *costs, const struct order_key *keys, uint32_t from,
                      uint32_t to, int64_t *values) {
    size_t count = 0;
    double sum = 0;
    const int64_t *parts[] = {costs->bracket_ns, costs->pickup_ns};
    for (int part = 0; part < 2; part++, sum += trimmed_mean(values, count)) {
        count = 0;
        for (uint32_t i = from; i < to; i++) {
            if (dag->tasks[keys[i].item].dispatch == DISPATCH_QUEUED) values[count++] = parts[part][keys[i].item];
        }
    }
    return sum;
}

static void print(const char *path, const struct dag *dag, const struct costs *costs) {
    struct order_key *keys = malloc(((size_t)dag->task_count + 1) * sizeof *keys);
    int64_t *values = malloc(((size_t)dag->task_count + 1) * sizeof *values);
    uint32_t count = 0;
    must(keys && values, "no memory");
    for (uint32_t t = 0; t < dag->task_count; t++) {
        const struct dag_task *task = &dag->tasks[t];
        if (task->spawn_begin != DAG_NONE && !(task->flags & TASK_NESTED))
            keys[count++] = (struct order_key){dag->vertices.time_ns[task->spawn_begin], t, t};
    }
    must(order_sort(keys, count), "no memory");
    const double first_ns = mean_ns(dag, costs, keys, 0, count < FIRST ? count : FIRST, values);
    printf("%s: %" PRIu32 " hand-overs\n", path, count);
    printf("%10s %12s %10s %10s\n", "behind", "cost, us", "of first", "law");
    for (uint32_t from = FIRST; from < count; from *= 2) {
        const uint32_t to = 2 * from < count ? 2 * from : count;
        const double each_ns = mean_ns(dag, costs, keys, from, to, values);
        printf("%10" PRIu32 " %12.2f %10.3f %10.3f\n", from, each_ns / 1e3, first_ns > 0 ? each_ns / first_ns : 0,
               cold_code_added(FIRST, from, to - from));
    }
    free(keys);
    free(values);
}

int main(int argc, char **argv) {
    must(argc > 1, "usage: bench_learning FILE...");
    for (int i = 1; i < argc; i++) {
        struct error error;
        char text[1024];
        struct trace *trace = trace_open(argv[i], false, &error);
        struct dag *dag = trace ? dag_build(trace, &error) : NULL;
        struct costs *costs = dag ? costs_measure(dag, &error) : NULL;
        must(costs, costs ? "" : error_text(&error, text, sizeof text));
        print(argv[i], dag, costs);
        costs_free(costs);
        dag_free(dag);
        trace_close(trace);
    }
    return 0;
}
