// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ends HOW: has a pool run tasks, says how many it ran, and ends as told, while another pool goes on with tasks of its own that say
 * nothing. What it prints is the same in every run.
 */
public final class Ends {
    private static final ExecutorService POOL = Executors.newFixedThreadPool(2, Ends::daemon);
    private static final AtomicInteger RAN = new AtomicInteger();
    private static volatile Object kept;
    private static int depth;

    private Ends() {
    }

    private static Thread daemon(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        return thread;
    }

    private static void work() throws Exception {
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            results.add(POOL.submit(RAN::incrementAndGet));
        }
        for (Future<Integer> result : results) {
            result.get();
        }
        CompletableFuture.supplyAsync(RAN::incrementAndGet, POOL).thenApply(i -> i + 1).get();
        System.out.println("ran=" + RAN.get());
    }

    private static void goOnInTheBackground() {
        ExecutorService others = Executors.newFixedThreadPool(2, Ends::daemon);
        for (int i = 0; i < 2; i++) {
            others.execute(new Runnable() {
                @Override
                public void run() {
                    try {
                        Thread.sleep(1);
                        others.execute(this);
                    } catch (InterruptedException | OutOfMemoryError e) {
                        // where there is no memory any more this task has ended
                    }
                }
            });
        }
    }

    private static void workOnceMore() {
        try {
            work();
        } catch (Exception e) {
            System.out.println(e);
        }
    }

    private static void recurse() {
        depth++;
        recurse();
    }

    private static int overflow() {
        int overflows = 0;
        for (int i = 0; i < 20; i++) {
            try {
                recurse();
            } catch (StackOverflowError e) {
                overflows++;
            }
        }
        return overflows;
    }

    private static int exhaust() {
        List<byte[]> all = new ArrayList<>();
        try {
            for (;;) {
                all.add(new byte[1 << 20]);
                kept = all;
            }
        } catch (OutOfMemoryError e) {
            kept = null;
            all.clear();
            return 1;
        }
    }

    private static void crash() throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        ((sun.misc.Unsafe) field.get(null)).putAddress(0, 0);
    }

    // An executor's policy is asked to run nothing at all.
    private static int runNothing() {
        try {
            new ThreadPoolExecutor.CallerRunsPolicy().rejectedExecution(null, (ThreadPoolExecutor) POOL);
            return 0;
        } catch (NullPointerException e) {
            return 1;
        }
    }

    // Of what it was given on standard input, one half goes where the other does not.
    private static void copy() throws Exception {
        InputStream in = System.in;
        OutputStream out = System.out;
        byte[] bytes = new byte[1000];
        for (int turn = 0, count; (count = in.read(bytes)) >= 0; turn++) {
            int length = count;
            OutputStream to = turn % 2 == 0 ? out : System.err;
            POOL.submit(() -> {
                to.write(bytes, 0, length);
                return null;
            }).get();
        }
        out.flush();
        System.err.flush();
    }

    // Each child says what it has been left with: open files, and signals that are blocked or ignored.
    private static String child(int status) throws Exception {
        Process process = new ProcessBuilder("sh", "-c",
                "ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)' /proc/self/status; env | grep -c JAVA; exit " + status)
                .redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        return said.replace('\n', ' ') + process.waitFor();
    }

    private static void haveChildren() throws Exception {
        List<Future<String>> said = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int status = i;
            said.add(POOL.submit(() -> child(status)));
        }
        for (Future<String> each : said) {
            System.out.println(each.get());
        }
    }

    // What a dying JVM has not put into the trace by then is lost: the tracer writes ten times a second.
    private static void letItBeWritten() throws InterruptedException {
        Thread.sleep(500);
    }

    private static <T> T inTask(Callable<T> body) throws Exception {
        return POOL.submit(body).get();
    }

    public static void main(String[] args) throws Exception {
        String how = args[0];
        if (how.equals("hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread(Ends::workOnceMore));
        }
        work();
        goOnInTheBackground();
        switch (how) {
            case "return" -> {
            }
            case "hook" -> { // until a signal comes
                System.out.println("ready");
                Thread.sleep(60_000);
            }
            case "exit" -> {
                Runtime.getRuntime().addShutdownHook(new Thread(Ends::workOnceMore));
                inTask(() -> {
                    System.exit(7);
                    return null;
                });
            }
            case "halt" -> inTask(() -> {
                Runtime.getRuntime().halt(9);
                return null;
            });
            case "crash" -> {
                letItBeWritten();
                inTask(() -> {
                    crash();
                    return null;
                });
            }
            case "overflow" -> System.out.println("overflows=" + inTask(Ends::overflow) + " here=" + overflow());
            case "nothing" -> System.out.println("refused=" + inTask(Ends::runNothing) + " here=" + runNothing());
            case "exhaust" -> {
                letItBeWritten();
                System.out.println("exhausted=" + inTask(Ends::exhaust));
                work();
            }
            case "throw" -> CompletableFuture.supplyAsync(() -> Integer.parseInt("none"), POOL).thenApply(i -> i + 1).get();
            case "copy" -> copy();
            case "children" -> haveChildren();
            default -> throw new IllegalArgumentException(how);
        }
    }
}
