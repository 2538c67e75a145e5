// SPDX-License-Identifier: Apache-2.0
#include "tracer/hooks.h"

#include "tracer/hook.h"
#include "tracer/registry.h"
#include "tracer/tracer.h"

#include <stdio.h>
#include <string.h>

#define JUC  "java/util/concurrent/"
#define ID   "getfield . " TASK_FIELD " J; "
#define POOL "getfield . " POOL_FIELD " I; "

// JDK 21 and later.
#define STARTS_IN_CONTAINER(class_name)                                                                                \
    {class_name,                                                                                                       \
     "start",                                                                                                          \
     "(Ljdk/internal/vm/ThreadContainer;)V",                                                                           \
     AT_ENTRY,                                                                                                         \
     "aload 0; aload 1; call threadSpawnIn (Ljava/lang/Object;Ljava/lang/Object;)V",                                   \
     NULL},                                                                                                            \
        {class_name, "start", "(Ljdk/internal/vm/ThreadContainer;)V", AT_RETURN, "call threadSpawned ()V", NULL}, {    \
        class_name, "start", "(Ljdk/internal/vm/ThreadContainer;)V", AT_THROW, "call threadRefused ()V", NULL          \
    }

#define AWAITS_ALL(class_name, method, container)                                                                      \
    BRACKET(class_name, method, NULL, "aload 0; " container "call containerBegin (Ljava/lang/Object;)V",               \
            "call waitEnd ()V")

// Scala: see scala.h.
#define SCALA         "scala/concurrent/"
#define SCALA_PROMISE SCALA "impl/Promise$DefaultPromise"

#define SCALA_TAKES(class_name, method, descriptor)                                                                    \
    BRACKET(class_name, method, descriptor, "aload 1; call scalaEnter (Ljava/lang/Object;)V", "call scalaLeave ()V")

#define SCALA_FUTURE_TAKES(method)                                                                                     \
    SCALA_TAKES(SCALA "Future", method,                                                                                \
                "(Lscala/Function1;Lscala/concurrent/ExecutionContext;)Lscala/concurrent/Future;")

#define SCALA_MAKES(method)                                                                                            \
    {                                                                                                                  \
        SCALA "impl/Promise", method,                                                                                  \
            "(Lscala/Function1;Lscala/concurrent/ExecutionContext;)Lscala/concurrent/Future;", AT_ENTRY,               \
            "call scalaReserve ()V", NULL                                                                              \
    }

#define SCALA_CALLBACK(class_name, constructor, executor, function)                                                    \
    {class_name,                                                                                                       \
     "<init>",                                                                                                         \
     constructor,                                                                                                      \
     AT_RETURN,                                                                                                        \
     "aload 0; aload 0; " executor "; " function                                                                       \
     "; call scalaCallback (Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)J; putfield . " TASK_FIELD " J",    \
     NULL},                                                                                                            \
        {class_name, "run", "()V", AT_ENTRY, "aload 0; " ID "call start (J)V", NULL},                                  \
        {class_name, "run", "()V", AT_RETURN, "int 2; call end (I)V", NULL}, {                                         \
        class_name, "run", "()V", AT_THROW, "int -1; call end (I)V", NULL                                              \
    }

#define SCALA_COMPLETES(method)                                                                                        \
    { SCALA_PROMISE, method, NULL, AFTER_CALL, "dup; aload 0; " ID "call resultIf (IJ)V", "compareAndSet" }

#define SCALA_SLEEPS(method, call)                                                                                     \
    {SCALA_PROMISE,                                                                                                    \
     method,                                                                                                           \
     NULL,                                                                                                             \
     BEFORE_CALL,                                                                                                      \
     "aload 0; aload 0; " ID "call futureWaitBegin (J)J; putfield . " TASK_FIELD " J",                                 \
     call},                                                                                                            \
    {                                                                                                                  \
        SCALA_PROMISE, method, NULL, AFTER_CALL, "call waitEnd ()V", call                                              \
    }

#define SCALA_AWAITS(method)                                                                                           \
    SCALA_SLEEPS(method, "acquireSharedInterruptibly"), SCALA_SLEEPS(method, "tryAcquireSharedNanos"),                 \
        {SCALA_PROMISE, method, NULL, AT_RETURN, "aload 0; " ID "call taken (J)V", NULL}, {                            \
        SCALA_PROMISE, method, NULL, AT_THROW, "call waitEnd ()V", NULL                                                \
    }

#define FLOCK           "jdk/internal/misc/ThreadFlock"
#define FLOCK_CONTAINER "getfield . container Ljdk/internal/misc/ThreadFlock$ThreadContainerImpl;; "
#define VIRTUAL         "java/lang/VirtualThread"

#define ENDS_SLEEP(method, descriptor)                                                                                 \
    BRACKET(VIRTUAL, method, descriptor, "aload 0; call timeIsUp (Ljava/lang/Object;)V", "call timeWasUp ()V")
#define READY        "aload 0; call ready (Ljava/lang/Object;)V"

#define LINKED_QUEUE JUC "LinkedBlockingQueue"
#define ARRAY_QUEUE  JUC "ArrayBlockingQueue"
#define LINKED_DEQUE JUC "LinkedBlockingDeque"
#define SEMAPHORE    JUC "Semaphore"
#define TIME         "JLjava/util/concurrent/TimeUnit;)"

enum { ACC_TRANSIENT_SYNTHETIC = 0x0080 | 0x1000 };

static const struct hook_field fields[] = {
    {JUC "FutureTask", TASK_FIELD, "J"},
    {JUC "CompletableFuture", TASK_FIELD, "J"},
    {JUC "ForkJoinTask", TASK_FIELD, "J"},                             // CompletableFuture's stages inherit it
    {"scala/concurrent/impl/Promise$DefaultPromise", TASK_FIELD, "J"}, // a Transformation inherits it
    {"scala/concurrent/impl/CallbackRunnable", TASK_FIELD, "J"},
    {JUC "ThreadPoolExecutor", POOL_FIELD, "I"},
    {JUC "ForkJoinPool", POOL_FIELD, "I"},
    {LINKED_QUEUE, POOL_FIELD, "I"},
    {LINKED_QUEUE, TASK_FIELD, "J"},
    {ARRAY_QUEUE, TASK_FIELD, "J"},
    {LINKED_DEQUE, TASK_FIELD, "J"},
    {SEMAPHORE "$Sync", TASK_FIELD, "J"},
    {LINKED_QUEUE "$Node", TASK_FIELD, "J"},
    {"java/lang/Thread", BYTECODES_FIELD, "J"},
};

// A wait; how it is left tells whether its time was up, where it has a limit.
#define WAIT_UNTIL(class_name, method, descriptor, opening, returned, thrown)                                          \
    {class_name, method, descriptor, AT_ENTRY, opening, NULL},                                                         \
        {class_name, method, descriptor, AT_RETURN, returned "call waitEnd ()V", NULL}, {                              \
        class_name, method, descriptor, AT_THROW, thrown "call waitEnd ()V", NULL                                      \
    }
