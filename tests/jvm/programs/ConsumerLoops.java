// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A pipeline of N elements whose threads are pools' workers, each of which runs a loop that takes: tests/jvm/stages. */
public final class ConsumerLoops {
    private static final Integer END = -1;

    private ConsumerLoops() {
    }

    private static void loop(BlockingQueue<Integer> from, int ms, BlockingQueue<Integer> to) {
        try {
            for (Integer element; !(element = from.take()).equals(END); ) {
                Thread.sleep(ms);
                if (to != null) to.put(element);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ExecutorService start(String name, int count, BlockingQueue<Integer> from, int ms,
            BlockingQueue<Integer> to) {
        ExecutorService pool = Executors.newFixedThreadPool(count, run -> new Thread(run, name));
        for (int i = 0; i < count; i++) pool.submit(() -> loop(from, ms, to));
        pool.shutdown();
        return pool;
    }

    private static void end(BlockingQueue<Integer> queue, int count, ExecutorService pool) throws InterruptedException {
        for (int i = 0; i < count; i++) queue.put(END);
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    public static void main(String[] args) throws Exception {
        int elements = Integer.parseInt(args[0]);
        BlockingQueue<Integer> pages = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> texts = new ArrayBlockingQueue<>(16);
        ExecutorService saving = start("saving", 1, texts, 3, null);
        ExecutorService reading = start("reading", 2, pages, 2, texts);
        for (int i = 0; i < elements; i++) pages.put(i);
        end(pages, 2, reading);
        end(texts, 1, saving);
    }
}
