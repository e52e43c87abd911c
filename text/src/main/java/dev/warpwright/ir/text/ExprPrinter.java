package dev.warpwright.ir.text;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;

/** Writes expressions with as few parentheses as the precedences need. */
final class ExprPrinter {
  private static final int UNARY = 10;

  private final Output out;
  private final VisibleNames names;

  ExprPrinter(Output out, VisibleNames names) {
    this.out = out;
    this.names = names;
  }

  /** Binding strength; all binary operators associate to the left, comparisons do not. */
  static int precedence(BinaryOp op) {
    return switch (op) {
      case OR -> 1;
      case AND -> 2;
      case EQ, NE, LT, LE, GT, GE -> 3;
      case BIT_OR -> 4;
      case BIT_XOR -> 5;
      case BIT_AND -> 6;
      case SHL, SHR -> 7;
      case ADD, SUB -> 8;
      case MUL, DIV, MOD -> 9;
      case MIN, MAX -> UNARY + 1;
    };
  }

  void print(Expr e) {
    print(e, 0);
  }

  private void print(Expr e, int atLeast) {
    out.begin(e);
    switch (e) {
      case Var v -> out.add(names.of(v, v.name()));
      case Expr.IntImm imm -> out.add(integer(imm));
      case Expr.FloatImm imm -> out.add(real(imm));
      case Expr.Binary(BinaryOp op, Expr a, Expr b) when op == BinaryOp.MIN || op == BinaryOp.MAX ->
          call(op.text(), List.of(a, b));
      case Expr.Binary(BinaryOp op, Expr a, Expr b) -> {
        int strength = precedence(op);
        boolean parentheses = strength < atLeast;
        out.add(parentheses ? "(" : "");
        print(a, op.isComparison() ? strength + 1 : strength);
        out.add(" " + op.text() + " ");
        print(b, strength + 1);
        out.add(parentheses ? ")" : "");
      }
      case Expr.Unary u -> {
        out.add(u.op().text());
        // A literal or a second sign after the sign would be read as one literal.
        boolean plain =
            u.a() instanceof Var
                || u.a() instanceof Expr.Load
                || u.a() instanceof Expr.Call
                || u.a() instanceof Expr.Cast;
        out.add(plain ? "" : "(");
        print(u.a(), 0);
        out.add(plain ? "" : ")");
      }
      case Expr.Select s -> call("select", List.of(s.condition(), s.then(), s.otherwise()));
      case Expr.Cast c -> call(c.type().toString(), List.of(c.a()));
      case Expr.Bitcast b -> {
        out.add("bitcast(" + b.type() + ", ");
        print(b.a(), 0);
        out.add(")");
      }
      case Expr.Load l -> access(l.buffer(), l.indices());
      case Expr.AddressOf a -> {
        out.add("&");
        access(a.buffer(), a.indices());
      }
      case Expr.Ramp r -> {
        out.add("ramp(");
        print(r.base(), 0);
        out.add(", " + r.stride() + ", " + r.lanes() + ")");
      }
      case Expr.Broadcast b -> {
        out.add("broadcast(");
        print(b.value(), 0);
        out.add(", " + b.lanes() + ")");
      }
      case Expr.Call c -> call(c.op().text(), c.args());
    }
    out.end(e);
  }

  private void call(String name, List<Expr> args) {
    out.add(name + "(");
    list(args);
    out.add(")");
  }

  void list(List<Expr> list) {
    for (int i = 0; i < list.size(); i++) {
      out.add(i == 0 ? "" : ", ");
      print(list.get(i));
    }
  }

  void access(Buffer buffer, List<Expr> indices) {
    out.add(names.of(buffer, buffer.name()) + "[");
    list(indices);
    out.add("]");
  }

  void region(Region region) {
    out.begin(region);
    out.add(names.of(region.buffer(), region.buffer().name()) + "[");
    String separator = "";
    for (Range range : region.ranges()) {
      out.add(separator);
      separator = ", ";
      print(range.min());
      if (!range.extent().equals(Exprs.i32(1))) {
        out.add(" +: ");
        print(range.extent());
      }
    }
    out.add("]");
    out.end(region);
  }

  private static String integer(Expr.IntImm imm) {
    DType dtype = imm.type().dtype();
    return switch (dtype) {
      case BOOL -> imm.value() != 0 ? "true" : "false";
      case I32 -> Long.toString(imm.value());
      case U64 -> Long.toUnsignedString(imm.value()) + "u64";
      case I8, U8, U32, I64, F8E4M3, F8E5M2, F16, BF16, F32, F64, MBARRIER, HANDLE ->
          imm.value() + dtype.text();
    };
  }

  private static String real(Expr.FloatImm imm) {
    Type type = imm.type();
    double value = imm.value();
    if (Double.isNaN(value)) {
      return type + ".nan";
    }
    if (Double.isInfinite(value)) {
      return type + (value > 0 ? ".inf" : ".minus_inf");
    }
    return (type.dtype() == DType.F64 ? Double.toString(value) : Float.toString((float) value))
        + type;
  }
}
