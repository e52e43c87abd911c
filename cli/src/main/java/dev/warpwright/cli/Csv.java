package dev.warpwright.cli;

/** Cells of CSV files. */
final class Csv {
  private Csv() {}

  /** Text as one cell: quoted where commas, quotes or line ends ask for it. */
  static String cell(String text) {
    return text.matches("[^,\"\\r\\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
