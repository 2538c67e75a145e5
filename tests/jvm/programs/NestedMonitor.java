// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A monitor that a task has taken is taken by it again, elsewhere, and that place is left alone before it is given back
 * there; or watched again; or left by an exception. Between any two of these another task takes it.
 */
public final class NestedMonitor {
    private static final int LEFT_ALONE_MS = 120; // places are not watched again sooner than 100 ms
    private static final int HELD_MS = 300; // by the outer block alone
    private static final Object shared = new Object();
    private static final Object other = new Object();

    private interface Step {
        void run() throws Exception;
    }

    private NestedMonitor() {
    }

    private static void inner(Object monitor, Step step) throws Exception {
        synchronized (monitor) {
            step.run();
        }
    }

    private static void outer(Step step) throws Exception {
        synchronized (shared) {
            step.run();
        }
    }

    private static synchronized void failing() {
        throw new IllegalStateException();
    }

    /** No thread waits for it: the place is left alone. */
    private static void alone() throws Exception {
        Object own = new Object();
        for (int i = 0; i < 3000; i++) inner(own, () -> { });
    }

    /** So that one of them waits for the other: all places are watched. */
    private static void contend(ExecutorService pool, Object monitor) throws Exception {
        Thread.sleep(LEFT_ALONE_MS);
        CountDownLatch has = new CountDownLatch(1);
        Future<?> keeps = pool.submit(() -> {
            synchronized (monitor) {
                has.countDown();
                Thread.sleep(20);
            }
            return null;
        });
        Future<?> waits = pool.submit(() -> {
            has.await();
            synchronized (monitor) {
                return null;
            }
        });
        keeps.get();
        waits.get();
    }

    private static void takenByOther(ExecutorService pool) throws Exception {
        pool.submit(() -> {
            outer(() -> { });
            return null;
        }).get();
    }

    private static void elsewhere(ExecutorService pool, Step step) throws Exception {
        pool.submit(() -> {
            step.run();
            return null;
        }).get();
    }

    private static void all(ExecutorService pool) throws Exception {
        outer(() -> inner(shared, () -> elsewhere(pool, NestedMonitor::alone)));
        takenByOther(pool);
        outer(() -> {
            inner(shared, () -> contend(pool, other));
            Thread.sleep(HELD_MS);
        });
        takenByOther(pool);
        synchronized (NestedMonitor.class) {
            try {
                failing();
            } catch (IllegalStateException expected) {
                Thread.sleep(5);
            }
        }
        elsewhere(pool, () -> {
            synchronized (NestedMonitor.class) {
                Thread.sleep(1);
            }
        });
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        contend(pool, shared);
        contend(pool, NestedMonitor.class);
        pool.submit(() -> {
            all(pool);
            return null;
        }).get();
        pool.shutdown();
    }
}
