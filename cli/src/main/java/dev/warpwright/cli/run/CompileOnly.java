package dev.warpwright.cli.run;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** For a target without its device: compiles to machine code and says what that needs. */
final class CompileOnly {
  private CompileOnly() {}

  static Report report(ModelRequest request, CompiledModel compiled, int rows) {
    CompiledProgram program = compiled.program(rows);
    GpuTarget target = (GpuTarget) compiled.device().target();
    Cubin cubin = CudaCompilers.compile(compiled.cudaSource(rows), target);
    List<Json> kernels = new ArrayList<>();
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s compiled for %s in %s, not run: %d bytes of machine code",
                OneLine.of(request.file().toString()),
                target.name(),
                compiled.precision().text(),
                cubin.size()));
    for (CompiledKernel kernel : program.kernels()) {
      int shared = KernelResources.of(kernel.kernel()).sharedBytes();
      int registers =
          cubin
              .usage(CudaPrinter.functionName(kernel.kernel()))
              .map(ResourceUsage::registers)
              .orElse(0);
      kernels.add(
          Json.object()
              .with("name", kernel.kernel().name())
              .with("strategy", kernel.strategy())
              .with("ops", Json.array(kernel.stages(), Json::of))
              .with("sharedBytes", shared)
              .with("registers", registers));
      text.append(
          String.format(
              Locale.ROOT,
              "%n  %-12s %s, %d stages, %d registers, %d bytes of shared memory",
              kernel.kernel().name(),
              kernel.strategy(),
              kernel.stages().size(),
              registers,
              shared));
    }
    Json json =
        Json.object()
            .with("model", request.file().toString())
            .with("target", target.name())
            .with("precision", compiled.precision().text())
            .with("rows", rows)
            .with("kernels", new Json.Array(kernels))
            .with("ran", false)
            .with("verified", false);
    return new Report(true, text.toString(), json);
  }
}
