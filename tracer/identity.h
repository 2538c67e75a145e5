// SPDX-License-Identifier: Apache-2.0
// Task objects -> task ids. One id for one task, whatever wrappers carry it.
//
// FutureTask and ForkJoinTask (CompletableFuture's stages are ones) carry their id in a field that the weaver added (a
// few ns), and so do the nodes of a ThreadPoolExecutor's queue for what they hold (queue_ids.h). Any other Runnable is
// known by its JVMTI tag (50 to 90 ns, several 100 where threads meet), which also serves where a field could not be
// added.
#ifndef REHYPE_TRACER_IDENTITY_H
#define REHYPE_TRACER_IDENTITY_H

#include "tracer/tracer.h"

// Once, when the classes can be had.
bool identity_init(JNIEnv *jni);

// A class as a global reference, initialised; NULL where this JDK hasn't it.
jclass identity_global_class(JNIEnv *jni, const char *name);

// NULL where this JDK hasn't it (or the class, NULL), or the class was defined before the weaver could add it.
jfieldID identity_field(JNIEnv *jni, jclass class, const char *name, const char *descriptor);

// What the field holds: the task's id; of a ForkJoinTask, or a FutureTask that a ScheduledThreadPoolExecutor has, the
// site of its hand-over; of a ForkJoinTask also whether its id was reserved before anyone handed it over, so that its
// creation is yet to be recorded; and of both whether its body has begun. Who hands a ForkJoinTask over after that
// hands over another task (akka's mailboxes run again and again).
#define CARRIED_ID         (((uint64_t)1 << 40) - 1)
#define CARRIED_SITE_AT    40
#define CARRIED_SITE_MAX   (((uint64_t)1 << 20) - 1)
#define CARRIED_SCHEDULING ((uint64_t)1 << 60) // no task, but a library's scheduling (an actor's mailbox)
#define CARRIED_RESERVED   ((uint64_t)1 << 61)
#define CARRIED_BEGUN      ((uint64_t)1 << 62)
#define CARRIED_STANDS     ((uint64_t)1 << 63) // it got its id since it was awaited when recording began (under_way.h)

// Whether an exception says that a wait's time was up.
bool identity_is_timeout(JNIEnv *jni, jobject exception);

// What of these an object is.
enum carrier identity_carrier(JNIEnv *jni, jobject object);

// Id that a FutureTask or ForkJoinTask carries; 0 if it is neither or has none.
uint64_t identity_carried(JNIEnv *jni, jobject object);
uint64_t identity_carried_by(JNIEnv *jni, jobject object, enum carrier carrier); // it is one

// What a FutureTask is made from: the task that it is already, 0 if none, and the class of what does its work, of the
// payload if a ForkJoinTask has one.
struct payload {
    uint64_t task;
    uint32_t class;
};
struct payload identity_payload(JNIEnv *jni, struct thread_state *state, jobject object);

// Of a FutureTask, the whole field. 0, and nothing, for another object.
uint64_t identity_get_future(JNIEnv *jni, jobject task);
void identity_set_future_task(JNIEnv *jni, jobject task, uint64_t carried);

// What a FutureTask's callable was made from: the Runnable that it adapts, or itself.
jobject identity_callable(JNIEnv *jni, jobject callable);

// A raw Runnable was made (by `maker`, makers.h; its id is reserved), is handed over (gives its id; the same object may
// be pending many times, first in first out), or begins to run. begin gives 0 when the object was never seen. One that
// was evaluated, as a lambda is, may be an object that is there already: each evaluation is a task, of those that have
// not begun as many as memory should keep; for more it is 0.
void identity_created(jobject object, uint32_t maker, uint64_t id);
uint64_t identity_spawn(struct thread_state *state, jobject object, bool *is_new);
uint64_t identity_evaluated(struct thread_state *state, jobject object, uint32_t maker);
uint64_t identity_begin(jobject object);
uint64_t identity_take(jobject object, uint32_t stage); // the same of what was put into that stage
uint64_t identity_last_pending(jobject object);         // the id that was given last and has not begun; 0: none

// It is handed over as a task that has its id already.
void identity_hand_over(jobject object, uint64_t id);

// The same for an object that can be pending only once; `site` is that of its hand-over.
void identity_set_pending(jobject object, uint64_t id, uint32_t site);
uint64_t identity_take_pending(jobject object, uint32_t *site);

// The id of an object that was made but not handed over, which then becomes the taker's; else 0.
uint64_t identity_take_created(const struct thread_state *state, jobject object);

// The object is wrapped by a task with an id of its own. If it is what the thread made last, it was made for that.
void identity_wrapped(const struct thread_state *state, jobject object);

