// SPDX-License-Identifier: GPL-3.0-or-later
// Goes on for some time, in ways that don't depend on how fast it is: tasks of a pool that wait for others, one task
// and one function that last from beginning to end, threads of its own that come and go, a lock that is held long, and
// calls of functions, enough of them to fill files. Prints how many of each there were.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class GoesOn {
    static final int ROUNDS = 40, CALLS = 4000;
    static volatile long sum;

    static final class Lock {
    }

    static int tick(int number) {
        return number + 1;
    }

    static void calls() {
        int number = 0;
        for (int i = 0; i < CALLS; i++) number = tick(number);
        sum = number;
    }

    static Integer leaf(int number) throws InterruptedException {
        Thread.sleep(2);
        return tick(number);
    }

    static Integer node(ExecutorService leaves, int number) throws Exception {
        Future<Integer> left = leaves.submit(() -> leaf(number)), right = leaves.submit(() -> leaf(-number));
        calls();
        return left.get() + right.get();
    }

    static void round(ExecutorService nodes, ExecutorService leaves) throws Exception {
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            results.add(nodes.submit(() -> node(leaves, number)));
        }
        Thread own = new Thread(GoesOn::calls, "own");
        own.start();
        for (Future<Integer> result : results) result.get();
        own.join();
    }

    static void longest(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void holdTheLock(Lock lock, CountDownLatch end) {
        synchronized (lock) {
            longest(end);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService nodes = Executors.newFixedThreadPool(4), leaves = Executors.newFixedThreadPool(2);
        ExecutorService others = Executors.newFixedThreadPool(3);
        CountDownLatch end = new CountDownLatch(1);
        Lock lock = new Lock();
        others.submit(() -> holdTheLock(lock, end));
        Thread.sleep(20);
        others.submit(() -> holdTheLock(lock, end)); // blocked until the first lets go
        others.submit(() -> longest(end));
        for (int i = 0; i < ROUNDS; i++) round(nodes, leaves);
        end.countDown();
        nodes.shutdown();
        leaves.shutdown();
        others.shutdown();
        int calls = ROUNDS * (4 * CALLS + CALLS + 4 * 2);
        System.out.println("tasks=" + (3 + ROUNDS * 12) + " threads=" + (ROUNDS + 9 + 1) + " calls=" + calls);
    }
}
