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
    cores->others = (struct cores_others){0};
    if (cores->stretch == recorded->background_count) return;
    cores->others = recorded->background[cores->stretch].others;
    if (cores->count < recorded->cores) cores->others.cores *= cores->count / recorded->cores;
}

// ---- compilers, and the pace of what they have got to

// Of what was compiled so much is in this run.
static double in_this_run(const struct cores *cores, double compiled) {
    return (1 - cores->recorded.uncompiled_part) * compiled;
}

enum { NOTHING_NS = 1 }; // what is left to compile is less

static void compile(struct cores *cores, double elapsed_ns) {
    cores->wanted_ns += elapsed_ns * cores->wanted_rate;
    cores->compiled_ns = lesser(cores->compiled_ns + elapsed_ns * cores->compiled_rate, cores->wanted_ns);
}

static bool compiles(const struct cores *cores) {
    return cores->wanted_ns - cores->compiled_ns > NOTHING_NS;
}

static const struct cores_compiling *compiling_now(const struct cores *cores) {
    static const struct cores_compiling none = {INT64_MAX, 0, 0};
    const struct cores_recorded *recorded = &cores->recorded;
    return cores->compiling < recorded->compiling_count ? &recorded->compiling[cores->compiling] : &none;
}

static bool is_compiling_over(const struct cores *cores) {
    return cores->compiling < cores->recorded.compiling_count &&
           (double)compiling_now(cores)->until_work_ns <= cores->work_ns;
}

static void begin_compiling(struct cores *cores) {
    cores->wanted_ns += in_this_run(cores, compiling_now(cores)->at_once_ns);
}

static void pass_compiling(struct cores *cores) {
    while (is_compiling_over(cores)) {
        cores->compiling++;
        begin_compiling(cores);
    }
}

static double compiled_part(const struct cores *cores) {
    const double all_ns = in_this_run(cores, cores->recorded.compiled_ns);
    return all_ns > 0 ? cores->compiled_ns / all_ns : 1;
}

static double pace_now(const struct cores *cores, uint32_t computing) {
    const struct pace_when when = pace_when_shared(compiled_part(cores), cores->rate, computing, cores->count);
    return pace_at(cores->recorded.pace, &when);
}

// While there is something to compile the compilers are so many processes more; else they take up what arises.
static void share_with_compilers(struct cores *cores, uint32_t computing) {
    const double wanted = in_this_run(cores, compiling_now(cores)->by_work) * cores->pace;
    const double compilers = cores->recorded.compilers[pace_class(compiled_part(cores))];
    cores->rate = computing ? cores_rate(cores->count, cores->others, computing * (1 + wanted)) : 0;
    cores->wanted_rate = cores->compiled_rate = wanted * computing * cores->rate;
    if (!compiles(cores) && cores->compiled_rate <= compilers * cores->rate) return;
    cores->rate = cores_rate(cores->count, cores->others, computing + compilers);
    cores->wanted_rate = wanted * computing * cores->rate;
    cores->compiled_rate =
        compiles(cores) ? compilers * cores->rate : lesser(compilers * cores->rate, cores->wanted_rate);
}

// When there is nothing left to compile, or code is of another class.
static double time_to_class_ns(const struct cores *cores) {
    double next_ns = INFINITY;
    if (cores->compiled_rate <= 0) return next_ns;
    if (compiles(cores) && cores->compiled_rate > cores->wanted_rate)
        next_ns = (cores->wanted_ns - cores->compiled_ns) / (cores->compiled_rate - cores->wanted_rate);
    const uint32_t class = pace_class(compiled_part(cores));
    const double class_ns = in_this_run(cores, cores->recorded.compiled_ns) / PACE_CLASSES * (class + 1);
    if (class + 1 < PACE_CLASSES) next_ns = lesser(next_ns, (class_ns - cores->compiled_ns) / cores->compiled_rate);
    return greater(next_ns, 1); // or it would never pass what rounding leaves
}

static double work_of_compiling_ns(const struct cores *cores) {
    return cores->compiling < cores->recorded.compiling_count ? (double)compiling_now(cores)->until_work_ns : INFINITY;
}

// ----

