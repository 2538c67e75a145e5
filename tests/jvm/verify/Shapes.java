// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The shapes of code that weaving could get wrong. Prints what it computes: woven or not, that is the same. Java 8. */
public class Shapes {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Inner {
        String[] names() default {};
    }

    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        Inner[] value() default {};
    }

    static class Base {
        final String what;

        Base(Object what, long more) {
            this.what = what + "+" + more;
        }
    }

    static class Derived extends Base {
        final int[] kept;

        Derived(boolean one, int size) {
            super(one ? new StringBuilder(size > 2 ? "long" : "short") : new Object[size].length, size);
            int[] fill = new int[size];
            for (int i = 0; i < fill.length; i++) fill[i] = i * i;
            kept = fill;
        }

        Derived(int size) {
            this(size % 2 == 0, size < 0 ? -size : size);
            if (size == 13) throw new IllegalArgumentException("thirteen");
        }
    }

    static int loopFromStart(int n) {
        do {
            n -= 3;
        } while (n > 0);
        return n;
    }

    static long dense(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            switch (i) {
            case 0: sum += 1; break;
            case 1: sum *= 3; continue;
            case 2: sum -= 4;
            case 3: return sum;
            default: sum = -sum;
            }
        }
        return sum;
    }

    static double sparse(String key) {
        switch (key) {
        case "alpha": return 1.5;
        case "omega": return 2.5;
        default: return key.hashCode() == 1000000 ? 3 : -1;
        }
    }

    static String attempts(int n) {
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < n; i++) {
            try {
                try {
                    log.append(10 / (i - 1)).append(thrower(i));
                } catch (ArithmeticException e) {
                    log.append("zero;");
                } finally {
                    log.append(i).append(';');
                }
            } catch (RuntimeException e) {
                log.append(e.getMessage()).append(e.getStackTrace()[0].getLineNumber());
            }
        }
        return log.toString();
    }

    static float thrower(int n) {
        if (n % 2 == 0) throw new IllegalStateException("even");
        return n;
    }

    synchronized Object locks(Object other) {
        synchronized (other) {
            synchronized (this) {
                if (other instanceof String) return other;
            }
        }
        throw new UnsupportedOperationException("no string");
    }

    static int marked(@Mark Object value) {
        @Mark({@Inner(names = {"a", "b"}), @Inner}) int total = 0;
        if (value instanceof @Mark String) {
            @Mark String text = (@Mark String) value;
            total += text.length();
        }
        try {
            total += new @Mark({}) StringBuilder().append(value).length();
        } catch (@Mark RuntimeException e) {
            total = -1;
        }
        return total;
    }

    static int depth(int n) {
        return n == 0 ? new Throwable().getStackTrace()[3].getLineNumber() : 1 + depth(n - 1);
    }

    public static void main(String[] arguments) {
        for (int i = -2; i < 7; i++) {
            System.out.println(loopFromStart(i) + " " + dense(i) + " " + attempts(i) + " " + depth(i + 3));
        }
        System.out.println(sparse("alpha") + sparse("omega") + sparse("else") + marked("text") + marked(7));
        System.out.println(new Derived(true, 4).what + new Derived(-3).what + new Derived(6).kept[5]);
        try {
            new Derived(13);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage() + e.getStackTrace()[0]);
        }
        try {
            System.out.println(new Shapes().locks("lock"));
            new Shapes().locks(7);
        } catch (UnsupportedOperationException e) {
            System.out.println(e.getMessage() + e.getStackTrace()[0]);
        }
    }
}
