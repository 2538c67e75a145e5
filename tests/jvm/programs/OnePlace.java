// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** At one place some tasks lock a monitor that they share, each now and then, and others all the time one of their own. */
public final class OnePlace {
    private static final int SHARING = 3;
    private static final int ALONE = 3;
    private static final int MS = 1000;
    private static final long HELD_US = 300;
    private static final long BETWEEN_US = 500;
    private static final Object shared = new Object();
    private static final long end = System.nanoTime() + MS * 1_000_000L;

    private OnePlace() {
    }

    private static void spin(long us) {
        long until = System.nanoTime() + us * 1000;
        while (us > 0 && System.nanoTime() < until) Thread.yield();
    }

    private static void lock(Object monitor, long us) {
        synchronized (monitor) {
            spin(us);
        }
    }

    private static Object share() {
        while (System.nanoTime() < end) {
            lock(shared, HELD_US);
            spin(BETWEEN_US);
        }
        return null;
    }

    private static Object stayAlone() {
        Object own = new Object();
        while (System.nanoTime() < end) lock(own, 0);
        return null;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(SHARING + ALONE);
        List<Callable<Object>> tasks = new ArrayList<>();
        for (int i = 0; i < SHARING; i++) tasks.add(OnePlace::share);
        for (int i = 0; i < ALONE; i++) tasks.add(OnePlace::stayAlone);
        for (Future<Object> task : pool.invokeAll(tasks)) task.get();
        pool.shutdown();
    }
}
