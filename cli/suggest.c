// SPDX-License-Identifier: GPL-3.0-or-later
// rehype suggest: which improvements would pay, ranked, and the best plan.
#include "optimize/search.h"

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/part.h"
#include "cli/progress.h"
#include "cli/suggest_advice.h"
#include "cli/suggest_columns.h"
#include "cli/suggest_runs.h"
#include "cli/suggest_sketches.h"
#include "cli/terminal.h"
#include "metrics/requests.h"
#include "metrics/service.h"
#include "optimize/candidates.h"
#include "optimize/front.h"
#include "optimize/plan.h"
#include "optimize/warn_estimate.h"
#include "optimize/warn_pools.h"
#include "optimize/warn_resources.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/noise.h"
#include "report/table.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *output, *objective, *model, *without, *window;
    uint64_t top, seed;
    struct text_list require, sources;
    bool all, json, csv, keep_tracer_cost, sketch, whole;
} options = {.output = "plan.json", .objective = "balanced", .top = 10, .seed = 1};

static const struct option_spec specs[] = {
    {"--output", 'o', OPTION_TEXT, &options.output, "PLAN", "where the best plan goes (plan.json)"},
    {"--top", 0, OPTION_NUMBER, &options.top, "N", "how many plans to show (10)"},
    {"--objective", 0, OPTION_TEXT, &options.objective, "O",
     "what plans are ranked by: balanced (default), composite, wall, threads, granularity, utilisation,\n"
     "throughput, edits, or an expression over metrics"},
    {"--require", 0, OPTION_LIST, &options.require, "EXPR",
     "what plans must meet: 'wall<=0%' (against the run as recorded), 'occupied.peak<=8'; repeatable"},
    MODEL_OPTION(&options.model),
    WITHOUT_OPTION(&options.without),
    {"--seed", 0, OPTION_NUMBER, &options.seed, "N", "of the search's random choices (1)"},
    ANALYSIS_WINDOW_OPTION(&options.window),
    ANALYSIS_TRACER_OPTION(&options.keep_tracer_cost),
    {"--whole", 0, OPTION_FLAG, &options.whole, NULL,
     "of a long run of a service, search all of it: by default a part is searched, and what is found there is\n"
     "estimated on all of it"},
    {"--all", 0, OPTION_FLAG, &options.all, NULL, "every change that was tried, those too that make no difference"},
    {"--sketch", 0, OPTION_FLAG, &options.sketch, NULL,
     "how each change is made: Java before and after, and what to watch for"},
    {"--sources", 0, OPTION_LIST, &options.sources, "DIR",
     "--sketch, with the real lines around the place from the sources\n"
     "below DIR; repeatable"},
    TERMINAL_WIDE_OPTION,
    {"--json", 0, OPTION_FLAG, &options.json, NULL, "one JSON document (rehype.suggest/1)"},
    {"--csv", 0, OPTION_FLAG, &options.csv, NULL, "a line an improvement, with all its estimated metrics"},
    {0},
};

// ---- Searching

struct suggestion {
    struct analysis *analyses; // one a recording
    size_t run_count;
    struct suggest_runs runs;
    struct analysis **loads; // of each load the recording that is searched in
    struct estimator **traces;
    size_t trace_count; // of these
    enum model_kind model;
    struct search_result result;
    struct analysis_parts parts; // of the traces, to search in
    struct sources sources;      // of --sources
    struct arena arena;
};

// The parsed --objective and --require; both live in the arena.
static bool parse_wishes(struct arena *arena, struct search_options *search, struct error *error) {
    size_t count = options.require.count;
    const struct requirement **requirements = ARENA_NEW(arena, const struct requirement *, count + 1);
    if (!requirements) return error_set(error, STATUS_FAILED, "no memory for the requirements");
    for (size_t i = 0; i < count; i++) {
        if (!requirement_parse(options.require.items[i], arena, &requirements[i], error)) {
            return error_wrap(error, "--require");
        }
    }
    search->requirements = requirements;
    search->requirement_count = count;
    if (objective_parse(options.objective, arena, &search->objective, error)) return true;
    return error_wrap(error, "--objective");
}

static bool open_trace(struct suggestion *s, const char *path, struct error *error) {
    struct analysis *analysis = &s->analyses[s->run_count];
    bool as_recorded = options.keep_tracer_cost || s->model == MODEL_DAG;
    if (!analysis_open(analysis, path, options.window, as_recorded, error)) return false;
    s->run_count++;
    return model_parse_without(options.without, &analysis->estimator.costs->without, error);
}

static bool open_all(struct suggestion *s, const struct operands *operands, struct error *error) {
    s->analyses = ARENA_NEW(&s->arena, struct analysis, operands->count);
    if (!s->analyses) return error_set(error, STATUS_FAILED, "no memory for the traces");
    for (size_t i = 0; i < operands->count; i++) {
        if (!open_trace(s, operands->items[i], error)) {
            const bool named = i == 0 || error->status != STATUS_USAGE; // what is wrong with a window names no trace
            return named ? false : error_wrap(error, "%s", operands->items[i]);
        }
    }
    return true;
}

