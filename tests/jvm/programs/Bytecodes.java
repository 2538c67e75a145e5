// SPDX-License-Identifier: GPL-3.0-or-later

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Tasks whose bytecodes were counted by hand, from what javac makes of them (javap -c). Each is executed three times: the
 * first one also links what it uses. The counts are in comments, an instruction a unit; tests/jvm/bytecodes has them, too.
 * With the word "virtual" the worker is a virtual thread.
 */
public class Bytecodes {
    static int total;
    static final RuntimeException PREPARED = new RuntimeException("made before");

    // 4, then 101 x 3 for the condition, 100 x 6 for the body, and 3: 910
    static class Loop implements Runnable {
        public void run() {
            int sum = 0; // 2
            for (int i = 0; i < 100; i++) { // 2; iload, bipush, if_icmpge; iinc, goto
                sum += i; // 4
            }
            total = sum; // 2, and return
        }
    }

    // 2, then 9 x 3 for the condition, 8 x 5 for the body and 8 x 4 for of, and 1: 102
    static class Table implements Runnable {
        static int of(int which) {
            switch (which) { // 2: iload, tableswitch
                case 1:
                case 2:
                    return 10; // 2
                case 3:
                    return 30; // 2
                default:
                    return -1; // 2
            }
        }

        public void run() {
            for (int i = 0; i < 8; i++) { // 2; iload, bipush, if_icmpge; iinc, goto
                of(i); // iload, invokestatic, pop
            }
        }
    }

    // the same with keys far apart, and arms of 2, 4 and 6
    static class Lookup implements Runnable {
        static int of(int which) {
            switch (which) { // 2: iload, lookupswitch
                case 1000:
                    return 1; // 2
                case 2000:
                    which += 1; // 1
                    which += 2; // 1
                    return which; // 2
                default:
                    which = which * which; // 4
                    return which; // 2
            }
        }

        // 3 x (sipush, invokestatic, pop) + 4 + 6 + 8 + return: 28
        public void run() {
            of(1000);
            of(2000);
            of(3000);
        }
    }

    // calls of fib: 177, of which 89 end at once (6) and 88 call two more (13); with bipush, invokestatic, pop, return: 1682
    static class Recursion implements Runnable {
        static int fib(int n) {
            return n < 2 ? n : fib(n - 1) + fib(n - 2);
        }

        public void run() {
            fib(10);
        }
    }

    interface Shape {
        int area();
    }

    // <init>: aload, invokespecial, aload, iload, putfield, return: 6 (Object's own is none of it); area: 6
    static class Square implements Shape {
        final int side;

        Square(int side) {
            this.side = side;
        }

        public int area() {
            return side * side;
        }
    }

    // <init>: aload, iload, invokespecial, aload, iload, putfield, return: 7, and Square's 6; area: 6, and Square's 6
    static class Box extends Square {
        int height;

        Box(int side) {
            super(side);
            height = side;
        }

        public int area() {
            return super.area() * height;
        }
    }

    static class Objects implements Runnable {
        public void run() {
            Shape square = new Square(3); // new, dup, iconst, invokespecial, astore: 5 + 6
            Shape box = new Box(4); // 5 + 13
            total = square.area() + box.area(); // 6: aload, invokeinterface, twice, iadd, putstatic; + 6 + 12
        } // 1: 54 in all
    }

    // What throws an exception ends there: what comes after it in the same line has not run.
    static class Throws implements Runnable {
        static int check(int n) {
            if (n > 2) { // 3
                throw PREPARED; // getstatic, athrow: 2
            }
            return n; // 2
        }

        static int twice(int n) {
            return check(n) + check(n + 1); // iload, invokestatic, iload, iconst, iadd, invokestatic, iadd, ireturn: 8
        }

        // twice(1): 8 + 5 + 5; twice(2): 6 + 5 + 5; twice(3): 2 + 5
        public void run() {
            for (int i = 1; i <= 3; i++) { // 2; 4 x 3; 3 x 2
                try {
                    total = twice(i) + 5; // iload, invokestatic, iconst, iadd, putstatic, goto: 6; 2 of them where it throws
                } catch (RuntimeException e) {
                    total = 7; // astore, bipush, putstatic: 3
                }
            }
        } // 2 + 12 + 6 + (6 + 18) + (2 + 16 + 3) + (2 + 7 + 3) + 1: 78
    }

    // A finally block runs on both ways, and an exception that it lets through ends up in the caller's handler.
    static class Finally implements Runnable {
        static void risky(boolean fails) {
            try {
                if (fails) { // 2
                    throw PREPARED; // 2
                }
            } finally {
                total++; // 4: getstatic, iconst, iadd, putstatic; then goto: 1; or around it astore, aload, athrow: 3
            }
        } // return: 1

