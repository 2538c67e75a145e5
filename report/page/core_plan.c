// SPDX-License-Identifier: GPL-3.0-or-later
// Switches of a page, and the plan that those make which are on.
#include "optimize/actor_change.h"
#include "optimize/candidates.h"
#include "optimize/plan.h"
#include "report/page/core_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_KIND, WORD_SITE, WORD_CONTEXT, WORD_PATH, WORD_FACTOR, WORD_POOL, WORD_THREADS, WORD_RESOURCE };
enum { WORD_CAPACITY = WORD_RESOURCE + 1, WORD_FIRST, WORD_ALIKE };
_Static_assert(WORD_ALIKE + 1 == PAGE_WORDS, "words are as core.h says");

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for a switch");
}

// ---- what a switch is

static bool is_index(uint32_t word, uint32_t count) {
    return word < count || word == DAG_NONE;
}

// Whether the words name anything: an index beyond what the DAG has is another trace's.
static bool check_words(const struct dag *dag, const uint32_t words[PAGE_WORDS], struct error *error) {
    const bool of_site = words[WORD_KIND] < KIND_RESIZE_POOL, of_pool = words[WORD_KIND] == KIND_RESIZE_POOL;
    const bool of_resource = words[WORD_KIND] == KIND_RESIZE_RESOURCE || words[WORD_KIND] == KIND_UNLOCK;
    const bool known = words[WORD_KIND] < KIND_COUNT && is_index(words[WORD_CONTEXT], dag->context_count) &&
                       is_index(words[WORD_PATH], dag->path_count) && words[WORD_FIRST] <= FIRST_STAGE_ON_POOL &&
                       words[WORD_THREADS] <= INT32_MAX && words[WORD_CAPACITY] <= INT32_MAX &&
                       (!of_site || words[WORD_SITE] < dag->site_count) &&
                       (!of_pool || (words[WORD_POOL] > 0 && words[WORD_POOL] < dag->pool_count)) &&
                       (!of_resource || words[WORD_RESOURCE] < dag->resource_count);
    return known || error_set(error, STATUS_USAGE, "the trace has no such site, pool or resource");
}

static bool check_numbers(const struct improvement *improvement, struct error *error) {
    const bool counts_threads = improvement->kind == KIND_RESIZE_POOL || improvement->kind == KIND_OWN_POOL;
    const bool whole = !improvement_is_open(improvement) && improvement->factor != 1 &&
                       (!counts_threads || improvement->threads > 0) &&
                       (improvement->kind != KIND_RESIZE_RESOURCE || improvement->capacity > 0);
    return whole || error_set(error, STATUS_USAGE, "a number or path of the switch is missing");
}

static const char *copy(struct core *core, const char *text, size_t length) {
    return arena_string(&core->arena, text, length);
}

static bool take_names(struct core *core, struct actor_change *change, const char *of, const char *types,
                       struct error *error) {
    uint32_t lines = 1;
    for (const char *c = types; *c; c++) lines += *c == '\n';
    const char **list = ARENA_NEW(&core->arena, const char *, lines);
    if (!list || (*of && !(change->of = copy(core, of, strlen(of))))) return no_memory(error);
    change->types = list;
    for (const char *line = types; *line;) {
        const size_t length = strcspn(line, "\n");
        if (length && !(list[change->type_count++] = copy(core, line, length))) return no_memory(error);
        line += length + (line[length] == '\n');
    }
    return true;
}

static bool fill_of_actors(struct core *core, struct improvement *improvement, const char *of, const char *types,
                           struct error *error) {
    if (!take_names(core, &improvement->change, of, types, error)) return false;
    const bool by_message = improvement->kind == KIND_INLINE_MESSAGE;
    if (by_message ? improvement->change.type_count == 0 : !improvement->change.of)
        return error_set(error, STATUS_USAGE, "the switch names no actor or message");
    if (!core_read_log(core, error)) return false;
    return actor_change_find(improvement, &core->log, &core->arena, error) &&
           (actor_change_fill(improvement, &core->log, &core->arena) || no_memory(error));
}

static bool make_switch(struct core *core, const uint32_t words[PAGE_WORDS], const char *of, const char *types,
                        struct improvement *made, struct error *error) {
    if (!check_words(core->dag, words, error)) return false;
    *made = (struct improvement){.kind = (enum improvement_kind)words[WORD_KIND],
                                 .dag = core->dag,
                                 .site = words[WORD_SITE],
                                 .context = words[WORD_CONTEXT],
                                 .path = words[WORD_PATH],
                                 .factor = words[WORD_FACTOR],
                                 .pool = words[WORD_POOL],
                                 .threads = (int32_t)words[WORD_THREADS],
                                 .resource = words[WORD_RESOURCE],
                                 .capacity = (int32_t)words[WORD_CAPACITY],
                                 .first = (enum dag_first_stage)words[WORD_FIRST],
                                 .alike = words[WORD_ALIKE] != 0};
    if (!improvement_is_of_site(made)) made->site = made->context = made->path = DAG_NONE;
    if (!check_numbers(made, error)) return false;
    if (improvement_is_of_actors(made)) return fill_of_actors(core, made, of, types, error);
    if (!candidates_fill(made, &core->arena)) return no_memory(error);
    return made->task_count || made->refusal || improvement_is_of_resource(made) ||
           error_set(error, STATUS_USAGE, "the switch changes no task of the trace");
}

