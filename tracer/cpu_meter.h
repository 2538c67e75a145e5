// SPDX-License-Identifier: Apache-2.0
// How much a thread has computed so far: cycles where the kernel gives counters, else CPU time. Read at the boundaries
// of tasks and waits, so it must cost what half-microsecond tasks can bear; CLOCK_THREAD_CPUTIME_ID costs 700 ns.
//
// Three sources, best first:
//   rdpmc            user-space read of a hardware cycle counter (perf_event with cap_user_rdpmc)
//   task-clock page  a software perf event's page: its `lock` word changes whenever the thread is scheduled in. While
//   it
//                    stands still the thread has not left its core, so CPU time has grown as the clock has, and only a
//                    thread that was away needs the system call
//   clock            the system call, at most once in CPU_METER_LEAST_NS; in between the thread is taken to compute
#ifndef REHYPE_TRACER_CPU_METER_H
#define REHYPE_TRACER_CPU_METER_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct cpu_meter {
    struct perf_event_mmap_page *page; // NULL: clock
    uint32_t seen_lock;                // of the page, at the anchor
    uint64_t anchor_ticks, anchor_ns;  // CPU time anchor_ns was read at anchor_ticks
    uint64_t last_ns;                  // what the last read gave
    int fd;                            // -1, but for rdpmc (whose page needs the event open)
};

struct cpu_meter_kind {
    const char *unit;   // "cycles" or "cpu_ns"
    const char *source; // "rdpmc", "perf task-clock page", "clock_gettime"
};

// Tries what this process may use; decides for all threads. `ticks_per_s` is the tracer's clock's.
struct cpu_meter_kind cpu_meter_choose(uint64_t ticks_per_s);

// By the thread itself, at its first event. Falls back by itself where the kernel refuses (locked-memory limit).
void cpu_meter_open(struct cpu_meter *meter);
void cpu_meter_close(struct cpu_meter *meter);

// By the thread itself; never less than before. `ticks` is the clock as just read. Cost: 3 ns if the thread stayed on
// its core, else 700.
uint64_t cpu_meter_read(struct cpu_meter *meter, uint64_t ticks);

#endif