        // risky(false): 2 + 4 + 1 + 1; risky(true): 2 + 2 + 4 + 3
        public void run() {
            try {
                risky(false); // 2
                risky(true); // 2
                total = 1;
            } catch (RuntimeException e) {
                total = 2; // astore, iconst, putstatic: 3
            }
        } // return: 1; 2 + 8 + 2 + 11 + 3 + 1: 27
    }

    // lock, enter, 4, leave, goto, return: a monitor's own handler doesn't run
    static class Locks implements Runnable {
        public void run() {
            synchronized (this) { // aload, dup, astore, monitorenter: 4
                total++; // 4
            } // aload, monitorexit, goto: 3
        } // 1: 12
    }

    // Exceptions of the JVM's, whose constructors' counts are their JDK's own: what is behind the throwing instruction makes
    // no difference, so both classes have the same count.
    static class Implicit implements Runnable {
        static int[] none, few = new int[1];
        static Object text = "text";
        static Square nothing;
        static Box box;
        static int zero, past = 5, negative = -1;
        static long longZero;

        public void run() {
            try { total = few[past]; } catch (RuntimeException e) { total = 1; }
            try { few[past] = 1; } catch (RuntimeException e) { total = 1; }
            try { total = none.length; } catch (RuntimeException e) { total = 1; }
            try { total = nothing.side; } catch (RuntimeException e) { total = 1; }
            try { box.height = 3; } catch (RuntimeException e) { total = 1; }
            try { total = nothing.area(); } catch (RuntimeException e) { total = 1; }
            try { total = past / zero; } catch (RuntimeException e) { total = 1; }
            try { total = past % zero; } catch (RuntimeException e) { total = 1; }
            try { total = (int) (past / longZero); } catch (RuntimeException e) { total = 1; }
            try { total = (int) (past % longZero); } catch (RuntimeException e) { total = 1; }
            try { total = ((Integer) text).hashCode(); } catch (RuntimeException e) { total = 1; }
            try { total = new int[negative].length; } catch (RuntimeException e) { total = 1; }
            try { total = new int[negative][1].length; } catch (RuntimeException e) { total = 1; }
            try { total = new String[negative].length; } catch (RuntimeException e) { total = 1; }
            try { synchronized (nothing) { total = 1; } } catch (RuntimeException e) { total = 1; }
        }
    }

    static class ImplicitLonger extends Implicit {
        public void run() {
            try { total = few[past] + past + 1; } catch (RuntimeException e) { total = 1; }
            try { few[past] = 1; total = past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = none.length + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = nothing.side + past + 1; } catch (RuntimeException e) { total = 1; }
            try { box.height = 3; total = past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = nothing.area() + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = past / zero + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = past % zero + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = (int) (past / longZero) + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = (int) (past % longZero) + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = ((Integer) text).hashCode() + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = new int[negative].length + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = new int[negative][1].length + past + 1; } catch (RuntimeException e) { total = 1; }
            try { total = new String[negative].length + past + 1; } catch (RuntimeException e) { total = 1; }
            try { synchronized (nothing) { total = past + 1; } } catch (RuntimeException e) { total = 1; }
        }
    }

    // Compiled long before its end, by each compiler, on-stack replacement included; every 1000th call throws.
    static class Hot implements Runnable {
        static final int TIMES = 3_000_000;

        static int step(int i) {
            if (i % 1000 == 0) { // iload, sipush, irem, ifne: 4
                throw PREPARED; // 2
            }
            return i & 7; // 4
        }

        // 4; the condition 3 (iload, ldc, if_icmpge); iload, iload, invokestatic, iadd, istore, goto: 6, or 3 (the call is
        // the third) and astore, iinc: 2; iinc, goto: 2
        public void run() {
            int sum = 0;
            for (int i = 0; i < TIMES; i++) {
                try {
                    sum += step(i);
                } catch (RuntimeException e) {
                    sum++;
                }
            }
            total = sum; // 2, and return
        } // 4 + 3 x 3,000,001 + 2,997,000 x (6 + 8 + 2) + 3,000 x (3 + 6 + 2 + 2) + 3: 56,991,010
    }

    public static void main(String[] arguments) throws Exception {
        ThreadFactory threads = Executors.defaultThreadFactory();
        if (arguments.length > 0) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            threads = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        }
        ExecutorService worker = Executors.newSingleThreadExecutor(threads);
        Runnable[] tasks = {new Loop(), new Table(), new Lookup(), new Recursion(), new Objects(), new Throws(), new Finally(),
                new Locks(), new Implicit(), new ImplicitLonger(), new Hot()};
        for (int times = 0; times < 3; times++) {
            for (Runnable task : tasks) {
                worker.execute(task);
            }
        }
        worker.shutdown();
        System.out.println(worker.awaitTermination(10, TimeUnit.MINUTES));
    }
}
