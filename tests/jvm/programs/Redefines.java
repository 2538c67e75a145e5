// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Redefines a class of its own again and again, each time to say another word, while its tasks run. */
public final class Redefines {
    private static volatile Instrumentation instrumentation;

    private Redefines() {
    }

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    static final class Speaker implements Runnable {
        private final AtomicLong times;

        Speaker(AtomicLong times) {
            this.times = times;
        }

        static String word() {
            return "word-00";
        }

        @Override
        public void run() {
            if (word().startsWith("word-")) {
                times.incrementAndGet();
            }
        }
    }

    private static byte[] bytesWith(String word) throws Exception {
        try (InputStream in = Speaker.class.getResourceAsStream("Redefines$Speaker.class")) {
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return text.replace("word-00", word).getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    public static void main(String[] args) throws Exception {
        AtomicLong times = new AtomicLong();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 20; i++) {
            for (int t = 0; t < 50; t++) {
                pool.execute(new Speaker(times));
            }
            String word = String.format("word-%02d", i);
            instrumentation.redefineClasses(new ClassDefinition(Speaker.class, bytesWith(word)));
            if (!Speaker.word().equals(word)) {
                throw new IllegalStateException(Speaker.word() + " for " + word);
            }
        }
        pool.shutdown();
        pool.awaitTermination(60, TimeUnit.SECONDS);
        System.out.println("times=" + times + " " + Speaker.word());
    }
}
