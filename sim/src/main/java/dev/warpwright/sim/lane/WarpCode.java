package dev.warpwright.sim.lane;

import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.sim.block.Warp;
import dev.warpwright.sim.block.WarpNode;
import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.Exec;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.Frame;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.MathFunctions;
import dev.warpwright.sim.finding.Suspicion;
import dev.warpwright.sim.memory.Bytes;
import dev.warpwright.sim.memory.Shadow;
import java.util.List;

/**
 * The straight parts of a grid kernel as bytecode: what the class that {@link WarpCodeBuilder}
 * writes extends, and what its code calls. Whatever might be a finding is {@link Suspicion} here;
 * who is to blame is for the interpreter to say.
 */
abstract class WarpCode {
  /** The place of accesses that are checked here, which no finding ever names. */
  static final Stmt NOWHERE = Stmt.Seq.EMPTY;

  private static final DType[] TYPES = DType.values();

  /** What generated code hands over to the runtime, by number. */
  final WarpNode.Straight[] straights;

  final LongExpr[] integers;
  final DoubleExpr[] reals;
  final Exec[] actions;
  final Counting.Site[] sites;

  /** What the generated code refers to. */
  record Tables(
      List<WarpNode.Straight> straights,
      List<LongExpr> integers,
      List<DoubleExpr> reals,
      List<Exec> actions,
      List<Counting.Site> sites) {}

  WarpCode(Tables tables) {
    straights = tables.straights.toArray(WarpNode.Straight[]::new);
    integers = tables.integers.toArray(LongExpr[]::new);
    reals = tables.reals.toArray(DoubleExpr[]::new);
    actions = tables.actions.toArray(Exec[]::new);
    sites = tables.sites.toArray(Counting.Site[]::new);
  }

  /** Executes a straight part with these lanes of a warp. */
  abstract void run(int part, Warp w, int mask);

  /** The value of an expression of an integer type. */
  abstract long integer(int expression, Frame f);

  /** The value of an expression of a float type. */
  abstract double real(int expression, Frame f);

  /**
   * Computes an operand of an intrinsic for some lanes.
   *
   * @param values receives addresses in bytes from the beginning of the buffer, or values
   * @return the lanes whose address is outside
   */
  abstract int operand(int operand, Frame[] frames, int mask, long[] values);

  /** A coordinate, if it is inside. */
  static long inside(long coordinate, long extent) {
    if (coordinate < 0 || coordinate >= extent) {
      throw Suspicion.raise();
    }
    return coordinate;
  }

  /** The offset of a vector, if it is a multiple of so many elements. */
  static long aligned(long offset, int elements) {
    if ((offset & elements - 1) != 0) {
      throw Suspicion.raise();
    }
    return offset;
  }

  /** The offset of a vector's next lane, if it is the next element. */
  static long next(long offset, long before) {
    if (offset != before + 1) {
      throw Suspicion.raise();
    }
    return offset;
  }

  static long divisor(long value) {
    if (value == 0) {
      throw Suspicion.raise();
    }
    return value;
  }

  /** An extent of a global buffer whose rows have a length that is known only now. */
  static long extent(Frame f, int slot, int dimension) {
    return dimension == 0 ? f.outer[slot] : f.shapes[slot][dimension];
  }

  static void read(Shadow shadow, Frame f, int element) {
    if (shadow != null) {
      shadow.read(f, element, NOWHERE);
    }
  }

  static void write(Shadow shadow, Frame f, int element) {
    if (shadow != null) {
      shadow.write(f, element, NOWHERE);
    }
  }

  /** Counts an access to memory. */
  static void request(Counting.Site site, Frame f, long offset, int element, int bytes) {
    if (f.requests != null) {
      f.requests.access(site, f.laneBit, offset * element, bytes, f.memory[site.slot()].length);
    }
  }

  /** The next loads stand in an iteration that is not joined with the one before. */
  static void finishRuns(Warp w) {
    if (w.requests != null) {
      w.requests.finishRuns();
    }
  }

  static void multiplyAdds(Warp w, int mask, int perLane) {
    if (w.requests != null) {
      w.requests.counting().multiplyAdds((long) perLane * Integer.bitCount(mask));
    }
  }

  /** The bits of an element. */
  static long bits(byte[] memory, int at, int type) {
    return Bytes.bits(TYPES[type], memory, at);
  }

  /** Something has another value now if the difference is not 0. */
  static void noteChange(int difference, Warp w) {
    if (difference != 0) {
      w.changes++;
    }
  }

  /** Sets a variable for all active lanes. */
  static void setAll(Warp w, int mask, int slot, long value) {
    for (int m = mask; m != 0; m &= m - 1) {
      w.lanes[Integer.numberOfTrailingZeros(m)].ints[slot] = value;
    }
  }

  static long wrap(long value, int type) {
    return IntegerMath.wrap(TYPES[type], value);
  }

  static long toInteger(double value, int type) {
    return ExprCompiler.toInteger(TYPES[type], value);
  }

  static float round(double value, int type) {
    return (float) Numerics.round(TYPES[type], value);
  }

  static double fromU64(long value, int type) {
    return ExprCompiler.fromU64(TYPES[type], value);
  }

  static double apply(double x, int op) {
    return MathFunctions.unary(dev.warpwright.ir.MathOp.values()[op]).apply(x);
  }

  static long bits(double value, int type) {
    return Bytes.realToBits(TYPES[type], value);
  }

  static double ofBits(long bits, int type) {
    return Bytes.bitsToReal(TYPES[type], bits);
  }

  static double real(byte[] memory, int at, int type) {
    return Bytes.real(TYPES[type], memory, at);
  }

  static long integer(byte[] memory, int at, int type) {
    return Bytes.integer(TYPES[type], memory, at);
  }

  static void putReal(byte[] memory, int at, double value, int type) {
    Bytes.putReal(TYPES[type], memory, at, value);
  }

  static void putInteger(byte[] memory, int at, long value, int type) {
    Bytes.putInteger(TYPES[type], memory, at, value);
  }

  /** Two f32 rounded to f16, the first in the low half. */
  static long packF16(float low, float high) {
    return (Numerics.f16Bits(low) & 0xFFFF | Numerics.f16Bits(high) << 16) & 0xFFFF_FFFFL;
  }

  /** Two f32 rounded to bf16, the first in the low half. */
  static long packBf16(float low, float high) {
    return (Numerics.bf16Bits(low) & 0xFFFF | Numerics.bf16Bits(high) << 16) & 0xFFFF_FFFFL;
  }

  /** As {@link #packF16}, with zero for what is negative. */
  static long packReluF16(float low, float high) {
    return packF16(low <= 0 ? 0 : low, high <= 0 ? 0 : high);
  }

  /** As {@link #packBf16}, with zero for what is negative. */
  static long packReluBf16(float low, float high) {
    return packBf16(low <= 0 ? 0 : low, high <= 0 ? 0 : high);
  }

  /** Bits of an f32 rounded to tf32. */
  static long tf32(float value) {
    return Float.floatToRawIntBits(Numerics.tf32(value)) & 0xFFFF_FFFFL;
  }

  /** a · b + c, rounded once, as a number from 0 to 1; NaN is 0. */
  static float saturatedFma(float a, float b, float c) {
    return Numerics.saturatedFma(a, b, c);
  }
}
