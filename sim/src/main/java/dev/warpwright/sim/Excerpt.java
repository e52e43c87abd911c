package dev.warpwright.sim;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import java.util.List;
import java.util.stream.Collectors;

/** A statement on one line, without what it contains, for messages. */
final class Excerpt {
  private static final int LONGEST = 160;

  private Excerpt() {}

  static String of(Stmt s) {
    String text = text(s);
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 1) + "…";
  }

  private static String text(Stmt s) {
    return switch (s) {
      case Stmt.Seq seq -> seq.stmts().isEmpty() ? "{}" : text(seq.stmts().getFirst()) + "; …";
      case Stmt.For f ->
          f.kind().keyword() + " " + f.var() + " in " + text(f.min()) + " +: " + text(f.extent());
      case Stmt.While w -> "while " + text(w.condition());
      case Stmt.If i -> "if " + text(i.condition());
      case Stmt.Let l -> "let " + l.var() + " = " + text(l.value());
      case Stmt.Alloc a -> "alloc " + a.buffer();
      case Stmt.Store st -> access(st.buffer().name(), st.indices()) + " = " + text(st.value());
      case Stmt.Evaluate e -> text(e.call());
      case Stmt.Comment c -> "// " + c.text();
      case Stmt.Block b -> "block " + b.name();
      case Stmt.TileCopy c -> "copy " + text(c.to()) + " = " + text(c.from());
      case Stmt.TileFill f -> "fill " + text(f.to()) + " = " + text(f.value());
      case Stmt.TileMma m -> "mma " + text(m.c()) + " += " + text(m.a()) + " · " + text(m.b());
      case Stmt.TileMap m -> "map " + m.vars() + " " + text(m.stores().getFirst());
      case Stmt.TileReduce r ->
          "reduce "
              + access(r.to().name(), r.indices())
              + " "
              + r.op().text()
              + " "
              + text(r.value());
    };
  }

  private static String text(Region r) {
    return r.ranges().stream()
        .map(g -> g.isPoint() ? text(g.min()) : text(g.min()) + " +: " + text(g.extent()))
        .collect(Collectors.joining(", ", r.buffer().name() + "[", "]"));
  }

  private static String access(String name, List<Expr> indices) {
    return name + list(indices, "[", "]");
  }

  private static String list(List<Expr> exprs, String open, String close) {
    return exprs.stream().map(Excerpt::text).collect(Collectors.joining(", ", open, close));
  }

  static String text(Expr e) {
    return switch (e) {
      case dev.warpwright.ir.Var v -> v.name();
      case Expr.IntImm imm -> Long.toString(imm.value());
      case Expr.FloatImm imm -> Double.toString(imm.value());
      case Expr.Binary b -> "(" + text(b.a()) + " " + b.op().text() + " " + text(b.b()) + ")";
      case Expr.Unary u -> u.op().text() + text(u.a());
      case Expr.Select s ->
          "select("
              + text(s.condition())
              + ", "
              + text(s.then())
              + ", "
              + text(s.otherwise())
              + ")";
      case Expr.Cast c -> c.type() + "(" + text(c.a()) + ")";
      case Expr.Bitcast c -> "bitcast<" + c.type() + ">(" + text(c.a()) + ")";
      case Expr.Load l -> access(l.buffer().name(), l.indices());
      case Expr.AddressOf a -> "&" + access(a.buffer().name(), a.indices());
      case Expr.Ramp r -> "ramp(" + text(r.base()) + ", " + r.stride() + ", " + r.lanes() + ")";
      case Expr.Broadcast b -> "broadcast(" + text(b.value()) + ", " + b.lanes() + ")";
      case Expr.Call c -> c.op().text() + list(c.args(), "(", ")");
    };
  }
}
