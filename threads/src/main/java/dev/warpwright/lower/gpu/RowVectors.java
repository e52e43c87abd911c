package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.layout.FragmentLayout;
import dev.warpwright.ir.layout.FragmentLayout.Digit;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Fragments of one dimension: a value for each row of a fragment that is a matrix, as the maxima
 * and sums of a softmax are. Whoever holds elements of a row holds its value, so that nothing is
 * exchanged but in reductions, there among the lanes of a row.
 *
 * <pre>{@code
 * tile.reduce max (i in 64; j in 32) m[i] max= s[i, j]     →  part = max of the thread's elements of the row
 *                                                             part = max(part, shfl.xor(part, 1)), 2
 *                                                             m[row] = max(m[row], part)
 * tile.map (i in 64, j in 32) { p[i, j] = s[i, j] - m[i] } →  p[r] = s[r] - m[row of r]
 * }</pre>
 */
public final class RowVectors {
  private final ThreadCode code;
  private final MapLowering maps;

  public RowVectors(ThreadCode code, MapLowering maps) {
    this.code = code;
    this.maps = maps;
  }

  public static boolean is(Buffer buffer) {
    return buffer.scope() == Scope.FRAGMENT && buffer.rank() == 1;
  }

  /** Those that a statement touches. */
  static Set<Buffer> of(Stmt s) {
    Set<Buffer> result = new LinkedHashSet<>();
    Walk.all(
        s,
        inner -> {
          switch (inner) {
            case Stmt.Store store -> add(result, store.buffer());
            case Stmt.TileReduce reduce -> add(result, reduce.to());
            case Stmt.TileCopy copy -> {
              add(result, copy.to().buffer());
              add(result, copy.from().buffer());
            }
            default -> {}
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(result, load.buffer());
          }
        });
    return result;
  }

  private static void add(Set<Buffer> set, Buffer buffer) {
    if (is(buffer)) {
      set.add(buffer);
    }
  }

  /** How the rows of a matrix are held. */
  static FragmentLayout layout(FragmentLayout matrix) {
    List<Digit> threads = new ArrayList<>();
    for (Digit digit : matrix.threadDigits()) {
      threads.add(new Digit(digit.extent(), digit.rowStep(), 0));
    }
    List<Digit> registers = matrix.registerDigits().stream().filter(d -> d.rowStep() != 0).toList();
    return new FragmentLayout(matrix.rows(), 1, threads, registers);
  }

  /** The register of a row's value, of that of one of its elements. */
  static Expr register(FragmentLayout matrix, Expr register) {
    Expr sum = Exprs.i32(0);
    long weight = 1;
    long rows = 1;
    for (Digit digit : matrix.registerDigits()) {
      if (digit.rowStep() != 0) {
        Expr place = Exprs.mod(Exprs.div(register, weight), digit.extent());
        sum = Exprs.add(sum, Exprs.mul(place, rows));
        rows *= digit.extent();
      }
      weight *= digit.extent();
    }
    return sum;
  }

  /** Whether one thread of those that hold a row's value is this one. */
  private Expr owns(FragmentLayout rows) {
    Expr owns = Exprs.bool(true);
    long weight = 1;
    for (Digit digit : rows.threadDigits()) {
      if (digit.rowStep() == 0 && digit.extent() > 1) {
        Expr place = Exprs.mod(Exprs.div(code.thread(), weight), digit.extent());
        owns = Exprs.and(owns, Exprs.eq(place, Exprs.i32(0)));
      }
      weight *= digit.extent();
    }
    return owns;
  }

