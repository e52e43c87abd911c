package dev.warpwright.spark;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Point;
import dev.warpwright.space.Sketch;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.spark.SparkEnv;

/**
 * A machine with a simulated GPU, whose worker is {@link FakeWorker}. Each executor counts as a
 * host of its own. Files in the folder {@link #FOLDER} say who behaves badly.
 */
public final class FakeHost implements FleetHost {
  static final String FOLDER = "FAKE_FLEET";
  static final String EXECUTOR = "FAKE_EXECUTOR";
  static final Environment ENVIRONMENT =
      new Environment("sm_none", "Fake GPU", "1", "none", "test");

  /** 256 points, of which every 16th does not compile. */
  static Space space() {
    return new Space(
        List.of(
            new Sketch() {
              @Override
              public String name() {
                return "fake";
              }

              @Override
              public Plan plan(Decisions decisions) {
                long x = decisions.choose("x", LongStream.range(0, 256).toArray());
                return new Plan(
                    new Features(List.of("x"), new double[] {x}, 100 + x),
                    () -> kernel(x % 16 == 0 ? "no compile" : "good"),
                    Map.of("x", x));
              }
            }));
  }

  private static Kernel kernel(String plant) {
    return new Kernel(
        "fake",
        Kernel.Kind.GRID,
        List.of(),
        List.of(),
        new Stmt.Comment("it is all in the attribute"),
        Attrs.NONE.with("plant", plant));
  }

  static Path folder() {
    return Path.of(System.getenv(FOLDER));
  }

  @Override
  public String name(String executor, String host) {
    try {
      Files.writeString(
          folder().resolve("executor-" + executor), Long.toString(ProcessHandle.current().pid()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "host-" + executor;
  }

  @Override
  public Optional<Map<String, String>> environment(Optional<String> address) {
    String executor = SparkEnv.get().executorId();
    return executor.equals("0") || address.isEmpty()
        ? Optional.empty()
        : Optional.of(Map.of(EXECUTOR, executor));
  }

  @Override
  public Device device(Map<String, String> environment) {
    return new Device(ENVIRONMENT, 1);
  }

  @Override
  public Candidate candidate(WorkloadKey workload, boolean free, Device device, Point point) {
    try {
      while (Files.exists(folder().resolve("stall-" + SparkEnv.get().executorId()))) {
        Thread.sleep(50);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return Objects.requireNonNull(space().replay(point).candidate());
  }

  @Override
  public Candidate anchor(Device device) {
    return new Candidate(
        Point.EMPTY,
        new Features(List.of("f"), new double[] {1}, 1),
        () -> kernel("anchor"),
        Map.of());
  }

  @Override
  public ProcessMeasurer.Setup setup(
      String target, int compilers, Map<String, String> environment) {
    List<String> command =
        List.of(
            ApplicationClassPath.java(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-cp",
            ApplicationClassPath.here(),
            FakeWorker.class.getName());
    Duration limit = Duration.ofMinutes(1);
    return new ProcessMeasurer.Setup(command, 1, List.of(environment), limit, limit);
  }

  /** Lines that workers have written: a measured point and its executor each. */
  static List<String> measured(Path folder) {
    try (var files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("measured-"))
          .flatMap(
              file -> {
                try {
                  return Files.readAllLines(file).stream();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              })
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
