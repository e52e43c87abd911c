package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.records.NetworkKey;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records of whole networks, from the database to the kernel that commands make. */
final class PreferredNetworkTest {
  private static final Path MODEL = Path.of("..", "models", "digits-relu-128-64", "model.onnx");
  private static final String NAME = "register chaining consumers=2 prefetch=0 stages=1";

  @TempDir private Path folder;

  private static TuningRecord record(Graph graph, int rows, String name, double us) {
    return new TuningRecord(
        NetworkKey.of(graph, Precision.F16, rows),
        new Environment("sm_90a", "NVIDIA H200", "1", "13.0", "test"),
        NetworkRecords.point(name),
        "0123456789abcdef".repeat(4),
        new Outcome.Measured(us, 0.01, 1e-4, 1500, 40),
        Instant.now());
  }

  @Test
  void namesAndPointsAreTheSame() {
    for (String name : List.of(NAME, "shared chaining")) {
      assertThat(NetworkRecords.name(NetworkRecords.point(name))).isEqualTo(name);
    }
    assertThat(NetworkRecords.point(NAME).text())
        .isEqualTo("strategy=register-chaining consumers=2 prefetch=0 stages=1");
  }

  @Test
  void keysTellWhatDecidesHowFastANetworkIs() {
    Graph graph = Warpwright.load(MODEL).graph();
    assertThat(NetworkKey.of(graph, Precision.F16, 1000).text())
        .isEqualTo("mlp act=relu bias=1 dtype=f16 rows=1024 widths=64,128,64,10");
    Graph other =
        Warpwright.load(Path.of("..", "models", "ffn-gelu-residual-128", "model.onnx")).graph();
    assertThat(NetworkKey.of(other, Precision.F32, 1 << 23).text())
        .matches("network dtype=f32 graph=[0-9a-f]{16} rows=4194304");
  }

