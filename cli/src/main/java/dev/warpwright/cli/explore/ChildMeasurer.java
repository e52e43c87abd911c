package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.RecordedOrders;
import dev.warpwright.perf.analyze.Tiling;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Measures by the command {@code order measure} in a process of its own: it can be ended at any
 * time, and a GPU that faults takes nothing along.
 */
final class ChildMeasurer implements OrderMeasurer {
  private static final String SAID = "warpwright: ";
  private static final long BETWEEN_LOOKS_MS = 100;

  /** Both pipes have to be read at once; the common pool may have one thread only. */
  private static final Executor OWN_THREAD = task -> Thread.ofVirtual().start(task);

  private final List<String> command;

  /** The command of this installation. */
  ChildMeasurer() {
    this(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xlog:disable",
            "-XX:-UsePerfData",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.warpwright.cli.Main"));
  }

  /** Another one. */
  ChildMeasurer(List<String> command) {
    this.command = List.copyOf(command);
  }

  /**
   * Measures.
   *
   * @return nothing if it was cancelled
   */
  @Override
  public List<OrderMeasurement> measure(Request request, Watcher watcher) {
    Process process;
    try {
      process = new ProcessBuilder(command(request)).start();
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new DeviceError("cannot start order measure: " + e.getMessage(), e);
    }
    CompletableFuture<String> json = CompletableFuture.supplyAsync(() -> all(process), OWN_THREAD);
    CompletableFuture<String> last =
        CompletableFuture.supplyAsync(() -> tell(process, watcher), OWN_THREAD);
    try {
      while (!process.waitFor(BETWEEN_LOOKS_MS, TimeUnit.MILLISECONDS)) {
        if (watcher.cancelled()) {
          return List.of();
        }
      }
      String said = last.join();
      String text = json.join();
      if (text.isBlank()) {
        throw new DeviceError(said.isEmpty() ? "order measure ended without a word" : said);
      }
      return RecordedOrders.parse("order measure", text);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted", e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private List<String> command(Request request) {
    List<String> all = new ArrayList<>(command);
    all.addAll(
        List.of(
            "order",
            "measure",
            "M=" + request.shape().m(),
            "N=" + request.shape().n(),
            "K=" + request.shape().k(),
            "dtype=" + request.shape().type().text(),
            "tile=" + request.tilings().stream().map(Tiling::text).collect(Collectors.joining(",")),
            "order="
                + request.orders().stream().map(BlockOrder::text).collect(Collectors.joining(",")),
            "seed=" + request.seed(),
            "--json"));
    all.add(
        request.counterSeconds() > 0
            ? "seconds=" + (long) Math.ceil(request.counterSeconds())
            : "--no-counters");
    return all;
  }

  private static String all(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Passes on what the command says; gives its last line. */
  private static String tell(Process process, Watcher watcher) {
    String last = "";
    try (var reader =
        new BufferedReader(
            new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (line.startsWith(SAID)) {
          last = line.substring(SAID.length());
          watcher.say(last);
        }
      }
      return last;
    } catch (IOException e) {
      return last;
    }
  }
}
