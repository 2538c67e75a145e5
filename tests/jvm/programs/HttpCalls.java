// SPDX-License-Identifier: GPL-3.0-or-later
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server that asks others before it answers, and asks itself COUNT times: two of three are offers, for which it sleeps
 * 20 ms, reads for 30 what another service says, and sleeps 40 ms, each in a method of its own; one of three is an
 * item, which needs one call alone.
 */
class HttpCalls {
    private static int supplier;

    private static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void stock() {
        pause(20);
    }

    private static void shipping() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), supplier)) {
            while (socket.getInputStream().read() >= 0) {
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void reviews() {
        pause(40);
    }

    private static void offer() {
        stock();
        shipping();
        reviews();
    }

    private static void item() {
        stock();
    }

    /** Answers everybody after 30 ms. */
    private static void supply(ServerSocket server) {
        try {
            while (true) {
                try (Socket socket = server.accept(); OutputStream out = socket.getOutputStream()) {
                    pause(30);
                    out.write(1);
                }
            }
        } catch (IOException e) {
            return; // closed
        }
    }

    private static HttpHandler answer(Runnable work) {
        return exchange -> {
            work.run();
            byte[] answer = "hello".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        };
    }

    private static void ask(int port, String path) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL("http://127.0.0.1:" + port + path).openConnection();
        try (InputStream in = connection.getInputStream()) {
            while (in.read() >= 0) {
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket others = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        supplier = others.getLocalPort();
        new Thread(() -> supply(others)).start();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService pool = Executors.newFixedThreadPool(3);
        server.setExecutor(pool);
        server.createContext("/offer", answer(HttpCalls::offer));
        server.createContext("/item", answer(HttpCalls::item));
        server.start();
        System.out.println("serves");
        int count = Integer.parseInt(args[0]);
        for (int i = 0; i < count; i++) ask(server.getAddress().getPort(), i % 3 == 2 ? "/item" : "/offer");
        server.stop(0);
        others.close();
        pool.shutdown();
        System.out.println("asked=" + count);
    }
}
