// SPDX-License-Identifier: GPL-3.0-or-later
// Plans: combinations of candidates, of which the best are kept, each without what it does as well without.
#include "optimize/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double worth_a_member = 0.005; // what each member of a plan must add to it, of the score

enum { TRIES_A_PLAN = 20 };

// What is told of a combination, kept where that is what it was scored by.
struct told_figures {
    bool known;
    struct metrics estimate; // in the first trace
    double value;
};

static void keep_told(const struct search *search, const struct evaluator *evaluator,
                      const struct combination *combination) {
    struct told_figures *told = combination->told;
    if (!told || search->needs_all != search->shows_all) return;
    told->known = true;
    told->estimate = evaluator->estimates[0];
    told->value = search_value(search, evaluator, combination->count);
}

static bool keep_figures(struct search *search, const struct evaluator *evaluator, struct combination *combination,
                         struct error *error) {
    pthread_mutex_lock(&search->lock);
    combination->figures = search_figures(search, evaluator, &search->scratch);
    pthread_mutex_unlock(&search->lock);
    return combination->figures || error_set(error, STATUS_FAILED, "no memory for a plan");
}

static void apply_members(const struct search *search, struct evaluator *evaluator, const uint32_t *members,
                          uint32_t count) {
    size_t trace;
    evaluator_clear(evaluator);
    for (uint32_t i = 0; i < count; i++)
        evaluator_apply(evaluator, search->result->candidates[members[i]].improvements, &trace);
}

static bool measure(struct search *search, struct evaluator *evaluator, struct combination *combination,
                    struct error *error) {
    size_t trace;
    if (combination->count == 1) {
        const struct combination *alone = &search->alone[combination->members[0]];
        combination->score = alone->score;
        combination->valid = alone->valid;
        combination->figures = alone->figures;
        return true;
    }
    combination->score = INFINITY;
    if (combination->count == 0 && search->base_all == search->needs_all) {
        memcpy(evaluator->estimates, search->replayed, search->trace_count * sizeof *evaluator->estimates);
    } else {
        apply_members(search, evaluator, combination->members, combination->count);
        if (!evaluator_estimate(evaluator, search->recorded, search->needs_all, &trace, error)) return false;
        if (trace < search->trace_count) return true;
    }
    search_score(search, evaluator, combination);
    keep_told(search, evaluator, combination);
    return keep_figures(search, evaluator, combination, error);
}

// Of one alone the figures are known.
static void count_evaluation(struct search *search, const struct combination *combination) {
    if (combination->count != 1) search_count(search);
}

static bool evaluate(struct search *search, struct evaluator *evaluator, void *combinations, uint32_t item,
                     struct error *error) {
    struct combination *combination = (struct combination *)combinations + item;
    count_evaluation(search, combination);
    return measure(search, evaluator, combination, error);
}

static bool evaluate_all(void *search, struct combination *combinations, size_t count, struct error *error) {
    return search_do_all(search, evaluate, combinations, (uint32_t)count, error);
}

// Plans that change the same tasks alike have the same key, whichever improvements they are made of.
static uint64_t key_of(const struct search_result *result, const struct candidate *candidate) {
    uint64_t key = 0;
    for (size_t t = 0; t < result->trace_count; t++) {
        key ^= improvement_key(&candidate->improvements[t], t);
    }
    return key;
}

static bool describe(const struct search *search, uint32_t count, struct arena *arena,
                     struct combine_problem *problem) {
    const struct search_result *result = search->result;
    uint64_t *keys = ARENA_NEW(arena, uint64_t, (size_t)count + 1);
    bool *excludes = ARENA_NEW(arena, bool, (size_t)count *count + 1);
    if (!keys || !excludes) return false;
    for (uint32_t a = 0; a < count; a++) {
        keys[a] = key_of(result, &result->candidates[a]);
        for (uint32_t b = 0; b < a; b++) {
            bool conflict = search_conflict(result, a, b);
            excludes[(size_t)a * count + b] = excludes[(size_t)b * count + a] = conflict;
        }
    }
    problem->candidates = count;
    problem->keys = keys;
    problem->excludes = excludes;
    return true;
}

// What was kept, by the search for plans.
struct telling {
    const struct combination *kept;
    struct ranked_plan *plans;
};

