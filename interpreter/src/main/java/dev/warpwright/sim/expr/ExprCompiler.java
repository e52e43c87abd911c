package dev.warpwright.sim.expr;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.ir.type.Type;
import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.memory.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * Compiles the expressions of one statement to closures. A vector expression is compiled like a
 * scalar one: it gives the element of the lane {@link Frame#lane}.
 */
public class ExprCompiler {
  private final Context context;
  private final Stmt where;
  private final CallCompiler calls;
  private final boolean exact;
  private final Operators operators;

  /** How many selects, whose condition differs from lane to lane, are around what is compiled. */
  private int lanewise;

  public ExprCompiler(Context context, Stmt where, CallCompiler calls) {
    this.context = context;
    this.where = where;
    this.calls = calls;
    this.exact = context.precision() == FloatMode.EXACT;
    this.operators = new Operators(context, where);
  }

  /** Whether every lane evaluates what is compiled now, or none does. */
  boolean allLanes() {
    return lanewise == 0;
  }

  private LongExpr selectInteger(Expr.Select s) {
    LongExpr condition = integer(s.condition());
    boolean uniform = isUniform(s.condition());
    lanewise += uniform ? 0 : 1;
    LongExpr then = integer(s.then());
    LongExpr otherwise = integer(s.otherwise());
    lanewise -= uniform ? 0 : 1;
    return f -> condition.eval(f) != 0 ? then.eval(f) : otherwise.eval(f);
  }

  private DoubleExpr selectReal(Expr.Select s) {
    LongExpr condition = integer(s.condition());
    boolean uniform = isUniform(s.condition());
    lanewise += uniform ? 0 : 1;
    DoubleExpr then = real(s.then());
    DoubleExpr otherwise = real(s.otherwise());
    lanewise -= uniform ? 0 : 1;
    return f -> condition.eval(f) != 0 ? then.eval(f) : otherwise.eval(f);
  }

  private static boolean isUniform(Expr condition) {
    return condition.type().isScalar() || condition instanceof Expr.Broadcast;
  }

  public Stmt where() {
    return where;
  }

  public Context context() {
    return context;
  }

  /** An expression used as an index: affine forms are flattened. */
  public LongExpr index(Expr e) {
    AffineIndex affine = AffineIndex.of(e);
    return affine != null ? affine.compile(context.symbols()) : integer(e);
  }

  /** An expression of an integer type or bool. */
  public LongExpr integer(Expr e) {
    return switch (e) {
      case Expr.IntImm imm -> {
        long value = imm.value();
        yield f -> value;
      }
      case Var v -> {
        int slot = context.symbols().slot(v);
        yield v.type().isScalar() ? f -> f.ints[slot] : f -> f.ints[slot + f.lane];
      }
      case Expr.Binary b ->
          b.op().isComparison() && b.a().type().dtype().isFloat()
              ? Operators.compareReals(b.op(), real(b.a()), real(b.b()))
              : operators.binary(b.op(), b.a().type().dtype(), integer(b.a()), integer(b.b()));
      case Expr.Unary u -> unary(u);
      case Expr.Select s -> selectInteger(s);
      case Expr.Cast c -> castToInteger(c);
      case Expr.Bitcast c -> {
        LongExpr bits = rebits(c);
        DType dtype = c.type().dtype();
        yield f -> IntegerMath.wrap(dtype, bits.eval(f));
      }
      case Expr.Load l -> new MemoryAccess(this, l.buffer(), l.indices()).loadInteger();
      case Expr.Ramp r -> {
        LongExpr base = index(r.base());
        long stride = r.stride();
        yield f -> base.eval(f) + stride * f.lane;
      }
      case Expr.Broadcast b -> integer(b.value());
      case Expr.Call c -> {
        if (c.op() == MathOp.ABS) {
          LongExpr a = integer(c.args().getFirst());
          DType dtype = c.type().dtype();
          yield f -> IntegerMath.wrap(dtype, Math.abs(a.eval(f)));
        }
        yield calls.integer(c);
      }
      case Expr.FloatImm imm -> throw mistyped(e);
      case Expr.AddressOf a -> throw mistyped(e);
    };
  }

  private static IllegalArgumentException mistyped(Expr e) {
    return new IllegalArgumentException("no value of type " + e.type() + " here: " + e);
  }

  private LongExpr unary(Expr.Unary u) {
    LongExpr a = integer(u.a());
    DType dtype = u.type().dtype();
    return switch (u.op()) {
      case NEG -> f -> IntegerMath.wrap(dtype, -a.eval(f));
      case NOT -> f -> a.eval(f) ^ 1;
      case BIT_NOT -> f -> IntegerMath.wrap(dtype, ~a.eval(f));
    };
  }

  private LongExpr castToInteger(Expr.Cast c) {
    DType to = c.type().dtype();
    if (!c.a().type().dtype().isFloat()) {
      LongExpr a = integer(c.a());
      return to == DType.BOOL ? f -> a.eval(f) != 0 ? 1 : 0 : f -> IntegerMath.wrap(to, a.eval(f));
    }
    if (to.isFloat() || to == DType.MBARRIER || to == DType.HANDLE) {
      throw mistyped(c);
    }
    DoubleExpr a = real(c.a());
    return to == DType.I32 ? f -> (int) a.eval(f) : f -> toInteger(to, a.eval(f));
  }

  /** An operand of an intrinsic, for all lanes at once; null if each has its own closure. */
  public @Nullable OperandCode operand(Expr e) {
    return null;
  }

  /** A float cast to an integer type or bool. */
  public static long toInteger(DType to, double value) {
    return switch (to) {
      case BOOL -> value != 0 ? 1 : 0;
      case I8 -> Math.clamp((long) value, -128, 127);
      case U8 -> Math.clamp((long) value, 0, 255);
      case I32 -> (int) value;
      case U32 -> Math.clamp((long) value, 0L, 0xFFFF_FFFFL);
      case I64 -> (long) value;
      case U64 -> toU64(value);
      case F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE ->
          throw new IllegalArgumentException(to + " is no integer type");
    };
  }

  private static long toU64(double value) {
    if (value >= 0x1p63) {
      return value >= 0x1p64 ? -1L : (long) (value - 0x1p63) ^ Long.MIN_VALUE;
    }
    return Math.max(0, (long) value);
  }

  /** Bits of the lane of a bitcast, in the low bits. */
  private LongExpr rebits(Expr.Bitcast c) {
    Type from = c.a().type();
    LongExpr source = bits(c.a());
    int fromBits = from.dtype().bits();
    int toBits = c.type().dtype().bits();
    if (fromBits == toBits) {
      return source;
    }
    boolean scalar = c.type().isScalar();
    return f -> {
      int lane = f.lane;
      long result = 0;
      int got = 0;
      for (int bit = scalar ? 0 : lane * toBits; got < toBits; ) {
        f.lane = bit / fromBits;
        int inside = bit % fromBits;
        long element = source.eval(f) & (fromBits == 64 ? -1L : (1L << fromBits) - 1);
        result |= (element >>> inside) << got;
        int taken = Math.min(fromBits - inside, toBits - got);
        got += taken;
        bit += taken;
      }
      f.lane = lane;
      return toBits == 64 ? result : result & ((1L << toBits) - 1);
    };
  }

  /** The bits of a value, in the low bits; those above are undefined. */
  public LongExpr bits(Expr e) {
    DType dtype = e.type().dtype();
    if (!dtype.isFloat()) {
      return integer(e);
    }
    DoubleExpr value = real(e);
    return switch (dtype) {
      case F32 -> f -> Float.floatToRawIntBits((float) value.eval(f));
      case F64 -> f -> Double.doubleToRawLongBits(value.eval(f));
      default -> f -> Bytes.realToBits(dtype, value.eval(f));
    };
  }

  /** An expression of a float type. */
  public DoubleExpr real(Expr e) {
    return switch (e) {
      case Expr.FloatImm imm -> {
        double value = imm.value();
        yield f -> value;
      }
      case Var v -> {
        int slot = context.symbols().slot(v);
        yield v.type().isScalar() ? f -> f.floats[slot] : f -> f.floats[slot + f.lane];
      }
      case Expr.Binary b -> realBinary(b);
      case Expr.Unary u -> {
        DoubleExpr a = real(u.a());
        yield f -> -a.eval(f);
      }
      case Expr.Select s -> selectReal(s);
      case Expr.Cast c -> castToReal(c);
      case Expr.Bitcast c -> {
        LongExpr bits = rebits(c);
        DType dtype = c.type().dtype();
        yield f -> Bytes.bitsToReal(dtype, bits.eval(f));
      }
      case Expr.Load l -> new MemoryAccess(this, l.buffer(), l.indices()).loadReal();
      case Expr.Broadcast b -> real(b.value());
      case Expr.Call c -> c.op() instanceof MathOp op ? math(op, c) : calls.real(c);
      case Expr.IntImm imm -> throw mistyped(e);
      case Expr.Ramp r -> throw mistyped(e);
      case Expr.AddressOf a -> throw mistyped(e);
    };
  }

  private void requireArithmetic(DType dtype, String what) {
    if (dtype != DType.F32 && dtype != DType.F64) {
      throw new IllegalArgumentException(
          context.source().name()
              + ": arithmetic on "
              + dtype
              + " is not defined, cast to f32 first: "
              + what
              + " in '"
              + context.source().excerpt(where)
              + "'");
    }
  }

  private DoubleExpr realBinary(Expr.Binary b) {
    DType dtype = b.type().dtype();
    requireArithmetic(dtype, b.op().text());
    DoubleExpr x = real(b.a());
    DoubleExpr y = real(b.b());
    boolean single = exact && dtype == DType.F32;
    return switch (b.op()) {
      case ADD -> single ? f -> (float) x.eval(f) + (float) y.eval(f) : f -> x.eval(f) + y.eval(f);
      case SUB -> single ? f -> (float) x.eval(f) - (float) y.eval(f) : f -> x.eval(f) - y.eval(f);
      case MUL -> single ? f -> (float) x.eval(f) * (float) y.eval(f) : f -> x.eval(f) * y.eval(f);
      case DIV -> single ? f -> (float) x.eval(f) / (float) y.eval(f) : f -> x.eval(f) / y.eval(f);
      case MIN -> f -> min(x.eval(f), y.eval(f));
      case MAX -> f -> max(x.eval(f), y.eval(f));
      case MOD, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          throw mistyped(b);
    };
  }

  public static double min(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
  }

  public static double max(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.max(a, b);
  }

  private DoubleExpr castToReal(Expr.Cast c) {
    DType to = c.type().dtype();
    DType from = c.a().type().dtype();
    if (from.isFloat()) {
      DoubleExpr a = real(c.a());
      // Widening is exact, and so is everything where floats are not rounded.
      if (!exact || to == DType.F64 || (to == DType.F32 && from != DType.F64)) {
        return a;
      }
      return to == DType.F32 ? f -> (float) a.eval(f) : f -> Numerics.round(to, a.eval(f));
    }
    LongExpr a = integer(c.a());
    if (from == DType.U64) {
      return f -> fromU64(exact ? to : DType.F64, a.eval(f));
    }
    if (!exact || to == DType.F64) {
      return f -> (double) a.eval(f);
    }
    return to == DType.F32 ? f -> (float) a.eval(f) : f -> Numerics.round(to, (double) a.eval(f));
  }

  /** An unsigned integer cast to a float type. */
  public static double fromU64(DType to, long value) {
    if (value >= 0) {
      return to == DType.F32 ? (float) value : Numerics.round(to, (double) value);
    }
    // Halve with a sticky bit, so that the one rounding sees what was shifted out.
    long half = (value >>> 1) | (value & 1);
    return to == DType.F32 ? (float) half * 2f : Numerics.round(to, (double) half * 2);
  }

  /** Sets a variable, lane by lane if it is a vector. */
  public Exec assign(Var v, Expr value) {
    int slot = context.symbols().slot(v);
    int lanes = v.type().lanes();
    if (v.type().dtype().isFloat()) {
      DoubleExpr r = real(value);
      return lanes == 1
          ? f -> f.floats[slot] = r.eval(f)
          : f -> {
            for (f.lane = 0; f.lane < lanes; f.lane++) {
              f.floats[slot + f.lane] = r.eval(f);
            }
            f.lane = 0;
          };
    }
    LongExpr n = integer(value);
    return lanes == 1
        ? f -> f.ints[slot] = n.eval(f)
        : f -> {
          for (f.lane = 0; f.lane < lanes; f.lane++) {
            f.ints[slot + f.lane] = n.eval(f);
          }
          f.lane = 0;
        };
  }

  private DoubleExpr math(MathOp op, Expr.Call c) {
    DType dtype = c.type().dtype();
    requireArithmetic(dtype, op.text());
    boolean single = exact && dtype == DType.F32;
    DoubleExpr a = real(c.args().getFirst());
    return switch (op) {
      case FMA -> {
        DoubleExpr b = real(c.args().get(1));
        DoubleExpr d = real(c.args().get(2));
        yield single
            ? f -> Math.fma((float) a.eval(f), (float) b.eval(f), (float) d.eval(f))
            : f -> Math.fma(a.eval(f), b.eval(f), d.eval(f));
      }
      case POW -> {
        DoubleExpr b = real(c.args().get(1));
        yield single
            ? f -> (float) Math.pow(a.eval(f), b.eval(f))
            : f -> Math.pow(a.eval(f), b.eval(f));
      }
      case EXP,
          EXP2,
          LOG,
          SQRT,
          RSQRT,
          SIN,
          COS,
          TANH,
          ERF,
          ABS,
          FLOOR,
          CEIL,
          EXP2_APPROX,
          TANH_APPROX,
          RCP_APPROX,
          SIN_APPROX,
          COS_APPROX -> {
        MathFunctions.Function function = MathFunctions.unary(op);
        yield single ? f -> (float) function.apply(a.eval(f)) : f -> function.apply(a.eval(f));
      }
    };
  }
}
