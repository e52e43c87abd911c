package dev.warpwright.ir.text;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads expressions. A number without a type takes the type of what it is combined with. */
final class ExprParser {
  /** Height of an expression; what walks expressions recurses this deep. */
  private static final int HEIGHT = 250;

  private static final int MOST_LANES = 1024;

  private static final Map<String, BinaryOp> BINARY = new HashMap<>();
  private static final Map<String, MathOp> MATH = new HashMap<>();

  static {
    for (BinaryOp op : BinaryOp.values()) {
      BINARY.put(op.text(), op);
    }
    for (MathOp op : MathOp.values()) {
      MATH.put(op.text(), op);
    }
  }

  private final Cursor cursor;
  private final Definitions definitions;
  private final Function<String, Optional<Intrinsic>> intrinsics;

  /** Numbers without a type, as they are written; empty for what is made of such numbers. */
  private final Map<Expr, String> untyped = new IdentityHashMap<>();

  private final Map<Expr, Integer> heights = new IdentityHashMap<>();

  ExprParser(
      Cursor cursor, Definitions definitions, Function<String, Optional<Intrinsic>> intrinsics) {
    this.cursor = cursor;
    this.definitions = definitions;
    this.intrinsics = intrinsics;
  }

  Expr expr() {
    return binary(0);
  }

  /** An expression that takes the type if it is a number without one. */
  Expr expr(Type type) {
    return adapted(expr(), type);
  }

  private Expr binary(int atLeast) {
    cursor.enter();
    Expr left = unary();
    while (true) {
      Token token = cursor.peek();
      BinaryOp op = token.kind() == Token.Kind.SYMBOL ? BINARY.get(token.text()) : null;
      int strength = op == null ? -1 : ExprPrinter.precedence(op);
      if (op == null || strength < atLeast) {
        cursor.leave();
        return left;
      }
      cursor.next();
      Expr right = binary(strength + 1);
      left = combined(token, op, left, right);
      if (op.isComparison() && isComparison(cursor.peek())) {
        throw cursor.error(cursor.peek(), "comparisons do not chain: use parentheses or &&");
      }
    }
  }

  private static boolean isComparison(Token token) {
    BinaryOp op = token.kind() == Token.Kind.SYMBOL ? BINARY.get(token.text()) : null;
    return op != null && op.isComparison();
  }

  private Expr combined(Token token, BinaryOp op, Expr left, Expr right) {
    Expr a = adapted(left, right.type());
    Expr b = adapted(right, a.type());
    Expr result = cursor.make(token, () -> new Expr.Binary(op, a, b));
    if (untyped.containsKey(a) && untyped.containsKey(b)) {
      untyped.put(result, "");
    }
    return measured(token, result, a, b);
  }

  /** Refuses expressions that are too high to be walked. */
  private Expr measured(Token token, Expr e, Expr... parts) {
    int height = 0;
    for (Expr part : parts) {
      height = Math.max(height, heights.getOrDefault(part, 0));
    }
    if (height >= HEIGHT) {
      throw cursor.error(token, "expression nested more than " + HEIGHT + " levels deep");
    }
    heights.put(e, height + 1);
    return e;
  }

  private Expr measured(Token token, Expr e, List<Expr> parts) {
    return measured(token, e, parts.toArray(Expr[]::new));
  }

