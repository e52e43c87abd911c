package dev.warpwright.ir.verify;

import static dev.warpwright.ir.verify.BrokenRules.PARSER;
import static dev.warpwright.ir.verify.BrokenRules.expect;
import static dev.warpwright.ir.verify.BrokenRules.function;
import static dev.warpwright.ir.verify.BrokenRules.kernel;
import static dev.warpwright.ir.verify.BrokenRules.primFunc;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What is wrong with functions, and with any program. */
class VerifierTest {
  @Test
  void theManualIsWellFormed() throws IOException {
    String manual = Files.readString(Path.of("../docs/text-form.md"));
    Matcher matcher = Pattern.compile("(?ms)^```\n(.*?)^```").matcher(manual);
    while (matcher.find()) {
      IrFile file = PARSER.file("text-form.md", matcher.group(1));
      List<Problem> problems = new ArrayList<>();
      file.primFuncs().stream()
          .filter(f -> !f.name().equals("statements")) // shows a 'while', which kernels have
          .forEach(f -> problems.addAll(Verifier.verify(f)));
      file.kernels().forEach(k -> problems.addAll(Verifier.verify(k)));
      file.programs().forEach(p -> problems.addAll(Verifier.verify(p)));
      assertThat(problems).isEmpty();
    }
  }

  /** Reads and writes that the parser finds by itself, also of whole buffers. */
  @Test
  void regionsThatTheTextLeavesOutAreWellFormed() {
    String text =
        """
        primfunc f(x: f32[4, 8], i: i32[8], y: f32[4]) {
          for r in 4 {
            block b(v: spatial(4) = r) {
              alloc t: f32[1] local
              t[0] = x[v, 0] + x[v, i[v]]
              y[v] = t[0]
              for k in 8 {
                y[v] = y[v] + x[v, k]
              }
            }
          }
        }
        """;
    assertThat(Verifier.verify(PARSER.file("a", text).primFuncs().getFirst())).isEmpty();
  }