// The figures of a plan that are told, as of a candidate alone.
static bool estimate_plan(struct search *search, struct evaluator *evaluator, void *context, uint32_t item,
                          struct error *error) {
    const struct telling *telling = context;
    const struct told_figures *told = telling->kept[item].told;
    struct ranked_plan *plan = &telling->plans[item];
    size_t trace;
    if (plan->count == 1) {
        plan->estimate = search->result->candidates[plan->candidates[0]].estimate;
        plan->value = search->value_alone[plan->candidates[0]];
        return true;
    }
    if (told && told->known) {
        plan->estimate = told->estimate;
        plan->value = told->value;
        return true;
    }
    apply_members(search, evaluator, plan->candidates, plan->count);
    if (!evaluator_estimate(evaluator, search->recorded, search->shows_all, &trace, error)) return false;
    plan->estimate = evaluator->estimates[0];
    plan->value = search_value(search, evaluator, plan->count);
    return true;
}

static bool keep_plans(struct search *search, const struct combination *kept, size_t count, struct arena *arena,
                       struct error *error) {
    struct search_result *result = search->result;
    for (size_t i = 0; i < count; i++) {
        struct ranked_plan *plan = &result->plans[i];
        plan->count = kept[i].count;
        plan->candidates = ARENA_NEW(arena, uint32_t, plan->count);
        if (!plan->candidates) return error_set(error, STATUS_FAILED, "no memory for a plan");
        memcpy(plan->candidates, kept[i].members, plan->count * sizeof *plan->candidates);
    }
    struct telling telling = {kept, result->plans};
    if (!search_do_all(search, estimate_plan, &telling, (uint32_t)count, error)) return false;
    result->plan_count = count;
    return true;
}

// Plans are shortened among combinations that were evaluated, by the search for them and since.
struct tried {
    struct combination combination;
    bool ahead; // it was not asked for yet, and so does not count
};

struct shortening {
    struct search *search;
    const uint64_t *keys; // a candidate each
    const struct combination *found;
    size_t found_count;
    const struct combination *after; // those that are shortened next
    size_t after_count;
    struct tried *since;
    size_t since_count, room;
    struct arena *arena;
};

static struct tried *find_since(const struct shortening *known, uint64_t key) {
    for (size_t i = 0; i < known->since_count; i++) {
        if (known->since[i].combination.key == key) return &known->since[i];
    }
    return NULL;
}

static const struct combination *find_known(const struct shortening *known, uint64_t key) {
    for (size_t i = 0; i < known->found_count; i++) {
        if (known->found[i].key == key) return &known->found[i];
    }
    const struct tried *tried = find_since(known, key);
    return tried ? &tried->combination : NULL;
}

static const struct combination *ask_for(const struct shortening *known, uint64_t key) {
    const struct combination *combination = find_known(known, key);
    struct tried *tried = combination ? find_since(known, key) : NULL;
    if (tried && tried->ahead) {
        count_evaluation(known->search, combination);
        tried->ahead = false;
    }
    return combination;
}

static bool get_known(struct shortening *known, const struct combination *combination, bool ahead,
                      struct error *error) {
    if (known->since_count == known->room) {
        const size_t room = known->room ? 2 * known->room : 64;
        struct tried *grown = realloc(known->since, room * sizeof *grown);
        if (!grown) return error_set(error, STATUS_FAILED, "no memory for a plan");
        known->since = grown;
        known->room = room;
    }
    known->since[known->since_count++] = (struct tried){*combination, ahead};
    return true;
}

// A combination less a member.
static bool make_less(const struct shortening *known, const struct combination *whole, uint32_t member,
                      struct combination *less) {
    const uint64_t key = whole->key ^ known->keys[whole->members[member]];
    uint32_t *members = ARENA_NEW(known->arena, uint32_t, whole->count);
    if (!members) return false;
    memcpy(members, whole->members, member * sizeof *members);
    memcpy(members + member, whole->members + member + 1, (whole->count - member - 1) * sizeof *members);
    *less = (struct combination){.key = key, .members = members, .count = whole->count - 1};
    return true;
}

static void tell_alike(struct combination *combination, const struct combination *evaluated) {
    combination->valid = evaluated->valid;
    combination->score = evaluated->score;
    combination->figures = evaluated->figures;
}

// Whether `less` does as well as what it was made of. Where plans gain by `balanced`, idle and overhead shares are part
// of the score, which are worth nothing as long as times and threads stay as they are.
static bool does_as_well(const struct search *search, const struct combination *less, const struct combination *whole) {
    if (!less->valid && less->count > 0) return false;
    if (less->count && less->score <= whole->score + worth_a_member * fabs(whole->score)) return true;
    return objective_gains_by_balanced(search->options->objective) &&
           !search_figures_worse(search, less->figures, whole->figures);
}

