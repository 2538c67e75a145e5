// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.PrintWriter;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.MessageDigest;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An agent that writes, for every class that can be retransformed, a hash of its bytes as the JVM has them now, all other
 * agents' changes included: it is loaded last, and so comes last.
 */
public final class Bytes implements ClassFileTransformer {
    private final Map<String, String> hashes = new ConcurrentHashMap<>();

    private Bytes() {
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (redefined == null) return null;
        try {
            StringBuilder text = new StringBuilder();
            for (byte part : MessageDigest.getInstance("SHA-256").digest(bytes)) text.append(String.format("%02x", part));
            hashes.put(name, bytes.length + " " + text);
        } catch (Exception e) {
            hashes.put(name, e.toString());
        }
        return null;
    }

    public static void agentmain(String file, Instrumentation instrumentation) throws Exception {
        Bytes bytes = new Bytes();
        instrumentation.addTransformer(bytes, true);
        for (Class<?> each : instrumentation.getAllLoadedClasses()) {
            String name = each.getName();
            boolean wanted = name.startsWith("java.util.concurrent.") || name.equals("java.lang.Thread")
                    || name.startsWith("java.lang.VirtualThread") || name.startsWith("java.util.Timer")
                    || name.startsWith("Busy");
            if (wanted && instrumentation.isModifiableClass(each)) instrumentation.retransformClasses(each);
        }
        instrumentation.removeTransformer(bytes);
        try (PrintWriter out = new PrintWriter(file + ".new")) {
            for (Map.Entry<String, String> each : new TreeMap<>(bytes.hashes).entrySet()) {
                out.println(each.getKey() + " " + each.getValue());
            }
        }
        if (!new java.io.File(file + ".new").renameTo(new java.io.File(file))) throw new java.io.IOException(file);
    }
}
