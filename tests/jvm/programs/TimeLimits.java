// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits with a time limit, each once with one that is never reached and once with one that is: in methods that are named
 * after the way, and after that it is or is not in time.
 */
public final class TimeLimits {
    private static final int LONG_MS = 60000, SHORT_MS = 40, SOON_MS = 60, LATE_MS = 400;

    private interface Wait {
        void await() throws Exception;
    }

    private TimeLimits() { }

    private static int take(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return ms;
    }

    private static void expectLate(Wait wait) throws Exception {
        try {
            wait.await();
            System.out.println("in time?");
        } catch (TimeoutException e) {
            // as it is to be
        }
    }

    private static void futureInTime(Future<Integer> future) throws Exception {
        future.get(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void futureLate(Future<Integer> future) throws Exception {
        future.get(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void completableInTime(Future<Integer> future) throws Exception {
        future.get(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void completableLate(Future<Integer> future) throws Exception {
        future.get(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void forkInTime(Future<Integer> future) throws Exception {
        future.get(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void forkLate(Future<Integer> future) throws Exception {
        future.get(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void joinInTime(Thread thread) throws Exception {
        thread.join(LONG_MS);
    }

    private static void joinLate(Thread thread) throws Exception {
        thread.join(SHORT_MS);
    }

    private static void terminationInTime(ExecutorService pool) throws Exception {
        pool.awaitTermination(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void terminationLate(ExecutorService pool) throws Exception {
        pool.awaitTermination(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void latchInTime(CountDownLatch latch) throws Exception {
        latch.await(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void latchLate(CountDownLatch latch) throws Exception {
        latch.await(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void conditionInTime(Condition condition) throws Exception {
        condition.await(LONG_MS, TimeUnit.MILLISECONDS);
    }

    private static void conditionLate(Condition condition) throws Exception {
        condition.await(SHORT_MS, TimeUnit.MILLISECONDS);
    }

    private static void parkInTime() {
        LockSupport.parkNanos(LONG_MS * 1000000L);
    }

    private static void parkLate() {
        LockSupport.parkNanos(SHORT_MS * 1000000L);
    }

    private static void untilLate() {
        LockSupport.parkUntil(System.currentTimeMillis() + SHORT_MS);
    }

    private static void notifyInTime(Object signal) throws Exception {
        signal.wait(LONG_MS);
    }

    private static void notifyLate(Object signal) throws Exception {
        signal.wait(SHORT_MS);
    }

    private static void foreverNever(Future<Integer> future) throws Exception {
        future.get();
    }

    private static Thread start(Runnable body) {
        Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    private static void futures(ExecutorService pool, ForkJoinPool forks) throws Exception {
        futureInTime(pool.submit(() -> take(SOON_MS)));
        Future<Integer> future = pool.submit(() -> take(LATE_MS));
        expectLate(() -> futureLate(future));
        completableInTime(CompletableFuture.supplyAsync(() -> take(SOON_MS), pool));
        Future<Integer> completable = CompletableFuture.supplyAsync(() -> take(LATE_MS), pool);
        expectLate(() -> completableLate(completable));
        forkInTime(forks.submit(() -> take(SOON_MS)));
        Future<Integer> fork = forks.submit(() -> take(LATE_MS));
        expectLate(() -> forkLate(fork));
        foreverNever(pool.submit(() -> take(SOON_MS)));
    }

    private static void ends() throws Exception {
        joinInTime(start(() -> take(SOON_MS)));
        joinLate(start(() -> take(LATE_MS)));
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.submit(() -> take(LATE_MS));
        pool.shutdown();
        terminationLate(pool);
        terminationInTime(pool);
    }

    private static void releases(ExecutorService pool) throws Exception {
        CountDownLatch soon = new CountDownLatch(1);
        pool.submit(() -> {
            take(SOON_MS);
            soon.countDown();
        });
        latchInTime(soon);
        latchLate(new CountDownLatch(1));
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        lock.lock();
        pool.submit(() -> {
            take(SOON_MS);
            lock.lock();
            condition.signal();
            lock.unlock();
        });
        conditionInTime(condition);
        conditionLate(condition);
        lock.unlock();
        Thread main = Thread.currentThread();
        pool.submit(() -> {
            take(SOON_MS);
            LockSupport.unpark(main);
        });
        parkInTime();
        parkLate();
        untilLate();
        Object signal = new Object();
        synchronized (signal) {
            pool.submit(() -> {
                take(SOON_MS);
                synchronized (signal) {
                    signal.notify();
                }
            });
            notifyInTime(signal);
            notifyLate(signal);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        ForkJoinPool forks = new ForkJoinPool(2);
        futures(pool, forks);
        ends();
        releases(pool);
        pool.shutdown();
        forks.shutdown();
        System.out.println("done");
    }
}
