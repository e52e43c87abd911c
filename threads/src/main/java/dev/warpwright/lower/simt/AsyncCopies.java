package dev.warpwright.lower.simt;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns the copies of a nest from global to shared memory into asynchronous ones: of a vectorized
 * loop in one instruction where both sides allow it, otherwise element by element. Elements that
 * are zero because nothing is there are filled in by the hardware.
 */
final class AsyncCopies extends Rewriter {
  private AsyncCopies() {}

  /**
   * Rewrites a nest.
   *
   * @throws LoweringException if it does more than copy elements of 4 or 8 bytes
   */
  static Stmt apply(Stmt nest) {
    return new AsyncCopies().stmt(nest);
  }

  @Override
  public Stmt stmt(Stmt s) {
    if (s instanceof Stmt.For loop && loop.kind() == ForKind.VECTORIZED) {
      Stmt vector = loop.body() instanceof Stmt.Store store ? vector(loop, store) : null;
      return vector != null
          ? vector
          : new Stmt.For(
              loop.var(),
              loop.min(),
              loop.extent(),
              ForKind.UNROLLED,
              null,
              loop.attrs(),
              stmt(loop.body()));
    }
    return s instanceof Stmt.Store store
        ? copy(copyOf(store), store.buffer().dtype().bytes())
        : super.stmt(s);
  }

  private static @Nullable Stmt vector(Stmt.For loop, Stmt.Store store) {
    Vectors lanes = new Vectors(loop);
    Copy copy = copyOf(store);
    Expr inside = lanes.uniform(copy.inside());
    if (inside == null
        || !lanes.isOneAccess(store.buffer(), store.indices())
        || !lanes.isOneAccess(copy.load().buffer(), copy.load().indices())) {
      return null;
    }
    Stmt.Store first =
        new Stmt.Store(
            store.buffer(),
            lanes.first(store.indices()),
            new Expr.Load(copy.load().buffer(), lanes.first(copy.load().indices())));
    Copy whole = new Copy(first, (Expr.Load) first.value(), inside);
    return copy(whole, Math.toIntExact(lanes.lanes()) * store.buffer().dtype().bytes());
  }

  private static Copy copyOf(Stmt.Store store) {
    Copy copy = Copy.of(store);
    if (copy == null
        || store.buffer().scope() != Scope.SHARED
        || copy.load().buffer().scope() != Scope.GLOBAL
        || store.buffer().dtype().bytes() != DType.F32.bytes()
            && store.buffer().dtype().bytes() != DType.F64.bytes()) {
      throw new LoweringException(
          "an asynchronous copy to "
              + store.buffer().name()
              + " must be one of elements of 4 or 8 bytes from global to shared memory");
    }
    return copy;
  }

  private static Stmt copy(Copy copy, int bytes) {
    Intrinsic instruction =
        switch (bytes) {
          case 4 -> Intrinsics.CP_ASYNC_4;
          case 8 -> Intrinsics.CP_ASYNC_8;
          case 16 -> Intrinsics.CP_ASYNC_16;
          default -> throw new LoweringException("no asynchronous copy moves " + bytes + " bytes");
        };
    List<Expr> from = copy.load().indices();
    Expr size = Exprs.i32(bytes);
    if (!copy.isUnconditional()) {
      // Nothing is read where the size is 0, but the address has to be one of the buffer.
      from = within(copy.load().buffer(), from, copy.inside());
      size = Exprs.select(copy.inside(), size, Exprs.i32(0));
    }
    return Exprs.evaluate(
        instruction,
        new Expr.AddressOf(copy.store().buffer(), copy.store().indices()),
        new Expr.AddressOf(copy.load().buffer(), from),
        size);
  }

  /**
   * Indices that are in the buffer wherever they are taken: no greater than the last one where that
   * is all the condition says, which is the same for all copies of a row; otherwise zero where it
   * does not hold.
   */
  private static List<Expr> within(Buffer buffer, List<Expr> indices, Expr inside) {
    List<Expr> result = new ArrayList<>(indices);
    for (Expr part : Copy.conjuncts(inside)) {
      if (!(part instanceof Expr.Binary(BinaryOp op, Expr index, Expr extent))
          || op != BinaryOp.LT
          || !indices.contains(index)
          || !extent.equals(buffer.shape().get(indices.indexOf(index)))) {
        return indices.stream().map(i -> Exprs.select(inside, i, Exprs.i32(0))).toList();
      }
      result.set(indices.indexOf(index), Exprs.min(index, Exprs.add(extent, -1)));
    }
    return result;
  }
}
