// SPDX-License-Identifier: GPL-3.0-or-later
// Which queues of java.util.concurrent are stages of a pipeline: those from which threads of the program's own take in
// a loop, and no other thread does. Elements come out in the order in which they were put in, so which put brought what
// a thread took is told by counting.
//
// The loop may be what a ThreadPoolExecutor was given: a pool whose workers each run one such loop, all from one queue,
// and that was given nothing else, is the stage; the loops are none of its tasks. Not where the result of one is asked
// for.
//
// No stage is a queue from which main, a virtual thread or a task inside a thread's loop takes; one whose takers put
// back what they took; one in which takers only look from time to time; one whose takers do something that others see
// before they take for the first time, or between two takes of which the first got nothing: that would belong to no
// task. A thread whose loop was under way when the recording began may be at an element by then: what it does before it
// takes for the first time belongs to its run. A thread that takes from several queues serves the one from which it
// takes most; the others are none.
//
// In a home-made pool what is taken is a Runnable, which has an id of its own (SPEC section 2): the task is that one.
#ifndef REHYPE_DAG_TAKERS_H
#define REHYPE_DAG_TAKERS_H

#include "base/error.h"
#include "dag/idmap.h"
#include "tracefile/reader.h"

enum passage_kind { PASSAGE_PUT, PASSAGE_WAIT, PASSAGE_TAKE };

// An event of a queue.
struct passage {
    uint64_t time_ns;
    uint64_t task; // of a put or take: what it brings or gets; 0: nothing that is known
    uint64_t body; // of a take: the task whose body the thread ran first, which no executor was given; 0: none
    uint32_t stream, queue;
    uint8_t kind; // enum passage_kind
};

struct taken_queue {
    uint64_t id;      // the trace's resource
    uint32_t pool;    // id of the stage; 0: it is none
    uint32_t runs_in; // pool whose workers its takers are, 0 none
    uint32_t takers;  // threads that ask it for elements
    uint32_t busy;    // ... and got any
    uint32_t stream;  // of one of them
    uint32_t takes, puts;
    uint32_t returns; // puts by takers
    bool foreign;     // somebody else takes, too
};

// Release with takers_destroy, whatever takers_find returned.
struct takers {
    const struct trace *trace;
    bool began_late; // the program ran before the recording, or the part of it, did: elements may have lain in queues
    struct taken_queue *queues; // in rising order of id
    uint32_t queue_count;
    struct passage *passages; // stream by stream, in order
    uint32_t passage_count, passage_capacity;
    uint32_t *serves;       // a stream each: index into queues, or UINT32_MAX
    uint32_t *given;        // a pool each: tasks that it was given
    uint32_t *workers;      // ... and threads that work for it
    struct idmap asked;     // ids of tasks whose results are asked for
    struct idmap loops;     // ... and of loops in which workers take
    struct idmap submitted; // ids of tasks that are handed over, or stand for a take already
    uint64_t highest;       // of the ids that the trace, and the passages, name
    uint32_t stages, added; // ... of which so many were no pools
};

// Cost: nothing where the trace has no such queue, else a decode of the trace. false and *error: a damaged trace, no
// memory.
bool takers_find(const struct trace *trace, struct takers *takers, struct error *error);
void takers_destroy(struct takers *takers);

// Whether the task is the loop of a stage's worker; whether the pool is a stage.
bool takers_is_loop(const struct takers *takers, uint64_t task);
bool takers_is_pool(const struct takers *takers, uint32_t pool);

// The queue that an event is about, UINT32_MAX: none.
uint32_t takers_queue(const struct takers *takers, const struct event *event);

#endif