// Of repetitions the median one is searched in.
static bool choose_traces(struct suggestion *s, struct error *error) {
    if (!suggest_runs_choose(s->analyses, s->run_count, &s->arena, &s->runs, error)) return false;
    s->trace_count = s->runs.load_count;
    s->loads = ARENA_NEW(&s->arena, struct analysis *, s->trace_count);
    s->traces = ARENA_NEW(&s->arena, struct estimator *, s->trace_count);
    if (!s->loads || !s->traces) return error_set(error, STATUS_FAILED, "no memory for the traces");
    for (size_t t = 0; t < s->trace_count; t++) {
        s->loads[t] = &s->analyses[s->runs.chosen[t]];
        s->traces[t] = &s->loads[t]->estimator;
        s->traces[t]->keeps = true; // the run by which its model is chosen is the search's first
    }
    return true;
}

// One for all recordings.
static bool choose_model(struct suggestion *s, struct error *error) {
    for (size_t t = 0; t < s->run_count; t++) {
        if (!model_choose(&s->analyses[t], s->model, &s->model, error)) return false;
    }
    return true;
}

static bool open_parts(struct suggestion *s, struct error *error) {
    const bool as_recorded = options.keep_tracer_cost || s->model == MODEL_DAG;
    return options.whole || parts_open(s->loads, s->trace_count, as_recorded, &s->arena, &s->parts, error);
}

static bool search(struct suggestion *s, struct error *error) {
    struct search_options search = {.model = s->model,
                                    .top = (uint32_t)options.top,
                                    .all_figures = options.json || options.csv, // the text has metrics_usage's only
                                    .seed = options.seed,
                                    .evaluations = SEARCH_EVALUATIONS,
                                    .budget_ns = s->parts.count ? SEARCH_PARTS_NS : SEARCH_NS,
                                    .parts = s->parts.count ? s->parts.estimators : NULL,
                                    .progress = progress_steps,
                                    .progress_context = "plans estimated"};
    if (!parse_wishes(&s->arena, &search, error)) return false;
    progress_stage("searching");
    bool ok = search_run(s->traces, s->trace_count, &search, &s->arena, &s->result, error);
    progress_end();
    return ok && suggest_runs_estimate(&s->runs, s->model, search.all_figures, &s->arena, &s->result, error);
}

static bool warn(struct suggestion *s, struct error *error) {
    const struct model model = {.kind = s->model};
    if (!warn_of_replay(&s->loads[0]->warnings, &s->result.null_replay_error, error)) return false;
    for (size_t t = 0; t < s->trace_count; t++) {
        struct warnings *warnings = &s->loads[t]->warnings;
        if (!warn_of_model(warnings, s->loads[t]->dag, &model, error)) return false;
        if (!warn_of_pools(warnings, s->loads[t]->dag, error)) return false;
        if (!warn_of_resources(warnings, s->loads[t]->dag, error)) return false;
        analysis_warn(s->loads[t]);
    }
    return true;
}

static bool write_plan(const struct search_result *result, struct arena *arena, struct error *error) {
    struct plan plan;
    return search_best_plan(result, arena, &plan, error) && plan_write(options.output, plan.trace_path, &plan, error);
}

// ---- CSV

static void write_csv_names(const struct suggestion *s) {
    cJSON *metrics = json_metrics(&s->result.base);
    fputs("id,change,kind,class,method,descriptor,file,line,tasks,passes,why", stdout);
    csv_names(stdout, metrics, "", false);
    suggest_runs_write_csv_names(&s->runs);
    putchar('\n');
    cJSON_Delete(metrics);
}

static void write_csv_field(const char *text) {
    csv_text(stdout, text);
    putchar(',');
}

// The steps of a chain, which are lines else, one behind the other.
static void write_on_one_line(const char *why) {
    char text[1024];
    size_t used = 0;
    for (bool first = true; why && *why && used + 2 < sizeof text;) {
        if (*why != '\n') {
            text[used++] = *why++;
            continue;
        }
        if (!first) text[used++] = ';';
        text[used++] = ' ';
        why += 1 + strspn(why + 1, " ");
        first = false;
    }
    text[used] = '\0';
    csv_text(stdout, why ? text : NULL);
}

static void write_csv_line(const struct suggestion *s, size_t index) {
    const struct candidate *candidate = &s->result.candidates[index];
    const struct improvement *named = candidate->named;
    const struct trace_site none = {0}, *site = named->site == DAG_NONE ? &none : &named->dag->sites[named->site].site;
    cJSON *metrics = json_metrics(&candidate->estimate);
    char text[1024];
    printf("%zu,", index + 1);
    write_csv_field(improvement_text(named, text, sizeof text));
    write_csv_field(improvement_kind_names[named->kind]);
    write_csv_field(site->class_name);
    write_csv_field(site->method);
    write_csv_field(site->descriptor);
    write_csv_field(site->file);
    printf("%u,%u,%s,", site->line, candidate->improvements[0].task_count, candidate->fails ? "false" : "true");
    write_on_one_line(candidate->why);
    if (candidate_is_estimated(candidate))
        csv_values(stdout, metrics, false);
    else
        csv_blanks(stdout, metrics);
    suggest_runs_write_csv_values(&s->runs, index);
    putchar('\n');
    cJSON_Delete(metrics);
}

