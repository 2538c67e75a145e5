// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/estimate_runs.h"

#include "cli/terminal.h"
#include "report/json.h"
#include "report/metrics_text.h"
#include "report/noise.h"

enum { INDENT = 2 };

static bool no_memory(struct error *error) {
    return error_set(error, STATUS_FAILED, "no memory for the runs");
}

// ---- Which there are

static bool fill_load(struct estimate_runs *found, uint32_t load, size_t chosen, struct arena *arena,
                      struct error *error) {
    struct load_figures *figures = &found->loads[load];
    figures->chosen = chosen;
    figures->trace = found->runs[chosen].trace;
    figures->before_runs = ARENA_NEW(arena, const struct metrics *, found->count);
    figures->after_runs = ARENA_NEW(arena, const struct metrics *, found->count);
    if (!figures->before_runs || !figures->after_runs) return no_memory(error);
    for (size_t r = 0; r < found->count; r++) {
        if (found->loads_of_runs[r] != load) continue;
        figures->before_runs[figures->run_count] = found->runs[r].before;
        figures->after_runs[figures->run_count++] = found->runs[r].after;
    }
    return true;
}

bool estimate_runs_find(const struct estimated_run *runs, size_t count, struct arena *arena,
                        struct estimate_runs *found, struct error *error) {
    *found = (struct estimate_runs){.runs = runs, .count = count, .loads_of_runs = ARENA_NEW(arena, uint32_t, count)};
    const struct trace **traces = ARENA_NEW(arena, const struct trace *, count);
    const struct metrics **before = ARENA_NEW(arena, const struct metrics *, count);
    if (!found->loads_of_runs || !traces || !before) return no_memory(error);
    for (size_t r = 0; r < count; r++) {
        traces[r] = runs[r].trace;
        before[r] = runs[r].before;
    }
    found->load_count = runs_find_loads(traces, count, found->loads_of_runs);
    bool ok = (found->loads = ARENA_NEW(arena, struct load_figures, found->load_count)) || no_memory(error);
    for (uint32_t load = 0; ok && load < found->load_count; load++)
        ok = fill_load(found, load, runs_median_run(before, found->loads_of_runs, count, load), arena, error);
    return ok;
}

bool estimate_runs_summarise(struct estimate_runs *runs, struct error *error) {
    bool ok = true;
    for (uint32_t l = 0; ok && l < runs->load_count; l++) {
        struct load_figures *load = &runs->loads[l];
        ok = runs_median(load->before_runs, load->run_count, &load->before, error) &&
             runs_median(load->after_runs, load->run_count, &load->after, error) &&
             noises_of(load->before_runs, load->run_count, &load->before_noises, error) &&
             noises_of(load->after_runs, load->run_count, &load->after_noises, error);
    }
    return ok;
}

// ---- Text

static void write_load_heading(const struct load_figures *load) {
    char text[1024];
    snprintf(text, sizeof text, "%zu run%s of %s", load->run_count, load->run_count == 1 ? "" : "s",
             load->trace->header.command ? load->trace->header.command : load->trace->path);
    look_printf(stdout, terminal_look(stdout), INDENT, "%s", text);
}

static void write_legend(const struct load_figures *load) {
    look_printf(stdout, terminal_look(stdout), INDENT,
                "  (medians of %zu runs; noise: how far a median may be off from run to run, 95 %%. A change within "
                "the noise of both is indistinguishable from none: so many more runs of either would tell.%s%s)",
                load->run_count, *noise_caveat(load->run_count) ? " " : "", noise_caveat(load->run_count));
}

static bool write_load(const struct load_figures *load, struct error *error) {
    const unsigned look = terminal_look(stdout);
    const struct metrics_text_run one[2] = {{"before", &load->before}, {"after", &load->after}};
    const struct metrics_text_runs several = {load->before_runs, load->after_runs, load->run_count};
    if (load->run_count < 2) return metrics_text_write_two(one, LAST_CHANGE, stdout, look, error);
    if (!metrics_text_write_runs(&several, stdout, look, error)) return false;
    write_legend(load);
    return true;
}

bool estimate_runs_write(const struct estimate_runs *runs, struct error *error) {
    bool ok = true;
    for (uint32_t l = 0; ok && l < runs->load_count; l++) {
        if (l > 0) putchar('\n');
        if (runs->load_count > 1) write_load_heading(&runs->loads[l]);
        ok = write_load(&runs->loads[l], error);
    }
    return ok;
}

// ---- JSON

static cJSON *json_figures(const struct metrics *metrics) {
    cJSON *object = cJSON_CreateObject();
    for (enum run_figure figure = 0; figure < RUN_FIGURES; figure++)
        cJSON_AddItemToObject(object, run_figure_names[figure],
                              noise_json_figure(figure, run_figure_of(metrics, figure)));
    return object;
}

static cJSON *json_runs(const struct estimate_runs *runs) {
    cJSON *array = cJSON_CreateArray();
    for (size_t r = 0; r < runs->count; r++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToObject(run, "trace", json_text(runs->runs[r].trace->path));
        cJSON_AddItemToObject(run, "load", json_integer(runs->loads_of_runs[r]));
        cJSON_AddItemToObject(run, "base", json_figures(runs->runs[r].before));
        cJSON_AddItemToObject(run, "estimated", json_figures(runs->runs[r].after));
        cJSON_AddItemToArray(array, run);
    }
    return array;
}

static cJSON *json_noise(const struct load_figures *load) {
    if (load->run_count < 2) return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "runs", json_integer((int64_t)load->run_count));
    cJSON_AddItemToObject(object, "base", noise_json(&load->before_noises, NULL));
    cJSON_AddItemToObject(object, "estimated", noise_json(&load->after_noises, &load->before_noises));
    return object;
}

static cJSON *json_load(const struct load_figures *load) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "command", json_text(load->trace->header.command));
    cJSON_AddItemToObject(object, "trace", json_text(load->trace->path));
    cJSON_AddItemToObject(object, "runs", json_integer((int64_t)load->run_count));
    cJSON_AddItemToObject(object, "base", json_metrics(&load->before));
    cJSON_AddItemToObject(object, "estimated", json_metrics(&load->after));
    cJSON_AddItemToObject(object, "noise", json_noise(load));
    return object;
}

void estimate_runs_add(const struct estimate_runs *runs, cJSON *document) {
    cJSON_AddItemToObject(document, "runs", json_runs(runs));
    cJSON_AddItemToObject(document, "noise", json_noise(&runs->loads[0]));
    if (runs->count < 2) return;
    cJSON *loads = cJSON_AddArrayToObject(document, "loads");
    for (uint32_t l = 0; l < runs->load_count; l++) cJSON_AddItemToArray(loads, json_load(&runs->loads[l]));
}
