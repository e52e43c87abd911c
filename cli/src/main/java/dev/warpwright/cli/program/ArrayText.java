package dev.warpwright.cli.program;

import dev.warpwright.base.json.Json;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.NdArray;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Arrays for people: a row a line, columns below each other, the middle of long ones left out. */
final class ArrayText {
  private static final int ROWS = 32;
  private static final int COLUMNS = 16;

  private ArrayText() {}

  /** The lines: the name with type and shape, then the rows. */
  static List<String> lines(String name, NdArray array) {
    long[] shape = array.shape();
    List<String> lines = new ArrayList<>();
    lines.add(name + ": " + array.dtype() + Arrays.toString(shape));
    int columns = shape.length == 0 ? 1 : Math.toIntExact(shape[shape.length - 1]);
    int rows = columns == 0 ? 0 : array.size() / columns;
    int width = width(array);
    for (int row = 0; row < Math.min(rows, ROWS); row++) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < Math.min(columns, COLUMNS); column++) {
        line.append("  ").append(padded(value(array, (long) row * columns + column), width));
      }
      lines.add(line + (columns > COLUMNS ? "  ... " + (columns - COLUMNS) + " more" : ""));
    }
    if (rows > ROWS) {
      lines.add("  ... " + (rows - ROWS) + " more rows");
    }
    return lines;
  }

  private static int width(NdArray array) {
    int width = 1;
    for (int i = 0; i < Math.min(array.size(), ROWS * COLUMNS); i++) {
      width = Math.max(width, value(array, i).length());
    }
    return width;
  }

  static String padded(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }

  private static String value(NdArray array, long position) {
    DType type = array.dtype();
    return type.isFloat()
        ? real(array.element(position))
        : Long.toString(array.integerElement(position));
  }

  /** Six digits, and no more than are needed. */
  static String real(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    String text = String.format(Locale.ROOT, "%.6g", value);
    return text.contains("e") || !text.contains(".")
        ? text
        : text.replaceFirst("0+$", "").replaceFirst("\\.$", "");
  }

  /** All elements in row-major order. */
  static Json json(String name, NdArray array) {
    List<Json> values = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      values.add(
          array.dtype().isFloat() ? Json.of(array.element(i)) : Json.of(array.integerElement(i)));
    }
    List<Json> shape = new ArrayList<>();
    for (long extent : array.shape()) {
      shape.add(Json.of(extent));
    }
    return Json.object()
        .with("name", name)
        .with("dtype", array.dtype().toString())
        .with("shape", new Json.Array(shape))
        .with("values", new Json.Array(values));
  }
}
