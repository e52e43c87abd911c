package dev.warpwright.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What is expected of ways to compute networks, beside what they took: the model of a day may not
 * be worse on the data of that day. What ptxas spills, which the planner weighs too, is not asked
 * here.
 */
class MeasuredWaysTest {
  private static final double MEAN = 0.96;
  private static final double LEAST = 0.78;
  private static final double DEVIATION = 0.18;

  private static Map<String, Map<String, Double>> measured() throws IOException {
    Map<String, Map<String, Double>> ways = new LinkedHashMap<>();
    try (InputStream in =
        Objects.requireNonNull(MeasuredWaysTest.class.getResourceAsStream("ways.txt"))) {
      Map<String, Double> of = new HashMap<>();
      for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        if (line.startsWith("  ")) {
          String[] parts = line.strip().split(" ", 2);
          of.put(parts[1], Double.parseDouble(parts[0]));
        } else if (!line.startsWith("#")) {
          of = new HashMap<>();
          ways.put(line, of);
        }
      }
    }
    return ways;
  }

  private static Map<String, Double> expected(String task) {
    Map<String, String> values =
        Arrays.stream(task.split(" "))
            .filter(word -> word.contains("="))
            .collect(Collectors.toMap(w -> w.split("=")[0], w -> w.split("=")[1]));
    Precision precision = Precision.parse(values.get("dtype"));
    Graph graph =
        RandomMlp.of(
            (Architecture.Mlp)
                Architecture.parse("mlp:" + values.get("widths") + ":" + values.get("act")),
            values.get("bias").equals("1"),
            precision == Precision.F16 ? DType.F16 : DType.BF16,
            1);
    FusionInput in =
        FusionInput.of(graph, GpuTarget.SM_90A, precision, Integer.parseInt(values.get("rows")));
    Map<String, Double> expected = new HashMap<>();
    expected.put(NetworkCompiler.GEMM_PER_LAYER, in.expected(new GemmPerLayer()));
    add(new ChainInWarpgroups(), in, expected);
    add(new ChainInWarps(), in, expected);
    return expected;
  }

  private static <T> void add(
      RegisterChaining<T> rule, FusionInput in, Map<String, Double> expected) {
    ToDoubleFunction<T> micros = rule.micros(in, in.sms());
    for (T tiling : rule.measured(in)) {
      expected.put(rule.strategy() + " " + rule.text(tiling), micros.applyAsDouble(tiling));
    }
  }

  @Test
  void whatIsExpectedToBeFastestHardlyIsSlow() throws IOException {
    double logs = 0;
    double least = 1;
    double squares = 0;
    int count = 0;
    Map<String, Map<String, Double>> measured = measured();
    for (Map.Entry<String, Map<String, Double>> network : measured.entrySet()) {
      Map<String, Double> expected = expected(network.getKey());
      Map<String, Double> took = network.getValue();
      List<String> ways = took.keySet().stream().filter(expected::containsKey).toList();
      assertThat(ways).as(network.getKey()).hasSizeGreaterThan(3);
      String chosen = ways.stream().min(Comparator.comparing(expected::get)).orElseThrow();
      double best = ways.stream().mapToDouble(took::get).min().orElseThrow();
      logs += Math.log(best / took.get(chosen));
      least = Math.min(least, best / took.get(chosen));
      for (String way : ways) {
        if (!way.equals(NetworkCompiler.GEMM_PER_LAYER)) {
          squares += Math.pow(Math.log(expected.get(way) / took.get(way)), 2);
          count++;
        }
      }
    }
    assertThat(count).isGreaterThan(1000);
    assertThat(Math.exp(logs / measured.size())).isGreaterThan(MEAN);
    assertThat(least).isGreaterThan(LEAST);
    assertThat(Math.sqrt(squares / count)).isLessThan(DEVIATION);
  }
}
