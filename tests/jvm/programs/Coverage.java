// SPDX-License-Identifier: GPL-3.0-or-later
// A program of 40 methods of which a call of `round` runs all, the longest for milliseconds, the shortest for
// microseconds: what a sampler sees of it grows with rounds. Coverage ROUNDS
public class Coverage {
    static volatile double sink;

    public static void main(String[] arguments) throws Exception {
        Thread[] idle = new Thread[40]; // so that a moment has more stacks than one
        for (int i = 0; i < idle.length; i++) {
            idle[i] = new Thread(Coverage::idles, "idle-" + i);
            idle[i].setDaemon(true);
            idle[i].start();
        }
        int rounds = Integer.parseInt(arguments[0]);
        for (int i = 0; i < rounds; i++) round();
    }

    static void idles() {
        try {
            Thread.sleep(3600000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // Compiled or not, there is a loop in the caller's own code at which it can be stopped.
    static void work(int units) {
        double sum = 0;
        for (int unit = 0; unit < units; unit++)
            for (int i = 1; i < 400; i++) sum += Math.sqrt(i + unit);
        sink = sum;
    }

    static void round() {
        step00();
        step01();
        step02();
        step03();
        step04();
        step05();
        step06();
        step07();
        step08();
        step09();
        step10();
        step11();
        step12();
        step13();
        step14();
        step15();
        step16();
        step17();
        step18();
        step19();
        step20();
        step21();
        step22();
        step23();
        step24();
        step25();
        step26();
        step27();
        step28();
        step29();
        step30();
        step31();
        step32();
        step33();
        step34();
        step35();
    }

    static void step00() {
        work(2000);
    }

    static void step01() {
        work(1654);
    }

    static void step02() {
        work(1368);
    }

    static void step03() {
        work(1131);
    }

    static void step04() {
        work(935);
    }

    static void step05() {
        work(773);
    }

    static void step06() {
        work(640);
    }

    static void step07() {
        work(529);
    }

    static void step08() {
        work(437);
    }

    static void step09() {
        work(362);
    }

    static void step10() {
        work(299);
    }

    static void step11() {
        work(247);
    }

    static void step12() {
        work(205);
    }

    static void step13() {
        work(169);
    }

    static void step14() {
        work(140);
    }

    static void step15() {
        work(116);
    }

    static void step16() {
        work(96);
    }

    static void step17() {
        work(79);
    }

    static void step18() {
        work(65);
    }

    static void step19() {
        work(54);
    }

    static void step20() {
        work(45);
    }

    static void step21() {
        work(37);
    }

    static void step22() {
        work(31);
    }

    static void step23() {
        work(25);
    }

    static void step24() {
        work(21);
    }

    static void step25() {
        work(17);
    }

    static void step26() {
        work(14);
    }

    static void step27() {
        work(12);
    }

    static void step28() {
        work(10);
    }

    static void step29() {
        work(8);
    }

    static void step30() {
        work(7);
    }

    static void step31() {
        work(6);
    }

    static void step32() {
        work(5);
    }

    static void step33() {
        work(4);
    }

    static void step34() {
        work(3);
    }

    static void step35() {
        work(3);
    }
}
