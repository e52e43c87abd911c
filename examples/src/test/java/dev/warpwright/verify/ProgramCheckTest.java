package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.examples.FamilySamples;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import dev.warpwright.sim.Finding;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What {@code check} asks of programs and networks beside the sanitizers. */
class ProgramCheckTest {
  private static final String COPY =
      """
      program copy {
        input x: TYPE[64]
        output y: TYPE[64]
        workspace t: f32[64]
        kernel copy(x: TYPE[64], y: TYPE[64], t: f32[64]) grid(bx = 1) block(tid = 64) {
          if CONDITION {
            y[tid] = x[tid]
          }
          t[tid] = 1.0f32
        }
        launch copy(x, y, t)
      }
      """;

  private static CheckReport copy(String type, String condition) {
    String text = COPY.replace("TYPE", type).replace("CONDITION", condition);
    Program program = new IrParser(Intrinsics::find).program("copy", text);
    return check(new CheckSubject.OfProgram(program, Map.of()));
  }

  private static CheckReport check(CheckSubject subject) {
    return Checks.check(subject, CheckOptions.of(1)).getFirst();
  }

  private static List<String> messages(CheckReport report) {
    return report.findings().stream().map(Finding::message).toList();
  }

  @Test
  void everyElementOfAnOutputIsWritten() {
    for (String type : List.of("f32", "i8", "u8", "bf16")) {
      assertThat(copy(type, "tid < 64").findings()).as(type).isEmpty();
      assertThat(messages(copy(type, "tid != 61")))
          .as(type)
          .singleElement()
          .asString()
          .contains("never written: y[61]", "the first of 1 of 64");
    }
  }

  @Test
  void memoryOfItsOwnIsAsTheRunBeforeHasLeftIt() {
    // Poison is no number, so that the first run writes all.
    CheckReport report = copy("f32", "t[tid] != t[tid]");
    assertThat(report.launches()).isEqualTo(2);
    assertThat(messages(report))
        .anyMatch(m -> m.contains("never written: y[0]") && m.contains("in the second launch"));
  }

  @Test
  void programsOfFamiliesAreComparedWithTheirWorkload() {
    CheckSubject.OfProgram sample =
        (CheckSubject.OfProgram) Objects.requireNonNull(FamilySamples.find("workspace"));
    assertThat(check(sample).comparedWith()).isEqualTo("gemm_nt");
    // The sums of the parts are not taken together.
    Program without =
        new Program(
            "without",
            sample.program().params(),
            sample.program().workspace(),
            List.of(
                sample.program().steps().getFirst(),
                new Program.Memset(output(sample.program()), 0)));
    assertThat(
            messages(check(new CheckSubject.OfProgram(without, sample.tables(), sample.meaning()))))
        .anyMatch(m -> m.contains("wrong result: C["));
  }

  private static Buffer output(Program program) {
    return program.params().stream()
        .filter(p -> p.role() == Program.Role.OUTPUT)
        .map(p -> (Buffer) p.param())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void networksAreComparedWithTheirGraph() {
    Graph right = graph(-1);
    try (CompiledModel model =
        new Model(right).compile(new SimulatedDevice(GpuTarget.SM_90A), Precision.BF16, 0)) {
      CompiledProgram program = model.program(37);
      CheckReport report = check(new CheckSubject.OfNetwork(program, right));
      assertThat(report.findings()).isEmpty();
      assertThat(report.comparedWith()).isEqualTo("its graph");
      assertThat(messages(check(new CheckSubject.OfNetwork(program, graph(5)))))
          .as("one weight of 640")
          .anyMatch(m -> m.contains("wrong result: "));
    }
  }

  /** A layer of 64 inputs and 10 outputs, of whose weights one may have the other sign. */
  private static Graph graph(int changed) {
    List<Dim> rows = List.of(new Dim.Symbolic("rows"));
    Value x = new Value("x", DType.F32, 64, rows);
    Value y = new Value("y", DType.F32, 10, rows);
    double[] weights = new Random(3).doubles(640, 0.5, 1).toArray();
    if (changed >= 0) {
      weights[changed] = -weights[changed];
    }
    ConstantTensor w = ConstantTensor.ofDoubles("w", DType.F32, List.of(10L, 64L), weights);
    return new Graph("layer", List.of(x), List.of(y), List.of(new Linear(y, x, w, null, "a")));
  }
}