  @Test
  void aRecordServesItsNeighboursAndNobodyElse() {
    Graph graph = Warpwright.load(MODEL).graph();
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.add(record(graph, 4096, NAME, 10));
      database.add(record(graph, 4096, "shared chaining", 12));
      assertThat(best(database, graph, Precision.F16, 4000)).contains(NAME);
      assertThat(best(database, graph, Precision.F16, 20_000)).contains(NAME);
      assertThat(best(database, graph, Precision.F16, 1 << 20)).isEmpty();
      assertThat(best(database, graph, Precision.BF16, 4096)).isEmpty();
    }
  }

  /** Which kernels of its GEMMs are fastest together was measured for those rows. */
  @Test
  void kernelsAreNamedForTheSameRowsOnly() {
    Graph graph = Warpwright.load(MODEL).graph();
    String layers = "GEMM per layer overlap=1";
    String name = layers + " attention0=5a6b7c8d gemm0=1f2e3d4c gemm12=00000000";
    assertThat(PerLayerWay.of(name).orElseThrow().name()).isEqualTo(name);
    String normed = layers + " norms=gemm gemm0=1f2e3d4c";
    assertThat(PerLayerWay.of(normed).orElseThrow().name()).isEqualTo(normed);
    assertThat(PerLayerWay.of(normed).orElseThrow().plain().name())
        .isEqualTo(layers + " norms=gemm");
    String both = layers + " norms=gemm queries=attention attention0=5a6b7c8d";
    assertThat(PerLayerWay.of(both).orElseThrow().name()).isEqualTo(both);
    assertThat(PerLayerWay.of(both).orElseThrow().plain().name())
        .isEqualTo(layers + " norms=gemm queries=attention");
    for (String other :
        List.of(NAME, layers + " gemm0=1f2e3d4", "GEMM per layers", layers + " prefetch=1")) {
      assertThat(PerLayerWay.of(other)).as(other).isEmpty();
    }
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.add(record(graph, 4096, name, 10));
      assertThat(best(database, graph, Precision.F16, 4000)).contains(name);
      assertThat(best(database, graph, Precision.F16, 2000)).contains(layers);
    }
  }

  /** Whether somebody has a database must not decide whether what comes along is used. */
  @Test
  void recordsThatComeAlongServeWithAndWithoutADatabase() {
    TuningRecord shipped;
    try (TuningDatabase along = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(along);
      shipped =
          along.all().stream()
              .filter(record -> record.workload().kind().equals("network"))
              .findFirst()
              .orElseThrow();
    }
    String device = shipped.environment().device();
    Path file = folder.resolve("tuning.db");
    assertThat(NetworkRecords.best(file, shipped.workload(), GpuTarget.SM_90A, device))
        .map(TuningRecord::point)
        .contains(shipped.point());
    Graph graph = Warpwright.load(MODEL).graph();
    WorkloadKey other = otherRows(shipped.workload());
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(record(graph, 4096, NAME, 10));
      database.add(
          new TuningRecord(
              other,
              shipped.environment(),
              NetworkRecords.point(NAME),
              shipped.sourceHash(),
              shipped.outcome(),
              Instant.now()));
    }
    assertThat(NetworkRecords.best(file, shipped.workload(), GpuTarget.SM_90A, device))
        .map(TuningRecord::point)
        .contains(shipped.point());
    assertThat(NetworkRecords.best(file, other, GpuTarget.SM_90A, device))
        .map(TuningRecord::point)
        .contains(NetworkRecords.point(NAME));
    // A database from before an upgrade may know the same network, slower; its own may be faster.
    double us = ((Outcome.Measured) shipped.outcome()).timeUs();
    addOwn(file, shipped, us + 1);
    assertThat(NetworkRecords.best(file, shipped.workload(), GpuTarget.SM_90A, device))
        .map(TuningRecord::point)
        .contains(shipped.point());
    addOwn(file, shipped, us - 1);
    assertThat(NetworkRecords.best(file, shipped.workload(), GpuTarget.SM_90A, device))
        .map(TuningRecord::point)
        .contains(NetworkRecords.point(NAME));
  }

  private static void addOwn(Path file, TuningRecord like, double us) {
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(
          new TuningRecord(
              like.workload(),
              like.environment(),
              NetworkRecords.point(NAME),
              like.sourceHash(),
              new Outcome.Measured(us, 0.01, 1e-3, 1980, 40),
              Instant.now()));
    }
  }

  private static WorkloadKey otherRows(WorkloadKey network) {
    Map<String, String> parameters = new TreeMap<>(network.parameters());
    parameters.put("rows", "2");
    return new WorkloadKey(network.kind(), parameters);
  }

  /** Of a network that comes along with names of kernels, these come along, too. */
  @Test
  void kernelsThatRecordsNameComeAlong() {
    List<TuningRecord> records;
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(database);
      records = database.all();
    }
    Set<String> digests =
        records.stream().map(record -> record.point().digest()).collect(Collectors.toSet());
    List<PerLayerWay> layers =
        records.stream()
            .map(record -> NetworkRecords.name(record.point()))
            .filter(Objects::nonNull)
            .flatMap(name -> PerLayerWay.of(name).stream())
            .toList();
    assertThat(layers).isNotEmpty();
    for (PerLayerWay way : layers) {
      way.kernels()
          .forEach(
              (call, digest) -> {
                if (call.startsWith("gemm")) {
                  assertThat(digests).as(way.name() + ": " + call).contains(digest);
                }
              });
    }
  }

  private static Optional<String> best(
      TuningDatabase database, Graph graph, Precision precision, int rows) {
    return NetworkRecords.best(
            database, NetworkKey.of(graph, precision, rows), GpuTarget.SM_90A, "NVIDIA H200")
        .map(TuningRecord::point)
        .map(NetworkRecords::name);
  }

  /** In a process of its own, for the database is named by its environment. */
  @Test
  void planMakesTheKernelThatWasFastest() throws IOException, InterruptedException {
    Path file = folder.resolve("tuning.db");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(record(Warpwright.load(MODEL).graph(), 4096, NAME, 10));
    }
    assertThat(plan(file)).contains("each of 2 warpgroups").contains(" 132 blocks, ");
    assertThat(plan(folder.resolve("none.db"))).doesNotContain("each of 2 warpgroups");
  }

  private static String plan(Path database) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.warpwright.cli.Main",
            "plan",
            MODEL.toString(),
            "--target",
            "sm_90a",
            "--precision",
            "f16",
            "--batch",
            "4096");
    builder.environment().put("WARPWRIGHT_DB", database.toString());
    builder.redirectErrorStream(true);
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(text).isZero();
    return text;
  }
}