// ---- Text

static struct text_place place_of(const struct candidate *candidate) {
    const struct improvement *named = candidate->named;
    return named->site == DAG_NONE ? (struct text_place){""} : text_file_line(&named->dag->sites[named->site].site);
}

// Whether the table says how many tasks a change is of: not where the noise beside each figure would leave no room for
// the changes' names. The reasons say it as well.
static bool has_counts(const struct suggestion *s) {
    return terminal_wide || !suggest_runs_base(&s->runs);
}

static void add_candidate(struct table *table, const struct suggestion *s, size_t index) {
    const struct candidate *candidate = &s->result.candidates[index];
    const struct improvement *named = candidate->named;
    char text[1024];
    table_add(table, text_count(index + 1).s);
    table_add(table, improvement_text(named, text, sizeof text));
    if (terminal_wide) table_add(table, place_of(candidate).s);
    if (has_counts(s)) table_add(table, text_count(candidate->improvements[0].task_count).s);
    const struct noises *base = suggest_runs_base(&s->runs), *noises = suggest_runs_candidate(&s->runs, index);
    columns_add(table, &s->result, candidate_is_estimated(candidate) ? &candidate->estimate : NULL, base, noises);
    table_add_toned(table, candidate->fails ? candidate->fails : "", TONE_WARNING);
}

static bool is_planned(const struct search_result *result, size_t index) {
    for (size_t p = 0; p < result->plan_count; p++) {
        for (uint32_t i = 0; i < result->plans[p].count; i++) {
            if (result->plans[p].candidates[i] == index) return true;
        }
    }
    return false;
}

static bool is_shown(const struct search_result *result, size_t index) {
    return options.all || result->candidates[index].shown || is_planned(result, index);
}

static void add_none(struct table *table, const struct suggestion *s, const char *what, const struct metrics *figures,
                     const struct noises *noises) {
    table_add(table, "");
    table_add(table, what);
    if (terminal_wide) table_add(table, "");
    if (has_counts(s)) table_add(table, "");
    columns_add(table, &s->result, figures, noises, noises);
    table_add(table, "");
}

// What the others stand beside: the run, and where the model alone moves these figures by more than 0.5 %, what it
// makes of the run without any change.
static void add_base(struct table *table, const struct suggestion *s) {
    add_none(table, s, "none: as recorded", &s->result.base, suggest_runs_base(&s->runs));
    if (s->result.noise > LEAST_NOISE) add_none(table, s, "none: as the model has it", &s->result.replayed, NULL);
}

// What the rows that are shown count.
static const char *counted_heading(const struct suggestion *s) {
    size_t of_messages = 0, shown = 0;
    for (size_t i = 0; i < s->result.candidate_count; i++) {
        if (!is_shown(&s->result, i)) continue;
        shown++;
        of_messages += improvement_is_of_messages(&s->result.candidates[i].improvements[0]);
    }
    if (of_messages == 0) return "tasks";
    return of_messages == shown ? "messages" : "tasks, messages";
}

static void write_omissions(size_t count) {
    if (count == 0) return;
    printf("  %s more change%s no difference or %s of one above (--all)\n", text_count(count).s,
           count == 1 ? " makes" : "s make", count == 1 ? "is a variant" : "are variants");
}

// The file stands in the table where there is room, and in the reasons.
static bool write_candidates(const struct suggestion *s, struct error *error) {
    struct table_column columns[5 + ESTIMATE_COLUMNS_MOST];
    size_t count = 0;
    columns[count++] = (struct table_column){"#", TABLE_RIGHT};
    columns[count++] = (struct table_column){"change", TABLE_LEFT};
    if (terminal_wide) columns[count++] = (struct table_column){"in", TABLE_LEFT};
    if (has_counts(s)) columns[count++] = (struct table_column){counted_heading(s), TABLE_RIGHT};
    count = columns_name(&s->result, columns, count);
    columns[count++] = (struct table_column){"fails", TABLE_LEFT};
    struct table table = {.columns = columns, .column_count = count};
    size_t omitted = 0;
    add_base(&table, s);
    for (size_t i = 0; i < s->result.candidate_count; i++) {
        if (is_shown(&s->result, i))
            add_candidate(&table, s, i);
        else
            omitted++;
    }
    bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    write_omissions(omitted);
    return ok;
}

static void add_share(struct table *table, double value, const struct noises *noises, enum run_figure figure) {
    struct text noise = {""};
    char cell[80];
    if (noises) noise = noise_text(text_fixed(noises->of[figure].half_width, 3), terminal_look(stdout));
    snprintf(cell, sizeof cell, "%s%s%s", text_fixed(value, 3).s, noises ? " " : "", noise.s);
    table_add(table, cell);
}

