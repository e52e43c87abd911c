package dev.warpwright.ir.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrFile;
import dev.warpwright.ir.text.IrParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class VerifierTest {
  private record Fake(
      String text, Collective collective, List<Operand> operands, @Nullable Type result)
      implements Intrinsic {
    @Override
    public boolean isBarrier() {
      return operands.isEmpty();
    }

    @Override
    public @Nullable String problem(Expr.Call call) {
      return text.equals("budget") && Exprs.isConst(call.args().getFirst(), 7)
          ? "budget takes no 7"
          : null;
    }
  }

  private static Intrinsic.Operand address(
      String name, @Nullable DType dtype, Scope scope, Intrinsic.Access access, int elements) {
    return new Intrinsic.Operand(name, dtype, Set.of(scope), access, elements);
  }

  private static Intrinsic.Operand value(String name) {
    return new Intrinsic.Operand(name, DType.I32, Set.of(), Intrinsic.Access.NONE, 1);
  }

  private static final Map<String, Intrinsic> TABLE =
      Map.of(
          "sync", new Fake("sync", Intrinsic.Collective.BLOCK, List.of(), null),
          "group", new Fake("group", Intrinsic.Collective.WARPGROUP, List.of(), null),
          "budget", new Fake("budget", Intrinsic.Collective.WARPGROUP, List.of(value("n")), null),
          "sync.named",
              new Fake("sync.named", Intrinsic.Collective.BLOCK, List.of(value("threads")), null),
          "ldmatrix",
              new Fake(
                  "ldmatrix",
                  Intrinsic.Collective.WARP,
                  List.of(
                      address("dst", DType.U32, Scope.LOCAL, Intrinsic.Access.WRITE, 4),
                      address("row", null, Scope.SHARED, Intrinsic.Access.READ, 16)),
                  null),
          "ticket", new Fake("ticket", Intrinsic.Collective.THREAD, List.of(value("n")), Type.I32));

  private final IrParser parser = new IrParser(name -> Optional.ofNullable(TABLE.get(name)));

  private static void expect(List<Problem> problems, Rule rule, String message) {
    assertThat(problems).extracting(Problem::rule).containsOnly(rule);
    assertThat(problems.getFirst().message()).contains(message);
  }

  private void primFunc(String text, Rule rule, String message) {
    expect(Verifier.verify(parser.primFunc("test", text)), rule, message);
  }

  private void kernel(String text, Rule rule, String message) {
    expect(Verifier.verify(parser.kernel("test", text)), rule, message);
  }

  private void program(String text, Rule rule, String message) {
    expect(Verifier.verify(parser.program("test", text)), rule, message);
  }

  private void valid(String kernel) {
    assertThat(Verifier.verify(parser.kernel("test", kernel))).isEmpty();
  }

  private static PrimFunc function(List<Buffer> params, Stmt body) {
    return new PrimFunc("f", List.copyOf(params), body, Attrs.NONE);
  }

  @Test
  void theManualIsWellFormed() throws IOException {
    String manual = Files.readString(Path.of("../docs/text-form.md"));
    Matcher matcher = Pattern.compile("(?ms)^```\n(.*?)^```").matcher(manual);
    while (matcher.find()) {
      IrFile file = parser.file("text-form.md", matcher.group(1));
      List<Problem> problems = new ArrayList<>();
      file.primFuncs().stream()
          .filter(f -> !f.name().equals("statements")) // shows a 'while', which kernels have
          .forEach(f -> problems.addAll(Verifier.verify(f)));
      file.kernels().forEach(k -> problems.addAll(Verifier.verify(k)));
      file.programs().forEach(p -> problems.addAll(Verifier.verify(p)));
      assertThat(problems).isEmpty();
    }
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
      PrimFunc f = parser.primFunc("f", "primfunc f(a: f32[8], n: i32 in 1..99) { " + body + " }");
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
        "'while' belongs into kernels");
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
        head + "writes b[v] b[v] = a[v] } } }",
        Rule.BLOCKS,
        "block 'c' reads 'a' without saying so");
    primFunc(
        head + "reads a[v] b[v] = a[v] } } }",
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
        "products of f32 and f32 are summed in i32");
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
        parser.primFunc(
            "f", head + "tile.map (i in 8, j in 4) { a[i, j] = a[i, j + 4] * a[i, j] } }");
    assertThat(Verifier.verify(halves)).isEmpty();
  }

  @Test
  void launch() {
    kernel("kernel k() block(x = 32, y = 64) { }", Rule.LAUNCH, "a block has 2048 threads");
    kernel("kernel k(n: i32 in 1..9) block(x = n) { }", Rule.LAUNCH, "is not constant");
    Var x = Var.index("x");
    Var y = Var.index("y");
    Kernel twice =
        new Kernel(
            "k",
            Kernel.Kind.GRID,
            List.of(),
            List.of(
                new ThreadBinding(ThreadAxis.THREAD_X, x, Exprs.i32(8)),
                new ThreadBinding(ThreadAxis.THREAD_X, y, Exprs.i32(8))),
            Stmt.Seq.EMPTY,
            Attrs.NONE);
    expect(Verifier.verify(twice), Rule.LAUNCH, "two indices threadIdx.x");
  }

  private static final String BUFFERS =
      "alloc s: f16[64, 64] shared alloc r: u32[4] local alloc g: f32[4] local ";

  @Test
  void intrinsics() {
    String head = "kernel k(a: f16[8]) block(tx = 64) { " + BUFFERS;
    kernel(head + "ldmatrix(&g[0], &s[tx, 0]) }", Rule.INTRINSICS, "points at u32, not f32");
    kernel(
        head + "ldmatrix(&r[0], &a[0]) }",
        Rule.INTRINSICS,
        "operand 'row' of ldmatrix points into [shared], not global memory");
    kernel(head + "ldmatrix(r[0], &s[0, 0]) }", Rule.INTRINSICS, "is an address, not a value");
    kernel(head + "sync.named(1.5) }", Rule.INTRINSICS, "is of type i32, not f32");
    kernel(head + "exp(1.0) }", Rule.INTRINSICS, "exp has no effect");
    kernel(head + "a[0] = select(sync(), a[0], a[1]) }", Rule.INTRINSICS, "sync gives no value");
    kernel("host kernel k() { sync() }", Rule.INTRINSICS, "does not run in a host kernel");
    kernel(
        head + "ldmatrix(&r[2], &s[0, 0]) }",
        Rule.IN_BOUNDS,
        "covers 16 bytes of 'r', which has 8 there");
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8);
    Stmt wild =
        new Stmt.Let(
            new Var("p", Type.HANDLE),
            new Expr.AddressOf(a, List.of(Exprs.i32(0))),
            Stmt.Seq.EMPTY);
    expect(
        Verifier.verify(function(List.of(a), wild)),
        Rule.TYPES,
        "the address in 'a' is no argument of an intrinsic");
    valid(head + "let t = ticket(1) if t == 0 { ldmatrix(&r[0], &s[tx, 8]) } }");
  }

  @Test
  void convergence() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 128) { " + BUFFERS;
    String load = "ldmatrix(&r[0], &s[tx % 64, 0])";
    kernel(
        head + "if tx < 64 { sync() } }",
        Rule.CONVERGENCE,
        "execute sync together part before it, at tx < 64");
    kernel(head + "let lane = tx % 32 if lane < 8 { " + load + " } }", Rule.CONVERGENCE, "lane");
    kernel(head + "for i in tx { sync() } }", Rule.CONVERGENCE, "at tx");
    kernel(head + "if bx * 128 + tx < n { " + load + " } }", Rule.CONVERGENCE, "ldmatrix");
    kernel(
        head + "if bx < n { } else { if tx == 0 { } else { sync() } } }", Rule.CONVERGENCE, "tx");
    valid(head + "if bx < 5 { sync() } }");
    valid(head + "if tx < 128 { sync() } }");
    valid(head + "let warp = tx / 32 if warp == 1 { " + load + " } }");
    valid(head + "if tx < 64 { " + load + " sync.named(64) } }");
    valid(head + "for i in n { while r[0] < 5u32 { sync() } }  }");
  }

  @Test
  void convergenceWhereTheLastGroupIsNotWhole() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 160) { " + BUFFERS;
    kernel(head + "if tx < 64 { group() } }", Rule.CONVERGENCE, "execute group together part");
    kernel(head + "if tx >= 128 { } else { if tx % 128 < 2 { group() } } }", Rule.CONVERGENCE, "2");
    valid(head + "if tx < 128 { group() } }");
    valid(head + "if tx >= 128 { } else { group() } }");
    valid(head + "if tx < 160 { group() } }");
  }

  @Test
  void operandsOfIntrinsics() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 128) { ";
    kernel(head + "budget(7) }", Rule.INTRINSICS, "budget takes no 7");
    kernel(head + "budget(7u32) }", Rule.INTRINSICS, "operand 'n' of budget is of type i32");
    valid(head + "budget(8) }");
  }

  @Test
  void vectors() {
    kernel(
        "kernel k(a: f32[64]) { a[ramp(0, 2, 4)] = broadcast(1.0, 4) }",
        Rule.VECTORS,
        "are not consecutive");
    kernel(
        "kernel k(a: f32[64]) { a[ramp(0, 1, 8)] = broadcast(1.0, 8) }",
        Rule.VECTORS,
        "wider than 16 bytes");
    kernel(
        "kernel k() { alloc s: f32[8, 8] shared layout (8:1),(8:8)"
            + " s[0, ramp(0, 1, 4)] = broadcast(1.0, 4) }",
        Rule.VECTORS,
        "4 lanes are not consecutive in 's'");
    valid(
        "kernel k() { alloc s: f32[8, 8] shared layout (8:8),(8:1)^<1,2,1>"
            + " s[0, ramp(0, 1, 4)] = broadcast(1.0, 4) }");
    valid("host kernel k(a: f32[64]) { a[ramp(0, 1, 8)] = broadcast(1.0, 8) }");
  }

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
      Program p = parser.program("p", head + first + " launch k(t, y, M) }");
      assertThat(Verifier.verify(p)).isEmpty();
    }
  }

  @Test
  void kernelNames() {
    Kernel one = parser.kernel("k", "host kernel k() { }");
    Kernel other = parser.kernel("k", "host kernel k() { }");
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

  @Test
  void allProblemsAreCollectedWithTheirLines() {
    PrimFunc f =
        parser.primFunc(
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
        .hasMessageContaining("line 4: 'while' belongs into kernels (LEVEL)")
        .hasMessageContaining("  a[9] = 1.0f32\n  ^^^^^^^^^^^^^");
  }
}
