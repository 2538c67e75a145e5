// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/progress.h"

#include "report/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 100, TELLING_MS = 500 }; // what is left is not told before so much of the stage has passed

static struct {
    char name[160];
    int64_t begun_ms, told_ms;
    bool shown;
} stage;

static bool on_terminal(void) {
    return isatty(STDERR_FILENO) == 1;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void show(const char *what) {
    fprintf(stderr, "\r\033[K%s%s", stage.name, what);
    fflush(stderr);
    stage.told_ms = now_ms();
    stage.shown = true;
}

static bool is_due(void) {
    return on_terminal() && now_ms() - stage.told_ms >= STEP_MS;
}

void progress_stage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(stage.name, sizeof stage.name, format, args);
    va_end(args);
    stage.begun_ms = now_ms();
    if (on_terminal()) show(" ...");
}

// "850 ms" would flicker: whole seconds, and minutes from 100 s on.
static const char *time_text(double seconds, char *text, size_t size) {
    if (seconds < 100)
        snprintf(text, size, "%.0f s", ceil(seconds));
    else
        snprintf(text, size, "%.0f min", ceil(seconds / 60));
    return text;
}

void progress_steps(void *unit, uint64_t done, uint64_t left) {
    char text[160], time[32];
    const int64_t passed_ms = now_ms() - stage.begun_ms;
    if (!is_due() || done == 0) return;
    const double left_s = (double)passed_ms / 1000 * (double)left / (double)done;
    int used = snprintf(text, sizeof text, ": %s %s", text_count(done).s, (const char *)unit);
    if (passed_ms >= TELLING_MS && left > 0)
        snprintf(text + used, sizeof text - (size_t)used, ", at most %s left", time_text(left_s, time, sizeof time));
    show(text);
}

void progress_left(double seconds) {
    char text[64], time[32];
    if (!is_due()) return;
    snprintf(text, sizeof text, ": %s left", time_text(seconds, time, sizeof time));
    show(text);
}

void progress_end(void) {
    if (stage.shown) fputs("\r\033[K", stderr);
    stage.shown = false;
}
