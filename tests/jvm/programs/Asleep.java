// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.File;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that sleep, each for something of its own and named after it, when the tracer comes, until a file is there.
 * Then each computes for a while in one piece, and ends.
 */
public final class Asleep {
    private static final int COMPUTES_MS = 400;
    private static File gate;
    private final Semaphore permits = new Semaphore(0);

    private interface Sleep {
        void sleep() throws Exception;
    }

    private Asleep() { }

    private static void awaitGate() {
        try {
            while (!gate.exists()) Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int passGate() {
        awaitGate();
        return 1;
    }

    private static int runLater() {
        return 2;
    }

    private static void runAlone() { }

    private static Thread begin(String name, Sleep sleep) {
        Thread thread = new Thread(() -> {
            try {
                sleep.sleep();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            long until = System.nanoTime() + COMPUTES_MS * 1_000_000L;
            while (System.nanoTime() < until) Thread.yield();
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        gate = new File(arguments[0]);
        Asleep asleep = new Asleep();
        ExecutorService pool = Executors.newFixedThreadPool(1), other = Executors.newFixedThreadPool(2);
        ForkJoinPool forks = new ForkJoinPool(1);
        CountDownLatch latch = new CountDownLatch(1), held = new CountDownLatch(1);
        ReentrantLock lock = new ReentrantLock(), free = new ReentrantLock();
        Condition condition = free.newCondition();
        Object monitor = new Object(), signal = new Object();
        Future<Integer> running = pool.submit(Asleep::passGate), queued = pool.submit(Asleep::runLater);
        pool.execute(Asleep::runAlone);
        CompletableFuture<Integer> supplied = CompletableFuture.supplyAsync(Asleep::passGate, other);
        Future<Integer> forked = forks.submit(Asleep::passGate);
        Future<Integer> stands = forks.submit(Asleep::runLater);
        Thread opener = begin("opener", () -> {
            synchronized (monitor) {
                lock.lock();
                held.countDown();
                awaitGate();
                lock.unlock();
            }
            latch.countDown();
            asleep.permits.release();
            synchronized (signal) {
                signal.notifyAll();
            }
            free.lock();
            condition.signalAll();
            free.unlock();
        });
        held.await();
        other.submit(Asleep::passGate);
        other.shutdown();
        Thread[] sleepers = {
            begin("future", () -> running.get()),
            begin("queued", () -> queued.get()),
            begin("completable", () -> supplied.join()),
            begin("fork", () -> forked.get()),
            begin("stands", () -> stands.get()),
            begin("join", () -> opener.join()),
            begin("termination", () -> other.awaitTermination(1, TimeUnit.MINUTES)),
            begin("latch", () -> latch.await()),
            begin("permits", () -> asleep.permits.acquire()),
            begin("lock", () -> {
                lock.lock();
                lock.unlock();
            }),
            begin("condition", () -> {
                free.lock();
                condition.await();
                free.unlock();
            }),
            begin("monitor", () -> {
                synchronized (monitor) {
                    awaitGate();
                }
            }),
            begin("notify", () -> {
                synchronized (signal) {
                    signal.wait();
                }
            }),
        };
        Thread.sleep(500);
        System.out.println("ready");
        for (Thread sleeper : sleepers) sleeper.join();
        pool.shutdown();
        forks.shutdown();
        System.out.println("all right");
    }
}
