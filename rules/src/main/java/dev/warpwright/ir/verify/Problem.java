package dev.warpwright.ir.verify;

/**
 * Something that breaks a rule.
 *
 * @param rule that is broken
 * @param message one line
 * @param node the part of the program that does (for {@link
 *     dev.warpwright.ir.text.IrPrinter#withMark})
 * @param line in the text that {@link dev.warpwright.ir.text.IrPrinter} prints of the whole, from
 *     1; 0 if unknown
 */
public record Problem(Rule rule, String message, Object node, int line) {
  @Override
  public String toString() {
    return (line > 0 ? "line " + line + ": " : "") + message + " (" + rule + ")";
  }
}
