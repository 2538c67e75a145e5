// SPDX-License-Identifier: GPL-3.0-or-later
// A sketch while it is written (report/sketch.h), and what the kinds of change write alike.
#ifndef REHYPE_REPORT_SKETCH_DRAFT_H
#define REHYPE_REPORT_SKETCH_DRAFT_H

#include "report/java_names.h"
#include "report/sketch.h"

#include <stdio.h>

struct draft {
    const struct improvement *improvement;
    FILE *before, *after;
    struct sketch *sketch; // gets the sentences
    struct arena *arena;
    bool out_of_memory;
};

void draft_before(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
void draft_after(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
void draft_both(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A sentence of what to watch for; those beyond SKETCH_WATCH_MOST are left out.
void draft_watch(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "4", or "n" of a number that is still to be chosen.
struct java_name draft_number(int64_t number);
// A pool's variable: "pool1", "workerPool"; "pool" without a name.
struct java_name draft_pool(const struct dag *dag, uint32_t pool);

#endif
