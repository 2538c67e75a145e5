// SPDX-License-Identifier: GPL-3.0-or-later
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Hands tasks over in every way, and checks their results, until so many seconds are over or a file of the given name is
 * there; then says that all was right. For a tracer that comes and goes meanwhile.
 */
public final class Busy {
    private static final AtomicLong ran = new AtomicLong();

    private Busy() {
    }

    private static final class Sum extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from <= 100) {
                long sum = 0;
                for (int i = from; i < to; i++) sum += i;
                return sum;
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle);
            left.fork();
            return new Sum(middle, to).compute() + left.join();
        }
    }

    /** A task by its type, which the tracer knows without having seen it made. */
    private static final class Count implements Runnable {
        @Override
        public void run() {
            ran.incrementAndGet();
        }
    }

    private static void check(boolean right, String what) {
        if (right) return;
        System.out.println("WRONG: " + what);
        System.exit(1);
    }

    static void round(ExecutorService pool, ForkJoinPool forks) throws Exception {
        long before = ran.get();
        Future<?> counted = pool.submit(new Count());
        Future<Integer> called = pool.submit(() -> 42);
        pool.execute(ran::incrementAndGet);
        CompletableFuture<Integer> chain =
                CompletableFuture.supplyAsync(() -> 20, pool).thenApply(x -> x + 1).thenApplyAsync(x -> 2 * x);
        check(forks.invoke(new Sum(0, 1000)) == 499500, "a fork's sum");
        Thread thread = new Thread(new Count(), "short");
        thread.start();
        check(called.get() == 42, "a call's result");
        check(chain.get() == 42, "a stage's result");
        counted.get();
        thread.join();
        check(ran.get() - before >= 2, "what ran");
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        ForkJoinPool forks = new ForkJoinPool(2);
        Thread.currentThread().setName("main");
        System.out.println("ready");
        while (System.nanoTime() < end && (args.length < 2 || !Files.exists(Paths.get(args[1])))) {
            round(pool, forks);
            Thread.sleep(1);
        }
        pool.shutdown();
        forks.shutdown();
        System.out.println("all right");
    }
}
