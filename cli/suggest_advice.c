// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/suggest_advice.h"

#include "cli/terminal.h"
#include "report/calls_text.h"

bool suggest_advice_write(const struct analysis *analysis, struct error *error) {
    struct arena arena = ARENA_INIT;
    struct endpoints endpoints;
    struct calls calls;
    bool ok = metrics_calls(analysis->dag, &analysis->window, &arena, &calls, error);
    if (ok && calls.count) {
        ok = metrics_endpoints(analysis->dag, &analysis->window, &arena, &endpoints, error);
        if (ok && calls_text_write_advice(analysis->dag, &endpoints, &calls, stdout, terminal_look(stdout)))
            putchar('\n');
    }
    arena_destroy(&arena);
    return ok;
}
