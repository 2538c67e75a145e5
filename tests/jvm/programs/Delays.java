// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Delayed and periodic tasks of every executor that has them, each named after its way: how often each ran, when it was
 * first due, and its period, in ms, above 0 for a rate, below 0 for a delay.
 */
public final class Delays {
    private static final int TIMES = 5;

    private Delays() { }

    private static void tell(String way, int ran, int first, int period) {
        System.out.println(way + ": ran=" + ran + " first=" + first + " period=" + period);
    }

    private static class Periodic implements Runnable {
        final AtomicInteger ran = new AtomicInteger();
        final CountDownLatch times = new CountDownLatch(TIMES), cancelled = new CountDownLatch(1);

        /** The last time lasts until it is cancelled, so that there is no other. */
        @Override public void run() {
            ran.incrementAndGet();
            times.countDown();
            try {
                if (times.getCount() == 0) cancelled.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class PoolOnce implements Runnable {
        @Override public void run() { }
    }

    private static final class PoolLate implements Runnable {
        @Override public void run() { }
    }

    private static final class PoolRate extends Periodic { }

    private static final class PoolDelay extends Periodic { }

    private static final class ForkOnce implements Runnable {
        @Override public void run() { }
    }

    private static final class ForkRate extends Periodic { }

    private static final class ForkDelay extends Periodic { }

    private static class Timed extends TimerTask {
        final AtomicInteger ran = new AtomicInteger();
        final CountDownLatch times;

        Timed(int count) {
            times = new CountDownLatch(count);
        }

        @Override public void run() {
            ran.incrementAndGet();
            times.countDown();
            if (times.getCount() == 0) cancel();
        }
    }

    private static final class TimerOnce extends Timed {
        TimerOnce() {
            super(1);
        }
    }

    private static final class TimerRate extends Timed {
        TimerRate() {
            super(TIMES);
        }
    }

    private static final class TimerDelay extends Timed {
        TimerDelay() {
            super(TIMES);
        }
    }

    private static final class TimerNever extends Timed {
        TimerNever() {
            super(1);
        }
    }

    private static int await(Periodic task, Future<?> scheduled) throws Exception {
        task.times.await();
        scheduled.cancel(false);
        task.cancelled.countDown();
        return task.ran.get();
    }

    private static void pool() throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
        pool.schedule(new PoolOnce(), 40, TimeUnit.MILLISECONDS).get();
        tell("PoolOnce", 1, 40, 0);
        PoolRate rate = new PoolRate();
        PoolDelay delay = new PoolDelay();
        ScheduledFuture<?> atRate = pool.scheduleAtFixedRate(rate, 10, 30, TimeUnit.MILLISECONDS);
        ScheduledFuture<?> withDelay = pool.scheduleWithFixedDelay(delay, 20, 25, TimeUnit.MILLISECONDS);
        tell("PoolRate", await(rate, atRate), 10, 30);
        tell("PoolDelay", await(delay, withDelay), 20, -25);
        pool.schedule(new PoolLate(), 1, TimeUnit.HOURS).cancel(false);
        tell("PoolLate", 0, 3600000, 0);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    private static void timer() throws Exception {
        Timer timer = new Timer("timer");
        Timed[] tasks = {new TimerOnce(), new TimerRate(), new TimerDelay()};
        TimerNever never = new TimerNever();
        timer.schedule(tasks[0], 40);
        timer.scheduleAtFixedRate(tasks[1], 10, 30);
        timer.schedule(tasks[2], 20, 25);
        timer.schedule(never, 3600000);
        never.cancel();
        for (Timed task : tasks) task.times.await();
        tell("TimerOnce", tasks[0].ran.get(), 40, 0);
        tell("TimerRate", tasks[1].ran.get(), 10, 30);
        tell("TimerDelay", tasks[2].ran.get(), 20, -25);
        tell("TimerNever", 0, 3600000, 0);
        timer.cancel();
    }

    /** From JDK 25 on a ForkJoinPool is one that delays. */
    private static void fork() throws Exception {
        Object any = new ForkJoinPool(2);
        if (!(any instanceof ScheduledExecutorService)) return;
        ScheduledExecutorService pool = (ScheduledExecutorService) any;
        pool.schedule(new ForkOnce(), 40, TimeUnit.MILLISECONDS).get();
        tell("ForkOnce", 1, 40, 0);
        ForkRate rate = new ForkRate();
        ForkDelay delay = new ForkDelay();
        ScheduledFuture<?> atRate = pool.scheduleAtFixedRate(rate, 10, 30, TimeUnit.MILLISECONDS);
        ScheduledFuture<?> withDelay = pool.scheduleWithFixedDelay(delay, 20, 25, TimeUnit.MILLISECONDS);
        tell("ForkRate", await(rate, atRate), 10, 30);
        tell("ForkDelay", await(delay, withDelay), 20, -25);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    public static void main(String[] arguments) throws Exception {
        pool();
        timer();
        fork();
        System.out.println("done");
    }
}
