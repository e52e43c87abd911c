package dev.warpwright.cli.run;

import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.cli.kernels.LoweringSteps;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.target.GpuTarget;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a compiled network in text, as it was after each step: what {@code --emit} is for. */
final class ProgramText {
  private ProgramText() {}

  /**
   * Writes {@code 1-function.ir}, and for each kernel {@code 2-tiles-N.ir}, what each pass makes of
   * it, {@code 3-kernel-N-01-PASS.ir} and so on, and {@code 3-kernel-N.kernel}, then {@code
   * 4-program.ir} and for GPUs {@code 5-kernels.cu}.
   *
   * @param folder made if there is none; null to write nothing
   * @throws dev.warpwright.base.UserError if it cannot be written
   */
  static void write(@Nullable Path folder, CompiledModel compiled, int rows, Progress progress) {
    if (folder == null) {
      return;
    }
    CompiledProgram program = compiled.program(rows);
    Map<String, byte[]> files = new LinkedHashMap<>();
    put(files, "1-function.ir", IrPrinter.text(program.network().func()));
    int number = 1;
    for (CompiledKernel kernel : program.kernels()) {
      put(files, "2-tiles-" + number + ".ir", IrPrinter.text(kernel.tileProgram()));
      int place = 1;
      for (LoweringSteps.Step step : LoweringSteps.of(program, kernel)) {
        String name =
            String.format(Locale.ROOT, "3-kernel-%d-%02d-%s.ir", number, place, step.pass());
        put(files, name, step.text());
        place++;
      }
      put(files, "3-kernel-" + number + ".kernel", IrPrinter.text(kernel.kernel()));
      number++;
    }
    put(files, "4-program.ir", IrPrinter.text(program.program()));
    if (compiled.device().target() instanceof GpuTarget) {
      put(files, "5-kernels.cu", compiled.cudaSource(rows));
    }
    AtomicFile.writeAll(folder, files);
    progress.say("wrote to " + folder + ": " + files.size() + " files, from 1-function.ir on");
  }

  private static void put(Map<String, byte[]> files, String name, String text) {
    files.put(name, text.getBytes(StandardCharsets.UTF_8));
  }
}
