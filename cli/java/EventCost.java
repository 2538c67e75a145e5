// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.Arrays;

/**
 * What one recorded event costs in a JVM on this machine: run by `rehype doctor` under the tracer with the function
 * `traced` included. Prints the median, over rounds in which both loops take turns, of nanoseconds an event.
 */
public final class EventCost {
    private static final int ROUNDS = 31;
    private static final int WARM_UP = 20;
    private static final int CALLS = 20_000; // 40,000 events: less than a buffer's half, so that none is lost
    private static final int DRAIN_MS = 10;

    private static int sum;

    private EventCost() {}

    static int traced(int i) {
        return sum += i;
    }

    static int plain(int i) {
        return sum += i;
    }

    private static long tracedNs() {
        long begin = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            traced(i);
        }
        return System.nanoTime() - begin;
    }

    private static long plainNs() {
        long begin = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            plain(i);
        }
        return System.nanoTime() - begin;
    }

    public static void main(String[] args) throws InterruptedException {
        double[] ns = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            double event = (tracedNs() - plainNs()) / (2.0 * CALLS);
            if (round >= 0) {
                ns[round] = event;
            }
            Thread.sleep(DRAIN_MS);
        }
        Arrays.sort(ns);
        System.out.println(ns[ROUNDS / 2]);
    }
}
