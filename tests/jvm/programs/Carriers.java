// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;

/** On one carrier: a virtual thread that sleeps alone, and then some that are ready while another computes. */
public final class Carriers {
    private static final int SLEEP_MS = 300, CRUNCH_MS = 400, READY = 20;

    private Carriers() { }

    private static void crunch(long ms) {
        long until = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < until) Thread.onSpinWait();
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) thread.join();
    }

    public static void main(String[] arguments) throws Exception {
        Thread.ofVirtual().name("sleeper").start(() -> sleep(SLEEP_MS)).join();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < READY; i++) threads.add(Thread.ofVirtual().name("woken").start(() -> sleep(150)));
        sleep(50);
        threads.add(Thread.ofVirtual().name("crunch").start(() -> crunch(CRUNCH_MS)));
        sleep(50);
        for (int i = 0; i < READY; i++) threads.add(Thread.ofVirtual().name("started").start(() -> { }));
        join(threads);
        System.out.println("done");
    }
}
