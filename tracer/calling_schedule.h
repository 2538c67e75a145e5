// SPDX-License-Identifier: Apache-2.0
// Of which tasks the calling context is recorded: of tasks alike (one site's, when they are handed over; one class's,
// when they are created) the first 8, and from there 8 each time that their number doubles, at random places, since
// programs repeat themselves. So what a stack costs, a microsecond or more, goes to nothing per task. No JVM type in
// it.
//
// All threads share the count of a kind of task; but the more of them there were, the more numbers a thread takes at a
// time, so that threads seldom meet there. Cost: 2 ns a task.
#ifndef REHYPE_TRACER_CALLING_SCHEDULE_H
#define REHYPE_TRACER_CALLING_SCHEDULE_H

#include <stdatomic.h>
#include <stdint.h>

enum { CALLING_TALLIES = 16, CALLING_MARKS = 1024, CALLING_MARK_SHIFT = 58 };

// What a thread has taken of a count and not used up. One that another kind of task takes the place of is lost.
struct calling_tally {
    uint32_t key;
    uint32_t left;  // of the numbers taken
    uint32_t batch; // about so many are to be taken next
    uint32_t seed;
};

// One thread's. Zeroed.
struct calling_tallies {
    struct calling_tally of[CALLING_TALLIES];
};

// How many tasks a stack stands for if it is taken at one that is among numbers first .. first + count - 1 of its kind:
// a power of two; 0: none is to be taken. All answers for numbers from 0 to n add up to about n.
uint64_t calling_stands_for(uint64_t first, uint32_t count);

// The part of calling_turn that few tasks need.
uint64_t calling_ask(struct calling_tally *tally, uint32_t key);

// One more task of the kind `key`, never 0: how many its stack stands for; 0: it is not to be taken. Kinds may share a
// count; then both are looked at less.
static inline uint64_t calling_turn(struct calling_tallies *tallies, uint32_t key) {
    struct calling_tally *tally = &tallies->of[key % CALLING_TALLIES];
    if (__builtin_expect(tally->key == key && tally->left > 0, 1)) {
        tally->left--;
        return 0;
    }
    return calling_ask(tally, key);
}

// Tasks whose stack is to be taken when they begin, for those that were looked at before: task, and above it the binary
// logarithm of how many it stands for. A newer one takes the place of an older one, which then is not looked at.
extern _Atomic(uint64_t) calling_marks[CALLING_MARKS];

void calling_mark(uint64_t task, uint64_t stands_for);

// The part of calling_take_mark that few tasks need.
uint64_t calling_unmark(uint64_t task);

// How many a task that begins stands for; 0: its stack is not to be taken. Only the first to ask hears of it.
static inline uint64_t calling_take_mark(uint64_t task) {
    uint64_t marked = atomic_load_explicit(&calling_marks[task % CALLING_MARKS], memory_order_relaxed);
    if (__builtin_expect((marked ^ task) << (64 - CALLING_MARK_SHIFT) != 0, 1)) return 0;
    return calling_unmark(task);
}

// Before a recording: no task was yet.
void calling_schedule_restart(void);

#endif
