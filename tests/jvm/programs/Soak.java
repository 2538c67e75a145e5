// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;

/**
 * Soak SECONDS PROGRAM[:ARGUMENT]...: has the programs run one after the other, again and again, and says on stderr how often. What
 * they print goes nowhere.
 */
public final class Soak {
    private static final long PAUSE_MS = 20;

    private Soak() {
    }

    private static void run(String program) throws Exception {
        String[] parts = program.split(":", 2);
        Method main = Class.forName(parts[0]).getMethod("main", String[].class);
        String[] arguments = parts.length > 1 ? parts[1].split(" ") : new String[0];
        main.invoke(null, (Object) arguments);
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        int rounds = 0;
        for (; System.nanoTime() < end; rounds++) {
            for (int i = 1; i < args.length; i++) {
                run(args[i]);
                Thread.sleep(PAUSE_MS);
            }
        }
        System.err.println("rounds=" + rounds);
    }
}
