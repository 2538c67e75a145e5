// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;

/**
 * Holds, waits for and gives up resources of each kind, and says how often:
 *
 *     NAME kind KIND capacity CAPACITY flags FLAGS got N gaveup N released N
 *
 * N are of tasks, and of monitors and locks from the moment on at which a thread first waited for one: each is taken by
 * main before that, and given back after.
 */
public final class Resources {
    static final int THREADS = 4, ROUNDS = 50;

    interface Body {
        void run() throws Exception;
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void say(String name, int kind, long capacity, String flags, int got, int gaveUp, int released) {
        System.out.println("Resources." + name + " kind " + kind + " capacity " + capacity + " flags " + flags + " got "
                + got + " gaveup " + gaveUp + " released " + released);
    }

    // Each thread begins while main holds what it will ask for.
    static void inTasks(Body first, Body last, Body body) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        Future<?>[] tasks = new Future<?>[THREADS];
        CountDownLatch begun = new CountDownLatch(THREADS);
        first.run();
        for (int i = 0; i < THREADS; i++) {
            tasks[i] = pool.submit(() -> {
                begun.countDown();
                body.run();
                return null;
            });
        }
        begun.await();
        pause(200);
        last.run();
        for (Future<?> task : tasks) {
            task.get();
        }
        pool.shutdown();
    }

    // Monitors ------------------------------------------------------------------------------------------------------

    static final Object monitor = new Object();
    static final Counter counter = new Counter();
    static int count;

    static final class Counter {
        int value;

        synchronized void add(boolean fails) {
            value++;
            addMore();
            if (fails) {
                throw new UnsupportedOperationException();
            }
        }

        synchronized void addMore() { // already locked, or not
            value++;
        }

        static synchronized void addStatic() {
            count++;
        }
    }

