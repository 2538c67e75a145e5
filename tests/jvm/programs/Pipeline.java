// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pipeline of two stages, N orders through it, and how many came out: tests/jvm/stages tells the tracer of it.
 * With `linked` behind that its queues are linked; with `waiting` three threads wait for something that comes forty times a
 * second.
 */
public final class Pipeline {
    private static final String END = "end"; // of both stages

    private Pipeline() {
    }

    /** A queue from which threads of its own take. */
    private static final class Stage {
        private final BlockingQueue<Object> queue;

        Stage(int places, boolean linked) {
            queue = linked ? new LinkedBlockingQueue<>(places) : new ArrayBlockingQueue<>(places);
        }

        void put(Object element) throws InterruptedException {
            queue.put(element);
        }

        /** By a callback. */
        void putNow(Object element) {
            try {
                put(element);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Sleeps for as long as nothing comes. */
        Object await() throws InterruptedException {
            return queue.take();
        }

        boolean offer(Object element) {
            return queue.offer(element);
        }

        /** Null where nothing comes in time. */
        Object take(int ms) throws InterruptedException {
            return queue.poll(ms, TimeUnit.MILLISECONDS);
        }
    }

    /** What is done to an element. */
    private interface Work {
        void on(Object element) throws InterruptedException;
    }

    private static void loop(Stage stage, Work work) {
        try {
            for (Object element = null; element != END; element = stage.take(5)) {
                if (element != null) work.on(element);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitAll(Stage stage) {
        try {
            while (stage.await() != END) Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread[] start(String name, int count, Stage stage, Work work) {
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> loop(stage, work), name + "-" + i);
            threads[i].start();
        }
        return threads;
    }

    private static void end(Stage stage, Thread[] threads) throws InterruptedException {
        for (int i = 0; i < threads.length; i++) stage.put(END);
        for (Thread thread : threads) thread.join();
    }

    public static void main(String[] args) throws Exception {
        boolean linked = args.length > 1 && args[1].equals("linked");
        boolean waits = args.length > 1 && args[1].equals("waiting");
        int orders = Integer.parseInt(args[0]);
        AtomicInteger stored = new AtomicInteger();
        Stage pricing = new Stage(orders + 4, linked);
        Stage storing = new Stage(orders + 4, linked);
        Stage full = new Stage(1, linked);
        Thread[] stores = start("storing", 1, storing, order -> {
            Thread.sleep(2);
            stored.incrementAndGet();
        });
        Thread[] prices = start("pricing", 2, pricing, order -> {
            Thread.sleep(1);
            CompletableFuture.completedFuture(order).thenAccept(storing::putNow);
        });
        Stage rare = new Stage(orders, linked);
        Thread[] waiting = new Thread[waits ? 3 : 0];
        for (int i = 0; i < waiting.length; i++) {
            waiting[i] = new Thread(() -> awaitAll(rare), "waiting-" + i);
            waiting[i].start();
        }
        for (int i = 0; i < orders; i++) {
            pricing.put("order " + i);
            if (waits && i % 25 == 0) rare.put("order " + i);
            Thread.sleep(1);
        }
        end(rare, waiting);
        for (int i = 0; i < 4; i++) full.offer("refused " + i); // all but the first
        end(pricing, prices);
        end(storing, stores);
        System.out.println("pipeline: stored=" + stored);
    }
}