// Nothing begins or ends between since_ns and now.
static void bring_up_to(struct cores *cores, int64_t now_ns) {
    int64_t elapsed_ns = now_ns - cores->since_ns;
    cores->since_ns = now_ns;
    if (cores->pause_left_ns > 0) {
        cores->pause_left_ns -= elapsed_ns;
        return;
    }
    double each_ns = (double)elapsed_ns * cores->rate, work_ns = each_ns * cores->pace;
    cores->moved_ns += elapsed_ns;
    cores_clock_pass(&cores->got, each_ns);
    cores_clock_pass(&cores->served, work_ns);
    cores->work_ns += work_ns * event_count(&cores->due);
    if (cores->recorded.pace) compile(cores, (double)elapsed_ns);
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

static int64_t pause_length_ns(const struct cores_recorded *recorded, uint32_t pause) {
    const int64_t length_ns = recorded->pauses[pause].length_ns;
    return recorded->pause_left ? nearest(recorded->pause_left[pause] * (double)length_ns) : length_ns;
}

// What is computed in all until the next pause, or the end of the stretch if that comes first.
static double work_to_change_ns(const struct cores *cores) {
    const struct cores_recorded *recorded = &cores->recorded;
    bool pauses = cores->next_pause < recorded->pause_count;
    double pause_ns = pauses ? (double)recorded->pauses[cores->next_pause].work_ns + ROUNDED_NS : INFINITY;
    double stretch_ns = lesser(cores->stretch_work_ns, work_of_compiling_ns(cores));
    return greater(lesser(pause_ns, stretch_ns) - cores->work_ns, 0);
}

static void find_rates(struct cores *cores, uint32_t computing) {
    cores->rate = cores_rate(cores->count, cores->others, computing);
    cores->pace = 1;
    if (!cores->recorded.pace) return;
    pass_compiling(cores);
    cores->pace = pace_now(cores, computing);
    share_with_compilers(cores, computing);
    cores->pace = pace_now(cores, computing);
}

static void look_ahead(struct cores *cores) {
    const uint32_t computing = event_count(&cores->due);
    find_rates(cores, computing);
    cores->ends_next = false;
    if (cores->pause_left_ns > 0) {
        cores->next_ns = cores->since_ns + cores->pause_left_ns;
        return;
    }
    if (computing == 0) {
        cores->next_ns = is_pause_due(cores) ? cores->since_ns : INT64_MAX;
        return;
    }
    const double work_rate = cores->rate * cores->pace;
    double left_ns = ((double)(event_next_ns(&cores->due) - cores->served.ns) - cores->served.part) / work_rate;
    double change_ns = lesser(work_to_change_ns(cores) / (work_rate * computing),
                              greater(cores->stretch_end_ns - (double)cores->moved_ns, 0));
    if (cores->recorded.pace) change_ns = lesser(change_ns, time_to_class_ns(cores));
    cores->ends_next = change_ns >= left_ns;
    cores->next_ns = cores->since_ns + (cores->ends_next ? nearest(greater(left_ns, 0)) : at_least(change_ns));
}

void cores_begin(struct cores *cores, double count, const struct cores_recorded *recorded) {
    events_clear(&cores->due);
    *cores =
        (struct cores){.due = cores->due, .shares = cores->shares, .count = count, .recorded = *recorded, .pace = 1};
    begin_stretch(cores);
    cores->wanted_ns = cores->compiled_ns = in_this_run(cores, recorded->compiled_before_ns);
    begin_compiling(cores);
    look_ahead(cores);
}

// What part of a core it has had to do without since it joined.
static float crowding_of(const struct cores *cores, const struct cores_share *share) {
    double moved_ns = (double)(cores->moved_ns - share->joined_ns);
    double got_ns = cores_clock_since(cores->got, share->joined_got);
    double slowdown = moved_ns > 0 ? 1 - got_ns / moved_ns
                                   : 1 - cores_rate(cores->count, cores->others, event_count(&cores->due) + 1);
    return (float)greater(slowdown, 0);
}

static void put_due(struct cores *cores, uint32_t process, double left_ns) {
    const double work_ns = left_ns * cores->shares[process].pace;
    event_put(&cores->due, NOTICE_TURN, process, cores->served.ns + nearest(cores->served.part + work_ns));
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

void cores_join(struct cores *cores, uint32_t process, int64_t now_ns, struct cores_demand demand) {
    bring_up_to(cores, now_ns);
    if (event_count(&cores->due) == 0) begin_stretch(cores); // while nothing computed
    cores->shares[process] = (struct cores_share){.residual = demand.residual,
                                                  .compute_ns = (double)demand.compute_ns,
                                                  .pace = demand.pace,
                                                  .joined_ns = cores->moved_ns,
                                                  .joined_got = cores->got,
                                                  .joined_served = cores->served};
    const int64_t more_ns = demand.residual.more_ns;
    int64_t least_ns = more_ns < 0 ? demand.compute_ns + more_ns : demand.compute_ns;
    put_due(cores, process, (double)(least_ns > 0 ? least_ns : 0));
    look_ahead(cores);
}

int64_t cores_least_ns(const struct cores *cores, uint32_t process) {
    const struct cores_share *share = &cores->shares[process];
    const double work_ns = cores_clock_since(cores->served, share->joined_served);
    const double got_ns = cores_clock_since(cores->got, share->joined_got);
    if (!cores->recorded.pace || work_ns <= 0) return (int64_t)share->compute_ns;
    return (int64_t)(share->compute_ns * share->pace * got_ns / work_ns);
}

uint32_t cores_take(struct cores *cores) {
    bool paused = cores->pause_left_ns > 0;
    uint32_t done = NOTICE_NONE;
    bring_up_to(cores, cores->next_ns);
    if (cores->ends_next) {
        done = event_take(&cores->due).subject;
        if (!is_done(cores, done)) done = NOTICE_NONE;
    } else if (!paused && is_pause_due(cores)) {
        cores->pause_left_ns = pause_length_ns(&cores->recorded, cores->next_pause++);
    } else if (!paused && is_stretch_over(cores)) {
        begin_stretch(cores);
    }
    look_ahead(cores);
    return done;
}
