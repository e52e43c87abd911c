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
import dev.warpwright.ir.type.Numerics;
import java.util.ArrayList;
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

  private static final String TWO =
      """
      program p on 2 devices {
        input x: bf16[8, 4]
        sharded constant w: bf16[4]
        output y: bf16[8, 4]
        workspace t: bf16[4, 4]
        view y_0: bf16[4, 4] = y from 0
        view y_1: bf16[4, 4] = y from 4
        view x_1: bf16[4, 4] = x from 4
        view x_0: bf16[4, 4] = x from 0
        host kernel scale(a: bf16[4, 4], b: bf16[4], c: bf16[4, 4]) {
          for i in 4 { for j in 4 { c[i, j] = bf16(f32(a[i, j]) * f32(b[j])) } }
        }
        host kernel copy(a: bf16[4, 4], b: bf16[4, 4]) {
          for i in 4 { for j in 4 { b[i, j] = a[i, j] } }
        }
        launch scale(x_0, w, y_0)
        all_reduce sum y_0
        launch scale(x_1, w, t)
        launch copy(t, y_1)
        all_reduce sum y_1
      }
      """;

  @Test
  void devicesHaveMemoryOfTheirOwnAndSumsJoinThem() {
    Program program = new IrParser(name -> null).program("p", TWO);
    List<Arguments> devices = new ArrayList<>();
    for (int device = 0; device < 2; device++) {
      Arguments arguments = Arguments.random(ProgramInterpreter.params(program), 5, Map.of());
      int own = 1 + 2 * device;
      arguments.get("x").fillWith(c -> 4 * c[0] + c[1]);
      arguments.get("w").fillWith(c -> own * (c[0] + 1));
      arguments.get("y").poison();
      devices.add(arguments);
    }
    ProgramInterpreter interpreter =
        new ProgramInterpreter(program, GridOptions.DEFAULT, Options.CHECKED);
    assertThat(interpreter.check(devices)).isEmpty();
    for (Arguments arguments : devices) {
      for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 4; j++) {
          // 1 and 3 times: whole numbers below 512, of which bf16 has not all.
          float first = bf16((4 * i + j) * (j + 1));
          float second = bf16(3 * (4 * i + j) * (j + 1));
          assertThat(arguments.get("y").get(i, j)).isEqualTo(bf16(first + second));
        }
      }
      assertThat(arguments.get("x").get(7, 3)).isEqualTo(31);
    }
  }

  private static float bf16(float value) {
    return Numerics.bf16ToFloat(Numerics.bf16Bits(value));
  }

  @Test
  void eachDeviceNeedsArgumentsAndViewsOfALaunchAreApart() {
    Program program = new IrParser(name -> null).program("p", TWO);
    Arguments arguments = Arguments.random(ProgramInterpreter.params(program), 5, Map.of());
    assertThatThrownBy(() -> ProgramInterpreter.run(program, arguments))
        .hasMessage("p is a program for 2 devices, and there are arguments for 1");
    Program shared =
        new IrParser(name -> null)
            .program(
                "p",
                TWO.replace("launch copy(t, y_1)", "launch copy(t, y_1) launch copy(y_1, y_1b)")
                    .replace("view x_1", "view y_1b: bf16[4, 4] = y from 2\n view x_1"));
    Arguments other = Arguments.random(ProgramInterpreter.params(shared), 5, Map.of());
    assertThatThrownBy(
            () ->
                new ProgramInterpreter(shared, GridOptions.DEFAULT, Options.CHECKED)
                    .run(List.of(other, other.copy())))
        .hasMessageContaining("which share rows");
  }
}
