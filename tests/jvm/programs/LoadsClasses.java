// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Tasks that load classes at once by slow loaders: one that loads one after the other, which the JVM locks, and one that has
 * a lock of its own for each name.
 */
public class LoadsClasses {
    static class Slow extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new ClassNotFoundException(name);
        }
    }

    /** Not registered itself. */
    static final class OneByOne extends Slow {
    }

    static void load(ClassLoader loader, int number) {
        try {
            Class.forName("none.Class" + number, true, loader);
        } catch (ClassNotFoundException e) {
            return; // as expected
        }
        throw new IllegalStateException("there is no such class");
    }

    static void loadAtOnce(ClassLoader loader) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<?>> tasks = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int number = i / 4;
            tasks.add(pool.submit(() -> load(loader, number)));
        }
        for (Future<?> task : tasks) task.get();
        pool.shutdown();
    }

    public static void main(String[] args) throws Exception {
        loadAtOnce(new OneByOne());
        loadAtOnce(new Slow());
    }
}