#define CAME          "dup; call came (Z)V; "
#define THREW         "dup; call threwAwaiting (Ljava/lang/Object;)V; "
#define LIMIT_IN      "lload 1; aload 3; call limitIn (JLjava/lang/Object;)V; " // (long, TimeUnit)
#define TIME_LIMIT    "(JLjava/util/concurrent/TimeUnit;)"

#define AWAITS_FUTURE "aload 0; aload 0; " ID "call futureWaitBegin (J)J; putfield . " TASK_FIELD " J"

#define PARK_OF(method, descriptor, begin)                                                                             \
    BRACKET(JUC "locks/LockSupport", method, descriptor, begin, "call parkEnd ()V")
#define PARK       "; call parkBegin (Ljava/lang/Object;)V"
#define PARK_FOR   "; call parkBeginFor (Ljava/lang/Object;J)V"
#define PARK_UNTIL "; call parkBeginUntil (Ljava/lang/Object;J)V"

#define CREATED(payload)                                                                                               \
    "aload 0; aload 0; " payload "; call created (Ljava/lang/Object;Ljava/lang/Object;)J; putfield . " TASK_FIELD " J"

// An async stage and the future that depends on it are one task.
#define STAGE_CREATED CREATED("aload 2") "; aload 1; aload 0; " ID "putfield " JUC "CompletableFuture " TASK_FIELD " J"

#define STAGE(class_name, constructor)                                                                                 \
    {class_name, "<init>", constructor, AT_RETURN, STAGE_CREATED, NULL},                                               \
        {class_name, "run", "()V", AT_ENTRY, "aload 0; " ID "call start (J)V", NULL},                                  \
        {class_name, "run", "()V", AT_RETURN, "int 2; call end (I)V", NULL}, {                                         \
        class_name, "run", "()V", AT_THROW, "int -1; call end (I)V", NULL                                              \
    }

// A method that hands a stage to its executor.
#define STAGE_SPAWN(class_name, method)                                                                                \
    {class_name, method, NULL, AT_ENTRY, "call spawnOpen ()V", NULL},                                                  \
        {class_name, method, NULL, BEFORE_CALL, "dup2; call spawnStage (Ljava/lang/Object;Ljava/lang/Object;)V",       \
         "execute"},                                                                                                   \
        {class_name, method, NULL, AT_RETURN, "call spawned ()V", NULL}, {                                             \
        class_name, method, NULL, AT_THROW, "call rejected ()V", NULL                                                  \
    }
#define CF_SPAWN(method) STAGE_SPAWN(JUC "CompletableFuture", method)

// Both get and join look at `result` first, and wait only where it is null.
#define TAKE(method, descriptor)                                                                                       \
    {                                                                                                                  \
        JUC "CompletableFuture", method, descriptor, AT_ENTRY,                                                         \
            "aload 0; " ID "aload 0; getfield . result Ljava/lang/Object;; call takenIfReady (JLjava/lang/Object;)V",  \
            NULL                                                                                                       \
    }

#define SCHEDULES                                                                                                      \
    "aload 1; aload 0; getfield " JUC "ThreadPoolExecutor " POOL_FIELD " I; call schedule (Ljava/lang/Object;I)V"

#define RUNS_RAW(class_name, method, starts)                                                                           \
    {class_name, method, NULL, BEFORE_CALL, "dup; call " starts " (Ljava/lang/Object;)V", "run"}, {                    \
        class_name, method, NULL, AFTER_CALL, "call endObject ()V", "run"                                              \
    }

#define FUTURE_CALLS(method)                                                                                           \
    {                                                                                                                  \
        JUC "FutureTask", method, NULL, BEFORE_CALL,                                                                   \
            "aload 0; aload 0; aload 0; " ID "call futureBegins (Ljava/lang/Object;J)J; putfield . " TASK_FIELD " J",  \
            "call"                                                                                                     \
    }
#define FUTURE_ENDS           "aload 0; " ID "aload 0; getfield . state I; call futureEnds (JI)V"

#define FJT                   JUC "ForkJoinTask"
#define FJP                   JUC "ForkJoinPool"

#define OF_TASK(local, field) "aload " #local "; getfield " FJT " " field "; "
#define STATUS(local)         OF_TASK(local, "status I")

#define AQS                   JUC "locks/AbstractQueuedSynchronizer"
#define THREAD                "Ljava/lang/Thread;"
#define UNPARKS               "call unparks (Ljava/lang/Object;)V"
#define AQLS                  JUC "locks/AbstractQueuedLongSynchronizer"
#define READ_WRITE_SYNC       JUC "locks/ReentrantReadWriteLock$Sync"
#define TIMER_QUEUE           "getfield . queue Ljava/util/TaskQueue;; "

// The local that holds the task, in any method of the package.
#define CARRIED(local) OF_TASK(local, TASK_FIELD " J")

#define FORKS(class_name, method, descriptor, opening, returned)                                                       \
    {class_name, method, descriptor, AT_ENTRY, opening "putfield " FJT " " TASK_FIELD " J", NULL},                     \
        {class_name, method, descriptor, AT_RETURN, returned, NULL}, {                                                 \
        class_name, method, descriptor, AT_THROW, "call rejected ()V", NULL                                            \
    }

#define FORKS_TO(method, descriptor, local)                                                                            \
    FORKS(FJP, method, descriptor,                                                                                     \
          "aload " #local "; dup; " CARRIED(local) "aload 0; " POOL "call forkTo (Ljava/lang/Object;JI)J; ",           \
          CARRIED(local) "aload 0; " POOL "call forkedTo (JI)V")

// JDK 25 and later. With the task and what it carries on the stack; closed by spawned.
#define DELAYED_FORK      JUC "DelayScheduler$ScheduledForkJoinTask"
#define FORKS_DELAYED     "call forkDelayed (Ljava/lang/Object;J)J; "

#define JOINS_TASK(local) "aload " #local "; " CARRIED(local) STATUS(local) "call joinTask (Ljava/lang/Object;JI)V"
#define JOINS(class_name, method, descriptor, local)                                                                   \
    BRACKET(class_name, method, descriptor, JOINS_TASK(local), "call waitEnd ()V")

#define COMPLETES(method)                                                                                              \
    { FJT, method, NULL, AT_ENTRY, CARRIED(0) STATUS(0) "call forkResult (JI)V", NULL }