  /** A map over rows; what it stores to memory, one thread of each row does. */
  Stmt map(Stmt.TileMap map, Expr guard) {
    FragmentLayout layout = code.layout(of(map).iterator().next());
    if (map.vars().size() != 1 || !Exprs.isConst(map.extents().getFirst(), layout.rows())) {
      throw new LoweringException(
          "a map over row vectors covers " + map.extents() + ", not their " + layout.rows());
    }
    List<Stmt> parts = new ArrayList<>();
    for (Stmt.Store store : map.stores()) {
      Expr stores = is(store.buffer()) ? guard : Exprs.and(owns(layout), guard);
      parts.add(
          code.overFragment(
              layout,
              false,
              run -> {
                Substitution at = Substitution.ofVars(Map.of(map.vars().getFirst(), run.row()));
                Stmt body = maps.inRegisters(map.vars(), layout, run.register()).stmt(store);
                return Stmts.when(at.expr(stores), at.stmt(body));
              }));
    }
    return Stmts.seq(parts);
  }

  /**
   * A reduction of a matrix's rows.
   *
   * @throws LoweringException if it is another one, or rows go over several warps
   */
  public Stmt reduce(Stmt.TileReduce reduce) {
    Set<Buffer> matrices = FragmentInference.fragments(reduce);
    if (!is(reduce.to())
        || reduce.to().dtype() != DType.F32
        || !reduce.value().type().equals(Type.F32)
        || matrices.isEmpty()
        || reduce.vars().size() != 1
        || reduce.reduceVars().size() != 1
        || !reduce.indices().equals(List.copyOf(reduce.vars()))) {
      throw new LoweringException(
          "the reduction to " + reduce.to().name() + " is not one f32 for each row of a fragment");
    }
    FragmentLayout matrix = code.layout(matrices.iterator().next());
    if (!Exprs.isConst(reduce.extents().getFirst(), matrix.rows())
        || !Exprs.isConst(reduce.reduceExtents().getFirst(), matrix.cols())) {
      throw new LoweringException(
          "the reduction to " + reduce.to().name() + " does not go over its fragment's rows");
    }
    Buffer sums = code.registers(reduce.to());
    Buffer part = Buffer.of("part", DType.F32, Scope.LOCAL, sums.extent(0));
    ReduceOp op = reduce.op();
    List<Var> vars = List.of(reduce.vars().getFirst(), reduce.reduceVars().getFirst());
    Stmt own =
        code.overFragment(
            matrix,
            false,
            run -> {
              List<Expr> at = List.of(register(matrix, run.register()));
              Expr value = maps.inRegisters(vars, matrix, run.register()).expr(reduce.value());
              Substitution point =
                  Substitution.ofVars(Map.of(vars.get(0), run.row(), vars.get(1), run.col()));
              return new Stmt.Store(
                  part, at, op.combine(new Expr.Load(part, at), point.expr(value)));
            });
    Stmt all =
        Stmts.loop(
            ForKind.UNROLLED,
            "r",
            sums.extent(0),
            r -> {
              List<Expr> at = List.of(r);
              Expr mine = new Expr.Load(part, at);
              List<Stmt> stmts = new ArrayList<>();
              for (long distance : distances(reduce, matrix)) {
                Expr lane = Exprs.i32(distance);
                Expr other = new Expr.Call(Intrinsics.SHFL_XOR_F32, List.of(mine, lane), Type.F32);
                stmts.add(new Stmt.Store(part, at, op.combine(mine, other)));
              }
              stmts.add(new Stmt.Store(sums, at, op.combine(new Expr.Load(sums, at), mine)));
              return Stmts.seq(stmts);
            });
    Stmt begin = ThreadCode.each(part, (r, type) -> op.identity(type));
    return new Stmt.Alloc(part, Stmts.seq(begin, own, all));
  }

  /** How far apart the lanes are that share a row. */
  private static List<Long> distances(Stmt.TileReduce reduce, FragmentLayout matrix) {
    List<Long> distances = new ArrayList<>();
    long weight = 1;
    for (Digit digit : matrix.threadDigits()) {
      if (digit.rowStep() == 0 && digit.extent() > 1) {
        if (weight * digit.extent() > 32 || Long.bitCount(digit.extent()) != 1) {
          throw new LoweringException(
              "the rows that " + reduce.to().name() + " reduces go over several warps");
        }
        for (long distance = 1; distance < digit.extent(); distance *= 2) {
          distances.add(weight * distance);
        }
      }
      weight *= digit.extent();
    }
    return distances;
  }
}
