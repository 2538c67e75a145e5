// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run figures are of, for people and as JSON.
#ifndef REHYPE_REPORT_WINDOW_TEXT_H
#define REHYPE_REPORT_WINDOW_TEXT_H

#include "metrics/window.h"

#include <cjson/cJSON.h>

enum { WINDOW_TEXT_BYTES = 300 };

// "Of the steady 14.2 s of 38.1 s (start-up and shutdown left out; --window 0%..100% has all).", or that no such part
// was found; empty where the user gave bounds or all of the run is meant. Returns text.
const char *window_text(const struct dag *dag, const struct window *window, const struct window_choice *choice,
                        char *text, size_t size);

// {"from_ns", "to_ns", "why"}: recorded times, as far as there are events.
cJSON *window_json(const struct dag *dag, const struct window *window, const struct window_choice *choice);

#endif
