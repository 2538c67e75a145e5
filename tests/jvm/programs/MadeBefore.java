// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;

/**
 * Makes tasks, says that it is ready, and hands them over so many ms later: some of them wait in the queue of a pool whose
 * workers have been there before. For a tracer that comes in between.
 */
public final class MadeBefore {
    private static final int TASKS = 40;

    private MadeBefore() {
    }

    private static int work(int task) throws InterruptedException {
        Thread.sleep(10);
        return task;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) pool.submit(() -> work(0)).get();
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < TASKS; i++) {
            int task = i;
            tasks.add(new FutureTask<>(() -> work(task)));
        }
        System.out.println("ready");
        Thread.sleep(Long.parseLong(args[0]));
        int sum = 0;
        for (FutureTask<Integer> task : tasks) pool.execute(task);
        for (FutureTask<Integer> task : tasks) sum += task.get();
        pool.shutdown();
        System.out.println(sum == TASKS * (TASKS - 1) / 2 ? "all right" : "WRONG: a sum of " + sum);
    }
}
