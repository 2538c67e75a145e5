// SPDX-License-Identifier: Apache-2.0
// What recording costs the threads of the program, measured in the very run, so that the analyser can take it out
// (docs/trace-format.md, event_costs). No JVM type in it.
//
// Probes are timed now and then: about every 32nd of a thread's, at random, since programs repeat themselves, reads the
// clock once more when it begins and when it ends; and one in eight times the next one does as well. What was measured
// goes through the thread's ring like an event; the drainer takes it out again and keeps, by kind of event, how it is
// distributed. A thread's first probes, which are slow, are timed more often, and such as happen now and then only
// always: each counts for as many as it stands for. Cost: two counters a probe, 2 ns of the clock on average.
//
// A probe that records no event (most that find nothing to tell) is counted, and what such probes cost is put down to
// the thread's next event, before its time.
//
// The call from woven code is what native code can't see. At the least it is what a thread of the tracer's own measures
// in a loop (calibration.h): caches and predictors know nothing else there. In the program it takes about twice that.
// This is seen where one probe follows another closely, as at a task's end and the worker's asking for the next: what
// lies between them is a call and hardly anything of the program's. Of the gaps before each kind the least counts. If
// it is above four calls in the loop, no probes of this program follow one another closely, and the loop's call counts.
//
// Function events are too short to be timed one by one: that thread measures them.
//
// Left out: that caches hold less of the program, that what is passed to a probe can't be optimised away, and what the
// drainer takes from the cores; what a stack costs where a calling context is recorded (calling.h).
#ifndef REHYPE_TRACER_COST_METER_H
#define REHYPE_TRACER_COST_METER_H

#include "tracer/clock.h"
#include "tracer/cpu_meter.h"
#include "tracer/ring.h"

// One thread's. Zeroed, but for what probe_timer_init sets.
struct probe_timer {
    uint32_t left;           // probes until one is timed, that one included
    uint32_t often;          // a power of two less one: at most so many more than one
    uint32_t interval;       // mean number of probes from the last choice to this one
    uint32_t stands_for;     // so many probes does the one that is being timed
    uint32_t random;         // state of a generator
    uint32_t silent;         // probes since the last event, the present one included
    struct cpu_meter *meter; // the thread's
    uint32_t begun_turn;     // cpu_meter_turn when the probe that is being timed began
    uint64_t begun_ticks;    // of the probe that is being timed; 0: none is
    uint64_t recorded_ticks; // of its latest event
    uint32_t recorded_kind;  // EVENT_NONE: none yet
    uint32_t recorded_after; // probes that recorded nothing before it
    uint64_t ended_ticks;    // when the timed probe ended that the next one is to be seen after; 0: none is
    uint64_t gap;            // of the probe that is being timed: ticks since the one before ended, plus 1; 0: unknown
};

// `meter`, open, tells whether the thread left its core while a probe was timed.
void probe_timer_init(struct probe_timer *timer, uint32_t seed, struct cpu_meter *meter);

// When a probe begins that happens now and then only, and at much cost: it is timed in any case. `ticks`: when that
// was.
void probe_timer_begin_at(struct probe_timer *timer, uint64_t ticks);

// The probe that is under way does what happens now and then only, and is no measure of others: if it is being timed,
// it is not, and the next one is in its place.
void probe_timer_drop(struct probe_timer *timer);

// The parts of the three below that few probes need.
void probe_timer_begin_chosen(struct probe_timer *timer);
void probe_timer_note(struct probe_timer *timer, struct ring *ring, uint64_t ticks, unsigned kind);
void probe_timer_finish(struct probe_timer *timer, struct ring *ring);

// When a probe begins.
static inline void probe_timer_begin(struct probe_timer *timer) {
    timer->silent++;
    if (__builtin_expect(--timer->left == 0, 0)) probe_timer_begin_chosen(timer);
}

// When it has recorded an event of time `ticks`.
static inline void probe_timer_event(struct probe_timer *timer, struct ring *ring, uint64_t ticks, unsigned kind) {
    if (__builtin_expect(timer->begun_ticks != 0, 0)) probe_timer_note(timer, ring, ticks, kind);
    timer->silent = 0;
}

// When it ends.
static inline void probe_timer_end(struct probe_timer *timer, struct ring *ring) {
    if (__builtin_expect(timer->begun_ticks != 0, 0)) probe_timer_finish(timer, ring);
}

// By any thread: what a call of a native from woven code costs, and what a function's event does, all in all; in
// 1/1024 ticks, as measured `times` times.
void cost_meter_set_call(uint64_t ticks_1024, uint64_t times);
void cost_meter_set_function(uint64_t ticks_1024, uint64_t times);

// By the drainer only ------------------------------------------------------------------------------------------------

// Another recording begins: what the probes of the one before measured is forgotten.
void cost_meter_restart(void);

// Takes what probes measured out of `events`, and returns how many are left.
size_t cost_meter_take(struct event *events, size_t count);

// Means so far, without the dearest fiftieth and one at least (pauses, page faults). false: nothing new was measured
// since the last call.
bool cost_meter_costs(uint64_t ticks_per_s, struct event_cost costs[EVENT_KINDS]);

#endif
