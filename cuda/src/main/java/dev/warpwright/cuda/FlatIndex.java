package dev.warpwright.cuda;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Element offsets in buffers, which CUDA sees as flat arrays. */
final class FlatIndex {
  private final Facts facts;

  FlatIndex(Facts facts) {
    this.facts = facts;
  }

  /**
   * Offset of an element before the layout's swizzle, as {@code i32}; as {@code i64} where the
   * buffer may need it. It is multiplied out: {@code row * stride + column} reads better, but gave
   * products of threads other registers, with which they took up to 1.3 times as long on an H200.
   *
   * @throws UserError if strides are not constant
   */
  Expr offset(Buffer buffer, List<Expr> indices) {
    requireConstantStrides(buffer);
    if (!mayExceedInt(buffer)) {
      return facts.simplified(unswizzled(buffer, indices));
    }
    // Only the outermost coordinate reaches far; what the others add fits 32 bits.
    List<Expr> outer = new ArrayList<>(Collections.nCopies(buffer.rank(), Exprs.i32(0)));
    List<Expr> inner = new ArrayList<>(indices);
    outer.set(0, facts.simplified(indices.getFirst()));
    inner.set(0, Exprs.i32(0));
    Expr far = widen(unswizzled(buffer, outer));
    Expr near = facts.simplified(unswizzled(buffer, inner));
    return Exprs.isConst(near, 0) ? far : Exprs.add(far, Exprs.cast(DType.I64, near));
  }

