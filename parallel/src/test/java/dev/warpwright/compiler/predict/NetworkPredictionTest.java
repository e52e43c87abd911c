package dev.warpwright.compiler.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.synthetic.RandomMlp;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NetworkPredictionTest {
  /** The tile program of a persistent kernel has one block, which is not all that there are. */
  @ParameterizedTest
  @EnumSource(
      value = Precision.class,
      names = {"F32", "F16"})
  void manyRowsAreSharedByAllSms(Precision precision) {
    Graph graph =
        RandomMlp.of(
            (Architecture.Mlp) Architecture.parse("mlp:2,64,64,3:relu"), false, DType.F32, 1);
    int rows = 70_000;
    CompiledProgram program =
        NetworkCompiler.choose(graph, GpuTarget.SM_90A, precision, rows, null, kernel -> 0)
            .program();
    Prediction prediction =
        NetworkPrediction.of(program, rows, DeviceCatalogue.find("H200 SXM").orElseThrow());
    assertThat(prediction.micros()).isBetween(prediction.least().micros(), 60.0);
  }
}