// The way of a synchronizer on which a thread queues up and parks: `units` and `shared` push ints. Where a park has a
// limit that is on the stack.
#define QUEUES_UP(class_name, method, descriptor, park, units, shared, outcome)                                        \
    {class_name,                                                                                                       \
     method,                                                                                                           \
     descriptor,                                                                                                       \
     BEFORE_CALL,                                                                                                      \
     "aload 0; " units "; " shared "; call syncParks (Ljava/lang/Object;II)V",                                         \
     park},                                                                                                            \
        {class_name,                                                                                                   \
         method,                                                                                                       \
         descriptor,                                                                                                   \
         BEFORE_CALL,                                                                                                  \
         "dup2; aload 0; " units "; " shared "; call syncParksFor (JLjava/lang/Object;II)V",                           \
         "parkNanos"},                                                                                                 \
        {class_name, method, descriptor, AT_RETURN, outcome "; call syncEnds (I)V", NULL}, {                           \
        class_name, method, descriptor, AT_THROW, "int -1; call syncEnds (I)V", NULL                                   \
    }

// StampedLock has no owner: the thread that has got a stamp tells, and so ends its wait.
#define STAMPED JUC "locks/StampedLock"
#define STAMP_QUEUES_UP(method, shared)                                                                                \
    {                                                                                                                  \
        STAMPED, method, NULL, BEFORE_CALL, "aload 0; int 1; " shared "; call syncParks (Ljava/lang/Object;II)V",      \
        "park"},                                                                                                       \
        {STAMPED,                                                                                                      \
         method,                                                                                                       \
         NULL,                                                                                                         \
         BEFORE_CALL,                                                                                                  \
         "dup2; aload 0; int 1; " shared "; call syncParksFor (JLjava/lang/Object;II)V",                               \
         "parkNanos"},                                                                                                 \
        {STAMPED, method, NULL, AT_RETURN, "dup2; call stampMissed (J)V", NULL}, {                                     \
        STAMPED, method, NULL, AT_THROW, "int -1; call syncEnds (I)V", NULL                                            \
    }
#define STAMP_TAKEN(method, descriptor, shared)                                                                        \
    {                                                                                                                  \
        STAMPED, method, descriptor, AT_RETURN, "dup2; aload 0; " shared "; call stampTaken (JLjava/lang/Object;I)V",  \
            NULL                                                                                                       \
    }
#define STAMP_GONE      "; call stampGone (Ljava/lang/Object;I)V"
#define STAMP_CONVERTED "; call stampConverted (JLjava/lang/Object;I)V"

// Methods of a blocking queue that wait for an element (0) or for room (1).
#define QUEUE_WAITS(class_name, method, descriptor, call, limit, probe, for_room)                                      \
    {                                                                                                                  \
        class_name, method, descriptor, BEFORE_CALL, limit "aload 0; aload 0; " ID "int " for_room "; call " probe,    \
        call},                                                                                                         \
    {                                                                                                                  \
        class_name, method, descriptor, AT_THROW, "call queueThrew ()V", NULL                                          \
    }
#define QUEUE_AWAITS(class_name, method, descriptor, for_room)                                                         \
    QUEUE_WAITS(class_name, method, descriptor, "await", "", "queueWaits (Ljava/lang/Object;JI)V", for_room)
#define QUEUE_AWAITS_FOR(class_name, method, descriptor, for_room, gave)                                               \
    QUEUE_WAITS(class_name, method, descriptor, "awaitNanos", "dup2; ", "queueWaitsFor (JLjava/lang/Object;JI)V",      \
                for_room),                                                                                             \
    {                                                                                                                  \
        class_name, method, descriptor, AT_RETURN, "dup; call " gave, NULL                                             \
    }
#define QUEUE_TAKES(class_name, first_or_last)                                                                         \
    QUEUE_AWAITS(class_name, "take" first_or_last, "()Ljava/lang/Object;", "0"),                                       \
        QUEUE_AWAITS_FOR(class_name, "poll" first_or_last, "(" TIME "Ljava/lang/Object;", "0",                         \
                         "queueGave (Ljava/lang/Object;)V")
#define QUEUE_PUTS(class_name, first_or_last)                                                                          \
    QUEUE_AWAITS(class_name, "put" first_or_last, "(Ljava/lang/Object;)V", "1"),                                       \
        QUEUE_AWAITS_FOR(class_name, "offer" first_or_last, "(Ljava/lang/Object;" TIME "Z", "1", "queueHasTaken (Z)V")
#define OF_QUEUE         "aload 0; aload 0; " ID
#define QUEUE_PUT        OF_QUEUE "call queuePut (Ljava/lang/Object;J)V"
#define QUEUE_TOOK       OF_QUEUE "call queueTook (Ljava/lang/Object;J)V"
#define QUEUE_PUT_IF     "dup; " OF_QUEUE "call queuePutIf (ZLjava/lang/Object;J)V"
#define QUEUE_TOOK_IF    "dup; " OF_QUEUE "call queueTookIf (Ljava/lang/Object;Ljava/lang/Object;J)V"

#define PERMITS_TAKEN_IF "dup; " OF_QUEUE "iload 1; call permitsTakenIf (ILjava/lang/Object;JI)V"

#define MAKES_FORK_JOIN_POOL(descriptor, factory, maximum, async, keep_alive)                                          \
    {                                                                                                                  \
        FJP, "<init>", descriptor, AT_RETURN,                                                                          \
            "aload 0; aload 0; " factory "; " maximum "; " async "; " keep_alive                                       \
            "; call forkJoinPool (Ljava/lang/Object;Ljava/lang/Object;IIJ)I; putfield . " POOL_FIELD " I",             \
            NULL                                                                                                       \
    }

#define CHANGES_POOL(setter)                                                                                           \
    {                                                                                                                  \
        JUC "ThreadPoolExecutor", setter, NULL, AT_RETURN,                                                             \
            "aload 0; " POOL "aload 0; getfield . corePoolSize I; aload 0; getfield . maximumPoolSize I; "             \
            "aload 0; getfield . keepAliveTime J; "                                                                    \
            "aload 0; getfield . handler Ljava/util/concurrent/RejectedExecutionHandler;; "                            \
            "aload 0; getfield . allowCoreThreadTimeOut Z; call poolChanged (IIIJLjava/lang/Object;Z)V",               \
            NULL                                                                                                       \
    }

