// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_advice.h"

#include "cli/terminal.h"
#include "report/calls_json.h"
#include "report/calls_text.h"

// `advice` is all NULL where there is none; in the arena.
static bool find(const struct analysis *analysis, struct arena *arena, struct call_advice *advice,
                 struct error *error) {
    struct endpoints endpoints;
    struct calls calls;
    *advice = (struct call_advice){0};
    if (!metrics_calls(analysis->dag, &analysis->window, arena, &calls, error)) return false;
    if (calls.count == 0) return true;
    if (!metrics_endpoints(analysis->dag, &analysis->window, arena, &endpoints, error)) return false;
    calls_advise(&endpoints, &calls, advice);
    return true;
}

bool suggest_advice_write(const struct analysis *analysis, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct call_advice advice;
    const bool ok = find(analysis, &arena, &advice, error);
    if (ok && advice.sequence) {
        calls_text_write_advice(analysis->dag, &advice, stdout, terminal_look(stdout));
        putchar('\n');
    }
    arena_destroy(&arena);
    return ok;
}

bool suggest_advice_add(const struct analysis *analysis, cJSON *document, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct call_advice advice;
    const bool ok = find(analysis, &arena, &advice, error);
    cJSON *json = ok && advice.sequence ? json_call_advice(analysis->dag, &advice) : cJSON_CreateNull();
    cJSON_AddItemToObject(document, "advice", json);
    arena_destroy(&arena);
    return ok;
}