// The first combination that shortening asks for and that is not known. false: none, or no memory.
static bool find_unknown(const struct shortening *known, const struct combination *whole, struct combination *unknown) {
    struct combination plan = *whole;
    for (uint32_t i = plan.count; i-- > 0;) {
        if ((plan.count == 1 && !known->search->base_passes) || !make_less(known, &plan, i, unknown)) break;
        const struct combination *evaluated = find_known(known, unknown->key);
        if (!evaluated) return true;
        tell_alike(unknown, evaluated);
        if (does_as_well(known->search, unknown, whole)) plan = *unknown;
    }
    return false;
}

// What a plan that is shortened next will ask for, other than `asked`.
static bool find_next_unknown(const struct shortening *known, const struct combination *asked,
                              struct combination *unknown) {
    enum { PLANS_AHEAD = 8 };
    for (size_t i = 0; i < known->after_count && i < PLANS_AHEAD; i++) {
        if (known->after[i].valid && find_unknown(known, &known->after[i], unknown) && unknown->key != asked->key)
            return true;
    }
    return false;
}

// The first one, and ahead of being asked for the other.
static bool evaluate_ahead(struct search *search, struct evaluator *evaluator, void *combinations, uint32_t item,
                           struct error *error) {
    if (item == 0) return evaluate(search, evaluator, combinations, item, error);
    return measure(search, evaluator, (struct combination *)combinations + item, error);
}

// Another thread, if there is one, evaluates meanwhile what is asked for soon.
static bool evaluate_less(struct shortening *known, struct combination *less, struct error *error) {
    struct combination both[2] = {*less};
    const bool ahead = known->search->hands > 1 && find_next_unknown(known, less, &both[1]);
    if (!search_do_all(known->search, evaluate_ahead, both, 1 + ahead, error)) return false;
    *less = both[0];
    return get_known(known, less, false, error) && (!ahead || get_known(known, &both[1], true, error));
}

// A combination less a member; its evaluation is known, or made now.
static bool without(struct shortening *known, const struct combination *whole, uint32_t member,
                    struct combination *less, struct error *error) {
    if (!make_less(known, whole, member, less)) return error_set(error, STATUS_FAILED, "no memory for a plan");
    const struct combination *evaluated = ask_for(known, less->key);
    if (!evaluated) return evaluate_less(known, less, error);
    tell_alike(less, evaluated);
    return true;
}

// Leaves out what a plan does as well without, those that are worst alone first; in all it may become worse by no more
// than the least noise. Nothing is left of a plan that does no better than the run.
static bool shorten(struct shortening *known, struct combination *plan, struct error *error) {
    const struct combination whole = *plan;
    for (uint32_t i = plan->count; i-- > 0;) {
        struct combination less;
        if (plan->count == 1 && !known->search->base_passes) break;
        if (!without(known, plan, i, &less, error)) return false;
        if (does_as_well(known->search, &less, &whole)) *plan = less;
    }
    return true;
}

static bool is_kept(const struct combination *kept, size_t count, const struct combination *plan) {
    for (size_t i = 0; i < count; i++) {
        if (kept[i].key == plan->key) return true;
    }
    return false;
}

static bool keep_best(struct search *search, const struct combine_problem *problem, const struct combine_result *found,
                      struct arena *scratch, struct arena *arena, struct error *error) {
    const size_t top = search->options->top, tries = TRIES_A_PLAN * top;
    struct combination *kept = ARENA_NEW(scratch, struct combination, top + 1);
    struct shortening known = {.search = search,
                               .keys = problem->keys,
                               .found = found->combinations,
                               .found_count = found->count,
                               .arena = scratch};
    size_t count = 0;
    bool done = true;
    search->result->plans = ARENA_NEW(arena, struct ranked_plan, top + 1);
    if (!search->result->plans || !kept) return error_set(error, STATUS_FAILED, "no memory for plans");
    for (size_t i = 0; done && i < found->count && i < tries && found->combinations[i].valid && count < top; i++) {
        struct combination plan = found->combinations[i];
        known.after = &found->combinations[i + 1];
        known.after_count = (found->count < tries ? found->count : tries) - i - 1;
        done = shorten(&known, &plan, error);
        if (done && plan.count && !is_kept(kept, count, &plan)) kept[count++] = plan;
    }
    free(known.since);
    if (!done) return false;
    if (count) qsort(kept, count, sizeof *kept, combination_compare);
    return keep_plans(search, kept, count, arena, error);
}

