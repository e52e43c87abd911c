package dev.warpwright.cli.output;

/** Cells of CSV files. */
public final class Csv {
  private Csv() {}

  /** Text as one cell: quoted where commas, quotes or line ends ask for it. */
  public static String cell(String text) {
    return text.matches("[^,\"\\r\\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
