package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.schedule.Refusal;
import org.junit.jupiter.api.Test;

/** What a function has to look like when a schedule starts. */
final class NormalFormTest {
  private static void refuses(int requirement, String reason, String body) {
    PrimFunc func =
        new IrParser().primFunc("f", "primfunc f(x: f32[4], y: f32[4]) {\n" + body + "\n}");
    Refusal.ofStart(func, requirement, reason);
  }

  private static String nest(String name, String store) {
    return "for i in 4 { block "
        + name
        + "(v: spatial(4) = i) { reads x[v] writes y[v] "
        + store
        + " } }";
  }

  @Test
  void namesAreUnique() {
    String copy = nest("y", "y[v] = x[v]");
    refuses(1, "two blocks are called y", copy + "\n" + copy);
    refuses(
        1,
        "two buffers are called t",
        "{ alloc t: f32[4] local\n t[0] = 1.0 }\n{ alloc t: f32[4] local\n t[0] = 1.0 }\n" + copy);
  }

  @Test
  void variablesAreBoundToLoopsOfTheirOwn() {
    refuses(
        2,
        "not bound to a loop of its own",
        "for i in 2 { for j in 2 { block y(v: spatial(4) = i * 2 + j) {"
            + " reads x[v] writes y[v] y[v] = x[v] } } }");
    refuses(2, "over none of its variables", "for j in 2 { " + nest("y", "y[v] = x[v]") + " }");
  }

  @Test
  void noPredicates() {
    refuses(
        3,
        "has a predicate",
        "for i in 4 { block y(v: spatial(4) = i) where i < 3 {"
            + " reads x[v] writes y[v] y[v] = x[v] } }");
  }

  @Test
  void storesOnly() {
    refuses(4, "more than stores", nest("y", "if v < 2 { y[v] = x[v] }"));
  }

  @Test
  void oneWriter() {
    refuses(5, "two blocks write y", nest("y", "y[v] = x[v]") + "\n" + nest("z", "y[v] = x[v]"));
  }

  @Test
  void instancesAreIndependent() {
    refuses(
        6,
        "depend on each other through y",
        "for i in 4 { block y(v: spatial(4) = i) { reads x[v] writes y[0] y[0] = x[v] } }");
  }
}