static const struct hook hooks[] = {
    {JUC "FutureTask", "<init>", "(Ljava/util/concurrent/Callable;)V", AT_RETURN, CREATED("aload 1"), NULL},
    {JUC "FutureTask", "<init>", "(Ljava/lang/Runnable;Ljava/lang/Object;)V", AT_RETURN, CREATED("aload 1"), NULL},
    FUTURE_CALLS("run"),
    {JUC "FutureTask", "run", "()V", AT_RETURN, FUTURE_ENDS, NULL},
    {JUC "FutureTask", "run", "()V", AT_THROW, "int -1; call end (I)V", NULL},
    FUTURE_CALLS("runAndReset"),
    {JUC "FutureTask", "runAndReset", "()Z", AT_RETURN,
     FUTURE_ENDS "; aload 0; aload 0; aload 0; " ID "aload 0; getfield . state I; "
                 "aload 0; getfield . callable Ljava/util/concurrent/Callable;; "
                 "call renewed (Ljava/lang/Object;JILjava/lang/Object;)J; putfield . " TASK_FIELD " J",
     NULL},
    {JUC "FutureTask", "runAndReset", "()Z", AT_THROW, "int -1; call end (I)V", NULL},
    {JUC "FutureTask", "finishCompletion", "()V", AT_ENTRY, "aload 0; " ID "call result (J)V", NULL},
    WAIT_UNTIL(JUC "FutureTask", "awaitDone", "(ZJ)I",
               "iload 1; lload 2; call limitIf (ZJ)V; aload 0; " ID "call waitBegin (J)V", "dup; call cameTo (I)V; ",
               ""),
    {JUC "FutureTask", "report", "(I)Ljava/lang/Object;", AT_ENTRY, "aload 0; " ID "call taken (J)V", NULL},

    {JUC "ThreadPoolExecutor", "<init>",
     "(IIJLjava/util/concurrent/TimeUnit;Ljava/util/concurrent/BlockingQueue;Ljava/util/concurrent/ThreadFactory;"
     "Ljava/util/concurrent/RejectedExecutionHandler;)V",
     AT_RETURN,
     "aload 0; aload 0; iload 1; iload 2; aload 6; aload 0; getfield . keepAliveTime J; aload 8; "
     "call pool (Ljava/lang/Object;IILjava/lang/Object;JLjava/lang/Object;)I; putfield "
     ". " POOL_FIELD " I",
     NULL},
    CHANGES_POOL("setCorePoolSize"),
    CHANGES_POOL("setMaximumPoolSize"),
    CHANGES_POOL("setKeepAliveTime"),
    CHANGES_POOL("setRejectedExecutionHandler"),
    CHANGES_POOL("allowCoreThreadTimeOut"),
    {JUC "ThreadPoolExecutor", "execute", "(Ljava/lang/Runnable;)V", AT_ENTRY,
     "aload 1; aload 0; " POOL "call spawn (Ljava/lang/Object;I)V", NULL},
    {JUC "ThreadPoolExecutor", "execute", "(Ljava/lang/Runnable;)V", AT_RETURN, "call spawned ()V", NULL},
    {JUC "ThreadPoolExecutor", "execute", "(Ljava/lang/Runnable;)V", AT_THROW, "call rejected ()V", NULL},
    {JUC "ThreadPoolExecutor", "runWorker", NULL, AT_ENTRY, "aload 0; " POOL "call worker (I)V", NULL},
    RUNS_RAW(JUC "ThreadPoolExecutor", "runWorker", "startTaken"), // a FutureTask has ended before endObject
    {JUC "ThreadPoolExecutor", "reject", NULL, AT_ENTRY, "aload 1; call turnedDown (Ljava/lang/Object;)V", NULL},
    {JUC "ThreadPoolExecutor$Worker", "<init>", NULL, AT_ENTRY, "aload 2; call firstTask (Ljava/lang/Object;)V", NULL},
    RUNS_RAW(JUC "ThreadPoolExecutor$CallerRunsPolicy", "rejectedExecution", "startObject"),
    {JUC "ThreadPoolExecutor$CallerRunsPolicy", "rejectedExecution", NULL, AT_THROW, "call threwObject ()V", NULL},
    {JUC "ThreadPoolExecutor$DiscardOldestPolicy", "rejectedExecution", NULL, AFTER_CALL,
     "dup; call discarded (Ljava/lang/Object;)V", "poll"},
    {JUC "ThreadPoolExecutor", "getTask", "()Ljava/lang/Runnable;", AT_ENTRY, "aload 0; " POOL "call idle (I)V", NULL},
    {JUC "ThreadPoolExecutor", "getTask", "()Ljava/lang/Runnable;", AT_RETURN, "dup; call busy (Ljava/lang/Object;)V",
     NULL},
    {JUC "ThreadPoolExecutor", "processWorkerExit", NULL, AT_ENTRY, "call leave ()V", NULL},
    {JUC "ThreadPoolExecutor", "shutdown", "()V", AT_ENTRY, "aload 0; " POOL "call shutdown (I)V", NULL},
    {JUC "ThreadPoolExecutor", "shutdownNow", "()Ljava/util/List;", AT_ENTRY, "aload 0; " POOL "call shutdown (I)V",
     NULL},
    WAIT_UNTIL(JUC "ThreadPoolExecutor", "awaitTermination", TIME_LIMIT "Z",
               LIMIT_IN "aload 0; " POOL "call terminationBegin (I)V", CAME, ""),

    // A ScheduledThreadPoolExecutor hands over by a way of its own.
    {JUC "ScheduledThreadPoolExecutor", "delayedExecute", NULL, AT_ENTRY, SCHEDULES, NULL},
    {JUC "ScheduledThreadPoolExecutor", "delayedExecute", NULL, AT_RETURN, "call spawned ()V", NULL},
    {JUC "ScheduledThreadPoolExecutor", "delayedExecute", NULL, AT_THROW, "call rejected ()V", NULL},
    {JUC "ScheduledThreadPoolExecutor", "reExecutePeriodic", NULL, BEFORE_CALL, SCHEDULES, "add"},
    {JUC "ScheduledThreadPoolExecutor", "reExecutePeriodic", NULL, AFTER_CALL, "call spawned ()V", "add"},

    STAGE(JUC "CompletableFuture$AsyncSupply",
          "(Ljava/util/concurrent/CompletableFuture;Ljava/util/function/Supplier;)V"),
    STAGE(JUC "CompletableFuture$AsyncRun", "(Ljava/util/concurrent/CompletableFuture;Ljava/lang/Runnable;)V"),
    CF_SPAWN("asyncSupplyStage"),
    CF_SPAWN("asyncRunStage"),
    CF_SPAWN("completeAsync"), // 9 to 25
    // What a stage depends on is there already (9 to 25), or has just come.
    CF_SPAWN("uniApplyNow"),
    CF_SPAWN("uniAcceptNow"),
    CF_SPAWN("uniRunNow"),
    CF_SPAWN("uniHandleStage"),
    CF_SPAWN("uniWhenCompleteStage"),
    CF_SPAWN("uniExceptionallyStage"),
    CF_SPAWN("uniComposeStage"),
    CF_SPAWN("uniComposeExceptionallyStage"),
    CF_SPAWN("biApplyStage"),
    CF_SPAWN("biAcceptStage"),
    CF_SPAWN("biRunStage"),
    STAGE_SPAWN(JUC "CompletableFuture$UniCompletion", "claim"),
    {JUC "CompletableFuture$Completion", "run", "()V", AT_ENTRY, "aload 0; " ID "call start (J)V", NULL},
    {JUC "CompletableFuture$Completion", "run", "()V", AT_RETURN, "int 2; call end (I)V", NULL},
    {JUC "CompletableFuture$Completion", "run", "()V", AT_THROW, "int -1; call end (I)V", NULL},
    {JUC "CompletableFuture", "completeThrowable", NULL, AT_ENTRY, "aload 0; " ID "call threw (J)V", NULL},
    {JUC "CompletableFuture$UniCompletion", "<init>", NULL, AT_RETURN,
     "aload 0; aload 1; aload 2; call stage (Ljava/lang/Object;Ljava/lang/Object;)J; putfield . " TASK_FIELD " J",
     NULL},
    TAKE("get", "()Ljava/lang/Object;"),
    TAKE("get", "(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;"),
    TAKE("join", "()Ljava/lang/Object;"),
    BRACKET(JUC "CompletableFuture", "waitingGet", "(Z)Ljava/lang/Object;", AWAITS_FUTURE, "call waitEnd ()V"),
    WAIT_UNTIL(JUC "CompletableFuture", "timedGet", "(J)Ljava/lang/Object;", "lload 1; call limit (J)V; " AWAITS_FUTURE,
               "int 1; call came (Z)V; ", THREW),
    // What completes as part of another's completion tells its result here, and never comes to postComplete.
    {JUC "CompletableFuture", "postFire", NULL, AT_ENTRY, "aload 0; " ID "call result (J)V", NULL},
    {JUC "CompletableFuture$AnyOf", "tryFire", NULL, AT_RETURN, "dup; call fired (Ljava/lang/Object;)V", NULL},
    {JUC "CompletableFuture", "postComplete", "()V", AT_ENTRY, "aload 0; " ID "call result (J)V", NULL},

    FORKS(FJT, "fork", NULL, "aload 0; aload 0; " CARRIED(0) "call fork (Ljava/lang/Object;J)J; ", "call spawned ()V"),
    {FJT, "doExec", NULL, AT_ENTRY,
     "aload 0; " CARRIED(0) STATUS(0) "call forkBegin (JI)J; putfield . " TASK_FIELD " J", NULL},
    {FJT, "doExec", NULL, AT_RETURN, CARRIED(0) STATUS(0) "call forkEnd (JI)V", NULL},
    {FJT, "doExec", NULL, AT_THROW, "call forkThrew ()V", NULL},
    {FJT, "reinitialize", "()V", AT_ENTRY, "aload 0; lconst_0; putfield . " TASK_FIELD " J", NULL},
    COMPLETES("setDone"),            // 11 to 25
    COMPLETES("trySetThrown"),       // 17 to 25
    COMPLETES("trySetCancelled"),    // 17 to 25
    COMPLETES("abnormalCompletion"), // 11
    COMPLETES("setCompletion"),      // 8
    // Of each way to join the outermost method counts; invokeAll and ForkJoinPool.invoke call the inner ones.
    JOINS(FJT, "join", NULL, 0),
    JOINS(FJT, "get", "()Ljava/lang/Object;", 0),
    WAIT_UNTIL(FJT, "get", TIME_LIMIT "Ljava/lang/Object;", LIMIT_IN JOINS_TASK(0), "int 1; call came (Z)V; ", THREW),
    JOINS(FJT, "quietlyJoin", NULL, 0),
    JOINS(FJT, "awaitDone", NULL, 0),         // 17 to 25
    JOINS(FJT, "doJoin", NULL, 0),            // 8, 11
    JOINS(FJT, "externalAwaitDone", NULL, 0), // 8, 11
    JOINS(FJP, "awaitJoin", NULL, 2),         // 8, 11
    {FJT, "invokeAll", NULL, AFTER_CALL, "dup; call joinElement (Ljava/lang/Object;)V", "get"},
    {FJT, "invokeAll", "([Ljava/util/concurrent/ForkJoinTask;)V", AT_RETURN,
     "aload 0; call joinedAll ([Ljava/lang/Object;)V", NULL},

    FORKS_TO("externalPush", NULL, 1),                  // 8 to 17
    FORKS_TO("externalSubmit", NULL, 1),                // 8 to 25
    FORKS_TO("lazySubmit", NULL, 1),                    // 21, 25
    FORKS_TO("poolSubmit", "(ZL" FJT ";)L" FJT ";", 2), // 21, 25
    FORKS(FJP, "scheduleDelayedTask", NULL, "aload 1; dup; " CARRIED(1) FORKS_DELAYED, "call spawned ()V"),
    // A periodic task has run, and is handed over for its next time.
    {DELAYED_FORK, "postExec", NULL, BEFORE_CALL,
     "aload 0; dup; " CARRIED(0) FORKS_DELAYED "putfield " FJT " " TASK_FIELD " J", "pend"},
    {DELAYED_FORK, "postExec", NULL, AFTER_CALL, "call spawned ()V", "pend"},
    MAKES_FORK_JOIN_POOL("(IL" FJP "$ForkJoinWorkerThreadFactory;Ljava/lang/Thread$UncaughtExceptionHandler;ZIII"
                         "Ljava/util/function/Predicate;JLjava/util/concurrent/TimeUnit;)V",
                         "aload 2", "iload 6", "iload 4", "aload 0; getfield . keepAlive J"),
    MAKES_FORK_JOIN_POOL("(IL" FJP "$ForkJoinWorkerThreadFactory;Ljava/lang/Thread$UncaughtExceptionHandler;"
                         "ILjava/lang/String;)V", // 8
                         "aload 2", "int -1", "iload 4", "int -1; i2l"),
    MAKES_FORK_JOIN_POOL("(B)V", "aconst_null", "int -1", "int 0", "int -1; i2l"), // the common pool
    {FJP, "awaitWork", NULL, AT_ENTRY, "aload 0; " POOL "call idle (I)V", NULL},
    {FJP, "awaitWork", "(L" FJP "$WorkQueue;I)Z", AT_RETURN, "dup; int 1; int 0; call awake (III)V", NULL}, // 8
    {FJP, "awaitWork", "(L" FJP "$WorkQueue;)I", AT_RETURN,                                                 // 17, 21
     "dup; int -2147483648; int -2147483648; call awake (III)V", NULL},
    {FJP, "awaitWork", "(L" FJP "$WorkQueue;I)I", AT_RETURN, "dup; int 65536; int 65536; call awake (III)V", NULL},
    {FJP, "shutdown", "()V", AT_ENTRY, "aload 0; " POOL "call shutdown (I)V", NULL},
    {FJP, "shutdownNow", "()Ljava/util/List;", AT_ENTRY, "aload 0; " POOL "call shutdown (I)V", NULL},
    {FJP, "close", "()V", AT_ENTRY, "aload 0; " POOL "call shutdown (I)V", NULL},
    BRACKET(FJP, "close", "()V", "aload 0; " POOL "call terminationBegin (I)V", "call waitEnd ()V"),
    WAIT_UNTIL(FJP, "awaitTermination", TIME_LIMIT "Z", LIMIT_IN "aload 0; " POOL "call terminationBegin (I)V", CAME,
               ""),

    // A timer is a pool of one thread, known by its queue.
    {"java/util/Timer", "sched", NULL, AT_ENTRY,
     "aload 1; aload 0; " TIMER_QUEUE "lload 2; lload 4; call timerSpawn (Ljava/lang/Object;Ljava/lang/Object;JJ)V",
     NULL},
    {"java/util/Timer", "sched", NULL, AT_RETURN, "call spawned ()V", NULL},
    {"java/util/Timer", "sched", NULL, AT_THROW, "call rejected ()V", NULL},
    {"java/util/Timer", "cancel", "()V", AT_ENTRY, "aload 0; " TIMER_QUEUE "call timerShutdown (Ljava/lang/Object;)V",
     NULL},
    {"java/util/TimerTask", "cancel", NULL, AT_ENTRY,
     "aload 0; aload 0; getfield . state I; call timerCancelled (Ljava/lang/Object;I)V", NULL},
    {"java/util/TimerThread", "mainLoop", NULL, AT_ENTRY,
     "aload 0; " TIMER_QUEUE "call timerBegin (Ljava/lang/Object;)V", NULL},
    {"java/util/TimerThread", "mainLoop", NULL, BEFORE_CALL,
     "dup; dup; getfield java/util/TimerTask period J; call timerRuns (Ljava/lang/Object;J)V", "run"},
    {"java/util/TimerThread", "mainLoop", NULL, AFTER_CALL, "call timerRan ()V", "run"},
    {"java/util/TimerThread", "mainLoop", NULL, AT_RETURN, "call timerEnd ()V", NULL},
    {"java/util/TimerThread", "mainLoop", NULL, AT_THROW, "call timerEnd ()V", NULL},
    BRACKET("java/lang/Thread", "start", "()V", "aload 0; call threadSpawn (Ljava/lang/Object;)V",
            "call threadSpawned ()V"),
    STARTS_IN_CONTAINER("java/lang/Thread"),
    STARTS_IN_CONTAINER(VIRTUAL),
    WAIT_UNTIL(JUC "ThreadPerTaskExecutor", "awaitTermination", TIME_LIMIT "Z",
               LIMIT_IN "aload 0; call containerBegin (Ljava/lang/Object;)V", CAME, ""),
    AWAITS_ALL(FLOCK, "awaitAll", FLOCK_CONTAINER),
    AWAITS_ALL(FLOCK, "close", FLOCK_CONTAINER),
    WAIT_UNTIL(VIRTUAL, "joinNanos", "(J)Z", "lload 1; call limit (J)V; aload 0; call joinBegin (Ljava/lang/Object;)V",
               CAME, ""),
    {VIRTUAL, "submitRunContinuation", NULL, BEFORE_CALL, READY, "execute"},
    {VIRTUAL, "lazySubmitRunContinuation", NULL, AT_ENTRY, READY, NULL},
    {VIRTUAL, "externalSubmitRunContinuation", NULL, AT_ENTRY, READY, NULL},
    {VIRTUAL, "externalSubmitRunContinuationOrThrow", NULL, AT_ENTRY, READY, NULL}, // 22 and later
    {VIRTUAL, "schedule", "(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/Future;",
     AT_ENTRY, "aload 0; lload 2; aload 4; call wakesIn (Ljava/lang/Object;JLjava/lang/Object;)V", NULL}, // 25
    ENDS_SLEEP("parkTimeoutExpired", "()V"),
    ENDS_SLEEP("waitTimeoutExpired", "(B)V"),
    BRACKET(VIRTUAL, "scheduleUnpark", NULL, "call hide ()V", "call show ()V"), // 21
    BRACKET(VIRTUAL, "schedule", NULL, "call hide ()V", "call show ()V"),       // 25
    BRACKET("java/lang/Thread", "join", "(J)V",
            "lload 1; call limitMs (J)V; aload 0; call joinBegin (Ljava/lang/Object;)V", "call waitEnd ()V"),

    PARK_OF("park", "(Ljava/lang/Object;)V", "aload 0" PARK),
    PARK_OF("parkNanos", "(Ljava/lang/Object;J)V", "aload 0; lload 1" PARK_FOR),
    PARK_OF("parkUntil", "(Ljava/lang/Object;J)V", "aload 0; lload 1" PARK_UNTIL),
    PARK_OF("park", "()V", "aconst_null" PARK),
    PARK_OF("parkNanos", "(J)V", "aconst_null; lload 0" PARK_FOR),
    PARK_OF("parkUntil", "(J)V", "aconst_null; lload 0" PARK_UNTIL),
    {JUC "locks/LockSupport", "unpark", NULL, AT_ENTRY, "aload 0; " UNPARKS, NULL},
    // Who signals a condition releases who waits for it, though another may unpark that thread, when the lock is free.
    {AQS, "enqueue", NULL, AT_ENTRY, "aload 1; getfield " AQS "$Node waiter " THREAD "; " UNPARKS, NULL},
    {AQS, "transferForSignal", NULL, AT_ENTRY, "aload 1; getfield " AQS "$Node thread " THREAD "; " UNPARKS, NULL},

    // Locks: whoever owns one, and readers.
    {JUC "locks/AbstractOwnableSynchronizer", "setExclusiveOwnerThread", NULL, AT_ENTRY,
     "aload 0; aload 1; call owns (Ljava/lang/Object;Ljava/lang/Object;)V", NULL},
    {READ_WRITE_SYNC, "tryAcquireShared", "(I)I", AT_RETURN, "dup; aload 0; call shares (ILjava/lang/Object;)V", NULL},
    {READ_WRITE_SYNC, "tryAcquireShared", "(J)J", AT_RETURN, "dup2; aload 0; call sharesLong (JLjava/lang/Object;)V",
     NULL}, // 25
    {READ_WRITE_SYNC, "tryReadLock", "()Z", AT_RETURN, "dup; aload 0; call sharesIf (ZLjava/lang/Object;)V", NULL},
    {READ_WRITE_SYNC, "tryReleaseShared", NULL, AT_ENTRY, "aload 0; call unshares (Ljava/lang/Object;)V", NULL},
    QUEUES_UP(AQS, "acquire", "(L" AQS "$Node;IZZZJ)I", "park", "iload 2", "iload 3", "dup"),    // 17 to 25
    QUEUES_UP(AQLS, "acquire", "(L" AQS "$Node;JZZZJ)I", "park", "int 1", "iload 4", "dup"),     // 17
    QUEUES_UP(AQLS, "acquire", "(L" AQLS "$Node;JZZZJ)I", "park", "int 1", "iload 4", "dup"),    // 25
    QUEUES_UP(AQS, "acquireQueued", NULL, "parkAndCheckInterrupt", "iload 2", "int 0", "int 1"), // 8, 11
    QUEUES_UP(AQS, "doAcquireInterruptibly", NULL, "parkAndCheckInterrupt", "iload 1", "int 0", "int 1"),
    QUEUES_UP(AQS, "doAcquireNanos", NULL, "parkAndCheckInterrupt", "iload 1", "int 0", "dup"),
    QUEUES_UP(AQS, "doAcquireShared", NULL, "parkAndCheckInterrupt", "iload 1", "int 1", "int 1"),
    QUEUES_UP(AQS, "doAcquireSharedInterruptibly", NULL, "parkAndCheckInterrupt", "iload 1", "int 1", "int 1"),
    QUEUES_UP(AQS, "doAcquireSharedNanos", NULL, "parkAndCheckInterrupt", "iload 1", "int 1", "dup"),

    STAMP_QUEUES_UP("acquireWrite", "int 0"),
    STAMP_QUEUES_UP("acquireRead", "int 1"),
    STAMP_TAKEN("writeLock", "()J", "int 0"),
    STAMP_TAKEN("tryWriteLock", "()J", "int 0"),
    STAMP_TAKEN("tryWriteLock", "(JLjava/util/concurrent/TimeUnit;)J", "int 0"),
    STAMP_TAKEN("writeLockInterruptibly", "()J", "int 0"),
    STAMP_TAKEN("readLock", "()J", "int 1"),
    STAMP_TAKEN("tryReadLock", "()J", "int 1"),
    STAMP_TAKEN("tryReadLock", "(JLjava/util/concurrent/TimeUnit;)J", "int 1"),
    STAMP_TAKEN("readLockInterruptibly", "()J", "int 1"),
    {STAMPED, "unlockWrite", "(J)V", AT_ENTRY, "aload 0; int 0" STAMP_GONE, NULL},
    {STAMPED, "unlockRead", "(J)V", AT_ENTRY, "aload 0; int 1" STAMP_GONE, NULL},
    {STAMPED, "unstampedUnlockWrite", "()V", AT_ENTRY, "aload 0; int 0" STAMP_GONE, NULL},
    {STAMPED, "unstampedUnlockRead", "()V", AT_ENTRY, "aload 0; int 1" STAMP_GONE, NULL},
    {STAMPED, "tryUnlockWrite", "()Z", AT_RETURN, "dup; aload 0; int 0; call stampGoneIf (ZLjava/lang/Object;I)V",
     NULL},
    {STAMPED, "tryUnlockRead", "()Z", AT_RETURN, "dup; aload 0; int 1; call stampGoneIf (ZLjava/lang/Object;I)V", NULL},
    {STAMPED, "tryConvertToWriteLock", "(J)J", AT_RETURN, "dup2; aload 0; int 0" STAMP_CONVERTED, NULL},
    {STAMPED, "tryConvertToReadLock", "(J)J", AT_RETURN, "dup2; aload 0; int 1" STAMP_CONVERTED, NULL},
    {STAMPED, "tryConvertToOptimisticRead", "(J)J", AT_RETURN,
     "dup2; aload 0; call stampDropped (JLjava/lang/Object;)V", NULL},
    {STAMPED, "unlock", "(J)V", BEFORE_CALL, "lload 1; aload 0; call stampDropped (JLjava/lang/Object;)V",
     "release"}, // 8, which wakes the next itself; later ones call unlockWrite or unlockRead

    {SEMAPHORE "$Sync", "<init>", "(I)V", AT_RETURN, "aload 0; iload 1; call permits (I)J; putfield . " TASK_FIELD " J",
     NULL},
    {SEMAPHORE "$Sync", "nonfairTryAcquireShared", "(I)I", AT_RETURN, PERMITS_TAKEN_IF, NULL},
    {SEMAPHORE "$FairSync", "tryAcquireShared", "(I)I", AT_RETURN, PERMITS_TAKEN_IF, NULL},
    {SEMAPHORE "$Sync", "tryReleaseShared", "(I)Z", AT_ENTRY,
     OF_QUEUE "iload 1; call permitsGiven (Ljava/lang/Object;JI)V", NULL},
    {SEMAPHORE "$Sync", "reducePermits", "(I)V", AT_RETURN,
     OF_QUEUE "iload 1; call permitsReduced (Ljava/lang/Object;JI)V", NULL},
    {SEMAPHORE "$Sync", "drainPermits", "()I", AT_RETURN,
     "dup; " OF_QUEUE "call permitsDrained (ILjava/lang/Object;J)V", NULL},

    {ARRAY_QUEUE, "enqueue", NULL, AT_RETURN, QUEUE_PUT, NULL},
    {ARRAY_QUEUE, "dequeue", NULL, AT_RETURN, QUEUE_TOOK, NULL},
    QUEUE_TAKES(ARRAY_QUEUE, ""),
    QUEUE_PUTS(ARRAY_QUEUE, ""),
    {LINKED_QUEUE, "enqueue", NULL, AT_RETURN, QUEUE_PUT, NULL},
    {LINKED_QUEUE, "dequeue", NULL, AT_RETURN, QUEUE_TOOK, NULL},
    QUEUE_TAKES(LINKED_QUEUE, ""),
    QUEUE_PUTS(LINKED_QUEUE, ""),
    {LINKED_DEQUE, "linkFirst", NULL, AT_RETURN, QUEUE_PUT_IF, NULL},
    {LINKED_DEQUE, "linkLast", NULL, AT_RETURN, QUEUE_PUT_IF, NULL},
    {LINKED_DEQUE, "unlinkFirst", NULL, AT_RETURN, QUEUE_TOOK_IF, NULL},
    {LINKED_DEQUE, "unlinkLast", NULL, AT_RETURN, QUEUE_TOOK_IF, NULL},
    QUEUE_TAKES(LINKED_DEQUE, "First"),
    QUEUE_TAKES(LINKED_DEQUE, "Last"),
    QUEUE_PUTS(LINKED_DEQUE, "First"),
    QUEUE_PUTS(LINKED_DEQUE, "Last"),

    SCALA_TAKES(SCALA "Future$", "apply", NULL),
    SCALA_FUTURE_TAKES("map"),
    SCALA_FUTURE_TAKES("flatMap"),
    SCALA_FUTURE_TAKES("filter"),
    SCALA_MAKES("transform"),     // 2.12
    SCALA_MAKES("transformWith"), // 2.12
    {SCALA_PROMISE, "<init>", "()V", AT_RETURN, "aload 0; call scalaPromise ()J; putfield . " TASK_FIELD " J", NULL},
    SCALA_CALLBACK(SCALA "impl/CallbackRunnable", NULL, "aload 1", "aload 2"), // 2.12
    SCALA_CALLBACK(SCALA "impl/Promise$Transformation",                        // 2.13
                   "(ILscala/Function1;Lscala/concurrent/ExecutionContext;)V", "aload 3", "aload 2"),
    SCALA_COMPLETES("tryCompleteAndGetListeners"), // 2.12
    SCALA_COMPLETES("tryComplete0"),               // 2.13
    SCALA_AWAITS("tryAwait"),                      // 2.12
    SCALA_AWAITS("tryAwait0"),                     // 2.13

    {"sun/launcher/LauncherHelper", "checkAndLoadMain", NULL, AT_RETURN, "call mainBegin ()V", NULL},
};

