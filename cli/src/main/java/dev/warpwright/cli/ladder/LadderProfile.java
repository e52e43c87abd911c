package dev.warpwright.cli.ladder;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.examples.ladder.Rung;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lets Nsight Compute watch one launch of each rung, in a process of its own. */
final class LadderProfile {
  /** What is asked for, and how it is called here. */
  private static final Map<String, String> METRICS = new LinkedHashMap<>();

  static {
    METRICS.put("gpu__time_duration.sum", "time");
    METRICS.put("sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM %");
    METRICS.put("dram__bytes_read.sum", "DRAM read");
    METRICS.put("dram__bytes_write.sum", "DRAM written");
    METRICS.put("lts__t_sectors_srcunit_tex.sum", "L2 sectors");
    METRICS.put("lts__t_sector_hit_rate.pct", "L2 hits %");
    METRICS.put("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "conflicts, loads");
    METRICS.put("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "conflicts, stores");
    METRICS.put("sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy %");
  }

  private static final Pattern FIELD = Pattern.compile("\"((?:[^\"]|\"\")*)\"");

  private LadderProfile() {}

  /**
   * Runs the profiler, which leaves its report for its window; sources are in the folder beside it,
   * and in it.
   *
   * @param ncu how the profiler is called
   * @return for each rung the metrics by name
   * @throws DeviceError if it is not installed or fails
   */
  static Map<String, Map<String, String>> run(
      String ncu, LadderRequest request, List<Rung> rungs, Progress progress) {
    ProcessHandle.Info self = ProcessHandle.current().info();
    Optional<String> java = self.command();
    Optional<String[]> arguments = self.arguments();
    if (java.isEmpty() || arguments.isEmpty()) {
      throw new DeviceError(
          "this system does not tell how to start the command again; --profile needs it");
    }
    List<String> command = new ArrayList<>();
    Path report = Objects.requireNonNull(request.files().report()).toAbsolutePath();
    command.addAll(List.of(ncu, "--export", report.toString(), "--force-overwrite"));
    command.addAll(List.of("--set", "full", "--import-source", "yes"));
    command.addAll(List.of("--target-processes", "all", "--clock-control", "none", "--metrics"));
    command.add(String.join(",", METRICS.keySet()));
    command.addAll(List.of("--kernel-name", "regex:^matmul_"));
    command.add(java.get());
    for (String argument : arguments.get()) {
      if (argument.equals("ladder")) {
        break;
      }
      command.add(argument);
    }
    command.add("ladder");
    command.addAll(List.of("M=" + request.m(), "N=" + request.n(), "K=" + request.k(), "--launch"));
    command.addAll(List.of("dtype=" + request.dtype(), "--no-chart"));
    command.addAll(List.of("--sources", sources(report).toString()));
    for (Rung rung : rungs) {
      command.add("--rung");
      command.add(rung.name());
    }
    progress.say("Nsight Compute watches " + rungs.size() + " launches");
    String said = output(command);
    if (!Files.isRegularFile(report)) {
      throw new DeviceError("Nsight Compute left no report: " + lastLine(said));
    }
    String output = output(List.of(ncu, "--import", report.toString(), "--csv"));
    Map<String, Map<String, String>> counted = new LinkedHashMap<>();
    rungs.forEach(rung -> counted.put(rung.name(), new LinkedHashMap<>()));
    for (String line : output.split("\\R")) {
      read(line, counted);
    }
    if (counted.values().stream().allMatch(Map::isEmpty)) {
      throw new DeviceError("Nsight Compute counted nothing: " + lastLine(output));
    }
    return counted;
  }

  /** Where the sources go that the report's lines are of. */
  private static Path sources(Path report) {
    String name = String.valueOf(report.getFileName()).replaceFirst("\\.ncu-rep$", "");
    return report.resolveSibling(name + "-sources");
  }

  private static String output(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return output;
    } catch (IOException e) {
      throw new DeviceError(
          "cannot start ncu, Nsight Compute, which --profile needs: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while Nsight Compute ran", e);
    }
  }

  private static String lastLine(String output) {
    String[] lines = output.strip().split("\\R");
    return OneLine.of(lines[lines.length - 1]);
  }

  /** A line of its table ends in metric, unit and value; the kernel's name is before them. */
  private static void read(String line, Map<String, Map<String, String>> counted) {
    List<String> fields = new ArrayList<>();
    Matcher matcher = FIELD.matcher(line);
    while (matcher.find()) {
      fields.add(matcher.group(1));
    }
    int count = fields.size();
    if (count < 4 || !METRICS.containsKey(fields.get(count - 3))) {
      return;
    }
    counted.forEach(
        (rung, metrics) -> {
          String kernel = "matmul_" + rung.replace('-', '_');
          if (fields.stream()
              .anyMatch(field -> field.equals(kernel) || field.startsWith(kernel + "("))) {
            String unit = fields.get(count - 2);
            metrics.put(
                METRICS.get(fields.get(count - 3)),
                (fields.get(count - 1) + " " + (unit.equals("%") ? "" : unit)).strip());
          }
        });
  }

  static String text(Map<String, Map<String, String>> counted) {
    List<String> lines = new ArrayList<>();
    lines.add("Nsight Compute, one launch each, from empty caches, clocks not locked:");
    StringBuilder head = new StringBuilder(String.format(Locale.ROOT, "%-17s", "rung"));
    METRICS.values().forEach(name -> head.append(String.format(Locale.ROOT, " %19s", name)));
    lines.add(head.toString());
    counted.forEach(
        (rung, metrics) -> {
          StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-17s", rung));
          METRICS
              .values()
              .forEach(
                  name ->
                      row.append(
                          String.format(Locale.ROOT, " %19s", metrics.getOrDefault(name, "-"))));
          lines.add(row.toString());
        });
    return String.join(System.lineSeparator(), lines);
  }

  static Json json(Map<String, Map<String, String>> counted) {
    return Json.array(
        counted.entrySet(),
        entry -> {
          Json.Members members = Json.object().with("name", entry.getKey());
          for (Map.Entry<String, String> metric : entry.getValue().entrySet()) {
            members = members.with(metric.getKey(), metric.getValue());
          }
          return members;
        });
  }
}
