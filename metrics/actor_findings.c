// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/actor_findings.h"

#include <string.h>

static bool ask_of_nothing(const struct actor_questions *questions, struct error *error) {
    const bool asks = questions->path_count || questions->slice_ms > 0 || questions->trigger || questions->update;
    return !asks || error_set(error, STATUS_USAGE, "the trace tells of no actors, and so of no messages");
}

static bool find_latencies(const struct actor_questions *questions, const struct window *window, struct arena *arena,
                           struct actor_findings *findings, struct error *error) {
    findings->latencies_found = questions->path_count == 0;
    if (findings->latencies_found)
        return latency_of_cascades(&findings->log, window, questions->slice_ms, arena, &findings->latencies,
                                   &findings->latency_count, error);
    findings->latencies = ARENA_NEW(arena, struct latency_figures, questions->path_count);
    if (!findings->latencies) return error_set(error, STATUS_FAILED, "no memory for latencies");
    for (; findings->latency_count < questions->path_count; findings->latency_count++) {
        const char *path = questions->paths[findings->latency_count];
        if (!latency_of_path(&findings->log, path, window, questions->slice_ms, arena,
                             &findings->latencies[findings->latency_count], error))
            return error_wrap(error, "--path '%s'", path);
    }
    return true;
}

static bool parse(const char *option, const char *text, const struct actor_log *log, struct arena *arena,
                  struct message_pattern *pattern, struct error *error) {
    return message_pattern_parse(text, strlen(text), log, arena, pattern, error) ||
           error_wrap(error, "%s '%s'", option, text);
}

static bool find_triggers(const struct actor_questions *questions, const struct window *window, struct arena *arena,
                          struct actor_findings *findings, struct error *error) {
    struct message_pattern trigger, update;
    findings->trigger = questions->trigger;
    findings->update = questions->update;
    if (!questions->trigger)
        return !questions->update ||
               error_set(error, STATUS_USAGE, "--update says nothing without the --trigger that may come between");
    if (!parse("--trigger", questions->trigger, &findings->log, arena, &trigger, error)) return false;
    const bool updates = questions->update != NULL;
    if (updates && !parse("--update", questions->update, &findings->log, arena, &update, error)) return false;
    return triggers_find(&findings->log, &trigger, updates ? &update : NULL, window, questions->slice_ms, arena,
                         &findings->triggers, error);
}

bool actor_findings_make(const struct dag *dag, const struct window *window, const struct actor_questions *questions,
                         struct arena *arena, struct actor_findings *findings, struct error *error) {
    findings->any = !actor_log_is_empty(dag->trace);
    if (!findings->any) return ask_of_nothing(questions, error);
    return actor_log_read(dag, &findings->log, error) &&
           actors_find(&findings->log, window, arena, &findings->actors, error) &&
           messages_find(&findings->log, window, questions->slice_ms, arena, &findings->messages, error) &&
           find_latencies(questions, window, arena, findings, error) &&
           find_triggers(questions, window, arena, findings, error);
}

void actor_findings_destroy(struct actor_findings *findings) {
    actor_log_destroy(&findings->log);
}
