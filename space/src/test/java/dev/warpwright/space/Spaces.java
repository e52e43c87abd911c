package dev.warpwright.space;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Spaces for tests. Their kernels do nothing. */
public final class Spaces {
  private Spaces() {}

  /** A sketch whose plan is a predicted time. */
  public static Sketch sketch(String name, ToDoubleFunction<Decisions> time) {
    return new Sketch() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Plan plan(Decisions decisions) {
        double predicted = time.applyAsDouble(decisions);
        return new Plan(
            new Features(List.of("predicted"), new double[] {predicted}, predicted),
            Spaces::kernel,
            Map.of());
      }
    };
  }

  /** Options that depend on earlier ones, one rejection. */
  public static Space dependent() {
    return new Space(
        List.of(
            sketch(
                "wide",
                d -> {
                  long tile = d.choose("tile", 64, 128);
                  long stages = tile == 64 ? d.choose("stages", 2, 3, 4) : d.choose("stages", 2, 3);
                  if (tile * stages > 300) {
                    throw new Rejected("shared memory", tile + " times " + stages);
                  }
                  return tile;
                }),
            sketch("narrow", d -> d.choose("split") ? d.choose("ways", 2, 4) : 1)));
  }

  /**
   * A product space of three decisions with 16 options each. The predicted time is right but for
   * one decision, of which it knows nothing.
   */
  public static Space big() {
    return new Space(
        List.of(
            new Sketch() {
              @Override
              public String name() {
                return "big";
              }

              @Override
              public Plan plan(Decisions decisions) {
                double[] x = new double[3];
                for (int i = 0; i < 3; i++) {
                  x[i] =
                      decisions.choose(
                          "x" + i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                }
                double predicted = 10 + Math.pow(x[0] - 5, 2) + Math.pow(x[1] - 9, 2);
                return new Plan(
                    new Features(List.of("x0", "x1", "x2"), x, predicted),
                    Spaces::kernel,
                    Map.of());
              }
            }));
  }

  private static Kernel kernel() {
    return new Kernel(
        "nothing", Kernel.Kind.GRID, List.of(), List.of(), new Stmt.Comment("nothing"), Attrs.NONE);
  }
}
