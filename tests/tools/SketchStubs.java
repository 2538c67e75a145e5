// SPDX-License-Identifier: GPL-3.0-or-later
// What the sketches of tests/unit/sketch_test.c name beside the JDK, so that they compile: code of the program, and the
// little of Akka, Reactor and connection pools that they use. The test puts each sketch into a method behind this.
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

@SuppressWarnings({"rawtypes", "unchecked"})
class Sketches {
    static class Result {}
    static class Item {}
    static class Message {}
    static class Fib extends RecursiveTask<Result> {
        Fib(Object input) {}
        protected Result compute() { return null; }
    }
    static class Letter implements Runnable {
        Letter(Object input) {}
        public void run() {}
    }
    static Object input, key, value;
    static List<Item> items;
    static ReentrantLock[] stripes;
    static int count, i, n;
    static ExecutorService pool1, pool;

    static Result work(Object of) { return null; }
    static Result combine(Result one, Result other) { return null; }
    static Result prepare(Object of) { return null; }
    static void store(Object of, Object what) {}
    static boolean callsLoad(Object of) { return false; }
    static boolean takesPath(Object of) { return false; }
    static Result part0(Object of) { return null; }
    static Result part1(Object... of) { return null; }
    static Result part2(Object... of) { return null; }
    static Result part3(Object... of) { return null; }
    static Result part4(Object... of) { return null; }

    // Before and after: a task's result as a Future, and as a CompletableFuture.
    static CompletableFuture<Result> sub(Object of) { return null; }
    static CompletableFuture<Result> other(Object of) { return null; }

    // Resources
    static class Settings {
        void setMaximumPoolSize(int n) {}
        void setMaxTotal(int n) {}
        void setMaxActive(int n) {}
    }
    static Settings config, dataSource;
    static Object cache;
    static ReentrantLock lock;
    static ReadWriteLock state;
    static BlockingQueue<Item> clients;

    // Schedulers
    static class Scheduler {}
    static class Schedulers {
        static Scheduler newBoundedElastic(int threads, int queued, String name) { return null; }
    }

    // Actors
    static class ActorRef<T> {
        void tell(Object message, ActorRef from) {}
        void onMoved(Object message) {}
        void onHit(Object message) {}
    }
    static class Props {
        static Props create(Class<?> type) { return null; }
        Props withDispatcher(String name) { return this; }
    }
    static class RoundRobinPool {
        RoundRobinPool(int n) {}
        Props props(Props of) { return of; }
    }
    static class Behavior {}
    static class Routers {
        static Routers pool(int n, Behavior of) { return null; }
        Behavior withRoundRobinRouting() { return null; }
    }
    static class DispatcherSelector {
        static DispatcherSelector fromConfig(String name) { return null; }
    }
    static class Context {
        ActorRef actorOf(Props of) { return null; }
        ActorRef actorOf(Props of, String name) { return null; }
        <T> ActorRef<T> spawn(Behavior of, String name) { return null; }
        <T> ActorRef<T> spawn(Behavior of, String name, DispatcherSelector selector) { return null; }
        <T> ActorRef<T> spawnAnonymous(Behavior of) { return null; }
    }
    static Context context;
    static ActorRef receiver;
    static ActorRef getSelf() { return null; }
    static class Physics {}
    static class Sound {}
    static class Renderer {}
    static class Shop {
        static Behavior pricer() { return null; }
    }
    static class Moved { Moved(Object of) {} }
    static class Hit { Hit(Object of) {} }
