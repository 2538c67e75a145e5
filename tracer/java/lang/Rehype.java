// SPDX-License-Identifier: Apache-2.0
package java.lang;

/**
 * What woven code calls. The agent defines this class in the boot loader before it weaves anything and exports the
 * natives itself (probes.c says what each records; hooks.c, where each is called). It lives in java.lang because every
 * class loader delegates that package to the boot loader, whatever else it hides.
 */
public final class Rehype extends ClassValue<Integer> {
    private static final Rehype CLASSES = new Rehype(); // a message's class: its number in the trace

    private Rehype() {}

    @Override
    protected Integer computeValue(Class<?> type) {
        return classNumber(type);
    }

    private static native int classNumber(Class<?> type);

    // Tells which copy of the agent the natives are bound to, and whether they can be yet.
    public static native long agent();

    // In place of fields, where none could be added.
    public static native long carried(Object task);
    public static native void carry(Object task, long carried);
    public static native int poolOf(Object executor);
    public static native void becomePool(Object executor, int pool);

    // Functions of included classes.
    public static native void enter(int method);
    public static native void exit(int method);
    public static native void exitThrew(int method);

    /** A basic block of so many bytecodes begins. The agent fills this in where they are counted (bytecodes.c). */
    @jdk.internal.vm.annotation.ForceInline
    public static void count(int bytecodes) {}

    // The application's place from which a task may be spawned next; 0 when the call is over.
    public static native void site(int site);

    /** A pool's worker runs what it took. A FutureTask tells itself when it begins and ends, and whether. */
    @jdk.internal.vm.annotation.ForceInline
    public static void startTaken(Object task) {
        if (task == null || task.getClass() != java.util.concurrent.FutureTask.class) {
            startHanded(task);
        }
    }

    // A ThreadPoolExecutor's queue whose nodes carry ids of tasks: `pool` is not 0.

