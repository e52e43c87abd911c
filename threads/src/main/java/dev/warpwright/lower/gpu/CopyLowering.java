package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.target.intrinsic.TargetIntrinsic;
import java.util.List;

/**
 * Copies of two-dimensional tiles from global to shared memory by the widest access that alignment
 * allows; everything else is a map of one store.
 */
public final class CopyLowering {
  /** The value of a copy's attribute {@code by} that says that it goes on behind the statement. */
  public static final String ASYNC = "cp.async";

  /** Bytes that asynchronous copies move at once, the most first. */
  private static final List<Integer> ASYNC_BYTES = List.of(16, 8, 4);

  private final ThreadCode code;
  private final MapLowering maps;

  public CopyLowering(ThreadCode code, MapLowering maps) {
    this.code = code;
    this.maps = maps;
  }

  public Stmt copy(Stmt.TileCopy copy) {
    if (MMajor.takes(copy, code.threads())) {
      return MMajor.copy(copy, code);
    }
    int lanes = vectorLanes(copy);
    if (isAsynchronous(copy)) {
      return asynchronousCopy(copy, lanes);
    }
    return lanes == 1 ? maps.copy(copy) : vectorCopy(copy, lanes);
  }

  /** Whether a copy is to go on behind its statement, until {@code cp.async.wait}. */
  public static boolean isAsynchronous(Stmt s) {
    return s instanceof Stmt.TileCopy copy && ASYNC.equals(copy.attrs().getString("by"));
  }

  /** Whether a copy's alignment allows that. */
  public static boolean canBeAsynchronous(Stmt.TileCopy copy) {
    return ASYNC_BYTES.contains(vectorLanes(copy) * copy.to().buffer().dtype().bytes());
  }

  private Stmt asynchronousCopy(Stmt.TileCopy copy, int lanes) {
    Region to = copy.to();
    Region from = copy.from();
    long vectors = Guards.extent(to.tile().get(1)) / lanes;
    int bytes = lanes * to.buffer().dtype().bytes();
    return code.spread(
        Guards.extent(to.tile().get(0)) * vectors,
        piece -> {
          List<Expr> point =
              List.of(Exprs.div(piece, vectors), Exprs.mul(Exprs.mod(piece, vectors), lanes));
          List<Expr> at = Guards.indices(from, point);
          return chunk(
              new Expr.AddressOf(to.buffer(), Guards.indices(to, point)),
              new Expr.AddressOf(from.buffer(), Guards.clamped(from, at, lanes)),
              Guards.inside(from, at),
              bytes);
        });
  }

  private Stmt vectorCopy(Stmt.TileCopy copy, int lanes) {
    Region to = copy.to();
    Region from = copy.from();
    long rows = Guards.extent(to.tile().get(0));
    long vectors = Guards.extent(to.tile().get(1)) / lanes;
    return code.spread(
        rows * vectors,
        piece -> {
          List<Expr> point =
              List.of(Exprs.div(piece, vectors), Exprs.mul(Exprs.mod(piece, vectors), lanes));
          List<Expr> toIndices = Guards.indices(to, point);
          List<Expr> fromIndices = Guards.indices(from, point);
          Expr inside = Guards.inside(from, fromIndices);
          if (Exprs.isConst(inside, 1)) {
            return ThreadCode.move(to.buffer(), toIndices, from.buffer(), fromIndices, lanes);
          }
          return ThreadCode.withTemporary(
              "loaded",
              to.buffer().dtype(),
              lanes,
              loaded ->
                  Stmts.seq(
                      ThreadCode.each(loaded, (v, type) -> Exprs.zero(type)),
                      new Stmt.If(
                          inside,
                          ThreadCode.move(
                              loaded, List.of(Exprs.i32(0)), from.buffer(), fromIndices, lanes),
                          null),
                      ThreadCode.move(
                          to.buffer(), toIndices, loaded, List.of(Exprs.i32(0)), lanes)));
        });
  }

