// SPDX-License-Identifier: GPL-3.0-or-later
#include "optimize/combine.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KICK_FLIPS = 3,
    CLIMBS_TO_RESTART = 10,
    CLIMBS_TO_GIVE_UP = 40,
    TOGETHER = 2, // flips: on any machine, so that all find the same
};

struct search {
    const struct combine_problem *problem;
    struct arena *arena;
    struct error *error;
    struct combination *seen; // in order of evaluation
    size_t count, evaluated, capacity;
    uint32_t *slots;   // hash table over seen: index + 1, 0 empty
    size_t slot_count; // a power of two, twice the capacity at least
    uint32_t *members; // the combination being made
    bool failed;
};

double combination_rounded(double score) {
    if (!isfinite(score) || score == 0) return score;
    double unit = pow(10, floor(log10(fabs(score))) - 9);
    return rint(score / unit) * unit;
}

int combination_compare(const void *a, const void *b) {
    const struct combination *left = a, *right = b;
    if (left->valid != right->valid) return left->valid ? -1 : 1;
    const double here = combination_rounded(left->score), there = combination_rounded(right->score);
    if (here != there) return here < there ? -1 : 1;
    if (left->count != right->count) return left->count < right->count ? -1 : 1;
    for (uint32_t i = 0; i < left->count; i++) {
        if (left->members[i] != right->members[i]) return left->members[i] < right->members[i] ? -1 : 1;
    }
    return 0;
}

static bool search_init(struct search *search) {
    search->capacity = (size_t)search->problem->evaluations + 1;
    for (search->slot_count = 16; search->slot_count < search->capacity * 2;) search->slot_count *= 2;
    search->seen = calloc(search->capacity, sizeof *search->seen);
    search->slots = calloc(search->slot_count, sizeof *search->slots);
    search->members = calloc((size_t)search->problem->candidates + 1, sizeof *search->members);
    return search->seen && search->slots && search->members;
}

static bool is_exhausted(const struct search *search) {
    return search->failed || search->count == search->capacity;
}

static uint32_t *find_slot(const struct search *search, uint64_t key) {
    size_t slot = (key * 0x9E3779B97F4A7C15u >> 20) & (search->slot_count - 1);
    while (search->slots[slot] && search->seen[search->slots[slot] - 1].key != key)
        slot = (slot + 1) & (search->slot_count - 1);
    return &search->slots[slot];
}

static void stop(struct search *search) {
    search->failed = true;
}

static const uint32_t *keep_members(struct search *search, uint32_t count) {
    uint32_t *kept = ARENA_NEW(search->arena, uint32_t, (size_t)count + 1);
    if (kept)
        memcpy(kept, search->members, count * sizeof *kept);
    else
        error_set(search->error, STATUS_FAILED, "no memory for the search");
    return kept;
}

// search->members among what was seen, where it was put now if it is new; NULL when the search must end. What is new is
// evaluated by evaluate_new.
static struct combination *look_up(struct search *search, uint32_t count) {
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i++) key ^= search->problem->keys[search->members[i]];
    uint32_t *slot = find_slot(search, key);
    struct combination *known = *slot ? &search->seen[*slot - 1] : NULL;
    if (known && count >= known->count) return known;
    if (!known && is_exhausted(search)) return NULL;
    const uint32_t *members = keep_members(search, count);
    if (!members) {
        stop(search);
        return NULL;
    }
    if (!known) {
        known = &search->seen[search->count];
        known->key = key;
        *slot = (uint32_t)++search->count;
    }
    known->members = members;
    known->count = count;
    return known;
}

// false when the search must end.
static bool evaluate_new(struct search *search) {
    const struct combine_problem *problem = search->problem;
    struct combination *fresh = &search->seen[search->evaluated];
    const size_t count = search->count - search->evaluated;
    if (count && !problem->evaluate(problem->context, fresh, count, search->error)) stop(search);
    search->evaluated = search->count;
    return !search->failed;
}

static bool is_compatible(const struct combine_problem *problem, const uint32_t *members, uint32_t count,
                          uint32_t next) {
    for (uint32_t i = 0; i < count; i++) {
        if (problem->excludes[(size_t)members[i] * problem->candidates + next]) return false;
    }
    return true;
}

// Visits the compatible subsets of [next, candidates) joined to the members so far; stops past the limit.
static size_t enumerate(struct search *search, uint32_t next, uint32_t count, size_t limit, bool seeing) {
    const struct combine_problem *problem = search->problem;
    size_t visited = 1;
    if (seeing && !look_up(search, count)) return limit + 1;
    for (uint32_t c = next; c < problem->candidates && visited <= limit; c++) {
        if (!is_compatible(problem, search->members, count, c)) continue;
        search->members[count] = c;
        visited += enumerate(search, c + 1, count + 1, limit - visited, seeing);
    }
    return visited;
}

// Climbing

struct climber {
    struct search *search;
    bool *chosen;    // a candidate each
    uint32_t *order; // in which flips are tried
    gsl_rng *random;
};

static struct combination *look_up_chosen(struct climber *climber) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < climber->search->problem->candidates; c++) {
        if (climber->chosen[c]) climber->search->members[count++] = c;
    }
    return look_up(climber->search, count);
}

// Takes a candidate in, putting out those that it excludes, or takes it out.
static void flip(struct climber *climber, uint32_t candidate) {
    const struct combine_problem *problem = climber->search->problem;
    climber->chosen[candidate] = !climber->chosen[candidate];
    for (uint32_t c = 0; climber->chosen[candidate] && c < problem->candidates; c++) {
        if (problem->excludes[(size_t)candidate * problem->candidates + c]) climber->chosen[c] = false;
    }
}

