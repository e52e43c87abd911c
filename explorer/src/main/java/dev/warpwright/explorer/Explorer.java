package dev.warpwright.explorer;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The server of the page; see the package for what it lets pass. */
public final class Explorer implements AutoCloseable {
  private static final int LONGEST_QUERY = 16 << 10;
  private static final int LONGEST_BODY = 64 << 10;
  private static final int BACKLOG = 64;
  private static final Pattern PAGE_FILE = Pattern.compile("/[a-z0-9-]{1,40}\\.(html|css|js|svg)");

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private final HttpServer server;
  private final ExecutorService threads;
  private final Map<String, Endpoint> readers;
  private final Map<String, Endpoint> actors;
  private final Set<String> hosts;

  private Explorer(HttpServer server, Map<String, Endpoint> readers, Map<String, Endpoint> actors) {
    this.server = server;
    this.readers = Map.copyOf(readers);
    this.actors = Map.copyOf(actors);
    int port = server.getAddress().getPort();
    this.hosts = Set.of("127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port);
    this.threads = Executors.newVirtualThreadPerTaskExecutor();
  }

  /**
   * Starts the server on the loopback interface.
   *
   * @param port 0 for any that is free
   * @param readers what {@code GET /api/NAME} answers; it changes nothing
   * @param actors what {@code POST /api/NAME} does, for the page itself only
   * @throws UserError if the port is out of range or taken
   */
  public static Explorer start(
      int port, Map<String, Endpoint> readers, Map<String, Endpoint> actors) {
    if (port < 0 || port > 65_535) {
      throw new UserError("--port " + port + ": a port is between 0 and 65535");
    }
    try {
      var address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port);
      HttpServer server = HttpServer.create(address, BACKLOG);
      var explorer = new Explorer(server, readers, actors);
      server.setExecutor(explorer.threads);
      server.createContext("/", explorer::handle);
      server.start();
      return explorer;
    } catch (BindException e) {
      throw new UserError(
          "--port " + port + ": cannot listen there (" + e.getMessage() + "); try another one");
    } catch (IOException e) {
      throw new DeviceError("cannot listen on the loopback interface: " + e.getMessage());
    }
  }

  /** Where the page is. */
  public URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      try {
        route(exchange);
      } catch (UserError e) {
        error(exchange, 400, String.valueOf(e.getMessage()));
      } catch (DeviceError e) {
        error(exchange, 503, String.valueOf(e.getMessage()));
      } catch (RuntimeException e) {
        error(exchange, 500, "this is a bug in warpwright, please report it: " + e);
      }
    }
  }

  private void route(HttpExchange exchange) throws IOException {
    Headers headers = exchange.getRequestHeaders();
    String host = headers.getFirst("Host");
    if (host == null || !hosts.contains(host)) {
      error(exchange, 403, "this server answers only to its own name");
      return;
    }
    URI uri = exchange.getRequestURI();
    String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    if (query.length() > LONGEST_QUERY) {
      error(exchange, 414, "the query is too long");
      return;
    }
    String path = uri.getPath() == null ? "" : uri.getPath();
    switch (exchange.getRequestMethod()) {
      case "GET" -> {
        if (path.startsWith("/api/")) {
          answer(exchange, readers.get(path.substring(5)), query);
        } else {
          page(exchange, path.equals("/") ? "/index.html" : path);
        }
      }
      case "POST" -> post(exchange, headers, path);
      default -> error(exchange, 405, "only GET and POST are answered");
    }
  }

  private void post(HttpExchange exchange, Headers headers, String path) throws IOException {
    String origin = headers.getFirst("Origin");
    String site = headers.getFirst("Sec-Fetch-Site");
    boolean own = origin != null && hosts.stream().anyMatch(h -> origin.equals("http://" + h));
    if (!own || site != null && !site.equals("same-origin")) {
      error(exchange, 403, "only the page itself may post");
      return;
    }
    String type = headers.getFirst("Content-Type");
    if (type == null || !type.startsWith("application/x-www-form-urlencoded")) {
      error(exchange, 415, "a form is expected");
      return;
    }
    byte[] body;
    try (InputStream in = exchange.getRequestBody()) {
      body = in.readNBytes(LONGEST_BODY + 1);
    }
    if (body.length > LONGEST_BODY) {
      error(exchange, 413, "the form is too long, at most " + LONGEST_BODY + " bytes");
      return;
    }
    Endpoint endpoint = path.startsWith("/api/") ? actors.get(path.substring(5)) : null;
    answer(exchange, endpoint, new String(body, StandardCharsets.UTF_8));
  }

  private void answer(HttpExchange exchange, @Nullable Endpoint endpoint, String parameters)
      throws IOException {
    if (endpoint == null) {
      error(exchange, 404, "there is no such thing here");
      return;
    }
    String json = endpoint.answer(Text.parameters(parameters));
    send(exchange, 200, "application/json; charset=utf-8", json.getBytes(StandardCharsets.UTF_8));
  }

  private void page(HttpExchange exchange, String path) throws IOException {
    InputStream found =
        PAGE_FILE.matcher(path).matches()
            ? Explorer.class.getResourceAsStream("page" + path)
            : null;
    if (found == null) {
      error(exchange, 404, "there is no such page");
      return;
    }
    try (InputStream in = found) {
      String type = TYPES.get(path.substring(path.lastIndexOf('.') + 1));
      send(exchange, 200, String.valueOf(type), in.readAllBytes());
    }
  }

  private static void error(HttpExchange exchange, int code, String message) throws IOException {
    String json = "{\"error\": " + Text.quote(message) + "}";
    send(exchange, code, "application/json; charset=utf-8", json.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int code, String type, byte[] body)
      throws IOException {
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", type);
    headers.set("Content-Security-Policy", POLICY);
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Cache-Control", "no-store");
    exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  /** Stops listening; requests that are being answered end. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
