// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Hands tasks over and waits through method references, lambdas and reflection, whose classes have no lines: each place
 * is that of the method of this class which the name says.
 */
public final class References {
    private interface Blocking {
        void await() throws Exception;
    }

    private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

    private References() { }

    private static int slow() {
        try {
            Thread.sleep(30);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 1;
    }

    private static void joinsInStream() {
        Arrays.asList(1, 2).stream().map(i -> CompletableFuture.supplyAsync(References::slow, POOL))
            .map(CompletableFuture::join).collect(Collectors.toList());
    }

    private static void sleepsByReference() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        POOL.submit(() -> {
            slow();
            latch.countDown();
        });
        Blocking blocking = latch::await;
        blocking.await();
    }

    private static void spawnsByReference() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Consumer<Runnable> execute = POOL::execute;
        execute.accept(done::countDown);
        done.await();
    }

    /** From the sixteenth call on JDK 8 to 17 make a class for it. */
    private static void joinsByReflection() throws Exception {
        Method join = CompletableFuture.class.getMethod("join");
        for (int i = 0; i < 20; i++) join.invoke(CompletableFuture.completedFuture(i));
        join.invoke(CompletableFuture.supplyAsync(References::slow, POOL));
    }

    /** Of the task that waits nothing but the reference is this class's. */
    private static void joinsAlone() throws Exception {
        CompletableFuture<Integer> slow = CompletableFuture.supplyAsync(References::slow, POOL);
        Future<?> joined = POOL.submit(slow::join);
        joined.get();
    }

    public static void main(String[] arguments) throws Exception {
        joinsInStream();
        sleepsByReference();
        spawnsByReference();
        joinsByReflection();
        joinsAlone();
        POOL.shutdown();
        if (!POOL.awaitTermination(1, TimeUnit.MINUTES)) System.out.println("still there");
        System.out.println("done");
    }
}
