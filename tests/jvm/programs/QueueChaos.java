// SPDX-License-Identifier: GPL-3.0-or-later
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pools with a queue of few places, to which four threads hand tasks over faster than they are run, while the same
 * threads take some out again and run them, run what is rejected, and have workers come and go. Each run() of a Runnable
 * is one task's, that was handed over before.
 */
public final class QueueChaos {
    private static final int ROUNDS = 60;
    private static final int EACH = 200;
    private static final AtomicInteger ran = new AtomicInteger();
    private static volatile long sink;

    private QueueChaos() { }

    private static void body() {
        ran.incrementAndGet();
        long value = 1;
        for (int i = 0; i < 500; i++) {
            value = value * 31 + i;
        }
        sink = value;
    }

    private static void handOver(ThreadPoolExecutor pool, Runnable task) {
        try {
            pool.execute(task);
        } catch (RejectedExecutionException refused) {
            sink++;
        }
    }

    private static void handOverAll(ThreadPoolExecutor pool, int submitter, Runnable same) {
        for (int i = 0; i < EACH; i++) {
            final int number = i;
            Runnable task = submitter % 3 == 0 ? same : () -> {
                sink += number;
                body();
            };
            handOver(pool, task);
            if (submitter == 1 && i % 7 == 0 && pool.remove(task)) {
                task.run();
            }
            Runnable next = submitter == 2 && i % 11 == 0 ? pool.getQueue().poll() : null;
            if (next != null) {
                next.run();
            }
            if (submitter == 3 && i % 50 == 0) {
                pool.setCorePoolSize(1 + i / 50 % 3);
            }
        }
    }

    private static RejectedExecutionHandler handler(int round) {
        switch (round % 3) {
        case 0:
            return new ThreadPoolExecutor.CallerRunsPolicy();
        case 1:
            return new ThreadPoolExecutor.DiscardOldestPolicy();
        default:
            return new ThreadPoolExecutor.AbortPolicy();
        }
    }

    private static void play(int round) throws InterruptedException {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 4, 1, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(16),
            handler(round));
        Runnable same = QueueChaos::body;
        Thread[] submitters = new Thread[4];
        for (int i = 0; i < submitters.length; i++) {
            final int submitter = i;
            submitters[i] = new Thread(() -> handOverAll(pool, submitter, same));
            submitters[i].start();
        }
        for (Thread submitter : submitters) {
            submitter.join();
        }
        for (Runnable left : pool.shutdownNow()) {
            left.run();
        }
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** How many bodies ran, by chance, is written to the file. */
    public static void main(String[] args) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            play(round);
        }
        Files.write(Paths.get(args[0]), String.valueOf(ran.get()).getBytes("US-ASCII"));
    }
}