  @Test
  void declared() {
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8);
    Var i = Var.index("i");
    Stmt store = new Stmt.Store(a, List.of(i), Exprs.f32(0));
    expect(
        Verifier.verify(function(List.of(a), store)),
        Rule.DECLARED,
        "variable 'i' is not declared here");
    Stmt loop = Stmt.For.of(ForKind.SERIAL, i, Exprs.i32(8), store);
    expect(
        Verifier.verify(function(List.of(), loop)),
        Rule.DECLARED,
        "buffer 'a' is not declared here");
    assertThat(Verifier.verify(function(List.of(a), loop))).isEmpty();
  }

  @Test
  void declaredOnce() {
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8);
    Var i = Var.index("i");
    Stmt store = new Stmt.Store(a, List.of(i), Exprs.f32(0));
    Stmt loop = Stmt.For.of(ForKind.SERIAL, i, Exprs.i32(8), store);
    expect(
        Verifier.verify(function(List.of(a), Stmt.For.of(ForKind.SERIAL, i, Exprs.i32(8), loop))),
        Rule.DECLARED_ONCE,
        "variable 'i'");
    expect(
        Verifier.verify(function(List.of(a), new Stmt.Alloc(a, loop))),
        Rule.DECLARED_ONCE,
        "buffer 'a'");
  }

  @Test
  void types() {
    primFunc(
        "primfunc f(a: f16[8], b: f16[8]) { b[0] = a[0] + a[1] }",
        Rule.TYPES,
        "'+' of f16: cast it first");
    primFunc(
        "primfunc f(a: f32[8]) { a[0] = select(a[0] < a[1] && true, a[0], tanh_approx(a[1])) a[1]"
            + " = f32(exp(f16(a[0]))) }",
        Rule.TYPES,
        "exp of [f16] to f16");
    primFunc("primfunc f(a: i32[8]) { a[0] = a[1] / 0 }", Rule.TYPES, "division by zero");
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8);
    Stmt not =
        new Stmt.Store(a, List.of(Exprs.i32(0)), new Expr.Unary(UnaryOp.BIT_NOT, Exprs.f32(1)));
    expect(Verifier.verify(function(List.of(a), not)), Rule.TYPES, "'~' of f32");
    Stmt condition =
        new Stmt.If(Exprs.i32(1), new Stmt.Store(a, List.of(Exprs.i32(0)), Exprs.f32(1)), null);
    expect(
        Verifier.verify(function(List.of(a), condition)), Rule.TYPES, "the condition has type i32");
    Var v = Var.index("v");
    Stmt let = new Stmt.Let(v, new Expr.IntImm(Type.I64, 1), Stmt.Seq.EMPTY);
    expect(Verifier.verify(function(List.of(a), let)), Rule.TYPES, "'v' is i32, its value i64");
    Stmt large = new Stmt.Let(v, Exprs.i32(1L << 40), Stmt.Seq.EMPTY);
    expect(Verifier.verify(function(List.of(a), large)), Rule.TYPES, "does not fit into i32");
    Stmt loop = Stmt.For.of(ForKind.SERIAL, v, new Expr.IntImm(Type.I64, 4), Stmt.Seq.EMPTY);
    expect(Verifier.verify(function(List.of(a), loop)), Rule.TYPES, "loop variable 'v'");
  }

  @Test
  void indices() {
    primFunc(
        "primfunc f(a: f32[8]) { a[0] = a[a[1]] }", Rule.INDICES, "index 0 of 'a' has type f32");
    primFunc(
        "primfunc f(a: f32[8, 8]) { a[0, 0] = a[ramp(0, 1, 4), 0] }",
        Rule.INDICES,
        "index 0 of 'a' has type i32x4");
  }

  @Test
  void inBounds() {
    primFunc(
        "primfunc f(a: f32[8]) { a[8] = 1.0 }", Rule.IN_BOUNDS, "index 8 of dimension 0 of 'a'");
    primFunc("primfunc f(a: f32[8]) { a[-1] = 1.0 }", Rule.IN_BOUNDS, "index -1");
    primFunc(
        "primfunc f(a: f32[M], M: i32 in 1..9) { for i in M { a[M + i] = 1.0 } }",
        Rule.IN_BOUNDS,
        "outside of 0 to M - 1");
    // Some iteration is outside, and nothing keeps execution from it.
    primFunc("primfunc f(a: f32[8]) { for i in 9 { a[i] = 1.0 } }", Rule.IN_BOUNDS, "index i");
    primFunc(
        "primfunc f(a: f32[8]) { for i in 2 { for j in 5 { a[i * 4 + j] = 1.0 } } }",
        Rule.IN_BOUNDS,
        "index i * 4 + j");
    kernel(
        "kernel k(a: f32[128]) grid(bx = 2) block(tx = 65) { a[bx * 64 + tx] = 1.0 }",
        Rule.IN_BOUNDS,
        "bx * 64 + tx");
    // These may be right.
    for (String body :
        List.of(
            "for i in 9 { if i < n { a[i] = 1.0 } }",
            "for i in n { a[i] = 1.0 }",
            "a[n] = select(n < 7, a[n + 1], 0.0)",
            "let i = n % 9 a[i] = 1.0")) {
      PrimFunc f = PARSER.primFunc("f", "primfunc f(a: f32[8], n: i32 in 1..99) { " + body + " }");
      assertThat(Verifier.verify(f)).isEmpty();
    }
  }

  @Test
  void level() {
    kernel(
        "kernel k(a: f32[8]) { block b(v: spatial(8) = 0) { writes a[v] a[v] = 1.0 } }",
        Rule.LEVEL,
        "a block belongs into a PrimFunc");
    kernel("kernel k(a: f32[8]) { tile.fill a[0 +: 8] = 1.0 }", Rule.LEVEL, "a tile statement");
    kernel(
        "kernel k(a: f32[8]) { parallel i in 8 { a[i] = 1.0 } }",
        Rule.LEVEL,
        "'parallel' loops belong into host kernels");
    kernel(
        "kernel k(a: f32[8]) { bind i: threadIdx.x in 8 { a[i] = 1.0 } }",
        Rule.LEVEL,
        "not in 'bind' loops");
    primFunc(
        "primfunc f(a: f32[8]) { while a[0] < 1.0 { a[0] = 1.0 } }",
        Rule.LEVEL,
        "'while' belongs into kernels and roles");
  }

  @Test
  void scopes() {
    kernel(
        "kernel k() { alloc f: f32[8] fragment f[0] = 1.0 }",
        Rule.SCOPES,
        "'f' of scope fragment cannot be allocated in a grid kernel");
    kernel(
        "host kernel k() { alloc f: f32[8] shared.cluster f[0] = 1.0 }",
        Rule.SCOPES,
        "cannot be allocated in a host kernel");
    kernel("kernel k(a: f32[8] shared) { }", Rule.SCOPES, "parameter 'a' has scope shared");
  }

  @Test
  void constantExtents() {
    kernel(
        "kernel k(a: f32[n], n: i32 in 1..9) { unroll i in n { a[i] = 1.0 } }",
        Rule.CONSTANT_EXTENTS,
        "the extent of 'unroll i' is not constant");
    kernel(
        "kernel k(n: i32 in 1..9) { alloc s: f32[n] shared }",
        Rule.CONSTANT_EXTENTS,
        "buffer 's' of scope shared");
  }

  @Test
  void layouts() {
    kernel(
        "kernel k() { alloc s: f32[8, 8] shared layout (4:8),(8:1) }",
        Rule.LAYOUTS,
        "dimension 0 of 's' has extent 8, its layout (4:8),(8:1) only 4");
    kernel("kernel k() { alloc s: f32[8] shared layout (8:-1) }", Rule.LAYOUTS, "negative stride");
  }

  @Test
  void blocks() {
    String head = "primfunc f(a: f32[8], b: f32[8]) { for i in 8 { block c(v: spatial(8) = i) { ";
    primFunc(
        head + "reads b[v] writes b[v] b[v] = a[v] + b[v] } } }",
        Rule.BLOCKS,
        "block 'c' reads 'a' without saying so");
    primFunc(
        head + "reads a[v] writes a[v] a[v] = a[v] b[v] = a[v] } } }",
        Rule.BLOCKS,
        "block 'c' writes 'b' without saying so");
    primFunc(
        head + "reads a[v] writes a[v], b[v] b[v] = a[v] } } }",
        Rule.BLOCKS,
        "says that it writes 'a' but does not");
    primFunc(
        head + "reads a[v] writes b[v] b[v] = a[i] } } }",
        Rule.BLOCKS,
        "uses 'i' of a loop around it");
  }

  @Test
  void reductions() {
    String head = "primfunc f(a: f32[8], b: f32[8]) { for i in 8 { block c(v: ";
    primFunc(
        head + "spatial(8) = i) { reads a[v] writes b[v] init { b[v] = 0.0 } b[v] = a[v] } } }",
        Rule.REDUCTIONS,
        "has an init but no reduce variable");
    primFunc(
        head + "reduce(8) = i) { reads a[v] writes b[v] b[v] = a[v] } } }",
        Rule.REDUCTIONS,
        "writes a place of 'b' that depends on a reduce variable");
    primFunc(
        head
            + "reduce(8) = i) { reads a[v] writes b[0] init { b[0] = a[v] } b[0] = b[0] + a[v] } }"
            + " }",
        Rule.REDUCTIONS,
        "uses reduce variable 'v' in its init");
  }

  @Test
  void tiles() {
    String head = "primfunc f(a: f32[8, 8], b: f16[8, 16], c: i32[8, 8]) { ";
    primFunc(
        head + "tile.copy a[0 +: 8, 0 +: 8] <- b[0 +: 8, 0 +: 16] }",
        Rule.TILES,
        "a tile of 'b' to one of another shape in 'a'");
    primFunc(
        head + "tile.mma a[0 +: 8, 0 +: 8] += b[0 +: 8, 0 +: 16] * b[0 +: 8, 0 +: 8] }",
        Rule.TILES,
        "do not fit");
    primFunc(
        head + "tile.mma b[0 +: 8, 0 +: 8] += a[0 +: 8, 0 +: 8] * a[0 +: 8, 0 +: 8] }",
        Rule.TILES,
        "'b' of type f16 cannot hold sums");
    primFunc(
        head + "tile.mma c[0 +: 8, 0 +: 8] += a[0 +: 8, 0 +: 8] * a[0 +: 8, 0 +: 8] }",
        Rule.TILES,
        "mma of f32 and f32 accumulates in i32");
    primFunc(head + "tile.fill a[0 +: 8, 0 +: 8] = 1 }", Rule.TILES, "is filled with i32");
    primFunc(
        head + "tile.reduce max (i in 8; j in 8) c[i, 0] max= c[i, j] }",
        Rule.TILES,
        "no max of values of type i32");
    primFunc(
        head + "tile.map (i in 8, j in 7) { a[i, j] = a[i, j + 1] } }",
        Rule.TILES,
        "a point of the map may read an element of 'a' that another point writes");
    PrimFunc halves =
        PARSER.primFunc(
            "f", head + "tile.map (i in 8, j in 4) { a[i, j] = a[i, j + 4] * a[i, j] } }");
    assertThat(Verifier.verify(halves)).isEmpty();
  }

  @Test
  void allProblemsAreCollectedWithTheirLines() {
    PrimFunc f =
        PARSER.primFunc(
            "f",
            """
            primfunc f(a: f32[8], b: f16[8]) {
              a[9] = 1.0
              b[0] = b[1] + b[2]
              while true {
                a[0] = 2.0
              }
            }
            """);
    assertThat(Verifier.verify(f))
        .extracting(Problem::rule, Problem::line)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(Rule.IN_BOUNDS, 2),
            org.assertj.core.groups.Tuple.tuple(Rule.TYPES, 3),
            org.assertj.core.groups.Tuple.tuple(Rule.LEVEL, 4));
    assertThatThrownBy(() -> Verifier.require(f))
        .isInstanceOf(VerificationException.class)
        .hasMessageContaining("line 4: 'while' belongs into kernels and roles (LEVEL)")
        .hasMessageContaining("  a[9] = 1.0f32\n  ^^^^^^^^^^^^^");
  }
}
