package dev.warpwright.verify;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.data.AttentionData;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.sim.NdArray;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionCache;
import dev.warpwright.workload.AttentionReference;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What programs should compute, independent of what makes and executes their kernels. */
final class References {
  private References() {}

  /** The workload that a program's meaning names; null for none. */
  static ProgramCheck.@Nullable Reference of(CheckSubject.OfProgram subject) {
    Kernel meaning = subject.meaning();
    if (meaning == null) {
      return null;
    }
    BoundKernel bound = BoundKernel.of(meaning, Map.of());
    Map<String, Buffer> byName = new HashMap<>();
    for (Program.ProgramParam param : subject.program().params()) {
      if (param.param() instanceof Buffer buffer) {
        byName.put(buffer.name(), buffer);
      }
    }
    ResultCheck results = new ResultCheck(bound);
    return new ProgramCheck.Reference(
        bound.workload().kind(),
        arguments ->
            results.expected(
                (Buffer buffer) ->
                    arguments.get(Objects.requireNonNull(byName.get(buffer.name())))));
  }

  /** The plain definition in f64. */
  static ProgramCheck.Reference of(CheckSubject.OfAttention subject) {
    Attention attention = subject.attention();
    return new ProgramCheck.Reference(
        "its definition",
        arguments -> {
          int[] table = attention.isPaged() ? integers(arguments.get("table")) : new int[0];
          int[] lengths =
              arguments.params().stream().anyMatch(p -> p.name().equals("lengths"))
                  ? integers(arguments.get("lengths"))
                  : AttentionCache.full(attention, 0).lengths();
          AttentionCache cache = new AttentionCache(attention, lengths, table);
          AttentionReference attended = AttentionData.reference(cache, arguments);
          AttentionReference right =
              subject.features() == 0
                  ? attended
                  : AttentionData.projected(attended, cache, arguments);
          return List.of(
              new OutputCheck.Expected(
                  right.values(),
                  right.deviations(),
                  attention.type(),
                  false,
                  attention.tolerance()));
        });
  }

  private static int[] integers(NdArray array) {
    int[] values = new int[array.size()];
    Arrays.setAll(values, i -> (int) array.integerElement(i));
    return values;
  }

  /** The graph of a network in f64, no intermediate rounded; null without a graph. */
  static ProgramCheck.@Nullable Reference of(CheckSubject.OfNetwork subject, int rows) {
    Graph graph = subject.graph();
    if (graph == null) {
      return null;
    }
    CompiledProgram network = subject.network();
    double tolerance = network.precision().tolerance();
    return new ProgramCheck.Reference(
        "its graph",
        arguments -> {
          List<double[]> inputs =
              network.network().inputs().stream()
                  .map(input -> arguments.get(input).toDoubles())
                  .toList();
          List<double[]> values = GraphEvaluator.evaluate(graph, rows, inputs);
          List<double[]> deviations = NetworkDeviation.of(graph, network.precision(), rows, inputs);
          List<OutputCheck.Expected> expected = new ArrayList<>();
          for (int i = 0; i < values.size(); i++) {
            DType type = network.network().outputs().get(i).dtype();
            expected.add(
                new OutputCheck.Expected(values.get(i), deviations.get(i), type, false, tolerance));
          }
          return expected;
        });
  }
}
