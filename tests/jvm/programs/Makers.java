// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** Runnables that are dropped, and such as a queue of the program's own hands over. Each is named after what befalls it. */
public final class Makers {
    private static final int QUEUED = 5000;
    private static final int ROUNDS = 20;
    private static final int DROPPED = 1000; // in a round
    private static final int REVIVED = 2000;

    private static long ran;

    private Makers() {
    }

    /** What becomes of it is the caller's affair. */
    private static final class Body implements Runnable {
        private final CountDownLatch done;

        Body(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void run() {
            done.countDown();
        }
    }

    private static Thread serve(BlockingQueue<Runnable> queue, int tasks) {
        Thread server = new Thread(() -> {
            for (int i = 0; i < tasks; i++) {
                try {
                    queue.take().run();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        server.start();
        return server;
    }

    /** All are made before the first runs. */
    private static void queued() throws InterruptedException {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        CountDownLatch done = new CountDownLatch(QUEUED);
        for (int i = 0; i < QUEUED; i++) {
            int number = i;
            queue.add(() -> ran += number);
            queue.add(new Body(done));
            if (i == QUEUED / 2) System.gc();
        }
        serve(queue, 2 * QUEUED).join();
    }

    private static Runnable dropOrRun(int number) {
        return () -> ran += number;
    }

    private static void dropped() throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < DROPPED; i++) ran += dropOrRun(i).hashCode() & 1;
            System.gc();
            Thread.sleep(20); // for the JVM to tell of what it has collected
        }
    }

    private static void revived() throws InterruptedException {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        Thread server = serve(queue, 2 * REVIVED);
        for (int i = 0; i < REVIVED; i++) {
            CountDownLatch done = new CountDownLatch(1);
            queue.add(dropOrRun(i));
            queue.add(done::countDown);
            done.await();
        }
        server.join();
    }

    public static void main(String[] args) throws InterruptedException {
        queued();
        dropped();
        revived();
        System.out.println("ran " + (ran > 0));
    }
}
