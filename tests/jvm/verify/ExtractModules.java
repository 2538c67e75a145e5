// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Writes the classes of the modules named after FOLDER to FOLDER/MODULE. */
public class ExtractModules {
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            Path module = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules", arguments[i]);
            try (Stream<Path> files = Files.walk(module)) {
                for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
                    Path copy = folder.resolve(arguments[i]).resolve(module.relativize(file).toString());
                    Files.createDirectories(copy.getParent());
                    Files.copy(file, copy);
                }
            }
        }
    }
}
