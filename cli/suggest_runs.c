// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_runs.h"

#include "cli/progress.h"
#include "cli/suggest_columns.h"
#include "cli/terminal.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/noise.h"

#include <string.h>

enum { INDENT = 6 };

// ---- Which runs there are

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the runs");
}

// Where there is a choice: metrics[i] of each run.
static bool measure(struct suggest_runs *runs, struct arena *arena, const struct metrics **metrics,
                    struct error *error) {
    struct metrics *measured = ARENA_NEW(arena, struct metrics, runs->count);
    if (!measured) return no_memory(error);
    for (size_t r = 0; r < runs->count; r++) {
        metrics[r] = &measured[r];
        if (!analysis_measure(&runs->analyses[r], &measured[r], error)) return false;
    }
    return true;
}

static bool tell_loads_apart(struct suggest_runs *runs, struct arena *arena, struct error *error) {
    const struct trace **traces = ARENA_NEW(arena, const struct trace *, runs->count);
    runs->loads = ARENA_NEW(arena, uint32_t, runs->count);
    runs->chosen = ARENA_NEW(arena, size_t, runs->count);
    if (!traces || !runs->loads || !runs->chosen) return no_memory(error);
    for (size_t r = 0; r < runs->count; r++) traces[r] = runs->analyses[r].trace;
    runs->load_count = runs_find_loads(traces, runs->count, runs->loads);
    return true;
}

bool suggest_runs_choose(struct analysis *analyses, size_t count, struct arena *arena, struct suggest_runs *runs,
                         struct error *error) {
    *runs = (struct suggest_runs){.analyses = analyses, .count = count};
    const struct metrics **metrics = ARENA_NEW(arena, const struct metrics *, count);
    if (!metrics) return no_memory(error);
    if (!tell_loads_apart(runs, arena, error)) return false;
    const bool is_choice = runs->load_count < count;
    if (is_choice && !measure(runs, arena, metrics, error)) return false;
    for (uint32_t load = 0; load < runs->load_count; load++)
        runs->chosen[load] = is_choice ? runs_median_run(metrics, runs->loads, count, load) : load;
    return true;
}

bool suggest_runs_estimate(struct suggest_runs *runs, enum model_kind model, bool all_figures, struct arena *arena,
                           struct search_result *result, struct error *error) {
    if (runs->count < 2) return true;
    struct estimator **estimators = ARENA_NEW(arena, struct estimator *, runs->count);
    if (!estimators) return no_memory(error);
    for (size_t r = 0; r < runs->count; r++) estimators[r] = &runs->analyses[r].estimator;
    const struct repeats_request request = {.estimators = estimators,
                                            .loads = runs->loads,
                                            .run_count = runs->count,
                                            .load_count = runs->load_count,
                                            .model = model,
                                            .all_figures = all_figures};
    progress_stage("estimating on all %zu runs", runs->count);
    const bool ok = repeats_estimate(result, &request, arena, &runs->repeats, error);
    progress_end();
    if (ok) repeats_show(&runs->repeats[0], result);
    return ok;
}

// ---- Noise

static const struct noises *noises_if_several(const struct repeated *repeated) {
    return repeated->runs > 1 ? &repeated->noises : NULL;
}

const struct noises *suggest_runs_base(const struct suggest_runs *runs) {
    return runs->repeats ? noises_if_several(&runs->repeats[0].recorded) : NULL;
}

const struct noises *suggest_runs_candidate(const struct suggest_runs *runs, size_t candidate) {
    return runs->repeats ? noises_if_several(&runs->repeats[0].candidates[candidate]) : NULL;
}

const struct noises *suggest_runs_plan(const struct suggest_runs *runs, size_t plan) {
    return runs->repeats ? noises_if_several(&runs->repeats[0].plans[plan]) : NULL;
}

const char *suggest_runs_text(const struct suggest_runs *runs, char *text, size_t size) {
    if (runs->load_count == runs->count)
        snprintf(text, size, "%zu traces", runs->count);
    else if (runs->load_count > 1)
        snprintf(text, size, "%zu runs of %u loads", runs->count, runs->load_count);
    else
        snprintf(text, size, "%zu runs", runs->count);
    return text;
}

// Whether it changes a figure of the columns in the load that is shown.
static bool changes_any(const struct search_result *result, const struct noises *base, const struct noises *now) {
    enum run_figure figures[ESTIMATE_COLUMNS_MOST];
    const size_t count = columns_figures(result, figures);
    for (size_t i = 0; i < count; i++) {
        if (base->of[figures[i]].median != now->of[figures[i]].median) return true;
    }
    return false;
}

