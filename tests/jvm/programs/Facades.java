// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Has futures computed N times each by three executors that hand on to pools, and says how many were. */
public final class Facades {
    private Facades() {
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]), ran = 0;
        ExecutorService one = Executors.newSingleThreadExecutor();
        ExecutorService four = Executors.newFixedThreadPool(4);
        Executor[] executors = {one, Executors.unconfigurableExecutorService(four), job -> four.execute(job)};
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 3 * count; i++) all.add(CompletableFuture.supplyAsync(() -> 1, executors[i % 3]));
        for (CompletableFuture<Integer> each : all) ran += each.get();
        System.out.println("facades: ran=" + ran);
        one.shutdown();
        four.shutdown();
    }
}
