// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/slices.h"

#include "dag/ns.h"

bool slices_of(int64_t from_ns, int64_t to_ns, double ms, struct slices *slices, struct error *error) {
    *slices = (struct slices){.from_ns = from_ns, .to_ns = to_ns};
    if (ms == 0) return true;
    const double length_ns = ms * 1e6, count = ceil((double)(to_ns - from_ns) / length_ns);
    if (!(length_ns >= 1) || count > SLICES_MOST)
        return error_set(error, STATUS_USAGE, "slices of %g ms would be %.0f, which is more than %d: take longer ones",
                         ms, count, SLICES_MOST);
    slices->length_ns = llrint(length_ns);
    slices->count = to_ns > from_ns ? (size_t)((to_ns - from_ns - 1) / slices->length_ns) + 1 : 1;
    return true;
}

bool slice_series_init(struct slice_series *series, const struct slices *slices, struct arena *arena) {
    *series = (struct slice_series){0};
    if (slices->count == 0) return true;
    series->values = ARENA_NEW(arena, double, slices->count);
    series->whole = ARENA_NEW(arena, double, slices->count + 1);
    return series->values && series->whole;
}

static bool is_within(const struct slices *slices, int64_t at_ns) {
    return at_ns >= slices->from_ns && at_ns <= slices->to_ns;
}

// The window's last instant belongs to its last slice.
static size_t slice_at(const struct slices *slices, int64_t at_ns) {
    size_t slice = (size_t)((at_ns - slices->from_ns) / slices->length_ns);
    return slice < slices->count ? slice : slices->count - 1;
}

void slice_count(struct slice_series *series, const struct slices *slices, int64_t at_ns) {
    if (slices->count && is_within(slices, at_ns)) series->values[slice_at(slices, at_ns)]++;
}

static int64_t begin_of(const struct slices *slices, size_t slice) {
    return slices->from_ns + (int64_t)slice * slices->length_ns;
}

int64_t slice_length_ns(const struct slices *slices, size_t slice) {
    return min_ns(slices->length_ns, slices->to_ns - begin_of(slices, slice));
}

// The slices in between are lasted through wholly; they are summed up at the end.
void slice_last(struct slice_series *series, const struct slices *slices, int64_t begin_ns, int64_t end_ns) {
    begin_ns = max_ns(begin_ns, slices->from_ns);
    end_ns = min_ns(end_ns, slices->to_ns);
    if (slices->count == 0 || end_ns <= begin_ns) return;
    const size_t first = slice_at(slices, begin_ns), last = slice_at(slices, end_ns);
    if (first == last) {
        series->values[first] += (double)(end_ns - begin_ns);
        return;
    }
    series->values[first] += (double)(begin_of(slices, first + 1) - begin_ns);
    series->values[last] += (double)(end_ns - begin_of(slices, last));
    series->whole[first + 1] += (double)slices->length_ns;
    series->whole[last] -= (double)slices->length_ns;
}

void slice_series_settle(struct slice_series *series, const struct slices *slices) {
    double through_ns = 0;
    for (size_t i = 0; i < slices->count; i++) {
        through_ns += series->whole[i];
        series->values[i] += through_ns;
        series->whole[i] = 0;
    }
}

int64_t slices_within_ns(const struct slices *slices, int64_t begin_ns, int64_t end_ns) {
    return max_ns(min_ns(end_ns, slices->to_ns) - max_ns(begin_ns, slices->from_ns), 0);
}
