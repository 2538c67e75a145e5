// SPDX-License-Identifier: GPL-3.0-or-later
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Calls that record themselves as an event of JFR with a duration, as a program would that was written for it. */
public final class JfrCalls implements Runnable {
    private int sum;

    @Name("bench.Call")
    @StackTrace(false)
    static final class Call extends Event {
        int method;
    }

    private int add(int i) {
        Call call = new Call();
        call.begin();
        call.method = 1;
        sum += i;
        call.commit();
        return sum;
    }

    @Override
    public void run() {
        for (int i = 0; i < TracerBench.CALLS; i++) {
            add(i);
        }
    }
}
