package dev.warpwright.cli.export;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.export.CudaExport;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.space.Space;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.shapes.RandomGemm;
import dev.warpwright.verify.shapes.ReducedGemm;
import dev.warpwright.verify.shapes.UncachedCheck;
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
 * Exports GEMMs of random shapes, compiles their kernels and simulates them at reduced sizes, all
 * in one process. What is compiled here is not kept: no cache answers for the compiler, and nothing
 * is left behind.
 */
public final class ShapesAction implements Action<ShapesRequest> {
  private static final int OFTEN = 100;

  @Override
  public Report perform(ShapesRequest request, Progress progress) {
    progress.say(request.count() + " random shapes, --seed " + request.seed());
    List<RandomGemm> shapes = RandomGemm.of(request.seed(), request.count());
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
    Optional<UncachedCheck> check = Optional.empty();
    if (request.compile()) {
      CudaCompiler compiler = CudaCompilers.require();
      progress.say("by " + compiler.describe());
      check = Optional.of(new UncachedCheck(compiler));
    }
    return report(request, results(shapes, request, check, progress));
  }

  /**
   * A shape on a target.
   *
   * @param skipped kernels before the one that was taken
   * @param reduced at which size its configuration was simulated; empty if it fits no smaller one,
   *     null if it was not to be simulated
   * @param failure null if there is a kernel that is not the last resort, and compiles, and nothing
   *     is found in the simulator
   */
  private record Result(
      String shape,
      String target,
      int skipped,
      @Nullable String reduced,
      @Nullable String failure) {}

  private static List<Result> results(
      List<RandomGemm> shapes,
      ShapesRequest request,
      Optional<UncachedCheck> check,
      Progress progress) {
    Map<GpuTarget, GemmKernels> kernels = new HashMap<>();
    ExecutorService threads =
        Executors.newFixedThreadPool(request.jobs(), Thread.ofPlatform().daemon().factory());
    Path temporary = temporaryFolder();
    try {
      for (GpuTarget target : request.targets()) {
        kernels.put(
            target, GemmKernels.shipped(target, check.map(c -> c), new RejectedKernels(temporary)));
      }
      List<Future<Result>> futures = new ArrayList<>();
      for (RandomGemm shape : shapes) {
        for (GpuTarget target : request.targets()) {
          if (!hasType(shape, target)) {
            continue;
          }
          GemmKernels products = Objects.requireNonNull(kernels.get(target));
          futures.add(threads.submit(() -> result(shape, target, products, check, request)));
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
  private static boolean hasType(RandomGemm shape, GpuTarget target) {
    DType type = shape.workload().operands();
    return !(type.isFloat() && type.bits() == 8) || target.supports(GpuTarget.SM_89.arch(), false);
  }

  private static Result result(
      RandomGemm shape,
      GpuTarget target,
      GemmKernels products,
      Optional<UncachedCheck> check,
      ShapesRequest request) {
    check.ifPresent(UncachedCheck::begin);
    String failure = null;
    String reduced = null;
    try {
      GemmKernels.Found found = products.require(shape.workload());
      failure = failure(shape, target, found, check);
      if (request.simulate()) {
        Optional<ReducedGemm> small =
            ReducedGemm.of(shape.workload(), target, DeviceCatalogue.sms(target), found.point());
        reduced = small.map(ReducedGemm::text).orElse("");
        Optional<Finding> finding = small.flatMap(gemm -> gemm.finding(request.seed()));
        if (failure == null && finding.isPresent()) {
          failure = OneLine.of("at " + reduced + ": " + finding.get().message());
        }
      }
    } catch (RuntimeException e) {
      String what = Objects.requireNonNullElse(e.getMessage(), e.toString());
      failure = OneLine.of((reduced == null ? "" : "at " + reduced + ": ") + what);
    }
    return new Result(
        shape.text(), target.name(), check.map(UncachedCheck::skipped).orElse(0), reduced, failure);
  }

  /** What is wrong with a kernel's export, or with what was compiled for it; null for nothing. */
  private static @Nullable String failure(
      RandomGemm shape,
      GpuTarget target,
      GemmKernels.Found found,
      Optional<UncachedCheck> compiled) {
    Map<String, byte[]> files =
        GemmExport.files(
            shape.workload(), target, found, null, CudaExport.Form.SOURCES, line -> {});
    if (!files.containsKey("kernel.cuh")) {
      return "the export has no kernel";
    }
    if (compiled.isEmpty()) {
      return null;
    }
    UncachedCheck check = compiled.get();
    if (check.isUnseen()) {
      return "the kernel has not been compiled";
    }
    return check.skipped() > 0 && "plain".equals(found.point().option(Space.SKETCH))
        ? check.skipped() + " kernels cannot be used; the last resort is slow"
        : null;
  }

  private static String line(Result result) {
    return String.format(
        Locale.ROOT, "%s for %s: %s", result.shape(), result.target(), result.failure());
  }

  private static Report report(ShapesRequest request, List<Result> results) {
    List<Result> failed = results.stream().filter(result -> result.failure() != null).toList();
    long first = results.stream().filter(result -> result.skipped() == 0).count();
    int most = results.stream().mapToInt(Result::skipped).max().orElse(0);
    List<Result> tried = results.stream().filter(result -> result.reduced() != null).toList();
    List<Result> whole = tried.stream().filter(result -> "".equals(result.reduced())).toList();
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
    whole.forEach(
        result ->
            lines.add(
                String.format(
                    Locale.ROOT,
                    "%-46s %-7s not simulated: its configuration fits no smaller GEMM",
                    result.shape(),
                    result.target())));
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
    if (request.simulate()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%d simulated at reduced sizes, %d not simulated",
              tried.size() - whole.size(),
              results.size() - tried.size() + whole.size()));
    }
    return new Report(
        failed.isEmpty(),
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("seed", request.seed())
            .with("kernels", results.size())
            .with("firstChoices", first)
            .with("mostSkipped", most)
            .with("simulated", tried.size() - whole.size())
            .with(
                "notReduced",
                Json.array(
                    whole,
                    result ->
                        Json.object()
                            .with("shape", result.shape())
                            .with("target", result.target())))
            .with(
                "failures",
                Json.array(
                    failed,
                    result ->
                        Json.object()
                            .with("shape", result.shape())
                            .with("target", result.target())
                            .with("reduced", result.reduced())
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
