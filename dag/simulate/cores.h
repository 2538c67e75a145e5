// SPDX-License-Identifier: GPL-3.0-or-later
// Processor sharing: processes that compute share the cores fairly, as a fair scheduler has it, none on more than one.
//
// The clock of service: what each process that computes gets, whichever it is, passes at min(1, (cores - b) / n) of
// real time, where others (the JVM's own threads, other processes) take b cores, which changes as the run gets on; so a
// process that has so much to compute is done when this clock has gone on by as much. Others are so many threads, of
// which none gets more than a process does: where more processes compute than did then they give way (max-min fairness:
// Bertsekas, Gallager, Data Networks, 2nd ed. 1992, Sec. 6.5.2). Hence a heap by that clock's time, and nothing to
// touch when others come and go. Service stands still in pauses of the JVM, each of which comes when as much has been
// computed in all as had been when it was recorded.
#ifndef REHYPE_DAG_CORES_H
#define REHYPE_DAG_CORES_H

#include "dag/simulate/event_list.h"
#include "dag/simulate/pace.h"

#include <math.h>

struct cores_pause {
    int64_t work_ns; // computed in all before it
    int64_t length_ns;
};

struct cores_others {
    double cores;   // that they take, if they get it
    double threads; // so many are they; INFINITY: they take it however many processes compute
};

struct cores_background {       // a stretch of the run; it ends at the first of
    int64_t until_work_ns;      // computed in all
    int64_t until_ns;           // passed, but for pauses
    struct cores_others others; // that compute meanwhile
};

// What there is to compile: so much when the stretch begins, and so much more for each ns of work in it.
struct cores_compiling {
    int64_t until_work_ns; // done in all
    double at_once_ns, by_work;
};

// How an edge fared when recorded, beside its fair share.
struct cores_residual {
    int64_t more_ns; // of service than it computed
    float slowdown; // part of a core it had to do without as the recording was replayed; 0: all its residual comes back
};

// What a run met with, as recorded; the caller's.
struct cores_recorded {
    double cores;
    const struct cores_pause *pauses; // rising
    uint32_t pause_count;
    const double *pause_left;                  // a pause each: what part of its length comes; NULL: all of each
    const struct cores_background *background; // rising; after the last nobody takes any
    uint32_t background_count;
    const struct pace *pace;                 // NULL: it is always 1, and nothing below is looked at
    const struct cores_compiling *compiling; // rising; after the last nothing more comes
    uint32_t compiling_count;
    double compiled_ns, compiled_before_ns; // in all, and when the run begins
    double uncompiled_part;                 // of that: this run has no use for it
    const double *compilers; // that compute while there is something to compile: a class of what is compiled each
};

// The clock of service, in whole ns and the part of one beside, which is below 1. Ticks of a part of a ns in one number
// would reach their end within days of a run.
struct cores_clock {
    int64_t ns;
    double part;
};

static inline void cores_clock_pass(struct cores_clock *clock, double ns) {
    int64_t whole_ns = (int64_t)(clock->part + ns); // no time is negative
    clock->ns += whole_ns;
    clock->part += ns - (double)whole_ns;
}

static inline double cores_clock_since(struct cores_clock now, struct cores_clock then) {
    return (double)(now.ns - then.ns) + (now.part - then.part);
}

struct cores_share { // of one who computes
    struct cores_residual residual;
    double compute_ns;
    double pace;                                  // at which that was recorded
    int64_t joined_ns;                            // by the clock of moving
    struct cores_clock joined_got, joined_served; // by the clocks of cores and of service
    float slowdown;                               // what part of a core it has had to do without
    bool settled;                                 // how much of its residual comes back
};

struct cores {
    struct event_list due;      // what computes, by the clock of service, to the nearest ns
    double count;               // cores; INFINITY: one for each
    struct cores_share *shares; // a process each
    int64_t moved_ns;           // time that passed, but for pauses
    int64_t since_ns;           // when what follows was brought up to date
    struct cores_clock served;
    struct cores_clock got; // what each had of a core: but for the pace, as `served`
    double work_ns;         // done in all
    int64_t next_ns; // when someone is done, a pause begins or ends, or others take more or less; INT64_MAX: never
    bool ends_next;  // someone is done
    struct cores_recorded recorded;
    uint32_t next_pause, stretch;
    int64_t pause_left_ns;
    struct cores_others others;
    double stretch_work_ns; // the stretch ends when so much has been computed in all, or so much time has passed but
    double stretch_end_ns;  // for pauses; INFINITY: never
    double rate;            // what each that computes gets of a core since since_ns
    double pace;            // and how much work that is
    uint32_t compiling;     // the stretch that goes on
    double wanted_ns, compiled_ns;     // to be compiled, of which so much is, so far
    double wanted_rate, compiled_rate; // what comes in a ns of time
};

// What each of n processes that compute gets of a core.
static inline double cores_rate(double count, struct cores_others others, double n) {
    const double left = count - others.cores;
    if (!(n > left)) return 1;
    const double each = left / n, fair = count / (n + others.threads);
    return each > fair ? each : fair < 1 ? fair : 1;
}

// Zero-initialise; cores_reserve as events_reserve.
bool cores_reserve(struct cores *cores, uint32_t processes);
void cores_destroy(struct cores *cores);
// Where there are fewer cores than recorded, others take the same part of them, else as many.
void cores_begin(struct cores *cores, double count, const struct cores_recorded *recorded);

// The process has to compute so much, which it did at that pace when recorded; `now_ns` never falls, and is no later
// than next_ns.
struct cores_demand {
    int64_t compute_ns;
    struct cores_residual residual;
    double pace;
};
void cores_join(struct cores *cores, uint32_t process, int64_t now_ns, struct cores_demand demand);

// For how long it has to compute at the least, at the pace that it has had since it joined.
int64_t cores_least_ns(const struct cores *cores, uint32_t process);

// How long ago the process joined, but for pauses.
static inline int64_t cores_moved_ns(const struct cores *cores, uint32_t process) {
    return cores->moved_ns - cores->shares[process].joined_ns;
}

// At next_ns: the process that is done; NOTICE_NONE where only a pause begins or ends, or a stretch of the run.
uint32_t cores_take(struct cores *cores);

#endif
