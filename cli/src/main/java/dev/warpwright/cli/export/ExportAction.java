package dev.warpwright.cli.export;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Waiting;
import dev.warpwright.cli.program.OwnProgram;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.OfflineGpu;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.examples.ladder.Ladder;
import dev.warpwright.examples.ladder.Rung;
import dev.warpwright.examples.ladder.TensorRung;
import dev.warpwright.export.CudaExport;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.KernelSpecialization;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Writes the sources of a kernel or a model into a folder. */
public final class ExportAction implements Action<ExportRequest> {
  private static final String LADDER = "ladder:";
  private static final String NVCC = "nvcc ";
  private static final String BUILD = "//   " + NVCC;
  private static final long MOST = 1 << 15;
  private static final long USUAL = 4096;

  /** Of an H200, between which a persistent grid shares the tiles. */
  private static final int SMS = 132;

  @Override
  public Report perform(ExportRequest request, Progress progress) {
    ExportFolder folder = new ExportFolder(request.folder());
    List<GpuTarget> targets = request.targets().stream().map(Devices::cudaTarget).toList();
    Map<String, byte[]> files;
    try (Waiting _ = new Waiting(progress, "choosing kernels, and what they are compared with")) {
      files = files(request, targets, progress);
    }
    folder.write(files, request.force());
    String list = String.join(", ", files.keySet());
    return new Report(
        true,
        OneLine.of("wrote " + list + " into " + request.folder()) + build(request, files),
        Json.object()
            .with("folder", request.folder().toString())
            .with("target", targets.stream().map(GpuTarget::name).collect(Collectors.joining(",")))
            .with("files", Json.array(files.keySet(), Json::of)));
  }

  /** How what was written is built, in a line of its own: the host program's first one says it. */
  private static String build(ExportRequest request, Map<String, byte[]> files) {
    if (request.targets().size() > 1) {
      return System.lineSeparator()
          + OneLine.of("to build and run it: cd " + request.folder() + " && make -j check");
    }
    byte[] main = files.getOrDefault("main.cu", new byte[0]);
    return new String(main, StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith(BUILD))
        .findFirst()
        .map(
            line ->
                System.lineSeparator()
                    + OneLine.of(
                        "to build and run it: cd "
                            + request.folder()
                            + " && "
                            + line.substring(BUILD.length() - NVCC.length())))
        .orElse("");
  }

  private static Map<String, byte[]> files(
      ExportRequest request, List<GpuTarget> targets, Progress progress) {
    if (request.what().equals("gemm")) {
      return GemmExport.files(request, targets, progress);
    }
    boolean text = request.what().endsWith(".kernel") || request.what().endsWith(".ir");
    if (request.schedule() != null && !text) {
      throw new UserError(
          "--schedule " + request.schedule() + ": for a file that holds a function, as mine.ir");
    }
    if (!request.what().startsWith(LADDER) && !text) {
      return model(request, targets);
    }
    if (targets.size() > 1) {
      throw new UserError(
          "--target: several are for gemm, mlp, ffn, layer and models; "
              + request.what()
              + " has one");
    }
    return text ? kernel(request, targets.getFirst()) : rung(request, targets.getFirst());
  }

  private static Map<String, byte[]> rung(ExportRequest request, GpuTarget target) {
    String name = request.what().substring(LADDER.length());
    Optional<TensorRung> tensor = TensorRung.find(name);
    Rung rung = tensor.isPresent() ? null : Ladder.require(name);
    long m = request.values().number("M", 1, MOST, USUAL);
    long n = request.values().number("N", 1, MOST, USUAL);
    long k = request.values().number("K", 1, MOST, USUAL);
    request.values().finish("M, N, K");
    if (rung == null) {
      ScheduledGemm gemm = tensor.orElseThrow().schedule(m, n, k, target, SMS);
      return CudaExport.kernel(
          gemm.kernel(),
          request.name(),
          target,
          request.form(),
          String.format(
              Locale.ROOT,
              "C[%d, %d] = A[%d, %d] * transposed B[%d, %d] in bf16, row-major: rung '%s' of the"
                  + " ladder",
              m,
              n,
              m,
              k,
              n,
              k,
              name),
          gemm.trace());
    }
    return CudaExport.kernel(
        Ladder.kernel(rung, m, n, k),
        request.name(),
        target,
        request.form(),
        String.format(
            Locale.ROOT,
            "C[%d, %d] = A[%d, %d] * B[%d, %d] in f32, row-major: rung '%s' of the ladder",
            m,
            n,
            m,
            k,
            k,
            n,
            name),
        rung.schedule(Ladder.matmul(m, n, k)).trace());
  }

