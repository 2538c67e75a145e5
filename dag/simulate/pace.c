// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/pace.h"

#include <stdlib.h>

enum { SITE_LEAST = 20, TASKS_LEAST = 40, ROUNDS = 12 };

static const double most_times = 2, most_factor[PACE_FACTORS] = {10, 4, 1.5};
// That code begins cold is known: what it is drawn short of, the factors that vary with it would take up.
static const double drawn_by[PACE_FACTORS] = {3, 30, 30}; // tasks

struct site_sum {
    uint32_t count, told;
    double alone_ns, cost_ns; // the sum of what its tasks would have cost warm and alone; and what it costs so
};

struct fit {
    struct pace *pace;
    const struct pace_task *tasks;
    uint32_t count;
    struct site_sum *sites;
    uint32_t site_count;
};

struct class_sum { // of its tasks: what they cost but for the other factors, and what their sites cost; the ratio
    double recorded_ns, expected_ns, value;
    double pooled_ns; // expected of all classes that it was pooled with
};

static bool counts(const struct fit *fit, const struct pace_task *task) {
    return fit->sites[task->site].count >= SITE_LEAST && task->cost_ns > 0;
}

static double lesser(double a, double b) {
    return a < b ? a : b;
}

// ---- sites

static void fit_sites(struct fit *fit) {
    for (uint32_t s = 0; s < fit->site_count; s++) fit->sites[s].alone_ns = fit->sites[s].told = 0;
    for (uint32_t i = 0; i < fit->count; i++) {
        const struct pace_task *task = &fit->tasks[i];
        struct site_sum *site = &fit->sites[task->site];
        if (!counts(fit, task)) continue;
        const double times = 1 / pace_at(fit->pace, &task->when);
        const double most_ns = site->cost_ns > 0 ? most_times * site->cost_ns * times : task->cost_ns;
        site->alone_ns += lesser(task->cost_ns, most_ns) / times;
        site->told++;
    }
    for (uint32_t s = 0; s < fit->site_count; s++) {
        struct site_sum *site = &fit->sites[s];
        site->cost_ns = site->told ? site->alone_ns / site->told : 0;
    }
}

// ---- factors

// Returns what so many tasks as values are drawn by cost.
static double sum_classes(const struct fit *fit, int factor, struct class_sum sums[static PACE_CLASSES]) {
    double all_ns = 0;
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < fit->count; i++) {
        const struct pace_task *task = &fit->tasks[i];
        const double cost_ns = fit->sites[task->site].cost_ns;
        if (!counts(fit, task) || cost_ns <= 0) continue;
        const uint32_t class = pace_class(task->when.part[factor]);
        const double times = 1 / pace_at(fit->pace, &task->when);
        const double others = times / pace_factor(fit->pace, &task->when, factor);
        sums[class].recorded_ns += lesser(task->cost_ns, most_times * cost_ns * times) / others;
        sums[class].expected_ns += cost_ns;
        all_ns += cost_ns;
        tasks++;
    }
    for (int c = 0; c < PACE_CLASSES; c++) {
        if (sums[c].expected_ns > 0) sums[c].value = sums[c].recorded_ns / sums[c].expected_ns;
    }
    return tasks ? drawn_by[factor] * all_ns / tasks : 0;
}

// Classes that no task is of take part in nothing, and get what the class before has, at the beginning the first one.
static void fill_empty(struct class_sum sums[static PACE_CLASSES]) {
    int first = 0;
    while (first < PACE_CLASSES - 1 && sums[first].expected_ns <= 0) first++;
    for (int c = 0; c < first; c++) sums[c].value = sums[first].value;
    for (int c = first + 1; c < PACE_CLASSES; c++) {
        if (sums[c].expected_ns <= 0) sums[c].value = sums[c - 1].value;
    }
}

// Pools adjacent classes whose values rise, or `rising`, fall, weighted by what is expected of them.
static void make_monotone(struct class_sum sums[static PACE_CLASSES], bool rising) {
    struct {
        double value, weight;
        int last;
    } blocks[PACE_CLASSES];
    int count = 0;
    for (int c = 0; c < PACE_CLASSES; c++) {
        if (sums[c].expected_ns <= 0) continue;
        double value = sums[c].value, weight = sums[c].expected_ns;
        for (; count && (rising ? blocks[count - 1].value > value : blocks[count - 1].value < value); count--) {
            const double all = weight + blocks[count - 1].weight;
            value = (value * weight + blocks[count - 1].value * blocks[count - 1].weight) / all;
            weight = all;
        }
        blocks[count].value = value;
        blocks[count].weight = weight;
        blocks[count++].last = c;
    }
    for (int c = 0, b = 0; c < PACE_CLASSES && b < count; c++) {
        sums[c].value = blocks[b].value;
        sums[c].pooled_ns = blocks[b].weight;
        if (c == blocks[b].last) b++;
    }
}

// Towards no effect, as by some tasks more that had none.
static void draw(struct class_sum sums[static PACE_CLASSES], double drawn_ns) {
    for (int c = 0; c < PACE_CLASSES; c++) {
        if (sums[c].pooled_ns > 0)
            sums[c].value = (sums[c].value * sums[c].pooled_ns + drawn_ns) / (sums[c].pooled_ns + drawn_ns);
    }
}

static void fit_factor(struct fit *fit, int factor) {
    struct class_sum sums[PACE_CLASSES] = {{0}};
    const double drawn_ns = sum_classes(fit, factor, sums);
    make_monotone(sums, factor != PACE_COLD);
    draw(sums, drawn_ns);
    make_monotone(sums, factor != PACE_COLD); // few tasks are drawn more than many
    fill_empty(sums);
    const double least = factor == PACE_COLD ? sums[PACE_CLASSES - 1].value : sums[0].value;
    for (int c = 0; c < PACE_CLASSES && least > 0; c++)
        fit->pace->factor[factor][c] = lesser(sums[c].value / least, most_factor[factor]);
}

static void fit_all(struct fit *fit) {
    for (int round = 0; round < ROUNDS; round++) {
        fit_sites(fit);
        for (int f = 0; f < PACE_FACTORS; f++) fit_factor(fit, f);
    }
}

bool pace_fit(struct pace *pace, const struct pace_task *tasks, uint32_t count, uint32_t sites) {
    struct fit fit = {pace, tasks, count, calloc((size_t)sites + 1, sizeof *fit.sites), sites};
    uint32_t telling = 0;
    pace->known = false;
    for (int f = 0; f < PACE_FACTORS; f++) {
        for (int c = 0; c < PACE_CLASSES; c++) pace->factor[f][c] = 1;
    }
    if (!fit.sites) return false;
    for (uint32_t i = 0; i < count; i++) fit.sites[tasks[i].site].count += tasks[i].cost_ns > 0;
    for (uint32_t i = 0; i < count; i++) telling += counts(&fit, &tasks[i]);
    pace->known = telling >= TASKS_LEAST;
    if (pace->known) fit_all(&fit);
    free(fit.sites);
    return true;
}