static void add_plan(struct table *table, const struct suggestion *s, size_t rank) {
    const struct ranked_plan *plan = &s->result.plans[rank];
    char members[128];
    size_t used = 0;
    for (uint32_t i = 0; i < plan->count && used < sizeof members; i++) {
        used +=
            (size_t)snprintf(members + used, sizeof members - used, "%s%u", i > 0 ? " " : "", plan->candidates[i] + 1);
    }
    table_add(table, text_count(rank + 1).s);
    table_add(table, members);
    columns_add(table, &s->result, &plan->estimate, suggest_runs_base(&s->runs), suggest_runs_plan(&s->runs, rank));
    add_share(table, plan->estimate.composite, suggest_runs_plan(&s->runs, rank), RUN_COMPOSITE);
    add_share(table, plan->estimate.balanced, suggest_runs_plan(&s->runs, rank), RUN_BALANCED);
    if (s->trace_count > 1) table_add(table, text_fixed(plan->value, 3).s);
}

static bool write_plans(const struct suggestion *s, struct error *error) {
    struct table_column columns[5 + ESTIMATE_COLUMNS_MOST] = {{"rank", TABLE_RIGHT}, {"changes", TABLE_LEFT}};
    size_t count = columns_name(&s->result, columns, 2);
    columns[count++] = (struct table_column){"composite", TABLE_RIGHT};
    columns[count++] = (struct table_column){"balanced", TABLE_RIGHT};
    if (s->trace_count > 1) columns[count++] = (struct table_column){"value", TABLE_RIGHT};
    struct table table = {.columns = columns, .column_count = count};
    for (size_t i = 0; i < s->result.plan_count; i++) add_plan(&table, s, i);
    bool ok = table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    return ok;
}

enum { REASON_INDENT = 6 };

static void write_heading(const char *text) {
    putchar('\n');
    look_heading(stdout, terminal_look(stdout), text);
}

// The sentences behind the table: of every change that pays or was tried and failed, the first `top` of each.
static void write_reasons(const struct suggestion *s, bool failing) {
    uint64_t left = options.top;
    for (size_t i = 0; i < s->result.candidate_count && left > 0; i++) {
        const struct candidate *candidate = &s->result.candidates[i];
        if ((candidate->fails != NULL) != failing || !is_shown(&s->result, i)) continue;
        if (left-- == options.top) write_heading(failing ? "Why not" : "Why");
        const struct text_place place = place_of(candidate);
        look_printf(stdout, terminal_look(stdout), REASON_INDENT, "  %2zu: %s%s%s", i + 1, place.s,
                    *place.s ? ": " : "", candidate->why);
    }
}

// What the best plan rests on.
static void write_assumptions(const struct search_result *result) {
    const struct ranked_plan *best = &result->plans[0];
    bool first = true;
    for (uint32_t i = 0; i < best->count; i++) {
        const struct candidate *candidate = &result->candidates[best->candidates[i]];
        for (size_t w = 0; w < candidate->warning_count; w++, first = false) {
            if (first) write_heading("Check before you change the code");
            look_printf(stdout, terminal_look(stdout), REASON_INDENT, "  %2u: %s", best->candidates[i] + 1,
                        candidate->warnings[w]);
        }
    }
}

// The first trace that has all sites and contexts of the best plan, which is where it can be estimated; NULL: none.
static const char *best_plan_trace(const struct search_result *result) {
    const struct ranked_plan *best = &result->plans[0];
    for (size_t t = 0; t < result->trace_count; t++) {
        uint32_t i = 0;
        while (i < best->count && result->candidates[best->candidates[i]].improvements[t].task_count > 0) i++;
        if (i == best->count) return result->traces[t]->dag->trace->path;
    }
    return NULL;
}

static void write_next(const struct suggestion *s) {
    const struct search_result *result = &s->result;
    const char *first = result->traces[0]->dag->trace->path, *trace = best_plan_trace(result);
    printf("\nThe best plan is in %s.\n", options.output);
    if (trace && suggest_runs_base(&s->runs))
        printf("Next: rehype estimate TRACE... --apply %s, with these %zu traces\n", options.output, s->run_count);
    else if (trace == first)
        printf("Next: rehype estimate --apply %s\n", options.output);
    else if (trace)
        printf("%s lacks some of its sites.\nNext: rehype estimate %s --apply %s\n", first, trace, options.output);
    else
        puts("No one trace has all of its sites.");
}

// ---- How changes are made

static struct suggest_sketches sketches_of(struct suggestion *s) {
    const struct sketch_writer writer = {.file = stdout,
                                         .look = terminal_look(stdout),
                                         .sources = options.sources.count ? &s->sources : NULL,
                                         .arena = &s->arena};
    return (struct suggest_sketches){.writer = writer, .result = &s->result, .is_shown = is_shown};
}

static bool write_sketches(struct suggestion *s, struct error *error) {
    const struct suggest_sketches sketches = sketches_of(s);
    return !options.sketch || suggest_sketches_write(&sketches, error);
}

