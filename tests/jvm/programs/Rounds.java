// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs for a few tenths of a second and prints one line, the same each time: to be recorded several times. Each task of the
 * rounds awaits one that it has just submitted, which pays to inline. An argument: how many rounds.
 */
public final class Rounds {
    private static final ExecutorService POOL = Executors.newFixedThreadPool(4);

    private Rounds() {
    }

    private static long ask(long number) throws InterruptedException {
        Thread.sleep(3);
        return number;
    }

    private static Future<Long> submitAsk(long number) {
        return POOL.submit(() -> ask(number));
    }

    private static Future<Long> submitRound(long number) {
        return POOL.submit(() -> submitAsk(number).get());
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 40;
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            Future<Long> first = submitRound(i), second = submitRound(i + 1);
            sum += first.get() + second.get();
        }
        POOL.shutdown();
        System.out.println("sum=" + sum);
    }
}
