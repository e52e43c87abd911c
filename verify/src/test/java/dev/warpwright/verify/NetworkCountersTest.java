package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Counters of a network whose kernels are for one row count and have no scalars. */
class NetworkCountersTest {
  @Test
  void eachLaunchOfAWideNetworkIsCounted() {
    List<Dim> rows = List.of(new Dim.Symbolic("rows"));
    Value x = new Value("x", DType.F32, 640, rows);
    Value h = new Value("h", DType.F32, 640, rows);
    Value y = new Value("y", DType.F32, 640, rows);
    ConstantTensor w =
        ConstantTensor.ofDoubles("w", DType.F32, List.of(640L, 640L), new double[640 * 640]);
    Graph graph =
        new Graph(
            "wide",
            List.of(x),
            List.of(y),
            List.of(new Linear(h, x, w, null, "a"), new Linear(y, h, w, null, "b")));
    try (CompiledModel model =
        new Model(graph).compile(new SimulatedDevice(GpuTarget.SM_90A), Precision.F16, 0)) {
      CompiledProgram program = model.program(64);
      assertThat(program.fixedRows()).hasValue(64);
      List<CounterPrediction> launches =
          NetworkCounters.predict(program, 64, DeviceCatalogue.find("H200 SXM").orElseThrow());
      assertThat(launches).hasSize(2);
      for (CounterPrediction launch : launches) {
        assertThat(launch.work()).isEqualTo(64);
        assertThat(launch.counters().get("matrixMultiplyAdds"))
            .isGreaterThanOrEqualTo(64.0 * 640 * 640);
      }
    }
  }
}