// ---- The answer

enum { NAMED_MEMBERS = 3 };

// "inline A.b:1; resize-pool pool-1 to 8 threads; and 2 more"
static void name_members(const struct search_result *result, const uint32_t *candidates, uint32_t count, char *text,
                         size_t size) {
    char one[1024];
    size_t used = 0;
    for (uint32_t i = 0; i < count && i < NAMED_MEMBERS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "; " : "",
                                 improvement_text(result->candidates[candidates[i]].named, one, sizeof one));
    if (count > NAMED_MEMBERS && used < size)
        snprintf(text + used, size - used, "; and %u more", count - NAMED_MEMBERS);
}

enum { ONE_NAME_MOST = 92, NAMES_MOST = 120 }; // so that they take a line, or two wherever these end

// Of a service: what it does now, and for whom.
static void write_service(const struct suggestion *s, const struct askers *askers) {
    const struct request_metrics *now = &s->result.base.requests;
    const unsigned look = terminal_look(stdout);
    char limit[300], name[600], shown[64], text[640], clients[64] = "";
    const char *bottleneck = requests_bottleneck(now, name, sizeof name);
    snprintf(limit, sizeof limit, "nothing near its limit");
    if (bottleneck && now->sustainable_per_s < 2 * now->throughput_per_s) {
        look_shorten(bottleneck, 30, look, shown, sizeof shown);
        snprintf(limit, sizeof limit, "limited by %s", shown);
    }
    if (askers->clients > 0) snprintf(clients, sizeof clients, " for %s clients", text_count(askers->clients).s);
    const struct noises *noises = suggest_runs_base(&s->runs);
    snprintf(text, sizeof text, "%s%s requests/s%s, latency %s%s (median), %s%s (p99); %s",
             text_number(now->throughput_per_s).s, noise_behind(noises, RUN_THROUGHPUT, 1, look).s, clients,
             text_duration(now->latency_ns.p50).s, noise_behind(noises, RUN_LATENCY_P50, NOISE_IN_TIME, look).s,
             text_duration(now->latency_ns.p99).s, noise_behind(noises, RUN_LATENCY_P99, NOISE_IN_TIME, look).s, limit);
    look_lead(stdout, look, TONE_HEAD, "Now:  ", REASON_INDENT, text);
}

static void write_what_is_assumed(const struct askers *askers) {
    const unsigned look = terminal_look(stdout);
    char text[256];
    if (askers->open)
        snprintf(text, sizeof text, "requests come when they came, whatever the answers (an open loop).");
    else if (!(askers->think_ns >= 0))
        snprintf(text, sizeof text,
                 "requests come when they came: the trace does not tell who waits for which answer.");
    else
        snprintf(text, sizeof text,
                 "each client asks again %s after its answer, as it did (a closed loop); others ask otherwise: "
                 "estimate --clients, --rate, --think.",
                 text_duration(askers->think_ns).s);
    look_lead(stdout, look, TONE_HEAD, "Assumed: ", REASON_INDENT, text);
}

// Changes that meet what is asked only with the others are said, and what they fail alone.
static void write_failing_alone(const struct search_result *result, const struct ranked_plan *best) {
    char text[1024] = "", name[1024];
    size_t used = 0;
    for (uint32_t i = 0; i < best->count && used < sizeof text; i++) {
        const struct candidate *candidate = &result->candidates[best->candidates[i]];
        if (!candidate->fails) continue;
        improvement_text(candidate->named, name, sizeof name);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", used ? ", " : "", name, candidate->fails);
    }
    if (used)
        look_printf(stdout, terminal_look(stdout), REASON_INDENT, "      Alone not all of them would do: %s.", text);
}

// What to change in two lines at most, what that brings in a third.
static void write_best(const struct suggestion *s) {
    const struct search_result *result = &s->result;
    const struct ranked_plan *best = &result->plans[0];
    const unsigned look = terminal_look(stdout);
    char text[NAMED_MEMBERS * 1024 + 64], shown[sizeof text], change[512];
    const size_t most = best->count == 1 ? ONE_NAME_MOST : NAMES_MOST;
    name_members(result, best->candidates, best->count, text, sizeof text);
    look_shorten(text, look & LOOK_WIDE ? sizeof text : most, look, shown, sizeof shown);
    look_lead(stdout, look, TONE_HEAD, "Best: ", REASON_INDENT, shown);
    const struct text_noises noises = {suggest_runs_base(&s->runs), suggest_runs_plan(&s->runs, 0), look};
    look_printf(stdout, look, REASON_INDENT, "      %s",
                metrics_text_change(&result->base, &best->estimate, &noises, change, sizeof change));
    write_failing_alone(result, best);
}

