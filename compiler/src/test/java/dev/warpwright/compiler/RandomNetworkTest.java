package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.schedule.Replay;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random networks, scheduled, lowered and run in the interpreter of grid kernels with all of its
 * checks, against the unscheduled function in double precision. {@code -Dwarpwright.networks=N}
 * runs N networks of each kind instead of a few, {@code -Dwarpwright.seed=S} starts at another
 * seed; messages name the seed of the network.
 */
class RandomNetworkTest {
  private static final String NETWORKS = "warpwright.networks";
  private static final int[] NARROW = {1, 2, 3, 7, 8, 10, 17, 30, 50, 64};
  private static final int[] WIDE = {
    1, 2, 3, 7, 8, 10, 17, 30, 50, 64, 100, 127, 128, 200, 255, 352, 500, 512
  };
  private static final int[] ROWS = {1, 3, 17, 64, 70, 127};

  /**
   * Few rows of a wide network, many of a narrow one: the interpreter does some 10⁷ operations a
   * second.
   */
  private static final long WORK = 3_000_000;

  /**
   * Where rounding the operands alone already makes a large error, because the outputs almost
   * cancel or few features are normalised, a kernel may make so many times that error.
   */
  private static final double ROUNDINGS = 4;

  private static final long DAY = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());

  /** What takes long is done in one precision a day, in the next one the next day. */
  static Stream<Precision> today() {
    List<Precision> all = Precision.OF_NETWORKS;
    return Stream.of(all.get((int) (DAY % all.size())));
  }

  /** Of two precisions one a day. */
  static Stream<Precision> wideToday() {
    return Stream.of(DAY % 2 == 0 ? Precision.F32 : Precision.BF16);
  }

  private static int networks(int usual) {
    return Integer.getInteger(NETWORKS, usual);
  }

  private static long firstSeed() {
    return Long.getLong("warpwright.seed", 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "TF32", "F16", "BF16"})
  void narrowNetworks(Precision precision) {
    each(
        networks(4),
        i -> {
          long seed = firstSeed() + i;
          Random random = new Random(seed);
          check(seed, random, RandomNetworks.of(random, 1 + random.nextInt(12), NARROW), precision);
        });
  }

  @ParameterizedTest
  @MethodSource("today")
  void wideNetworks(Precision precision) {
    each(
        networks(2),
        i -> {
          long seed = 1000 + firstSeed() + i;
          Random random = new Random(seed);
          check(seed, random, RandomNetworks.of(random, 1 + random.nextInt(5), WIDE), precision);
        });
  }

  @ParameterizedTest
  @MethodSource("today")
  void aDeepNetwork(Precision precision) {
    for (int i = 0; i < networks(1); i++) {
      long seed = 2000 + firstSeed() + i;
      Random random = new Random(seed);
      check(seed, random, RandomNetworks.of(random, 40, 8, 17, 30), precision);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sm_75", "sm_86"})
  void targetsWithLessSharedMemory(String target) {
    each(
        networks(2),
        i -> {
          long seed = 3000 + firstSeed() + i;
          Random random = new Random(seed);
          Graph graph = RandomNetworks.of(random, 1 + random.nextInt(4), WIDE);
          GpuTarget gpu = GpuTarget.find(target).orElseThrow();
          check(seed, random, graph, Precision.F16, gpu);
        });
  }

  /** Where weights pass through shared memory in the thinnest slices. */
  @ParameterizedTest
  @MethodSource("today")
  void width512FillsSharedMemory(Precision precision) {
    // Four days a precision each, then four days none.
    assumeTrue(
        DAY / Precision.OF_NETWORKS.size() % 2 == 0 || Integer.getInteger(NETWORKS) != null,
        "not on this day; -Dwarpwright.networks=N does it");
    Random random = new Random(512);
    Graph graph = RandomNetworks.plain(random, 2, 512);
    check(512, random, graph, precision, GpuTarget.SM_86);
  }

  /** Too wide for one kernel: a kernel for each layer, of the families where they have one. */
  @ParameterizedTest
  @MethodSource("today")
  void networksTooWideForOneKernel(Precision precision) {
    each(
        networks(1),
        i -> {
          long seed = 4000 + firstSeed() + i;
          Random random = new Random(seed);
          Graph graph = RandomNetworks.of(random, 2 + random.nextInt(3), 17, 64, 700, 1000, 2048);
          check(
              seed,
              random,
              graph,
              precision,
              (i + precision.ordinal()) % 2 == 0 ? GpuTarget.SM_86 : GpuTarget.SM_90A);
        });
  }

  /** How near to a false alarm honest results came. */
  private static final DoubleAccumulator WORST = new DoubleAccumulator(Math::max, 0);

  /** Results anywhere in the network, most of which something else in it reads, too. */
  @ParameterizedTest
  @EnumSource(names = {"F32", "TF32", "F16", "BF16"})
  void networksOfSeveralOutputs(Precision precision) {
    each(
        networks(2),
        i -> {
          long seed = 5000 + firstSeed() + i;
          Random random = new Random(seed);
          Graph graph = RandomNetworks.of(random, 1 + random.nextInt(6), NARROW);
          check(seed, random, RandomNetworks.withMoreOutputs(random, graph), precision);
        });
  }

  /** The same where one kernel does not hold the network. */
  @ParameterizedTest
  @MethodSource("wideToday")
  void wideNetworksOfSeveralOutputs(Precision precision) {
    each(
        networks(1),
        i -> {
          long seed = 6000 + firstSeed() + i;
          Random random = new Random(seed);
          Graph graph =
              RandomNetworks.withMoreOutputs(random, RandomNetworks.of(random, 2, 17, 700));
          check(
              seed,
              random,
              graph,
              precision,
              (i + precision.ordinal()) % 2 == 0 ? GpuTarget.SM_86 : GpuTarget.SM_90A);
        });
  }

  /** Networks are independent of each other, so that all processors take part. */
  private static void each(int networks, IntConsumer check) {
    IntStream.range(0, networks).parallel().forEach(check);
  }

  @AfterAll
  static void tell() {
    System.out.printf(Locale.ROOT, "elements came to %.3f of their bound%n", WORST.get());
  }

  private static void check(long seed, Random random, Graph graph, Precision precision) {
    check(seed, random, graph, precision, GpuTarget.SM_90A);
  }

  private static void check(
      long seed, Random random, Graph graph, Precision precision, GpuTarget target) {
    String what = "seed " + seed + " in " + precision.text() + " for " + target.name();
    Reference reference = new Reference(graph);
    int rows = ROWS[random.nextInt(ROWS.length)];
    while (rows > 1 && rows * reference.work() > WORK) {
      rows = rows / 4 + 1 == rows ? 1 : rows / 4 + 1;
    }
    float[] x = new float[rows * graph.inputs().getFirst().features()];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    double[] wide = widen(x);
    List<double[]> expected = GraphEvaluator.evaluate(graph, rows, List.of(wide));
    List<double[]> rounded = RoundedNetwork.evaluate(graph, precision, rows, wide);
    List<double[]> deviation = NetworkDeviation.of(graph, precision, rows, List.of(wide));
    Device device = new SimulatedDevice(target);
    Graph compiled = seed % 2 == 0 ? GraphSimplifier.simplify(graph) : graph;
    try (CompiledModel model = new CompiledModel(compiled, device, precision)) {
      List<float[]> y = List.copyOf(model.runAll(x).values());
      Executable executable = model.executable(rows);
      assertThat(executable.findings()).as(what).isEmpty();
      assertThat(y).as(what).hasSameSizeAs(expected);
      for (int i = 0; i < y.size(); i++) {
        String which = what + ", output " + i;
        double[] got = widen(y.get(i));
        double[] right = expected.get(i);
        double allowed = Math.max(precision.tolerance(), ROUNDINGS * error(rounded.get(i), right));
        assertThat(error(got, right)).as(which).isLessThan(allowed);
        Deviations deviations =
            Verification.deviations(
                got,
                right,
                deviation.get(i),
                model.program(rows).network().outputs().get(i).dtype(),
                false);
        WORST.accumulate(deviations.element());
        assertThat(deviations.honest()).as("%s: %s", which, deviations).isTrue();
      }
      assertThat(model.runAll(new float[0]).values())
          .as(what + ", no rows")
          .allMatch(none -> none.length == 0);
      CompiledProgram program = model.program(rows);
      for (CompiledKernel kernel : program.kernels()) {
        checkSchedule(what, program, kernel, Math.min(rows, 20));
      }
    }
  }

  /**
   * Root of the sum of squares of the differences, relative to the reference's. Kernels of their
   * own get random numbers where a network would have sums of squares, so both may be NaN.
   */
  private static double error(double[] y, double[] expected) {
    assertThat(y).hasSameSizeAs(expected);
    double difference = 0;
    double norm = 1e-12;
    for (int i = 0; i < y.length; i++) {
      if (Double.isNaN(y[i]) && Double.isNaN(expected[i])) {
        continue;
      }
      difference += (y[i] - expected[i]) * (y[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    return Math.sqrt(difference / norm);
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    Arrays.setAll(wide, i -> values[i]);
    return wide;
  }

  /** The tile program computes what the function does, and its trace gives it again. */
  private static void checkSchedule(
      String what, CompiledProgram program, CompiledKernel kernel, int rows) {
    Precision precision = program.precision();
    Trace trace = Trace.parse(kernel.trace().toJson());
    assertThat(
            StructuralEquality.difference(
                Replay.func(trace, kernel.function()), kernel.tileProgram()))
        .as(what + ", replayed")
        .isEmpty();
    Arguments expected = run(program, kernel.function(), rows);
    Arguments actual = run(program, kernel.tileProgram(), rows);
    for (Param param : kernel.function().params()) {
      if (param instanceof Buffer buffer) {
        NdArray wanted = expected.get(buffer);
        NdArray got = actual.get(buffer);
        // The families may add up in parts.
        if (precision == Precision.F32 && program.fixedRows().isEmpty()) {
          assertThat(got.difference(wanted)).as(what + ", " + buffer).isEqualTo(-1);
        } else {
          assertThat(error(got.toDoubles(), wanted.toDoubles()))
              .as(what + ", " + buffer)
              .isLessThan(2 * precision.tolerance());
        }
      }
    }
  }

  /** Random activations, the network's own constants. */
  private static Arguments run(CompiledProgram program, PrimFunc func, int rows) {
    Arguments arguments = Arguments.random(func.params(), 5, Map.of("M", (long) rows));
    for (PackedConstant constant : program.constants()) {
      if (func.params().contains(constant.buffer())) {
        arguments.bind(
            constant.buffer(),
            NdArray.of(constant.buffer()).fillWith(constant.constant()::element));
      }
    }
    Interpreter.of(func, Options.CHECKED).run(arguments);
    return arguments;
  }
}
