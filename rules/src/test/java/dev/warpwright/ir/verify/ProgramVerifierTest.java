package dev.warpwright.ir.verify;

import static dev.warpwright.ir.verify.BrokenRules.PARSER;
import static dev.warpwright.ir.verify.BrokenRules.expect;
import static dev.warpwright.ir.verify.BrokenRules.program;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Stmt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is wrong with programs of several launches. */
class ProgramVerifierTest {
  private static final String KERNEL =
      "host kernel k(a: f32[m, 8], b: f32[m, 8], m: i32 in 1..99) { parallel i in m { b[i, 0] ="
          + " a[i, 0] } } ";

  @Test
  void arguments() {
    String head = "program p { input x: f32[M, 8] output y: f32[M, 8] scalar M: i32 in 1..99 ";
    program(
        head + "input h: f16[M, 8] " + KERNEL + "launch k(h, y, M) }",
        Rule.ARGUMENTS,
        "'h' passed for 'a' of 'k' has type f16, not f32");
    program(
        head + "input h: f32[M] " + KERNEL + "launch k(h, y, M) }",
        Rule.ARGUMENTS,
        "has rank 1, not 2");
    program(
        head + "input h: f32[M, 9] " + KERNEL + "launch k(h, y, M) }",
        Rule.ARGUMENTS,
        "has extent 9 in dimension 1, not 8");
    program(
        head + KERNEL + "launch k(x, y, M + 1) }",
        Rule.ARGUMENTS,
        "has extent M in dimension 0, not M + 1");
    program(head + KERNEL + "launch k(M, y, M) }", Rule.ARGUMENTS, "argument 0 of 'k' should be a");
    program(head + KERNEL + "launch k(x, y, M) memset y = 256 }", Rule.ARGUMENTS, "256 is no byte");
    program(
        "program p { input x: f32[200, 8] output y: f32[200, 8] "
            + KERNEL
            + "launch k(x, y, 200) }",
        Rule.ARGUMENTS,
        "'k' is meant for 'm' in 1..99, not 200");
    program(
        head + "input h: f32[M, 8] align 4 " + KERNEL + "launch k(h, y, M) }",
        Rule.ARGUMENTS,
        "is aligned to 4 bytes, not 16");
  }

  /** Row-major memory of constant size may be seen in another shape. */
  @Test
  void otherShapes() {
    String kernel = "host kernel k(a: f32[3, 8], b: f32[24]) { b[0] = a[0, 0] } ";
    Program p =
        PARSER.program(
            "p",
            "program p { input x: f32[2, 3, 4] output y: f32[3, 8] " + kernel + "launch k(x, y) }");
    assertThat(Verifier.verify(p)).isEmpty();
    program(
        "program p { input x: f32[2, 3, 5] output y: f32[3, 8] " + kernel + "launch k(x, y) }",
        Rule.ARGUMENTS,
        "'x' passed for 'a' of 'k' has rank 3, not 2");
    program(
        "program p { input x: f32[24] layout (24:2) output y: f32[3, 8] "
            + kernel
            + "launch k(x, y) }",
        Rule.ARGUMENTS,
        "has rank 1, not 2");
  }

  @Test
  void dataflow() {
    String head =
        "program p { input x: f32[M, 8] output y: f32[M, 8] scalar M: i32 in 1..99 workspace t:"
            + " f32[M, 8] "
            + KERNEL;
    program(
        head + "launch k(t, y, M) }",
        Rule.DATAFLOW,
        "'t' is read before anything is written to it");
    program(head + "launch k(x, t, M) }", Rule.DATAFLOW, "output 'y' is never written");
    program(head + "launch k(x, y, M) launch k(y, x, M) }", Rule.DATAFLOW, "input 'x' is written");
    for (String first : List.of("memset t = 0", "launch k(x, t, M)")) {
      Program p = PARSER.program("p", head + first + " launch k(t, y, M) }");
      assertThat(Verifier.verify(p)).isEmpty();
    }
  }

  /** An output may have the memory of an input that it begins as. */
  @Test
  void carried() {
    String head =
        "program p { input x: f32[M, 8] input z: f32[M, 8] output y: f32[M, 8] output o: f32[M, 4]"
            + " scalar M: i32 in 1..99 workspace t: f32[M, 8] "
            + KERNEL;
    String rest = " memset o = 0 ";
    Program right =
        PARSER.program("p", head + "carry y = x launch k(z, y, M) launch k(y, t, M)" + rest + "}");
    assertThat(Verifier.verify(right)).isEmpty();
    program(
        head + "carry y = x launch k(x, t, M)" + rest + "}",
        Rule.DATAFLOW,
        "'x' is read when an output may have its memory");
    program(
        head + "launch k(z, y, M) carry y = x" + rest + "}",
        Rule.DATAFLOW,
        "'y' is written before 'x' is carried to it");
    program(
        head + "launch k(z, y, M) carry t = x" + rest + "}",
        Rule.ARGUMENTS,
        "an input is carried to an output, not 'x' to 't'");
    program(
        head + "launch k(z, y, M) carry o = x }",
        Rule.ARGUMENTS,
        "'x' and 'o' differ in type, shape or layout");
  }