// Of changes that are shown and can be estimated the one with the least wall time (of a service, the most requests a
// second), or the fewest occupied threads, if that is better than the run by more than the model's noise; of a service
// none that serves fewer. NULL: none.
static const struct candidate *best_trade(const struct search_result *result, bool threads) {
    const struct metrics *base = &result->replayed;
    const bool serves = columns_are_of_service(result);
    const struct candidate *best = NULL;
    double least = 1 - result->noise;
    for (size_t i = 0; i < result->candidate_count; i++) {
        const struct candidate *candidate = &result->candidates[i];
        if (!candidate->shown || !candidate_is_estimated(candidate)) continue;
        const struct metrics *now = &candidate->estimate;
        const double wall = metrics_wall_ratio(now, base);
        const double here = threads ? now->threads[STATE_OCCUPIED].mean / base->threads[STATE_OCCUPIED].mean : wall;
        if (!(here < least) || (serves && wall > 1 + result->noise) || metrics_drags_on(now, base)) continue;
        if (threads && !front_saves_threads(now, base, result->noise)) continue;
        least = here;
        best = candidate;
    }
    return best;
}

enum { TRADE_NAME_MOST = 32, ALIKE_NAME_MOST = 48 }; // so that a trade is one line; of pools alike it may be two

static void write_trade(const struct suggestion *s, const char *what, const struct candidate *candidate) {
    const struct search_result *result = &s->result;
    const unsigned look = terminal_look(stdout);
    const struct metrics *base = &result->base, *estimate = &candidate->estimate;
    char name[1024], shown[1024], text[2048];
    improvement_text(candidate->named, name, sizeof name);
    const size_t most = candidate->named->alike ? ALIKE_NAME_MOST : TRADE_NAME_MOST;
    look_shorten(name, look & LOOK_WIDE ? sizeof name : most, look, shown, sizeof shown);
    const bool serves = columns_are_of_service(result);
    const struct text_noises noises = {
        suggest_runs_base(&s->runs), suggest_runs_candidate(&s->runs, (size_t)(candidate - result->candidates)), look};
    const struct text_pair gain =
        serves ? text_from_to(base->requests.throughput_per_s, estimate->requests.throughput_per_s, &noises,
                              RUN_THROUGHPUT, 1)
               : text_from_to((double)base->wall_ns, (double)estimate->wall_ns, &noises, RUN_WALL, NOISE_IN_TIME);
    snprintf(text, sizeof text, "%s: %s %s, mean threads %s", shown, serves ? "requests/s" : "wall", gain.s,
             text_from_to(base->threads[STATE_OCCUPIED].mean, estimate->threads[STATE_OCCUPIED].mean, &noises,
                          RUN_OCCUPIED_MEAN, 2)
                 .s);
    look_lead(stdout, look, TONE_HEAD, what, REASON_INDENT, text);
}

// In three lines or fewer: the best plan; or where none meets what is asked, the best trades and what they cost.
static void write_answer(const struct suggestion *s) {
    const struct search_result *result = &s->result;
    for (size_t t = 0; t < s->trace_count; t++) analysis_write_window(s->loads[t], s->trace_count > 1);
    const bool serves = columns_are_of_service(result);
    const struct askers askers = service_askers(s->loads[0]->dag, &result->base.requests);
    if (serves) write_service(s, &askers);
    const struct candidate *fastest = best_trade(result, false), *fewest = best_trade(result, true);
    if (result->plan_count) {
        write_best(s);
    } else if (!fastest && !fewest) {
        puts("Nothing that was tried makes the run faster, or lets it do with fewer threads.");
    } else {
        if (fastest) write_trade(s, "Fastest: ", fastest);
        if (fewest && fewest != fastest) write_trade(s, "Fewest threads: ", fewest);
    }
    if (serves && (result->plan_count || fastest || fewest)) write_what_is_assumed(&askers);
    putchar('\n');
}

// Of the changes that the answer tells.
static void write_noise(const struct suggestion *s) {
    const struct search_result *result = &s->result;
    const struct candidate *fastest = best_trade(result, false), *fewest = best_trade(result, true);
    struct told told[2] = {{"the best plan", result->plan_count ? suggest_runs_plan(&s->runs, 0) : NULL}};
    size_t count = 1;
    if (result->plan_count == 0 && fastest)
        told[0] =
            (struct told){"the fastest", suggest_runs_candidate(&s->runs, (size_t)(fastest - result->candidates))};
    if (result->plan_count == 0 && fewest && fewest != fastest)
        told[count++] = (struct told){"the one with fewest threads",
                                      suggest_runs_candidate(&s->runs, (size_t)(fewest - result->candidates))};
    suggest_runs_write_noise(&s->runs, result, told, count, options.require.count == 0);
}

enum { FRONT_SHOWN = 8 };
static const double front_step = 1.1; // in wall time, or throughput, from row to row

// A change alone, or one of the plans.
static const struct noises *noises_of_point(const struct suggestion *s, const struct front_point *point) {
    if (point->count == 1) return suggest_runs_candidate(&s->runs, point->candidates[0]);
    size_t plan = 0;
    while (plan < s->result.plan_count && s->result.plans[plan].candidates != point->candidates) plan++;
    return plan < s->result.plan_count ? suggest_runs_plan(&s->runs, plan) : NULL;
}

