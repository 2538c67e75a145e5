// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Locks that lie in arrays and collections, or that a local variable holds: each is called by the field that it came
 * from. Says how often each is got, as Resources does; main has it first, and gives it back.
 */
public final class Striped {
    static final int THREADS = 4, ROUNDS = 20;

    final ReentrantLock[] inArray = array();
    static final ReentrantLock[] copied = array(), walked = array(), element = array();
    final List<ReentrantLock> inList = new ArrayList<>(Arrays.asList(array()));
    final Map<String, ReentrantLock> inMap = new HashMap<>();
    final ConcurrentMap<Integer, ReentrantReadWriteLock> made = new ConcurrentHashMap<>();
    static final Collection<ReentrantLock> passed = new ArrayDeque<>(Arrays.asList(array()));
    final Object[] monitors = {new Object()};
    static final Semaphore[][] inRows = {{new Semaphore(1)}};

    static ReentrantLock[] array() {
        return new ReentrantLock[] {new ReentrantLock()};
    }

    interface Use {
        void run(boolean locks);
    }

    private Striped() {
        inMap.put("key", new ReentrantLock());
    }

    void lockInArray(int key) {
        inArray[(key & 7) % inArray.length].lock();
    }

    static void lockCopied(int key) {
        ReentrantLock[] all = copied;
        all[Math.floorMod(Integer.hashCode(key), all.length)].lock();
    }

    static void lockWalked() {
        for (ReentrantLock lock : walked) {
            lock.lock();
        }
    }

    /** Other variables lie where the lock does. */
    static void lockElement(int key) {
        if (key > 100) {
            String far = "far";
            System.out.println(far);
        }
        {
            ReentrantLock lock = element[0];
            lock.lock();
        }
        for (int i = 0; i < key; i++) {
            Thread.yield();
        }
    }

    void lockInList(int key) {
        inList.get(key % inList.size()).lock();
    }

    void lockInMap(String key) {
        inMap.get(key).lock();
    }

    void lockMade(int key) {
        made.computeIfAbsent(key, any -> new ReentrantReadWriteLock()).writeLock().lock();
    }

    static void lockPassed() {
        for (ReentrantLock lock : passed) {
            lock.lock();
        }
    }

    static void lockInRows(int row, int column) {
        inRows[row][column].acquireUninterruptibly();
    }

    /** A lock that is one thing or another has no name. */
    void lockEither(boolean which) {
        ReentrantLock lock = inArray[0];
        if (which) {
            lock = inList.get(0);
        }
        lock.lock();
    }

    void inMonitors(Runnable body) {
        Object monitor = monitors[0];
        synchronized (monitor) {
            body.run();
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Each thread begins while main has what it will ask for. */
    static void inTasks(String name, int kind, Use use) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        Future<?>[] tasks = new Future<?>[THREADS];
        CountDownLatch begun = new CountDownLatch(THREADS);
        use.run(true);
        for (int i = 0; i < THREADS; i++) {
            tasks[i] = pool.submit(() -> {
                begun.countDown();
                for (int round = 0; round < ROUNDS; round++) {
                    use.run(true);
                    use.run(false);
                }
            });
        }
        begun.await();
        pause(100);
        use.run(false);
        for (Future<?> task : tasks) {
            task.get();
        }
        pool.shutdown();
        int got = THREADS * ROUNDS + (kind == 3 ? 1 : 0), released = THREADS * ROUNDS + 1;
        System.out.println("Striped." + name + " kind " + kind + " capacity 1 flags - got " + got + " gaveup 0 released "
                + released);
    }

    public static void main(String[] args) throws Exception {
        Striped striped = new Striped();
        inTasks("inArray", 1, locks -> {
            if (locks) {
                striped.lockInArray(8);
            } else {
                striped.inArray[0].unlock();
            }
        });
        inTasks("copied", 1, locks -> {
            if (locks) {
                lockCopied(9);
            } else {
                copied[0].unlock();
            }
        });
        inTasks("walked", 1, locks -> {
            if (locks) {
                lockWalked();
            } else {
                walked[0].unlock();
            }
        });
        inTasks("element", 1, locks -> {
            if (locks) {
                lockElement(2);
            } else {
                element[0].unlock();
            }
        });
        inTasks("inList", 1, locks -> {
            if (locks) {
                striped.lockInList(3);
            } else {
                striped.inList.get(0).unlock();
            }
        });
        inTasks("inMap", 1, locks -> {
            if (locks) {
                striped.lockInMap("key");
            } else {
                striped.inMap.get("key").unlock();
            }
        });
        inTasks("made", 2, locks -> {
            if (locks) {
                striped.lockMade(1);
            } else {
                striped.made.get(1).writeLock().unlock();
            }
        });
        inTasks("passed", 1, locks -> {
            if (locks) {
                lockPassed();
            } else {
                passed.iterator().next().unlock();
            }
        });
        inTasks("inRows", 3, locks -> {
            if (locks) {
                lockInRows(0, 0);
            } else {
                inRows[0][0].release();
            }
        });
        CountDownLatch held = new CountDownLatch(1), done = new CountDownLatch(1);
        Thread holder = new Thread(() -> striped.inMonitors(() -> {
            held.countDown();
            try {
                done.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        holder.start();
        held.await();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Future<?> task = pool.submit(() -> striped.inMonitors(() -> {}));
        pause(100);
        done.countDown();
        task.get();
        holder.join();
        pool.shutdown();
        System.out.println("Striped.monitors kind 0 capacity 1 flags - got 1 gaveup 0 released 2");
    }
}
