// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** Requests, one after the other, each of which forks three tasks and joins them; one of the three forks two of its own. */
public final class StructuredTasks {
    private static final int REQUESTS = 10;

    private StructuredTasks() {
    }

    private static int query(int number) throws InterruptedException {
        Thread.sleep(1 + number % 3);
        return number;
    }

    private static int both(int number) throws InterruptedException {
        try (var scope = StructuredTaskScope.open()) {
            Subtask<Integer> one = scope.fork(() -> query(number));
            Subtask<Integer> other = scope.fork(() -> query(number + 1));
            scope.join();
            return one.get() + other.get();
        }
    }

    private static int request(int number) throws InterruptedException {
        try (var scope = StructuredTaskScope.open()) {
            List<Subtask<Integer>> tasks = new ArrayList<>();
            tasks.add(scope.fork(() -> query(number)));
            tasks.add(scope.fork(() -> query(number + 2)));
            tasks.add(scope.fork(() -> both(number)));
            scope.join();
            return tasks.stream().mapToInt(Subtask::get).sum();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < REQUESTS; i++) {
            sum += request(i);
        }
        System.out.println("sum=" + sum + " tasks=" + REQUESTS * 5 + " joins=" + REQUESTS * 2);
    }
}
