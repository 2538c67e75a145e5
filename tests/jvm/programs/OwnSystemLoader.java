// SPDX-License-Identifier: GPL-3.0-or-later
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The system loader of the JVM that runs it, and a task that it hands over again and again. */
public final class OwnSystemLoader extends URLClassLoader implements Runnable {
    private int runs;

    public OwnSystemLoader(ClassLoader parent) {
        super(new URL[0], parent);
    }

    @Override
    public synchronized void run() {
        runs++;
    }

    public static void main(String[] args) throws Exception {
        OwnSystemLoader loader = (OwnSystemLoader) ClassLoader.getSystemClassLoader();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 40; i++) {
            pool.execute(loader);
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("runs=" + loader.runs);
    }
}
