// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/** A lock that two tasks want at once, then one alone for long, so that it is left alone, and then both again. */
public final class CalmLock {
    private static final int ALONE = 30_000;
    private static final ReentrantLock lock = new ReentrantLock();

    private CalmLock() {
    }

    private static void take(int times) {
        for (int i = 0; i < times; i++) {
            lock.lock();
            lock.unlock();
        }
    }

    /** Keeps it until another thread waits for it. */
    private static void keep(CountDownLatch kept) throws InterruptedException {
        lock.lock();
        kept.countDown();
        while (!lock.hasQueuedThreads()) Thread.sleep(1);
        Thread.sleep(10);
        lock.unlock();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch first = new CountDownLatch(1), calm = new CountDownLatch(1), second = new CountDownLatch(1);
        Future<?> one = pool.submit(() -> {
            keep(first);
            calm.await();
            keep(second);
            return null;
        });
        Future<?> other = pool.submit(() -> {
            first.await();
            take(1 + ALONE);
            calm.countDown();
            second.await();
            take(2);
            return null;
        });
        one.get();
        other.get();
        pool.shutdown();
    }
}