// Where classes get fields, and the nodes of a pool's queue one (queue_ids.h).
static const struct hook started_hooks[] = {
    {LINKED_QUEUE, "enqueue", NULL, AT_ENTRY, "aload 1; aload 0; " POOL "call enqueued (Ljava/lang/Object;I)V", NULL},
    {LINKED_QUEUE, "dequeue", NULL, AT_RETURN,
     "dup; aload 0; getfield . head L" LINKED_QUEUE "$Node;; aload 0; " POOL
     "call dequeued (Ljava/lang/Object;Ljava/lang/Object;I)V",
     NULL},
    {LINKED_QUEUE, "unlink", NULL, AT_ENTRY,
     "aload 1; getfield " LINKED_QUEUE "$Node item Ljava/lang/Object;; aload 1; aload 0; " POOL
     "call dequeued (Ljava/lang/Object;Ljava/lang/Object;I)V",
     NULL},
    // How many it takes is settled, and none is taken by others till it is done.
    {LINKED_QUEUE, "drainTo", "(Ljava/util/Collection;I)I", AFTER_CALL,
     "aload 0; aload 0; " POOL "call drains (Ljava/lang/Object;I)V", "min"},
};

// Where the tracer comes to a running JVM: in threads that park as it comes nothing else is woven (running.h).
static const struct hook attached_hooks[] = {
    {JUC "locks/LockSupport", "setBlocker", NULL, AT_ENTRY, "aload 1; call blocksOn (Ljava/lang/Object;)V", NULL},
    {JUC "locks/LockSupport", "setCurrentBlocker", NULL, AT_ENTRY, "aload 0; call blocksOn (Ljava/lang/Object;)V",
     NULL}, // 14 and later
};

