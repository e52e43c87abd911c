package dev.warpwright.explorer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExplorerTest {
  private Explorer explorer;

  @BeforeEach
  void start() {
    explorer =
        Explorer.start(
            0,
            Map.of(
                "echo", p -> Text.quote(p.toString()),
                "bad",
                    p -> {
                      throw new UserError("no <b>such\nthing");
                    },
                "bug",
                    p -> {
                      throw new IllegalStateException("lost");
                    }),
            Map.of("act", p -> Text.quote("done " + p)));
  }

  @AfterEach
  void stop() {
    explorer.close();
  }

  private int port() {
    return explorer.address().getPort();
  }

  /** Sends text as it stands, since a client would repair what a test wants to be wrong. */
  private String raw(String request) throws IOException {
    try (var socket = new Socket("127.0.0.1", port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.getOutputStream().flush();
      try (InputStream in = socket.getInputStream()) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    }
  }

  private String get(String path, String host) throws IOException {
    return raw("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  }

  private String get(String path) throws IOException {
    return get(path, "127.0.0.1:" + port());
  }

  private String post(String path, String headers, String body) throws IOException {
    return raw(
        String.format(
            Locale.ROOT,
            "POST %s HTTP/1.1\r\n"
                + "Host: localhost:%d\r\n"
                + "Connection: close\r\n"
                + "%sContent-Length: %d\r\n\r\n"
                + "%s",
            path,
            port(),
            headers,
            body.length(),
            body));
  }

  private String form() {
    return "Origin: http://localhost:"
        + port()
        + "\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\n";
  }

  @Test
  void givesOutItsPageUnderAStrictPolicy() throws IOException {
    assertThat(get("/"))
        .startsWith("HTTP/1.1 200")
        .contains(
            "<!doctype html>", "Content-security-policy: default-src 'none'; script-src 'self'")
        .contains("X-content-type-options: nosniff")
        .doesNotContain("unsafe");
  }

  @Test
  void answersParameters() throws IOException {
    assertThat(get("/api/echo?a=1&b=x%20%C3%A4")).endsWith("\"{a=1, b=x \\u00e4}\"");
    assertThat(post("/api/act", form(), "k=v")).endsWith("\"done {k=v}\"");
  }

  @Test
  void mistakesGetAMessage() throws IOException {
    assertThat(get("/api/bad")).startsWith("HTTP/1.1 400").contains("no <b>such\\u000athing");
    assertThat(get("/api/bug")).startsWith("HTTP/1.1 500").contains("bug in warpwright");
    assertThat(get("/api/echo?a=%zz")).startsWith("HTTP/1.1 400");
    assertThat(get("/api/echo?a=1&a=2")).startsWith("HTTP/1.1 400").contains("twice");
    assertThat(get("/api/none")).startsWith("HTTP/1.1 404");
    assertThat(get("/api/echo?a=" + "x".repeat(20_000))).startsWith("HTTP/1.1 414");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/../Explorer.class",
        "/%2e%2e/Explorer.class",
        "/..%2fExplorer.class",
        "//etc/passwd",
        "/index.html/",
        "/.html",
        "/page/index.html",
        "/INDEX.html"
      })
  void nothingButThePageIsGivenOut(String path) throws IOException {
    assertThat(get(path)).startsWith("HTTP/1.1 404");
  }

  @ParameterizedTest
  @ValueSource(strings = {"example.com", "127.0.0.1", "127.0.0.1:1", "evil.localhost:80", ""})
  void otherHostsAreRefused(String host) throws IOException {
    assertThat(get("/", host)).startsWith("HTTP/1.1 403");
  }

  @Test
  void onlyThePagePosts() throws IOException {
    String type = "Content-Type: application/x-www-form-urlencoded\r\n";
    assertThat(post("/api/act", type, "")).startsWith("HTTP/1.1 403");
    assertThat(post("/api/act", type + "Origin: http://example.com\r\n", ""))
        .startsWith("HTTP/1.1 403");
    assertThat(post("/api/act", type + "Origin: null\r\n", "")).startsWith("HTTP/1.1 403");
    assertThat(post("/api/act", form() + "Sec-Fetch-Site: cross-site\r\n", ""))
        .startsWith("HTTP/1.1 403");
    assertThat(post("/api/act", "Origin: http://localhost:" + port() + "\r\n", ""))
        .startsWith("HTTP/1.1 415");
    assertThat(post("/api/act", form(), "x=" + "y".repeat(70_000))).startsWith("HTTP/1.1 413");
    assertThat(get("/api/act")).startsWith("HTTP/1.1 404");
    assertThat(post("/api/echo", form(), "")).startsWith("HTTP/1.1 404");
    assertThat(raw("PUT / HTTP/1.1\r\nHost: localhost:" + port() + "\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 405");
  }

  @Test
  void listensOnTheLoopbackInterfaceOnly() throws IOException {
    assertThat(explorer.address().getHost()).isEqualTo("127.0.0.1");
    for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
      for (InetAddress address : network.inetAddresses().toList()) {
        if (!address.isLoopbackAddress()) {
          assertThatThrownBy(() -> new Socket(address, port()).close())
              .isInstanceOf(IOException.class);
        }
      }
    }
  }

  @Test
  void aTakenPortIsSaid() {
    assertThatThrownBy(() -> Explorer.start(port(), Map.of(), Map.of()))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("try another one");
    assertThatThrownBy(() -> Explorer.start(70_000, Map.of(), Map.of()))
        .isInstanceOf(UserError.class);
  }

  @Test
  void jobsAreAskedAfterAndCancelled() throws InterruptedException {
    try (var jobs = new Jobs()) {
      var begun = new CountDownLatch(1);
      long number =
          jobs.start(
              "test",
              job -> {
                job.report("{\"states\": 7}");
                begun.countDown();
                while (!job.cancelled()) {
                  Thread.onSpinWait();
                }
                return "42";
              });
      begun.await();
      String id = Long.toString(number);
      assertThat(jobs.status(id)).contains("\"running\": true", "\"progress\": {\"states\": 7}");
      long other = jobs.start("test", job -> waitFor(job));
      assertThatThrownBy(() -> jobs.start("test", job -> "1")).hasMessageContaining("cancel one");
      jobs.cancel(id);
      jobs.cancel(Long.toString(other));
      while (jobs.status(id).contains("\"running\": true")) {
        Thread.sleep(1);
      }
      assertThat(jobs.status(id)).contains("\"result\": 42");
      assertThatThrownBy(() -> jobs.status("99")).hasMessageContaining("no such job");
      assertThatThrownBy(() -> jobs.status("x")).hasMessageContaining("no such job");
    }
  }

  @Test
  void workThatLostItsPageEnds() throws InterruptedException {
    try (var jobs = new Jobs(Duration.ofMillis(400))) {
      var ended = new CountDownLatch(1);
      String id =
          Long.toString(
              jobs.start(
                  "test",
                  job -> {
                    while (!job.cancelled()) {
                      Thread.onSpinWait();
                    }
                    ended.countDown();
                    return "1";
                  }));
      for (int i = 0; i < 12; i++) {
        assertThat(jobs.status(id)).as("somebody asks").contains("\"running\": true");
        Thread.sleep(50);
      }
      assertThat(ended.await(10, TimeUnit.SECONDS)).as("nobody asks any more").isTrue();
    }
  }

  private static String waitFor(Jobs.Job job) {
    while (!job.cancelled()) {
      Thread.onSpinWait();
    }
    throw new UserError("stopped");
  }
}