static uint32_t affordable_plans(const struct search *search) {
    const uint64_t plans = search_left(search) > SEARCH_LEAST ? search_left(search) : SEARCH_LEAST;
    return plans < search->options->evaluations ? (uint32_t)plans : search->options->evaluations;
}

bool search_rank(struct search *search, uint32_t usable, struct arena *arena, struct error *error) {
    struct arena passing = ARENA_INIT;
    search->screened = search->result->evaluated;
    struct combine_problem problem = {.evaluate = evaluate_all,
                                      .context = search,
                                      .evaluations = affordable_plans(search),
                                      .seed = search->options->seed};
    struct combine_result found;
    bool done = describe(search, usable, &passing, &problem) ||
                error_set(error, STATUS_FAILED, "no memory for %u candidates", usable);
    done = done && combine_search(&problem, &passing, &found, error);
    if (done) search->result->method = found.method;
    search->result->limit = problem.evaluations;
    done = done && keep_best(search, &problem, &found, &passing, arena, error);
    arena_destroy(&passing);
    return done;
}

// ---- what a search of parts found

static int compare_places(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool name_members(const struct search *search, const uint32_t *members, uint32_t count, const uint32_t *places,
                         struct arena *arena, struct combination *combination) {
    uint32_t *own = ARENA_NEW(arena, uint32_t, count);
    struct told_figures *told = ARENA_NEW(arena, struct told_figures, 1);
    if (!own || !told) return false;
    told->known = false;
    *combination = (struct combination){.members = own, .count = count, .score = INFINITY, .told = told};
    for (uint32_t i = 0; i < count; i++) {
        own[i] = places ? places[members[i]] : members[i];
        combination->key ^= key_of(search->result, &search->result->candidates[own[i]]);
    }
    qsort(own, count, sizeof *own, compare_places);
    return true;
}

// Plans, then each candidate alone.
static bool name_all(const struct search *search, const struct search_result *found, const uint32_t *places,
                     struct arena *arena, struct combination *combinations, size_t *count) {
    bool done = true;
    for (size_t p = 0; done && p < found->plan_count && p < SEARCH_CONFIRMED; p++) {
        const struct ranked_plan *plan = &found->plans[p];
        if (plan->count > 1)
            done = name_members(search, plan->candidates, plan->count, places, arena, &combinations[(*count)++]);
    }
    for (uint32_t c = 0; done && c < search->result->candidate_count; c++) {
        if (candidate_is_estimated(&search->result->candidates[c]))
            done = name_members(search, &c, 1, NULL, arena, &combinations[(*count)++]);
    }
    return done;
}

// All that are valid, and sorts them. They are short already by what their parts tell.
static bool shorten_all(struct search *search, struct combination *combinations, size_t count, struct error *error) {
    const struct search_result *result = search->result;
    uint64_t *keys = ARENA_NEW(&search->scratch, uint64_t, result->candidate_count + 1);
    struct shortening known = {
        .search = search, .keys = keys, .found = combinations, .found_count = count, .arena = &search->scratch};
    bool done = keys || error_set(error, STATUS_FAILED, "no memory for a plan");
    for (size_t c = 0; done && c < result->candidate_count; c++) keys[c] = key_of(result, &result->candidates[c]);
    for (size_t i = 0; done && i < count; i++) {
        known.after = &combinations[i + 1];
        known.after_count = count - i - 1;
        if (combinations[i].valid) done = shorten(&known, &combinations[i], error);
        combinations[i].valid &= combinations[i].count > 0;
    }
    free(known.since);
    if (count) qsort(combinations, count, sizeof *combinations, combination_compare);
    return done;
}

bool search_rank_found(struct search *search, const struct search_result *found, const uint32_t *places,
                       struct arena *arena, struct error *error) {
    struct search_result *result = search->result;
    const size_t most = SEARCH_CONFIRMED + result->candidate_count, top = search->options->top;
    struct combination *combinations = ARENA_NEW(&search->scratch, struct combination, most);
    size_t count = 0, kept = 0;
    result->plans = ARENA_NEW(arena, struct ranked_plan, most);
    if (!combinations || !result->plans || !name_all(search, found, places, &search->scratch, combinations, &count))
        return error_set(error, STATUS_FAILED, "no memory for plans");
    if (!evaluate_all(search, combinations, count, error)) return false;
    if (!shorten_all(search, combinations, count, error)) return false;
    for (size_t i = 0; i < count && combinations[i].valid && kept < top; i++) {
        if (!is_kept(combinations, kept, &combinations[i])) combinations[kept++] = combinations[i];
    }
    return keep_plans(search, combinations, kept, arena, error);
}
