// SPDX-License-Identifier: GPL-3.0-or-later
#include "dag/simulate/cores.h"

#include <stdlib.h>

bool cores_reserve(struct cores *cores, uint32_t processes) {
    struct cores_share *shares = realloc(cores->shares, ((size_t)processes + 1) * sizeof *shares);
    if (shares) cores->shares = shares;
    return shares && events_reserve(&cores->due, SUBJECT_PROCESS, processes);
}

void cores_destroy(struct cores *cores) {
    events_destroy(&cores->due);
    free(cores->shares);
}

// How long the stretch can last at the most: with fewer cores others take as much longer.
static double left_of_stretch_ns(const struct cores *cores) {
    double part = cores->count < cores->recorded.cores ? cores->count / cores->recorded.cores : 1;
    return (double)cores->recorded.background[cores->stretch].until_ns / part - (double)cores->moved_ns;
}

// What others take in the stretch that begins.
static void begin_stretch(struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    while (cores->stretch < recorded->background_count &&
           ((double)recorded->background[cores->stretch].until_work_ns <= cores->work_ns ||
            left_of_stretch_ns(cores) <= 0)) {
        cores->stretch++;
    }
    cores->taken = 0;
    if (cores->stretch == recorded->background_count) return;
    double taken = recorded->background[cores->stretch].cores;
    cores->taken = cores->count < recorded->cores ? taken * cores->count / recorded->cores : taken;
}

void cores_begin(struct cores *cores, double count, const struct cores_recorded *recorded) {
    events_clear(&cores->due);
    *cores = (struct cores){
        .due = cores->due, .shares = cores->shares, .count = count, .next_ns = INT64_MAX, .recorded = *recorded};
    begin_stretch(cores);
}

static double rate(const struct cores *cores) {
    return cores_rate(cores->count, cores->taken, event_count(&cores->due));
}

// Until so much has been computed in all, as things are.
static double until_work_ns(const struct cores *cores, int64_t work_ns) {
    double left_ns = (double)work_ns - cores->work_ns;
    return left_ns > 0 ? left_ns / (rate(cores) * event_count(&cores->due)) : 0;
}

// INFINITY where none will.
static double until_pause_ns(const struct cores *cores) {
    if (cores->next_pause == cores->recorded.pause_count || event_count(&cores->due) == 0) return INFINITY;
    return until_work_ns(cores, cores->recorded.pauses[cores->next_pause].work_ns);
}

static double until_stretch_ns(const struct cores *cores) {
    if (cores->stretch == cores->recorded.background_count || event_count(&cores->due) == 0) return INFINITY;
    double work_ns = until_work_ns(cores, cores->recorded.background[cores->stretch].until_work_ns);
    return fmin(work_ns, fmax(left_of_stretch_ns(cores), 0));
}

static void serve(struct cores *cores, int64_t elapsed_ns) {
    double each_ns = (double)elapsed_ns * rate(cores);
    cores->moved_ns += elapsed_ns;
    cores_clock_pass(&cores->served, each_ns);
    cores->work_ns += each_ns * event_count(&cores->due);
}

// Nothing begins or ends between since_ns and now.
static void bring_up_to(struct cores *cores, int64_t now_ns) {
    int64_t elapsed_ns = now_ns - cores->since_ns;
    cores->since_ns = now_ns;
    if (cores->pause_left_ns > 0)
        cores->pause_left_ns -= elapsed_ns;
    else
        serve(cores, elapsed_ns);
}

static void look_ahead(struct cores *cores) {
    if (cores->pause_left_ns > 0) {
        cores->next_ns = cores->since_ns + cores->pause_left_ns;
        return;
    }
    if (event_count(&cores->due) == 0) {
        cores->next_ns = INT64_MAX;
        return;
    }
    double left_ns = ((double)(event_next_ns(&cores->due) - cores->served.ns) - cores->served.part) / rate(cores);
    double change_ns = fmin(until_pause_ns(cores), until_stretch_ns(cores));
    cores->next_ns = cores->since_ns + (int64_t)fmax(0, change_ns < left_ns ? ceil(change_ns) : round(left_ns));
}

// What part of a core it has had to do without since it joined.
static float crowding_of(const struct cores *cores, const struct cores_share *share) {
    double moved_ns = (double)(cores->moved_ns - share->joined_ns);
    double served_ns = cores_clock_since(cores->served, share->joined_served);
    double slowdown = moved_ns > 0 ? 1 - served_ns / moved_ns
                                   : 1 - cores_rate(cores->count, cores->taken, event_count(&cores->due) + 1);
    return (float)fmax(slowdown, 0);
}

static void put_due(struct cores *cores, uint32_t process, double left_ns) {
    event_put(&cores->due, NOTICE_TURN, process, cores->served.ns + (int64_t)round(cores->served.part + left_ns));
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
    double left_ns = more_ns > 0 ? part * more_ns : (1 - part) * fmin(-more_ns, share->compute_ns);
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
    if (!paused && until_pause_ns(cores) <= 0) {
        cores->pause_left_ns = cores->recorded.pauses[cores->next_pause++].length_ns;
    } else if (!paused && until_stretch_ns(cores) <= 0) {
        begin_stretch(cores);
    } else if (!paused) {
        done = event_take(&cores->due).subject;
        if (!is_done(cores, done)) done = NOTICE_NONE;
    }
    look_ahead(cores);
    return done;
}