// "wall (40 more runs would tell), mean (...)": what can't be told from the runs as they were. Returns its length.
static size_t name_hidden(const struct search_result *result, const struct noises *base, const struct noises *now,
                          char *text, size_t size) {
    enum run_figure figures[ESTIMATE_COLUMNS_MOST];
    struct table_column names[ESTIMATE_COLUMNS_MOST];
    const size_t count = columns_figures(result, figures);
    size_t used = 0;
    columns_name(result, names, 0);
    *text = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const struct noise *before = &base->of[figures[i]], *after = &now->of[figures[i]];
        if (before->median == after->median || !noise_hides(before, after)) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s would tell)", used ? ", " : "", names[i].heading,
                                 noise_more_text(noise_more_runs(before, after)).s);
    }
    return used;
}

// A sentence on a change of the answer.
static void write_told(const struct search_result *result, const struct noises *base, const struct told *told) {
    const unsigned look = terminal_look(stdout);
    char hidden[400];
    if (!told->noises || !changes_any(result, base, told->noises)) return;
    if (name_hidden(result, base, told->noises, hidden, sizeof hidden))
        look_printf(stdout, look, INDENT, "      Of %s within that, and so indistinguishable: %s.", told->what, hidden);
    else
        look_printf(stdout, look, INDENT, "      What %s changes is beyond that.", told->what);
}

// What a plan must meet without --require, and by the medians does not, beyond their noise; NULL: it does.
static const char *failed_by_medians(const struct suggest_runs *runs, const struct search_result *result) {
    static const enum run_figure filtered[] = {RUN_WALL, RUN_OCCUPIED_PEAK, RUN_OCCUPIED_MEAN, RUN_THROUGHPUT};
    const struct repeated *base = &runs->repeats[0].recorded, *best = &runs->repeats[0].plans[0];
    double noise = result->noise;
    for (size_t i = 0; i < sizeof filtered / sizeof *filtered; i++) {
        const struct noise *before = &base->noises.of[filtered[i]], *after = &best->noises.of[filtered[i]];
        const double share = noise_of_change(before, after) / before->median;
        if (share > noise) noise = share;
    }
    return filter_failed(&best->median, &base->median, noise);
}

static void write_failures(const struct suggest_runs *runs, const struct search_result *result, bool filters) {
    const unsigned look = terminal_look(stdout);
    const struct repeated *best = &runs->repeats[0].plans[0];
    if (best->stuck_in)
        look_printf(stdout, look, INDENT, "      Under the best plan %s would not end.", best->stuck_in);
    const char *failed = filters && best->runs > 1 ? failed_by_medians(runs, result) : NULL;
    if (failed)
        look_printf(stdout, look, INDENT, "      Over all runs the best plan does not meet %s, beyond noise.", failed);
}

void suggest_runs_write_noise(const struct suggest_runs *runs, const struct search_result *result,
                              const struct told *told, size_t count, bool filters) {
    const unsigned look = terminal_look(stdout);
    const struct noises *base = suggest_runs_base(runs);
    char text[512];
    if (!base) return;
    const size_t run_count = runs->repeats[0].runs;
    const char *caveat = noise_caveat(run_count);
    snprintf(text, sizeof text,
             "figures are medians of %zu runs, %s how far these may be off from run to run (95 %%); ~: no further from "
             "the run as recorded than that.%s%s",
             run_count, look & LOOK_UTF8 ? "\u00b1" : "+-", *caveat ? " " : "", caveat);
    look_lead(stdout, look, TONE_HEAD, "Noise: ", INDENT, text);
    for (size_t i = 0; i < count; i++) write_told(result, base, &told[i]);
    if (result->plan_count) write_failures(runs, result, filters);
    putchar('\n');
}

// ---- Loads

static const char *command_of(const struct suggest_runs *runs, uint32_t load) {
    const char *command = runs->analyses[runs->chosen[load]].trace->header.command;
    return command ? command : "";
}

// How much of their command lines all loads begin with, in whole words.
static size_t common_beginning(const struct suggest_runs *runs) {
    const char *first = command_of(runs, 0);
    size_t common = strlen(first);
    for (uint32_t load = 1; load < runs->load_count; load++) {
        const char *other = command_of(runs, load);
        size_t same = 0;
        while (same < common && first[same] == other[same]) same++;
        common = same;
    }
    while (common > 0 && first[common - 1] != ' ') common--;
    return common;
}

static void add_load(struct table *table, const struct suggest_runs *runs, const struct search_result *result,
                     uint32_t load, size_t common) {
    const struct repeats *repeats = &runs->repeats[load];
    const struct noises *base = noises_if_several(&repeats->recorded);
    char counted[32];
    snprintf(counted, sizeof counted, "%zu", repeats->runs);
    table_add(table, runs->analyses[runs->chosen[load]].trace->path);
    table_add(table, command_of(runs, load) + common);
    table_add(table, counted);
    table_add(table, "as recorded");
    columns_add(table, result, &repeats->recorded.median, base, base);
    if (result->plan_count == 0) return;
    const struct repeated *best = &repeats->plans[0];
    for (int i = 0; i < 3; i++) table_add(table, "");
    table_add(table, "best plan");
    columns_add_against(table, result, &repeats->recorded.median, best->runs ? &best->median : NULL, base,
                        noises_if_several(best));
}

