// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Each way to start a virtual thread, and what threads do that wait for it. Threads are named after the way, so that the
 * trace can be held against what this prints: "way: tasks=N".
 */
public final class VirtualThreads {
    private static final int EACH = 20;

    private VirtualThreads() {
    }

    private static void work() {
        long until = System.nanoTime() + 50_000;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
        Thread.yield();
    }

    private static void sleepy() {
        try {
            work();
            Thread.sleep(2);
            work();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void builders() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            threads.add(Thread.ofVirtual().name("builder-", i).start(VirtualThreads::sleepy));
        }
        joinAll(threads);
        System.out.println("builder: tasks=" + EACH);
        threads.clear();
        for (int i = 0; i < EACH; i++) {
            threads.add(Thread.ofVirtual().name("unstarted-", i).unstarted(VirtualThreads::work));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        joinAll(threads);
        System.out.println("unstarted: tasks=" + EACH);
    }

    private static void factory() throws InterruptedException {
        ThreadFactory factory = Thread.ofVirtual().name("factory-", 0).factory();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            Thread thread = factory.newThread(VirtualThreads::sleepy);
            thread.start();
            threads.add(thread);
        }
        joinAll(threads);
        System.out.println("factory: tasks=" + EACH);
    }

    private static void unnamed() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            threads.add(Thread.startVirtualThread(VirtualThreads::work));
        }
        joinAll(threads);
        System.out.println(": tasks=" + EACH);
    }

    /** Each request awaits a task of its own, on a virtual thread, too. */
    private static void executor() throws Exception {
        ThreadFactory outer = Thread.ofVirtual().name("request-", 0).factory();
        ThreadFactory inner = Thread.ofVirtual().name("query-", 0).factory();
        try (ExecutorService requests = Executors.newThreadPerTaskExecutor(outer);
                ExecutorService queries = Executors.newThreadPerTaskExecutor(inner)) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < EACH; i++) {
                int number = i;
                Callable<Integer> query = () -> {
                    sleepy();
                    return number;
                };
                results.add(requests.submit(() -> queries.submit(query).get() + 1));
            }
            int sum = 0;
            for (Future<Integer> result : results) {
                sum += result.get();
            }
            System.out.println("sum=" + sum);
        }
        System.out.println("request: tasks=" + EACH);
        System.out.println("query: tasks=" + EACH);
    }

    /** Nobody awaits a task: whoever closes the executor awaits them all. */
    private static void closing() {
        ThreadFactory factory = Thread.ofVirtual().name("closing-", 0).factory();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(factory)) {
            for (int i = 0; i < EACH; i++) {
                executor.execute(VirtualThreads::sleepy);
            }
        }
        System.out.println("closing: tasks=" + EACH);
    }

    /** Threads that contend for a lock and for a monitor, which keeps them on their carriers up to JDK 23. */
    private static void locks() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Object monitor = new Object();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            threads.add(Thread.ofVirtual().name("locks-", i).start(() -> {
                lock.lock();
                try {
                    sleepy();
                } finally {
                    lock.unlock();
                }
                synchronized (monitor) {
                    sleepy();
                }
            }));
        }
        joinAll(threads);
        System.out.println("locks: tasks=" + EACH);
    }

    private static void throwing() throws InterruptedException {
        Thread thread = Thread.ofVirtual().name("throwing-0").uncaughtExceptionHandler((t, e) -> {
        }).start(() -> {
            throw new IllegalStateException();
        });
        thread.join();
        System.out.println("throwing: tasks=1");
    }

    public static void main(String[] args) throws Exception {
        builders();
        factory();
        unnamed();
        executor();
        closing();
        locks();
        throwing();
    }
}
