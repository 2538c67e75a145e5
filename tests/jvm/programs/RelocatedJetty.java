// SPDX-License-Identifier: GPL-3.0-or-later
import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Asks WireMock's standalone server, whose Jetty lies in packages of its own, N times in all, by eight clients. */
public final class RelocatedJetty {
    private RelocatedJetty() {
    }

    private static int ask(HttpClient client, HttpRequest request, int count) throws Exception {
        int good = 0;
        for (int i = 0; i < count; i++) {
            if (client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() == 200) good++;
        }
        return good;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]), clients = 8, good = 0;
        WireMockServer server =
                new WireMockServer(WireMockConfiguration.options().dynamicPort().bindAddress("127.0.0.1"));
        server.start();
        server.stubFor(WireMock.get("/hello").willReturn(WireMock.ok("hello").withFixedDelay(2)));
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/hello")).build();
        ExecutorService pool = Executors.newFixedThreadPool(clients);
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < clients; i++) answers.add(pool.submit(() -> ask(client, request, count / clients)));
        for (Future<Integer> answer : answers) good += answer.get();
        pool.shutdown();
        server.stop();
        System.out.println("relocated: ran=" + good);
        System.exit(0);
    }
}
