// SPDX-License-Identifier: GPL-3.0-or-later
// What the same code costs at different times of a run, against what it costs warm and alone: a product of three
// factors, each told by the recording's own tasks (SPEC section 5, Warm-up):
//
//   cold     by what part of all that the JVM's compilers computed they have computed by then: never rising, in the end
//   crowd    by how many other cores compute for the program at the same time, which share its locks, its caches and
//            the way to memory: never falling, 1 alone
//   turns    by what part of a core each has to do without that computes then, and so how often a thread finds its
//            caches filled by others: never falling, 1 with a core for each
//
// The pace of a run is 1 over that product. What its threads compute, times their pace, is work, which is conserved
// whatever is edited; what they compute is not.
//
// The fit is iterative proportional fitting (Bailey, Simon, Two Studies in Automobile Insurance Ratemaking, ASTIN
// Bulletin 1, 1960): each site has a cost, each factor a value for each of a few classes, and in turns each is made the
// mean of what its tasks cost but for the other factors. Costs vary by a part of themselves (McCullagh, Nelder,
// Generalized Linear Models, 2nd ed. 1989, Ch. 8), so a task tells by what its site costs warm and alone: not more for
// having been cold, or else what cold code costs is taken for what it costs to compute at once. Each factor is then
// made monotone by pooling adjacent violators (Barlow, Bartholomew, Bremner, Brunk, Statistical Inference under Order
// Restrictions, 1972). A task that took more than twice what is expected counts as that, so that a cost is followed
// where many tasks have it; classes with few tasks are drawn towards no effect, least where code is cold.
#ifndef REHYPE_DAG_PACE_H
#define REHYPE_DAG_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { PACE_COLD, PACE_CROWD, PACE_TURNS, PACE_FACTORS };
enum { PACE_CLASSES = 24 };

struct pace {
    bool known; // false: every cost is as recorded, and the pace 1
    double factor[PACE_FACTORS][PACE_CLASSES];
};

// When a task ran, each part from 0 to 1: compiled of all that is in the end; of the other cores that the program's
// other threads had while it had one; of a core that it had to do without.
struct pace_when {
    double part[PACE_FACTORS];
};

// A thread has so much of a core, and others of the program so much of all cores together, as much of each core that it
// does not have as of any other: what they have of the other cores while it has one.
static inline double pace_crowd(double own, double others, double cores) {
    const double free = cores - own;
    return others <= 0 ? 0 : others >= free ? 1 : others / free;
}

// Where so many share the cores, each with that part of one.
static inline struct pace_when pace_when_shared(double compiled, double rate, uint32_t computing, double cores) {
    const double others = computing ? rate * (computing - 1) : 0;
    return (struct pace_when){{compiled, pace_crowd(rate, others, cores), 1 - rate}};
}

struct pace_task {
    uint32_t site;
    double cost_ns; // what it computed
    struct pace_when when;
};

static inline uint32_t pace_class(double part) {
    const double at = part * PACE_CLASSES;
    return at >= PACE_CLASSES - 1 ? PACE_CLASSES - 1 : at > 0 ? (uint32_t)at : 0;
}

// Code is of one class of cold at a time, so that it is known when that changes; of the others the value lies between
// those of two classes' middles, or a little more of others' computing would be a jump.
static inline double pace_factor(const struct pace *pace, const struct pace_when *when, int factor) {
    const double *values = pace->factor[factor];
    if (factor == PACE_COLD) return values[pace_class(when->part[factor])];
    const double at = when->part[factor] * PACE_CLASSES - 0.5;
    if (!(at > 0)) return values[0];
    if (at >= PACE_CLASSES - 1) return values[PACE_CLASSES - 1];
    const int below = (int)at;
    return values[below] + (at - below) * (values[below + 1] - values[below]);
}

static inline double pace_at(const struct pace *pace, const struct pace_when *when) {
    double cost = 1;
    for (int f = 0; f < PACE_FACTORS; f++) cost *= pace_factor(pace, when, f);
    return 1 / cost;
}

// Of sites with fewer than 20 tasks nothing is learned; where fewer than 40 tasks are left, `known` is false. false:
// no memory. Cost: about 1 us a task.
bool pace_fit(struct pace *pace, const struct pace_task *tasks, uint32_t count, uint32_t sites);

#endif
