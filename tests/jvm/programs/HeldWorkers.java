// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pools for a tracer that comes when it says that it is ready: of two, one thread has been in a task all the while, and
 * stays in it, and another takes a task every few ms, for so many ms; the others' thread has nothing to do.
 */
public final class HeldWorkers {
    private static final CountDownLatch HELD = new CountDownLatch(2), END = new CountDownLatch(1);

    private HeldWorkers() {
    }

    /** Hands tasks over to its threads. */
    private static final class Own {
        private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();

        private final class Worker implements Runnable {
            private void perform(Runnable job) {
                job.run();
            }

            @Override
            public void run() {
                for (Runnable job = next(); job != null; job = next()) {
                    for (; job != null; job = queue.poll()) perform(job);
                }
            }
        }

        void start(String name) {
            Thread thread = new Thread(new Worker(), name);
            thread.setDaemon(true);
            thread.start();
        }

        void hand(Runnable job) {
            queue.add(job);
        }

        Runnable next() {
            try {
                return queue.take();
            } catch (InterruptedException e) {
                return null;
            }
        }
    }

    /** What its threads are made to run is no worker of the pool's, but calls one. */
    private static final class Wrapping implements ThreadFactory {
        private final AtomicInteger count = new AtomicInteger();
        private final String name;

        Wrapping(String name) {
            this.name = name;
        }

        @Override
        public Thread newThread(Runnable worker) {
            Runnable wrapped = () -> worker.run();
            Thread thread = new Thread(wrapped, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        }
    }

    private static void hold() {
        Thread.currentThread().setName(Thread.currentThread().getName() + " {holds}");
        HELD.countDown();
        try {
            END.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void work() {
        try {
            Thread.sleep(3);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ThreadPoolExecutor pool(String name, int threads) {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, queue, new Wrapping(name));
    }

    public static void main(String[] args) throws Exception {
        Own own = new Own(), quietOwn = new Own();
        ThreadPoolExecutor wrapped = pool("wrapped", 2), quiet = pool("quiet", 1);
        own.hand(HeldWorkers::hold);
        own.start("own-1");
        wrapped.execute(HeldWorkers::hold);
        HELD.await();
        own.start("own-2");
        quietOwn.start("alone-1");
        wrapped.prestartCoreThread();
        quiet.prestartCoreThread();
        Thread.sleep(200);
        System.out.println("ready");
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
        while (System.nanoTime() < end) {
            own.hand(HeldWorkers::work);
            wrapped.execute(HeldWorkers::work);
            Thread.sleep(5);
        }
        END.countDown();
        System.out.println("all right");
    }
}
