// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What taking and giving back a resource costs where no thread waits: prints a line for each, its name and the median
 * over rounds of nanoseconds for both. `calm`: no thread has ever waited. `after`: one has, for another object of the
 * same kind, locked at the same place; `contended`: for the very object that is then used alone.
 */
public final class ResourceBench {
    private static final int ROUNDS = 41, WARM_UP = 20, TIMES = 20_000;

    interface Loop {
        void run(int times) throws Exception;
    }

    static final class Tally {
        private int sum;

        synchronized void add(int i) {
            sum += i;
        }
    }

    private static Tally tally = new Tally();
    private static ReentrantLock lock = new ReentrantLock();
    private static final Semaphore permits = new Semaphore(1);
    private static final ArrayBlockingQueue<Object> objects = new ArrayBlockingQueue<>(4);
    private static final LinkedBlockingQueue<Object> messages = new LinkedBlockingQueue<>();
    private static int sum;

    private ResourceBench() {
    }

    private static void synchronizedMethod(int times) {
        for (int i = 0; i < times; i++) {
            tally.add(i);
        }
    }

    private static void block(Object monitor, int i) {
        synchronized (monitor) {
            sum += i;
        }
    }

    private static void synchronizedBlock(int times) {
        for (int i = 0; i < times; i++) {
            block(tally, i);
        }
    }

    private static void locks(int times) {
        for (int i = 0; i < times; i++) {
            lock.lock();
            sum += i;
            lock.unlock();
        }
    }

    private static void semaphores(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            permits.acquire();
            sum += i;
            permits.release();
        }
    }

    private static void pools(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Object taken = objects.take();
            sum += i;
            objects.put(taken);
        }
    }

    private static void messages(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            messages.put(tally);
            messages.take();
        }
    }

    private static void measure(String name, Loop loop) throws Exception {
        double[] ns = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            loop.run(TIMES);
            if (round >= 0) {
                ns[round] = (System.nanoTime() - begin) / (double) TIMES;
            }
            Thread.sleep(10); // for what was recorded to be drained
        }
        Arrays.sort(ns);
        System.out.println(name + "\t" + ns[ROUNDS / 2]);
    }

    private static void measureLocks(String when) throws Exception {
        measure(when + " synchronized method", ResourceBench::synchronizedMethod);
        measure(when + " synchronized block", ResourceBench::synchronizedBlock);
        measure(when + " ReentrantLock", ResourceBench::locks);
    }

    private static void contend() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            held.countDown();
            lock.lock();
            lock.unlock();
            tally.add(1);
            block(tally, 1);
        });
        lock.lock();
        waiter.start();
        held.await();
        synchronized (tally) {
            Thread.sleep(50);
            lock.unlock();
            Thread.sleep(50);
        }
        waiter.join();
    }

    public static void main(String[] args) throws Exception {
        measureLocks("calm");
        Tally own = tally;
        ReentrantLock ownLock = lock;
        tally = new Tally();
        lock = new ReentrantLock();
        contend();
        Tally contended = tally;
        ReentrantLock contendedLock = lock;
        tally = own;
        lock = ownLock;
        measureLocks("after");
        tally = contended;
        lock = contendedLock;
        measureLocks("contended");
        measure("Semaphore", ResourceBench::semaphores);
        objects.put(tally);
        measure("ArrayBlockingQueue, of objects that go round", ResourceBench::pools);
        measure("LinkedBlockingQueue, put and take", ResourceBench::messages);
    }
}
