package dev.warpwright.cli.kernels;

import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.CudaPrinter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Parses and verifies programs in text, then does what is asked with them. */
public final class KernelAction implements Action<KernelRequest> {
  @Override
  public Report perform(KernelRequest request, Progress progress) {
    return perform(request, KernelFile.read(request.file()), progress);
  }

  /** The same with what was read, or was made of it. */
  public Report perform(KernelRequest request, KernelFile file, Progress progress) {
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      return new Report(
          false,
          String.join(System.lineSeparator(), problems.stream().map(OneLine::of).toList()),
          json(request, file)
              .with("problems", Json.array(problems, Json::of))
              .with("verified", false));
    }
    return switch (request.task()) {
      case VERIFY ->
          new Report(
              true,
              OneLine.of(request.file() + ": well formed: " + String.join(", ", file.names())),
              json(request, file)
                  .with("problems", Json.array(List.<String>of(), Json::of))
                  .with("verified", true));
      case PRINT, LOWER -> text(request, file, file.text());
      case CUDA ->
          text(
              request,
              file,
              CudaPrinter.print(file.gridKernels(request), Devices.cudaTarget(request.target())));
      case COMPILE -> KernelCompilation.report(request, file);
      case SIMULATE -> KernelSimulation.report(request, file);
      case RUN -> KernelExecution.report(request, file);
      case BENCH -> KernelBenchmark.report(request, file, progress);
    };
  }

  static Json.Members json(KernelRequest request, KernelFile file) {
    return Json.object()
        .with("file", request.file().toString())
        .with("names", Json.array(file.names(), Json::of));
  }

  /** Text for a file, or for standard output. */
  public static Report text(KernelRequest request, KernelFile file, String text) {
    if (request.out() == null) {
      return new Report(true, text.stripTrailing(), json(request, file).with("text", text));
    }
    AtomicFile.write(request.out(), out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    return new Report(
        true,
        "wrote " + OneLine.of(request.out().toString()),
        json(request, file).with("out", request.out().toString()));
  }
}
