// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Every way to have a task run. The bodies of a way are lambdas of the method of its name, or classes named after it, so
 * that a trace can be checked against the way's line: tasks whose bodies ran, and of them how many threw or were
 * cancelled meanwhile; tasks that were cancelled before they began; tasks that were rejected for good.
 */
public final class WaysToRun {
    private static final int THREADS = 2;

    private final AtomicInteger ran = new AtomicInteger();

    private WaysToRun() { }

    private int body() {
        return ran.incrementAndGet();
    }

    private int fail() {
        ran.incrementAndGet();
        throw new IllegalStateException("as it should");
    }

    private void line(String way, int threw, int cancelled, int unbegun, int rejected) {
        System.out.println(way + ": ran=" + ran.get() + " threw=" + threw + " cancelled=" + cancelled + " unbegun="
            + unbegun + " rejected=" + rejected);
        ran.set(0);
    }

    private void line(String way) {
        line(way, 0, 0, 0, 0);
    }

    private static void close(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("tasks left after a minute");
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void execute() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        for (int i = 0; i < 5; i++) {
            pool.execute(() -> body());
        }
        close(pool);
        line("execute");
    }

    private void submit() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        Runnable run = () -> body();
        pool.submit(run).get();
        pool.submit(() -> body()).get(1, TimeUnit.MINUTES);
        pool.submit(() -> {
            body();
        }, "given").get();
        close(pool);
        line("submit");
    }

    private void invokeAll() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(() -> body());
        }
        pool.invokeAll(calls);
        pool.invokeAll(calls, 1, TimeUnit.MINUTES);
        close(pool);
        line("invokeAll");
    }

    private void invokeAny() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        pool.invokeAny(Arrays.<Callable<Integer>>asList(() -> body()));
        close(pool);
        line("invokeAny");
    }

    private void completionService() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        CompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        for (int i = 0; i < 3; i++) {
            service.submit(() -> body());
        }
        for (int i = 0; i < 3; i++) {
            service.take().get();
        }
        close(pool);
        line("completionService");
    }

    private void schedule() throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        Runnable run = () -> body();
        pool.schedule(run, 1, TimeUnit.MILLISECONDS).get();
        pool.schedule(() -> body(), 1, TimeUnit.MILLISECONDS).get();
        pool.execute(run);
        pool.submit(run).get();
        close(pool);
        line("schedule");
    }

    /** The third time ends the repetition. */
    private void countTo3(ExecutorService pool) {
        if (body() == 3) {
            pool.shutdown();
        }
    }

    private void fixedRate() throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        pool.scheduleAtFixedRate(() -> countTo3(pool), 0, 1, TimeUnit.MILLISECONDS);
        pool.awaitTermination(1, TimeUnit.MINUTES);
        line("fixedRate");
    }

    private void fixedDelay() throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        pool.scheduleWithFixedDelay(() -> countTo3(pool), 0, 1, TimeUnit.MILLISECONDS);
        pool.awaitTermination(1, TimeUnit.MINUTES);
        line("fixedDelay");
    }

    /** A repeated task that throws is not repeated again. */
    private void repeatedThrows() throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        AtomicInteger time = new AtomicInteger();
        try {
            pool.scheduleAtFixedRate(() -> {
                if (time.incrementAndGet() == 2) {
                    fail();
                }
                body();
            }, 0, 1, TimeUnit.MILLISECONDS).get();
        } catch (ExecutionException expected) {
            close(pool);
        }
        line("repeatedThrows", 1, 0, 0, 0);
    }

    // ForkJoinPool --------------------------------------------------------------------------------------------------

    private static final class forkJoin_Sum extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        private final int depth;

        forkJoin_Sum(int depth) {
            this.depth = depth;
        }

        @Override
        protected Integer compute() {
            if (depth == 0) {
                return 1;
            }
            forkJoin_Sum left = new forkJoin_Sum(depth - 1);
            forkJoin_Sum right = new forkJoin_Sum(depth - 1);
            left.fork();
            return right.compute() + left.join();
        }
    }

    /** Each task forks one half and computes the other itself: 2^3 tasks of 2^4 - 1 calls. */
    private void forkJoin() {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        ran.addAndGet(pool.invoke(new forkJoin_Sum(3)));
        pool.shutdown();
        line("forkJoin");
    }

    private static final class forkAll_Action extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private final int depth;
        private final transient WaysToRun ways;

        forkAll_Action(WaysToRun ways, int depth) {
            this.ways = ways;
            this.depth = depth;
        }

        @Override
        protected void compute() {
            if (depth > 0) {
                invokeAll(new forkAll_Action(ways, depth - 1), new forkAll_Action(ways, depth - 1));
            } else {
                ways.body();
            }
        }
    }

    /** invokeAll forks all but one: the task that was submitted and 2^3 - 1 forked ones. */
    private void forkAll() {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        pool.submit(new forkAll_Action(this, 3)).join();
        pool.shutdown();
        line("forkAll");
    }

    private void submitToForkJoin() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        Runnable run = () -> body();
        pool.execute(run);
        pool.submit(run).get();
        pool.submit(() -> body()).get();
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(() -> body());
        }
        pool.invokeAll(calls);
        close(pool);
        line("submitToForkJoin");
    }

    private void invokeAnyInForkJoin() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        Callable<Integer> call = () -> body();
        pool.invokeAny(Collections.singletonList(call));
        close(pool);
        line("invokeAnyInForkJoin");
    }

    /** The pool is asked to run what it has; run is what the JDK's adapter makes of a Runnable. */
    private void adapted() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        ForkJoinTask<?> run = ForkJoinTask.adapt(() -> {
            body();
        });
        pool.execute(run);
        run.get();
        Callable<Integer> call = () -> body();
        pool.invoke(ForkJoinTask.adapt(call));
        close(pool);
        line("adapted");
    }

    private static final class completers_Half extends CountedCompleter<Void> {
        private static final long serialVersionUID = 1;
        private final int depth;
        private final transient WaysToRun ways;

        completers_Half(CountedCompleter<?> parent, WaysToRun ways, int depth) {
            super(parent);
            this.ways = ways;
            this.depth = depth;
        }

        @Override
        public void compute() {
            ways.body();
            if (depth > 0) {
                setPendingCount(2);
                new completers_Half(this, ways, depth - 1).fork();
                new completers_Half(this, ways, depth - 1).fork();
            }
            tryComplete();
        }
    }

    private void completers() {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        pool.invoke(new completers_Half(null, this, 2));
        pool.shutdown();
        line("completers");
    }

    /** Done before anyone comes to run it. */
    private void cancelledForks() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        ForkJoinTask<?> first = pool.submit(() -> {
            body();
            running.countDown();
            awaitQuietly(release);
        });
        running.await();
        ForkJoinTask<Integer> cancelled = pool.submit(() -> body());
        cancelled.cancel(false);
        release.countDown();
        first.get();
        ForkJoinTask<Integer> failed = pool.submit(() -> fail());
        failed.quietlyJoin();
        close(pool);
        line("cancelledForks", 1, 0, 1, 0);
    }

    /** How many tasks there are is the JDK's own affair; more than none. */
    private void parallelStream() {
        int sum = IntStream.range(0, 1 << 12).parallel().map(i -> i & 1).sum();
        System.out.println("parallelStream: some=" + sum);
    }

    // CompletableFuture ---------------------------------------------------------------------------------------------

    private void async() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        CompletableFuture.supplyAsync(() -> body(), pool).get();
        CompletableFuture.runAsync(() -> body(), pool).join();
        CompletableFuture.supplyAsync(() -> body()).get(1, TimeUnit.MINUTES);
        CompletableFuture.runAsync(() -> body()).join();
        close(pool);
        line("async");
    }

    /** A task for each stage, on the executor, whether what it depends on is there or not. */
    private void asyncStages(String name, Executor pool, CompletableFuture<Integer> from, Runnable then) {
        CompletableFuture<Integer> other = CompletableFuture.completedFuture(1);
        List<CompletableFuture<?>> stages = new ArrayList<>();
        stages.add(from.thenApplyAsync(x -> body(), pool));
        stages.add(from.thenAcceptAsync(x -> body(), pool));
        stages.add(from.thenRunAsync(() -> body(), pool));
        stages.add(from.handleAsync((x, e) -> body(), pool));
        stages.add(from.whenCompleteAsync((x, e) -> body(), pool));
        stages.add(from.thenComposeAsync(x -> CompletableFuture.completedFuture(body()), pool));
        stages.add(from.thenCombineAsync(other, (x, y) -> body(), pool));
        stages.add(from.thenAcceptBothAsync(other, (x, y) -> body(), pool));
        stages.add(from.runAfterBothAsync(other, () -> body(), pool));
        stages.add(from.applyToEitherAsync(new CompletableFuture<Integer>(), x -> body(), pool));
        stages.add(from.acceptEitherAsync(new CompletableFuture<Integer>(), x -> body(), pool));
        stages.add(from.runAfterEitherAsync(new CompletableFuture<Integer>(), () -> body(), pool));
        then.run();
        CompletableFuture.allOf(stages.toArray(new CompletableFuture<?>[0])).join();
    }

    private void laterStages() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        CompletableFuture<Integer> from = new CompletableFuture<>();
        asyncStages("laterStages", pool, from, () -> from.complete(1));
        close(pool);
        System.out.println("asyncStages, later: " + ran.get());
    }

    private void readyStages() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        asyncStages("readyStages", pool, CompletableFuture.completedFuture(1), () -> { });
        close(pool);
        System.out.println("asyncStages, ready: " + ran.get());
    }

    private void forkJoinStages() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(THREADS);
        CompletableFuture<Integer> from = new CompletableFuture<>();
        asyncStages("forkJoinStages", pool, from, () -> from.complete(1));
        asyncStages("forkJoinStages", pool, from, () -> { });
        close(pool);
        System.out.println("asyncStages, by a ForkJoinPool: " + ran.get());
    }

    private void homeMadeStages() {
        Executor each = body -> new Thread(body).start();
        CompletableFuture<Integer> from = new CompletableFuture<>();
        asyncStages("homeMadeStages", each, from, () -> from.complete(1));
        asyncStages("homeMadeStages", each, from, () -> { });
        try (HandMade own = new HandMade()) {
            CompletableFuture<Integer> again = new CompletableFuture<>();
            asyncStages("homeMadeStages", own, again, () -> again.complete(1));
            asyncStages("homeMadeStages", own, again, () -> { });
        }
        line("asyncStages");
    }

    /** What has no executor runs inside whoever completes it: part of that task. */
    private void stages() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        CountDownLatch built = new CountDownLatch(1);
        AtomicInteger nested = new AtomicInteger();
        CompletableFuture.supplyAsync(() -> {
            awaitQuietly(built);
            return body();
        }, pool).thenApply(x -> {
            built.countDown();
            return nested.incrementAndGet();
        }).thenAccept(x -> nested.incrementAndGet());
        CompletableFuture<Void> last = CompletableFuture.supplyAsync(() -> {
            awaitQuietly(built);
            return body();
        }, pool).thenCompose(x -> CompletableFuture.completedFuture(nested.incrementAndGet()))
            .thenAccept(x -> nested.incrementAndGet());
        built.countDown();
        last.join();
        close(pool);
        line("stages");
    }

    private void asyncThrows() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CompletableFuture<Integer> failed = CompletableFuture.supplyAsync(() -> fail(), pool);
        CompletableFuture<Integer> after = failed.handleAsync((x, e) -> e == null ? 0 : body(), pool);
        after.join();
        try {
            failed.join();
        } catch (CompletionException expected) {
            close(pool);
        }
        line("asyncThrows", 1, 0, 0, 0);
    }

    // Timer, threads, executors of one's own ----------------------------------------------------------------------------

    private final class timer_Task extends TimerTask {
        private final CountDownLatch times;

        timer_Task(CountDownLatch times) {
            this.times = times;
        }

        @Override
        public void run() {
            body();
            times.countDown();
            if (times.getCount() == 0) {
                cancel();
            }
        }
    }

    /** What cancels itself cancels its next time, which had been handed over already. */
    private void timer() throws Exception {
        Timer timer = new Timer("timer", true);
        CountDownLatch once = new CountDownLatch(1);
        CountDownLatch thrice = new CountDownLatch(3);
        CountDownLatch twice = new CountDownLatch(2);
        timer.schedule(new timer_Task(once), 1);
        timer.schedule(new timer_Task(thrice), 1, 1);
        timer.scheduleAtFixedRate(new timer_Task(twice), 1, 1);
        once.await();
        thrice.await();
        twice.await();
        sleep(5);
        timer.cancel();
        line("timer", 0, 0, 2, 0);
    }

    private final class threads_Own extends Thread {
        @Override
        public void run() {
            body();
        }
    }

    private void threads() throws Exception {
        Runnable same = () -> body();
        Thread[] threads = {new Thread(same), new Thread(same), new threads_Own(), new Thread(new threads_Own())};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        line("threads");
    }

    /** A queue and threads of its own. */
    private static final class HandMade implements Executor, AutoCloseable {
        private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        private final List<Thread> threads = new ArrayList<>();

        HandMade() {
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(this::work, "hand-made-" + i);
                thread.start();
                threads.add(thread);
            }
        }

        private void work() {
            try {
                for (;;) {
                    Runnable next = queue.take();
                    try {
                        next.run();
                    } catch (IllegalStateException expected) {
                        Thread.yield();
                    }
                }
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void execute(Runnable task) {
            queue.add(task);
        }

        @Override
        public void close() {
            while (!queue.isEmpty()) {
                sleep(1);
            }
            sleep(5);
            for (Thread thread : threads) {
                thread.interrupt();
                awaitEnd(thread);
            }
        }

        private static void awaitEnd(Thread thread) {
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final class handMade_Task implements Runnable {
        private final boolean fails;

        handMade_Task(boolean fails) {
            this.fails = fails;
        }

        @Override
        public void run() {
            if (fails) {
                fail();
            }
            body();
        }
    }

    private void handMade() {
        try (HandMade own = new HandMade()) {
            for (int i = 0; i < 6; i++) {
                own.execute(new handMade_Task(i == 2));
            }
        }
        line("handMade", 1, 0, 0, 0);
    }

    private void handMadeLambdas() {
        try (HandMade own = new HandMade()) {
            for (int i = 0; i < 6; i++) {
                boolean fails = i == 2;
                own.execute(() -> {
                    if (fails) {
                        fail();
                    }
                    body();
                });
            }
        }
        line("handMadeLambdas", 1, 0, 0, 0);
    }

    private static final AtomicInteger RAN_ONE = new AtomicInteger();

    /** A lambda that captures nothing is one object, however often it is evaluated. */
    private void handMadeOne() {
        try (HandMade own = new HandMade()) {
            for (int i = 0; i < 20; i++) {
                Runnable same = () -> RAN_ONE.incrementAndGet();
                own.execute(same);
            }
        }
        ran.set(RAN_ONE.get());
        line("handMadeOne");
    }

    private final class handMadeReferences_Body {
        private void go() {
            ran.incrementAndGet();
        }
    }

    private void handMadeReferences() {
        handMadeReferences_Body body = new handMadeReferences_Body();
        try (HandMade own = new HandMade()) {
            for (int i = 0; i < 6; i++) {
                own.execute(body::go);
            }
        }
        line("handMadeReferences");
    }

    /** A thread that calls what is in its queue until two have failed. */
    private static final class Caller {
        private final BlockingQueue<Callable<Integer>> queue = new LinkedBlockingQueue<>();

        private void callNext() throws Exception {
            queue.take().call();
        }

        /** Not private: javac 8 to 11 would make a lambda of the reference to it, which is a task of this way by name. */
        void work() {
            for (int failed = 0; failed < 2; failed++) {
                try {
                    for (;;) {
                        callNext();
                    }
                } catch (Exception expected) {
                    Thread.yield();
                }
            }
        }
    }

    private void handMadeCallables() throws InterruptedException {
        Caller caller = new Caller();
        Thread worker = new Thread(caller::work);
        worker.start();
        for (int i = 1; i <= 6; i++) {
            int number = i;
            caller.queue.add(() -> number % 3 == 0 ? fail() : body());
        }
        worker.join();
        line("handMadeCallables", 2, 0, 0, 0);
    }

    // One task, one id ----------------------------------------------------------------------------------------------

    private static class A implements Runnable {
        @Override
        public void run() {
            Thread.yield();
        }
    }

    private static class B implements Runnable {
        @Override
        public void run() {
            Thread.yield();
        }
    }

    /** The thesis's Figure 3.3: super.run is part of the task, and two other tasks run within it. */
    private static final class nested_C extends B {
        private final WaysToRun ways;

        nested_C(WaysToRun ways) {
            this.ways = ways;
        }

        @Override
        public void run() {
            super.run();
            ways.body();
            new A().run();
            new B().run();
        }
    }

    private void nested() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.execute(new nested_C(this));
        pool.submit(new nested_C(this)).get();
        Thread thread = new Thread(new nested_C(this));
        thread.start();
        thread.join();
        close(pool);
        try (HandMade own = new HandMade()) {
            own.execute(new nested_C(this));
        }
        line("nested");
    }

    /** run calls itself and call; all of it is one task. */
    private final class recursive_Both implements Runnable, Callable<Integer> {
        private int left = 3;

        @Override
        public void run() {
            if (left-- > 0) {
                run();
                call();
            }
        }

        @Override
        public Integer call() {
            if (left-- > 0) {
                run();
            }
            return left;
        }
    }

    private void recursive() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.execute(new recursive_Both());
        pool.submit((Callable<Integer>) new recursive_Both()).get();
        Thread thread = new Thread(new recursive_Both());
        thread.start();
        thread.join();
        close(pool);
        try (HandMade own = new HandMade()) {
            own.execute(new recursive_Both());
        }
        ran.set(4);
        line("recursive");
    }

    /** One object, five tasks, two of them through the same FutureTask's payload. */
    private void twice() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Runnable same = () -> body();
        pool.execute(same);
        pool.execute(same);
        pool.execute(same);
        pool.submit(same).get();
        pool.submit(same).get();
        close(pool);
        line("twice");
    }

    // Outcomes ------------------------------------------------------------------------------------------------------

    private void failed() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        try {
            pool.submit(() -> fail()).get();
        } catch (ExecutionException expected) {
            body();
            ran.decrementAndGet();
        }
        pool.execute(() -> {
            Thread.currentThread().setUncaughtExceptionHandler((thread, expected) -> { });
            fail();
        });
        close(pool);
        line("failed", 2, 0, 0, 0);
    }

    private static final class DoneThrows extends FutureTask<Integer> {
        DoneThrows(Callable<Integer> body) {
            super(body);
        }

        @Override
        protected void done() {
            throw new IllegalStateException("as it should");
        }
    }

    /** It ends its worker, and another one takes the next task. */
    private void doneThrows() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.execute(new DoneThrows(() -> {
            Thread.currentThread().setUncaughtExceptionHandler((thread, expected) -> { });
            return body();
        }));
        pool.submit(() -> body()).get();
        close(pool);
        line("doneThrows", 1, 0, 0, 0);
    }

    private void cancelled() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        CountDownLatch running = new CountDownLatch(1);
        Future<?> meanwhile = pool.submit(() -> {
            body();
            running.countDown();
            sleep(60000);
        });
        Future<?> before = pool.submit(() -> body());
        running.await();
        before.cancel(true);
        meanwhile.cancel(true);
        try {
            before.get();
        } catch (CancellationException expected) {
            close(pool);
        }
        line("cancelled", 0, 1, 1, 0);
    }

    /** One object, which two pools have several times at once. */
    private void again() throws Exception {
        ExecutorService linked = Executors.newFixedThreadPool(THREADS);
        ExecutorService direct = Executors.newCachedThreadPool();
        Runnable run = () -> body();
        for (int i = 0; i < 20; i++) {
            linked.execute(run);
            direct.execute(run);
        }
        close(linked);
        close(direct);
        line("again");
    }

    /** What is in a pool's queue is taken from there by each way, and run by somebody else. */
    private void takenOut() throws Exception {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(1);
        CountDownLatch filled = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<Runnable> polled = new ArrayBlockingQueue<>(1);
        pool.execute(() -> body()); // the thread's first, so that the next one comes out of the queue
        pool.execute(() -> {
            body();
            awaitQuietly(filled);
            polled.add(pool.getQueue().poll());
            awaitQuietly(release);
        });
        Runnable removed = () -> body();
        for (int i = 0; i < 5; i++) {
            pool.execute(() -> body());
        }
        pool.execute(removed);
        pool.execute(() -> body());
        filled.countDown();
        polled.take().run();
        pool.remove(removed);
        removed.run();
        pool.getQueue().poll().run();
        Iterator<Runnable> iterator = pool.getQueue().iterator();
        Runnable next = iterator.next();
        iterator.remove();
        next.run();
        for (Runnable left : pool.shutdownNow()) {
            left.run();
        }
        release.countDown();
        close(pool);
        line("takenOut");
    }

    /** To make a thread for a task takes another pool's tasks. */
    private void madeForIt() throws Exception {
        ExecutorService other = Executors.newFixedThreadPool(THREADS);
        ExecutorService pool = Executors.newFixedThreadPool(THREADS, work -> {
            for (int i = 0; i < 3; i++) {
                other.execute(() -> body());
            }
            return new Thread(work);
        });
        for (int i = 0; i < 5; i++) {
            pool.execute(() -> body());
        }
        close(pool);
        close(other);
        line("madeForIt");
    }

    /** What another thread made is handed over, as the task that it has been since. */
    private void madeElsewhere() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Runnable> made = new ArrayList<>();
        Thread maker = new Thread(() -> {
            for (int i = 0; i < 5; i++) {
                made.add(() -> body());
            }
        });
        body(); // the thread is a task of this way, too
        maker.start();
        maker.join();
        for (Runnable each : made) {
            pool.execute(each);
        }
        close(pool);
        line("madeElsewhere");
    }

    /** The first task holds the only thread, the second the only place in the queue; what of the third? */
    private ThreadPoolExecutor full(BlockingQueue<Runnable> queue, RejectedExecutionHandler handler, Runnable first,
            Runnable second) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, queue, handler);
        pool.execute(first);
        pool.execute(second);
        return pool;
    }

    /** Gives how many are rejected for good. */
    private int rejected(Supplier<BlockingQueue<Runnable>> queue) throws Exception {
        int rejected = 2; // by those that discard
        CountDownLatch release = new CountDownLatch(1);
        Runnable first = () -> awaitQuietly(release);
        Runnable second = () -> body();
        ThreadPoolExecutor aborts = full(queue.get(), new ThreadPoolExecutor.AbortPolicy(), first, second);
        try {
            aborts.execute(() -> body());
        } catch (RejectedExecutionException expected) {
            ran.addAndGet(4);
            rejected++;
        }
        ThreadPoolExecutor discards = full(queue.get(), new ThreadPoolExecutor.DiscardPolicy(), first, second);
        discards.execute(() -> body());
        ThreadPoolExecutor discardsOldest = full(queue.get(), new ThreadPoolExecutor.DiscardOldestPolicy(), first, second);
        discardsOldest.execute(() -> body());
        ThreadPoolExecutor callerRuns = full(queue.get(), new ThreadPoolExecutor.CallerRunsPolicy(), first, second);
        callerRuns.execute(() -> body());
        release.countDown();
        close(aborts);
        close(discards);
        close(discardsOldest);
        close(callerRuns);
        try {
            aborts.execute(() -> body());
        } catch (RejectedExecutionException expected) {
            rejected++;
        }
        return rejected;
    }

    private void rejected() throws Exception {
        int rejected = rejected(() -> new ArrayBlockingQueue<>(1)) + rejected(() -> new LinkedBlockingQueue<>(1));
        line("rejected", 0, 0, 0, rejected);
    }

    public static void main(String[] args) throws Exception {
        WaysToRun ways = new WaysToRun();
        ways.execute();
        ways.submit();
        ways.invokeAll();
        ways.invokeAny();
        ways.completionService();
        ways.schedule();
        ways.fixedRate();
        ways.fixedDelay();
        ways.repeatedThrows();
        ways.forkJoin();
        ways.forkAll();
        ways.submitToForkJoin();
        ways.invokeAnyInForkJoin();
        ways.adapted();
        ways.completers();
        ways.cancelledForks();
        ways.parallelStream();
        ways.async();
        ways.laterStages();
        ways.readyStages();
        ways.forkJoinStages();
        ways.homeMadeStages();
        ways.stages();
        ways.asyncThrows();
        ways.timer();
        ways.threads();
        ways.handMade();
        ways.handMadeLambdas();
        ways.handMadeOne();
        ways.handMadeReferences();
        ways.handMadeCallables();
        ways.nested();
        ways.recursive();
        ways.twice();
        ways.failed();
        ways.doneThrows();
        ways.cancelled();
        ways.again();
        ways.takenOut();
        ways.madeForIt();
        ways.madeElsewhere();
        ways.rejected();
    }
}
