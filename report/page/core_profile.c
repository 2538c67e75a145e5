// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/page/core_state.h"

#include <stdlib.h>
#include <string.h>

// A workspace has the series of one run at a time. From its first event on, as lanes.
static bool keep_series(struct core_series *kept, const struct state_series *series, int64_t first_ns) {
    struct state_change *changes = malloc((series->count + 1) * sizeof *changes);
    if (!changes) return false;
    if (series->count) memcpy(changes, series->changes, series->count * sizeof *changes);
    for (size_t i = 0; i < series->count; i++) changes[i].time_ns -= first_ns;
    kept->series = (struct state_series){.changes = changes,
                                         .count = series->count,
                                         .capacity = series->count + 1,
                                         .from_ns = series->from_ns - first_ns,
                                         .to_ns = series->to_ns - first_ns};
    kept->known = true;
    return true;
}

static const struct state_series *series_of(struct core *core, enum page_run run, bool virtual_threads) {
    if (run == PAGE_ESTIMATED && core->plan_count == 0) run = PAGE_REPLAYED;
    struct core_series *kept = &core->series[run][virtual_threads];
    struct error error = ERROR_INIT;
    if (kept->known) return &kept->series;
    const struct lanes *lanes = core_lanes(core, run);
    if (!lanes) return NULL;
    if (!usage_series(lanes->run, virtual_threads, lanes->work, &error)) {
        core_fail(core, &error);
        return NULL;
    }
    if (keep_series(kept, &lanes->work->series, lanes->first_ns)) return &kept->series;
    core_say(core, "no memory for a profile");
    return NULL;
}

const double *page_profile(enum page_run run, uint32_t state, bool virtual_threads, double from_ns, double to_ns,
                           uint32_t bins) {
    struct core *core = &page_core;
    const bool asked_well =
        run < PAGE_RUNS && state < STATE_COUNT && bins > 0 && from_ns < to_ns && from_ns > -0x1p62 && to_ns < 0x1p62;
    double *profile = asked_well ? realloc(core->profile, bins * sizeof *profile) : NULL;
    const struct state_series *series = profile ? series_of(core, run, virtual_threads) : NULL;
    if (profile) core->profile = profile;
    if (!series) return NULL;
    metrics_profile_within(series, (enum thread_state)state, (int64_t)from_ns, (int64_t)to_ns, profile, bins);
    return profile;
}