static void add_point(struct table *table, const struct suggestion *s, const struct front_point *point) {
    char text[NAMED_MEMBERS * 1024 + 64];
    name_members(&s->result, point->candidates, point->count, text, sizeof text);
    table_add(table, text);
    columns_add(table, &s->result, point->estimate, suggest_runs_base(&s->runs), noises_of_point(s, point));
}

// What costs what, where there is a choice: rows that differ by little in wall time, or throughput, are one.
static bool write_front(const struct suggestion *s, struct error *error) {
    const struct search_result *result = &s->result;
    struct table_column columns[1 + ESTIMATE_COLUMNS_MOST] = {{"change", TABLE_LEFT}};
    struct table table = {.columns = columns, .column_count = columns_name(result, columns, 1)};
    double last = 0;
    size_t rows = 0;
    for (size_t i = 0; i < result->front_count; i++) {
        const double ratio = metrics_wall_ratio(result->front[i].estimate, &result->replayed);
        if (ratio < front_step * last) continue;
        if (rows++ < FRONT_SHOWN) add_point(&table, s, &result->front[i]);
        last = ratio;
    }
    if (rows > 1) {
        look_heading(stdout, terminal_look(stdout), "What can be had");
        printf("  (nothing that was tried beats one of these in %s and number of changes)\n", columns_compared(result));
    }
    bool ok = rows < 2 || table_write(&table, stdout, terminal_look(stdout), error);
    table_destroy(&table);
    if (rows > FRONT_SHOWN) printf("  and %s slower ones: --json lists them\n", text_count(rows - FRONT_SHOWN).s);
    if (rows > 1) putchar('\n');
    return ok;
}

static void write_candidates_heading(const struct suggestion *s) {
    const unsigned look = terminal_look(stdout);
    char over[64];
    look_heading(stdout, look, "Each change alone");
    if (s->run_count > 1)
        look_printf(stdout, look, 2, "  (over %s; %s are those of %s)", suggest_runs_text(&s->runs, over, sizeof over),
                    suggest_runs_base(&s->runs) ? "reasons" : "figures", s->loads[0]->trace->path);
    printf("  (%s)\n", columns_legend(&s->result));
}

static void write_limits(const struct search_result *result) {
    char untried[128] = "";
    if (result->limit >= SEARCH_EVALUATIONS) return;
    if (result->untried)
        snprintf(untried, sizeof untried, ", and %s changes whose tasks take least were not tried",
                 text_count(result->untried).s);
    putchar('\n');
    look_printf(stdout, terminal_look(stdout), 2,
                "A trace of this size allows for %s plans%s: a shorter recording allows for more.",
                text_count(result->limit).s, untried);
}

static void write_plans_heading(const struct suggestion *s) {
    char over[48] = "";
    if (s->trace_count > 1) snprintf(over, sizeof over, " over %zu traces", s->trace_count);
    write_heading("Best plans");
    look_printf(stdout, terminal_look(stdout), 2, "  (of %s estimated in %s, by %s%s)",
                text_count(s->result.evaluated).s, text_duration(s->result.seconds * 1e9).s, options.objective, over);
    if (s->parts.count) {
        const struct part *part = &s->parts.parts[0].range;
        look_printf(stdout, terminal_look(stdout), 2,
                    "  (found on %s of the run, with %s requests, and estimated on all of it; --whole searches all)",
                    text_duration((double)(part->to_ns - part->from_ns)).s, text_count(part->requests).s);
    }
}

static bool write_text(struct suggestion *s, struct error *error) {
    const struct search_result *result = &s->result;
    if (result->candidate_count == 0) {
        look_printf(stdout, terminal_look(stdout), 2,
                    "%s%s has no task that could be changed (its spawn was seen, and it is neither periodic nor "
                    "delayed): nothing to suggest.",
                    s->loads[0]->trace->path, s->trace_count > 1 ? ", like the other traces," : "");
        return suggest_advice_write(s->loads[0], error);
    }
    write_answer(s);
    write_noise(s);
    if (!suggest_advice_write(s->loads[0], error)) return false;
    if (!suggest_runs_write_loads(&s->runs, result, error) || !write_front(s, error)) return false;
    write_candidates_heading(s);
    if (!write_candidates(s, error)) return false;
    write_reasons(s, false);
    write_reasons(s, true);
    write_limits(result);
    if (result->plan_count == 0) {
        putchar('\n');
        look_printf(stdout, terminal_look(stdout), 2,
                    "None of these meets what a plan must (%s), and %s holds the empty plan: --require asks for less.",
                    options.require.count ? "--require"
                                          : "wall time, and peak and mean of occupied threads, not above the run's",
                    options.output);
        return write_sketches(s, error);
    }
    write_plans_heading(s);
    if (!write_plans(s, error)) return false;
    write_assumptions(result);
    if (!write_sketches(s, error)) return false;
    write_next(s);
    return true;
}

