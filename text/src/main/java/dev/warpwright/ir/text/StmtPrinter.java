package dev.warpwright.ir.text;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IterVar;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.ReduceOp;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes statements, one a line. */
final class StmtPrinter {
  private static final int DEFAULT_ALIGNMENT = 16;

  private final Output out;
  private final VisibleNames names;
  private final ExprPrinter exprs;

  StmtPrinter(Output out, VisibleNames names) {
    this.out = out;
    this.names = names;
    this.exprs = new ExprPrinter(out, names);
  }

  ExprPrinter exprs() {
    return exprs;
  }

  /** The statements of a body: nested sequences are one list. */
  static List<Stmt> flat(Stmt s) {
    List<Stmt> list = new ArrayList<>();
    flatten(s, list);
    return list;
  }

  private static void flatten(Stmt s, List<Stmt> list) {
    if (s instanceof Stmt.Seq(List<Stmt> stmts)) {
      stmts.forEach(each -> flatten(each, list));
    } else {
      list.add(s);
    }
  }

  /** Statements up to the end of the enclosing braces. */
  void body(Stmt s) {
    out.begin(s);
    List<Stmt> list = flat(s);
    for (int i = 0; i < list.size(); i++) {
      Stmt each = list.get(i);
      boolean scoped =
          each instanceof Stmt.Let
              || each instanceof Stmt.Alloc
              || each instanceof Stmt.Flow.PipeScope;
      if (scoped && i < list.size() - 1) {
        braces(each);
        out.newLine();
      } else {
        stmt(each);
      }
    }
    out.end(s);
  }

  /** {@code { … }} without a line end. */
  void braces(Stmt s) {
    out.add("{");
    out.newLine();
    out.indent(1);
    names.enter();
    body(s);
    names.leave();
    out.indent(-1);
    out.add("}");
  }