  /** A number without a type as one of the wanted type, anything else unchanged. */
  private Expr adapted(Expr e, Type type) {
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

  private Expr unary() {
    Token token = cursor.peek();
    if (token.is("-")) {
      cursor.next();
      Token number = cursor.peek();
      if (number.kind() == Token.Kind.INT || number.kind() == Token.Kind.FLOAT) {
        cursor.next();
        return number(number, true, token);
      }
      return unaryOf(token, UnaryOp.NEG);
    }
    if (token.is("!")) {
      cursor.next();
      return unaryOf(token, UnaryOp.NOT);
    }
    if (token.is("~")) {
      cursor.next();
      return unaryOf(token, UnaryOp.BIT_NOT);
    }
    if (token.is("&")) {
      cursor.next();
      Token name = cursor.expectName("the name of a buffer");
      Buffer buffer = definitions.buffer(name);
      List<Expr> indices = indices();
      return measured(name, cursor.make(name, () -> new Expr.AddressOf(buffer, indices)), indices);
    }
    return primary();
  }

  private Expr unaryOf(Token token, UnaryOp op) {
    cursor.enter();
    Expr a = unary();
    cursor.leave();
    return measured(token, new Expr.Unary(op, a), a);
  }

  private Expr primary() {
    Token token = cursor.peek();
    switch (token.kind()) {
      case INT, FLOAT -> {
        cursor.next();
        return number(token, false, token);
      }
      case QUOTED -> {
        cursor.next();
        return named(token);
      }
      case NAME -> {
        return name();
      }
      case SYMBOL -> {
        if (cursor.accept("(")) {
          Expr inner = expr();
          cursor.expect(")");
          return inner;
        }
      }
      case STRING, COMMENT, END -> {}
    }
    throw cursor.expected("an expression");
  }

  private Expr name() {
    Token token = cursor.next();
    String text = token.text();
    if (text.equals("true") || text.equals("false")) {
      return Exprs.bool(text.equals("true"));
    }
    Expr special = specialFloat(text);
    if (special != null) {
      return special;
    }
    if (cursor.isAt("(")) {
      cursor.next();
      Expr call = call(token);
      cursor.expect(")");
      return call;
    }
    if (Names.isReserved(text) || text.indexOf('.') >= 0) {
      throw cursor.error(token, "expected an expression, found " + token.found());
    }
    return named(token);
  }

  private static @Nullable Expr specialFloat(String text) {
    int dot = text.indexOf('.');
    if (dot < 0 || !Names.isType(text.substring(0, dot))) {
      return null;
    }
    DType dtype = type(text.substring(0, dot)).dtype();
    double value =
        switch (text.substring(dot)) {
          case ".inf" -> Double.POSITIVE_INFINITY;
          case ".minus_inf" -> Double.NEGATIVE_INFINITY;
          case ".nan" -> Double.NaN;
          default -> 0;
        };
    return value == 0 || !dtype.isFloat() ? null : new Expr.FloatImm(Type.of(dtype), value);
  }

  private Expr named(Token token) {
    Object node = definitions.lookup(token);
    if (node instanceof Var v) {
      return v;
    }
    if (node instanceof Buffer buffer) {
      List<Expr> indices = indices();
      return measured(token, cursor.make(token, () -> new Expr.Load(buffer, indices)), indices);
    }
    throw cursor.error(token, "unknown name " + token.found());
  }

  /** {@code [a, b]}. */
  List<Expr> indices() {
    cursor.expect("[");
    List<Expr> indices = list("]");
    cursor.expect("]");
    return indices;
  }

  /** Expressions separated by commas, up to a closing symbol. */
  List<Expr> list(String close) {
    List<Expr> list = new ArrayList<>();
    while (!cursor.isAt(close)) {
      list.add(expr());
      if (!cursor.accept(",")) {
        break;
      }
    }
    return list;
  }

  Region region() {
    Token name = cursor.expectName("the name of a buffer");
    Buffer buffer = definitions.buffer(name);
    List<Range> ranges = new ArrayList<>();
    cursor.expect("[");
    while (!cursor.isAt("]")) {
      Expr min = expr();
      ranges.add(cursor.accept("+:") ? new Range(min, expr()) : Range.at(min));
      if (!cursor.accept(",")) {
        break;
      }
    }
    cursor.expect("]");
    return cursor.make(name, () -> new Region(buffer, ranges));
  }

  /** What is called decides how the arguments are read; the parenthesis is already open. */
  private Expr call(Token token) {
    String name = token.text();
    if (Names.isType(name)) {
      Type type = type(name);
      Expr a = expr();
      return measured(token, cursor.make(token, () -> new Expr.Cast(type, a)), a);
    }
    switch (name) {
      case "bitcast" -> {
        Type type = expectType();
        cursor.expect(",");
        Expr a = expr();
        return measured(token, cursor.make(token, () -> new Expr.Bitcast(type, a)), a);
      }
      case "ramp" -> {
        Expr base = expr();
        cursor.expect(",");
        long stride = cursor.expectInteger("a stride");
        cursor.expect(",");
        int lanes = lanes();
        return measured(token, cursor.make(token, () -> new Expr.Ramp(base, stride, lanes)), base);
      }
      case "broadcast" -> {
        Expr value = expr();
        cursor.expect(",");
        int lanes = lanes();
        return measured(token, cursor.make(token, () -> new Expr.Broadcast(value, lanes)), value);
      }
      default -> {}
    }
    List<Expr> args = list(")");
    switch (name) {
      case "min", "max" -> {
        count(token, args, 2);
        return combined(
            token, name.equals("min") ? BinaryOp.MIN : BinaryOp.MAX, args.get(0), args.get(1));
      }
      case "select" -> {
        count(token, args, 3);
        Expr then = adapted(args.get(1), args.get(2).type());
        Expr otherwise = adapted(args.get(2), then.type());
        return measured(
            token, cursor.make(token, () -> new Expr.Select(args.get(0), then, otherwise)), args);
      }
      default -> {}
    }
    MathOp math = MATH.get(name);
    if (math != null) {
      count(token, args, math.arity());
      Type type =
          args.stream()
              .filter(a -> !untyped.containsKey(a))
              .findFirst()
              .orElse(args.getFirst())
              .type();
      List<Expr> typed = args.stream().map(a -> adapted(a, type)).toList();
      return measured(token, new Expr.Call(math, typed, type), typed);
    }
    Intrinsic intrinsic =
        intrinsics
            .apply(name)
            .orElseThrow(() -> cursor.error(token, "unknown function " + token.found()));
    count(token, args, intrinsic.operands().size());
    List<Expr> typed = new ArrayList<>();
    for (int i = 0; i < args.size(); i++) {
      Intrinsic.Operand operand = intrinsic.operands().get(i);
      DType dtype = operand.isAddress() ? null : operand.dtype();
      typed.add(dtype == null ? args.get(i) : adapted(args.get(i), Type.of(dtype)));
    }
    Type result = intrinsic.result();
    Type type = result == null ? Type.BOOL : result;
    return measured(token, new Expr.Call(intrinsic, typed, type), typed);
  }

  private int lanes() {
    Token token = cursor.peek();
    int lanes = cursor.expectInt("a number of lanes");
    if (lanes > MOST_LANES) {
      throw cursor.error(token, "a vector has at most " + MOST_LANES + " lanes");
    }
    return lanes;
  }

  private void count(Token token, List<Expr> args, int expected) {
    if (args.size() != expected) {
      throw cursor.error(
          token, token.found() + " takes " + expected + " arguments, found " + args.size());
    }
  }

  Type expectType() {
    Token token = cursor.peek();
    if (token.kind() != Token.Kind.NAME || !Names.isType(token.text())) {
      throw cursor.expected("a type");
    }
    cursor.next();
    return cursor.make(token, () -> type(token.text()));
  }

  private static Type type(String text) {
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

  private Expr number(Token token, boolean negative, Token where) {
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
