package dev.warpwright.examples.museum;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A race or a hang, and the program without it: the two differ in one place.
 *
 * @param name what is wrong, in a few words
 * @param reported where somebody met it, as {@code owner/repository#number}
 * @param mended a kernel or a program in text, without findings
 * @param right the place, which stands there once
 * @param wrong what stood there instead
 * @param kinds what it is reported as, first of all
 */
public record Exhibit(
    String name,
    String reported,
    String mended,
    String right,
    String wrong,
    Set<Finding.Kind> kinds) {
  /** Blocks that run at the same time, of which the programs have more. */
  private static final int RESIDENT = 2;

  /** Counters, which start at zero. */
  private static final String COUNTERS = "counters";

  public Exhibit {
    kinds = Set.copyOf(kinds);
    int at = mended.indexOf(right);
    if (at < 0 || mended.indexOf(right, at + 1) >= 0) {
      throw new IllegalArgumentException(name + ": the place stands there once, not: " + right);
    }
  }

  /** The program as it was. */
  public String broken() {
    return mended.replace(right, wrong);
  }

  /** What the simulator finds in a program, in one order of blocks and warps. */
  public static List<Finding> findings(String text, GridOptions order, long seed) {
    GridOptions few = order.withBlocks(order.blocks(), RESIDENT);
    IrFile file = new IrParser(Intrinsics::find).file("museum", text);
    if (file.programs().isEmpty()) {
      Kernel kernel = file.kernels().getFirst();
      return new GridInterpreter(kernel, few).check(arguments(kernel.params(), seed));
    }
    Program program = file.programs().getFirst();
    return new ProgramInterpreter(program, few, Options.CHECKED)
        .check(arguments(ProgramInterpreter.params(program), seed));
  }

  @Override
  public String toString() {
    return reported + ": " + name;
  }

  private static Arguments arguments(List<? extends Param> params, long seed) {
    Arguments arguments = Arguments.random(params, seed, Map.of());
    for (Param param : params) {
      if (param instanceof Buffer buffer && buffer.name().equals(COUNTERS)) {
        arguments.get(buffer).fill(0);
      }
    }
    return arguments;
  }
}
