package dev.warpwright.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;

/** Functions to schedule, and the comparison of two by running them. */
public final class Functions {
  private Functions() {}

  /** A block in loops of its own that computes {@code out[v…] = value(v…)}. */
  public static Stmt elementwise(Buffer out, Function<List<Expr>, Expr> value) {
    List<IterVar> iterVars = iterVars(out);
    List<Expr> at = iterVars.stream().map(iv -> (Expr) iv.var()).toList();
    return nest(out, iterVars, null, new Stmt.Store(out, at, value.apply(at)), at);
  }

  /** {@code out[i, j] = Σₖ a[i, k] · b[j, k]} by fma in f32. */
  public static Stmt product(Buffer out, Buffer a, Buffer b, boolean transposed) {
    List<IterVar> iterVars = iterVars(out);
    Var k = Var.index("k");
    iterVars.add(reduce(k, a.shape().get(1)));
    Var i = iterVars.get(0).var();
    Var j = iterVars.get(1).var();
    List<Expr> at = List.of(i, j);
    Expr x = Exprs.cast(DType.F32, Exprs.load(a, i, k));
    Expr y = Exprs.cast(DType.F32, transposed ? Exprs.load(b, j, k) : Exprs.load(b, k, j));
    Stmt.Store body = new Stmt.Store(out, at, Exprs.fma(x, y, new Expr.Load(out, at)));
    return nest(out, iterVars, new Stmt.Store(out, at, Exprs.f32(0)), body, at);
  }

  /** {@code out[i] = Σₖ a[i, k]} in f32. */
  public static Stmt rowSum(Buffer out, Buffer a) {
    List<IterVar> iterVars = iterVars(out);
    Var k = Var.index("k");
    iterVars.add(reduce(k, a.shape().get(1)));
    Var i = iterVars.getFirst().var();
    List<Expr> at = List.of(i);
    Expr sum = Exprs.add(new Expr.Load(out, at), Exprs.cast(DType.F32, Exprs.load(a, i, k)));
    return nest(
        out, iterVars, new Stmt.Store(out, at, Exprs.f32(0)), new Stmt.Store(out, at, sum), at);
  }

  private static List<IterVar> iterVars(Buffer out) {
    List<IterVar> iterVars = new ArrayList<>();
    String[] names = {"i", "j", "l"};
    for (int d = 0; d < out.rank(); d++) {
      Var v = Var.index(names[d]);
      iterVars.add(new IterVar(v, out.shape().get(d), IterVar.Kind.SPATIAL, Var.index(names[d])));
    }
    return iterVars;
  }

  private static IterVar reduce(Var k, Expr extent) {
    return new IterVar(k, extent, IterVar.Kind.REDUCE, Var.index(k.name()));
  }

  private static Stmt nest(
      Buffer out, List<IterVar> iterVars, Stmt init, Stmt.Store body, List<Expr> at) {
    Set<Region> reads = new LinkedHashSet<>(Accesses.loads(body.value()));
    reads.removeIf(region -> region.buffer() == out);
    Stmt result =
        new Stmt.Block(
            out.name(),
            iterVars,
            null,
            List.copyOf(reads),
            List.of(Accesses.point(out, at)),
            init,
            body,
            Attrs.NONE);
    for (IterVar iv : iterVars.reversed()) {
      result = Stmt.For.of(ForKind.SERIAL, (Var) iv.binding(), iv.extent(), result);
    }
    return result;
  }

  /** A function of nests over parameters; buffers written that are no parameter are allocated. */
  public static PrimFunc function(List<Param> params, Stmt... nests) {
    List<Buffer> intermediates = new ArrayList<>();
    for (Stmt nest : nests) {
      for (Buffer buffer : Accesses.written(nest)) {
        if (!params.contains(buffer)) {
          intermediates.add(buffer);
        }
      }
    }
    return new PrimFunc("f", params, Stmts.alloc(intermediates, Stmts.seq(nests)), Attrs.NONE);
  }

