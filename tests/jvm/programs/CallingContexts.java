// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.*;

/** Tasks that come by different ways to one site, and that are run in different ways. Says nothing; the trace tells. */
class CallingContexts {
    static volatile int counter;
    static ExecutorService pool = Executors.newFixedThreadPool(2);

    static void work() {
        for (int i = 0; i < 1000; i++) counter = i;
    }

    static Future<?> shared() {
        return pool.submit(() -> work());
    }

    static Future<?> left() {
        return shared();
    }

    static Future<?> right() {
        return shared();
    }

    /** Every third comes by the right. */
    static void twoRoutes() throws Exception {
        for (int i = 0; i < 3000; i++) (i % 3 == 0 ? right() : left()).get();
    }

    /** A task made in one place and handed over in another. */
    static FutureTask<Void> made() {
        return new FutureTask<>(() -> work(), null);
    }

    static void handedOver() throws Exception {
        for (int i = 0; i < 20; i++) {
            FutureTask<Void> task = made();
            pool.execute(task);
            task.get();
        }
    }

    static void callerRuns() throws Exception {
        ThreadPoolExecutor full = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
                new ThreadPoolExecutor.CallerRunsPolicy());
        CountDownLatch open = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            full.execute(() -> {
                try {
                    open.await();
                } catch (InterruptedException e) {
                }
            });
        }
        for (int i = 0; i < 5; i++) full.submit(() -> work());
        open.countDown();
        full.shutdown();
        full.awaitTermination(1, TimeUnit.MINUTES);
    }

    static class Half extends RecursiveAction {
        final int depth;

        Half(int depth) {
            this.depth = depth;
        }

        protected void compute() {
            work();
            if (depth == 0) return;
            Half other = new Half(depth - 1);
            other.fork();
            new Half(depth - 1).compute();
            other.join();
        }
    }

    static void helpingJoin() {
        ForkJoinPool one = new ForkJoinPool(1);
        one.invoke(new Half(6));
        one.shutdown();
    }

    /** What completes the stage hands over, out of the code of whoever added it. */
    static void stages() throws Exception {
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Void> first = new CompletableFuture<>();
            CompletableFuture<Void> all = first.thenRun(() -> fromStage());
            pool.submit(() -> first.complete(null)).get();
            all.get();
        }
    }

    static void fromStage() {
        pool.execute(() -> work());
    }

    static void deep(int depth) {
        if (depth > 0)
            deep(depth - 1);
        else
            pool.execute(() -> work());
    }

    public static void main(String[] args) throws Exception {
        twoRoutes();
        handedOver();
        callerRuns();
        helpingJoin();
        stages();
        deep(100);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