    @jdk.internal.vm.annotation.ForceInline
    public static void enqueued(Object node, int pool) {
        if (pool != 0) {
            nodeEnqueued(node);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void dequeued(Object task, Object node, int pool) {
        if (pool != 0) {
            nodeDequeued(task, node);
        }
    }

    public static void drains(Object queue, int pool) {
        if (pool != 0) {
            queueDrains(queue);
        }
    }

    // Actors (actor_probes.c). What gives a number gives the one to be kept.
    public static native long actorMade(Object ref, long actor, Object parent, Object path, Object name);
    public static native void actorStopped(long actor);
    public static native void actorRestarted(long actor);
    public static native void initBegins(long actor);
    public static native void setupBegins();
    public static native void restarts(Object typedRef);
    public static native void upkeepBegins(long actor);
    public static native void upkeepEnds(long actor);
    public static native void initEnds(Object instance);

    @jdk.internal.vm.annotation.ForceInline
    public static long sends(long message, long actor, Object content) {
        int type = content == null ? -1 : CLASSES.get(content.getClass());
        if (type < 0) {
            sendsNone();
            return message;
        }
        return messageSent(message, actor, type);
    }

    private static native void sendsNone();

    private static native long messageSent(long message, long actor, int type);
    public static native void sendsInternal(Object receiver, Object message);
    public static native void dropsInternal(Object receiver);
    public static native void handlesInternal(long actor);
    public static native void routes(long message);
    public static native void sendsFor(int origin);
    public static native void sendsToSeveral();
    public static native void sentToSeveral();
    public static native void asks();
    public static native void answers(boolean completes, Object content, boolean automatic);
    public static native void drops(long message);
    public static native void tellsNobody(Object content, boolean automatic, boolean internal);
    public static native void mailed(Object message, Object receiver);
    public static native void opens(Object message, Object receiver);
    public static native void closes();
    public static native void closesThrowing();
    public static native void makes(Object actor);
    public static native void handles(long message, long actor);
    public static native long handled(long message);
    public static native long handlingThrew(long message);
    public static native void becomes(int outcome);
    public static native void schedules(Object mailbox);

    // Task objects.
    public static native long created(Object task, Object payload);
    public static native long renewed(Object task, long carried, int state, Object callable);
    public static native void bodyCreated(Object task, int maker);

    // Hand-over.
    public static native void spawn(Object task, int pool);
    public static native void spawnOpen();
    public static native void spawnStage(Object executor, Object task);
    public static native long stage(Object executor, Object dependent);
    public static native void schedule(Object task, int pool);
    public static native void spawned();
    public static native void rejected();
    public static native void turnedDown(Object task);
    public static native void firstTask(Object task);
    private static native void nodeEnqueued(Object node);
    private static native void nodeDequeued(Object task, Object node);
    private static native void queueDrains(Object queue);
    public static native void discarded(Object task);

    // Execution.
    public static native void start(long task);
    public static native void end(int state);
    public static native long futureBegins(Object future, long carried);
    public static native void futureEnds(long carried, int state);
    public static native void threw(long task);
    public static native void startObject(Object task);
    private static native void startHanded(Object task);
    public static native void endObject();
    public static native void threwObject();
    public static native void bodyBegin(Object task);
    public static native void bodyEnd();
    public static native void bodyThrew();

    // Of methods that call run() of a Runnable, or call() of a Callable; and the lambdas that there may be to call.
    public static native void runnerEnter();
    public static native void runnerLeave();
    public static native void runnerCaught();
    public static native void runnerThrew();
    public static native void lambdaMade(Object task, int maker);
    public static native void result(long task);
    public static native void fired(Object future);

    // Waits.
    public static native void waitBegin(long task);
    public static native long futureWaitBegin(long task);
    public static native void waitEnd();
    public static native void taken(long task);
    public static native void takenIfReady(long task, Object result);
    public static native void joinBegin(Object thread);
    public static native void containerBegin(Object container);
    public static native void terminationBegin(int pool);
    public static native void parkBegin(Object blocker);
    public static native void parkBeginFor(Object blocker, long ns);
    public static native void parkBeginUntil(Object blocker, long ms);
    public static native void parkEnd();

    // A virtual thread is handed to its scheduler.
    public static native void ready(Object thread);
    public static native void wakesIn(Object thread, long duration, Object unit);
    public static native void timeIsUp(Object thread);
    public static native void timeWasUp();

    // Time limits: of the wait that begins next, and whether that which ends next ended in time.
    public static native void limit(long ns);
    public static native void limitIf(boolean timed, long ns);
    public static native void limitMs(long ms);
    public static native void limitIn(long duration, Object unit);
    public static native void came(boolean came);
    public static native void cameTo(int futureTaskState);
    public static native void threwAwaiting(Object exception);

    // In a JVM that was attached to: a thread says what it parks on, or, when it has parked, null.
    public static native void blocksOn(Object blocker);
    public static native void unparks(Object thread);
    public static native void notifies(Object monitor);
    public static native void notifiesAll(Object monitor);

    // Resources (resources.h). Which places of the program's that lock monitors, and which locks, are worth a call: the
    // agent sets them where a thread had to wait. Places by their number, locks by their hash.
    private static final boolean[] watchedPlaces = new boolean[4096];
    private static final boolean[] watchedLocks = new boolean[4096];
    private static boolean locksWatched;

    @jdk.internal.vm.annotation.ForceInline
    public static void entered(Object monitor, int site, int place) {
        if (watchedPlaces[place & 4095]) {
            monitorEntered(monitor, site, place);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void leaves(Object monitor, int place) {
        if (watchedPlaces[place & 4095]) {
            monitorLeaves(monitor, place);
        }
    }

    public static void left(int place) {
        if (watchedPlaces[place & 4095]) {
            monitorThrew(place);
        }
    }

    private static boolean isWatched(Object sync) {
        return watchedLocks[System.identityHashCode(sync) & 4095];
    }

    /** A lock has a new owner, or is about to have none. */
    @jdk.internal.vm.annotation.ForceInline
    public static void owns(Object sync, Object thread) {
        if (locksWatched && isWatched(sync)) {
            if (thread != null) {
                lockTaken(sync, false);
            } else {
                lockGivenBack(sync, false);
            }
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void shares(int taken, Object sync) {
        if (locksWatched && taken >= 0 && isWatched(sync)) {
            lockTaken(sync, true);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void sharesLong(long taken, Object sync) {
        if (locksWatched && taken >= 0 && isWatched(sync)) {
            lockTaken(sync, true);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void sharesIf(boolean taken, Object sync) {
        if (locksWatched && taken && isWatched(sync)) {
            lockTaken(sync, true);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void unshares(Object sync) {
        if (locksWatched && isWatched(sync)) {
            lockGivenBack(sync, true);
        }
    }

    // StampedLock: a stamp of 0 is none, 1 is its word for an interrupted wait.

    @jdk.internal.vm.annotation.ForceInline
    public static void stampTaken(long stamp, Object lock, int shared) {
        if (locksWatched && stamp != 0 && isWatched(lock)) {
            lockTaken(lock, shared != 0);
        }
    }

    public static void stampMissed(long stamp) {
        if (stamp == 0 || stamp == 1) {
            syncEnds(stamp == 0 ? 0 : -1);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void stampGone(Object lock, int shared) {
        if (locksWatched && isWatched(lock)) {
            lockGivenBack(lock, shared != 0);
        }
    }

    public static void stampGoneIf(boolean gone, Object lock, int shared) {
        if (gone) {
            stampGone(lock, shared);
        }
    }

    public static void stampConverted(long stamp, Object lock, int shared) {
        if (locksWatched && stamp != 0 && isWatched(lock)) {
            lockConverted(lock, shared != 0);
        }
    }

    public static void stampDropped(long stamp, Object lock) {
        if (locksWatched && stamp != 0 && isWatched(lock)) {
            lockDropped(lock);
        }
    }

    /** What a semaphore of so many carries until a thread asks for one. */
    public static long permits(int permits) {
        return 1L << 62 | permits & 0xffffffffL;
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void permitsTakenIf(int taken, Object sync, long carried, int units) {
        if (taken >= 0) {
            permitsTaken(sync, carried, units);
        }
    }

    public static void permitsDrained(int units, Object sync, long carried) {
        if (units > 0) {
            permitsTaken(sync, carried, units);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void queuePutIf(boolean put, Object queue, long carried) {
        if (put) {
            queuePut(queue, carried);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void queueTookIf(Object element, Object queue, long carried) {
        if (element != null) {
            queueTook(queue, carried);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void queueGave(Object element) {
        if (element == null) {
            queueGaveUp();
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void queueHasTaken(boolean taken) {
        if (!taken) {
            queueGaveUp();
        }
    }

    public static void poolAsksFor(Object pool, Object limit) {
        poolAsks(pool, limit instanceof java.time.Duration ? ((java.time.Duration) limit).toMillis() : 0);
    }

    private static native void monitorEntered(Object monitor, int site, int place);
    private static native void monitorLeaves(Object monitor, int place);
    private static native void monitorThrew(int place);
    private static native void lockTaken(Object sync, boolean shared);
    private static native void lockGivenBack(Object sync, boolean shared);
    private static native void lockConverted(Object sync, boolean shared);
    private static native void lockDropped(Object sync);
    public static native void syncParks(Object sync, int units, int shared);
    public static native void syncParksFor(long limit, Object sync, int units, int shared);
    public static native void syncEnds(int outcome);
    private static native void permitsTaken(Object sync, long carried, int units);
    public static native void permitsGiven(Object sync, long carried, int units);
    public static native void permitsReduced(Object sync, long carried, int units);
    public static native void queuePut(Object queue, long carried);
    public static native void queueTook(Object queue, long carried);
    public static native void queueWaits(Object queue, long carried, int forRoom);
    public static native void queueWaitsFor(long limit, Object queue, long carried, int forRoom);
    private static native void queueGaveUp();
    public static native void queueThrew();
    public static native void poolAsks(Object pool, long limit);
    public static native void gateAsks(Object gate);
    public static native void poolGives(Object connection);
    public static native void poolThrew();
    public static native void poolTakesBack(Object pool);

    // Fork and join.
    public static native long fork(Object task, long carried);
    public static native long forkDelayed(Object task, long carried);
    private static final long SCHEDULING = 1L << 60; // of what a task carries: it is none (identity.h)

    @jdk.internal.vm.annotation.ForceInline
    public static long forkTo(Object task, long carried, int pool) {
        return (carried & SCHEDULING) != 0 ? carried : taskForks(task, carried, pool);
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void forkedTo(long carried, int pool) {
        if ((carried & SCHEDULING) == 0) {
            taskForked(pool);
        }
    }

    @jdk.internal.vm.annotation.ForceInline
    public static long forkBegin(long carried, int status) {
        return (carried & SCHEDULING) != 0 ? carried : taskBegins(carried, status);
    }

    @jdk.internal.vm.annotation.ForceInline
    public static void forkEnd(long carried, int status) {
        if ((carried & SCHEDULING) == 0) {
            taskEnds(status);
        }
    }

    private static native long taskForks(Object task, long carried, int pool);
    private static native void taskForked(int pool);
    private static native long taskBegins(long carried, int status);
    private static native void taskEnds(int status);
    public static native void forkThrew();
    public static native void forkResult(long carried, int status);
    public static native void joinTask(Object task, long carried, int status);
    public static native void joinElement(Object task);
    public static native void joinedAll(Object[] tasks);

    // Scala's futures.
    public static native void scalaEnter(Object function);
    public static native void scalaLeave();
    public static native void scalaReserve();
    public static native long scalaPromise();
    public static native long scalaCallback(Object callback, Object executor, Object function);
    public static native void resultIf(int completed, long task);

    // Pools and their workers.
    public static native int pool(Object executor, int core, int maximum, Object queue, long keepAlive,
            Object handler);
    public static native void poolChanged(int pool, int core, int maximum, long keepAlive, Object handler,
            boolean coreTimesOut);
    public static native int forkJoinPool(Object executor, Object factory, int maximum, int async, long keepAlive);
    public static native void worker(int pool);
    public static native void idle(int pool);
    public static native void busy(Object task);
    public static native void awake(int result, int mask, int retires);
    public static native void leave();
    public static native void shutdown(int pool);

    // java.util.Timer.
    public static native void timerSpawn(Object task, Object queue, long time, long period);
    public static native void timerCancelled(Object task, int state);
    public static native void timerBegin(Object queue);
    public static native void timerRuns(Object task, long period);
    public static native void timerRan();
    public static native void timerEnd();
    public static native void timerShutdown(Object queue);

    // Names of pools (requests.c).
    public static native void poolCalled(Object pool, Object teller, int hook);

    // Requests (requests.c).
    public static native void requestOpens(Object key, Object connection, Object verb, Object only, int hook);
    public static native void requestCloses(int hook);
    public static native void requestThrew(int hook);
    public static native void requestAsync();
    public static native void requestEnds(Object key, Object answer, Object only, int hook);
    public static native void requestTakenUp(Object key, Object only, int hook);
    public static native void requestCode();
    public static native void requestThrown(Object exception, int hook);
    public static native void requestReads(Object connection, int hook);
    public static native void requestRead();
    public static native void requestNamed(Object verb, Object route, int hook);
    public static native void requestMapped(Object verb, Object pattern, Object base, int hook);

    // Executors that are none of the JDK's.
    public static native void executorSpawn(Object task, Object executor);
    public static native void spawnedIf(boolean accepted, Object task);
    public static native void executorWorker(Object executor);
    public static native void executorIdle(Object executor);

    public static native void executorLoopIdle(Object executor);

    public static native void executorLeaves();

    public static native void executorShutdown(Object executor);

    public static native void startSeen(Object task);

    public static native void executorStandsBy(Object executor);

    // Stages of pipelines.
    public static native void stagePut(Object element, Object stage);
    public static native void stageTakes(Object stage);
    public static native void stageTook(Object element, Object stage);

    // Threads.
    public static native void threadSpawn(Object thread);
    public static native void threadSpawnIn(Object thread, Object container);
    public static native void threadRefused();
    public static native void threadSpawned();
    public static native void hide();
    public static native void show();
    public static native void mainBegin();

    // Of a thread of the tracer's own that measures what such calls cost (calibration.c).
    private static native void nothing(int unused);
    private static native void turnBegins();
    private static native boolean turnEnds(boolean functions);

    private static void callNothing(int calls) {
        for (int i = 0; i < calls; i++) {
            nothing(i);
        }
    }

    private static void callFunction(int calls) {
        for (int i = 0; i < calls; i++) {
            enter(i);
            exit(i);
        }
    }

    private static boolean takeTurn(boolean functions, int loops, int calls) {
        turnBegins();
        for (int i = 0; i < loops; i++) {
            if (functions) {
                callFunction(calls);
            } else {
                callNothing(calls);
            }
        }
        return turnEnds(functions);
    }

    private static void calibrate(int loops, int calls) throws InterruptedException {
        boolean more = true;
        while (more) {
            Thread.sleep(1);
            more = takeTurn(false, loops, calls) && takeTurn(true, loops, calls);
        }
    }
}
