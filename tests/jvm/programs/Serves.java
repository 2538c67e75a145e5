// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A server that always has some requests under way: each asks another pool for the stock, waits for that at once, which
 * is useless, and asks it for the price while it renders, which is not. Serves until so many seconds are over.
 */
public final class Serves {
    private static final ExecutorService handlers = Executors.newFixedThreadPool(12);
    private static final ExecutorService lookups = Executors.newFixedThreadPool(6);

    private Serves() {
    }

    private static int lookUp(int request, int ms) throws InterruptedException {
        Thread.sleep(ms + request % 10);
        return request % 3;
    }

    private static Future<Integer> askStock(int request) {
        return lookups.submit(() -> lookUp(request, 30));
    }

    private static int handle(int request) throws Exception {
        int stock = askStock(request).get();
        Future<Integer> price = lookups.submit(() -> lookUp(request, 20));
        Thread.sleep(10);
        return stock + price.get();
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        System.out.println("ready");
        for (int i = 0; System.nanoTime() < end; i++) {
            int request = i;
            handlers.submit(() -> handle(request));
            Thread.sleep(15);
        }
        handlers.shutdown();
        lookups.shutdown();
        System.out.println("all right");
    }
}
