// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/** Has a pool run one task after the other, and says of each when it had ended, in ms of the system's clock: to be killed. */
public final class Counts {
    private Counts() {
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (;;) {
            pool.submit(() -> LockSupport.parkNanos(200_000)).get();
            System.out.write((System.currentTimeMillis() + "\n").getBytes());
            System.out.flush();
        }
    }
}