// Those of the first trace as they are, those of others behind its name.
static cJSON *warnings_json(const struct suggestion *s) {
    cJSON *array = cJSON_CreateArray();
    for (size_t t = 0; t < s->trace_count; t++) {
        const struct analysis *analysis = s->loads[t];
        for (size_t i = 0; i < analysis->warnings.count; i++) {
            char text[2048];
            const char *in = t > 0 ? analysis->trace->path : "";
            snprintf(text, sizeof text, "%s%s%s", in, t > 0 ? ": " : "", analysis->warnings.texts[i]);
            cJSON_AddItemToArray(array, json_text(text));
        }
    }
    return array;
}

// The first trace's, and where there are others each one's.
static void add_windows(const struct suggestion *s, cJSON *document) {
    cJSON_AddItemToObject(document, "window", analysis_window_json(s->loads[0]));
    if (s->trace_count < 2) return;
    cJSON *windows = cJSON_AddArrayToObject(document, "windows");
    for (size_t t = 0; t < s->trace_count; t++) cJSON_AddItemToArray(windows, analysis_window_json(s->loads[t]));
}

static bool write_json(struct suggestion *s, struct error *error) {
    cJSON *document = json_suggestions(&s->result, options.seed);
    const struct suggest_sketches sketches = sketches_of(s);
    if ((options.sketch && !suggest_sketches_add(&sketches, document, error)) ||
        !suggest_advice_add(s->loads[0], document, error)) {
        cJSON_Delete(document);
        return false;
    }
    cJSON_AddItemToObject(document, "model", json_text(model_names[s->model]));
    add_windows(s, document);
    suggest_runs_add(&s->runs, &s->result, document);
    cJSON_AddItemToObject(document, "warnings", warnings_json(s));
    return json_write(document, stdout, error);
}

static bool write_results(struct suggestion *s, struct error *error) {
    if (options.json) return write_json(s, error);
    if (!options.csv) return write_text(s, error);
    write_csv_names(s);
    for (size_t i = 0; i < s->result.candidate_count; i++) write_csv_line(s, i);
    return true;
}

// A search may take minutes: what can't be written is said before it.
static bool check_options(enum model_kind *model, struct error *error) {
    if (options.json && options.csv) return error_set(error, STATUS_USAGE, "--json and --csv exclude each other");
    options.sketch |= options.sources.count > 0;
    if (options.sketch && options.csv)
        return error_set(error, STATUS_USAGE, "--csv has no room for sketches: use --json");
    return model_parse(options.model, model, error) && output_check(options.output, "plan", error);
}

static int run(const struct operands *operands, struct error *error) {
    struct suggestion s = {0};
    if (check_options(&s.model, error) &&
        sources_open(&s.sources, options.sources.items, options.sources.count, error) &&
        open_all(&s, operands, error) && choose_traces(&s, error) && choose_model(&s, error) && open_parts(&s, error) &&
        search(&s, error) && warn(&s, error) && write_plan(&s.result, &s.arena, error)) {
        write_results(&s, error);
    }
    parts_close(&s.parts);
    for (size_t i = 0; i < s.run_count; i++) analysis_close(&s.analyses[i]);
    sources_close(&s.sources);
    arena_destroy(&s.arena);
    return (int)error->status;
}

const struct command command_suggest = {
    .name = "suggest",
    .summary = "which changes would pay, ranked, and the best plan",
    .usage = "TRACE... [-o PLAN] [--top N] [--objective O] [--require EXPR]... [--model M] [--seed N] [--window "
             "FROM..TO] [--keep-tracer-cost] [--whole] [--all] [--sketch] [--sources DIR]... [--wide] [--json | --csv]",
    .about =
        "Finds the changes that the recorded run offers, estimates each and their combinations, and writes the best\n"
        "plan. Begins with the answer, and with what can be had for what: changes and plans that nothing that was "
        "tried\n"
        "beats in wall time, threads and number of changes at once. Without --require a plan may not be worse than\n"
        "the run in wall time, peak or mean occupied threads (by more than 0.5 %, or than what the model is off by in\n"
        "the worst of the three). Changes that fail are listed with the reason.\n"
        "Recordings with equal command lines are repetitions of one load: one is searched, what it shows is estimated "
        "in\n"
        "all, figures are medians, and beside each stands what they differ by from run to run. Of several loads it "
        "finds\n"
        "what is best over all of them: the geometric mean of what each gains (of an expression, the arithmetic "
        "mean).\n"
        "Requirements must hold in every one, and what would deadlock in one is out. What is shown, and the trace that "
        "the\n"
        "plan names, is the first one's; each load's figures stand side by side.",
    .example = "  rehype suggest trace.msgpack\n"
               "  rehype suggest trace-run*.msgpack\n"
               "  rehype suggest trace.msgpack --objective wall --require 'occupied.peak<=8'\n"
               "  rehype suggest trace.msgpack --sources src/main/java\n"
               "  rehype suggest morning.msgpack evening.msgpack",
    .options = specs,
    .operands_least = 1,
    .operands_most = SIZE_MAX,
    .run = run,
};
