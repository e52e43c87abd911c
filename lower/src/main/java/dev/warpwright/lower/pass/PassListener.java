package dev.warpwright.lower.pass;

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
}
