// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Loads and links, hence verifies, every class named in a file, without initialising it. */
public class LinkAll {
    public static void main(String[] arguments) throws IOException {
        int linked = 0, errors = 0;
        for (String name : Files.readAllLines(Path.of(arguments[0]))) {
            try {
                Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                linked++;
            } catch (Throwable error) {
                errors++;
                System.out.println("error: " + name + ": " + error);
            }
        }
        System.out.println("linked " + linked + " errors " + errors);
    }
}