static void choose(struct climber *climber, const struct combination *combination) {
    memset(climber->chosen, 0, climber->search->problem->candidates * sizeof *climber->chosen);
    for (uint32_t i = 0; i < combination->count; i++) climber->chosen[combination->members[i]] = true;
}

static uint32_t draw(struct climber *climber, uint32_t below) {
    return (uint32_t)gsl_rng_uniform_int(climber->random, below);
}

static void shuffle(struct climber *climber) {
    for (uint32_t i = climber->search->problem->candidates; i > 1; i--) {
        uint32_t other = draw(climber, i), moved = climber->order[i - 1];
        climber->order[i - 1] = climber->order[other];
        climber->order[other] = moved;
    }
}

// Of TOGETHER flips, the i-th in order and those that follow it, the one that is best, if it betters what is chosen;
// else, or when nothing may be evaluated any more, what is chosen.
static const struct combination *flip_together(struct climber *climber, const struct combination *here, uint32_t i) {
    const struct combination *flipped[TOGETHER], *best = here;
    for (uint32_t k = 0; k < TOGETHER; k++) {
        flip(climber, climber->order[(i + k) % climber->search->problem->candidates]);
        flipped[k] = look_up_chosen(climber);
        choose(climber, here);
    }
    if (!evaluate_new(climber->search)) return here;
    for (uint32_t k = 0; k < TOGETHER; k++) {
        if (flipped[k] && combination_compare(flipped[k], best) < 0) best = flipped[k];
    }
    choose(climber, best);
    return best;
}

// Flips in turn while one in a whole round betters the combination. NULL when nothing may be evaluated any more.
static const struct combination *climb(struct climber *climber) {
    const uint32_t candidates = climber->search->problem->candidates;
    const struct combination *here = look_up_chosen(climber);
    if (!evaluate_new(climber->search)) return NULL;
    for (uint32_t idle = 0, i = 0; here && idle < candidates && !is_exhausted(climber->search);) {
        const struct combination *there = flip_together(climber, here, i);
        i = (i + TOGETHER) % candidates;
        idle = there == here ? idle + TOGETHER : 0;
        here = there;
    }
    return here;
}

static void kick(struct climber *climber, const struct combination *best) {
    choose(climber, best);
    for (int i = 0; i < KICK_FLIPS; i++) flip(climber, draw(climber, climber->search->problem->candidates));
}

static void restart(struct climber *climber) {
    memset(climber->chosen, 0, climber->search->problem->candidates * sizeof *climber->chosen);
    for (uint32_t c = 0; c < climber->search->problem->candidates; c++) {
        if (draw(climber, 2)) flip(climber, climber->order[c]);
    }
}

// The first climb begins at nothing and tries the candidates in their order, the best alone first.
static void climb_repeatedly(struct climber *climber) {
    const struct combination *best = climb(climber);
    for (int fruitless = 0; best && fruitless < CLIMBS_TO_GIVE_UP && !is_exhausted(climber->search);) {
        shuffle(climber);
        if (fruitless % CLIMBS_TO_RESTART == CLIMBS_TO_RESTART - 1)
            restart(climber);
        else
            kick(climber, best);
        const struct combination *found = climb(climber);
        if (!found) return;
        fruitless = combination_compare(found, best) < 0 ? 0 : fruitless + 1;
        if (fruitless == 0) best = found;
    }
}

static bool climb_all(struct search *search) {
    struct climber climber = {.search = search, .random = gsl_rng_alloc(gsl_rng_mt19937)};
    const uint32_t candidates = search->problem->candidates;
    climber.chosen = calloc(candidates, sizeof *climber.chosen);
    climber.order = malloc(candidates * sizeof *climber.order);
    bool made = climber.random && climber.chosen && climber.order;
    if (made) {
        gsl_rng_set(climber.random, (unsigned long)search->problem->seed);
        for (uint32_t c = 0; c < candidates; c++) climber.order[c] = c;
        climb_repeatedly(&climber);
    }
    if (climber.random) gsl_rng_free(climber.random);
    free(climber.chosen);
    free(climber.order);
    return made || error_set(search->error, STATUS_FAILED, "no memory for the search");
}

static bool search_all(struct search *search, struct combine_result *result) {
    size_t limit =
        search->problem->evaluations < COMBINE_EXHAUSTIVE ? search->problem->evaluations : COMBINE_EXHAUSTIVE;
    bool exhaustive = enumerate(search, 0, 0, limit, false) <= limit;
    result->method = exhaustive ? "exhaustive" : "iterated hill climbing";
    if (!exhaustive) return climb_all(search) && !search->failed;
    enumerate(search, 0, 0, limit, true);
    return evaluate_new(search);
}

bool combine_search(const struct combine_problem *problem, struct arena *arena, struct combine_result *result,
                    struct error *error) {
    struct search search = {.problem = problem, .arena = arena, .error = error};
    *result = (struct combine_result){0};
    bool done = search_init(&search) || error_set(error, STATUS_FAILED, "no memory for the search");
    if (done && (done = search_all(&search, result))) {
        qsort(search.seen, search.count, sizeof *search.seen, combination_compare);
        result->combinations = ARENA_NEW(arena, struct combination, search.count + 1);
        result->count = search.count;
        if (result->combinations)
            memcpy(result->combinations, search.seen, search.count * sizeof *search.seen);
        else
            done = error_set(error, STATUS_FAILED, "no memory for the search");
    }
    free(search.seen);
    free(search.slots);
    free(search.members);
    return done;
}
