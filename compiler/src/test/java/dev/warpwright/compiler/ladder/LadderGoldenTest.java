package dev.warpwright.compiler.ladder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every rung as it is after the schedule, after each pass that changes it, and as CUDA C++, kept in
 * files: a change anywhere on the way shows there what it does. {@code -Dgoldens.update=true}
 * rewrites the files.
 */
final class LadderGoldenTest {
  private static final Path FOLDER = Path.of("src/test/resources/dev/warpwright/compiler/ladder");

  @TestFactory
  List<DynamicTest> isAsBefore() {
    return Ladder.RUNGS.stream()
        .map(rung -> DynamicTest.dynamicTest(rung.name(), () -> compare(rung)))
        .toList();
  }

  private static void compare(Rung rung) throws IOException {
    Path file = FOLDER.resolve(rung.name() + ".txt");
    String text = text(rung);
    if (Boolean.getBoolean("goldens.update")) {
      Files.createDirectories(FOLDER);
      Files.writeString(file, text);
    }
    assertThat(text).isEqualTo(Files.readString(file));
  }

  private static String text(Rung rung) {
    StringBuilder all = new StringBuilder();
    PrimFunc scheduled = rung.schedule(Ladder.matmul(256, 256, 64)).func();
    String[] last = {section(all, "the schedule", IrPrinter.text(scheduled))};
    Kernel kernel =
        SimtLowering.lower(
            scheduled,
            (pass, program) -> {
              String now = program.get();
              if (now.equals(last[0])) {
                section(all, pass, "nothing changed\n");
              } else {
                last[0] = section(all, pass, now);
              }
            });
    section(all, "CudaPrinter, sm_90a", CudaPrinter.print(kernel, GpuTarget.SM_90A));
    return all.toString();
  }

  private static String section(StringBuilder all, String name, String text) {
    all.append("=== after ").append(name).append(" ===\n\n").append(text).append('\n');
    return text;
  }
}