const char *const hooks_early_classes[HOOKS_EARLY_CLASSES] = {"java/lang/Thread", VIRTUAL, JUC "locks/LockSupport", AQS,
                                                              JUC "locks/AbstractOwnableSynchronizer"};

enum {
    HOOKS = sizeof hooks / sizeof *hooks,
    STARTED_HOOKS = sizeof started_hooks / sizeof *started_hooks,
    ATTACHED_HOOKS = sizeof attached_hooks / sizeof *attached_hooks,
    FIELDS = sizeof fields / sizeof *fields
};

bool hooks_concern(const char *internal_class) {
    static const char *const prefixes[] = {
        JUC, "java/lang/Thread", VIRTUAL, FLOCK, "java/util/Timer", "scala/concurrent/", "sun/launcher/LauncherHelper"};
    bool likely = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !likely; i++) {
        likely = strncmp(internal_class, prefixes[i], strlen(prefixes[i])) == 0;
    }
    for (size_t i = 0; i < HOOKS && likely; i++) {
        if (strcmp(hooks[i].class_name, internal_class) == 0) return true;
    }
    for (size_t i = 0; i < FIELDS && likely; i++) {
        if (strcmp(fields[i].class_name, internal_class) == 0) return true;
    }
    return false;
}

// In place of fields -------------------------------------------------------------------------------------------------