  private static Map<String, byte[]> model(ExportRequest request, List<GpuTarget> targets) {
    if (NetworkTask.isRandom(request.what())) {
      return random(NetworkTask.of(request.what(), request.values(), null), request, targets);
    }
    NetworkTask.requireFile(request.what(), List.of());
    Map<String, Long> values = request.values().numbers();
    if (!values.isEmpty()) {
      throw new UserError(
          values.keySet().iterator().next()
              + "=: for gemm, networks of random weights and kernels in text; '"
              + request.what()
              + "' is a model's file, whose rows --batch gives");
    }
    Path path = Path.of(request.what());
    Model model = Warpwright.load(path, request.arch());
    Precision precision =
        request.precision() == null ? model.graph().precision() : request.precision();
    return CudaExport.model(
        name(request, name(path)),
        model,
        precision,
        checked(targets),
        request.form(),
        request.rows(),
        String.format(Locale.ROOT, "The model %s in %s", path.getFileName(), precision.text()));
  }

  private static List<OfflineGpu> checked(List<GpuTarget> targets) {
    return targets.stream().map(target -> new OfflineGpu(target, true)).toList();
  }

  private static String name(ExportRequest request, String usual) {
    return request.name() == null ? usual : request.name();
  }

  /** The file's name without its ending; its folder's, if all models there are called so. */
  private static String name(Path path) {
    String file = String.valueOf(path.getFileName());
    int dot = file.lastIndexOf('.');
    String name = dot > 0 ? file.substring(0, dot) : file;
    Path folder = path.toAbsolutePath().normalize().getParent();
    return name.equals("model") && folder != null && folder.getFileName() != null
        ? folder.getFileName().toString()
        : name;
  }

  private static Map<String, byte[]> random(
      NetworkTask task, ExportRequest request, List<GpuTarget> targets) {
    request.values().finish(NetworkTask.keys(task.what()));
    if (task.merging() != null) {
      return merged(task, request, targets);
    }
    return CudaExport.model(
        name(request, task.what()),
        new Model(task.graph()),
        task.precision(),
        checked(targets),
        request.form(),
        task.rows(),
        task.text());
  }

  /** Both GEMMs of a block in one kernel. */
  private static Map<String, byte[]> merged(
      NetworkTask task, ExportRequest request, List<GpuTarget> targets) {
    if (targets.size() > 1) {
      throw new UserError("order= and wait=: one kernel of both GEMMs is for one target, sm_90a");
    }
    GpuTarget target = targets.getFirst();
    return CudaExport.program(
        name(request, task.what()),
        new Model(task.graph()),
        task.merged(target),
        target,
        request.form(),
        task.rows(),
        task.text());
  }

  private static Map<String, byte[]> kernel(ExportRequest request, GpuTarget target) {
    Path path = Path.of(request.what());
    String name = String.valueOf(path.getFileName());
    KernelFile file = KernelFile.read(path);
    List<Kernel> kernels = file.content().kernels();
    boolean function = kernels.isEmpty() && !file.content().primFuncs().isEmpty();
    if (kernels.size() != 1 && !function) {
      throw new UserError(
          request.what() + ": export takes a file of one kernel, this has " + kernels.size());
    }
    List<String> problems = file.problems();
    if (!problems.isEmpty()) {
      throw new UserError(request.what() + ": " + problems.getFirst());
    }
    OwnProgram program =
        function || request.schedule() != null ? OwnProgram.of(file, request.schedule()) : null;
    Kernel kernel =
        KernelSpecialization.specialize(
            program == null ? kernels.getFirst() : program.gridKernel(path, target),
            request.values().numbers());
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new UserError(request.what() + ": the kernel is for the CPU, not for a GPU");
    }
    return CudaExport.kernel(
        kernel,
        request.name(),
        target,
        request.form(),
        (program == null ? "Kernel " : "Function ") + kernel.name() + " of " + name,
        program == null ? null : program.trace());
  }
}
