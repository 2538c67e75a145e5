// SPDX-License-Identifier: GPL-3.0-or-later
// Packing is quick, and a sample tells what gzip will make of it: so gzip sees whole what is likely to fit.
#include "report/page/carry.h"

#include "report/page/columns.h"
#include "report/page/packed.h"
#include "report/page/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct columns_options finest_first[] = {
    {.quantum_ns = 1, .functions = true},
    {.quantum_ns = 1},
    {.quantum_ns = 10},
    {.quantum_ns = 100},
    {.quantum_ns = 1000},
};
enum { CHOICES = sizeof finest_first / sizeof *finest_first };

#define SAMPLES_SAY_LESS 1.1 // than what is packed whole, at the most

static bool has_functions(const struct trace *trace) {
    return trace->events_of_kind[EVENT_ENTER] > 0;
}

// carried->text where it fits.
static bool try(const struct trace *trace, const struct columns_options *choice, size_t most, struct carried *carried,
                struct error *error) {
    struct trace_memory columns = {0};
    bool ok = columns_pack(trace, choice, &columns, error);
    carried->quantum_ns = choice->quantum_ns;
    carried->functions = choice->functions || !has_functions(trace);
    if (ok) carried->bytes = packed_length(columns.bytes, columns.size);
    if (ok && (double)carried->bytes / SAMPLES_SAY_LESS <= (double)most) {
        carried->text = packed_text(columns.bytes, columns.size, error);
        ok = carried->text;
        if (ok) carried->bytes = strlen(carried->text);
    }
    free(columns.bytes);
    if (!ok || carried->bytes <= most) return ok;
    free(carried->text);
    carried->text = NULL;
    return true;
}

static void say_why(struct carried *carried, size_t most) {
    const double bytes = (double)carried->bytes / 1e6, room = (double)most / 1e6;
    char *why = carried->why;
    const size_t size = sizeof carried->why;
    if (!carried->text)
        snprintf(why, size, "The trace takes %.1f MB even with times rounded to 1 us, and a page has %.1f MB for it.",
                 bytes, room);
    else if (carried->quantum_ns > 1)
        snprintf(why, size, "Times are rounded to %s%s, so that the trace fits into the page.",
                 carried->quantum_ns == 1000  ? "1 us"
                 : carried->quantum_ns == 100 ? "100 ns"
                                              : "10 ns",
                 carried->functions ? "" : ", and functions that lead to no task are left out");
    else if (!carried->functions)
        snprintf(why, size, "Functions that lead to no task are left out, so that the trace fits into the page.");
}

bool carry_trace(const struct trace *trace, size_t most, struct carried *carried, struct error *error) {
    *carried = (struct carried){.quantum_ns = 1, .functions = true};
    if (vertices_of(trace) > VERTICES_MOST) {
        snprintf(carried->why, sizeof carried->why, "A page has memory for %d events of tasks, and the trace has %llu.",
                 VERTICES_MOST, (unsigned long long)vertices_of(trace));
        return true;
    }
    for (int i = 0; i < CHOICES && !carried->text; i++) {
        if (i == 1 && !has_functions(trace)) continue;
        if (!try(trace, &finest_first[i], most, carried, error)) return false;
    }
    say_why(carried, most);
    return true;
}