// An object with such a tag was collected. Calls nothing of the JVM's.
void identity_freed(uint64_t tag);

// What a Thread was made to run, or NULL.
jobject identity_thread_target(JNIEnv *jni, jobject thread);

// Id of a Thread's run(), given at its start() or at its first event.
uint64_t identity_of_thread(jobject thread);
void identity_set_thread(jobject thread, uint64_t id);

// Id in the trace of an object's class; for a lambda named after the method that holds its body. 0 for null. Some 20 ns
// for a class that the thread met lately, else a tag's 50 to 90 ns.
uint32_t identity_class(JNIEnv *jni, struct thread_state *state, jobject object);

uint32_t identity_class_number(jclass class); // a tag's cost

// Whether the class, or one that it extends, names such an interface ("/actor/AutoReceivedMessage;") of one of the
// packages, of which NULL is the last. Cold.
bool identity_implements(JNIEnv *jni, jclass class, const char *const *packages, const char *name);

// The same of what it wraps, however often that is wrapped.
uint32_t identity_innermost_class(JNIEnv *jni, struct thread_state *state, jobject object);

// The same, and what of the carriers it is; for null CARRIER_OTHER.
struct object_class {
    uint32_t id; // NOT_ASKED_YET where only the carrier was needed so far
    enum carrier carrier;
};
enum { NOT_ASKED_YET = 0 };
struct object_class identity_class_and_carrier(JNIEnv *jni, struct thread_state *state, jobject object);

// The same of what a thread parks on.
struct blocker_class {
    uint32_t id;
    bool latch;   // threads that park on it are all released at once, by one who opens it
    bool ownable; // an AbstractOwnableSynchronizer
    bool lock;    // a ReentrantLock's, or a ReentrantReadWriteLock's
    bool permits; // a Semaphore's
};
struct blocker_class identity_blocker_class(JNIEnv *jni, struct thread_state *state, jobject blocker);

// Whether it is an AbstractOwnableSynchronizer, where nothing else of its class is asked.
bool identity_is_ownable(JNIEnv *jni, jobject object);

// Whether it is a ForkJoinTask, and then its field.
bool identity_is_fork(JNIEnv *jni, jobject task);
uint64_t identity_get_carried(JNIEnv *jni, jobject task);
void identity_set_carried(JNIEnv *jni, jobject task, uint64_t carried);

// Whether ForkJoinTask is as in JDK 17 and later: the bits of its status mean other things before.
bool identity_forks_have_aux(void);

// The id of a CompletableFuture's result, and makes an id that, too.
uint64_t identity_of_future(JNIEnv *jni, jobject future);
void identity_set_future(JNIEnv *jni, jobject future, uint64_t id);

// Whether it is a ForkJoinTask or FutureTask that is complete, or about to be: to run it does nothing.
bool identity_is_done(JNIEnv *jni, jobject task, enum carrier carrier);

// The same of a ForkJoinTask, and what it wraps if the JDK made it: the payload of ForkJoinPool.submit(Runnable) and
// the like; the function of a CompletableFuture's stage, and the future that depends on it. NULL where there is none.
struct fork_parts {
    uint32_t class;
    jobject payload, dependent;
};
struct fork_parts identity_parts(JNIEnv *jni, struct thread_state *state, jobject task);

// "java.util.concurrent.LinkedBlockingQueue", cut to size; "" when the JVM won't say. Returns text.
char *identity_class_name(jclass class, char *text, size_t size);

// Id in the trace of a class by that name.
uint32_t identity_class_named(const char *name);

// Id of an Executor: of a ThreadPoolExecutor or ForkJoinPool by its field, of any other by its tag.
uint32_t identity_executor(JNIEnv *jni, struct thread_state *state, jobject executor);

// Id of a java.util.Timer, known by its queue.
uint32_t identity_timer(jobject queue);

// The common ForkJoinPool's id.
uint32_t identity_common_pool(JNIEnv *jni);

// getParallelism() as ForkJoinPool itself has it, whatever a subclass makes of it.
jint identity_parallelism(JNIEnv *jni, jobject pool);

// Whether an Executor runs what it is given at once, as those of Scala's that serve the library itself. A tag's 50 to
// 90 ns.
bool identity_runs_inline(JNIEnv *jni, jobject executor);

// Whether the thread is a ForkJoinPool's worker, and then the id of its pool.
bool identity_is_worker(JNIEnv *jni, jobject thread);
uint32_t identity_worker_pool(JNIEnv *jni, struct thread_state *state, jobject worker);
jobject identity_pool_of_worker(JNIEnv *jni, jobject worker);

#endif
