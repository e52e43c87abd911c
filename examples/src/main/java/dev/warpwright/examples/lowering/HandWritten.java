package dev.warpwright.examples.lowering;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A tile program that is written by hand, and the kernel that the passes make of it. */
public interface HandWritten {
  /** Of a size at which they are worth timing. */
  List<HandWritten> LARGE =
      List.of(
          new RegisterChainedNetwork("f16", 64, 1, 3, 0, 4),
          new GatedProjections("f16", 4096, 4096, 8192, 128, 4, 2),
          new DependentGemms("f16", 1024, 1024, 4096, 132),
          new FusedAttention("f16", 16, 2048, 128, 128, 2));

  /** Quickly simulated; rows, columns and depths that do not fit. */
  List<HandWritten> SMALL =
      List.of(
          new RegisterChainedNetwork("f16", 64, 1, 3, 0, 3),
          new GatedProjections("f16", 200, 136, 72, 64, 3, 2),
          new GatedProjections("bf16", 64, 64, 64, 32, 2, 1),
          new DependentGemms("bf16", 150, 72, 200, 3),
          new FusedAttention("f16", 2, 192, 64, 64, 1),
          new FusedAttention("bf16", 1, 128, 64, 32, 2));

  /** The kernel's name. */
  String name();

  /** What a schedule would leave: tiles, loops marked pipelined, and who shares what. */
  PrimFunc program();

  /** The kernel that the passes make of it. */
  default Kernel kernel(PassListener listener) {
    return Lowering.lower(program(), GpuTarget.SM_90A, listener);
  }

  /** Reads a program with holes, which begin with a dollar. */
  static PrimFunc parse(String name, String text, Map<String, ?> values) {
    String result = text.replace("$NAME", name);
    // Longer names first: $TM is no $T.
    for (String hole :
        values.keySet().stream()
            .sorted((a, b) -> b.length() != a.length() ? b.length() - a.length() : a.compareTo(b))
            .toList()) {
      result = result.replace("$" + hole, String.valueOf(values.get(hole)));
    }
    return new IrParser(Intrinsics::find).primFunc(name, result);
  }

  /**
   * Writes the kernels as text, into the folders {@code small} and {@code large}, so that {@code
   * warpwright kernel FILE --run} can verify those, on a GPU too.
   *
   * @param args a folder
   */
  static void main(String[] args) throws IOException {
    if (args.length != 1) {
      System.err.println("usage: HandWritten FOLDER");
      System.exit(2);
    }
    Path folder = Path.of(args[0]);
    for (Map.Entry<String, List<HandWritten>> size :
        Map.of("small", SMALL, "large", LARGE).entrySet()) {
      Path to = folder.resolve(size.getKey());
      Files.createDirectories(to);
      for (HandWritten each : size.getValue()) {
        String text = IrPrinter.text(each.kernel(PassListener.NONE));
        Files.writeString(to.resolve(each.name() + ".kernel"), text);
      }
    }
  }
}
