// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/window_text.h"

#include "report/json.h"
#include "report/text.h"

#include <stdio.h>

static struct window within_run(const struct dag *dag, const struct window *window) {
    return (struct window){window->from_ns > dag->first_ns ? window->from_ns : dag->first_ns,
                           window->to_ns < dag->last_ns ? window->to_ns : dag->last_ns};
}

const char *window_text(const struct dag *dag, const struct window *window, const struct window_choice *choice,
                        char *text, size_t size) {
    const struct window part = within_run(dag, window);
    const bool steady = choice->kind == WINDOW_STEADY;
    *text = '\0';
    if (!steady && choice->kind != WINDOW_WARM) return text;
    if (choice->found)
        snprintf(text, size, "Of the %s %s of %s (%s left out; --window 0%%..100%% has all).",
                 steady ? "steady" : "warm", text_duration((double)(part.to_ns - part.from_ns)).s,
                 text_duration((double)(dag->last_ns - dag->first_ns)).s,
                 steady ? "start-up and shutdown" : "what was before");
    else
        snprintf(text, size, "Of all of the run: %s.", choice->why);
    return text;
}

cJSON *window_json(const struct dag *dag, const struct window *window, const struct window_choice *choice) {
    const struct window part = within_run(dag, window);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "from_ns", json_integer(part.from_ns));
    cJSON_AddItemToObject(object, "to_ns", json_integer(part.to_ns));
    cJSON_AddItemToObject(object, "why", json_text(choice->why));
    return object;
}