  private void stmt(Stmt s) {
    out.begin(s);
    switch (s) {
      case Stmt.Let(Var v, Expr value, Stmt body) -> {
        out.add("let ");
        String name = names.declare(v, v.name());
        out.begin(v);
        out.add(name + ": " + v.type() + " = ");
        exprs.print(value);
        out.end(v);
        out.end(s);
        out.newLine();
        body(body);
      }
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        out.add("alloc ");
        declaration(buffer, true);
        out.end(s);
        out.newLine();
        body(body);
      }
      case Stmt.Seq seq -> body(seq);
      case Stmt.For f -> loop(f);
      case Stmt.While(Expr condition, Stmt body) -> {
        out.add("while ");
        exprs.print(condition);
        opened(s, body);
      }
      case Stmt.If i -> branch(i);
      case Stmt.Store store -> {
        store(store);
        finish(s);
      }
      case Stmt.Evaluate(Expr.Call call) -> {
        exprs.print(call);
        finish(s);
      }
      case Stmt.Comment(String text) -> {
        out.add(commentText(text));
        finish(s);
      }
      case Stmt.Block b -> block(b);
      case Stmt.TileCopy(Region to, Region from, Attrs attrs) -> {
        out.add("tile.copy ");
        exprs.region(to);
        out.add(" <- ");
        exprs.region(from);
        attrs(attrs);
        finish(s);
      }
      case Stmt.TileFill(Region to, Expr value, Attrs attrs) -> {
        out.add("tile.fill ");
        exprs.region(to);
        out.add(" = ");
        exprs.print(value);
        attrs(attrs);
        finish(s);
      }
      case Stmt.TileMma m -> {
        out.add("tile.mma ");
        exprs.region(m.c());
        out.add(" += ");
        exprs.region(m.a());
        out.add(m.transposeA() ? "^T * " : " * ");
        exprs.region(m.b());
        out.add(m.transposeB() ? "^T" : "");
        attrs(m.attrs());
        finish(s);
      }
      case Stmt.TileMap m -> {
        names.enter();
        out.add("tile.map (");
        box(m.vars(), m.extents());
        out.add(")");
        attrs(m.attrs());
        out.add(" {");
        finish(s);
        out.indent(1);
        for (Stmt.Store store : m.stores()) {
          out.begin(store);
          store(store);
          finish(store);
        }
        out.indent(-1);
        out.add("}");
        out.newLine();
        names.leave();
      }
      case Stmt.TileReduce r -> {
        names.enter();
        out.add("tile.reduce " + r.op().text() + " (");
        box(r.vars(), r.extents());
        out.add("; ");
        box(r.reduceVars(), r.reduceExtents());
        out.add(") ");
        exprs.access(r.to(), r.indices());
        out.add(r.op() == ReduceOp.SUM ? " += " : " max= ");
        exprs.print(r.value());
        attrs(r.attrs());
        finish(s);
        names.leave();
      }
      case Stmt.Flow flow -> new FlowPrinter(out, names, this).print(flow);
    }
  }

  void finish(Stmt s) {
    out.end(s);
    out.newLine();
  }

  /** The body in braces after a header. */
  void opened(Stmt s, Stmt body) {
    out.end(s);
    out.add(" ");
    braces(body);
    out.newLine();
  }

  private void loop(Stmt.For f) {
    // Bounds cannot mention the variable, so its name may be taken first.
    names.enter();
    out.add(f.kind().keyword() + " ");
    out.begin(f.var());
    out.add(names.declare(f.var(), f.var().name()));
    out.end(f.var());
    if (f.axis() != null) {
      out.add(": " + f.axis().text());
    }
    out.add(typeIfUnusual(f.var()) + " in ");
    if (!f.min().equals(Exprs.i32(0))) {
      exprs.print(f.min());
      out.add(" +: ");
    }
    exprs.print(f.extent());
    attrs(f.attrs());
    opened(f, f.body());
    names.leave();
  }

  /** Loop and iteration variables are i32 unless it says otherwise. */
  static String typeIfUnusual(Var v) {
    return v.type().equals(Type.I32) ? "" : ": " + v.type();
  }

  private void branch(Stmt.If first) {
    Stmt.If i = first;
    out.add("if ");
    while (true) {
      exprs.print(i.condition());
      out.end(i);
      out.add(" ");
      braces(i.then());
      Stmt otherwise = i.otherwise();
      if (otherwise == null) {
        break;
      }
      out.add(" else ");
      List<Stmt> list = flat(otherwise);
      if (list.size() != 1 || !(list.getFirst() instanceof Stmt.If next)) {
        braces(otherwise);
        break;
      }
      out.begin(next);
      out.add("if ");
      i = next;
    }
    out.newLine();
  }

  private void store(Stmt.Store store) {
    exprs.access(store.buffer(), store.indices());
    out.add(" = ");
    exprs.print(store.value());
  }

  private void block(Stmt.Block b) {
    names.enter();
    out.add("block " + Names.written(b.name()) + "(");
    // Bindings are in terms of the loops: the variables become visible after all of them.
    String separator = "";
    List<String> written = new ArrayList<>();
    for (IterVar iv : b.iterVars()) {
      written.add(names.declare(iv.var(), iv.var().name()));
    }
    for (int i = 0; i < b.iterVars().size(); i++) {
      IterVar iv = b.iterVars().get(i);
      out.add(separator);
      separator = ", ";
      out.begin(iv);
      out.begin(iv.var());
      out.add(written.get(i));
      out.end(iv.var());
      out.add(typeIfUnusual(iv.var()) + ": " + iv.kind().text() + "(");
      exprs.print(iv.extent());
      out.add(") = ");
      exprs.print(iv.binding());
      out.end(iv);
    }
    out.add(")");
    if (b.predicate() != null) {
      out.add(" where ");
      exprs.print(b.predicate());
    }
    attrs(b.attrs());
    out.add(" {");
    finish(b);
    out.indent(1);
    regions("reads ", b.reads());
    regions("writes ", b.writes());
    names.enter();
    if (b.init() != null) {
      out.add("init ");
      braces(b.init());
      out.newLine();
    }
    body(b.body());
    names.leave();
    out.indent(-1);
    out.add("}");
    out.newLine();
    names.leave();
  }

  private void regions(String keyword, List<Region> regions) {
    String separator = keyword;
    for (Region region : regions) {
      out.add(separator);
      separator = ", ";
      exprs.region(region);
    }
    if (!regions.isEmpty()) {
      out.newLine();
    }
  }

  private void box(List<Var> vars, List<Expr> extents) {
    for (int i = 0; i < vars.size(); i++) {
      Var v = vars.get(i);
      out.add(i == 0 ? "" : ", ");
      out.begin(v);
      out.add(names.declare(v, v.name()) + typeIfUnusual(v) + " in ");
      exprs.print(extents.get(i));
      out.end(v);
    }
  }

  /** {@code name: f32[64, M] shared layout … align 128}. */
  void declaration(Buffer buffer, boolean withScope) {
    declaration(buffer, withScope ? null : Scope.GLOBAL);
  }

  /** As above, without the scope where it is the usual one. */
  void declaration(Buffer buffer, @Nullable Scope usual) {
    out.begin(buffer);
    out.add(names.declare(buffer, buffer.name()) + ": " + buffer.dtype().text() + "[");
    exprs.list(buffer.shape());
    out.add("]");
    if (buffer.scope() != usual) {
      out.add(" " + buffer.scope().text());
    }
    Layout layout = buffer.layout();
    if (layout != null) {
      out.add(" layout " + (layout.rank() == 0 ? "()" : "") + layout);
    }
    if (buffer.alignment() != DEFAULT_ALIGNMENT) {
      out.add(" align " + buffer.alignment());
    }
    out.end(buffer);
  }

  /** A line above what follows. */
  void commentLine(String text) {
    out.add(commentText(text));
    out.newLine();
  }

  private static String commentText(String text) {
    return text.isEmpty() ? "//" : "// " + Names.comment(text);
  }

  /** {@code [fast = 1, instr = "…"]}, nothing if there are none. */
  void attrs(Attrs attrs) {
    String separator = " [";
    for (Map.Entry<String, Object> entry : attrs.values().entrySet()) {
      out.add(separator + Names.written(entry.getKey()) + " = ");
      out.add(
          entry.getValue() instanceof String text
              ? Names.string(text)
              : entry.getValue().toString());
      separator = ", ";
    }
    out.add(attrs.isEmpty() ? "" : "]");
  }
}
