// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;

/** Hands N tasks to an executor of its own, and says how many ran: tests/jvm/executors tells the tracer of it. */
public final class OwnExecutor {
    private OwnExecutor() {
    }

    /** The executor. */
    private static final class Dispatcher {
        private final Deque<Runnable> queue = new ArrayDeque<>();
        private boolean over;

        /** One of the executor's threads. */
        private final class Worker extends Thread {
            Worker(int number) {
                super("own-" + number);
            }

            private void perform(long unused, Runnable job) {
                job.run();
            }

            @Override
            public void run() {
                for (Runnable job = next(); job != null; job = next()) perform(0, job);
            }
        }

        synchronized void hand(String what, Runnable job) {
            queue.add(job);
            notify();
        }

        synchronized Runnable next() {
            try {
                while (queue.isEmpty() && !over) wait();
            } catch (InterruptedException e) {
                return null;
            }
            return queue.poll();
        }

        synchronized void end() {
            over = true;
            notifyAll();
        }

        int threads() {
            return 2;
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        Dispatcher executor = new Dispatcher();
        for (int i = 1; i <= executor.threads(); i++) executor.new Worker(i).start();
        CountDownLatch left = new CountDownLatch(count);
        for (int i = 0; i < count; i++) executor.hand("job", left::countDown);
        left.await();
        executor.end();
        System.out.println("own: ran=" + count);
    }
}
