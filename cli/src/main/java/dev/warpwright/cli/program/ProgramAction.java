package dev.warpwright.cli.program;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.kernels.KernelAction;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.kernels.KernelRequest;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.target.GpuTarget;
import java.util.List;
import java.util.Map;

/**
 * The command {@code kernel}: a function is scheduled and lowered first, and what is run is also
 * compared with the function as it was written.
 */
public final class ProgramAction implements Action<KernelRequest> {
  private final KernelAction kernels = new KernelAction();

  @Override
  public Report perform(KernelRequest request, Progress progress) {
    KernelFile file = KernelFile.read(request.file());
    file.checkScalars(request.values().keySet());
    boolean function = !file.content().primFuncs().isEmpty() && file.content().kernels().isEmpty();
    boolean lowers =
        switch (request.task()) {
          case VERIFY, PRINT, SIMULATE -> request.schedule() != null;
          case CUDA, LOWER, COMPILE, RUN, BENCH -> function || request.schedule() != null;
        };
    if (!lowers || !file.problems().isEmpty()) {
      return kernels.perform(request, file, progress);
    }
    OwnProgram program = OwnProgram.of(file, request.schedule());
    if (request.task() == KernelRequest.Task.RUN && !program.isForGpu()) {
      // On the CPU what lies between blocks has a constant size.
      Map<String, Long> scalars =
          KernelData.scalars(program.function().params(), request.values(), request.batch());
      program = program.ofShape(scalars);
      request = request.withoutValues();
    }
    if (request.task() == KernelRequest.Task.PRINT) {
      return KernelAction.text(request, file, IrPrinter.text(program.scheduled()));
    }
    Kernel kernel =
        switch (request.task()) {
          case CUDA, COMPILE, BENCH ->
              program.gridKernel(file.file(), Devices.cudaTarget(request.target()));
          case VERIFY, PRINT, LOWER, SIMULATE, RUN -> program.kernel(lowered(request));
        };
    KernelFile lowered =
        new KernelFile(file.file(), new IrFile(List.of(), List.of(kernel), List.of()));
    Report report = kernels.perform(request, lowered, progress);
    boolean ran =
        request.task() == KernelRequest.Task.SIMULATE || request.task() == KernelRequest.Task.RUN;
    return ran && report.ok() ? compared(request, program, kernel, report) : report;
  }

  /** What a function for the CPU is lowered for does not matter to it. */
  private static GpuTarget lowered(KernelRequest request) {
    return request.target() == TargetName.CPU
        ? GpuTarget.SM_90A
        : Devices.cudaTarget(request.target());
  }

  private static Report compared(
      KernelRequest request, OwnProgram program, Kernel kernel, Report report) {
    Map<String, Long> scalars =
        KernelData.scalars(kernel.params(), request.values(), request.batch());
    FunctionComparison comparison =
        FunctionComparison.of(program.function(), kernel, scalars, request.seed());
    return new Report(
        comparison.equal(),
        report.text() + System.lineSeparator() + OneLine.of(comparison.text()),
        ((Json.Members) report.json()).with("function", comparison.json()));
  }
}