// What reads and writes the fields where there are some, with the same effect on the stack.
static const struct {
    const char *access, *field, *call;
} in_place[] = {
    {"getfield", TASK_FIELD, "call carried (Ljava/lang/Object;)J"},
    {"putfield", TASK_FIELD, "call carry (Ljava/lang/Object;J)V"},
    {"getfield", POOL_FIELD, "call poolOf (Ljava/lang/Object;)I"},
    {"putfield", POOL_FIELD, "call becomePool (Ljava/lang/Object;I)V"},
};

// Length of the instruction at `at`, to its ';' (none of those that end descriptors is followed by a blank); *call:
// what stands in its place, or NULL.
static size_t read_instruction(const char *at, const char **call) {
    char access[16], field[64];
    *call = NULL;
    const char *end = strstr(at, "; ");
    size_t length = end ? (size_t)(end - at) : strlen(at);
    if (sscanf(at, " %15s %*s %63s", access, field) != 2) return length;
    for (size_t i = 0; i < sizeof in_place / sizeof *in_place; i++) {
        if (strcmp(access, in_place[i].access) == 0 && strcmp(field, in_place[i].field) == 0) *call = in_place[i].call;
    }
    return length;
}

static const char *without_fields(const char *snippet, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = snippet; *at && used < size;) {
        const char *call;
        size_t length = read_instruction(at, &call);
        int written = snprintf(text + used, size - used, "%s%.*s", used ? "; " : "",
                               call ? (int)strlen(call) : (int)length, call ? call : at);
        used += (size_t)written;
        at += length;
        at += strspn(at, "; ");
    }
    return text;
}

