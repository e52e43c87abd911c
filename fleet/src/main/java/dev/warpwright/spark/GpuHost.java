package dev.warpwright.spark;

import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.tuning.GpuWorker;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A machine with NVIDIA GPUs, or none. */
public final class GpuHost implements FleetHost {
  private static final long SEED = 1;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long DEVICE_SECONDS = 120;

  /** Rows, columns and depth of the anchor kernel: some tenths of a millisecond. */
  private static final long ANCHOR = 2048;

  @Override
  public Optional<Map<String, String>> environment(Optional<String> address) {
    // Addresses are as nvidia-smi counts, by which the discovery scripts of Spark go.
    return address.map(
        gpu -> Map.of("CUDA_DEVICE_ORDER", "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES", gpu));
  }

  @Override
  public Device device(Map<String, String> environment) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            ApplicationClassPath.java(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xlog:disable",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            ApplicationClassPath.here(),
            GpuDescription.class.getName());
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    Process process = builder.start();
    try (var out = process.getInputStream()) {
      // It writes a few short lines: they fit into the pipe.
      if (!process.waitFor(DEVICE_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("the GPU does not answer within " + DEVICE_SECONDS + " s");
      }
      List<String> lines = new String(out.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      if (process.exitValue() != 0 || lines.size() != 6) {
        throw new IOException(
            lines.isEmpty() ? "exit code " + process.exitValue() : lines.getLast());
      }
      return new Device(
          new Environment(lines.get(0), lines.get(1), lines.get(2), lines.get(3), lines.get(4)),
          Integer.parseInt(lines.get(5)));
    } finally {
      process.destroyForcibly();
    }
  }

  @Override
  public Candidate candidate(WorkloadKey workload, boolean free, Device device, Point point) {
    GemmWorkload gemm = GemmWorkload.of(workload);
    GpuTarget target = target(device.environment().target());
    Space space =
        free
            ? GemmSpace.free(gemm, target, device.sms())
            : GemmSpace.of(gemm, target, device.sms());
    Space.Drawn drawn = space.replay(point);
    Candidate candidate = drawn.candidate();
    if (candidate == null || !drawn.point().equals(point)) {
      throw new IllegalArgumentException(
          workload + ": this executor's Warpwright has no candidate " + point);
    }
    return candidate;
  }

  @Override
  public Candidate anchor(Device device) {
    GpuTarget target = target(device.environment().target());
    GemmWorkload workload = GemmWorkload.nt(ANCHOR, ANCHOR, ANCHOR, DType.F16);
    return TunedGemm.untuned(GemmSpace.of(workload, target, device.sms()));
  }

  private static GpuTarget target(String name) {
    return GpuTarget.find(name)
        .orElseThrow(() -> new IllegalArgumentException("there is no target " + name));
  }

  @Override
  public ProcessMeasurer.Setup setup(
      String target, int compilers, Map<String, String> environment) {
    return new ProcessMeasurer.Setup(
        GpuWorker.command(target(target), SEED, ApplicationClassPath.here()),
        compilers,
        List.of(environment),
        LIMIT,
        LIMIT);
  }
}