  private static final String TWO =
      "program p on 2 devices { input x: f32[8, 8] sharded constant w: f32[8, 8] output y: f32[8, 8]"
          + " workspace t: f32[8, 8] workspace u: f32[8, 8] workspace v: f32[4, 8] view y_1: f32[4,"
          + " 8] = y from 4 view y_0: f32[4, 8] = y from 0 host kernel k(a: f32[8, 8], b: f32[8, 8])"
          + " { b[0, 0] = a[0, 0] } host kernel half(a: f32[8, 8], b: f32[4, 8]) { b[0, 0] = a[0,"
          + " 0] } launch k(x, u) launch half(x, v) ";

  @Test
  void whatDevicesAddDiffersAndOutputsDoNot() {
    for (String right :
        List.of(
            "launch k(x, y)",
            "launch k(w, y) all_reduce sum y",
            "launch k(w, t) all_reduce sum t launch k(t, y)",
            "launch k(w, y) memset y = 0",
            "launch half(w, y_0) all_reduce sum y_0 launch half(w, y_1) all_reduce sum y_1",
            "launch half(w, y_1) launch half(x, y_0) all_reduce sum y_1")) {
      Program p = PARSER.program("p", TWO + right + " }");
      assertThat(Verifier.verify(p)).as(right).isEmpty();
    }
    String differs = "output 'y' may differ between devices: no sum over them";
    program(TWO + "launch k(w, y) }", Rule.DEVICES, differs);
    program(TWO + "launch k(w, t) launch k(t, y) }", Rule.DEVICES, differs);
    program(TWO + "launch k(w, y) all_reduce sum y_0 }", Rule.DEVICES, differs);
    program(
        TWO + "launch half(w, y_1) all_reduce sum y_0 }",
        Rule.DEVICES,
        "'y_0' is the same on all devices: the sum is as often too large");
    program(
        TWO + "launch k(x, y) all_reduce sum y }",
        Rule.DEVICES,
        "'y' is the same on all devices: the sum is as often too large");
    program(
        TWO + "launch k(w, y) all_reduce sum y all_reduce sum y }",
        Rule.DEVICES,
        "'y' is the same on all devices: the sum is as often too large");
    program(
        TWO + "launch k(w, y) all_reduce sum y all_reduce sum w }",
        Rule.DATAFLOW,
        "constant 'w' is written");
    program(
        TWO + "all_reduce sum t launch k(x, y) }",
        Rule.DATAFLOW,
        "'t' is read before anything is written to it");
  }

  @Test
  void oneDeviceSharesNothing() {
    String kernel = "host kernel k(a: f32[8], b: f32[8]) { b[0] = a[0] } launch k(x, y) ";
    String head = "program p { input x: f32[8] output y: f32[8] " + kernel;
    program(
        head + "all_reduce sum y }", Rule.DEVICES, "'y' is added over devices, and there is one");
    program(
        "program p { sharded input x: f32[8] output y: f32[8] " + kernel + "}",
        Rule.DEVICES,
        "'x' is sharded: needs buffers and several devices");
    Program sharded =
        PARSER.program(
            "p",
            "program p on 2 devices { sharded input x: f32[8] sharded output y: f32[8] "
                + kernel
                + "}");
    assertThat(Verifier.verify(sharded)).isEmpty();
    program(
        "program p on 2 devices { sharded input x: i32[8] output y: i32[8] host kernel k(a: i32[8],"
            + " b: i32[8]) { b[0] = a[0] } launch k(x, y) all_reduce sum y }",
        Rule.TYPES,
        "'y' of type i32 is not added");
  }

  @Test
  void viewsAreRows() {
    String kernel =
        " host kernel k(a: f32[8, 3], b: f32[8, 3]) { b[0, 0] = a[0, 0] } launch k(x, y) }";
    String head = "program p { input x: f32[8, 3] output y: f32[8, 3] view v: ";
    assertThat(Verifier.verify(PARSER.program("p", head + "f32[4, 3] = y from 4" + kernel)))
        .isEmpty();
    for (String wrong :
        List.of("f32[4, 3] = y from 5", "f32[4, 2] = y from 0", "i32[4, 3] = y from 0")) {
      program(head + wrong + kernel, Rule.DEVICES, "'v' is not rows of 'y'");
    }
    program(head + "f32[2, 3] = y from 3" + kernel, Rule.DEVICES, "'v' is not aligned to 16 bytes");
  }

  @Test
  void kernelNames() {
    Kernel one = PARSER.kernel("k", "host kernel k() { }");
    Kernel other = PARSER.kernel("k", "host kernel k() { }");
    Program p =
        new Program(
            "p",
            List.of(),
            List.of(),
            List.of(new Program.Launch(one, List.of()), new Program.Launch(other, List.of())));
    // The two are equal as records, yet two objects would be one; make them differ.
    Program different =
        new Program(
            "p",
            List.of(),
            List.of(),
            List.of(
                new Program.Launch(one, List.of()),
                new Program.Launch(other.withBody(new Stmt.Comment("other")), List.of())));
    assertThat(Verifier.verify(p)).isEmpty();
    expect(Verifier.verify(different), Rule.KERNEL_NAMES, "there are two kernels 'k'");
  }
}
