// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A library of actors of some thirty lines, and two actors that send each other one and the same object. Each counts in its
 * constructor, which makes a third that nobody sends anything. Says how many messages there were.
 */
public final class HomeActors {
    private static final ExecutorService POOL = Executors.newFixedThreadPool(2);

    private HomeActors() {
    }

    abstract static class Actor implements Runnable {
        private final ConcurrentLinkedQueue<Object> mailbox = new ConcurrentLinkedQueue<>();
        private final AtomicInteger queued = new AtomicInteger();

        final void send(Object message) {
            mailbox.add(message);
            if (queued.getAndIncrement() == 0) {
                POOL.execute(this);
            }
        }

        @Override
        public final void run() {
            do {
                deliver(mailbox.poll());
            } while (queued.decrementAndGet() > 0);
        }

        private void deliver(Object message) {
            receive(message);
        }

        abstract void receive(Object message);
    }

    static final class Echo extends Actor {
        private final CountDownLatch done;
        private final Idle idle;
        private Echo other;
        private int left;

        Echo(int left, CountDownLatch done) {
            this.left = left;
            this.done = done;
            idle = new Idle();
        }

        @Override
        void receive(Object message) {
            if (left == 0) {
                done.countDown();
                return;
            }
            left--;
            other.send(message);
        }
    }

    static final class Idle extends Actor {
        private int sum;

        Idle() {
            for (int i = 0; i < 1000; i++) {
                sum += i;
            }
        }

        @Override
        void receive(Object message) {
            throw new IllegalStateException();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int each = Integer.parseInt(arguments[0]);
        CountDownLatch done = new CountDownLatch(1);
        Echo first = new Echo(each, done);
        Echo second = new Echo(each, done);
        first.other = second;
        second.other = first;
        first.send("the same");
        done.await();
        POOL.shutdown();
        System.out.println("{\"program\": \"HomeActors\", \"delivered\": " + (2 * each + 1) + "}");
    }
}
