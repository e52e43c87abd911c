package dev.warpwright.cuda.compile;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads what {@code ptxas -v} prints. */
final class PtxasLog {
  private static final Pattern ENTRY = Pattern.compile("Compiling entry function '([^']+)'");
  private static final Pattern STACK =
      Pattern.compile(
          "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  private static final Pattern REGISTERS = Pattern.compile("Used (\\d+) registers");
  private static final Pattern CUMULATIVE = Pattern.compile("(\\d+) bytes cumulative stack size");
  private static final Pattern SHARED = Pattern.compile("(\\d+) bytes smem");
  private static final Pattern WARNING =
      Pattern.compile("ptxas warning|Potential Performance Loss|setmaxnreg ignored");

  private PtxasLog() {}

  private static final class Counts {
    int registers;
    int shared;
    int local;
    int stores;
    int loads;
  }

  /**
   * The usage of every kernel that the log reports, in its order; empty if it is no verbose log.
   */
  static List<ResourceUsage> parse(String log) {
    Map<String, Counts> kernels = new LinkedHashMap<>();
    List<String> warnings = new ArrayList<>();
    @Nullable Counts current = null;
    for (String line : log.lines().toList()) {
      Matcher entry = ENTRY.matcher(line);
      if (entry.find()) {
        current = kernels.computeIfAbsent(entry.group(1), name -> new Counts());
      } else if (WARNING.matcher(line).find()) {
        warnings.add(line.strip());
      } else if (current != null) {
        count(line, current);
      }
    }
    return kernels.entrySet().stream().map(e -> usage(e.getKey(), e.getValue(), warnings)).toList();
  }

  /** The lines of a log that warn, by ptxas or by the front end. */
  static List<String> warnings(String log) {
    return log.lines()
        .filter(line -> WARNING.matcher(line).find() || line.contains("warning"))
        .map(String::strip)
        .toList();
  }

  private static void count(String line, Counts counts) {
    Matcher stack = STACK.matcher(line);
    if (stack.find()) {
      // Functions that a kernel calls are reported after it, each with a frame of its own.
      counts.local += number(stack, 1);
      counts.stores += number(stack, 2);
      counts.loads += number(stack, 3);
    }
    Matcher registers = REGISTERS.matcher(line);
    if (registers.find()) {
      counts.registers = number(registers, 1);
      Matcher shared = SHARED.matcher(line);
      counts.shared = shared.find() ? number(shared, 1) : 0;
      Matcher cumulative = CUMULATIVE.matcher(line);
      if (cumulative.find()) {
        counts.local = number(cumulative, 1);
      }
    }
  }

  private static ResourceUsage usage(String kernel, Counts counts, List<String> warnings) {
    List<String> mine =
        warnings.stream().filter(warning -> warning.contains("'" + kernel + "'")).toList();
    return new ResourceUsage(
        kernel, counts.registers, counts.shared, counts.local, counts.stores, counts.loads, mine);
  }

  private static int number(Matcher matcher, int group) {
    return (int) Math.min(Integer.MAX_VALUE, Long.parseLong(matcher.group(group)));
  }
}
