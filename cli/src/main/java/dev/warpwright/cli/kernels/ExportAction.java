package dev.warpwright.cli.kernels;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.bench.KernelSpecialization;
import dev.warpwright.compiler.export.CudaExport;
import dev.warpwright.compiler.ladder.Ladder;
import dev.warpwright.compiler.ladder.Rung;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.model.io.AtomicFile;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Writes the sources of a kernel into a folder. */
public final class ExportAction implements Action<ExportRequest> {
  private static final String LADDER = "ladder:";
  private static final long MOST = 1 << 15;

  @Override
  public Report perform(ExportRequest request, Progress progress) {
    GpuTarget target = KernelAction.target(request.target());
    Map<String, String> files =
        request.what().startsWith(LADDER) ? rung(request, target) : kernel(request, target);
    try {
      Files.createDirectories(request.folder());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    files.forEach(
        (name, text) ->
            AtomicFile.write(
                request.folder().resolve(name),
                out -> out.write(text.getBytes(StandardCharsets.UTF_8))));
    String list = String.join(", ", files.keySet());
    return new Report(
        true,
        OneLine.of("wrote " + list + " into " + request.folder()),
        Json.object()
            .with("folder", request.folder().toString())
            .with("target", target.name())
            .with("files", Json.array(files.keySet(), Json::of)));
  }

  private static Map<String, String> rung(ExportRequest request, GpuTarget target) {
    Rung rung = Ladder.require(request.what().substring(LADDER.length()));
    for (String key : request.values().keySet()) {
      if (!List.of("M", "N", "K").contains(key)) {
        throw new UserError("there is no '" + key + "'; known are M, N, K");
      }
    }
    long m = size(request, "M");
    long n = size(request, "N");
    long k = size(request, "K");
    PrimFunc matmul = Ladder.matmul(m, n, k);
    return CudaExport.files(
        Ladder.kernel(rung, m, n, k),
        target,
        "C[%d, %d] = A[%d, %d] * B[%d, %d] in f32, row-major: rung '%s' of the ladder"
            .formatted(m, n, m, k, k, n, rung.name()),
        rung.schedule(matmul).trace());
  }

  private static long size(ExportRequest request, String key) {
    long value = request.values().getOrDefault(key, 4096L);
    if (value < 1 || value > MOST) {
      throw new UserError(key + "=" + value + ": it is a whole number from 1 to " + MOST);
    }
    return value;
  }

  private static Map<String, String> kernel(ExportRequest request, GpuTarget target) {
    Path path = Path.of(request.what());
    String name = String.valueOf(path.getFileName());
    if (!name.endsWith(".kernel")) {
      throw new UserError(
          request.what() + ": exported are ladder:RUNG and files of kernels, *.kernel");
    }
    KernelFile file = KernelFile.read(path);
    List<Kernel> kernels = file.content().kernels();
    if (kernels.size() != 1) {
      throw new UserError(
          request.what() + ": export takes a file of one kernel, this has " + kernels.size());
    }
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      throw new UserError(request.what() + ": " + problems.getFirst());
    }
    Kernel kernel = KernelSpecialization.specialize(kernels.getFirst(), request.values());
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new UserError(request.what() + ": the kernel is for the CPU, not for a GPU");
    }
    return CudaExport.files(kernel, target, "Kernel " + kernel.name() + " of " + name, null);
  }
}
