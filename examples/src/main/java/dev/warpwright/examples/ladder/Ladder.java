package dev.warpwright.examples.ladder;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.workload.tensor.Ops;
import dev.warpwright.workload.tensor.PrimFuncs;
import dev.warpwright.workload.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The rungs, lowest first, and the function that all of them compute. */
public final class Ladder {
  public static final List<Rung> RUNGS =
      List.of(
          new Naive(),
          new Coalesced(),
          new SharedTiles(),
          new RegisterTiles1d(),
          new RegisterTiles2d(),
          new Vectorized(),
          new ConflictFree(),
          new Autotuned(),
          new WarpTiles(),
          new DoubleBuffering(),
          new AsyncCopies());

  private Ladder() {}

  /** {@code C[m, n] = A[m, k] · B[k, n]} in f32. */
  public static PrimFunc matmul(long m, long n, long k) {
    return matmul(DType.F32, m, n, k);
  }

  /** {@code C[m, n] = A[m, k] · B[k, n]} in f32 or f64. */
  public static PrimFunc matmul(DType dtype, long m, long n, long k) {
    Tensor a = Tensor.input("A", dtype, Exprs.i32(m), Exprs.i32(k));
    Tensor b = Tensor.input("B", dtype, Exprs.i32(k), Exprs.i32(n));
    Tensor c = Ops.matmul("C", a, b, false, n, k);
    PrimFunc func = PrimFuncs.of("matmul", List.of(a.buffer(), b.buffer(), c.buffer()), List.of(c));
    return new PrimFunc(
        func.name(), func.params(), named(func.body()), Attrs.NONE.with("workload", "gemm_nn"));
  }

  /** Calls the block's variables i, j and k, after which all loops of tiles are named. */
  private static Stmt named(Stmt body) {
    Map<Var, Expr> names = new HashMap<>();
    Walk.statements(
        body,
        s -> {
          if (s instanceof Stmt.Block block) {
            for (int v = 0; v < block.iterVars().size(); v++) {
              names.put(block.iterVars().get(v).var(), Var.index(List.of("i", "j", "k").get(v)));
            }
          }
        });
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        return e instanceof Var v ? names.getOrDefault(v, v) : super.expr(e);
      }

      @Override
      public Stmt stmt(Stmt s) {
        Stmt renamed = super.stmt(s);
        return renamed instanceof Stmt.Block b
            ? new Stmt.Block(
                b.name(),
                b.iterVars().stream()
                    .map(v -> new IterVar((Var) expr(v.var()), v.extent(), v.kind(), v.binding()))
                    .toList(),
                b.predicate(),
                b.reads(),
                b.writes(),
                b.init(),
                b.body(),
                b.attrs())
            : renamed;
      }
    }.stmt(body);
  }

  /** What the search behind the autotuned rung chooses from. */
  public static List<Rung> search() {
    return Autotuned.candidates();
  }

  /** The rung of this name. */
  public static Optional<Rung> find(String name) {
    return RUNGS.stream().filter(rung -> rung.name().equals(name)).findFirst();
  }

  /**
   * The rung in f32 of this name.
   *
   * @throws UserError if there is none
   */
  public static Rung require(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new UserError(
                    TensorRung.find(name).isPresent()
                        ? "rung '" + name + "' is one on tensor cores; here it is one in f32"
                        : "there is no rung '"
                            + name
                            + "'; there are "
                            + String.join(", ", RUNGS.stream().map(Rung::name).toList())
                            + "; on tensor cores "
                            + String.join(
                                ", ",
                                Arrays.stream(TensorRung.values())
                                    .map(TensorRung::text)
                                    .toList())));
  }

  /** The kernel of a rung for one shape. */
  public static Kernel kernel(Rung rung, long m, long n, long k) {
    return kernel(rung, DType.F32, m, n, k);
  }

  /** The kernel of a rung for one shape, in f32 or f64. */
  public static Kernel kernel(Rung rung, DType dtype, long m, long n, long k) {
    Kernel kernel = SimtLowering.lower(rung.schedule(matmul(dtype, m, n, k)).func());
    return kernel.withName(kernel.name() + "_" + rung.name().replace('-', '_'));
  }
}
