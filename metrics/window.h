// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a run counts: as the user wrote it (--window), or of a service that part in which it served steadily.
#ifndef REHYPE_METRICS_WINDOW_H
#define REHYPE_METRICS_WINDOW_H

#include "metrics/figures.h"

enum window_kind {
    WINDOW_WHOLE,
    WINDOW_GIVEN,  // by its bounds
    WINDOW_STEADY, // metrics/steady.h
    WINDOW_WARM,   // metrics/warm.h
};

struct window_choice {
    enum window_kind kind;
    bool found;    // false: a steady or warm part was wanted, there is none, and the window is the whole run
    char why[200]; // "10%..90%, as given"; no capital, no full stop
};

// `text` is "0.5..2", "10%..90%", "Class.method#3..Class.method#8" (calls of a method), either side of which may be
// left out, "steady" or "warm". NULL: the steady part of a run that tells requests, else all of it. Errors:
// STATUS_USAGE for what is none of these; no memory.
bool window_choose(const char *text, const struct dag *dag, struct window *window, struct window_choice *choice,
                   struct error *error);

// All of the run instead of a part that was looked for, because of that.
void window_choose_all(struct window *window, struct window_choice *choice, const char *why);

#endif
