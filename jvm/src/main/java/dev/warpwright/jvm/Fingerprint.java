package dev.warpwright.jvm;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A text that two statements share exactly if the same method serves both: it numbers variables and
 * buffers in the order of their first use. The layers of a network repeat their loops, and each
 * method that need not exist saves the JIT compiler tens of milliseconds.
 */
final class Fingerprint {
  private final StringBuilder text = new StringBuilder();
  private final Map<Object, Integer> numbers = new IdentityHashMap<>();
  private final Predicate<Var> nonNegative;

  private Fingerprint(Predicate<Var> nonNegative) {
    this.nonNegative = nonNegative;
  }

  /** The text; {@code nonNegative} is what is known of free variables. */
  static String of(Stmt stmt, Predicate<Var> nonNegative) {
    Fingerprint fingerprint = new Fingerprint(nonNegative);
    Walk.all(stmt, fingerprint::stmt, fingerprint::expr);
    return fingerprint.text.toString();
  }

  private StringBuilder tag(String tag) {
    return text.append(' ').append(tag);
  }

  private void var(Var v) {
    Integer known = numbers.get(v);
    if (known != null) {
      text.append(" v").append(known);
    } else {
      numbers.put(v, numbers.size());
      text.append(" new:").append(v.type()).append(nonNegative.test(v) ? "+" : "");
    }
  }

  private void buffer(Buffer b) {
    Integer known = numbers.get(b);
    if (known != null) {
      text.append(" b").append(known);
      return;
    }
    numbers.put(b, numbers.size());
    text.append(" new:").append(b.dtype()).append(b.scope()).append('[');
    for (int d = 0; d < b.rank(); d++) {
      // An outermost extent does not enter offsets, but scratch memory is made of all of them.
      text.append(b.shape().get(d) instanceof Expr.IntImm imm ? imm.value() : -1).append(',');
    }
    text.append(']').append(b.layout());
  }

  private void stmt(Stmt s) {
    switch (s) {
      case Stmt.Seq(var stmts) -> tag("seq").append(stmts.size());
      case Stmt.For f -> {
        tag("for").append(f.kind());
        var(f.var());
      }
      case Stmt.While w -> tag("while");
      case Stmt.If i -> tag(i.otherwise() == null ? "if" : "ifelse");
      case Stmt.Let l -> {
        tag("let");
        var(l.var());
      }
      case Stmt.Alloc a -> {
        tag("alloc");
        buffer(a.buffer());
      }
      case Stmt.Store st -> {
        tag("store");
        buffer(st.buffer());
      }
      case Stmt.Comment c -> {}
      // What the JVM back end refuses is never shared: each gets a text of its own.
      case Stmt.Evaluate e -> unique(e);
      case Stmt.Block b -> unique(b);
      case Stmt.TileCopy t -> unique(t);
      case Stmt.TileFill t -> unique(t);
      case Stmt.TileMma t -> unique(t);
      case Stmt.TileMap t -> unique(t);
      case Stmt.TileReduce t -> unique(t);
      case Stmt.Flow t -> unique(t);
    }
  }

  private void unique(Stmt s) {
    tag("unique").append(System.identityHashCode(s)).append(s.getClass().getSimpleName());
  }

  private void expr(Expr e) {
    switch (e) {
      case Var v -> var(v);
      case Expr.IntImm imm -> tag("i").append(imm.value()).append(imm.type().dtype());
      case Expr.FloatImm imm ->
          tag("f").append(Double.doubleToRawLongBits(imm.value())).append(imm.type().dtype());
      case Expr.Binary b -> tag(b.op().name());
      case Expr.Unary u -> tag(u.op().name());
      case Expr.Select s -> tag("select");
      case Expr.Cast c -> tag("cast").append(c.type());
      case Expr.Bitcast c -> tag("bitcast").append(c.type());
      case Expr.Load l -> {
        tag("load");
        buffer(l.buffer());
      }
      case Expr.AddressOf a -> {
        tag("address");
        buffer(a.buffer());
      }
      case Expr.Ramp r -> tag("ramp").append(r.stride()).append(',').append(r.lanes());
      case Expr.Broadcast b -> tag("broadcast").append(b.lanes());
      case Expr.Call c -> tag(c.op().text()).append(c.args().size());
    }
  }
}
