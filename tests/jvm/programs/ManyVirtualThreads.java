// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * ManyVirtualThreads N YIELDS: N virtual threads, all of them alive at once, each of which gives way YIELDS times. Says on stderr
 * how long that took, and how much memory it took at most, which may differ from run to run.
 */
public final class ManyVirtualThreads {
    private ManyVirtualThreads() {
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int yields = Integer.parseInt(args[1]);
        LongAdder done = new LongAdder();
        CountDownLatch alive = new CountDownLatch(threads);
        long begin = System.nanoTime();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < threads; i++) {
                executor.execute(() -> {
                    alive.countDown();
                    while (alive.getCount() > 0) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    for (int y = 0; y < yields; y++) {
                        Thread.yield();
                    }
                    done.increment();
                });
            }
        }
        System.out.println("done=" + done.sum());
        if (args.length > 2) {
            System.err.println("ms=" + (System.nanoTime() - begin) / 1_000_000);
            System.err.print(java.nio.file.Files.readString(java.nio.file.Path.of("/proc/self/status")).lines()
                    .filter(l -> l.startsWith("VmHWM")).findFirst().orElse("") + "\n");
        }
    }
}
