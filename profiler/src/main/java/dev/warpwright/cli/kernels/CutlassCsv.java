package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.measure.data.TextFile;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Measurements by the CUTLASS profiler, as its {@code --output} writes them: a header, and a line
 * for each operation and problem. Columns are found by their names; {@code m}, {@code n}, {@code k}
 * and {@code Runtime} (milliseconds) have to be there.
 */
public record CutlassCsv(Path file, List<Row> rows) {
  /**
   * A measurement.
   *
   * @param a type and order of A, as {@code bf16:row}; null if the file does not say it
   * @param b the same of B
   */
  public record Row(
      long m,
      long n,
      long k,
      @Nullable String a,
      @Nullable String b,
      String operation,
      double us) {}

  public CutlassCsv {
    rows = List.copyOf(rows);
  }

  /**
   * Reads a file.
   *
   * @throws UserError if it is no such file
   */
  public static CutlassCsv read(Path file) {
    List<String> lines = TextFile.lines(file);
    Map<String, Integer> columns = new HashMap<>();
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.isBlank()) {
        continue;
      }
      List<String> cells = cells(line);
      if (columns.isEmpty()) {
        columns.putAll(header(file, cells));
      } else if (!header(cells).equals(columns)) {
        // Several runs may have been appended to one file, each with its header.
        row(file + ", line " + (i + 1), columns, cells).ifPresent(rows::add);
      }
    }
    if (columns.isEmpty()) {
      throw new UserError(file + ": is empty; give what 'cutlass_profiler --output' wrote");
    }
    if (rows.isEmpty()) {
      throw new UserError(file + ": holds no measurement of a GEMM that succeeded");
    }
    return new CutlassCsv(file, rows);
  }

  private static Map<String, Integer> header(Path file, List<String> cells) {
    Map<String, Integer> columns = header(cells);
    for (String name : List.of("m", "n", "k", "runtime")) {
      if (!columns.containsKey(name)) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "%s: has no column '%s'; give what 'cutlass_profiler --operation=Gemm --output'"
                    + " wrote",
                file,
                name.equals("runtime") ? "Runtime" : name));
      }
    }
    return columns;
  }

  private static Map<String, Integer> header(List<String> cells) {
    Map<String, Integer> columns = new HashMap<>();
    for (int i = 0; i < cells.size(); i++) {
      columns.putIfAbsent(cells.get(i).strip().toLowerCase(Locale.ROOT), i);
    }
    return columns;
  }

  /** A measurement; empty for an operation that failed or was not run. */
  private static Optional<Row> row(String where, Map<String, Integer> columns, List<String> cells) {
    String status = cell(columns, cells, "status");
    String disposition = cell(columns, cells, "disposition");
    if ((status != null && !status.equals("success"))
        || (disposition != null
            && (disposition.equals("failed") || disposition.equals("incorrect")))) {
      return Optional.empty();
    }
    double millis = number(where, "Runtime", cell(columns, cells, "runtime"));
    if (millis <= 0) {
      return Optional.empty();
    }
    String operation = cell(columns, cells, "operation");
    return Optional.of(
        new Row(
            (long) number(where, "m", cell(columns, cells, "m")),
            (long) number(where, "n", cell(columns, cells, "n")),
            (long) number(where, "k", cell(columns, cells, "k")),
            cell(columns, cells, "a"),
            cell(columns, cells, "b"),
            operation == null ? "" : operation,
            millis * 1e3));
  }

  private static @Nullable String cell(
      Map<String, Integer> columns, List<String> cells, String name) {
    Integer place = columns.get(name);
    if (place == null || place >= cells.size() || cells.get(place).isBlank()) {
      return null;
    }
    return cells.get(place).strip();
  }

  private static double number(String where, String name, @Nullable String text) {
    try {
      double value = Double.parseDouble(text == null ? "" : text);
      if (Double.isFinite(value) && value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new UserError(
        String.format(
            Locale.ROOT,
            "%s: %s is %s, not a number",
            where,
            name,
            text == null ? "missing" : text));
  }

  /** Cells of a line; quotes may hold commas. */
  private static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.add(cell.toString());
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    cells.add(cell.toString());
    return cells;
  }

  /** The fastest of a product: same shape, and same types and orders where the file says them. */
  public Optional<Row> best(GemmWorkload workload) {
    GemmWorkload.Layout layout = workload.layout();
    return rows.stream()
        .filter(r -> r.m() == workload.m() && r.n() == workload.n() && r.k() == workload.k())
        .filter(r -> fits(r.a(), workload, layout.transposedA() ? "column" : "row"))
        .filter(r -> fits(r.b(), workload, layout.transposedB() ? "column" : "row"))
        .min(Comparator.comparingDouble(Row::us));
  }

  private static boolean fits(@Nullable String operand, GemmWorkload workload, String order) {
    if (operand == null) {
      return true;
    }
    String[] parts = operand.split(":");
    return parts[0].equals(type(workload))
        && (parts.length < 2 || parts[1].equals(order) || parts[1].equals(order.substring(0, 1)));
  }

  private static String type(GemmWorkload workload) {
    return switch (workload.operands()) {
      case I8 -> "s8";
      case F8E4M3 -> "e4m3";
      case F8E5M2 -> "e5m2";
      case F32 -> workload.precision().text();
      default -> workload.operands().text();
    };
  }
}
