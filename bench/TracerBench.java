// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.Arrays;

/**
 * What a tracer adds to a call, beside what the machine itself asks for. Run under a tracer that records the functions of
 * TracerBench$Traced; the first argument is the path of the library made of floor.c, the second, if any, the name of a
 * Runnable that makes CALLS traced calls by itself. Prints a line for each variant: its name and the median, over rounds
 * in which all variants take turns, of nanoseconds a call, less the loop around it.
 */
public final class TracerBench {
    private static final int ROUNDS = 61;
    private static final int WARM_UP = 40;
    static final int CALLS = 20_000; // 40,000 events: less than a buffer's half, so nothing can be lost
    private static final int DRAIN_MS = 25;

    private static int sum;

    private TracerBench() {
    }

    static native void empty(int method);

    static native void floor(int method);

    static native void readCounter(int times);

    static final class Traced {
        static int add(int i) {
            return sum += i;
        }
    }

    static final class Plain {
        static int add(int i) {
            return sum += i;
        }
    }

    private static void loopPlain() {
        for (int i = 0; i < CALLS; i++) {
            Plain.add(i);
        }
    }

    private static void loopTraced() {
        for (int i = 0; i < CALLS; i++) {
            Traced.add(i);
        }
    }

    private static void loopEmpty() {
        for (int i = 0; i < CALLS; i++) {
            empty(Plain.add(i));
        }
    }

    private static void loopFloor() {
        for (int i = 0; i < CALLS; i++) {
            floor(Plain.add(i));
        }
    }

    private static void loopNanoTime() {
        for (int i = 0; i < CALLS; i++) {
            Plain.add((int) System.nanoTime());
        }
    }

    private static final String[] NAMES = {"loop", "counter", "empty", "floor", "nanoTime", "pair"};
    private static final Runnable[] LOOPS = {TracerBench::loopPlain, () -> readCounter(CALLS), TracerBench::loopEmpty,
        TracerBench::loopFloor, TracerBench::loopNanoTime, TracerBench::loopTraced};

    private static double nsPerCall(Runnable loop) {
        long begin = System.nanoTime();
        loop.run();
        return (double) (System.nanoTime() - begin) / CALLS;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
        System.load(args[0]);
        if (args.length > 1) {
            LOOPS[LOOPS.length - 1] = (Runnable) Class.forName(args[1]).getDeclaredConstructor().newInstance();
        }
        double[][] ns = new double[LOOPS.length][ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            for (int i = 0; i < LOOPS.length; i++) {
                double measured = nsPerCall(LOOPS[i]);
                if (round >= 0) {
                    ns[i][round] = measured;
                }
            }
            Thread.sleep(DRAIN_MS);
        }
        double loop = median(ns[0]);
        for (int i = 0; i < LOOPS.length; i++) {
            double own = i == 0 || NAMES[i].equals("counter") ? median(ns[i]) : median(ns[i]) - loop;
            System.out.printf("%s\t%.2f%n", NAMES[i], own);
        }
        System.out.println("calls\t" + (long) (ROUNDS + WARM_UP) * CALLS);
    }
}
