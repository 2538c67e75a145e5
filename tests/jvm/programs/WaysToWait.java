// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Every way to wait. In each way a thread sleeps until another, which awaits that it does, releases it: a task of a
 * pool, or of a thread of its own. Who waits does so in a method named await and the way, so that a trace can be checked
 * against the way's line: how many waits it has, how many of them for a task (its result, or a release in it), how many
 * for a pool's end, and how many for what isn't known.
 */
public final class WaysToWait {
    /** A wait of these lasts that long; a park that returns at once, since a permit was left, does not. */
    private static final int ASLEEP_MS = 20;
    private static final int PATIENCE_MS = 30000;

    private final ExecutorService pool = Executors.newFixedThreadPool(4);

    private WaysToWait() { }

    private static void line(String way, int task, int end, int unknown) {
        System.out.println(way + ": task=" + task + " pool=" + end + " unknown=" + unknown);
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean sleeps(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** Until each of them sleeps, and has for a while, however slow the machine is. */
    private static void untilAsleep(Thread... waiters) {
        int slept = 0;
        for (int waited = 0; slept < ASLEEP_MS && waited < PATIENCE_MS; waited++) {
            sleep(1);
            slept = Arrays.stream(waiters).allMatch(WaysToWait::sleeps) ? slept + 1 : 0;
        }
    }

    /** Does it in a task, when those who wait for it are asleep. */
    private Future<?> later(Action action, Thread... waiters) {
        return pool.submit(() -> {
            untilAsleep(waiters);
            action.run();
            return null;
        });
    }

    private Future<?> later(Action action) {
        return later(action, Thread.currentThread());
    }

    // For results -----------------------------------------------------------------------------------------------------

    private void awaitGet() throws Exception {
        later(() -> { }).get();
        later(() -> { }).get(1, TimeUnit.MINUTES);
        line("Get", 2, 0, 0);
    }

    private void awaitInvokeAll() throws Exception {
        Thread waiter = Thread.currentThread();
        CountDownLatch first = new CountDownLatch(1);
        List<Callable<Object>> calls = new ArrayList<>();
        calls.add(() -> {
            untilAsleep(waiter);
            first.countDown();
            return null;
        });
        calls.add(() -> {
            first.await();
            sleep(3 * ASLEEP_MS); // until the first has ended
            untilAsleep(waiter);
            return null;
        });
        pool.invokeAll(calls);
        line("InvokeAll", 2, 0, 0);
    }

    /** By the queue of a completion service. */
    private void awaitInvokeAny() throws Exception {
        Thread waiter = Thread.currentThread();
        List<Callable<Object>> calls = new ArrayList<>();
        calls.add(() -> {
            untilAsleep(waiter);
            return null;
        });
        pool.invokeAny(calls);
        line("InvokeAny", 1, 0, 0);
    }

    private void awaitJoin() throws Exception {
        Thread waiter = Thread.currentThread();
        CompletableFuture.runAsync(() -> untilAsleep(waiter), pool).join();
        CompletableFuture.runAsync(() -> untilAsleep(waiter), pool).get();
        CompletableFuture.runAsync(() -> untilAsleep(waiter), pool).get(1, TimeUnit.MINUTES);
        line("Join", 3, 0, 0);
    }

    private void awaitAllOf() {
        Thread waiter = Thread.currentThread();
        CompletableFuture<?> first = CompletableFuture.runAsync(() -> untilAsleep(waiter), pool);
        CompletableFuture<?> second = CompletableFuture.runAsync(() -> {
            first.join();
            untilAsleep(waiter);
        }, pool);
        CompletableFuture.anyOf(first, second).join();
        CompletableFuture.allOf(first, second).join();
        line("AllOf", 2, 0, 0);
    }

    /** A future that a task completes by hand. */
    private void awaitCompleted() {
        CompletableFuture<Integer> future = new CompletableFuture<>();
        later(() -> future.complete(1));
        future.join();
        line("Completed", 1, 0, 0);
    }

    private void awaitForkJoin() throws Exception {
        Thread waiter = Thread.currentThread();
        ForkJoinPool forks = new ForkJoinPool(2);
        forks.submit(() -> untilAsleep(waiter)).join();
        forks.submit(() -> untilAsleep(waiter)).get();
        forks.invoke(ForkJoinTask.adapt(() -> untilAsleep(waiter)));
        forks.shutdown();
        line("ForkJoin", 3, 0, 0);
    }

    private void awaitThread() throws Exception {
        Thread waiter = Thread.currentThread();
        Thread thread = new Thread(() -> untilAsleep(waiter));
        Thread timed = new Thread(() -> untilAsleep(waiter));
        thread.start();
        thread.join();
        timed.start();
        timed.join(60000);
        line("Thread", 2, 0, 0);
    }

    private void awaitTermination() throws Exception {
        Thread waiter = Thread.currentThread();
        ExecutorService own = Executors.newFixedThreadPool(1);
        ForkJoinPool forks = new ForkJoinPool(1);
        own.execute(() -> untilAsleep(waiter));
        own.shutdown();
        own.awaitTermination(1, TimeUnit.MINUTES);
        forks.execute(() -> untilAsleep(waiter));
        forks.shutdown();
        forks.awaitTermination(1, TimeUnit.MINUTES);
        line("Termination", 0, 2, 0);
    }

    // For releases ----------------------------------------------------------------------------------------------------

    private void awaitLatch() throws Exception {
        CountDownLatch latch = new CountDownLatch(2);
        CountDownLatch timed = new CountDownLatch(1);
        later(latch::countDown);
        later(latch::countDown);
        latch.await();
        later(timed::countDown);
        timed.await(1, TimeUnit.MINUTES);
        line("Latch", 2, 0, 0);
    }

    /** One opens the latch for three, who wake each other: all of them wait for the one. */
    private void openLatch() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> awaitLatches(latch));
            threads[i].start();
        }
        later(latch::countDown, threads).get();
        for (Thread thread : threads) {
            thread.join();
        }
        line("Latches", 3, 0, 0);
    }

    private static void awaitLatches(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void awaitPhaser() {
        Phaser phaser = new Phaser(2);
        later(phaser::arrive);
        phaser.arriveAndAwaitAdvance();
        line("Phaser", 1, 0, 0);
    }

    private void awaitBarrier() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        later(barrier::await);
        barrier.await();
        line("Barrier", 1, 0, 0);
    }

    private void awaitSemaphore() throws Exception {
        Semaphore semaphore = new Semaphore(0);
        later(semaphore::release);
        semaphore.acquire();
        later(semaphore::release);
        semaphore.tryAcquire(1, TimeUnit.MINUTES);
        line("Semaphore", 2, 0, 0);
    }

    private void awaitQueues() throws Exception {
        List<BlockingQueue<Integer>> queues = new ArrayList<>();
        queues.add(new LinkedBlockingQueue<>());
        queues.add(new ArrayBlockingQueue<>(1));
        queues.add(new SynchronousQueue<>());
        queues.add(new LinkedTransferQueue<>());
        for (BlockingQueue<Integer> queue : queues) {
            later(() -> queue.put(1));
            queue.take();
            later(() -> queue.offer(1, 1, TimeUnit.MINUTES));
            queue.poll(1, TimeUnit.MINUTES);
        }
        line("Queues", 8, 0, 0);
    }

    private void awaitRoom() throws Exception {
        BlockingQueue<Integer> full = new ArrayBlockingQueue<>(1);
        BlockingQueue<Integer> none = new SynchronousQueue<>();
        full.put(1);
        later(full::take);
        full.put(2);
        later(none::take);
        none.put(1);
        line("Room", 2, 0, 0);
    }

    private void awaitExchange() throws Exception {
        Exchanger<Integer> exchanger = new Exchanger<>();
        later(() -> exchanger.exchange(1));
        exchanger.exchange(2);
        line("Exchange", 1, 0, 0);
    }

    private void awaitCondition() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        lock.lock();
        later(() -> {
            lock.lock();
            condition.signal();
            lock.unlock();
        });
        condition.await();
        later(() -> {
            lock.lock();
            condition.signalAll();
            lock.unlock();
        });
        condition.await(1, TimeUnit.MINUTES);
        lock.unlock();
        line("Condition", 2, 0, 0);
    }

    private void awaitNotify() throws Exception {
        Object monitor = new Object();
        synchronized (monitor) {
            later(() -> {
                synchronized (monitor) {
                    monitor.notify();
                }
            });
            monitor.wait();
            later(() -> {
                synchronized (monitor) {
                    monitor.notifyAll();
                }
            });
            monitor.wait(60000);
        }
        line("Notify", 2, 0, 0);
    }

    /** One notifies three at once. */
    private void notifyThree() throws Exception {
        Object monitor = new Object();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> awaitNotifyAll(monitor));
            threads[i].start();
        }
        later(() -> {
            synchronized (monitor) {
                monitor.notifyAll();
            }
        }, threads).get();
        for (Thread thread : threads) {
            thread.join();
        }
        line("NotifyAll", 3, 0, 0);
    }

    private static void awaitNotifyAll(Object monitor) {
        synchronized (monitor) {
            try {
                monitor.wait();
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    private void awaitPark() {
        Thread waiter = Thread.currentThread();
        boolean[] released = new boolean[1];
        later(() -> {
            synchronized (released) {
                released[0] = true;
            }
            LockSupport.unpark(waiter);
        });
        LockSupport.park();
        later(() -> LockSupport.unpark(waiter));
        LockSupport.park(this);
        later(() -> LockSupport.unpark(waiter));
        LockSupport.parkNanos(TimeUnit.MINUTES.toNanos(1));
        line("Park", 3, 0, 0);
    }

    // For nobody --------------------------------------------------------------------------------------------------------

    private void awaitNobody() throws Exception {
        new CountDownLatch(1).await(ASLEEP_MS, TimeUnit.MILLISECONDS);
        new LinkedBlockingQueue<Integer>().poll(ASLEEP_MS, TimeUnit.MILLISECONDS);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ASLEEP_MS));
        synchronized (this) {
            wait(ASLEEP_MS);
        }
        line("Nobody", 0, 0, 4);
    }

    private void awaitInterrupt() throws Exception {
        Thread waiter = Thread.currentThread();
        later(waiter::interrupt);
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException expected) {
            line("Interrupt", 0, 0, 1);
        }
    }

    public static void main(String[] args) throws Exception {
        WaysToWait ways = new WaysToWait();
        ways.awaitGet();
        ways.awaitInvokeAll();
        ways.awaitInvokeAny();
        ways.awaitJoin();
        ways.awaitAllOf();
        ways.awaitCompleted();
        ways.awaitForkJoin();
        ways.awaitThread();
        ways.awaitTermination();
        ways.awaitLatch();
        ways.openLatch();
        ways.awaitPhaser();
        ways.awaitBarrier();
        ways.awaitSemaphore();
        ways.awaitQueues();
        ways.awaitRoom();
        ways.awaitExchange();
        ways.awaitCondition();
        ways.awaitNotify();
        ways.notifyThree();
        ways.awaitPark();
        ways.awaitNobody();
        ways.awaitInterrupt();
        ways.pool.shutdown();
    }
}
