package dev.warpwright.cuda;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints operators so that C++ computes what the IR means: quotients that round down, integers of 8
 * bits that stay so, parentheses where a reader wants them.
 */
final class Arithmetic {
  private final ExprPrinter exprs;
  private final Uses uses;
  private final Facts facts;

  /** No dimension comes as near as this to the greatest {@code int}. */
  private static final long LITTLE = 1 << 20;

  Arithmetic(ExprPrinter exprs, Uses uses, Facts facts) {
    this.exprs = exprs;
    this.uses = uses;
    this.facts = facts;
  }

  Text binary(Expr.Binary b, int lane) {
    DType dtype = b.a().type().dtype();
    if (CudaTypes.isStruct(dtype)) {
      throw new IllegalArgumentException(b.op() + " on " + dtype + ": cast to f32 first");
    }
    boolean isInt = dtype.isInt();
    Text x = exprs.lane(b.a(), lane);
    Text y = exprs.lane(b.b(), lane);
    Text result =
        switch (b.op()) {
          case ADD -> sum(b, x, y, lane);
          case SUB -> infix("-", x, y, Text.ADDITIVE, false);
          case MUL ->
              infix(
                  "*",
                  x,
                  factor(b, dtype == DType.I64 ? narrow(b.b(), lane) : y),
                  Text.MULTIPLICATIVE,
                  isInt);
          case DIV ->
              isInt && !isPlainDivision(b)
                  ? function(uses.helper(Helper.FLOOR_DIV), x, y)
                  : infix("/", x, y, Text.MULTIPLICATIVE, false);
          case MOD ->
              isPlainDivision(b)
                  ? infix("%", x, y, Text.MULTIPLICATIVE, false)
                  : remainder(b, x, y);
          case MIN, MAX -> {
            String name = b.op() == BinaryOp.MIN ? "min" : "max";
            yield switch (dtype) {
              case F32 -> function("f" + name + "f", x, y);
              case F64 -> function("f" + name, x, y);
              default -> function(name, x, y);
            };
          }
          case BIT_AND -> infix("&", x, y, Text.BIT_AND, true);
          case BIT_OR -> infix("|", x, y, Text.BIT_OR, true);
          case BIT_XOR -> infix("^", x, y, Text.BIT_XOR, true);
          case SHL -> infix("<<", x, y, Text.SHIFT, false);
          case SHR -> infix(">>", x, y, Text.SHIFT, false);
          case EQ -> infix("==", x, y, Text.EQUALITY, false);
          case NE -> infix("!=", x, y, Text.EQUALITY, false);
          case LT -> infix("<", x, y, Text.RELATIONAL, false);
          case LE -> infix("<=", x, y, Text.RELATIONAL, false);
          case GT -> infix(">", x, y, Text.RELATIONAL, false);
          case GE -> infix(">=", x, y, Text.RELATIONAL, false);
          case AND -> infix("&&", x, y, Text.AND, true);
          case OR -> infix("||", x, y, Text.OR, true);
        };
    return b.op().isComparison() ? result : wrapped(dtype, result);
  }

  /** C++ computes 8-bit integers as {@code int}; this brings them back. */
  private static Text wrapped(DType dtype, Text text) {
    return dtype == DType.I8 || dtype == DType.U8
        ? new Text("(" + CudaTypes.name(dtype) + ")" + text.in(Text.UNARY), Text.UNARY)
        : text;
  }

  /** A remainder of what may be negative: of so many multiples more that it is not, or a call. */
  private Text remainder(Expr.Binary b, Text x, Text y) {
    if (b.b() instanceof Expr.IntImm by && by.value() > 0 && b.type().equals(Type.I32)) {
      long least = facts.bounds().of(b.a()).min();
      if (least > -Integer.MAX_VALUE / 2) {
        long added = Math.ceilDiv(-least, by.value()) * by.value();
        Expr more = plus(b.a(), added);
        if (facts.isNonNegative(more) && staysInside(b.a(), added)) {
          return infix("%", exprs.print(more), y, Text.MULTIPLICATIVE, false);
        }
      }
    }
    return function(uses.helper(Helper.FLOOR_MOD), x, y);
  }

  /**
   * Whether a sum does not pass the greatest {@code int}: it is known not to, or little was added
   * to a number of which nothing is known, such as a dimension.
   */
  private boolean staysInside(Expr e, long added) {
    return added <= LITTLE || facts.bounds().of(e).max() <= Integer.MAX_VALUE - added;
  }

  private Expr plus(Expr e, long more) {
    return facts.simplified(Exprs.add(e, more));
  }

