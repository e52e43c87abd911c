package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgramInterpreterTest {
  @Test
  void stepsSeeTheEffectsOfEarlierOnes() {
    Var m = Var.index("M");
    Buffer in = Buffer.of("in", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(32)));
    Buffer out = Buffer.of("out", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(32)));
    Buffer between = Buffer.of("between", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(32)));
    Kernel host = host();
    Kernel grid = Kernels.matmul(32, 32, Kernels.Barriers.BOTH);
    Buffer weights = Buffer.of("w", DType.F32, Scope.GLOBAL, 32, 32);
    Program.ScalarArgument rows = new Program.ScalarArgument(m);
    Program program =
        new Program(
            "two",
            List.of(
                new Program.ProgramParam(Program.Role.SCALAR, new ScalarParam(m, 1, 100)),
                new Program.ProgramParam(Program.Role.INPUT, in),
                new Program.ProgramParam(Program.Role.CONSTANT, weights),
                new Program.ProgramParam(Program.Role.OUTPUT, out)),
            List.of(between),
            List.of(
                new Program.Memset(between, 0),
                new Program.Launch(
                    host,
                    List.of(
                        rows, new Program.BufferArgument(in), new Program.BufferArgument(between))),
                new Program.Launch(
                    grid,
                    List.of(
                        rows,
                        new Program.BufferArgument(between),
                        new Program.BufferArgument(weights),
                        new Program.BufferArgument(out)))));
    Arguments arguments = Arguments.random(ProgramInterpreter.params(program), 5, Map.of("M", 7));
    arguments.get("w").fillWith(c -> c[0] == c[1] ? 3 : 0);
    ProgramInterpreter.run(program, arguments);
    for (int j = 0; j < 32; j++) {
      // The host kernel adds the even columns to zeros.
      double expected = j % 2 == 0 ? 3 * (float) arguments.get("in").get(6, j) : 0;
      assertThat(arguments.get("out").get(6, j)).isEqualTo((float) expected);
    }
  }

  @Test
  void aKernelSeesMemoryInAnotherShape() {
    Program program =
        new IrParser(name -> null)
            .program(
                "p",
                """
            program p {
              input x: f32[2, 3, 4]
              output y: f32[24]
              host kernel k(a: f32[3, 8], b: f32[4, 6]) {
                for i in 24 { b[i / 6, i % 6] = a[i / 8, i % 8] }
              }
              launch k(x, y)
            }
            """);
    Arguments arguments = Arguments.random(ProgramInterpreter.params(program), 5);
    ProgramInterpreter.run(program, arguments);
    assertThat(arguments.get("y").toDoubles()).isEqualTo(arguments.get("x").toDoubles());
    assertThat(arguments.get("y").shape()).containsExactly(24);
    assertThatThrownBy(() -> arguments.get("y").reshaped(5, 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not have the shape [5, 5]");
  }

  private static Kernel host() {
    Var m = Var.index("M");
    Buffer from = Buffer.of("from", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(32)));
    Buffer to = Buffer.of("to", DType.F32, Scope.GLOBAL, List.of(m, Exprs.i32(32)));
    Var i = Var.index("i");
    Var j = Var.index("j");
    var column = Exprs.mul(j, 2);
    Stmt store =
        new Stmt.Store(
            to,
            List.of(i, column),
            Exprs.add(Exprs.load(to, i, column), Exprs.load(from, i, column)));
    return new Kernel(
        "even",
        Kernel.Kind.HOST,
        List.of(new ScalarParam(m, 1, 100), from, to),
        List.of(),
        Stmt.For.of(ForKind.PARALLEL, i, m, Programs.loop(j, 16, store)),
        Attrs.NONE);
  }
}