// Weaving -------------------------------------------------------------------------------------------------------------

static void weave_hook(struct weaver *weaver, const struct hook *from_table) {
    char text[1024];
    struct hook own = *from_table;
    if (tracer.attached) own.snippet = without_fields(own.snippet, text, sizeof text);
    hook_weave(weaver, &own);
}

static bool is_named(jclass class, jfieldID field, const char *wanted) {
    char *name = NULL;
    if ((*tracer.jvmti)->GetFieldName(tracer.jvmti, class, field, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
    bool is = strcmp(name, wanted) == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)name);
    return is;
}

// A class that isn't linked yet doesn't tell its fields; it was woven as it was loaded.
static bool has_field(jclass class, const char *name) {
    jint count = 0;
    jfieldID *ids = NULL;
    if ((*tracer.jvmti)->GetClassFields(tracer.jvmti, class, &count, &ids) != JVMTI_ERROR_NONE) return true;
    bool has = false;
    for (jint i = 0; i < count && !has; i++) has = is_named(class, ids[i], name);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *)ids);
    return has;
}

// False where the hooks would look for a field in vain.
static bool add_fields(struct weaver *weaver, jclass redefined) {
    struct error error = ERROR_INIT;
    for (size_t i = 0; i < FIELDS; i++) {
        if (!utf8_is(weaver_class(weaver)->name, fields[i].class_name)) continue;
        if (!tracer.options.bytecodes && strcmp(fields[i].name, BYTECODES_FIELD) == 0) continue;
        if (redefined && !has_field(redefined, fields[i].name)) return false;
        if (!weaver_add_field(weaver, fields[i].name, fields[i].descriptor, ACC_TRANSIENT_SYNTHETIC, &error))
            return false;
    }
    return true;
}

static void weave_table(struct weaver *weaver, const struct hook *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (utf8_is(weaver_class(weaver)->name, table[i].class_name)) weave_hook(weaver, &table[i]);
    }
}

void hooks_weave(struct weaver *weaver, jclass redefined) {
    if (!tracer.attached && !add_fields(weaver, redefined)) return;
    if (!tracer.attached) weave_table(weaver, started_hooks, STARTED_HOOKS);
    weave_table(weaver, hooks, HOOKS);
    if (tracer.attached) weave_table(weaver, attached_hooks, ATTACHED_HOOKS);
}
