package dev.warpwright.cli.export;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.export.CudaExport;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.KernelCheck;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Exports GEMMs of random shapes and compiles their kernels, all in one process. What is compiled
 * here is not kept: no cache answers for the compiler, and nothing is left behind.
 */
public final class ShapesAction implements Action<ShapesRequest> {
  private static final int OFTEN = 100;

  @Override
  public Report perform(ShapesRequest request, Progress progress) {
    progress.say(request.count() + " random shapes, --seed " + request.seed());
    List<RandomShapes.Shape> shapes = RandomShapes.of(request.seed(), request.count());
    if (request.list()) {
      List<String> lines = new ArrayList<>();
      lines.add(
          String.format(
              Locale.ROOT,
              "# warpwright shapes --list --count %d --seed %d",
              request.count(),
              request.seed()));
      shapes.forEach(shape -> lines.add("gemm " + shape.text()));
      return new Report(
          true,
          String.join(System.lineSeparator(), lines),
          Json.object()
              .with("seed", request.seed())
              .with("tasks", Json.array(lines.subList(1, lines.size()), Json::of)));
    }
    CudaCompiler compiler = CudaCompilers.require();
    progress.say("by " + compiler.describe());
    return report(request, results(shapes, request, compiler, progress));
  }

  /**
   * A shape on a target.
   *
   * @param skipped kernels before the one that was taken
   * @param failure null if there is a kernel that is not the last resort, and compiles
   */
  private record Result(String shape, String target, int skipped, @Nullable String failure) {}

  private static List<Result> results(
      List<RandomShapes.Shape> shapes,
      ShapesRequest request,
      CudaCompiler compiler,
      Progress progress) {
    Map<GpuTarget, GemmKernels> kernels = new HashMap<>();
    Uncached check = new Uncached(compiler);
    ExecutorService threads =
        Executors.newFixedThreadPool(request.jobs(), Thread.ofPlatform().daemon().factory());
    Path temporary = temporaryFolder();
    try {
      for (GpuTarget target : request.targets()) {
        kernels.put(target, GemmKernels.shipped(target, check, new RejectedKernels(temporary)));
      }
      List<Future<Result>> futures = new ArrayList<>();
      for (RandomShapes.Shape shape : shapes) {
        for (GpuTarget target : request.targets()) {
          if (!hasType(shape, target)) {
            continue;
          }
          GemmKernels products = Objects.requireNonNull(kernels.get(target));
          futures.add(threads.submit(() -> result(shape, target, products, check)));
        }
      }
      List<Result> results = new ArrayList<>();
      for (Future<Result> future : futures) {
        Result result = future.get();
        results.add(result);
        if (result.failure() != null) {
          progress.say(line(result));
        }
        if (results.size() % OFTEN == 0) {
          progress.say(results.size() + " of " + futures.size());
        }
      }
      return results;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted");
    } finally {
      threads.shutdownNow();
      kernels.values().forEach(GemmKernels::close);
      delete(temporary);
    }
  }

  /** Whether a target knows the type at all: 8-bit floats are newer than some. */
  private static boolean hasType(RandomShapes.Shape shape, GpuTarget target) {
    DType type = shape.workload().operands();
    return !(type.isFloat() && type.bits() == 8) || target.supports(GpuTarget.SM_89.arch(), false);
  }

  private static Result result(
      RandomShapes.Shape shape, GpuTarget target, GemmKernels products, Uncached check) {
    check.begin();
    String failure = null;
    try {
      GemmKernels.Found found = products.require(shape.workload());
      Map<String, byte[]> files =
          GemmExport.files(
              shape.workload(), target, found, null, CudaExport.Form.SOURCES, line -> {});
      if (!files.containsKey("kernel.cuh")) {
        failure = "the export has no kernel";
      } else if (check.isUnseen()) {
        failure = "the kernel has not been compiled";
      } else if (check.skipped() > 0 && "plain".equals(found.point().option(Space.SKETCH))) {
        failure = check.skipped() + " kernels cannot be used; the last resort is slow";
      }
    } catch (RuntimeException e) {
      failure = OneLine.of(String.valueOf(e));
    }
    return new Result(shape.text(), target.name(), check.skipped(), failure);
  }

  /** Compiles every time, and counts for each thread what it found. */
  private static final class Uncached implements KernelCheck {
    private final CudaCompiler compiler;
    private final ThreadLocal<int[]> counts = ThreadLocal.withInitial(() -> new int[2]);

    Uncached(CudaCompiler compiler) {
      this.compiler = compiler;
    }

    void begin() {
      counts.set(new int[2]);
    }

    /** Whether no kernel of this thread was compiled without a problem since it began. */
    boolean isUnseen() {
      return counts.get()[0] == 0;
    }

    int skipped() {
      return counts.get()[1];
    }

    @Override
    public String identity() {
      return compiler.identity();
    }

    @Override
    public Optional<Outcome.Failed> problem(Kernel kernel, String source, GpuTarget target) {
      Optional<Outcome.Failed> problem;
      try {
        problem =
            CompiledCheck.problem(
                kernel, compiler.compile(new CompileRequest(source, target.name())));
      } catch (CompileError e) {
        problem =
            Optional.of(new Outcome.Failed(FailureReason.COMPILE, String.valueOf(e.getMessage())));
      }
      counts.get()[problem.isEmpty() ? 0 : 1]++;
      return problem;
    }
  }

  private static String line(Result result) {
    return String.format(
        Locale.ROOT, "%s for %s: %s", result.shape(), result.target(), result.failure());
  }

  private static Report report(ShapesRequest request, List<Result> results) {
    List<Result> failed = results.stream().filter(result -> result.failure() != null).toList();
    long first = results.stream().filter(result -> result.skipped() == 0).count();
    int most = results.stream().mapToInt(Result::skipped).max().orElse(0);
    List<String> lines = new ArrayList<>();
    if (!failed.isEmpty()) {
      lines.add(String.format(Locale.ROOT, "%-46s %-7s %s", "shape", "target", "failure"));
      failed.forEach(
          result ->
              lines.add(
                  String.format(
                      Locale.ROOT,
                      "%-46s %-7s %s",
                      result.shape(),
                      result.target(),
                      result.failure())));
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "%d shapes, %d kernels (--seed %d): %d failed; the first choice was taken %d times, at"
                + " most %d were skipped",
            request.count(),
            results.size(),
            request.seed(),
            failed.size(),
            first,
            most));
    return new Report(
        failed.isEmpty(),
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("seed", request.seed())
            .with("kernels", results.size())
            .with("firstChoices", first)
            .with("mostSkipped", most)
            .with(
                "failures",
                Json.array(
                    failed,
                    result ->
                        Json.object()
                            .with("shape", result.shape())
                            .with("target", result.target())
                            .with("failure", result.failure()))));
  }

  private static Path temporaryFolder() {
    try {
      return Files.createTempDirectory("warpwright-shapes");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // It is in the folder for temporary files.
    }
  }
}
