// SPDX-License-Identifier: Apache-2.0
// How much a thread has computed so far: cycles where the kernel gives counters, else CPU time. Read at the boundaries
// of tasks and waits, so it must cost what half-microsecond tasks can bear; CLOCK_THREAD_CPUTIME_ID costs 700 ns.
//
// Four sources, best first:
//   rdpmc            user-space read of a hardware cycle counter (tracer/counter_page.h): reference cycles if the
//                    processor counts them, with the kernel's for the thread if the system lets it. Tried out before
//                    it is believed. A thread that is refused one (each page counts as locked memory) gives its CPU
//                    time, times the cycles in a ns of that trial
//   rseq             restartable sequences tell whether the thread has left its core (tracer/core_watch.h). While it
//                    has not, CPU time has grown as the clock has, and only a thread that was away needs the system
//                    call. Tried out before it is believed
//   task-clock page  the same by a software perf event's page: its `lock` word changes whenever the thread is
//                    scheduled in. The event costs each context switch some 700 ns
//   clock            the system call, at most once in CPU_METER_LEAST_NS; in between the thread is taken to compute
//
// Where a read finds that the thread was away, it also asks the kernel how long the thread has stood in a run queue so
// far (second number of /proc/thread-self/schedstat) and how often it has come onto a core (the third): 500 ns by a
// file kept open, 2,800 by one opened for it. That file's first number is its CPU time as of when it came onto its
// core, which is now for a thread that has just woken up: then that is all that is asked. (A few us that it computed
// since count when it next wakes.)
#ifndef REHYPE_TRACER_CPU_METER_H
#define REHYPE_TRACER_CPU_METER_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct cpu_meter {
    struct perf_event_mmap_page *page; // NULL: none
    bool counts;                       // it is a counter's, not the task clock's
    bool closed;                       // it gives 0: a thread's computing is not to be measured
    uint64_t *rseq_cs;                 // of the thread, where it is watched; NULL: it isn't
    uint32_t turns;                    // how often it was seen to have been away, where it is watched
    uint32_t seen_turn;                // cpu_meter_turn at the anchor
    uint64_t anchor_ticks, anchor_ns;  // CPU time anchor_ns was read at anchor_ticks
    uint64_t last_ns;                  // the latest CPU time that a read found
    uint64_t from_ns;                  // CPU time as the meter was opened, where the others count cycles from there
    uint64_t delay_ns, told_delay_ns;  // waited for a core so far; as the last cpu_meter_new_delay said
    uint64_t delay_from_ns;            // waited before delays were counted
    uint64_t times, came;              // came onto a core so far, as last read; since the cpu_meter_came before
    int delay_fd;                      // -1: to be opened for each read
};

struct cpu_meter_kind {
    const char *unit;   // "cycles" or "cpu_ns"
    const char *source; // "rseq", "perf task-clock page", "clock_gettime", or a counter ("rdpmc reference cycles")
};

// Tries what this process may use; decides for all threads. `ticks_per_s` is the tracer's clock's.
struct cpu_meter_kind cpu_meter_choose(uint64_t ticks_per_s);

// Whether what a meter gives is the thread's CPU time since it began, and not cycles since the meter was opened.
bool cpu_meter_counts_ns(void);

// By the thread itself, at its first event; a thread can have one meter open. Falls back by itself where the kernel
// refuses (locked-memory limit).
void cpu_meter_open(struct cpu_meter *meter);
// After cpu_meter_open, for a thread that began before it was traced: what it has waited so far does not count.
void cpu_meter_delays_from_here(struct cpu_meter *meter);
void cpu_meter_close(struct cpu_meter *meter);

// By the thread itself; never less than before. `ticks` is the clock as just read; `wakes`: if the thread was away, it
// has come onto its core a moment ago. Cost: 3 ns if the thread stayed on its core, else 1 to 4 us; of a counter 10 to
// 20 ns.
uint64_t cpu_meter_read(struct cpu_meter *meter, uint64_t ticks, bool wakes);

// By the thread itself: a number that differs from the one of the call before if the thread came onto a core meanwhile;
// always 0 where nothing tells.
uint32_t cpu_meter_turn(struct cpu_meter *meter);

// By the thread itself, after a read: how many ns it has waited for a core so far, or 0 if that is what the call before
// said. Always 0 where the kernel does not account for it.
static inline uint64_t cpu_meter_new_delay(struct cpu_meter *meter) {
    if (__builtin_expect(meter->delay_ns == meter->told_delay_ns, 1)) return 0;
    return meter->told_delay_ns = meter->delay_ns;
}

// By the thread itself, after a read: how often it came onto a core since the call before, as far as reads have asked
// the kernel.
static inline uint64_t cpu_meter_came(struct cpu_meter *meter) {
    const uint64_t came = meter->came;
    if (__builtin_expect(came != 0, 0)) meter->came = 0;
    return came;
}

#endif