    static void inMonitor(Object lock, Body body) throws Exception {
        CountDownLatch held = new CountDownLatch(1), done = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (lock) {
                held.countDown();
                try {
                    done.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        inTasks(() -> {
            holder.start();
            held.await();
        }, () -> {
            done.countDown();
            holder.join();
        }, body);
    }

    static void monitors() throws Exception {
        inMonitor(monitor, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                synchronized (monitor) {
                    count++;
                    synchronized (monitor) {
                        count++;
                    }
                }
            }
        });
        say("monitor", 0, 1, "-", THREADS * ROUNDS, 0, THREADS * ROUNDS + 1);
        inMonitor(counter, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    counter.add(i % 2 == 0);
                } catch (UnsupportedOperationException e) {
                    counter.addMore();
                }
            }
        });
        System.out.println("Resources$Counter kind 0 capacity 1 flags - got " + THREADS * (ROUNDS + ROUNDS / 2)
                + " gaveup 0 released " + (THREADS * (ROUNDS + ROUNDS / 2) + 1));
        inMonitor(Counter.class, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                Counter.addStatic();
            }
        });
        System.out.println("Resources$Counter.class kind 0 capacity 1 flags - got " + THREADS * ROUNDS
                + " gaveup 0 released " + (THREADS * ROUNDS + 1));
    }

    // Locks -----------------------------------------------------------------------------------------------------------

    static final ReentrantLock lock = new ReentrantLock(), fairLock = new ReentrantLock(true);
    static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    static final Condition condition = fairLock.newCondition();
    static boolean signalled;

    static void locks() throws Exception {
        inTasks(lock::lock, lock::unlock, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                lock.lock();
                lock.lockInterruptibly();
                count++;
                lock.unlock();
                lock.unlock();
            }
        });
        AtomicInteger gaveUp = new AtomicInteger();
        say("lock", 1, 1, "-", THREADS * ROUNDS, 0, THREADS * ROUNDS + 1);
        inTasks(fairLock::lock, fairLock::unlock, () -> {
            if (fairLock.tryLock(50, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("main has it");
            }
            gaveUp.incrementAndGet();
            fairLock.lock();
            while (!signalled) {
                condition.await(20, TimeUnit.MILLISECONDS); // gives it back, and takes it again
                signalled = true;
            }
            fairLock.unlock();
        });
        say("fairLock", 1, 1, "f", -1, gaveUp.get(), -1);
        inTasks(() -> readWrite.writeLock().lock(), () -> readWrite.writeLock().unlock(), () -> {
            for (int i = 0; i < ROUNDS; i++) {
                readWrite.readLock().lock();
                count++;
                readWrite.readLock().unlock();
                readWrite.writeLock().lock();
                count++;
                readWrite.writeLock().unlock();
            }
        });
        say("readWrite", 2, 1, "-", 2 * THREADS * ROUNDS, 0, 2 * THREADS * ROUNDS + 1);
        stamps();
    }

    static final StampedLock stamped = new StampedLock();
    static long mainStamp;

    static void stamps() throws Exception {
        AtomicInteger gaveUp = new AtomicInteger(), converted = new AtomicInteger();
        inTasks(() -> mainStamp = stamped.writeLock(), () -> stamped.unlock(mainStamp), () -> {
            if (stamped.tryReadLock(50, TimeUnit.MILLISECONDS) != 0) {
                throw new IllegalStateException("main has it");
            }
            gaveUp.incrementAndGet();
            for (int i = 0; i < ROUNDS; i++) {
                long stamp = stamped.readLock();
                count++;
                stamped.unlockRead(stamp);
                stamp = stamped.writeLockInterruptibly();
                count++;
                stamp = stamped.tryConvertToReadLock(stamp);
                stamped.unlock(stamp);
                stamp = stamped.tryConvertToWriteLock(stamped.tryOptimisticRead());
                if (stamp != 0) {
                    converted.incrementAndGet();
                    stamped.unlockWrite(stamp);
                }
                stamped.asWriteLock().lock();
                stamped.asWriteLock().unlock();
                stamp = stamped.readLock();
                if (!stamped.tryUnlockRead()) {
                    throw new IllegalStateException("it was read");
                }
            }
        });
        int got = 5 * THREADS * ROUNDS + converted.get();
        boolean readersPass = !System.getProperty("java.specification.version").matches("1.8|9|1[0-3]");
        say("stamped", 2, 1, readersPass ? "r" : "-", got, gaveUp.get(), got + 1);
    }

    // Semaphores ------------------------------------------------------------------------------------------------------

    static final Semaphore permits = new Semaphore(3), fairPermits = new Semaphore(4, true);

    static void semaphores() throws Exception {
        AtomicInteger gaveUp = new AtomicInteger(), got = new AtomicInteger();
        inTasks(() -> permits.acquire(3), () -> permits.release(3), () -> {
            if (permits.tryAcquire(2, 50, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("main has them");
            }
            gaveUp.incrementAndGet();
            for (int i = 0; i < ROUNDS; i++) {
                permits.acquire(2);
                pause(i % 10 == 0 ? 1 : 0);
                permits.release(2);
                permits.acquireUninterruptibly();
                permits.release();
                if (permits.tryAcquire()) {
                    got.incrementAndGet();
                    permits.release();
                }
            }
        });
        int all = 2 * THREADS * ROUNDS + 1 + got.get();
        say("permits", 3, 3, "-", all, gaveUp.get(), all);
        fairPermits.acquire();
        fairPermits.release(3); // two of them were not taken
        int drained = fairPermits.drainPermits();
        fairPermits.release(drained);
        fairPermits.acquire();
        fairPermits.release();
        say("fairPermits", 3, 6, "f", 3, 0, 3);
    }

    // Queues ----------------------------------------------------------------------------------------------------------

    static final BlockingQueue<Object> connections = new ArrayBlockingQueue<>(10);
    static final LinkedBlockingDeque<Object> buffers = new LinkedBlockingDeque<>();
    static final BlockingQueue<Integer> messages = new LinkedBlockingQueue<>(2);

    interface Source {
        Object take(boolean waits) throws Exception;
    }

    interface Sink {
        void put(Object object) throws Exception;
    }

    static void goRound(Source source, Sink sink, String name, int objects) throws Exception {
        AtomicInteger gaveUp = new AtomicInteger(), got = new AtomicInteger();
        for (int i = 0; i < objects; i++) {
            sink.put(new Object());
        }
        inTasks(() -> {}, () -> {}, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                Object taken = source.take(i % 2 == 0);
                pause(i % 10 == 0 ? 2 : 0);
                if (taken == null) {
                    gaveUp.incrementAndGet();
                } else {
                    got.incrementAndGet();
                    sink.put(taken);
                }
            }
        });
        say(name, 5, objects, "-", got.get(), gaveUp.get(), got.get() + objects);
    }

    static void queues() throws Exception {
        goRound(waits -> waits ? connections.take() : connections.poll(1, TimeUnit.MILLISECONDS), connections::add,
                "connections", 2);
        goRound(waits -> waits ? buffers.takeFirst() : buffers.pollLast(1, TimeUnit.MILLISECONDS), buffers::put,
                "buffers", 3);
        int many = 3000;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> sends = pool.submit(() -> {
            for (int i = 0; i < many; i++) {
                messages.put(i);
            }
            return null;
        });
        Future<?> receives = pool.submit(() -> {
            for (int i = 0; i < many; i++) {
                if (messages.take() != i) {
                    throw new IllegalStateException("out of order");
                }
            }
            return null;
        });
        sends.get();
        receives.get();
        pool.shutdown();
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            switch (what) {
                case "monitors":
                    monitors();
                    break;
                case "locks":
                    locks();
                    break;
                case "semaphores":
                    semaphores();
                    break;
                default:
                    queues();
            }
        }
    }
}
