package dev.warpwright.ir.text;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
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

  private final Literals literals;
  private final Map<Expr, Integer> heights = new IdentityHashMap<>();

  ExprParser(
      Cursor cursor, Definitions definitions, Function<String, Optional<Intrinsic>> intrinsics) {
    this.cursor = cursor;
    this.definitions = definitions;
    this.intrinsics = intrinsics;
    this.literals = new Literals(cursor);
  }

  Expr expr() {
    return binary(0);
  }

  /** An expression that takes the type if it is a number without one. */
  Expr expr(Type type) {
    return literals.adapted(expr(), type);
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
    Expr a = literals.adapted(left, right.type());
    Expr b = literals.adapted(right, a.type());
    Expr result = cursor.make(token, () -> new Expr.Binary(op, a, b));
    if (literals.isUntyped(a) && literals.isUntyped(b)) {
      literals.markUntyped(result);
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

  private Expr unary() {
    Token token = cursor.peek();
    if (token.is("-")) {
      cursor.next();
      Token number = cursor.peek();
      if (number.kind() == Token.Kind.INT || number.kind() == Token.Kind.FLOAT) {
        cursor.next();
        return literals.number(number, true, token);
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
        return literals.number(token, false, token);
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
    Expr special = specialFloat(token);
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

  private @Nullable Expr specialFloat(Token token) {
    String text = token.text();
    int dot = text.indexOf('.');
    if (dot < 0 || !Names.isType(text.substring(0, dot))) {
      return null;
    }
    DType dtype = cursor.make(token, () -> Literals.type(text.substring(0, dot))).dtype();
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
      Type type = cursor.make(token, () -> Literals.type(name));
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
        Expr then = literals.adapted(args.get(1), args.get(2).type());
        Expr otherwise = literals.adapted(args.get(2), then.type());
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
              .filter(a -> !literals.isUntyped(a))
              .findFirst()
              .orElse(args.getFirst())
              .type();
      List<Expr> typed = args.stream().map(a -> literals.adapted(a, type)).toList();
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
      typed.add(dtype == null ? args.get(i) : literals.adapted(args.get(i), Type.of(dtype)));
    }
    Type result = intrinsic.result();
    Type type = result == null ? Type.BOOL : result;
    return measured(token, new Expr.Call(intrinsic, typed, type), typed);
  }

  private int lanes() {
    Token token = cursor.peek();
    int lanes = cursor.expectInt("a number of lanes");
    if (lanes > Literals.MOST_LANES) {
      throw cursor.error(token, "a vector has at most " + Literals.MOST_LANES + " lanes");
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
    return cursor.make(token, () -> Literals.type(token.text()));
  }
}
