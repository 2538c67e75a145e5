// SPDX-License-Identifier: Apache-2.0
// Whether the calling thread has lost its core since it was last asked: by restartable sequences (rseq(2)), which glibc
// has registered for each thread since 2.35. When a thread that was away returns to its program, the kernel looks at
// the descriptor that `rseq_cs` names, and forgets it (sets 0) if the thread isn't within the sequence described. The
// descriptor here is of a sequence without instructions, so it is forgotten whenever the thread was away.
// A switch takes some 70 ns longer for it, by a perf event some 700 to 800.
//
// Others who have restartable sequences (allocators) aren't harmed: each stores its own descriptor as a sequence
// begins, whatever was there before; none calls anybody within a sequence, so that this never takes the place of one
// under way; and a signal aborts the sequence that it interrupts before a handler runs. Nor are they believed: any
// other value than the one stored here says that the thread may have been away. So do signals, whose delivery makes the
// kernel look.
//
// A kernel may look only when an interrupt, and no system call, brought the thread into it: hence the trial.
#ifndef REHYPE_TRACER_CORE_WATCH_H
#define REHYPE_TRACER_CORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

// As the kernel has it, struct rseq_cs.
struct core_watch_sequence {
    _Alignas(32) uint32_t version;
    uint32_t flags;
    const void *start;
    uint64_t length;
    const void *abort;
};
extern const struct core_watch_sequence core_watch_sequence;

// Tries it out on the calling thread, for all: takes half a millisecond, mostly asleep. false: not here.
bool core_watch_works(void);

// The calling thread's `rseq_cs`, once core_watch_works said so; from here on the thread is watched, for one asker
// only. NULL if it isn't registered.
uint64_t *core_watch_begin(void);

// By the thread itself. What is named must be there for as long as the thread may run.
void core_watch_end(uint64_t *rseq_cs);

// By the thread itself: whether it was away, or may have been, since the call before. Cost: 1 ns.
static inline bool core_watch_lost(uint64_t *rseq_cs) {
    const uint64_t ours = (uint64_t)(uintptr_t)&core_watch_sequence;
    if (__builtin_expect(__atomic_load_n(rseq_cs, __ATOMIC_RELAXED) == ours, 1)) return false;
    __atomic_store_n(rseq_cs, ours, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); // clocks that the caller reads now, it reads watched
    return true;
}

#endif
