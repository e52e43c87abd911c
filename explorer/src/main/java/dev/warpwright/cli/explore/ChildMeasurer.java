package dev.warpwright.cli.explore;

import dev.warpwright.base.DeviceError;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.measure.OwnJava;
import dev.warpwright.measure.orders.ChainMeasurer;
import dev.warpwright.measure.orders.OrderMeasurement;
import dev.warpwright.measure.orders.OrderMeasurer;
import dev.warpwright.measure.orders.RecordedOrders;
import dev.warpwright.perf.order.OrderText;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.workload.FfnWorkload;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
    this(OwnJava.command("dev.warpwright.cli.Main"));
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
    String text = run(command(request), watcher);
    return text == null ? List.of() : RecordedOrders.parse("order measure", text);
  }

  /**
   * Measures orders of two chained products; gives the command's JSON, null if it was cancelled.
   */
  @Nullable String measureChain(ChainMeasurer.Request request, Watcher watcher) {
    try {
      // Orders of two products are long: they go by a file.
      Path file = Files.createTempFile("warpwright-order", ".txt");
      try {
        Files.writeString(
            file,
            request.orders().stream()
                .map(order -> new OrderText(1, order.items()).text())
                .collect(Collectors.joining("\n")));
        return run(command(request, file), watcher);
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new DeviceError("cannot write the order: " + e.getMessage(), e);
    }
  }

  /** What a command says, as text that is not empty; null if it was cancelled. */
  private @Nullable String run(List<String> words, Watcher watcher) {
    Process process;
    try {
      process = new ProcessBuilder(words).start();
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
          return null;
        }
      }
      String said = last.join();
      String text = json.join();
      if (text.isBlank()) {
        throw new DeviceError(said.isEmpty() ? "order measure ended without a word" : said);
      }
      return text;
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
    all.add(counters(request.counterSeconds()));
    return all;
  }

  private List<String> command(ChainMeasurer.Request request, Path file) {
    FfnWorkload work = request.workload();
    List<String> all = new ArrayList<>(command);
    all.addAll(
        List.of(
            "order",
            "measure",
            "M=" + work.m(),
            "N=" + work.hidden(),
            "K=" + work.k(),
            "N2=" + work.n(),
            "dtype=" + work.precision().text(),
            "tile=" + request.tiling().text(),
            "file=" + file,
            "wait="
                + request.waits().stream().map(WaitPolicy::text).collect(Collectors.joining(",")),
            "seed=" + request.seed(),
            "--json",
            counters(request.counterSeconds())));
    return all;
  }

  private static String counters(double seconds) {
    return seconds > 0 ? "seconds=" + (long) Math.ceil(seconds) : "--no-counters";
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
