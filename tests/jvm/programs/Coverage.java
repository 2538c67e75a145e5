// SPDX-License-Identifier: GPL-3.0-or-later
// A call of `round` runs 38 methods, itself included, the longest of them 17 times as long as the shortest: what a
// sampler sees grows with rounds. Coverage ROUNDS
public class Coverage {
    static volatile double sink;

    public static void main(String[] arguments) throws Exception {
        Thread[] idle = new Thread[40]; // so that a moment has more stacks than one
        for (int i = 0; i < idle.length; i++) {
            idle[i] = new Thread(Coverage::idles, "idle-" + i);
            idle[i].setDaemon(true);
            idle[i].start();
        }
        System.out.println("ready");
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
        work(1846);
    }

    static void step02() {
        work(1704);
    }

    static void step03() {
        work(1573);
    }

    static void step04() {
        work(1452);
    }

    static void step05() {
        work(1341);
    }

    static void step06() {
        work(1238);
    }

    static void step07() {
        work(1142);
    }

    static void step08() {
        work(1055);
    }

    static void step09() {
        work(974);
    }

    static void step10() {
        work(899);
    }

    static void step11() {
        work(830);
    }

    static void step12() {
        work(766);
    }

    static void step13() {
        work(707);
    }

    static void step14() {
        work(653);
    }

    static void step15() {
        work(602);
    }

    static void step16() {
        work(556);
    }

    static void step17() {
        work(513);
    }

    static void step18() {
        work(474);
    }

    static void step19() {
        work(437);
    }

    static void step20() {
        work(404);
    }

    static void step21() {
        work(373);
    }

    static void step22() {
        work(344);
    }

    static void step23() {
        work(318);
    }

    static void step24() {
        work(293);
    }

    static void step25() {
        work(271);
    }

    static void step26() {
        work(250);
    }

    static void step27() {
        work(231);
    }

    static void step28() {
        work(213);
    }

    static void step29() {
        work(197);
    }

    static void step30() {
        work(181);
    }

    static void step31() {
        work(167);
    }

    static void step32() {
        work(155);
    }

    static void step33() {
        work(143);
    }

    static void step34() {
        work(132);
    }

    static void step35() {
        work(122);
    }
}