static bool keep_switch(struct core *core, const struct improvement *made, struct error *error) {
    if (core->switch_count == core->switch_capacity) {
        const uint32_t larger = 2 * core->switch_capacity + 32;
        struct improvement *moved = realloc(core->switches, larger * sizeof *moved);
        if (!moved) return no_memory(error);
        core->switches = moved;
        core->switch_capacity = larger;
    }
    core->switches[core->switch_count++] = *made;
    return true;
}

int page_add_switch(const uint32_t words[PAGE_WORDS], const char *of, const char *types) {
    struct core *core = &page_core;
    struct error error = ERROR_INIT;
    struct improvement made;
    if (!core->open) {
        core_say(core, "no trace is open");
        return -1;
    }
    if (make_switch(core, words, of, types, &made, &error) && keep_switch(core, &made, &error))
        return (int)core->switch_count - 1;
    core_fail(core, &error);
    return -1;
}

bool page_switches_conflict(uint32_t a, uint32_t b) {
    const struct core *core = &page_core;
    return a < core->switch_count && b < core->switch_count &&
           improvements_conflict(&core->switches[a], &core->switches[b]);
}

// ---- a plan

static bool check_conflicts(const struct core *core, struct error *error) {
    char first[CORE_NAME_BYTES / 2], second[CORE_NAME_BYTES / 2];
    for (uint32_t i = 1; i < core->plan_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (!improvements_conflict(&core->plan[i], &core->plan[j])) continue;
            return error_set(error, STATUS_USAGE, "%s conflicts with %s",
                             improvement_text(&core->plan[i], second, sizeof second),
                             improvement_text(&core->plan[j], first, sizeof first));
        }
    }
    return true;
}

static bool take_plan(struct core *core, const uint32_t *switches, uint32_t count, struct error *error) {
    struct improvement *plan = realloc(core->plan, ((size_t)count + 1) * sizeof *plan);
    if (!plan) return no_memory(error);
    core->plan = plan;
    for (uint32_t i = 0; i < count; i++) {
        if (switches[i] >= core->switch_count)
            return error_set(error, STATUS_USAGE, "there is no switch %u", switches[i]);
        plan[i] = core->switches[switches[i]];
        core->plan_count = i + 1;
    }
    return check_conflicts(core, error);
}

bool core_apply(struct core *core, bool plan, struct error *error) {
    const struct plan applied = {.improvements = core->plan, .count = plan ? core->plan_count : 0};
    dag_edit_clear(&core->estimator.edit, core->dag);
    return plan_apply(&applied, core->estimator.model.kind, &core->estimator.edit, error);
}

static void keep_stuck(struct core *core) {
    const uint32_t *tasks;
    const uint32_t count = estimator_stuck_tasks(&core->estimator, &tasks);
    estimator_stuck_text(&core->estimator, core->message, sizeof core->message);
    core->starves = estimator_starves(&core->estimator);
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i] < core->dag->task_count) core->stuck[core->stuck_count++] = tasks[i];
    }
}

static enum page_outcome run_plan(struct core *core, struct error *error) {
    bool stuck;
    if (!estimator_run(&core->estimator, &stuck, error)) return PAGE_FAILED;
    if (stuck) {
        keep_stuck(core);
        return PAGE_STUCK;
    }
    if (!estimator_measure(&core->estimator, &core->baseline.recorded, true, &core->estimated, error))
        return PAGE_FAILED;
    core->simulated = PAGE_ESTIMATED;
    return PAGE_DONE;
}

enum page_outcome page_estimate(const uint32_t *switches, uint32_t count) {
    struct core *core = &page_core;
    struct error error = ERROR_INIT;
    enum page_outcome outcome = PAGE_REFUSED;
    core->message[0] = '\0';
    core->stuck_count = 0;
    core->starves = false;
    if (!core->open) {
        core_say(core, "no trace is open");
        return PAGE_FAILED;
    }
    core_forget_estimated(core);
    if (count == 0) return PAGE_DONE;
    if (take_plan(core, switches, count, &error) && core_apply(core, true, &error)) outcome = run_plan(core, &error);
    if (outcome == PAGE_DONE) return outcome;
    if (outcome != PAGE_STUCK) core_fail(core, &error);
    core_forget_estimated(core);
    return outcome;
}
