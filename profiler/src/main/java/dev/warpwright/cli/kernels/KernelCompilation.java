package dev.warpwright.cli.kernels;

import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.tuned.FastKernelCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Compiles kernels in text to machine code: for one target, or for all that have what they use. */
final class KernelCompilation {
  private KernelCompilation() {}

  static Report report(KernelRequest request, KernelFile file) {
    List<Kernel> kernels = file.gridKernels(request);
    boolean all = request.target() == TargetName.AUTO && request.out() == null;
    List<GpuTarget> targets = all ? GpuTarget.ALL : List.of(Devices.cudaTarget(request.target()));
    List<String> lines = new ArrayList<>();
    List<Json> compiled = new ArrayList<>();
    int successes = 0;
    boolean fast = true;
    for (GpuTarget target : targets) {
      String source;
      try {
        source = CudaPrinter.print(kernels, target);
      } catch (UserError e) {
        if (!all) {
          throw e;
        }
        lines.add(target.name() + ": not for this target: " + e.getMessage());
        compiled.add(Json.object().with("target", target.name()).with("refused", e.getMessage()));
        continue;
      }
      Cubin cubin = CudaCompilers.compile(source, target);
      successes++;
      if (request.out() != null) {
        AtomicFile.write(request.out(), out -> out.write(cubin.bytes()));
      }
      compiled.add(describe(target, kernels, cubin, lines));
      for (Kernel kernel : kernels) {
        List<String> slow = slowness(kernel, target, cubin);
        if (!slow.isEmpty()) {
          fast = false;
          lines.add(target.name() + ": " + FastKernelCheck.message(kernel, slow));
        }
      }
    }
    return new Report(
        successes > 0 && fast,
        String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList()),
        KernelAction.json(request, file).with("compiled", new Json.Array(compiled)));
  }

  /** What a kernel that is marked fast must not have, on the architecture that it is for. */
  private static List<String> slowness(Kernel kernel, GpuTarget target, Cubin cubin) {
    String arch = kernel.attrs().getString("arch");
    return arch == null || arch.equals(target.name())
        ? FastKernelCheck.problems(kernel, cubin)
        : List.of();
  }

  private static Json describe(
      GpuTarget target, List<Kernel> kernels, Cubin cubin, List<String> lines) {
    List<Json> json = new ArrayList<>();
    for (Kernel kernel : kernels) {
      int shared = KernelResources.of(kernel).sharedBytes();
      ResourceUsage usage = cubin.usage(CudaPrinter.functionName(kernel)).orElse(null);
      int registers = usage == null ? 0 : usage.registers();
      int spilled = usage == null ? 0 : usage.spillStores() + usage.spillLoads();
      lines.add(
          String.format(
              Locale.ROOT,
              "%s: %s: %d registers, %d bytes of shared memory, %d bytes spilled",
              target.name(),
              kernel.name(),
              registers,
              shared,
              spilled));
      json.add(
          Json.object()
              .with("name", kernel.name())
              .with("registers", registers)
              .with("sharedBytes", shared)
              .with("spillBytes", spilled));
    }
    return Json.object()
        .with("target", target.name())
        .with("bytes", cubin.size())
        .with("kernels", new Json.Array(json))
        .with("warnings", Json.array(cubin.warnings(), Json::of));
  }
}