  private static void requireConstantStrides(Buffer buffer) {
    for (int i = 1; i < buffer.rank() && buffer.layout() == null; i++) {
      Expr extent = buffer.shape().get(i);
      if (!(extent instanceof Expr.IntImm)) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "extent %d of %s is %s; only the first may vary, give the scalars in the others a"
                    + " value, as %s=4096",
                i,
                buffer.name(),
                IrPrinter.text(extent),
                extent instanceof Var scalar ? scalar.name() : "K"));
      }
    }
  }

  /** The swizzle that the offset still has to go through. */
  static Swizzle swizzle(Buffer buffer) {
    return buffer.layout() == null ? Swizzle.NONE : buffer.layout().swizzle();
  }

  /** An offset as what the swizzle leaves alone plus what it permutes. */
  record Parts(Expr outside, Expr inside) {}

  /**
   * Takes the addends out that are multiples of the swizzle's period: it reads and changes lower
   * bits only. What is left often does not change in a loop.
   */
  Parts swizzleParts(Expr offset, Swizzle swizzle) {
    long period = 1L << (swizzle.base() + swizzle.shift() + swizzle.bits());
    Expr outside = new Expr.IntImm(offset.type(), 0);
    Expr inside = outside;
    for (Expr addend : addends(offset)) {
      if (facts.isMultiple(addend, period)) {
        outside = Exprs.add(outside, addend);
      } else {
        inside = Exprs.add(inside, addend);
      }
    }
    return new Parts(outside, inside);
  }

  /** Whether the bits that the swizzle reads are zero for certain, so that it changes nothing. */
  boolean isLeftAlone(Expr offset, Swizzle swizzle) {
    Interval values = facts.bounds().of(offset);
    return values.min() >= 0 && values.max() < 1L << (swizzle.base() + swizzle.shift());
  }

  /** An offset divided by a number that divides each of its addends; empty if one may not be. */
  static Optional<Expr> quotient(Expr offset, long by) {
    Expr sum = new Expr.IntImm(offset.type(), 0);
    for (Expr addend : addends(offset)) {
      switch (addend) {
        case Expr.IntImm imm when imm.value() % by == 0 -> sum = Exprs.add(sum, imm.value() / by);
        case Expr.Binary(BinaryOp op, Expr a, Expr.IntImm factor)
            when op == BinaryOp.MUL && factor.value() % by == 0 ->
            sum = Exprs.add(sum, Exprs.mul(a, factor.value() / by));
        default -> {
          return Optional.empty();
        }
      }
    }
    return Optional.of(sum);
  }

  private static List<Expr> addends(Expr e) {
    if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.ADD) {
      List<Expr> all = new ArrayList<>(addends(a));
      all.addAll(addends(b));
      return all;
    }
    return List.of(e);
  }

  private static Expr unswizzled(Buffer buffer, List<Expr> indices) {
    if (buffer.layout() != null) {
      return new Layout(buffer.layout().dimensions(), Swizzle.NONE).offset(indices);
    }
    requireConstantStrides(buffer);
    Expr offset = Exprs.i32(0);
    long stride = 1;
    for (int i = buffer.rank() - 1; i >= 0; i--) {
      offset = Exprs.add(Exprs.mul(indices.get(i), stride), offset);
      if (i > 0) {
        stride *= buffer.extent(i);
      }
    }
    return offset;
  }

  /** Whether the buffer may have 2^31 elements or more. */
  private boolean mayExceedInt(Buffer buffer) {
    if (buffer.scope() != Scope.GLOBAL || buffer.rank() == 0) {
      return false;
    }
    long inner = 1;
    for (int i = 1; i < buffer.rank(); i++) {
      inner *= buffer.extent(i);
    }
    if (buffer.layout() != null) {
      Mode outermost = buffer.layout().dimensions().getFirst().getLast();
      inner = Math.max(inner, outermost.stride());
    }
    long rows = facts.bounds().of(buffer.shape().getFirst()).max();
    return rows > (inner == 0 ? Long.MAX_VALUE : Integer.MAX_VALUE / inner);
  }

  /** A product or sum of products of an outermost coordinate, computed in 64 bits. */
  private static Expr widen(Expr e) {
    return switch (e) {
      case Expr.IntImm imm -> new Expr.IntImm(Type.I64, imm.value());
      case Expr.Binary(BinaryOp op, Expr a, Expr.IntImm b) when op == BinaryOp.MUL ->
          new Expr.Binary(op, Exprs.cast(DType.I64, a), new Expr.IntImm(Type.I64, b.value()));
      case Expr.Binary(BinaryOp op, Expr a, Expr b) when op == BinaryOp.ADD ->
          new Expr.Binary(op, widen(a), widen(b));
      default -> Exprs.cast(DType.I64, e);
    };
  }

  /**
   * Whether the vector of elements at these indices, of which the last is a vector, is one aligned
   * access of 2 to 16 bytes.
   */
  boolean isVectorAccess(Buffer buffer, List<Expr> indices) {
    if (!(indices.getLast() instanceof Expr.Ramp ramp) || ramp.stride() != 1) {
      return false;
    }
    int lanes = ramp.lanes();
    int bytes = lanes * buffer.dtype().bytes();
    if (Integer.bitCount(lanes) != 1 || bytes > 16 || bytes > buffer.alignment()) {
      return false;
    }
    if (buffer.layout() != null) {
      Mode innermost = buffer.layout().dimensions().getLast().getFirst();
      boolean one = buffer.layout().dimensions().getLast().size() == 1;
      boolean staysInMode =
          one || (innermost.extent() % lanes == 0 && facts.isMultiple(ramp.base(), lanes));
      boolean staysInChunk =
          buffer.layout().swizzle().isIdentity() || lanes <= 1 << buffer.layout().swizzle().base();
      if (innermost.stride() != 1 || !staysInMode || !staysInChunk) {
        return false;
      }
    }
    // A swizzle of chunks of this size keeps a multiple of it one.
    Expr first = unswizzled(buffer, lane(indices, 0));
    return facts.isMultiple(first, lanes) || facts.isMultiple(facts.simplified(first), lanes);
  }

  /** The indices of one lane. */
  static List<Expr> lane(List<Expr> indices, int lane) {
    return indices.stream().map(index -> lane(index, lane)).toList();
  }

  /** One lane of an integer vector; a scalar is the same in every lane. */
  private static Expr lane(Expr e, int lane) {
    if (e.type().isScalar()) {
      return e;
    }
    return switch (e) {
      case Expr.Ramp r -> Exprs.add(r.base(), lane * r.stride());
      case Expr.Broadcast b -> b.value();
      case Expr.Binary b -> Exprs.fold(b.op(), lane(b.a(), lane), lane(b.b(), lane));
      case Expr.Cast c -> Exprs.cast(c.type().dtype(), lane(c.a(), lane));
      default -> throw new IllegalArgumentException("vector index that is no ramp: " + e);
    };
  }
}
