package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.model.io.AtomicFile;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes a compiled network in text, as it was after each step: what {@code --emit} is for. */
final class ProgramText {
  private ProgramText() {}

  /**
   * Writes {@code 1-function.ir}, and for each kernel {@code 2-tiles-N.ir} and {@code
   * 3-kernel-N.kernel}, then {@code 4-program.ir} and for GPUs {@code 5-kernels.cu}.
   *
   * @param folder made if there is none; null to write nothing
   * @throws UserError if it cannot be written
   */
  static void write(@Nullable Path folder, CompiledModel compiled, int rows, Progress progress) {
    if (folder == null) {
      return;
    }
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UserError(
          "cannot write to " + folder + ": it is no folder and cannot be made one", e);
    }
    CompiledProgram program = compiled.program(rows);
    List<String> names = new ArrayList<>();
    save(folder, "1-function.ir", IrPrinter.text(program.network().func()), names);
    int number = 1;
    for (CompiledKernel kernel : program.kernels()) {
      save(folder, "2-tiles-" + number + ".ir", IrPrinter.text(kernel.tileProgram()), names);
      save(folder, "3-kernel-" + number + ".kernel", IrPrinter.text(kernel.kernel()), names);
      number++;
    }
    save(folder, "4-program.ir", IrPrinter.text(program.program()), names);
    if (compiled.device().target() instanceof GpuTarget) {
      save(folder, "5-kernels.cu", compiled.cudaSource(rows), names);
    }
    progress.say("wrote to " + folder + ": " + String.join(", ", names));
  }

  private static void save(Path folder, String name, String text, List<String> names) {
    AtomicFile.write(folder.resolve(name), out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    names.add(name);
  }
}