  /**
   * An asynchronous copy of 16, 8 or 4 bytes.
   *
   * @param inside whether there is anything to copy; else the bytes become zero, and nothing is
   *     read
   */
  public static Stmt chunk(Expr to, Expr from, Expr inside, int bytes) {
    TargetIntrinsic intrinsic =
        switch (bytes) {
          case 16 -> Intrinsics.CP_ASYNC_16;
          case 8 -> Intrinsics.CP_ASYNC_8;
          default -> Intrinsics.CP_ASYNC_4;
        };
    Expr present =
        Exprs.isConst(inside, 1)
            ? Exprs.i32(bytes)
            : Exprs.mul(Exprs.cast(DType.I32, inside), bytes);
    return Exprs.evaluate(intrinsic, to, from, present);
  }

  /** Elements that one access may move: a power of two up to 16 bytes. */
  private static int vectorLanes(Stmt.TileCopy copy) {
    Buffer to = copy.to().buffer();
    Buffer from = copy.from().buffer();
    if (from.scope() != Scope.GLOBAL
        || to.scope() != Scope.SHARED
        || from.dtype() != to.dtype()
        || from.layout() != null
        || to.rank() != (isAsynchronous(copy) ? Math.clamp(to.rank(), 2, 3) : 2)
        || from.rank() < 2
        || copy.to().tile().size() != 2
        || copy.from().tile().size() != 2
        || copy.to().ranges().getLast().isPoint()
        || copy.from().ranges().getLast().isPoint()) {
      return 1;
    }
    int bytes = to.dtype().bytes();
    for (int lanes = 16 / bytes; lanes > 1; lanes /= 2) {
      boolean aligned =
          from.alignment() >= lanes * bytes
              && to.alignment() >= lanes * bytes
              && from.extent(from.rank() - 1) % lanes == 0
              && pitch(to) % lanes == 0
              && Guards.extent(copy.to().tile().get(1)) % lanes == 0
              && startsAt(copy.from(), lanes)
              && startsAt(copy.to(), lanes);
      if (aligned) {
        return lanes;
      }
    }
    return 1;
  }

  private static long pitch(Buffer buffer) {
    if (buffer.layout() == null) {
      return buffer.extent(buffer.rank() - 1);
    }
    return buffer.rank() == 2 ? buffer.layout().offset(1, 0) : buffer.layout().offset(0, 1, 0);
  }

  /** Whether the first column of the region is a multiple of {@code lanes}. */
  private static boolean startsAt(Region region, int lanes) {
    return multipleOf(region.ranges().getLast().min(), lanes);
  }

  /** Whether an expression is a multiple of {@code lanes}, as far as its form tells. */
  public static boolean multipleOf(Expr e, int lanes) {
    return switch (e) {
      case Expr.IntImm imm -> imm.value() % lanes == 0;
      case Expr.Binary b ->
          switch (b.op()) {
            case MUL -> multipleOf(b.a(), lanes) || multipleOf(b.b(), lanes);
            case ADD, SUB -> multipleOf(b.a(), lanes) && multipleOf(b.b(), lanes);
            case DIV,
                MOD,
                MIN,
                MAX,
                BIT_AND,
                BIT_OR,
                BIT_XOR,
                SHL,
                SHR,
                EQ,
                NE,
                LT,
                LE,
                GT,
                GE,
                AND,
                OR ->
                false;
          };
      case dev.warpwright.ir.Var v -> false;
      case Expr.FloatImm f -> false;
      case Expr.Unary u -> false;
      case Expr.Select s -> false;
      case Expr.Cast c -> false;
      case Expr.Bitcast c -> false;
      case Expr.Load l -> false;
      case Expr.AddressOf a -> false;
      case Expr.Ramp r -> false;
      case Expr.Broadcast x -> false;
      case Expr.Call c -> false;
    };
  }
}
