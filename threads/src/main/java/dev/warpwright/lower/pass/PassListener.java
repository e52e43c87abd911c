package dev.warpwright.lower.pass;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import java.util.function.Supplier;

/** Is told what a program looks like after each pass, to show it or to keep it. */
public interface PassListener {
  /** Does not listen. */
  PassListener NONE = (pass, text) -> {};

  /**
   * After a pass.
   *
   * @param pass the name of its class
   * @param text prints the program, or the part of it that the pass worked on
   */
  void after(String pass, Supplier<String> text);

  /**
   * Tells what a pass has left.
   *
   * @param pass the name of its class
   * @param program that it left
   * @return the program
   */
  default PrimFunc tell(String pass, PrimFunc program) {
    after(pass, () -> IrPrinter.text(program));
    return program;
  }

  /**
   * Tells what a pass has left.
   *
   * @param pass the name of its class
   * @param kernel that it left
   * @return the kernel
   */
  default Kernel tell(String pass, Kernel kernel) {
    after(pass, () -> IrPrinter.text(kernel));
    return kernel;
  }
}
