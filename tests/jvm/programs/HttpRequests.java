// SPDX-License-Identifier: GPL-3.0-or-later
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server with two contexts, which asks itself COUNT times: every fourth request is an order, every fifth fails. */
class HttpRequests {
    private static void ask(int port, String path, boolean posts) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL("http://127.0.0.1:" + port + path).openConnection();
        if (posts) {
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection.getOutputStream().write(1);
        }
        boolean failed = connection.getResponseCode() >= 400;
        try (InputStream in = failed ? connection.getErrorStream() : connection.getInputStream()) {
            while (in.read() >= 0) {
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService pool = Executors.newFixedThreadPool(3);
        HttpHandler handler = exchange -> {
            byte[] answer = "hello".getBytes();
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().endsWith("bad") ? 500 : 200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        };
        server.setExecutor(pool);
        server.createContext("/product", handler);
        server.createContext("/order", handler);
        server.start();
        int count = Integer.parseInt(args[0]);
        for (int i = 0; i < count; i++) {
            String path = i % 4 == 0 ? "/order/" : "/product/";
            ask(server.getAddress().getPort(), path + (i % 5 == 0 ? "bad" : "secret" + i), i % 4 == 0);
        }
        server.stop(0);
        pool.shutdown();
        System.out.println("asked=" + count);
    }
}
