package dev.warpwright.measure.orders;

import dev.warpwright.base.DeviceError;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Nsight Compute, which counts what launches of another process do. */
final class NsightCompute {
  static final String TIME = "gpu__time_duration.sum";
  static final String DRAM_READ = "dram__bytes_read.sum";
  static final String DRAM_WRITE = "dram__bytes_write.sum";
  static final String L2_SECTORS = "lts__t_sectors_srcunit_tex.sum";
  static final String L2_HITS = "lts__t_sectors_srcunit_tex_lookup_hit.sum";

  private static final List<String> METRICS =
      List.of(TIME, DRAM_READ, DRAM_WRITE, L2_SECTORS, L2_HITS);
  private static final Pattern CELL = Pattern.compile("\"((?:[^\"]|\"\")*)\"");
  private static final long BETWEEN_LOOKS_MS = 100;

  private NsightCompute() {}

  /**
   * Runs a command under the profiler. Caches are flushed before each launch, clocks are left
   * alone.
   *
   * @param kernels regular expression of the kernels to watch
   * @param seconds after which it is ended
   * @param cancelled asked some times a second; then all is ended
   * @return for each launch of them, in order, the metrics by name; in nanoseconds, bytes, sectors
   * @throws DeviceError if the profiler is not installed, or it or the command fails, or it takes
   *     too long or was cancelled
   */
  static List<Map<String, Double>> count(
      List<String> command, String kernels, double seconds, BooleanSupplier cancelled) {
    List<String> all = new ArrayList<>(List.of("ncu", "--csv", "--page", "raw"));
    all.addAll(List.of("--print-units", "base", "--clock-control", "none"));
    all.addAll(List.of("--target-processes", "all", "--kernel-name", "regex:" + kernels));
    all.addAll(List.of("--metrics", String.join(",", METRICS)));
    all.addAll(command);
    Process process;
    try {
      process = new ProcessBuilder(all).redirectErrorStream(true).start();
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new DeviceError("ncu, Nsight Compute, is not installed: nothing was counted", e);
    }
    List<String> lines = new ArrayList<>();
    Thread reader = Thread.ofPlatform().daemon().start(() -> read(process, lines));
    long end = System.nanoTime() + (long) (seconds * 1e9);
    try {
      while (!process.waitFor(BETWEEN_LOOKS_MS, TimeUnit.MILLISECONDS)) {
        if (cancelled.getAsBoolean()) {
          throw new DeviceError("cancelled");
        }
        if (System.nanoTime() > end) {
          throw new DeviceError(
              String.format(
                  Locale.ROOT,
                  "Nsight Compute did not end within %.0f s: nothing was counted",
                  seconds));
        }
      }
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while Nsight Compute ran", e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    List<Map<String, Double>> launches = parse(lines);
    if (process.exitValue() != 0 || launches.isEmpty()) {
      throw new DeviceError(
          "Nsight Compute counted nothing: " + (lines.isEmpty() ? "no output" : lines.getLast()));
    }
    return launches;
  }

  private static void read(Process process, List<String> lines) {
    try (var reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (!line.isBlank()) {
          lines.add(line.strip());
        }
      }
    } catch (IOException e) {
      lines.add("its output broke off: " + e.getMessage());
    }
  }

  /** The raw page: a line of names, one of units, one for each launch; other lines are skipped. */
  static List<Map<String, Double>> parse(List<String> lines) {
    List<Map<String, Double>> launches = new ArrayList<>();
    List<String> names = List.of();
    for (String line : lines) {
      if (!line.startsWith("\"")) {
        continue;
      }
      List<String> cells = new ArrayList<>();
      Matcher matcher = CELL.matcher(line);
      while (matcher.find()) {
        cells.add(matcher.group(1));
      }
      if (cells.contains(TIME)) {
        names = cells;
        continue;
      }
      Map<String, Double> launch = new LinkedHashMap<>();
      for (String metric : METRICS) {
        int at = names.indexOf(metric);
        String number = at >= 0 && at < cells.size() ? cells.get(at).replace(",", "") : "";
        if (number.matches("[0-9]+(\\.[0-9]+)?")) {
          launch.put(metric, Double.parseDouble(number));
        }
      }
      if (launch.size() == METRICS.size()) {
        launches.add(launch);
      }
    }
    return launches;
  }
}
