package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.lang.reflect.Array;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The networks in {@code models}, as PyTorch exports them, give what PyTorch computed in f64. */
class RealModelsTest {
  /** Rows that the simulator gets: few, and no whole tile. */
  private static final int SIMULATED_ROWS = 5;

  static List<RealModel> models() {
    return RealModel.all();
  }

  /** The seven networks once each. */
  private static List<RealModel> ofOneExporter() {
    return models().stream().filter(model -> model.file().endsWith("model.onnx")).toList();
  }

  @Test
  void allModelsAreHere() {
    assertThat(models()).hasSize(13);
    assertThat(ofOneExporter()).hasSize(7);
  }

  /** Half of them a day, the other half the next. */
  static Stream<RealModel> today() {
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    List<RealModel> all = models();
    return IntStream.range(0, all.size()).filter(i -> (i + day) % 2 == 0).mapToObj(all::get);
  }

  @ParameterizedTest
  @MethodSource("today")
  void onTheCpu(RealModel file) {
    Model model = file.load();
    float[] input = file.input();
    double[] expected = file.expected();
    try (Device cpu = new CpuDevice()) {
      for (Precision precision : precisions(file)) {
        try (CompiledModel compiled = model.compile(cpu, precision)) {
          double[] output = widen(compiled.run(input));
          Verification result = Verification.compare(output, expected);
          assertThat(result.within(precision.tolerance()))
              .as("%s in %s: %s", file, precision, result)
              .isTrue();
          assertThat(compiled.program(expected.length).kernels()).hasSize(1);
          if (precision == Precision.F32) {
            isAsGoodAsInPyTorch(file, output);
          }
        }
      }
    }
  }

  /** All that the CPU has; of what another exporter made of the same network, one. */
  private static List<Precision> precisions(RealModel file) {
    return ofOneExporter().contains(file)
        ? List.of(Precision.F32, Precision.F16, Precision.BF16)
        : List.of(Precision.F32);
  }

  /** Classifiers choose as often right, the picture is as close. */
  private static void isAsGoodAsInPyTorch(RealModel file, double[] output) {
    switch (file.network()) {
      case "digits-relu-128-64", "digits-gelu-64x4" -> isAsAccurate(file, "test_accuracy", output);
      case "tabular-tanh-sigmoid" -> isAsAccurate(file, "accuracy", output);
      case "image-siren-64x4" -> isAsClose(file, output);
      default -> assertThat(file.network()).startsWith("ffn-");
    }
  }

  static Stream<RealModel> otherFormats() {
    return Stream.of(".pt2", ".safetensors", ".pth").flatMap(end -> RealModel.ending(end).stream());
  }

  @Test
  void allFormatsAreHere() {
    assertThat(otherFormats()).hasSize(21);
  }

  /** Few rows, on the CPU and on the simulated GPU, in the precision of the file. */
  @ParameterizedTest
  @MethodSource("otherFormats")
  void everyFormatGivesTheSame(RealModel file) {
    Model model = file.load();
    Precision precision = model.graph().precision();
    for (Device device : List.of(new CpuDevice(), new SimulatedDevice(GpuTarget.SM_90A))) {
      try (device;
          CompiledModel compiled = model.compile(device, precision)) {
        float[] input = new float[SIMULATED_ROWS * compiled.inputFeatures()];
        double[] expected = new double[SIMULATED_ROWS * compiled.outputFeatures()];
        sample(file.input(), input, compiled.inputFeatures());
        sample(file.expected(), expected, compiled.outputFeatures());
        Verification result = Verification.compare(widen(compiled.run(input)), expected);
        assertThat(result.within(precision.tolerance())).as("%s: %s", device, result).isTrue();
        assertThat(compiled.executable(SIMULATED_ROWS).findings()).isEmpty();
      }
    }
  }

  /** Each model in two precisions a day, in the other two the next day. */
  static Stream<Arguments> simulations() {
    long day = Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay());
    return ofOneExporter().stream()
        .flatMap(
            model ->
                Precision.OF_NETWORKS.stream()
                    .filter(precision -> (model.hashCode() + precision.ordinal() + day) % 2 == 0)
                    .map(precision -> Arguments.of(model, precision)));
  }

  @ParameterizedTest
  @MethodSource("simulations")
  void onTheSimulatedGpu(RealModel file, Precision precision) {
    Model model = file.load();
    try (Device gpu = new SimulatedDevice(GpuTarget.SM_90A);
        CompiledModel compiled = model.compile(gpu, precision)) {
      float[] input = new float[SIMULATED_ROWS * compiled.inputFeatures()];
      double[] expected = new double[SIMULATED_ROWS * compiled.outputFeatures()];
      sample(file.input(), input, compiled.inputFeatures());
      sample(file.expected(), expected, compiled.outputFeatures());
      float[] output = compiled.run(input);
      Executable executable = compiled.executable(SIMULATED_ROWS);
      assertThat(executable.findings()).isEmpty();
      assertThat(executable.kernelFacts())
          .hasSameSizeAs(compiled.program(SIMULATED_ROWS).kernels());
      Verification result = Verification.compare(widen(output), expected);
      assertThat(result.within(precision.tolerance())).as(result.toString()).isTrue();
    }
  }

  /** Copies rows that lie equally far apart: the first ones of a picture may be all dark. */
  private static void sample(Object all, Object some, int columns) {
    int rows = Array.getLength(all) / columns;
    for (int i = 0; i < SIMULATED_ROWS; i++) {
      System.arraycopy(all, i * (rows / SIMULATED_ROWS) * columns, some, i * columns, columns);
    }
  }

  private static void isAsAccurate(RealModel file, String key, double[] output) {
    double[] labels = file.array("labels.npy");
    int classes = output.length / labels.length;
    int right = 0;
    for (int i = 0; i < labels.length; i++) {
      right += chosen(output, i * classes, classes) == Math.round(labels[i]) ? 1 : 0;
    }
    // info.json rounds to f32.
    assertThat((double) right / labels.length).isCloseTo(file.info(key), within(1e-6));
  }

  /** The class of the greatest output; of a single probability, whether it is above one half. */
  private static int chosen(double[] output, int from, int classes) {
    if (classes == 1) {
      return output[from] > 0.5 ? 1 : 0;
    }
    int best = 0;
    for (int c = 1; c < classes; c++) {
      best = output[from + c] > output[from + best] ? c : best;
    }
    return best;
  }

  private static void isAsClose(RealModel file, double[] output) {
    double[] target = file.array("target.npy");
    double squares = 0;
    for (int i = 0; i < target.length; i++) {
      squares += (output[i] - target[i]) * (output[i] - target[i]);
    }
    double psnr = -10 * Math.log10(squares / target.length);
    assertThat(psnr).isCloseTo(file.info("psnr_db"), within(0.01));
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    Arrays.setAll(wide, i -> values[i]);
    return wide;
  }
}
