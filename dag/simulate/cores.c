// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/cores.h"

#include <stdlib.h>

// As fmin, fmax, round and ceil, which are calls of the library's; of what is not NAN, and the last two of what is not
// negative and less than 2^63.
static inline double lesser(double a, double b) {
    return a < b ? a : b;
}

static inline double greater(double a, double b) {
    return a > b ? a : b;
}

static inline int64_t nearest(double ns) {
    return (int64_t)(ns + 0.5);
}

static inline int64_t at_least(double ns) {
    int64_t whole = (int64_t)ns;
    return whole + ((double)whole < ns);
}

bool cores_reserve(struct cores *cores, uint32_t processes) {
    struct cores_share *shares = realloc(cores->shares, ((size_t)processes + 1) * sizeof *shares);
    if (shares) cores->shares = shares;
    return shares && events_reserve(&cores->due, SUBJECT_PROCESS, processes);
}

void cores_destroy(struct cores *cores) {
    events_destroy(&cores->due);
    free(cores->shares);
}

static double work_of_stretch_ns(const struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    return cores->stretch == recorded->background_count ? INFINITY
                                                        : (double)recorded->background[cores->stretch].until_work_ns;
}

// With fewer cores others take as much longer.
static double end_of_stretch_ns(const struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    double part = cores->count < recorded->cores ? cores->count / recorded->cores : 1;
    return cores->stretch == recorded->background_count ? INFINITY
                                                        : (double)recorded->background[cores->stretch].until_ns / part;
}

static bool is_stretch_over(const struct cores *cores) {
    return cores->stretch_work_ns <= cores->work_ns || cores->stretch_end_ns <= (double)cores->moved_ns;
}

// What others take in the stretch that begins.
static void begin_stretch(struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    for (;; cores->stretch++) {
        cores->stretch_work_ns = work_of_stretch_ns(cores);
        cores->stretch_end_ns = end_of_stretch_ns(cores);
        if (!is_stretch_over(cores)) break;
    }
    cores->taken = 0;
    if (cores->stretch == recorded->background_count) return;
    double taken = recorded->background[cores->stretch].cores;
    cores->taken = cores->count < recorded->cores ? taken * cores->count / recorded->cores : taken;
}

// Nothing begins or ends between since_ns and now.
static void bring_up_to(struct cores *cores, int64_t now_ns) {
    int64_t elapsed_ns = now_ns - cores->since_ns;
    cores->since_ns = now_ns;
    if (cores->pause_left_ns > 0) {
        cores->pause_left_ns -= elapsed_ns;
        return;
    }
    double each_ns = (double)elapsed_ns * cores->rate;
    cores->moved_ns += elapsed_ns;
    cores_clock_pass(&cores->served, each_ns);
    cores->work_ns += each_ns * event_count(&cores->due);
}

// It comes when as much has been computed as then, but not before what ended just before it is over, to the nearest ns
// each; while no process computes at once, as then.
enum { ROUNDED_NS = 8 };

static bool is_pause_due(const struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    if (cores->next_pause == recorded->pause_count) return false;
    double most_ns = (double)recorded->pauses[cores->next_pause].work_ns;
    return cores->work_ns >= (event_count(&cores->due) ? most_ns + ROUNDED_NS : most_ns - ROUNDED_NS);
}

// What is computed in all until the next pause, or the end of the stretch if that comes first.
static double work_to_change_ns(const struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    bool pauses = cores->next_pause < recorded->pause_count;
    double pause_ns = pauses ? (double)recorded->pauses[cores->next_pause].work_ns + ROUNDED_NS : INFINITY;
    return greater(lesser(pause_ns, cores->stretch_work_ns) - cores->work_ns, 0);
}

static void look_ahead(struct cores *cores) {
    const uint32_t computing = event_count(&cores->due);
    cores->rate = cores_rate(cores->count, cores->taken, computing);
    cores->ends_next = false;
    if (cores->pause_left_ns > 0) {
        cores->next_ns = cores->since_ns + cores->pause_left_ns;
        return;
    }
    if (computing == 0) {
        cores->next_ns = is_pause_due(cores) ? cores->since_ns : INT64_MAX;
        return;
    }
    double left_ns = ((double)(event_next_ns(&cores->due) - cores->served.ns) - cores->served.part) / cores->rate;
    double change_ns = lesser(work_to_change_ns(cores) / (cores->rate * computing),
                              greater(cores->stretch_end_ns - (double)cores->moved_ns, 0));
    cores->ends_next = change_ns >= left_ns;
    cores->next_ns = cores->since_ns + (cores->ends_next ? nearest(greater(left_ns, 0)) : at_least(change_ns));
}

void cores_begin(struct cores *cores, double count, const struct cores_recorded *recorded) {
    events_clear(&cores->due);
    *cores = (struct cores){.due = cores->due, .shares = cores->shares, .count = count, .recorded = *recorded};
    begin_stretch(cores);
    look_ahead(cores);
}

// What part of a core it has had to do without since it joined.
static float crowding_of(const struct cores *cores, const struct cores_share *share) {
    double moved_ns = (double)(cores->moved_ns - share->joined_ns);
    double served_ns = cores_clock_since(cores->served, share->joined_served);
    double slowdown = moved_ns > 0 ? 1 - served_ns / moved_ns
                                   : 1 - cores_rate(cores->count, cores->taken, event_count(&cores->due) + 1);
    return (float)greater(slowdown, 0);
}

static void put_due(struct cores *cores, uint32_t process, double left_ns) {
    event_put(&cores->due, NOTICE_TURN, process, cores->served.ns + nearest(cores->served.part + left_ns));
}

// A process has been served for as long as it is whether its residual was good or bad. It comes back as far as it had
// to do without as much as it had to before. false: it has more to get.
static bool is_done(struct cores *cores, uint32_t process) {
    struct cores_share *share = &cores->shares[process];
    if (share->settled || share->residual.more_ns == 0) return true;
    share->settled = true;
    share->slowdown = crowding_of(cores, share);
    double part = share->residual.slowdown > share->slowdown ? share->slowdown / share->residual.slowdown : 1;
    double more_ns = (double)share->residual.more_ns;
    double left_ns = more_ns > 0 ? part * more_ns : (1 - part) * lesser(-more_ns, share->compute_ns);
    if (left_ns < 1) return true;
    put_due(cores, process, left_ns);
    return false;
}

void cores_join(struct cores *cores, uint32_t process, int64_t now_ns, int64_t compute_ns,
                struct cores_residual residual) {
    bring_up_to(cores, now_ns);
    if (event_count(&cores->due) == 0) begin_stretch(cores); // while nothing computed
    cores->shares[process] =
        (struct cores_share){residual, (double)compute_ns, cores->moved_ns, cores->served, 0, false};
    int64_t least_ns = residual.more_ns < 0 ? compute_ns + residual.more_ns : compute_ns;
    put_due(cores, process, (double)(least_ns > 0 ? least_ns : 0));
    look_ahead(cores);
}

uint32_t cores_take(struct cores *cores) {
    bool paused = cores->pause_left_ns > 0;
    uint32_t done = NOTICE_NONE;
    bring_up_to(cores, cores->next_ns);
    if (cores->ends_next) {
        done = event_take(&cores->due).subject;
        if (!is_done(cores, done)) done = NOTICE_NONE;
    } else if (!paused && is_pause_due(cores)) {
        cores->pause_left_ns = cores->recorded.pauses[cores->next_pause++].length_ns;
    } else if (!paused && is_stretch_over(cores)) {
        begin_stretch(cores);
    }
    look_ahead(cores);
    return done;
}
