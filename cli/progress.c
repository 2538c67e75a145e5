// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 100 };

static bool shown;

static bool on_terminal(void) {
    return isatty(STDERR_FILENO) == 1;
}

void progress_stage(const char *what) {
    if (!on_terminal()) return;
    fprintf(stderr, "\r\033[K%s ...", what);
    fflush(stderr);
    shown = true;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_plans(void *context, uint64_t evaluated) {
    (void)context;
    static int64_t last_ms;
    int64_t now = now_ms();
    if (now - last_ms < STEP_MS || !on_terminal()) return;
    last_ms = now;
    fprintf(stderr, "\r\033[Ksearching: %" PRIu64 " plans estimated", evaluated);
    fflush(stderr);
    shown = true;
}

void progress_end(void) {
    if (shown) fputs("\r\033[K", stderr);
    shown = false;
}
