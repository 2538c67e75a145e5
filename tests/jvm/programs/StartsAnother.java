// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.File;

/** Runs a main class of its own class path in a second JVM, which shares its streams, and exits as that one does. */
public final class StartsAnother {
    private StartsAnother() {
    }

    public static void main(String[] args) throws Exception {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        ProcessBuilder another = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), args[0]);
        System.exit(another.inheritIO().start().waitFor());
    }
}
