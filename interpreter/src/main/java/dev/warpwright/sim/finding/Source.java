package dev.warpwright.sim.finding;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.text.Printed;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The text form of what is executed, for messages; printed when the first message needs it. */
public final class Source {
  private static final int LONGEST = 160;

  private final String name;
  private final Supplier<@Nullable Printed> print;
  private @Nullable Printed printed;

  private Source(String name, Supplier<@Nullable Printed> print) {
    this.name = name;
    this.print = print;
  }

  public static Source of(PrimFunc func) {
    return new Source(func.name(), () -> new IrPrinter().print(func));
  }

  public static Source of(Kernel kernel) {
    return new Source(kernel.name(), () -> new IrPrinter().print(kernel));
  }

  /** An error at a statement. */
  public SimulationError fault(
      Finding.Kind kind, Stmt where, String who, String element, String detail) {
    return new SimulationError(
        new Finding(kind, name, line(where), excerpt(where), who, element, detail));
  }

  /** An element of a buffer, for messages. */
  public static String element(Buffer buffer, long[] coordinates) {
    return buffer.name() + Arrays.toString(coordinates);
  }

  /** Without a text. */
  public static Source named(String name) {
    return new Source(name, () -> null);
  }

  public String name() {
    return name;
  }

  private synchronized @Nullable Printed printed() {
    if (printed == null) {
      printed = print.get();
    }
    return printed;
  }

  /** The line of the text on which a statement begins, from 1; 0 if it is not in the text. */
  public int line(Stmt s) {
    Printed text = printed();
    return text == null ? 0 : text.line(s).orElse(0);
  }

  /** That line, shortened; the first line of the statement alone if it is not in the text. */
  public String excerpt(Stmt s) {
    Printed text = printed();
    int line = line(s);
    return text == null || line == 0
        ? firstLine(s)
        : shortened(text.text().lines().skip(line - 1L).findFirst().orElse(""));
  }

  public static String firstLine(Stmt s) {
    return shortened(IrPrinter.text(s).lines().findFirst().orElse(""));
  }

  private static String shortened(String line) {
    String stripped = line.strip();
    return stripped.length() <= LONGEST ? stripped : stripped.substring(0, LONGEST - 1) + "…";
  }
}
