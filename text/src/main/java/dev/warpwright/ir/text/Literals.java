package dev.warpwright.ir.text;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.IdentityHashMap;
import java.util.Map;

/** Numbers and names of types. */
final class Literals {
  static final int MOST_LANES = 1024;

  private final Cursor cursor;

  /** Numbers without a type, as they are written; empty for what is made of such numbers. */
  private final Map<Expr, String> untyped = new IdentityHashMap<>();

  Literals(Cursor cursor) {
    this.cursor = cursor;
  }

  boolean isUntyped(Expr e) {
    return untyped.containsKey(e);
  }

  /** Says that an expression is made of numbers without a type. */
  void markUntyped(Expr e) {
    untyped.put(e, "");
  }

  /** A number without a type as one of the wanted type, anything else unchanged. */
  Expr adapted(Expr e, Type type) {
    String written = untyped.get(e);
    if (written == null || written.isEmpty() || e.type().equals(type)) {
      return e;
    }
    if (e instanceof Expr.IntImm imm
        && type.isScalar()
        && type.dtype().isInt()
        && fits(type.dtype(), imm.value())) {
      return new Expr.IntImm(type, imm.value());
    }
    if (e instanceof Expr.FloatImm && type.isScalar() && type.dtype().isFloat()) {
      return new Expr.FloatImm(type, real(type.dtype(), written));
    }
    return e;
  }

  private static boolean fits(DType dtype, long value) {
    return IntegerMath.wrap(dtype, value) == value && (dtype != DType.U64 || value >= 0);
  }

  /** The type of this name, with lanes. */
  static Type type(String text) {
    for (DType dtype : DType.values()) {
      if (text.equals(dtype.text())) {
        return Type.of(dtype);
      }
      String rest =
          text.startsWith(dtype.text() + "x") ? text.substring(dtype.text().length() + 1) : "";
      if (!rest.isEmpty() && rest.length() < 6) {
        int lanes = Integer.parseInt(rest);
        if (lanes > MOST_LANES) {
          throw new IllegalArgumentException("a vector has at most " + MOST_LANES + " lanes");
        }
        return new Type(dtype, lanes);
      }
    }
    throw new IllegalArgumentException("unknown type " + text);
  }

  /**
   * The value of a number token.
   *
   * @param where the sign if there is one, for messages
   */
  Expr number(Token token, boolean negative, Token where) {
    boolean isInt = token.kind() == Token.Kind.INT;
    Type type = isInt ? Type.I32 : Type.F32;
    if (!token.suffix().isEmpty()) {
      if (!Names.isType(token.suffix())) {
        throw cursor.error(token, "expected a number, found " + token.found());
      }
      type = cursor.make(token, () -> type(token.suffix()));
    }
    DType dtype = type.dtype();
    if (!type.isScalar() || !(dtype.isFloat() || (isInt && dtype.isInt()))) {
      throw cursor.error(token, "no number of type " + type + ": " + token.found());
    }
    Expr result;
    if (dtype.isFloat()) {
      result = new Expr.FloatImm(type, real(dtype, (negative ? "-" : "") + token.text()));
    } else {
      long value =
          dtype == DType.U64 && !negative && !token.text().startsWith("0x")
              ? cursor.make(token, () -> Long.parseUnsignedLong(token.text()))
              : cursor.integer(token, negative, where);
      if (dtype != DType.U64 && !fits(dtype, value) || dtype == DType.U64 && negative) {
        throw cursor.error(where, "the number " + token.found() + " does not fit into " + type);
      }
      result = new Expr.IntImm(type, value);
    }
    if (token.suffix().isEmpty()) {
      untyped.put(result, (negative ? "-" : "") + token.text());
    }
    return result;
  }

  /** Rounded once; f16 and narrower from double, which holds every printed value exactly. */
  private static double real(DType dtype, String text) {
    return dtype == DType.F32 ? Float.parseFloat(text) : Double.parseDouble(text);
  }
}