  private Text sum(Expr.Binary b, Text x, Text y, int lane) {
    DType dtype = b.type().dtype();
    if (b.type().equals(Type.I32)
        && b.a() instanceof Expr.Binary(BinaryOp op, Expr n, Expr.IntImm by)
        && op == BinaryOp.DIV
        && b.b() instanceof Expr.IntImm more
        && by.value() > 0
        && !facts.isNonNegative(n)
        && facts.isNonNegative(plus(n, more.value() * by.value()))
        && staysInside(n, more.value() * by.value())) {
      // The quotient may be negative, the sum may not: (n + more * by) / by is what C computes.
      Expr whole = plus(n, more.value() * by.value());
      return infix("/", exprs.print(whole), CudaTypes.constant(by), Text.MULTIPLICATIVE, false);
    }
    if (dtype.isInt()
        && b.b() instanceof Expr.IntImm imm
        && imm.value() < 0
        && imm.value() > Integer.MIN_VALUE) {
      return infix("-", x, Text.atom(String.valueOf(-imm.value())), Text.ADDITIVE, false);
    }
    if (exprs.constants().areNamed()
        && b.b() instanceof Expr.IntImm
        && b.a() instanceof Expr.Binary(BinaryOp op, Expr less, Expr.IntImm once)
        && op == BinaryOp.MUL
        && once.value() == -1
        && dtype == DType.I32) {
      return infix("-", y, exprs.lane(less, lane), Text.ADDITIVE, false);
    }
    Text more = dtype.isInt() ? exprs.constants().addend(b.b()) : null;
    return infix(
        "+",
        x,
        more != null ? more : dtype == DType.I64 ? narrow(b.b(), lane) : y,
        Text.ADDITIVE,
        dtype.isInt());
  }

  /** The right side of a product, by its name if it has one. */
  private Text factor(Expr.Binary b, Text number) {
    Text name = b.type().dtype().isInt() ? exprs.constants().factor(b.a(), b.b()) : null;
    return name != null ? name : number;
  }

  /** The right side of a 64-bit sum or product, which C++ widens by itself. */
  private Text narrow(Expr e, int lane) {
    return switch (e) {
      case Expr.Cast c when c.a().type().dtype() == DType.I32 -> exprs.lane(c.a(), lane);
      case Expr.IntImm imm when imm.value() == (int) imm.value() ->
          CudaTypes.constant(Exprs.i32(imm.value()));
      default -> exprs.lane(e, lane);
    };
  }

  /**
   * An operator between two operands. Bit operators and shifts get parentheses around other
   * operators inside, and so do mixed {@code &&} and {@code ||}, because readers do not know the
   * order by heart.
   */
  private static Text infix(String op, Text x, Text y, int precedence, boolean associative) {
    boolean unfamiliar =
        precedence <= Text.BIT_AND && precedence >= Text.BIT_OR || precedence == Text.SHIFT;
    int inner = unfamiliar ? Text.UNARY : precedence;
    boolean andInOr = precedence == Text.OR;
    String left =
        unfamiliar && x.precedence() == precedence && associative
            ? x.string()
            : x.in(andInOr && x.precedence() == Text.AND ? Text.UNARY : inner);
    String right =
        y.in(
            andInOr && y.precedence() == Text.AND
                ? Text.UNARY
                : unfamiliar || associative ? inner : precedence + 1);
    return new Text(left + " " + op + " " + right, precedence);
  }

  private static Text function(String name, Text... args) {
    List<String> parts = new ArrayList<>();
    for (Text arg : args) {
      parts.add(arg.string());
    }
    return Text.atom(name + "(" + String.join(", ", parts) + ")");
  }

  /** Whether C's division, which truncates, gives what the IR's gives. */
  private boolean isPlainDivision(Expr.Binary b) {
    if (b.type().dtype().isUnsigned()) {
      return true;
    }
    return b.type().isScalar() && facts.isNonNegative(b.a()) && facts.isNonNegative(b.b());
  }

  Text unary(Expr.Unary u, int lane) {
    DType dtype = u.type().dtype();
    if (CudaTypes.isStruct(dtype)) {
      throw new IllegalArgumentException(u.op() + " on " + dtype + ": cast to f32 first");
    }
    Text a = exprs.lane(u.a(), lane);
    String operand = a.in(Text.UNARY);
    String op =
        switch (u.op()) {
          case NEG -> "-";
          case NOT -> "!";
          case BIT_NOT -> dtype == DType.BOOL ? "!" : "~";
        };
    String text = u.op() == UnaryOp.NEG && operand.startsWith("-") ? "(" + operand + ")" : operand;
    return wrapped(dtype, new Text(op + text, Text.UNARY));
  }
}