  public static ScalarParam rows() {
    return new ScalarParam(Var.index("M"), 0, Integer.MAX_VALUE);
  }

  /**
   * A network: {@code acc⁰ = x·W⁰ᵀ}, {@code h⁰ = relu(acc⁰ + b⁰)}, … and at last {@code y}; blocks
   * are called so.
   */
  public static PrimFunc mlp(DType dtype, Expr rows, ScalarParam scalar, long... widths) {
    List<Param> params = new ArrayList<>();
    Buffer x = Buffer.of("x", dtype, Scope.GLOBAL, List.of(rows, Exprs.i32(widths[0])));
    int layers = widths.length - 1;
    Buffer y = Buffer.of("y", DType.F32, Scope.GLOBAL, List.of(rows, Exprs.i32(widths[layers])));
    params.add(x);
    params.add(y);
    List<Stmt> nests = new ArrayList<>();
    Buffer input = x;
    for (int l = 0; l < layers; l++) {
      boolean last = l == layers - 1;
      Buffer w = Buffer.of("W" + l, dtype, Scope.GLOBAL, widths[l + 1], widths[l]);
      Buffer b = Buffer.of("b" + l, DType.F32, Scope.GLOBAL, widths[l + 1]);
      params.add(w);
      params.add(b);
      List<Expr> shape = List.of(rows, Exprs.i32(widths[l + 1]));
      Buffer acc = Buffer.of("acc" + l, DType.F32, Scope.GLOBAL, shape);
      nests.add(product(acc, input, w, true));
      Buffer out = last ? y : Buffer.of("h" + l, dtype, Scope.GLOBAL, shape);
      nests.add(
          elementwise(
              out,
              at -> {
                Expr sum = Exprs.add(new Expr.Load(acc, at), Exprs.load(b, at.get(1)));
                Expr value = last ? sum : Exprs.max(sum, Exprs.zero(Type.F32));
                return Exprs.cast(out.dtype(), value);
              }));
      input = out;
    }
    if (scalar != null) {
      params.add(scalar);
    }
    return function(params, nests.toArray(Stmt[]::new));
  }

  /** Runs both on the same random data and compares every output bit by bit. */
  public static void assertSameResults(PrimFunc expected, PrimFunc actual, long rows) {
    assertSameResults(expected, actual, rows, false);
  }

  /**
   * The same on small integers, of which every sum is exact, so that the order of additions does
   * not matter.
   */
  public static void assertSameSums(PrimFunc expected, PrimFunc actual, long rows) {
    assertSameResults(expected, actual, rows, true);
  }

  private static void assertSameResults(
      PrimFunc expected, PrimFunc actual, long rows, boolean integers) {
    for (Options options :
        List.of(Options.CHECKED, Options.CHECKED.withOrder(Options.Order.SHUFFLED, 7))) {
      Map<String, Long> scalars = expected.scalars().isEmpty() ? Map.of() : Map.of("M", rows);
      Arguments left = Arguments.random(expected.params(), 42, scalars);
      Arguments right = Arguments.random(actual.params(), 42, scalars);
      if (integers) {
        fillWithIntegers(left);
        fillWithIntegers(right);
      }
      Interpreter.of(expected, Options.EXACT).run(left);
      Interpreter.of(actual, options).run(right);
      for (Buffer buffer : Accesses.written(expected.body())) {
        if (expected.params().contains(buffer)) {
          assertThat(right.get(buffer).bytes())
              .as("%s with %d rows of%n%s", buffer.name(), rows, IrPrinter.text(actual))
              .isEqualTo(left.get(buffer).bytes());
        }
      }
    }
  }

  private static void fillWithIntegers(Arguments arguments) {
    SplittableRandom random = new SplittableRandom(11);
    for (Param param : arguments.params()) {
      if (param instanceof Buffer buffer) {
        arguments.get(buffer).fillWith(at -> random.nextInt(-4, 5));
      }
    }
  }
}
