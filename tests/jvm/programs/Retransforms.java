// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;

/** A program with an agent of its own, which has the JVM's classes transformed once more between tasks. */
public final class Retransforms {
    private static Instrumentation instrumentation;

    private Retransforms() {
    }

    public static void premain(String argument, Instrumentation given) {
        instrumentation = given;
        given.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain,
                    byte[] bytes) {
                return redefined == null ? null : bytes;
            }
        }, true);
    }

    private static int tasks(int count) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += pool.submit(() -> 1).get();
            sum += CompletableFuture.supplyAsync(() -> 1, pool).join();
            sum += ForkJoinPool.commonPool().submit(() -> 1).get();
        }
        pool.shutdown();
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("before: " + tasks(10));
        for (Class<?> each : new Class<?>[] {FutureTask.class, CompletableFuture.class, ForkJoinTask.class,
            ForkJoinPool.class, ThreadPoolExecutor.class, Thread.class}) {
            instrumentation.retransformClasses(each);
        }
        System.out.println("after: " + tasks(10));
    }
}