bool suggest_runs_write_loads(const struct suggest_runs *runs, const struct search_result *result,
                              struct error *error) {
    struct table_column columns[4 + ESTIMATE_COLUMNS_MOST] = {
        {"trace", TABLE_LEFT}, {"command line", TABLE_LEFT}, {"runs", TABLE_RIGHT}, {"change", TABLE_LEFT}};
    if (!runs->repeats || runs->load_count < 2) return true;
    struct table table = {.columns = columns, .column_count = columns_name(result, columns, 4)};
    const size_t common = common_beginning(runs);
    for (uint32_t load = 0; load < runs->load_count; load++) add_load(&table, runs, result, load, common);
    look_heading(stdout, terminal_look(stdout), "Each load");
    const bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    putchar('\n');
    return ok;
}

// ---- CSV

void suggest_runs_write_csv_names(const struct suggest_runs *runs) {
    const struct noises *base = suggest_runs_base(runs);
    if (!base) return;
    cJSON *noise = noise_json(base, base);
    csv_names(stdout, noise, "noise", false);
    cJSON_Delete(noise);
}

void suggest_runs_write_csv_values(const struct suggest_runs *runs, size_t candidate) {
    const struct noises *base = suggest_runs_base(runs), *noises = suggest_runs_candidate(runs, candidate);
    if (!base) return;
    cJSON *noise = noise_json(noises ? noises : base, base);
    if (noises)
        csv_values(stdout, noise, false);
    else
        csv_blanks(stdout, noise);
    cJSON_Delete(noise);
}

// ---- JSON

static cJSON *json_runs(const struct suggest_runs *runs) {
    cJSON *array = cJSON_CreateArray();
    for (size_t r = 0; r < runs->count; r++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToObject(run, "trace", json_text(runs->analyses[r].trace->path));
        cJSON_AddItemToObject(run, "load", json_integer(runs->loads[r]));
        cJSON_AddItemToObject(run, "searched", cJSON_CreateBool(runs->chosen[runs->loads[r]] == r));
        cJSON_AddItemToArray(array, run);
    }
    return array;
}

static cJSON *json_repeated(const struct repeated *repeated, const struct repeated *base) {
    const struct noises *noises = noises_if_several(repeated);
    if (!noises) return cJSON_CreateNull();
    cJSON *object = noise_json(noises, base ? noises_if_several(base) : NULL);
    cJSON_AddItemToObject(object, "runs", json_integer((int64_t)repeated->runs));
    if (base) cJSON_AddItemToObject(object, "stuck_in", json_text(repeated->stuck_in));
    return object;
}

static cJSON *json_load(const struct suggest_runs *runs, const struct search_result *result, uint32_t load) {
    const struct repeats *repeats = &runs->repeats[load];
    const struct trace *trace = runs->analyses[runs->chosen[load]].trace;
    const struct repeated *best = result->plan_count ? &repeats->plans[0] : NULL;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "command", json_text(trace->header.command));
    cJSON_AddItemToObject(object, "trace", json_text(trace->path));
    cJSON_AddItemToObject(object, "runs", json_integer((int64_t)repeats->runs));
    cJSON_AddItemToObject(object, "base", json_metrics(&repeats->recorded.median));
    cJSON_AddItemToObject(object, "noise", json_repeated(&repeats->recorded, NULL));
    cJSON_AddItemToObject(object, "best", best && best->runs ? json_metrics(&best->median) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "best_noise", best ? json_repeated(best, &repeats->recorded) : cJSON_CreateNull());
    return object;
}

static void add_to_each(cJSON *array, const struct repeated *repeated, const struct repeated *base) {
    cJSON *item;
    size_t i = 0;
    cJSON_ArrayForEach(item, array) cJSON_AddItemToObject(item, "noise", json_repeated(&repeated[i++], base));
}

void suggest_runs_add(const struct suggest_runs *runs, const struct search_result *result, cJSON *document) {
    cJSON_AddItemToObject(document, "runs", json_runs(runs));
    cJSON_AddItemToObject(document, "noise",
                          runs->repeats ? json_repeated(&runs->repeats[0].recorded, NULL) : cJSON_CreateNull());
    if (!runs->repeats) return;
    cJSON *loads = cJSON_AddArrayToObject(document, "loads");
    for (uint32_t load = 0; load < runs->load_count; load++) cJSON_AddItemToArray(loads, json_load(runs, result, load));
    const struct repeats *first = &runs->repeats[0];
    add_to_each(cJSON_GetObjectItem(document, "improvements"), first->candidates, &first->recorded);
    add_to_each(cJSON_GetObjectItem(document, "plans"), first->plans, &first->recorded);
}
