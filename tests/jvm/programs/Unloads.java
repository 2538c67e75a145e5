// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Unloads N: N times a class loader of its own loads classes whose tasks run on pools, ours and theirs, and is then let go. Says how
 * many of the loaders were collected in the end.
 */
public final class Unloads {
    private Unloads() {
    }

    /** Loaded anew each time. */
    public static final class Plugin implements Callable<Integer> {
        private static int step(int i) {
            return i + 1;
        }

        static final class Fork extends RecursiveTask<Integer> {
            private static final long serialVersionUID = 1;
            private final int depth;

            Fork(int depth) {
                this.depth = depth;
            }

            @Override
            protected Integer compute() {
                if (depth == 0) {
                    return 1;
                }
                Fork left = new Fork(depth - 1);
                left.fork();
                return new Fork(depth - 1).invoke() + left.join();
            }
        }

        static final class OwnPool extends ThreadPoolExecutor {
            OwnPool() {
                super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
            }
        }

        @Override
        public Integer call() throws Exception {
            OwnPool own = new OwnPool();
            try {
                int sum = own.submit(() -> step(1)).get();
                sum += CompletableFuture.supplyAsync(() -> step(2), own).thenApply(Plugin::step).get();
                synchronized (Plugin.class) {
                    sum += new Fork(3).invoke();
                }
                Thread thread = new Thread(() -> step(3));
                thread.start();
                thread.join();
                return sum;
            } finally {
                own.shutdown();
                own.awaitTermination(10, TimeUnit.SECONDS);
            }
        }
    }

    private static WeakReference<ClassLoader> loadAndRun(URL[] where, ExecutorService shared) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(where, null)) {
            @SuppressWarnings("unchecked")
            Callable<Integer> plugin = (Callable<Integer>) loader.loadClass(Plugin.class.getName())
                    .getDeclaredConstructor().newInstance();
            int sum = shared.submit(plugin).get() + ForkJoinPool.commonPool().submit(plugin).get();
            if (sum != 28) {
                throw new IllegalStateException("sum=" + sum);
            }
            return new WeakReference<>(loader);
        }
    }

    private static int collected(List<WeakReference<ClassLoader>> loaders) {
        return (int) loaders.stream().filter(l -> l.get() == null).count();
    }

    public static void main(String[] args) throws Exception {
        int wanted = Integer.parseInt(args[0]);
        URL[] where = {Unloads.class.getProtectionDomain().getCodeSource().getLocation()};
        ExecutorService shared = Executors.newFixedThreadPool(2);
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < wanted; i++) {
            loaders.add(loadAndRun(where, shared));
        }
        for (int i = 0; i < 10; i++) { // workers may still hold what they ran last
            shared.submit(() -> null).get();
            ForkJoinPool.commonPool().submit(() -> null).get();
        }
        for (int i = 0; i < 50 && collected(loaders) < wanted; i++) {
            System.gc();
            Thread.sleep(20);
        }
        shared.shutdown();
        System.out.println("collected=" + collected(loaders) + " of " + wanted);
    }
}
